//! The tables of a page: summary, medians, comparisons, history, and everything that tells what was measured where.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::Content;
use crate::report::compare::{Comparison, MetricComparison, Side, Summary, Total};
use crate::report::history::{History, Point, Series};
use crate::report::metric::{METRICS, Metric};
use crate::report::quantity::{decimal, interval, percent, ratio, si};
use crate::result::{RunResult, State};
use crate::stats::{Ratio, Verdict};

/// What is not known.
const UNKNOWN: &str = "n/a";

/// A cell of numbers that sorts by its value.
pub(super) fn number(value: Option<f64>, show: impl Fn(f64) -> String) -> Markup {
    match value {
        Some(value) => html! { td.number data-value=(value) { (show(value)) } },
        None => html! { td.number.unknown { (UNKNOWN) } },
    }
}

/// A header that sorts its column when it is activated; `numbers` are set to the right.
pub(super) fn heading(title: &str, numbers: bool) -> Markup {
    html! { th scope="col" class=[numbers.then_some("number")] { button type="button" { (title) } } }
}

/// A table in a box that scrolls on a narrow screen.
pub(super) fn table(caption: &str, head: &Markup, body: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table.sortable { caption { (caption) } thead { tr { (head) } } tbody { (body) } }
        }
    }
}

fn verdict(verdict: Verdict) -> Markup {
    html! { td.verdict.(verdict.name()) { (verdict.name()) } }
}

/// What the comparison comes to, a sentence for each other side and a table of the means.
pub(super) fn summary(content: &Content<'_>) -> Markup {
    html! {
        @if content.comparisons.is_empty() {
            @for side in content.page.sides { p { (passed(side)) } }
        }
        @for comparison in &content.comparisons {
            @for sentence in sentences(comparison) { p.lead { (sentence) } }
            @let caption = format!("{} against {}, geometric means over queries", comparison.other.name, comparison.base.name);
            (table(&caption, &html! {
                (heading("metric", false)) (heading("queries", true)) (heading("ratio", true)) (heading("95 % interval", true))
                (heading("verdict", false)) (heading("better", true)) (heading("worse", true)) (heading("same", true))
                (heading("inconclusive", true))
            }, &html! {
                @for total in &comparison.totals { (total_row(total)) }
            }))
        }
    }
}

fn passed(side: &Side) -> String {
    let passed = side.results.iter().filter(|run| run.state == State::Passed).count();
    format!("{}: {passed} of {} runs passed.", side.name, side.results.len())
}

/// The first metric in words, and what keeps it from being believed.
fn sentences(comparison: &Comparison) -> Vec<String> {
    let (base, other) = (&comparison.base, &comparison.other);
    let mut sentences = Vec::new();
    for total in comparison.totals.iter().take(2) {
        let Some(found) = total.ratio else { continue };
        let within = found.interval.map(|found| format!(" ({})", interval(found))).unwrap_or_default();
        sentences.push(format!(
            "{} has {} times{within} the {} of {} over {} queries: {}.",
            other.name,
            ratio(found.value),
            total.metric.title,
            base.name,
            total.queries,
            total.verdict.name()
        ));
    }
    for side in [base, other] {
        if side.passed < side.runs {
            sentences.push(format!(
                "{} of {} runs of {} did not pass.",
                side.runs - side.passed,
                side.runs,
                side.name
            ));
        }
    }
    let serious: BTreeSet<&str> = comparison.serious().map(|difference| difference.what.as_str()).collect();
    if !serious.is_empty() {
        let what = serious.into_iter().collect::<Vec<_>>().join(", ");
        sentences.push(format!("The sides differ in {what}, which makes their numbers incomparable."));
    }
    sentences
}

fn total_row(total: &Total) -> Markup {
    html! {
        tr {
            th scope="row" { (total.metric.title) }
            (number(Some(total.queries as f64), |count| count.to_string()))
            (ratio_cells(total.ratio))
            (verdict(total.verdict))
            @for count in [total.better, total.worse, total.same, total.inconclusive] {
                (number(Some(count as f64), |count| count.to_string()))
            }
        }
    }
}

fn ratio_cells(found: Option<Ratio>) -> Markup {
    html! {
        (number(found.map(|found| found.value), ratio))
        @match found.and_then(|found| found.interval) {
            Some(found) => td.number data-value=(found.low) { (interval(found)) },
            None => td.number.unknown { (UNKNOWN) },
        }
    }
}

