//! One run through its phases: submit, starting, warm-up, measured, draining, stopping. Every wait has a deadline and
//! says what it waited for; the result is kept before the engine is told to clean up.

mod bounded;
mod costs;
mod life;
mod observed;
mod request;
mod series;
pub(crate) mod summary;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Instant;

use nexmark_queries::answer::Row;
use tokio::sync::watch;

pub use request::{Deadlines, RunRequest, Workload};

use crate::engine::Engine;
use crate::listener::{Listener, RunEvent};
use crate::result::{Keep, RunResult, State};
use life::Life;

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The engine is asked to describe itself and to accept the job.
    Submit,
    /// The job is accepted; its first event is awaited.
    Starting,
    /// Events flow, nothing is measured yet.
    Warmup,
    /// Events flow and are measured.
    Measured,
    /// The measured phase is over; rows are fetched and the result is written.
    Draining,
    /// The engine is told to stop and to clean up.
    Stopping,
}

impl Phase {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Submit => "submit",
            Self::Starting => "starting",
            Self::Warmup => "warm-up",
            Self::Measured => "measured",
            Self::Draining => "draining",
            Self::Stopping => "stopping",
        }
    }
}

/// What remains of a run in memory.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The result, as it was kept.
    pub result: RunResult,
    /// Rows of the answer, of a passed run that asked for them.
    pub rows: Option<Vec<Row>>,
    /// Why the result could not be kept.
    pub keep_error: Option<String>,
}

/// Interrupts runs; all clones are one.
#[derive(Clone, Debug)]
pub struct Interrupter(Arc<watch::Sender<bool>>);

/// Tells a run that it is interrupted.
#[derive(Clone, Debug)]
pub struct Interrupt(watch::Receiver<bool>);

impl Interrupter {
    /// A pair of the two ends.
    pub fn new() -> (Self, Interrupt) {
        let (sender, receiver) = watch::channel(false);
        (Self(Arc::new(sender)), Interrupt(receiver))
    }

    /// Ends the current run and all that would follow. What was measured is kept, and the engine is stopped.
    pub fn interrupt(&self) {
        self.0.send_replace(true);
    }
}

impl Interrupt {
    /// An interrupt that never comes.
    pub fn never() -> Self {
        Interrupter::new().1
    }

    /// Whether it came.
    pub fn came(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns when it comes, and never if it cannot come any more.
    pub async fn wait(&mut self) {
        if self.0.wait_for(|came| *came).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Number of a run among the runs of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// Number of the run, from 1.
    pub run: usize,
    /// Number of runs.
    pub runs: usize,
}

impl Place {
    /// The only run.
    pub const ALONE: Self = Self { repeat: 1, run: 1, runs: 1 };
}

/// Runs one job and tells how it went; whatever happens, there is a result.
///
/// The result is kept twice: when the job has ended, before `stop`, and again after it with the length of that phase.
/// A call of the engine that passes its deadline, or is interrupted, is dropped; `stop` is called all the same.
pub async fn run(
    engine: &mut dyn Engine,
    request: &RunRequest,
    place: Place,
    keep: &mut dyn Keep,
    listener: &mut dyn Listener,
    interrupt: &mut Interrupt,
) -> Outcome {
    let result = summary::blank(request, place, summary::unique_name(request.query.name));
    announce(listener, &result, place);
    let mut life = Life::new(engine, request, listener, interrupt, result);
    let ending = life.live().await;
    life.end(ending, keep).await
}

/// A run whose engine could not be made.
pub(crate) fn stillborn(
    request: &RunRequest,
    place: Place,
    message: String,
    keep: &mut dyn Keep,
    listener: &mut dyn Listener,
) -> Outcome {
    let mut result = summary::blank(request, place, summary::unique_name(request.query.name));
    announce(listener, &result, place);
    result.state = State::Failed;
    result.message = Some(message);
    let keep_error = keep_result(keep, listener, &result);
    listener.event(&RunEvent::Finished(&result));
    Outcome { result, rows: None, keep_error }
}

fn announce(listener: &mut dyn Listener, result: &RunResult, place: Place) {
    let Place { repeat, run, runs } = place;
    let (name, query) = (result.name.as_str(), result.query.as_str());
    listener.event(&RunEvent::Started { name, query, repeat, run, runs });
}

/// Keeps a result and tells where. Returns what went wrong.
fn keep_result(keep: &mut dyn Keep, listener: &mut dyn Listener, result: &RunResult) -> Option<String> {
    match keep.keep(result) {
        Ok(path) => {
            if let Some(path) = path {
                listener.event(&RunEvent::Saved(path));
            }
            None
        }
        Err(error) => {
            listener.event(&RunEvent::Warning(error.to_string()));
            Some(error.to_string())
        }
    }
}

/// How a run ended, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ending {
    state: State,
    message: Option<String>,
}

impl Ending {
    fn passed() -> Self {
        Self { state: State::Passed, message: None }
    }

    fn new(state: State, message: impl Into<String>) -> Self {
        Self { state, message: Some(message.into()) }
    }

    fn interrupted() -> Self {
        Self::new(State::Cancelled, "interrupted")
    }
}

/// The driver's monotonic clock. Tokio's, so that tests can let time fly; it is the system's otherwise.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
