//! Results over time: one series for each query, label, engine, workload and machine, a point for each day and version of it,
//! and where its level changed for good.

use std::collections::BTreeMap;

use serde::Serialize;

use super::compare::Summary;
use super::{Metric, position};
use crate::result::{RunResult, State};
use crate::stats::{Ratio, Verdict, change_points, ratio_of_medians};

/// All series of a metric.
#[derive(Clone, Debug, Serialize)]
pub struct History {
    /// The metric.
    pub metric: &'static Metric,
    /// The series, by query.
    pub series: Vec<Series>,
}

/// One thing that was measured again and again.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// The query.
    pub query: String,
    /// The label, where there is one.
    pub label: Option<String>,
    /// The engine, without its version.
    pub engine: String,
    /// The workload in a few words.
    pub workload: String,
    /// The machine in a few words.
    pub machine: String,
    /// Its points in order of time.
    pub points: Vec<Point>,
}

/// The runs of one day and version.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// The day of the first run, as 2026-01-31, UTC.
    pub date: String,
    /// Version of the engine, and of this program where it is another's.
    pub version: String,
    /// Moments of the runs, RFC 3339.
    pub started_at: Vec<String>,
    /// Values of the runs, in the unit of the metric.
    pub values: Vec<f64>,
    /// What they come to.
    pub summary: Summary,
    /// Against the point before.
    pub ratio: Option<Ratio>,
    /// What that says.
    pub verdict: Option<Verdict>,
    /// Where a new level begins here: against the level before.
    pub change: Option<Ratio>,
}

/// What runs of a series have in common.
type Key<'a> = (usize, &'a str, Option<&'a str>, &'a str, String, String);

impl History {
    /// Passed runs with a value of the metric. `threshold` is the smallest effect that matters, as a share.
    pub fn new(results: &[RunResult], metric: &'static Metric, threshold: f64) -> Self {
        let mut series: BTreeMap<Key<'_>, Vec<(&RunResult, f64)>> = BTreeMap::new();
        for result in results.iter().filter(|result| result.state == State::Passed) {
            let (Some(value), Some(engine)) = ((metric.value)(result), &result.engine) else { continue };
            let query = result.query.as_str();
            let key = (
                position(query),
                query,
                result.label.as_deref(),
                engine.name.as_str(),
                workload(result),
                machine(result),
            );
            series.entry(key).or_default().push((result, value));
        }
        let series = series.into_iter().map(|(key, mut runs)| {
            runs.sort_by(|one, other| one.0.started_at.cmp(&other.0.started_at));
            let (_, query, label, engine, workload, machine) = key;
            let (query, engine, label) = (query.to_owned(), engine.to_owned(), label.map(str::to_owned));
            Series { query, label, engine, workload, machine, points: points(&runs, metric, threshold) }
        });
        Self { metric, series: series.collect() }
    }
}

/// Everything that makes two runs of a query incomparable, in a few words.
fn workload(result: &RunResult) -> String {
    let asked = &result.workload;
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let mut parts = match (asked.events, asked.duration_seconds) {
        (Some(events), _) => vec![format!("{events} events")],
        (None, duration) => vec![format!("{} s", number(duration))],
    };
    match (asked.warmup_events.filter(|events| *events > 0), asked.warmup_seconds.filter(|time| *time > 0.0))
    {
        (Some(events), _) => parts.push(format!("after {events}")),
        (_, Some(seconds)) => parts.push(format!("after {seconds} s")),
        _ => {}
    }
    if let Some(rate) = asked.events_per_s {
        parts.push(format!(
            "{} {}/s{}",
            asked.shape,
            rate,
            asked.events_per_s_next.map(|next| format!(" to {next}/s")).unwrap_or_default()
        ));
    }
    let workers =
        if asked.workers == 1 { "1 worker".to_owned() } else { format!("{} workers", asked.workers) };
    parts.push(workers);
    if asked.output != "count" {
        parts.push(asked.output.clone());
    }
    if asked.input != "generated" {
        parts.push(asked.input.clone());
    }
    let defaults = nexmark_queries::generator::Options::default();
    let usual: BTreeMap<&str, u64> = defaults.entries().collect();
    let changed = result.options.iter().filter(|(name, value)| usual.get(name.as_str()) != Some(value));
    parts.extend(changed.map(|(name, value)| format!("{name}={value}")));
    parts.join(", ")
}

fn machine(result: &RunResult) -> String {
    let environment = &result.environment;
    let model = environment.cpu_model.as_deref().unwrap_or("unknown CPU");
    let cores = environment.cores.map(|cores| format!(", {cores} cores")).unwrap_or_default();
    let hosts = match environment.hosts.len() {
        0 | 1 => String::new(),
        hosts => format!(", {hosts} hosts"),
    };
    format!("{model}{cores}{hosts}")
}

