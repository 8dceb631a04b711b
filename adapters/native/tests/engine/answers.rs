//! Whose answers the tests of branches and of dependence look at: here the engine's, with three workers and small blocks.

use std::sync::Arc;

use nexmark_driver::engine::{Job, JobState};
use nexmark_queries::Query;
use nexmark_queries::answer::Row;
use nexmark_queries::event::{Event, Texts};

use crate::harness::{disorder_ms, job, recorded, run};

/// The answer over some events.
pub(crate) fn rows(query: &'static Query, events: &[Event], texts: &Arc<Texts>) -> Vec<Row> {
    let job = Job { watermark_delay_ms: disorder_ms(events), ..job(query, recorded(events, texts), 3) };
    let ended = run(&job, if events.len() > 10_000 { 1000 } else { 16 });
    assert_eq!(ended.progress.state, JobState::Finished, "{}", query.name);
    assert_eq!(ended.progress.late_rows, Some(0), "{}", query.name);
    ended.rows
}