/// Medians of each side in every metric, a row for each query and side.
pub(super) fn medians(content: &Content<'_>) -> Markup {
    let metrics: Vec<&Metric> = METRICS
        .iter()
        .filter(|metric| content.page.results().any(|run| (metric.value)(run).is_some()))
        .collect();
    table(
        "Medians of the passed runs, and their median absolute deviation as a share",
        &html! {
            (heading("query", false)) (heading("side", false)) (heading("passed", true))
            @for metric in &metrics {
                (heading(&format!("{}, {}", metric.title, metric.unit), true)) (heading("±", true))
            }
        },
        &html! {
            @for query in &content.queries {
                @for side in content.page.sides {
                    @let runs: Vec<&RunResult> = side.results.iter().filter(|run| run.query == **query).collect();
                    @if !runs.is_empty() {
                        tr {
                            th scope="row" data-value=(crate::report::position(query)) { (query) }
                            td { (side.name) }
                            (passed_cell(&runs))
                            @for metric in &metrics { (summary_cells(metric, summarize(metric, &runs))) }
                        }
                    }
                }
            }
        },
    )
}

fn passed_cell(runs: &[&RunResult]) -> Markup {
    let passed = runs.iter().filter(|run| run.state == State::Passed).count();
    let class = if passed < runs.len() { "number worse" } else { "number" };
    html! { td class=(class) data-value=(passed) { (passed) " of " (runs.len()) } }
}

fn summarize(metric: &Metric, runs: &[&RunResult]) -> Option<Summary> {
    let passed = runs.iter().filter(|run| run.state == State::Passed);
    Summary::of(&passed.filter_map(|run| (metric.value)(run)).collect::<Vec<_>>())
}

fn show(metric: &Metric, value: f64) -> String {
    if metric.unit == "s" { decimal(value) } else { si(value) }
}

fn summary_cells(metric: &Metric, summary: Option<Summary>) -> Markup {
    html! {
        (number(summary.map(|summary| summary.median), |value| show(metric, value)))
        (number(summary.and_then(|summary| summary.deviation_share()), percent))
    }
}

/// A table for each metric of each comparison.
pub(super) fn comparisons(content: &Content<'_>) -> Markup {
    html! {
        @for comparison in &content.comparisons {
            @for total in &comparison.totals { (comparison_table(comparison, total.metric)) }
            (notes(comparison))
        }
    }
}

fn comparison_table(comparison: &Comparison, metric: &Metric) -> Markup {
    let rows = comparison.queries.iter().filter_map(|query| {
        let found = query.metrics.iter().find(|found| found.metric.name == metric.name)?;
        Some((query.query.as_str(), found))
    });
    let (base, other) = (&comparison.base.name, &comparison.other.name);
    let caption = format!("{}, {}: {other} against {base}", metric.title, metric.unit);
    table(
        &caption,
        &html! {
            (heading("query", false)) (heading("runs", true)) (heading(base, true)) (heading("±", true)) (heading(other, true))
            (heading("±", true)) (heading("ratio", true)) (heading("95 % interval", true)) (heading("verdict", false))
        },
        &html! { @for (query, found) in rows { (comparison_row(query, found)) } },
    )
}

fn comparison_row(query: &str, found: &MetricComparison) -> Markup {
    let runs = |summary: Option<Summary>| summary.map_or(0, |summary| summary.runs);
    html! {
        tr {
            th scope="row" data-value=(crate::report::position(query)) { (query) }
            td.number { (runs(found.base)) " + " (runs(found.other)) }
            (summary_cells(found.metric, found.base))
            (summary_cells(found.metric, found.other))
            (ratio_cells(found.ratio))
            (verdict(found.verdict))
        }
    }
}

fn notes(comparison: &Comparison) -> Markup {
    let noted: Vec<_> = comparison.queries.iter().filter(|query| !query.notes.is_empty()).collect();
    html! {
        @if !noted.is_empty() {
            details {
                summary { "Notes on " (noted.len()) " queries" }
                ul { @for query in noted { li { b { (query.query) } ": " (query.notes.join("; ")) } } }
            }
        }
    }
}

