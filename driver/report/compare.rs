//! Two sides, query by query and metric by metric: medians over runs, their ratio with its interval, and a verdict.

use std::collections::BTreeSet;

use serde::Serialize;

use super::differences::{Difference, differences};
use super::{Metric, queries};
use crate::result::{RunResult, State};
use crate::stats::{
    self, Better, RUNS_MIN, Ratio, Verdict, geometric_mean_of_ratios, median_absolute_deviation,
    ratio_of_medians,
};

/// Smallest effect that matters when nothing else is said, as a share.
pub const THRESHOLD: f64 = 0.05;

/// Runs under one name.
#[derive(Clone, Debug)]
pub struct Side {
    /// As the user calls it.
    pub name: String,
    /// Its runs, of any queries.
    pub results: Vec<RunResult>,
}

/// Two sides compared; the other is judged against the base.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// What the other side is measured by.
    pub base: SideDescription,
    /// The side that is judged.
    pub other: SideDescription,
    /// Smallest effect that matters, as a share.
    pub threshold: f64,
    /// In what the sides differ besides their numbers, the serious first.
    pub differences: Vec<Difference>,
    /// Every query that both sides ran or only one.
    pub queries: Vec<QueryComparison>,
    /// Each metric over all queries that have a ratio.
    pub totals: Vec<Total>,
}

/// What a side is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SideDescription {
    /// As the user calls it.
    pub name: String,
    /// Names and versions of its engines.
    pub engines: Vec<String>,
    /// Number of its runs.
    pub runs: usize,
    /// Those that passed, which alone are compared.
    pub passed: usize,
}

/// A query on two sides.
#[derive(Clone, Debug, Serialize)]
pub struct QueryComparison {
    /// Its name.
    pub query: String,
    /// Passed runs of the base.
    pub base_passed: usize,
    /// Passed runs of the other side.
    pub other_passed: usize,
    /// What a reader of the numbers should know, as runs that did not pass.
    pub notes: Vec<String>,
    /// Whether the base passed and the other side has runs that did not.
    pub broken: bool,
    /// Every metric that a side knows.
    pub metrics: Vec<MetricComparison>,
}

/// A metric of a query on two sides.
#[derive(Clone, Debug, Serialize)]
pub struct MetricComparison {
    /// The metric.
    pub metric: &'static Metric,
    /// Its unit.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// The base, where it is known.
    pub base: Option<Summary>,
    /// The other side, where it is known.
    pub other: Option<Summary>,
    /// Other / base.
    pub ratio: Option<Ratio>,
    /// What that says about the other side.
    pub verdict: Verdict,
}

/// Values of runs, in the unit of their metric.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Number of values.
    pub runs: usize,
    /// The middle one.
    pub median: f64,
    /// Median absolute deviation from it; `None` of a single value, which says nothing about spread.
    pub deviation: Option<f64>,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Summary {
    /// Summary of values; `None` of none.
    pub fn of(values: &[f64]) -> Option<Self> {
        Some(Self {
            runs: values.len(),
            median: stats::median(values)?,
            deviation: median_absolute_deviation(values).filter(|_deviation| values.len() > 1),
            min: values.iter().copied().reduce(f64::min)?,
            max: values.iter().copied().reduce(f64::max)?,
        })
    }

    /// The deviation as a share of the median; `None` of a single value or a median of 0.
    pub fn deviation_share(&self) -> Option<f64> {
        self.deviation.filter(|_deviation| self.median != 0.0).map(|deviation| deviation / self.median.abs())
    }
}

/// A metric over all queries.
#[derive(Clone, Debug, Serialize)]
pub struct Total {
    /// The metric.
    pub metric: &'static Metric,
    /// Queries that have a ratio, of which the mean is.
    pub queries: usize,
    /// Geometric mean of their ratios.
    pub ratio: Option<Ratio>,
    /// What that says about the other side.
    pub verdict: Verdict,
    /// Queries with each verdict.
    pub better: usize,
    /// Queries with this verdict.
    pub worse: usize,
    /// Queries with this verdict.
    pub same: usize,
    /// Queries with this verdict.
    pub inconclusive: usize,
}

/// Something that is worse on the other side.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The query.
    pub query: String,
    /// The metric, and by which share it is worse; `None` when runs did not pass.
    pub metric: Option<(&'static str, f64)>,
}

