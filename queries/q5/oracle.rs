//! Oracle of q5.

use crate::answer::Row;
use crate::event::{Event, Texts};

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(_events: &[Event], _texts: &Texts) -> Vec<Row> {
    Vec::new()
}
