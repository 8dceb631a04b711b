//! Many runs in turn. A suite goes on after a run that did not pass, and only passed runs enter its totals.

use crate::engine::{Engine, EngineError};
use crate::listener::Listener;
use crate::result::{Keep, RunResult, State};
use crate::run::{self, Interrupt, Outcome, Place, RunRequest};

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

/// One run on a fresh engine; when that cannot be made, the run is `failed` with its words.
pub async fn run_one(
    request: &RunRequest,
    place: Place,
    new_engine: &mut NewEngine<'_>,
    keep: &mut dyn Keep,
    listener: &mut dyn Listener,
    interrupt: &mut Interrupt,
) -> Outcome {
    match new_engine(request) {
        Ok(mut engine) => run::run(&mut *engine, request, place, keep, listener, interrupt).await,
        Err(error) => run::stillborn(request, place, error.message, keep, listener),
    }
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
            let outcome = run_one(request, place, new_engine, keep, listener, interrupt).await;
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::engine::JobState;
    use crate::fake::{Fake, Heard, Kept, events, reply, steady};
    use crate::run::Interrupter;

    fn suite(order: Order) -> Suite {
        let mut other = events(20_000);
        other.query = nexmark_queries::ALL[1];
        Suite { requests: vec![events(10_000), other], repeats: 2, order }
    }

    fn boxed(fake: Fake) -> Result<Box<dyn Engine>, EngineError> {
        Ok(Box::new(fake))
    }

    fn events_of(request: &RunRequest) -> u64 {
        request.events_asked().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_suite_goes_on_after_a_run_that_did_not_pass() {
        let (mut kept, mut heard) = (Kept::default(), Heard::default());
        let mut made = 0;
        let report = suite(Order::Interleaved)
            .run(
                &mut |request| {
                    made += 1;
                    match made {
                        1 => boxed(Fake::new(|_| reply(JobState::Failed("boom".to_owned()), 1))),
                        2 => Err(EngineError::new("no such engine")),
                        _ => boxed(Fake::new(steady(1_000, events_of(request)))),
                    }
                },
                &mut kept,
                &mut heard,
                &mut Interrupt::never(),
            )
            .await;
        let states: Vec<_> = report.results.iter().map(|result| result.state).collect();
        assert_eq!(states, [State::Failed, State::Failed, State::Passed, State::Passed]);
        assert_eq!(report.results[1].message.as_deref(), Some("no such engine"));
        assert_eq!((report.totals.passed, report.totals.not_passed), (2, 2));
        assert!(!report.passed() && !report.interrupted);
        let order = [("q0", 1), ("q1", 1), ("q0", 2), ("q1", 2)].map(|(query, n)| (query.to_owned(), n));
        assert_eq!(heard.started, order);
        assert_eq!(heard.finished, 4);
        assert!(report.totals.seconds.is_some_and(|seconds| (29.0..31.0).contains(&seconds)));
        let names: std::collections::BTreeSet<_> = report.results.iter().map(|result| &result.name).collect();
        assert_eq!(names.len(), 4, "names are unique");
    }

    #[tokio::test(start_paused = true)]
    async fn an_interrupt_leaves_out_what_would_follow() {
        let (interrupter, mut interrupt) = Interrupter::new();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(15)).await;
            interrupter.interrupt();
        });
        let mut engine = |request: &RunRequest| boxed(Fake::new(steady(1_000, events_of(request))));
        let (mut kept, mut heard) = (Kept::default(), Heard::default());
        let report = suite(Order::Interleaved).run(&mut engine, &mut kept, &mut heard, &mut interrupt).await;
        let states: Vec<_> = report.results.iter().map(|result| result.state).collect();
        assert_eq!(states, [State::Passed, State::Cancelled]);
        assert!(report.interrupted && !report.passed());
    }

    #[test]
    fn repeats_follow_in_either_order() {
        let plan = |order| -> Vec<(&str, u32)> {
            let suite = suite(order);
            suite.plan().into_iter().map(|(request, place)| (request.query.name, place.repeat)).collect()
        };
        assert_eq!(plan(Order::Interleaved), [("q0", 1), ("q1", 1), ("q0", 2), ("q1", 2)]);
        assert_eq!(plan(Order::QueryByQuery), [("q0", 1), ("q0", 2), ("q1", 1), ("q1", 2)]);
        let last = suite(Order::Interleaved).plan().last().map(|(_, place)| *place);
        assert_eq!(last, Some(Place { repeat: 2, run: 4, runs: 4 }));
    }

    #[tokio::test(start_paused = true)]
    async fn totals_sum_times_and_never_throughputs() {
        let mut engine = |_: &RunRequest| boxed(Fake::new(steady(1, 1)));
        let (mut kept, mut heard) = (Kept::default(), Heard::default());
        let suite = Suite { requests: vec![events(1)], repeats: 1, order: Order::default() };
        let report = suite.run(&mut engine, &mut kept, &mut heard, &mut Interrupt::never()).await;
        let run = |state, seconds, rate, cpu| RunResult {
            state,
            seconds: Some(seconds),
            events_per_s: Some(rate),
            cpu_seconds: cpu,
            ..report.results[0].clone()
        };
        let passed =
            [run(State::Passed, 1.0, 100.0, Some(2.0)), run(State::Passed, 2.0, 10_000.0, Some(3.0))];
        let others = [run(State::Invalid, 50.0, 1e9, Some(9.0)), run(State::Failed, 50.0, 1e9, None)];
        let totals = Totals::of(passed.iter().chain(&others));
        assert_eq!((totals.seconds, totals.cpu_seconds), (Some(3.0), Some(5.0)));
        assert!(totals.events_per_s_geomean.is_some_and(|rate| (rate - 1_000.0).abs() < 1e-6));
        let unknown = [run(State::Passed, 1.0, 100.0, Some(2.0)), run(State::Passed, 2.0, 1.0, None)];
        assert_eq!(Totals::of(&unknown).cpu_seconds, None, "a sum with an unknown part is unknown");
        assert_eq!(Totals::of(&others), Totals { not_passed: 2, ..Totals::default() });
    }
}