fn points(runs: &[(&RunResult, f64)], metric: &Metric, threshold: f64) -> Vec<Point> {
    let all: Vec<f64> = runs.iter().map(|(_, value)| *value).collect();
    let changes = change_points(&all, threshold);
    let mut points: Vec<Point> = Vec::new();
    let mut first = 0;
    for runs in runs.chunk_by(|one, other| (day(one.0), version(one.0)) == (day(other.0), version(other.0))) {
        let values: Vec<f64> = runs.iter().map(|(_, value)| *value).collect();
        let Some(summary) = Summary::of(&values) else { continue };
        let ratio = points.last().and_then(|before: &Point| ratio_of_medians(&before.values, &values));
        let here = first..first + runs.len();
        points.push(Point {
            date: day(runs[0].0).to_owned(),
            version: version(runs[0].0),
            started_at: runs.iter().map(|(result, _)| result.started_at.clone()).collect(),
            summary,
            ratio,
            verdict: ratio.map(|ratio| ratio.verdict(metric.better, threshold)),
            change: changes.iter().position(|change| here.contains(change)).and_then(|number| {
                let bound = |number: Option<usize>, end| {
                    number.and_then(|number| changes.get(number)).copied().unwrap_or(end)
                };
                let before = bound(number.checked_sub(1), 0)..changes[number];
                let after = changes[number]..bound(Some(number + 1), all.len());
                ratio_of_medians(&all[before], &all[after])
            }),
            values,
        });
        first = here.end;
    }
    points
}

fn day(result: &RunResult) -> &str {
    result.started_at.get(..10).unwrap_or(&result.started_at)
}

fn version(result: &RunResult) -> String {
    let engine = result.engine.as_ref().map(|engine| engine.version.as_str()).unwrap_or_default();
    let own = &result.environment.nexmark_version;
    if own.is_empty() || own == engine { engine.to_owned() } else { format!("{engine}, nexmark {own}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::result;
    use crate::report::METRICS;

    fn run(day: u32, second: u32, rate: f64) -> RunResult {
        let started_at = format!("2026-03-{day:02}T10:00:{second:02}.000Z");
        RunResult { started_at, workload: result("q5", 1.0).workload, ..result("q5", rate) }
    }

    #[test]
    fn a_level_that_changes_for_good_is_marked() {
        let days = [(1, 100.0), (2, 101.0), (3, 99.0), (4, 80.0), (5, 81.0), (6, 80.0)];
        let runs: Vec<_> = days
            .iter()
            .flat_map(|(day, rate)| {
                (0..3).map(move |second| run(*day, second, rate + f64::from(second) / 2.0))
            })
            .rev()
            .collect();
        let history = History::new(&runs, &METRICS[0], 0.05);
        assert_eq!(history.series.len(), 1);
        let points = &history.series[0].points;
        let changed: Vec<_> =
            points.iter().filter(|point| point.change.is_some()).map(|point| point.date.as_str()).collect();
        assert_eq!((points.len(), changed), (6, vec!["2026-03-04"]));
        assert!(points[3].change.unwrap().value < 0.85, "{:?}", points[3]);
        assert_eq!(points[3].verdict, Some(Verdict::Worse));
        assert_eq!((points[0].verdict, points[1].verdict), (None, Some(Verdict::Same)));
    }

    #[test]
    fn other_machines_workloads_and_labels_are_other_series() {
        let mut runs: Vec<_> = (0..6).map(|second| run(1, second, 100.0)).collect();
        runs[1].environment.cpu_model = Some("other".to_owned());
        runs[2].workload.workers = 9;
        runs[3].label = Some("x".to_owned());
        runs[4].state = State::Failed;
        runs[5].engine.as_mut().unwrap().version = "9".to_owned();
        let history = History::new(&runs, &METRICS[0], 0.05);
        assert_eq!(history.series.len(), 4);
        let versions: Vec<_> = history.series[1].points.iter().map(|point| point.version.as_str()).collect();
        let plain = history.series.iter().find(|series| series.points.len() == 2);
        assert!(plain.is_some(), "a version is a point, not a series: {versions:?}");
    }

    #[test]
    fn queries_are_in_the_order_of_their_numbers() {
        let runs = ["q10", "q9", "q1"].map(|query| result(query, 1.0));
        let history = History::new(&runs, &METRICS[0], 0.05);
        let order: Vec<_> = history.series.iter().map(|series| series.query.as_str()).collect();
        assert_eq!(order, ["q1", "q9", "q10"]);
    }
}
