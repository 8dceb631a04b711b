//! The charts of a page: places for them, and their data as JSON. The script draws them; what it draws stands in tables, too.

use maud::{Markup, html};
use serde::Serialize;

use super::Content;
use super::tables::series_title;
use crate::metrics::series::course;
use crate::report::compare::Side;
use crate::report::history::History;
use crate::result::{RunResult, State};
use crate::stats::median;

/// Points of a run over time that are drawn: more than a screen can show.
const POINTS_MAX: usize = 300;
/// Runs of a query and side that are drawn over time, the latest.
const RUNS_MAX: usize = 10;

#[derive(Serialize)]
struct Data<'a> {
    sides: Vec<&'a str>,
    queries: &'a [&'a str],
    per_core: Vec<Vec<Option<f64>>>,
    relative: Vec<Relative<'a>>,
    spread: Vec<Vec<Vec<f64>>>,
    time: Vec<Drawn<'a>>,
    history: Vec<Line>,
}

/// Ratios of one side by query, with the ends of their intervals.
#[derive(Serialize)]
struct Relative<'a> {
    side: &'a str,
    ratio: Vec<Option<f64>>,
    low: Vec<Option<f64>>,
    high: Vec<Option<f64>>,
}

/// A run over time.
#[derive(Serialize)]
struct Drawn<'a> {
    query: &'a str,
    side: usize,
    repeat: u32,
    seconds: Vec<f64>,
    events_per_s: Vec<Option<f64>>,
    cores: Vec<Option<f64>>,
    rss_bytes: Vec<Option<u64>>,
}

/// A series of the history: seconds since 1970 of every run, its value, and where a level begins.
#[derive(Serialize)]
struct Line {
    title: String,
    unit: &'static str,
    seconds: Vec<f64>,
    values: Vec<f64>,
    changes: Vec<f64>,
}

/// The data of all charts, as JSON that may stand in a script of the page.
pub(super) fn data(content: &Content<'_>) -> String {
    let page = content.page;
    let data = Data {
        sides: page.sides.iter().map(|side| side.name.as_str()).collect(),
        queries: &content.queries,
        per_core: page.sides.iter().map(|side| medians(content, side)).collect(),
        relative: ratios(content),
        spread: page.sides.iter().map(|side| spreads(content, side)).collect(),
        time: drawn(content),
        history: page.history.map(|history| lines(history, content)).unwrap_or_default(),
    };
    // A text of a result must not end the script it stands in. JSON of these types cannot fail.
    serde_json::to_string(&data).unwrap_or_default().replace('<', "\\u003c")
}

fn per_core_of(side: &Side, query: &str) -> Vec<f64> {
    let passed = side.results.iter().filter(|run| run.query == query && run.state == State::Passed);
    passed.filter_map(|run| run.events_per_s_per_core).filter(|rate| *rate > 0.0).collect()
}

fn medians(content: &Content<'_>, side: &Side) -> Vec<Option<f64>> {
    content.queries.iter().map(|query| median(&per_core_of(side, query))).collect()
}

/// Runs of each query as shares of their median.
fn spreads(content: &Content<'_>, side: &Side) -> Vec<Vec<f64>> {
    let shares = |query: &&str| {
        let passed = side.results.iter().filter(|run| run.query == *query && run.state == State::Passed);
        let rates: Vec<f64> = passed.filter_map(|run| run.events_per_s).filter(|rate| *rate > 0.0).collect();
        let middle = median(&rates).unwrap_or(1.0);
        rates.into_iter().map(|rate| rate / middle).collect()
    };
    content.queries.iter().map(shares).collect()
}

/// By throughput per core where it is known, as it is for every engine whose costs were read.
fn ratios<'a>(content: &'a Content<'_>) -> Vec<Relative<'a>> {
    let relative = |comparison: &'a crate::report::Comparison| {
        let mut relative =
            Relative { side: &comparison.other.name, ratio: vec![], low: vec![], high: vec![] };
        for query in &content.queries {
            let found = comparison.queries.iter().find(|found| found.query == *query);
            let ratio = found.and_then(|found| {
                found.metrics.iter().find(|metric| metric.metric.name == "events_per_s_per_core")?.ratio
            });
            relative.ratio.push(ratio.map(|ratio| ratio.value));
            relative.low.push(ratio.and_then(|ratio| ratio.interval).map(|interval| interval.low));
            relative.high.push(ratio.and_then(|ratio| ratio.interval).map(|interval| interval.high));
        }
        relative
    };
    content.comparisons.iter().map(relative).collect()
}

