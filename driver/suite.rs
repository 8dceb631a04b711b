//! Many runs in turn. A suite goes on after a run that did not pass, and only passed runs enter its totals.

use crate::engine::{Engine, EngineError};
use crate::listener::Listener;
use crate::result::{Keep, RunResult, State};
use crate::run::{self, Interrupt, Place, RunRequest};

/// Makes a fresh engine for a run.
pub type NewEngine<'a> = dyn FnMut(&RunRequest) -> Result<Box<dyn Engine>, EngineError> + Send + 'a;

/// In which order repeats follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// q0, q1, q0, q1: a slow change of the machine meets all queries alike.
    #[default]
    Interleaved,
    /// q0, q0, q1, q1.
    QueryByQuery,
}

/// The runs of a suite.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The runs of one round.
    pub requests: Vec<RunRequest>,
    /// Number of rounds.
    pub repeats: u32,
    /// Order of the repeats.
    pub order: Order,
}

/// What came of a suite.
#[derive(Clone, Debug)]
pub struct SuiteReport {
    /// Every run that was begun, in order.
    pub results: Vec<RunResult>,
    /// Sums over the passed runs.
    pub totals: Totals,
    /// Whether the user ended it early.
    pub interrupted: bool,
    /// Results that could not be kept: what went wrong.
    pub keep_errors: Vec<String>,
}

impl SuiteReport {
    /// Whether every run passed and was kept, and none was left out.
    pub fn passed(&self) -> bool {
        let passed = self.results.iter().all(|result| result.state == State::Passed);
        passed && !self.interrupted && self.keep_errors.is_empty()
    }
}

/// Sums over runs. Throughputs are never summed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Passed runs.
    pub passed: usize,
    /// Other runs.
    pub not_passed: usize,
    /// Sum of the measured times; `None` without a passed run.
    pub seconds: Option<f64>,
    /// Sum of the CPU seconds; `None` if any passed run lacks them.
    pub cpu_seconds: Option<f64>,
    /// Geometric mean of the throughputs.
    pub events_per_s_geomean: Option<f64>,
}

impl Totals {
    /// Totals of the passed among these runs.
    pub fn of<'a>(results: impl IntoIterator<Item = &'a RunResult>) -> Self {
        let (passed, others): (Vec<_>, Vec<_>) =
            results.into_iter().partition(|result| result.state == State::Passed);
        let rates: Option<Vec<f64>> = passed.iter().map(|result| result.events_per_s).collect();
        Self {
            passed: passed.len(),
            not_passed: others.len(),
            seconds: sum(passed.iter().map(|result| result.seconds)),
            cpu_seconds: sum(passed.iter().map(|result| result.cpu_seconds)),
            events_per_s_geomean: rates.and_then(|rates| geometric_mean(&rates)),
        }
    }
}

/// A sum that is unknown as soon as a part is.
fn sum(parts: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let parts: Option<Vec<f64>> = parts.collect();
    parts.filter(|parts| !parts.is_empty()).map(|parts| parts.iter().sum())
}

fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let logs: f64 = values.iter().map(|value| value.ln()).sum();
    Some((logs / values.len() as f64).exp())
}

impl Suite {
    /// Runs all of it. `new_engine` makes a fresh engine for every run; when it fails, that run is `failed` with its words.
    /// An interrupt ends the current run, and those that would follow are left out.
    pub async fn run(
        &self,
        new_engine: &mut NewEngine<'_>,
        keep: &mut dyn Keep,
        listener: &mut dyn Listener,
        interrupt: &mut Interrupt,
    ) -> SuiteReport {
        let mut results = Vec::new();
        let mut keep_errors = Vec::new();
        for (request, place) in self.plan() {
            if interrupt.came() {
                break;
            }
            let outcome = match new_engine(request) {
                Ok(mut engine) => run::run(&mut *engine, request, place, keep, listener, interrupt).await,
                Err(error) => run::stillborn(request, place, error.message, keep, listener),
            };
            results.push(outcome.result);
            keep_errors.extend(outcome.keep_error);
        }
        let totals = Totals::of(&results);
        SuiteReport { results, totals, interrupted: interrupt.came(), keep_errors }
    }

    /// Every run in its order.
    pub fn plan(&self) -> Vec<(&RunRequest, Place)> {
        let rounds = || 1..=self.repeats;
        let pairs: Vec<_> = match self.order {
            Order::Interleaved => {
                rounds().flat_map(|repeat| self.requests.iter().map(move |one| (one, repeat))).collect()
            }
            Order::QueryByQuery => {
                self.requests.iter().flat_map(|one| rounds().map(move |repeat| (one, repeat))).collect()
            }
        };
        let runs = pairs.len();
        let numbered = pairs.into_iter().zip(1..);
        numbered.map(|((request, repeat), run)| (request, Place { repeat, run, runs })).collect()
    }
}
