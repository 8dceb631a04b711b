//! Events as lines of JSON: written by `generate`, read by `answer --input`.

use std::sync::Arc;

use crate::event::{Event, Texts};

/// Events that were read from a file, in order of arrival.
#[derive(Debug)]
pub struct Recording {
    /// The events.
    pub events: Vec<Event>,
    /// The text that they refer to.
    pub texts: Arc<Texts>,
}