impl Comparison {
    /// Compares passed runs in these metrics. `threshold` is the smallest effect that matters, as a share.
    pub fn new(base: &Side, other: &Side, metrics: &[&'static Metric], threshold: f64) -> Self {
        let runs = Runs { base: passed(base), other: passed(other) };
        let all = base.results.iter().chain(&other.results);
        let queries: Vec<QueryComparison> = queries(all)
            .into_iter()
            .map(|query| query_comparison(query, [base, other], metrics, threshold))
            .collect();
        Self {
            base: describe(base),
            other: describe(other),
            threshold,
            differences: differences(&runs.base, &runs.other),
            totals: metrics.iter().filter_map(|metric| total(metric, &queries, &runs, threshold)).collect(),
            queries,
        }
    }

    /// The differences that make a comparison meaningless.
    pub fn serious(&self) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(|difference| difference.serious)
    }

    /// The queries of a difference in words: `all` where it holds for all that both sides have.
    pub fn queries_of(&self, difference: &Difference) -> String {
        let common =
            self.queries.iter().filter(|query| query.base_passed > 0 && query.other_passed > 0).count();
        match difference.queries.len() {
            many if many == common && common > 1 => "all".to_owned(),
            _ => difference.queries.join(", "),
        }
    }

    /// What is worse on the other side by more than this share, and queries that run on the base alone.
    pub fn losses(&self, above: f64) -> Vec<Loss> {
        let mut losses = Vec::new();
        for query in &self.queries {
            let name = || query.query.clone();
            if query.broken {
                losses.push(Loss { query: name(), metric: None });
            }
            for metric in query.metrics.iter().filter(|metric| metric.verdict == Verdict::Worse) {
                let loss = metric.ratio.map_or(0.0, |ratio| ratio.loss(metric.better));
                if loss > above {
                    losses.push(Loss { query: name(), metric: Some((metric.metric.name, loss)) });
                }
            }
        }
        losses
    }
}

struct Runs<'a> {
    base: Vec<&'a RunResult>,
    other: Vec<&'a RunResult>,
}

fn passed(side: &Side) -> Vec<&RunResult> {
    side.results.iter().filter(|result| result.state == State::Passed).collect()
}

fn describe(side: &Side) -> SideDescription {
    let engines: BTreeSet<String> = side
        .results
        .iter()
        .filter_map(|result| result.engine.as_ref())
        .map(|engine| format!("{} {}", engine.name, engine.version))
        .collect();
    SideDescription {
        name: side.name.clone(),
        engines: engines.into_iter().collect(),
        runs: side.results.len(),
        passed: passed(side).len(),
    }
}

