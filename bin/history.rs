//! `history`: results over time, and where they changed for good.

use std::process::ExitCode;

use anyhow::{Result, bail};
use nexmark_driver::report::quantity::{percent, ratio};
use nexmark_driver::report::{Audience, History, Page, Point, Series, Side};
use nexmark_driver::result::{Detail, RunResult, gather_directory};

use crate::args::{HistoryArguments, ReportFormat};
use crate::compare::{created_at, metric, percentage, told, write};
use crate::comparison::{ratio_cells, show, verdict};
use crate::printer::Tone;
use crate::run::command_line;
use crate::selection;
use crate::table::{Align, Cell, Table, csv_line};

/// Prints the history.
pub(crate) fn command(arguments: &HistoryArguments) -> Result<ExitCode> {
    let metric = metric(&arguments.metric)?;
    let threshold = percentage("--threshold", &arguments.threshold)?;
    let queries: Vec<&str> = match &arguments.queries[..] {
        [] => nexmark_queries::ALL.iter().map(|query| query.name).collect(),
        texts => selection::select(texts)?.iter().map(|query| query.name).collect(),
    };
    let mut results = told(gather_directory(&arguments.results, Detail::WithoutSamples)?);
    results.retain(|result| {
        let labelled = arguments.label.is_none() || result.label == arguments.label;
        labelled && queries.contains(&result.query.as_str())
    });
    let history = History::new(&results, metric, threshold);
    if history.series.is_empty() {
        let label =
            arguments.label.as_ref().map(|label| format!(" with label {label:?}")).unwrap_or_default();
        bail!("no passed run{label} of these queries in {} has {}", arguments.results.display(), metric.name);
    }
    let text = match arguments.format {
        ReportFormat::Table => tables(&history, Table::terminal),
        ReportFormat::Markdown => tables(&history, Table::markdown),
        ReportFormat::Csv => csv(&history),
        ReportFormat::Json => serde_json::to_string_pretty(&history)?,
        ReportFormat::Html => page(&history, results, threshold),
    };
    write(&text, arguments.output.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

fn page(history: &History, results: Vec<RunResult>, threshold: f64) -> String {
    let name = "all results".to_owned();
    let page = Page {
        title: format!("History of {}", history.metric.title),
        audience: Audience::Watchers,
        sides: &[Side { name: name.clone(), results }],
        baseline: &name,
        threshold,
        history: Some(history),
        command: command_line(),
        created_at: created_at(),
    };
    page.html()
}

fn tables(history: &History, render: fn(&Table) -> String) -> String {
    let table =
        |series: &Series| format!("{}\n\n{}", title(series, history), render(&series_table(series, history)));
    history.series.iter().map(table).collect::<Vec<_>>().join("\n\n")
}

fn title(series: &Series, history: &History) -> String {
    let label = series.label.as_ref().map(|label| format!(" {label}")).unwrap_or_default();
    let Series { query, engine, workload, machine, .. } = series;
    format!(
        "{query}{label}, {} in {}: {engine}, {workload}, {machine}",
        history.metric.title, history.metric.unit
    )
}

fn series_table(series: &Series, history: &History) -> Table {
    let columns = [
        ("date", Align::Left),
        ("version", Align::Left),
        ("runs", Align::Right),
        ("median", Align::Right),
        ("±", Align::Right),
        ("ratio", Align::Right),
        ("95 % interval", Align::Left),
        ("verdict", Align::Left),
        ("change", Align::Wrapped),
    ];
    let mut table = Table::new(&columns);
    for point in &series.points {
        table.push(row(point, history));
    }
    table
}

fn row(point: &Point, history: &History) -> Vec<Cell> {
    let [ratio, interval] = match point.ratio {
        Some(_) => ratio_cells(point.ratio),
        // The first point has nothing before it.
        None => ["".into(), "".into()],
    };
    let deviation = point.summary.deviation_share().map(percent).unwrap_or_default();
    vec![
        point.date.as_str().into(),
        point.version.as_str().into(),
        point.values.len().to_string().into(),
        show(history.metric, point.summary.median).into(),
        deviation.into(),
        ratio,
        interval,
        point.verdict.map_or_else(|| "".into(), verdict),
        Cell::toned(Tone::Head, change(point).unwrap_or_default()),
    ]
}

fn change(point: &Point) -> Option<String> {
    point.change.map(|change| format!("new level, {} times the one before", ratio(change.value)))
}

fn csv(history: &History) -> String {
    let header =
        "query,label,engine,workload,machine,date,version,runs,median,deviation,ratio,verdict,change";
    let mut lines = vec![header.to_owned()];
    for series in &history.series {
        for point in &series.points {
            let exact = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
            let values = [
                series.query.clone(),
                series.label.clone().unwrap_or_default(),
                series.engine.clone(),
                series.workload.clone(),
                series.machine.clone(),
                point.date.clone(),
                point.version.clone(),
                point.values.len().to_string(),
                point.summary.median.to_string(),
                exact(point.summary.deviation),
                exact(point.ratio.map(|ratio| ratio.value)),
                point.verdict.map(|verdict| verdict.name().to_owned()).unwrap_or_default(),
                exact(point.change.map(|change| change.value)),
            ];
            lines.push(csv_line(values.iter().map(String::as_str)));
        }
    }
    lines.join("\n")
}
