//! A comparison as tables for the terminal, Markdown and CSV.

use nexmark_driver::report::quantity::{decimal, interval, percent, ratio, si};
use nexmark_driver::report::{
    Comparison, Loss, METRICS, Metric, MetricComparison, SideDescription, Summary, Total,
};
use nexmark_driver::stats::{Ratio, Verdict};

use crate::printer::Tone;
use crate::table::{Align, Cell, Table, csv_line};

/// What is not known.
const UNKNOWN: &str = "n/a";

/// For the terminal: the sides, in what they differ, then a table for each metric.
pub(crate) fn table(comparison: &Comparison) -> String {
    let mut parts = vec![sides(comparison).terminal()];
    if !comparison.differences.is_empty() {
        parts.push(differences(comparison).terminal());
    }
    for (number, total) in comparison.totals.iter().enumerate() {
        let table = metric_table(comparison, total, number == 0).terminal();
        parts.push(format!("{}\n{table}", title(total.metric)));
    }
    parts.join("\n\n")
}

/// For a pull request: the sum of it first, the tables folded.
pub(crate) fn markdown(comparison: &Comparison) -> String {
    let (base, other) = (&comparison.base.name, &comparison.other.name);
    let title = format!("### {other} against {base}").replace('<', "&lt;");
    let mut parts = vec![title, totals(comparison).markdown(), sides(comparison).markdown()];
    if !comparison.differences.is_empty() {
        parts.push(differences(comparison).markdown());
    }
    for (number, total) in comparison.totals.iter().enumerate() {
        let table = metric_table(comparison, total, number == 0).markdown();
        let title = self::title(total.metric);
        parts.push(format!("<details><summary>{title}</summary>\n\n{table}\n\n</details>"));
    }
    parts.join("\n\n")
}

/// A row for each query and metric, and one for each mean.
pub(crate) fn csv(comparison: &Comparison) -> String {
    let header = "query,metric,unit,base_runs,base_median,base_deviation,other_runs,other_median,other_deviation,\
        ratio,ratio_low,ratio_high,verdict,notes";
    let mut lines = vec![header.to_owned()];
    for query in &comparison.queries {
        for found in &query.metrics {
            let values = csv_values(found);
            let notes = query.notes.join("; ");
            lines.push(line(&query.query, found.metric, &values, found.ratio, found.verdict, &notes));
        }
    }
    for total in &comparison.totals {
        let notes = format!("over {} queries", total.queries);
        lines.push(line("geomean", total.metric, &Default::default(), total.ratio, total.verdict, &notes));
    }
    lines.join("\n")
}

/// Losses of one metric that are named; the others are counted.
const LOSSES_NAMED: usize = 3;

/// Why the command fails: a line for each metric with the largest losses, and one for what does not run any more.
pub(crate) fn losses(losses: &[Loss], base: &str, other: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let broken: Vec<&str> =
        losses.iter().filter(|loss| loss.metric.is_none()).map(|loss| loss.query.as_str()).collect();
    if !broken.is_empty() {
        lines.push(format!("passed on {base}, and not always on {other}: {}", broken.join(", ")));
    }
    for metric in METRICS {
        let of_metric =
            |loss: &Loss| Some((loss.query.clone(), loss.metric.filter(|(name, _)| *name == metric.name)?.1));
        let mut found: Vec<(String, f64)> = losses.iter().filter_map(of_metric).collect();
        found.sort_by(|one, other| other.1.total_cmp(&one.1));
        let more = found.len().saturating_sub(LOSSES_NAMED);
        let named =
            found.iter().take(LOSSES_NAMED).map(|(query, share)| format!("{query} by {}", much(*share)));
        let named: Vec<String> = named.chain((more > 0).then(|| format!("{more} more"))).collect();
        if !named.is_empty() {
            lines.push(format!("{other} is worse than {base} in {}: {}", metric.name, named.join(", ")));
        }
    }
    lines
}