fn query_comparison(
    query: &str,
    sides: [&Side; 2],
    metrics: &[&'static Metric],
    threshold: f64,
) -> QueryComparison {
    let [base, other] =
        sides.map(|side| side.results.iter().filter(|result| result.query == query).collect::<Vec<_>>());
    let passed = |runs: &[&RunResult]| runs.iter().filter(|run| run.state == State::Passed).count();
    let (base_passed, other_passed) = (passed(&base), passed(&other));
    let mut notes = Vec::new();
    for (side, runs) in [(sides[0], &base), (sides[1], &other)] {
        notes.extend(notes_of(&side.name, runs));
    }
    QueryComparison {
        query: query.to_owned(),
        base_passed,
        other_passed,
        notes,
        broken: base_passed > 0 && other_passed < other.len(),
        metrics: metrics
            .iter()
            .map(|metric| metric_comparison(metric, [&base, &other], threshold))
            .filter(|metric| metric.base.is_some() || metric.other.is_some())
            .collect(),
    }
}

/// What is doubtful about the runs of one side.
fn notes_of(side: &str, runs: &[&RunResult]) -> Vec<String> {
    let mut notes: Vec<(String, usize)> = Vec::new();
    let mut add = |note: String| match notes.iter_mut().find(|(known, _)| *known == note) {
        Some((_, count)) => *count += 1,
        None => notes.push((note, 1)),
    };
    for run in runs {
        match &run.message {
            Some(message) if run.state != State::Passed => add(format!("{}: {message}", run.state.name())),
            _ if run.state != State::Passed => add(run.state.name().to_owned()),
            _ => {}
        }
        run.notes.iter().for_each(|note| add(note.clone()));
        run.deviations.iter().for_each(|text| add(format!("deviates: {text}")));
    }
    let of = runs.len();
    let mut notes: Vec<String> = notes
        .into_iter()
        .map(|(note, count)| match count == of {
            true => format!("{side}: {note}"),
            false => format!("{side}: {note} ({count} of {of})"),
        })
        .collect();
    match runs.iter().filter(|run| run.state == State::Passed).count() {
        0 if of == 0 => notes.push(format!("{side}: not run")),
        passed if passed < RUNS_MIN => {
            notes.push(format!("{side}: {passed} passed of {RUNS_MIN} runs that a verdict needs"));
        }
        _ => {}
    }
    notes
}

/// Values of a metric in the passed among these runs.
fn values(metric: &Metric, runs: &[&RunResult]) -> Vec<f64> {
    let passed = runs.iter().filter(|run| run.state == State::Passed);
    passed.filter_map(|run| (metric.value)(run)).collect()
}

fn metric_comparison(metric: &'static Metric, sides: [&[&RunResult]; 2], threshold: f64) -> MetricComparison {
    let [base, other] = sides.map(|runs| values(metric, runs));
    let ratio = ratio_of_medians(&base, &other);
    MetricComparison {
        metric,
        unit: metric.unit,
        better: metric.better,
        base: Summary::of(&base),
        other: Summary::of(&other),
        ratio,
        verdict: ratio.map_or(Verdict::Inconclusive, |ratio| ratio.verdict(metric.better, threshold)),
    }
}

/// `None` of a metric that no query has on both sides.
fn total(
    metric: &'static Metric,
    queries: &[QueryComparison],
    runs: &Runs<'_>,
    threshold: f64,
) -> Option<Total> {
    let of = |query: &QueryComparison| {
        query
            .metrics
            .iter()
            .find(|one| one.metric.name == metric.name)
            .filter(|one| one.ratio.is_some())
            .cloned()
    };
    let judged: Vec<(&str, Verdict)> =
        queries.iter().filter_map(|query| Some((query.query.as_str(), of(query)?.verdict))).collect();
    let side = |runs: &[&RunResult], query: &str| {
        let runs: Vec<_> = runs.iter().copied().filter(|run| run.query == query).collect();
        values(metric, &runs)
    };
    let pairs: Vec<(Vec<f64>, Vec<f64>)> =
        judged.iter().map(|(query, _)| (side(&runs.base, query), side(&runs.other, query))).collect();
    let pairs: Vec<(&[f64], &[f64])> = pairs.iter().map(|(base, other)| (&base[..], &other[..])).collect();
    let ratio = geometric_mean_of_ratios(&pairs)?;
    let count = |verdict| judged.iter().filter(|(_, judged)| *judged == verdict).count();
    Some(Total {
        metric,
        queries: judged.len(),
        ratio: Some(ratio),
        verdict: ratio.verdict(metric.better, threshold),
        better: count(Verdict::Better),
        worse: count(Verdict::Worse),
        same: count(Verdict::Same),
        inconclusive: count(Verdict::Inconclusive),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::result;
    use crate::report::METRICS;
    use crate::result::RunSample;

    fn all() -> Vec<&'static Metric> {
        METRICS.iter().collect()
    }

    /// Runs of a query at these rates, of one workload.
    fn runs(query: &str, rates: &[f64]) -> Vec<RunResult> {
        let run = |rate: &f64| RunResult {
            workload: result(query, 1.0).workload,
            name: format!("{query}-{rate}"),
            ..result(query, *rate)
        };
        rates.iter().map(run).collect()
    }

    fn side(name: &str, results: Vec<RunResult>) -> Side {
        Side { name: name.to_owned(), results }
    }

    #[test]
    fn a_query_is_judged_in_every_metric_it_has() {
        let base = side("old", runs("q5", &[100.0, 101.0, 99.0, 100.5, 100.2]));
        let mut faster = runs("q5", &[120.0, 121.0, 119.0, 118.0, 122.0]);
        faster.iter_mut().for_each(|run| run.rss_bytes_max = Some(200_000_000));
        let comparison = Comparison::new(&base, &side("new", faster), &all(), THRESHOLD);
        assert_eq!(comparison.queries.len(), 1);
        let verdicts: Vec<_> =
            comparison.queries[0].metrics.iter().map(|one| (one.metric.name, one.verdict)).collect();
        assert_eq!(
            verdicts,
            [
                ("events_per_s", Verdict::Better),
                ("events_per_s_per_core", Verdict::Better),
                ("cpu_seconds", Verdict::Same),
                ("rss_bytes_max", Verdict::Worse),
            ]
        );
        let rate = &comparison.queries[0].metrics[0];
        let summary = rate.other.unwrap();
        assert_eq!(
            (summary.median, summary.deviation, summary.min, summary.max),
            (120.0, Some(1.0), 118.0, 122.0)
        );
        assert!(rate.ratio.unwrap().interval.unwrap().contains(1.2), "{rate:?}");
        let single = Summary::of(&[7.0]).unwrap();
        assert_eq!((single.median, single.deviation, single.deviation_share()), (7.0, None, None));
        assert_eq!(
            comparison.losses(0.05),
            [Loss { query: "q5".to_owned(), metric: Some(("rss_bytes_max", 1.0)) }]
        );
        assert!(comparison.losses(1.5).is_empty() && comparison.serious().next().is_none());
        assert_eq!(comparison.base.engines, ["fake 1.2.3"]);
    }

    #[test]
    fn samples_within_a_run_are_no_repetitions() {
        let even = |rate: f64| -> Vec<RunSample> {
            let sample = |second: u32| RunSample {
                seconds: f64::from(second),
                events_in: Some((f64::from(second) * rate) as u64),
                ..RunSample::default()
            };
            (0..1000).map(sample).collect()
        };
        let with_samples = |rates: &[f64]| {
            let mut runs = runs("q5", rates);
            runs.iter_mut().for_each(|run| run.samples = even(run.events_per_s.unwrap()));
            runs
        };
        let base = side("a", with_samples(&[100.0, 130.0, 85.0]));
        let other = side("b", with_samples(&[112.0, 90.0, 141.0]));
        let comparison = Comparison::new(&base, &other, &all(), THRESHOLD);
        assert_eq!(comparison.queries[0].metrics[0].verdict, Verdict::Inconclusive);
        let summary = comparison.queries[0].metrics[0].base.unwrap();
        assert_eq!(summary.runs, 3);
    }

    #[test]
    fn totals_are_over_queries_with_both_sides() {
        let base =
            side("a", [runs("q10", &[100.0; 3]), runs("q9", &[10.0; 3]), runs("q1", &[5.0; 3])].concat());
        let other =
            side("b", [runs("q9", &[40.0; 3]), runs("q10", &[25.0; 3]), runs("q2", &[5.0; 3])].concat());
        let comparison = Comparison::new(&base, &other, &all(), THRESHOLD);
        let names: Vec<_> = comparison.queries.iter().map(|query| query.query.as_str()).collect();
        assert_eq!(names, ["q1", "q2", "q9", "q10"]);
        assert_eq!(comparison.queries[0].notes, ["b: not run"]);
        let total = &comparison.totals[0];
        assert_eq!(
            (total.queries, total.better, total.worse, total.same, total.inconclusive),
            (2, 1, 1, 0, 0)
        );
        assert!((total.ratio.unwrap().value - 1.0).abs() < 1e-12, "{total:?}");
        assert!(comparison.totals.iter().all(|total| !total.metric.name.starts_with("latency")));
    }

    #[test]
    fn runs_that_did_not_pass_count_for_nothing_but_are_told() {
        let base = side("a", runs("q5", &[100.0; 5]));
        let mut broken = runs("q5", &[100.0; 5]);
        for run in &mut broken[..2] {
            (run.state, run.message) = (State::Failed, Some("out of slots".to_owned()));
            run.events_per_s = Some(1e9);
        }
        let comparison = Comparison::new(&base, &side("b", broken), &all(), THRESHOLD);
        let query = &comparison.queries[0];
        assert_eq!((query.other_passed, query.metrics[0].other.unwrap().max), (3, 100.0));
        assert_eq!(query.notes, ["b: failed: out of slots (2 of 5)"]);
        assert_eq!(comparison.losses(0.5), [Loss { query: "q5".to_owned(), metric: None }]);
        let backwards = Comparison::new(&side("b", Vec::new()), &base, &all(), THRESHOLD);
        assert!(backwards.losses(0.0).is_empty() && backwards.totals.is_empty());
    }

    #[test]
    fn few_runs_give_no_verdict() {
        let comparison = Comparison::new(
            &side("a", runs("q5", &[1.0; 2])),
            &side("b", runs("q5", &[9.0; 9])),
            &all(),
            0.05,
        );
        assert_eq!(comparison.queries[0].metrics[0].verdict, Verdict::Inconclusive);
        assert_eq!(comparison.queries[0].notes, ["a: 2 passed of 3 runs that a verdict needs"]);
    }
}
