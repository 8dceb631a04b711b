//! What a run tells while it goes on. The terminal and others listen; nothing they do can influence a run.

use std::path::PathBuf;
use std::time::Duration;

use crate::result::{Engine, RunResult};
use crate::run::Phase;

/// Takes what a run tells. Called from the run's own task, so it must not block.
pub trait Listener: Send {
    /// Takes one event.
    fn event(&mut self, event: &RunEvent<'_>);
}

/// Something that happened in a run.
#[derive(Clone, Debug)]
pub enum RunEvent<'a> {
    /// A run begins.
    Started {
        /// Name of the run.
        name: &'a str,
        /// The query.
        query: &'a str,
        /// Number of the repeat, from 1.
        repeat: u32,
        /// Number of the run in its suite, from 1.
        run: usize,
        /// Number of runs in the suite.
        runs: usize,
    },
    /// The engine has described itself.
    Described(&'a Engine),
    /// A phase begins.
    Phase(Phase),
    /// A poll succeeded.
    Progress(RunProgress),
    /// Something that does not end the run but that its user should know.
    Warning(String),
    /// The result was written, before or after the clean-up.
    Saved(PathBuf),
    /// The run has ended and the engine was stopped.
    Finished(&'a RunResult),
}

/// How far a run has come.
#[derive(Clone, Debug, PartialEq)]
pub struct RunProgress {
    /// Current phase.
    pub phase: Phase,
    /// The engine's word for its state: `starting`, `running`, `restarting`, `finished`, `failed` or `cancelled`.
    pub state: &'static str,
    /// Time since the run began.
    pub elapsed: Duration,
    /// Share of the workload that is done, 0 to 1, warm-up included.
    pub share: f64,
    /// Events since the start; `None` while the engine does not say.
    pub events_in: Option<u64>,
    /// Events asked for, warm-up included; `None` in rate mode.
    pub events_asked: Option<u64>,
    /// Rows since the start.
    pub rows_out: Option<u64>,
    /// Live rate between the last two polls that told a count, events per second. Only for show.
    pub events_per_s: Option<f64>,
    /// Events that are due and not yet generated.
    pub behind_events: Option<u64>,
    /// Watermark, epoch ms.
    pub watermark_ms: Option<i64>,
    /// Size of the state, bytes.
    pub state_bytes: Option<u64>,
    /// Restarts so far.
    pub restarts: u32,
}

/// A listener that hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Listener for Silent {
    fn event(&mut self, _event: &RunEvent<'_>) {}
}
