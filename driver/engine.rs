//! What an engine is to the driver: submit a job, poll its counters, stop it. Polls return cumulative counts, never
//! rates; every rate is computed by `metrics` from counter differences.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
pub use nexmark_collector::watch::{Target, Watch};
use nexmark_queries::Query;
use nexmark_queries::answer::{Digest, Row};
use nexmark_queries::generator::Options;
use nexmark_queries::ndjson::Recording;

use crate::pace::Schedule;

/// One engine, able to run one job at a time.
#[async_trait]
pub trait Engine: Send {
    /// The engine as it describes itself: read from the engine, never assumed.
    ///
    /// # Errors
    /// The engine cannot be reached or does not answer as it should.
    async fn describe(&mut self) -> Result<Description, EngineError>;

    /// Whether the engine runs a query, and how truly.
    fn support(&self, query: &Query) -> Support;

    /// What its user should know before the first run: whether the engine can be reached, whether it has room for what is
    /// wanted, what would be watched, and what earlier runs have left behind. Starts no job.
    ///
    /// # Errors
    /// The engine cannot be reached or does not answer as it should.
    async fn check(&mut self, checkup: Checkup) -> Result<Vec<Finding>, EngineError> {
        let _nothing_to_make_room_for = checkup;
        Ok(findings(&self.describe().await?))
    }

    /// Starts a job. Returns when the engine has accepted it; whether it runs, `poll` tells.
    ///
    /// # Errors
    /// The engine refuses the job or cannot be reached; `stop` is called after a failed submit, too.
    async fn submit(&mut self, job: &Job) -> Result<(), EngineError>;

    /// State and cumulative counters of the job.
    ///
    /// # Errors
    /// The engine does not answer as it should. The driver tries again until its deadline.
    async fn poll(&mut self) -> Result<Progress, EngineError>;

    /// Returns when the job has changed its state or begins to be measured, and after `limit` at the latest. The driver polls
    /// then.
    async fn changed(&mut self, limit: Duration) {
        tokio::time::sleep(limit).await;
    }

    /// Rows of the answer of a finished job that was submitted with [`Output::Rows`], in any order.
    ///
    /// # Errors
    /// The engine cannot give them.
    async fn rows(&mut self) -> Result<Vec<Row>, EngineError> {
        Err(EngineError::new("this engine does not give rows"))
    }

    /// Effective configuration of the submitted job, read back from the engine; what the description already holds may be
    /// left out. Asked for at the end of the job, before `stop`.
    ///
    /// # Errors
    /// The engine cannot give it.
    async fn job_config(&mut self) -> Result<BTreeMap<String, String>, EngineError> {
        Ok(BTreeMap::new())
    }

    /// What a reader of the result should know about the job, such as that its source was the limit. Asked for at its
    /// end, after `job_config`.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Where the files are that the job has written and that `stop` leaves, if there are any.
    fn kept_files(&self) -> Option<PathBuf> {
        None
    }

    /// Ends the job if it still runs, and removes everything that was made for it, only that. May be called twice, and
    /// after a failed submit.
    ///
    /// # Errors
    /// What could not be removed.
    async fn stop(&mut self) -> Result<(), EngineError>;
}

/// An engine's failure, in its own words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EngineError {
    /// Lower-case fragment: what was tried, with what, and the engine's message.
    pub message: String,
}

impl EngineError {
    /// An error of that text.
    pub fn new(message: impl fmt::Display) -> Self {
        Self { message: message.to_string() }
    }
}

/// Whether an engine runs a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Support {
    /// Exactly as the query's page says.
    Supported,
    /// With a deviation, which every report prints.
    Deviates(String),
    /// Not at all, for this reason.
    Unsupported(String),
}

/// An engine's own description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Name, as given to `--engine`.
    pub name: String,
    /// Version, read back from the engine.
    pub version: String,
    /// Effective configuration, read back from the engine.
    pub config: BTreeMap<String, String>,
    /// What to watch for its costs.
    pub watches: Vec<Watch>,
}

/// What a check-up of an engine is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkup {
    /// Workers, or the parallelism, that there should be room for.
    pub workers: usize,
    /// What happens to what earlier runs have left behind.
    pub leftovers: Leftovers,
}

/// What happens to leftovers of earlier runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leftovers {
    /// They are named.
    Named,
    /// They are removed.
    Removed,
}

/// One thing that a check-up found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at, as in `version` or `slots`.
    pub subject: String,
    /// What that means for a run.
    pub verdict: Suitability,
    /// What was found.
    pub text: String,
}

