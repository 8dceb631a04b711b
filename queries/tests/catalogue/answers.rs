//! Whose answers the tests of branches and of dependence look at: here the oracles'. The embedded engine's tests put its own
//! answers in this place and hold them to the same.

use std::sync::Arc;

use nexmark_queries::Query;
use nexmark_queries::answer::Row;
use nexmark_queries::event::{Event, Texts};

/// The answer over some events.
pub(crate) fn rows(query: &'static Query, events: &[Event], texts: &Arc<Texts>) -> Vec<Row> {
    (query.oracle)(events, texts)
}