/// By how much something is worse.
fn much(share: f64) -> String {
    if share < 1.0 { percent(share) } else { format!("{} times", ratio(1.0 + share)) }
}

fn title(metric: &Metric) -> String {
    format!("{}, {}", metric.title, metric.unit)
}

fn sides(comparison: &Comparison) -> Table {
    let columns =
        [("", Align::Left), ("side", Align::Left), ("passed", Align::Right), ("engine", Align::Wrapped)];
    let mut table = Table::new(&columns);
    let mut push = |word: &str, side: &SideDescription| {
        let passed = Cell::toned(
            if side.passed == side.runs { Tone::Good } else { Tone::Bad },
            format!("{} of {}", side.passed, side.runs),
        );
        table.push(vec![word.into(), side.name.as_str().into(), passed, side.engines.join(", ").into()]);
    };
    push("base", &comparison.base);
    push("other", &comparison.other);
    table
}

fn differences(comparison: &Comparison) -> Table {
    let columns = [
        ("differs", Align::Left),
        (comparison.base.name.as_str(), Align::Left),
        (comparison.other.name.as_str(), Align::Left),
        ("queries", Align::Wrapped),
    ];
    let mut table = Table::new(&columns);
    for difference in &comparison.differences {
        let tone = if difference.serious { Tone::Bad } else { Tone::Plain };
        table.push(vec![
            Cell::toned(tone, &difference.what),
            difference.base.join(" | ").into(),
            difference.other.join(" | ").into(),
            comparison.queries_of(difference).into(),
        ]);
    }
    table
}

fn totals(comparison: &Comparison) -> Table {
    let columns = [
        ("geometric mean", Align::Left),
        ("ratio", Align::Right),
        ("95 % interval", Align::Left),
        ("verdict", Align::Left),
        ("queries", Align::Left),
    ];
    let mut table = Table::new(&columns);
    for total in &comparison.totals {
        let [ratio, interval] = ratio_cells(total.ratio);
        table.push(vec![
            total.metric.title.into(),
            ratio,
            interval,
            verdict(total.verdict),
            counts(total).into(),
        ]);
    }
    table
}

fn counts(total: &Total) -> String {
    let counts = [
        (total.better, Verdict::Better),
        (total.worse, Verdict::Worse),
        (total.same, Verdict::Same),
        (total.inconclusive, Verdict::Inconclusive),
    ];
    let told = counts.iter().filter(|(count, _)| *count > 0);
    told.map(|(count, verdict)| format!("{count} {}", verdict.name())).collect::<Vec<_>>().join(", ")
}

/// One metric over the queries, and the mean of their ratios. The notes stand once, in the first table.
fn metric_table(comparison: &Comparison, total: &Total, notes: bool) -> Table {
    let mut columns = vec![
        ("query", Align::Left),
        ("runs", Align::Right),
        (comparison.base.name.as_str(), Align::Right),
        ("±", Align::Right),
        (comparison.other.name.as_str(), Align::Right),
        ("±", Align::Right),
        ("ratio", Align::Right),
        ("95 % interval", Align::Left),
        ("verdict", Align::Left),
    ];
    columns.push((if notes { "notes" } else { "" }, Align::Wrapped));
    let mut table = Table::new(&columns);
    for query in &comparison.queries {
        let found = query.metrics.iter().find(|found| found.metric.name == total.metric.name);
        let notes = if notes { query.notes.join("; ").replace('\n', " ") } else { String::new() };
        match found {
            Some(found) => table.push(metric_row(&query.query, found, notes)),
            None if notes.is_empty() => {}
            None => {
                let mut row = vec![Cell::from(""); columns.len()];
                (row[0], row[9]) = (query.query.as_str().into(), notes.into());
                table.push(row);
            }
        }
    }
    let [ratio, interval] = ratio_cells(total.ratio);
    let mut row = vec![Cell::from(""); columns.len()];
    row[0] = Cell::toned(Tone::Head, "geomean");
    row[1] = format!("of {}", total.queries).into();
    (row[6], row[7], row[8]) = (ratio, interval, verdict(total.verdict));
    row[9] = counts(total).into();
    table.push(row);
    table
}

