//! Where the events of a job come from, and how positions are dealt to the workers.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use nexmark_driver::engine::{EngineError, Job};
use nexmark_driver::events::Events;
use nexmark_driver::pace::Schedule;
use nexmark_queries::block::Block;
use nexmark_queries::event::Texts;
use nexmark_queries::operators::time;

/// Shortest wait for an event that is not due yet. Each costs a step of all operators and wakes the other workers, which with
/// shorter waits is more than the events of a slow stream cost.
const WAIT_MIN: Duration = Duration::from_millis(4);
/// Longest wait: a source that waits follows the watermark of the others only when it wakes.
const WAIT_MAX: Duration = Duration::from_millis(10);

/// The events of a job, dealt block by block to whichever worker asks next.
#[derive(Debug)]
pub(crate) struct Feed {
    events: Events,
    /// Number of events; none when the feed has no end.
    end: u64,
    warmup_events: u64,
    schedule: Schedule,
    block_events: u64,
    /// Positions below this one are dealt.
    dealt: AtomicU64,
    /// Highest event time that any source has sent.
    date_time_max: AtomicI64,
}

/// What a worker gets when it asks for events.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Deal {
    /// These positions.
    Positions(Range<u64>),
    /// Nothing is due for so long.
    NotYet(Duration),
    /// There are no more.
    End,
}

impl Feed {
    /// # Errors
    /// An option of the generator is out of its range.
    pub(crate) fn new(job: &Job, block_events: u64) -> Result<Self, EngineError> {
        let events = Events::new(&job.input)?;
        Ok(Self {
            end: job.events.unwrap_or(u64::MAX).min(events.available()),
            events,
            warmup_events: job.warmup_events,
            schedule: job.schedule.clone(),
            block_events,
            dealt: AtomicU64::new(0),
            date_time_max: AtomicI64::new(time::NEVER),
        })
    }

    pub(crate) fn texts(&self) -> &Arc<Texts> {
        self.events.texts()
    }

    /// The next positions that are due so long after the start.
    pub(crate) fn deal(&self, elapsed: Duration) -> Deal {
        let due = self.schedule.events_due(elapsed).min(self.end);
        let mut from = self.dealt.load(Ordering::Relaxed);
        loop {
            if from >= self.end {
                return Deal::End;
            }
            if from >= due {
                let wait = self.schedule.due(from).saturating_sub(elapsed);
                return Deal::NotYet(wait.clamp(WAIT_MIN, WAIT_MAX));
            }
            // No block holds events of the warm-up and measured ones.
            let limit = if from < self.warmup_events { self.warmup_events } else { u64::MAX };
            let to = due.min(from + self.block_events).min(limit);
            // Acquire and release: what is dealt after a watermark was seen lies behind the events that moved it.
            match self.dealt.compare_exchange_weak(from, to, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Deal::Positions(from..to),
                Err(other) => from = other,
            }
        }
    }

    /// Whether these positions are the first after a warm-up.
    pub(crate) fn ends_warmup(&self, positions: &Range<u64>) -> bool {
        self.warmup_events > 0 && positions.start == self.warmup_events
    }

    /// Whether events are due by a schedule.
    pub(crate) fn is_paced(&self) -> bool {
        self.schedule != Schedule::Unlimited
    }

    /// Replaces the content of a block by the events at some positions.
    pub(crate) fn fill(&self, positions: Range<u64>, block: &mut Block) {
        self.events.fill(positions, block);
    }

    /// Notes that events up to this time are sent.
    pub(crate) fn sent(&self, date_time_max: i64) {
        self.date_time_max.fetch_max(date_time_max, Ordering::AcqRel);
    }

    /// Highest event time that any source has sent; what is dealt from now on comes after it in the stream.
    pub(crate) fn date_time_max(&self) -> i64 {
        self.date_time_max.load(Ordering::Acquire)
    }

    /// Events that are due and not dealt; `None` without a schedule.
    pub(crate) fn behind(&self, elapsed: Duration) -> Option<u64> {
        if !self.is_paced() {
            return None;
        }
        let due = self.schedule.events_due(elapsed).min(self.end);
        Some(due.saturating_sub(self.dealt.load(Ordering::Relaxed)))
    }
}