fn drawn<'a>(content: &'a Content<'_>) -> Vec<Drawn<'a>> {
    let mut drawn = Vec::new();
    for query in &content.queries {
        for (side, runs) in content.page.sides.iter().map(|side| &side.results).enumerate() {
            let runs: Vec<&RunResult> =
                runs.iter().filter(|run| run.query == *query && run.samples.len() > 1).collect();
            let latest = runs.len().saturating_sub(RUNS_MAX);
            drawn.extend(runs[latest..].iter().map(|run| {
                let course = course(&run.samples, POINTS_MAX);
                let rounded =
                    |values: Vec<Option<f64>>| values.into_iter().map(|value| value.map(round)).collect();
                Drawn {
                    query,
                    side,
                    repeat: run.repeat,
                    seconds: course.seconds.into_iter().map(round).collect(),
                    events_per_s: rounded(course.events_per_s),
                    cores: rounded(course.cores),
                    rss_bytes: course.rss_bytes,
                }
            }));
        }
    }
    drawn
}

/// To five digits, which is finer than a screen and half the text.
fn round(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

fn lines(history: &History, content: &Content<'_>) -> Vec<Line> {
    let seconds =
        |moment: &String| moment.parse::<jiff::Timestamp>().ok().map(|moment| moment.as_second() as f64);
    let line = |series: &crate::report::Series| {
        let moments = series.points.iter().flat_map(|point| &point.started_at).map(seconds);
        let values = series.points.iter().flat_map(|point| &point.values);
        let (seconds_of_runs, values) =
            moments.zip(values).filter_map(|(moment, value)| Some((moment?, *value))).unzip();
        let changed = series.points.iter().filter(|point| point.change.is_some());
        Line {
            title: series_title(series),
            unit: history.metric.unit,
            seconds: seconds_of_runs,
            values,
            changes: changed.filter_map(|point| point.started_at.first().and_then(seconds)).collect(),
        }
    };
    content.series().into_iter().map(line).collect()
}

/// A place for a chart. Its data stand in a table near by, which is what those get who do not see it.
fn place(kind: &str, label: &str) -> Markup {
    html! {
        figure {
            div.chart data-chart=(kind) role="img" aria-label=(label) {}
            p.reading aria-hidden="true" {}
        }
    }
}

/// Events a second and core, by query and side.
pub(super) fn per_core(content: &Content<'_>) -> Markup {
    let known = content.page.results().any(|run| run.events_per_s_per_core.is_some());
    html! {
        @if known {
            p { "Events a second and core, median of the passed runs, on a logarithmic scale. Higher is better." }
            (place("per-core", "Throughput per core of each query and side; the numbers are in the table All queries."))
        } @else {
            p { "No run knows its CPU time." }
        }
    }
}

/// Ratios to the baseline with their intervals.
pub(super) fn relative(content: &Content<'_>) -> Markup {
    html! {
        @if !content.comparisons.is_empty() {
            p { "Throughput per core as a multiple of that of " (content.page.baseline) ", with the 95 % interval of each. Above 1 is better." }
            (place("relative", "Ratio of each query to the baseline; the numbers are in the tables of the comparison."))
        }
    }
}

/// Repetitions around their median.
pub(super) fn spread(content: &Content<'_>) -> Markup {
    let repeated = content.page.sides.iter().any(|side| {
        content.queries.iter().any(|query| side.results.iter().filter(|run| run.query == *query).count() > 1)
    });
    html! {
        @if repeated {
            p { "Throughput of every passed run as a share of the median of its query and side. How far they lie apart is what a difference has to be
                larger than." }
            (place("spread", "Every run as a share of the median of its query; deviations are in the table All queries."))
        }
    }
}

/// Throughput, CPU and memory of each run over time.
pub(super) fn over_time(content: &Content<'_>) -> Markup {
    let drawn = drawn(content);
    html! {
        @if !drawn.is_empty() {
            p {
                label for="time-query" { "Query " }
                select id="time-query" {
                    @for query in content.queries.iter().filter(|query| drawn.iter().any(|run| run.query == **query)) {
                        option value=(query) { (query) }
                    }
                }
                " The latest " (RUNS_MAX) " runs of each side are drawn."
            }
            @for (kind, title) in [("time-rate", "Throughput, events/s"), ("time-cores", "CPU, cores"), ("time-memory", "Memory, bytes")] {
                h3 { (title) }
                (place(kind, &format!("{title} of the runs of the chosen query over time, s")))
            }
        }
    }
}
