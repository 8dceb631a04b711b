//! One run through its phases: submit, starting, warm-up, measured, draining, stopping. Every wait has a deadline and
//! says what it waited for; the result is kept before the engine is told to clean up.

mod request;

use std::sync::Arc;

use nexmark_queries::answer::Row;
use tokio::sync::watch;

pub use request::{Deadlines, RunRequest, Workload};

use crate::engine::Engine;
use crate::listener::Listener;
use crate::result::{Keep, RunResult};

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

/// Runs one job and tells how it went; whatever happens, there is a result.
///
/// The result is kept twice: when the job has ended, before `stop`, and again after it with the length of that phase.
pub async fn run(
    engine: &mut dyn Engine,
    request: &RunRequest,
    keep: &mut dyn Keep,
    listener: &mut dyn Listener,
    interrupt: &mut Interrupt,
) -> Outcome {
    let _ = (engine, request, keep, listener, interrupt);
    std::future::pending().await
}
