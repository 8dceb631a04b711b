//! Two sides run in turn, ABAB…, until their ratio is known well enough or the time is spent. Whatever drifts meanwhile, as
//! the temperature of a machine, meets both alike.

use std::time::Duration;

use async_trait::async_trait;
use nexmark_queries::Query;

use crate::report::Side;
use crate::result::{RunResult, State};
use crate::run::{Interrupt, Place};
use crate::stats::ratio_of_medians;

/// Runs one job afresh.
#[async_trait]
pub trait Measure: Send {
    /// Runs a query on a side, 0 for the base and 1 for the other, and tells how it went.
    async fn measure(
        &mut self,
        query: &'static Query,
        side: usize,
        place: Place,
        interrupt: &mut Interrupt,
    ) -> RunResult;
}

/// What is run, and when it is enough.
#[derive(Clone, Debug)]
pub struct Bench {
    /// The queries.
    pub queries: Vec<&'static Query>,
    /// Runs of each query a side, whatever they say.
    pub rounds_min: u32,
    /// Runs of each query a side at most.
    pub rounds_max: u32,
    /// Time after which no further pair of runs begins, once there are enough for a verdict.
    pub budget: Duration,
    /// Smallest effect that matters, as a share: intervals of that reach up and down are narrow enough.
    pub threshold: f64,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct BenchReport {
    /// The runs of both sides, in order.
    pub results: [Vec<RunResult>; 2],
    /// Queries whose interval is still wider than it should be.
    pub open: Vec<&'static str>,
    /// Whether the user ended it early.
    pub interrupted: bool,
}

impl Bench {
    /// Runs the queries in rounds, each query on both sides, and each round only those that are still open.
    pub async fn run(&self, measure: &mut dyn Measure, interrupt: &mut Interrupt) -> BenchReport {
        let begin = tokio::time::Instant::now();
        let mut results = [Vec::new(), Vec::new()];
        let mut open = self.queries.clone();
        let mut run = 0;
        'rounds: for repeat in 1..=self.rounds_max {
            let rounds_left = self.rounds_min.saturating_sub(repeat) as usize;
            for (number, query) in open.iter().enumerate() {
                if repeat > self.rounds_min && begin.elapsed() >= self.budget {
                    break 'rounds;
                }
                let runs = run + 2 * (open.len() - number + rounds_left * open.len());
                for (side, results) in results.iter_mut().enumerate() {
                    if interrupt.came() {
                        break 'rounds;
                    }
                    run += 1;
                    let place = Place { repeat, run, runs };
                    results.push(measure.measure(query, side, place, interrupt).await);
                }
            }
            open.retain(|query| !self.is_hopeless(query, repeat, &results));
            if repeat >= self.rounds_min {
                open.retain(|query| !self.is_known(query, &results));
            }
            if open.is_empty() {
                break;
            }
        }
        let known = |query: &&&Query| {
            !results.iter().all(|side| passed(query, side).count() > 0) || self.is_known(query, &results)
        };
        let open = self.queries.iter().filter(|query| !known(query)).map(|query| query.name).collect();
        BenchReport { results, open, interrupted: interrupt.came() }
    }

    /// Whether a side does not run the query at all, or has failed each time so far.
    fn is_hopeless(&self, query: &Query, rounds: u32, results: &[Vec<RunResult>; 2]) -> bool {
        results.iter().any(|side| {
            let unsupported =
                side.iter().any(|run| run.query == query.name && run.state == State::Unsupported);
            unsupported || (rounds >= self.rounds_min && passed(query, side).count() == 0)
        })
    }

    /// Whether the intervals of both throughputs reach no farther than the smallest effect. That looks at their width alone: a
    /// stop at the first verdict would take chance for a difference far too often.
    fn is_known(&self, query: &Query, results: &[Vec<RunResult>; 2]) -> bool {
        let narrow = |value: fn(&RunResult) -> Option<f64>| {
            let [base, other] =
                [0, 1].map(|side| passed(query, &results[side]).filter_map(value).collect::<Vec<_>>());
            let interval = ratio_of_medians(&base, &other).and_then(|ratio| ratio.interval);
            interval.map(|interval| interval.high / interval.low <= (1.0 + self.threshold).powi(2))
        };
        // Costs that nobody knows do not become known by more runs.
        narrow(|run| run.events_per_s) == Some(true) && narrow(|run| run.events_per_s_per_core) != Some(false)
    }
}

impl BenchReport {
    /// The two sides under their names.
    pub fn sides(self, names: [&str; 2]) -> [Side; 2] {
        let [base, other] = self.results;
        [
            Side { name: names[0].to_owned(), results: base },
            Side { name: names[1].to_owned(), results: other },
        ]
    }
}