/// What a finding means for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suitability {
    /// A run can do with it.
    Good,
    /// A run may do with it, and the numbers may not mean what they seem to.
    Doubtful,
    /// No run can do with it.
    Bad,
}

impl Finding {
    /// A finding about a subject.
    pub fn new(subject: impl Into<String>, verdict: Suitability, text: impl Into<String>) -> Self {
        Self { subject: subject.into(), verdict, text: text.into() }
    }
}

/// What a description alone tells.
fn findings(description: &Description) -> Vec<Finding> {
    let Description { name, version, watches, .. } = description;
    let version = Finding::new("version", Suitability::Good, format!("{name} {version}"));
    let watched =
        watches.iter().map(|watch| Finding::new(&watch.role, Suitability::Good, watch.target.to_string()));
    std::iter::once(version).chain(watched).collect()
}

/// What an engine is asked to run.
#[derive(Clone, Debug)]
pub struct Job {
    /// Name of the run: unique, letters, digits and `-`.
    pub name: String,
    /// The query.
    pub query: &'static Query,
    /// Where the events come from.
    pub input: Input,
    /// Number of events after which the input ends; `None` for an input without end.
    pub events: Option<u64>,
    /// Events before the measured ones, which is where an engine that can says when it came to.
    pub warmup_events: u64,
    /// When each event is due.
    pub schedule: Schedule,
    /// How far the watermark stays behind the highest event time sent, ms.
    pub watermark_delay_ms: u64,
    /// Workers, or the parallelism of an engine that calls it so.
    pub workers: usize,
    /// What happens to the output rows.
    pub output: Output,
    /// State size at which the run is to fail, bytes.
    pub memory_budget_bytes: Option<u64>,
}

/// Where events come from.
#[derive(Clone, Debug)]
pub enum Input {
    /// From the generator, with these options.
    Generated(Options),
    /// From a file.
    Recorded(Arc<Recording>),
}

/// What happens to output rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// They are counted.
    Count,
    /// Their digest is kept.
    Digest,
    /// They are kept for [`Engine::rows`]; the digest, too.
    Rows,
}

/// Where a job is in its life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Accepted, but not all of it runs yet.
    Starting,
    /// Runs.
    Running,
    /// Failed, and the engine tries again.
    Restarting,
    /// Reached the end of its input and emitted everything. Nothing else is a success.
    Finished,
    /// Failed for good, with the engine's message.
    Failed(String),
    /// Cancelled by someone else.
    Cancelled(String),
}

/// A job's state and cumulative counters at one moment.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The moment for which the counters hold, on the driver's monotonic clock. An embedded engine gives the exact moment
    /// of the end once the job has ended; others the moment of the reply.
    pub at: Instant,
    /// State.
    pub state: JobState,
    /// Events generated by all sources since the start, all three kinds; `None` while the engine does not say.
    pub events_in: Option<u64>,
    /// The moment at which the first event was generated, where the engine knows it.
    pub first_event_at: Option<Instant>,
    /// The moment at which exactly the events of the warm-up had been handed out, where the engine knows it.
    pub warmup_ended_at: Option<Instant>,
    /// Rows handed to the sink; additions and retractions both count.
    pub rows_out: Option<u64>,
    /// Records written ahead of the job or read back after it, by an engine that gets its events from a store: what moves
    /// while events cannot.
    pub prepared: Option<u64>,
    /// What the job itself waits for, where the engine says so: told when a deadline passes.
    pub waits_for: Option<String>,
    /// Restarts so far.
    pub restarts: u32,
    /// Watermark, epoch ms.
    pub watermark_ms: Option<i64>,
    /// Rows dropped since they came after the watermark.
    pub late_rows: Option<u64>,
    /// Size of the state, bytes.
    pub state_bytes: Option<u64>,
    /// Events that are due by the schedule and not yet generated.
    pub behind_events: Option<u64>,
    /// The engine's own live rate, shown and stored, never averaged into a result.
    pub events_per_s_reported: Option<f64>,
    /// Digest of the answer so far, where it is taken; final when finished.
    pub answer: Option<Digest>,
    /// Further numbers of the engine, under its own names with the unit last.
    pub extras: BTreeMap<String, f64>,
}

impl Progress {
    /// Nothing known but the state, now.
    pub fn new(state: JobState) -> Self {
        Self {
            at: Instant::now(),
            state,
            events_in: None,
            first_event_at: None,
            warmup_ended_at: None,
            rows_out: None,
            prepared: None,
            waits_for: None,
            restarts: 0,
            watermark_ms: None,
            late_rows: None,
            state_bytes: None,
            behind_events: None,
            events_per_s_reported: None,
            answer: None,
            extras: BTreeMap::new(),
        }
    }
}
