//! What is known of a job while it goes on: written by its life, read by the driver's polls.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use nexmark_driver::engine::{JobState, Progress};
use nexmark_queries::answer::{Digest, Row};
use tokio::sync::Notify;

/// Everything known at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    pub(crate) state: JobState,
    /// The moment for which the counters hold.
    pub(crate) at: Instant,
    /// Events that the query has taken.
    pub(crate) events_in: Option<u64>,
    pub(crate) first_event_at: Option<Instant>,
    pub(crate) rows_out: Option<u64>,
    pub(crate) waits_for: Option<String>,
    /// Records of the topics that the query reads and that are not taken.
    pub(crate) lag: Option<u64>,
    /// Events that are due and not in Kafka yet.
    pub(crate) behind_events: Option<u64>,
    /// Records written ahead of the query and read back after it.
    pub(crate) prepared: u64,
    pub(crate) answer: Option<Digest>,
    pub(crate) rows: Option<Vec<Row>>,
    /// Effective configuration of the job.
    pub(crate) config: BTreeMap<String, String>,
    /// What a reader of the result should know.
    pub(crate) notes: Vec<String>,
    /// The same of a feed that was the limit, as far as it is seen.
    pub(crate) source_bound: Option<String>,
}

impl Status {
    fn new() -> Self {
        Self {
            state: JobState::Starting,
            at: Instant::now(),
            events_in: None,
            first_event_at: None,
            rows_out: None,
            waits_for: None,
            lag: None,
            behind_events: None,
            prepared: 0,
            answer: None,
            rows: None,
            config: BTreeMap::new(),
            notes: Vec::new(),
            source_bound: None,
        }
    }
}

/// The status, shared by the life of a job and the engine.
#[derive(Debug)]
pub(crate) struct Shared {
    status: Mutex<Status>,
    /// Told at every change.
    pub(crate) changed: Notify,
}

impl Shared {
    pub(crate) fn new() -> Self {
        Self { status: Mutex::new(Status::new()), changed: Notify::new() }
    }

    /// The status, to look at.
    pub(crate) fn status(&self) -> MutexGuard<'_, Status> {
        // No holder of the lock leaves it half changed.
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the status and tells so.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Status)) {
        change(&mut self.status());
        self.changed.notify_one();
    }

    /// What the driver is told.
    pub(crate) fn progress(&self) -> Progress {
        let status = self.status();
        let mut extras = BTreeMap::new();
        if let Some(lag) = status.lag {
            extras.insert("lag_records".to_owned(), lag as f64);
        }
        Progress {
            at: status.at,
            events_in: status.events_in,
            first_event_at: status.first_event_at,
            rows_out: status.rows_out,
            behind_events: status.behind_events,
            prepared: Some(status.prepared),
            waits_for: status.waits_for.clone(),
            answer: status.answer,
            extras,
            ..Progress::new(status.state.clone())
        }
    }
}