fn passed<'a>(query: &'a Query, results: &'a [RunResult]) -> impl Iterator<Item = &'a RunResult> {
    results.iter().filter(|run| run.query == query.name && run.state == State::Passed)
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::fake::result;
    use crate::run::Interrupter;
    use crate::stats::{Better, Verdict};

    /// Runs whose rates are drawn, each of which takes a while.
    struct Drawn {
        rng: Rng,
        levels: [f64; 2],
        noise: f64,
        takes: Duration,
        order: Vec<String>,
        fails: fn(&str, usize) -> Option<State>,
    }

    impl Drawn {
        fn new(noise: f64) -> Self {
            Self {
                rng: Rng::with_seed(1),
                levels: [100.0; 2],
                noise,
                takes: Duration::from_secs(10),
                order: Vec::new(),
                fails: |_, _| None,
            }
        }
    }

    #[async_trait]
    impl Measure for Drawn {
        async fn measure(
            &mut self,
            query: &'static Query,
            side: usize,
            place: Place,
            _interrupt: &mut Interrupt,
        ) -> RunResult {
            tokio::time::sleep(self.takes).await;
            self.order.push(format!("{}{} {}", query.name, ["A", "B"][side], place.repeat));
            assert!(place.run <= place.runs, "{place:?}");
            let noise: f64 = (0..12).map(|_| self.rng.f64()).sum::<f64>() - 6.0;
            let mut run = result(query.name, self.levels[side] * (1.0 + self.noise * noise));
            if let Some(state) = (self.fails)(query.name, side) {
                run.state = state;
            }
            run
        }
    }

    fn bench(queries: usize) -> Bench {
        Bench {
            queries: nexmark_queries::ALL[..queries].to_vec(),
            rounds_min: 3,
            rounds_max: 20,
            budget: Duration::from_secs(600),
            threshold: 0.05,
        }
    }

    async fn run(bench: &Bench, measure: &mut Drawn) -> BenchReport {
        bench.run(measure, &mut Interrupt::never()).await
    }

    #[tokio::test(start_paused = true)]
    async fn sides_take_turns_and_stop_when_the_ratio_is_known() {
        let mut quiet = Drawn::new(0.001);
        let report = run(&bench(2), &mut quiet).await;
        let expected = ["q0A 1", "q0B 1", "q1A 1", "q1B 1", "q0A 2", "q0B 2", "q1A 2", "q1B 2", "q0A 3"];
        assert_eq!(quiet.order[..9], expected);
        assert_eq!((quiet.order.len(), report.open.len(), report.interrupted), (12, 0, false));
    }

    #[tokio::test(start_paused = true)]
    async fn noise_takes_more_runs_until_the_budget_is_spent() {
        let mut noisy = Drawn::new(0.3);
        let report = run(&bench(1), &mut noisy).await;
        assert_eq!((noisy.order.len(), &report.open[..]), (40, &["q0"][..]), "the most runs");
        let mut noisy = Drawn::new(0.3);
        let report = run(&Bench { budget: Duration::from_secs(115), ..bench(1) }, &mut noisy).await;
        assert_eq!(noisy.order.len(), 12, "the sixth pair begins at 100 s");
        assert_eq!(report.results[0].len(), report.results[1].len());
        let mut noisy = Drawn::new(0.3);
        run(&Bench { budget: Duration::ZERO, ..bench(1) }, &mut noisy).await;
        assert_eq!(noisy.order.len(), 6, "enough for a verdict in any case");
    }

    #[tokio::test(start_paused = true)]
    async fn queries_that_do_not_run_are_given_up() {
        let mut broken = Drawn::new(0.001);
        broken.fails = |query, side| match (query, side) {
            ("q0", 1) => Some(State::Unsupported),
            ("q1", 0) => Some(State::Failed),
            _ => None,
        };
        let report = run(&bench(3), &mut broken).await;
        let count = |query: &str| broken.order.iter().filter(|one| one.starts_with(query)).count();
        assert_eq!([count("q0"), count("q1"), count("q2")], [2, 6, 6]);
        assert!(report.open.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn an_interrupt_keeps_what_was_measured() {
        let (interrupter, mut interrupt) = Interrupter::new();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(25)).await;
            interrupter.interrupt();
        });
        let report = bench(1).run(&mut Drawn::new(0.3), &mut interrupt).await;
        assert!(report.interrupted);
        assert_eq!((report.results[0].len(), report.results[1].len()), (2, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn equal_sides_are_called_different_in_at_most_5_of_100_trials_though_runs_are_added() {
        let verdict = |report: &BenchReport| {
            let [base, other] = [0, 1].map(|side: usize| {
                report.results[side].iter().filter_map(|run| run.events_per_s).collect::<Vec<_>>()
            });
            ratio_of_medians(&base, &other).unwrap().verdict(Better::Higher, 0.05)
        };
        let (trials, bench) = (1_000, Bench { rounds_max: 10, ..bench(1) });
        for noise in [0.03, 0.1] {
            let mut drawn = Drawn::new(noise);
            let mut wrong = 0;
            for _ in 0..trials {
                let found = verdict(&run(&bench, &mut drawn).await);
                wrong += usize::from(matches!(found, Verdict::Better | Verdict::Worse));
            }
            assert!(wrong * 20 <= trials, "noise {noise}: {wrong}");
        }
    }
}