fn metric_row(query: &str, found: &MetricComparison, notes: String) -> Vec<Cell> {
    let runs = |summary: Option<Summary>| summary.map_or(0, |summary| summary.runs);
    let median = |summary: Option<Summary>| value(summary.map(|summary| show(found.metric, summary.median)));
    let deviation =
        |summary: Option<Summary>| value(summary.and_then(|one| one.deviation_share()).map(percent));
    let [ratio, interval] = ratio_cells(found.ratio);
    vec![
        query.into(),
        format!("{}+{}", runs(found.base), runs(found.other)).into(),
        median(found.base),
        deviation(found.base),
        median(found.other),
        deviation(found.other),
        ratio,
        interval,
        verdict(found.verdict),
        notes.into(),
    ]
}

/// A value in the unit of its metric.
pub(crate) fn show(metric: &Metric, value: f64) -> String {
    if metric.unit == "s" { decimal(value) } else { si(value) }
}

fn value(text: Option<String>) -> Cell {
    text.map_or_else(|| Cell::toned(Tone::Quiet, UNKNOWN), Cell::from)
}

/// The ratio and its interval.
pub(crate) fn ratio_cells(found: Option<Ratio>) -> [Cell; 2] {
    [
        value(found.map(|found| ratio(found.value))),
        value(found.and_then(|found| found.interval).map(interval)),
    ]
}

/// A verdict in its colour.
pub(crate) fn verdict(verdict: Verdict) -> Cell {
    let tone = match verdict {
        Verdict::Better => Tone::Good,
        Verdict::Worse => Tone::Bad,
        Verdict::Same => Tone::Quiet,
        Verdict::Inconclusive => Tone::Doubtful,
    };
    Cell::toned(tone, verdict.name())
}

/// Runs, median and deviation of both sides.
fn csv_values(found: &MetricComparison) -> [String; 6] {
    let of = |summary: Option<Summary>| match summary {
        Some(Summary { runs, median, deviation, .. }) => {
            let deviation = deviation.map(|deviation| deviation.to_string()).unwrap_or_default();
            [runs.to_string(), median.to_string(), deviation]
        }
        None => ["0".to_owned(), String::new(), String::new()],
    };
    let ([runs, median, deviation], other) = (of(found.base), of(found.other));
    let [other_runs, other_median, other_deviation] = other;
    [runs, median, deviation, other_runs, other_median, other_deviation]
}

fn line(
    query: &str,
    metric: &Metric,
    values: &[String; 6],
    found: Option<Ratio>,
    verdict: Verdict,
    notes: &str,
) -> String {
    let exact = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let interval = found.and_then(|found| found.interval);
    let ratios = [
        exact(found.map(|found| found.value)),
        exact(interval.map(|interval| interval.low)),
        exact(interval.map(|interval| interval.high)),
    ];
    let mut cells = vec![query, metric.name, metric.unit];
    cells.extend(values.iter().chain(&ratios).map(String::as_str));
    cells.extend([verdict.name(), notes]);
    csv_line(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_told_by_metric_and_the_largest_first() {
        let loss =
            |query: &str, share| Loss { query: query.to_owned(), metric: Some(("events_per_s", share)) };
        let broken = Loss { query: "q9".to_owned(), metric: None };
        let told =
            losses(&[loss("q0", 0.1), broken, loss("q1", 2.0), loss("q2", 0.2), loss("q3", 0.07)], "a", "b");
        assert_eq!(
            told,
            [
                "passed on a, and not always on b: q9",
                "b is worse than a in events_per_s: q1 by 3.000 times, q2 by 20 %, q0 by 10 %, 1 more"
            ]
        );
        assert!(losses(&[], "a", "b").is_empty());
    }
}
