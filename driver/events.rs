//! The events of a job, wherever they come from, a block at a time.

use std::ops::Range;
use std::sync::Arc;

use nexmark_queries::block::Block;
use nexmark_queries::event::Texts;
use nexmark_queries::generator::Generator;
use nexmark_queries::ndjson::Recording;

use crate::engine::{EngineError, Input};

/// The events of a job, by position.
#[derive(Debug)]
pub struct Events(Source);

#[derive(Debug)]
enum Source {
    Generated(Box<Generator>),
    Recorded(Arc<Recording>),
}

impl Events {
    /// Those of an input.
    ///
    /// # Errors
    /// An option of the generator is out of its range.
    pub fn new(input: &Input) -> Result<Self, EngineError> {
        Ok(Self(match input {
            Input::Generated(options) => {
                Source::Generated(Box::new(Generator::new(options.clone()).map_err(EngineError::new)?))
            }
            Input::Recorded(recording) => Source::Recorded(Arc::clone(recording)),
        }))
    }

    /// Number of events that there are.
    pub fn available(&self) -> u64 {
        match &self.0 {
            Source::Generated(_) => u64::MAX,
            Source::Recorded(recording) => recording.events.len() as u64,
        }
    }

    /// The text that the events refer to.
    pub fn texts(&self) -> &Arc<Texts> {
        match &self.0 {
            Source::Generated(generator) => generator.texts(),
            Source::Recorded(recording) => &recording.texts,
        }
    }

    /// Replaces the content of a block by the events at some positions, below [`Self::available`].
    pub fn fill(&self, positions: Range<u64>, block: &mut Block) {
        match &self.0 {
            Source::Generated(generator) => generator.fill(positions, block),
            Source::Recorded(recording) => {
                block.clear();
                let positions = positions.start as usize..positions.end as usize;
                recording.events[positions].iter().for_each(|event| block.push(*event));
            }
        }
    }
}