/// Runs that did not pass, with their words.
pub(super) fn failures(content: &Content<'_>) -> Markup {
    let failed = || {
        content
            .page
            .sides
            .iter()
            .flat_map(|side| side.results.iter().map(move |run| (side, run)))
            .filter(|(_, run)| run.state != State::Passed)
    };
    html! {
        @if failed().next().is_some() {
            (table("Runs that are in no median", &html! {
                (heading("query", false)) (heading("side", false)) (heading("state", false)) (heading("started", false))
                (heading("message", false))
            }, &html! {
                @for (side, run) in failed() {
                    tr {
                        th scope="row" data-value=(crate::report::position(&run.query)) { (run.query) }
                        td { (side.name) }
                        td.worse { (run.state.name()) }
                        td { (run.started_at) }
                        td.text { (run.message.as_deref().unwrap_or(UNKNOWN)) }
                    }
                }
            }))
        }
    }
}

/// In what the sides differ besides their numbers.
pub(super) fn differences(content: &Content<'_>) -> Markup {
    html! {
        @for comparison in content.comparisons.iter().filter(|comparison| !comparison.differences.is_empty()) {
            @let (base, other) = (&comparison.base.name, &comparison.other.name);
            (table(&format!("{other} and {base}"), &html! {
                (heading("what", false)) (heading(base, false)) (heading(other, false)) (heading("queries", false))
                (heading("weight", false))
            }, &html! {
                @for difference in &comparison.differences {
                    tr {
                        th scope="row" { (difference.what) }
                        td.text { (difference.base.join(" | ")) }
                        td.text { (difference.other.join(" | ")) }
                        td.text { (comparison.queries_of(difference)) }
                        @if difference.serious { td.worse { "not comparable" } } @else { td { "to be known" } }
                    }
                }
            }))
        }
    }
}

/// Engine settings and deviations of each side.
pub(super) fn engines(content: &Content<'_>) -> Markup {
    html! {
        @for side in content.page.sides {
            @for ((name, version), settings) in settings(side) {
                h3 { (side.name) ": " (name) " " (version) }
                @if settings.is_empty() { p { "It told no settings." } }
                @else {
                    details open[settings.len() <= 20] {
                        summary { (settings.len()) " settings, as the engine told them" }
                        (pairs(&format!("Settings of {}", side.name), settings.iter().map(|(key, values)| (key.as_str(), values.iter().cloned().collect::<Vec<_>>().join(" | ")))))
                    }
                }
            }
            (deviations(side))
        }
    }
}

/// Values of each key, over the runs with an engine of that name and version.
type EngineSettings = BTreeMap<(String, String), BTreeMap<String, BTreeSet<String>>>;

pub(super) fn settings(side: &Side) -> EngineSettings {
    let mut engines = EngineSettings::new();
    for engine in side.results.iter().filter_map(|run| run.engine.as_ref()) {
        let settings = engines.entry((engine.name.clone(), engine.version.clone())).or_default();
        for (key, value) in &engine.config {
            settings.entry(key.clone()).or_default().insert(value.clone());
        }
    }
    engines
}

/// Where the engine's queries differ from the benchmark's.
pub(super) fn deviations(side: &Side) -> Markup {
    let told: BTreeSet<(usize, &str, &str)> = side
        .results
        .iter()
        .flat_map(|run| {
            run.deviations
                .iter()
                .map(move |text| (crate::report::position(&run.query), run.query.as_str(), text.as_str()))
        })
        .collect();
    html! {
        @if !told.is_empty() {
            h3 { "Deviations of " (side.name) }
            ul { @for (_, query, text) in told { li { b { (query) } ": " (text) } } }
        }
    }
}

/// A table of names and values.
pub(super) fn pairs<'a>(caption: &str, rows: impl Iterator<Item = (&'a str, String)>) -> Markup {
    table(
        caption,
        &html! { (heading("name", false)) (heading("value", false)) },
        &html! { @for (name, value) in rows { tr { th scope="row" { (name) } td.text { (value) } } } },
    )
}

/// Machines of each side, and the workloads.
pub(super) fn environment(content: &Content<'_>) -> Markup {
    html! {
        @for side in content.page.sides {
            (pairs(&format!("Where and how {} ran", side.name), facts(side).iter().map(|(name, values)| {
                (*name, values.iter().cloned().collect::<Vec<_>>().join(" | "))
            })))
        }
    }
}

fn facts(side: &Side) -> Vec<(&'static str, BTreeSet<String>)> {
    type Fact = (&'static str, fn(&RunResult) -> Option<String>);
    let facts: [Fact; 10] = [
        ("processor", |run| run.environment.cpu_model.clone()),
        ("cores", |run| run.environment.cores.map(|cores| cores.to_string())),
        ("memory", |run| {
            run.environment.memory_bytes.map(|bytes| format!("{}B", si(bytes as f64).trim_end()))
        }),
        ("kernel", |run| run.environment.kernel.clone()),
        ("system", |run| run.environment.system.clone()),
        ("hosts", |run| Some(run.environment.hosts.join(", ")).filter(|hosts| !hosts.is_empty())),
        ("nexmark", |run| Some(run.environment.nexmark_version.clone())),
        ("workload", |run| Some(workload(run))),
        ("workers", |run| Some(run.workload.workers.to_string())),
        ("seed", |run| run.seed.map(|seed| seed.to_string())),
    ];
    let values = |fact: &Fact| side.results.iter().filter_map(fact.1).collect::<BTreeSet<_>>();
    facts.iter().map(|fact| (fact.0, values(fact))).filter(|(_, values)| !values.is_empty()).collect()
}

fn workload(run: &RunResult) -> String {
    let asked = &run.workload;
    let amount = match (asked.events, asked.duration_seconds) {
        (Some(events), _) => format!("{} events", si(events as f64)),
        (None, Some(seconds)) => format!("{} s", decimal(seconds)),
        (None, None) => asked.mode.clone(),
    };
    let warmup = match (asked.warmup_events, asked.warmup_seconds) {
        (Some(events), _) if events > 0 => format!(" after {} events of warm-up", si(events as f64)),
        (_, Some(seconds)) if seconds > 0.0 => format!(" after {} s of warm-up", decimal(seconds)),
        _ => String::new(),
    };
    let rate = asked.events_per_s.map(|rate| format!(" of {} events/s", si(rate))).unwrap_or_default();
    format!("{amount}{warmup}, {} rate{rate}, {} input, output {}", asked.shape, asked.input, asked.output)
}

/// The exact commands of each side.
pub(super) fn commands(content: &Content<'_>) -> Markup {
    html! {
        @for side in content.page.sides {
            @let commands: BTreeSet<&str> = side.results.iter().map(|run| run.command.as_str()).filter(|command| !command.is_empty()).collect();
            @if !commands.is_empty() {
                h3 { (side.name) }
                @for command in commands { pre { code { (command) } } }
            }
        }
    }
}

/// Results over time.
pub(super) fn history(content: &Content<'_>) -> Markup {
    let Some(history) = content.page.history else { return html! {} };
    let series = content.series();
    html! {
        @if !series.is_empty() {
            p { "The median of the runs of each day and version. A change is where the level changed for good: one that a random order of
                the same runs shows in at most 2 % of cases, and that the comparison of both sides confirms." }
            div.charts data-chart="history" {}
            @for series in series { (series_table(history, series)) }
        }
    }
}

pub(super) fn series_title(series: &Series) -> String {
    let label = series.label.as_ref().map(|label| format!(" {label}")).unwrap_or_default();
    format!("{}{label}: {}, {}, {}", series.query, series.engine, series.workload, series.machine)
}

fn series_table(history: &History, series: &Series) -> Markup {
    let metric = history.metric;
    let caption = format!("{} in {}, {}", metric.title, metric.unit, series_title(series));
    table(
        &caption,
        &html! {
            (heading("date", false)) (heading("version", false)) (heading("runs", true)) (heading("median", true)) (heading("±", true))
            (heading("against the point before", true)) (heading("95 % interval", true)) (heading("verdict", false)) (heading("change", false))
        },
        &html! { @for point in &series.points { (point_row(metric, point)) } },
    )
}

fn point_row(metric: &Metric, point: &Point) -> Markup {
    html! {
        tr {
            th scope="row" { (point.date) }
            td { (point.version) }
            (number(Some(point.values.len() as f64), |count| count.to_string()))
            (summary_cells(metric, Some(point.summary)))
            (ratio_cells(point.ratio))
            @match point.verdict { Some(found) => (verdict(found)), None => td {} }
            td { @if let Some(change) = point.change { b { "new level, " (ratio(change.value)) " times the one before" } } }
        }
    }
}
