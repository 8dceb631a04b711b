//! Results as a table, JSON, CSV or Markdown: the same for `run`, which has just made them, and `show`, which read them.

use anyhow::Result;
use nexmark_driver::result::{RunResult, State};
use nexmark_driver::suite::Totals;

use crate::args::TableFormat;
use crate::printer::{self, Tone};
use crate::progress::Verbosity;
use crate::quantity::{decimal, si};
use crate::table::{Align, Cell, Table, csv_line};

/// What is not known.
const UNKNOWN: &str = "n/a";

const COLUMNS: &[(&str, Align)] = &[
    ("query", Align::Left),
    ("state", Align::Left),
    ("events", Align::Right),
    ("time s", Align::Right),
    ("events/s", Align::Right),
    ("cores", Align::Right),
    ("events/s/core", Align::Right),
    ("CPU s", Align::Right),
    ("memory B", Align::Right),
    ("rows", Align::Right),
    ("notes", Align::Wrapped),
];

/// Columns before the notes that only `-v` shows.
const MORE_COLUMNS: &[(&str, Align)] = &[("state B", Align::Right), ("late rows", Align::Right)];

/// Prints results in the order given.
pub(crate) fn print(results: &[RunResult], format: TableFormat, verbosity: Verbosity) -> Result<()> {
    let text = match format {
        TableFormat::Table => table(results, verbosity).terminal(),
        TableFormat::Markdown => table(results, verbosity).markdown(),
        TableFormat::Json => serde_json::to_string_pretty(results)?,
        TableFormat::Csv => csv(results),
    };
    Ok(printer::data(text)?)
}

fn table(results: &[RunResult], verbosity: Verbosity) -> Table {
    let more = verbosity == Verbosity::More;
    let mut columns = COLUMNS.to_vec();
    if more {
        columns.splice(COLUMNS.len() - 1..COLUMNS.len() - 1, MORE_COLUMNS.iter().copied());
    }
    let mut table = Table::new(&columns);
    let mut push = |mut row: Vec<Cell>, cells: Vec<Cell>| {
        if more {
            row.splice(COLUMNS.len() - 1..COLUMNS.len() - 1, cells);
        }
        table.push(row);
    };
    for result in results {
        push(row(result), more_cells(result));
    }
    let totals = Totals::of(results);
    if totals.passed > 1 {
        push(sums(&totals), vec!["".into(); MORE_COLUMNS.len()]);
        push(means(&totals), vec!["".into(); MORE_COLUMNS.len()]);
    }
    table
}

/// Cells of the columns that only `-v` shows.
fn more_cells(result: &RunResult) -> Vec<Cell> {
    match result.state {
        State::Unsupported => vec!["".into(); MORE_COLUMNS.len()],
        _ => vec![count(result.state_bytes_max), count(result.late_rows)],
    }
}

fn row(result: &RunResult) -> Vec<Cell> {
    let state = Cell::toned(tone(result.state), result.state.name());
    if result.state == State::Unsupported {
        // There was nothing to measure, so nothing is missing either.
        let mut row = blank(&name(result));
        (row[1], row[10]) = (state, notes(result).into());
        return row;
    }
    vec![
        name(result).into(),
        state,
        count(result.events),
        number(result.seconds, decimal),
        number(result.events_per_s, si),
        number(result.cores, decimal),
        number(result.events_per_s_per_core, si),
        number(result.cpu_seconds, decimal),
        count(result.rss_bytes_max),
        count(result.rows_out),
        notes(result).into(),
    ]
}

/// The query, and which repeat it is from the second on.
fn name(result: &RunResult) -> String {
    match result.repeat {
        0 | 1 => result.query.clone(),
        repeat => format!("{} #{repeat}", result.query),
    }
}

fn sums(totals: &Totals) -> Vec<Cell> {
    let mut row = label("sum", totals);
    row[3] = number(totals.seconds, decimal);
    row[7] = number(totals.cpu_seconds, decimal);
    row
}

fn means(totals: &Totals) -> Vec<Cell> {
    let mut row = label("geomean", totals);
    row[4] = number(totals.events_per_s_geomean, si);
    row
}

/// A row of totals, which are of the passed runs alone.
fn label(name: &str, totals: &Totals) -> Vec<Cell> {
    let mut row = blank("");
    row[0] = Cell::toned(Tone::Head, name);
    row[1] = format!("of {} passed", totals.passed).into();
    row
}

/// A row with nothing but its first cell.
fn blank(name: &str) -> Vec<Cell> {
    let mut row = vec![Cell::from(""); COLUMNS.len()];
    row[0] = name.into();
    row
}

fn count(value: Option<u64>) -> Cell {
    number(value.map(|value| value as f64), si)
}

fn number(value: Option<f64>, show: impl Fn(f64) -> String) -> Cell {
    value.map_or_else(|| Cell::toned(Tone::Quiet, UNKNOWN), |value| show(value).into())
}

fn tone(state: State) -> Tone {
    match state {
        State::Passed => Tone::Good,
        State::Unsupported => Tone::Quiet,
        State::Cancelled => Tone::Doubtful,
        State::Failed | State::TimedOut | State::Invalid => Tone::Bad,
    }
}

/// The note that most short runs have; its explanation would fill every line.
const TOO_SHORT: &str = "too short";

/// What a reader of the numbers should know, in one text.
fn notes(result: &RunResult) -> String {
    let brief = |note: &String| if note.starts_with(TOO_SHORT) { TOO_SHORT.to_owned() } else { note.clone() };
    let mut notes: Vec<String> = result.message.iter().cloned().collect();
    notes.extend(result.notes.iter().map(brief));
    notes.extend(result.deviations.iter().map(|text| format!("deviates: {text}")));
    if let Some(answer) = result.answer {
        notes.push(format!("answer {answer}, which made it slower"));
    }
    notes.join("; ").replace('\n', " ")
}

fn csv(results: &[RunResult]) -> String {
    let header = "name,label,query,repeat,engine,engine_version,state,message,events,seconds,events_per_s,cpu_seconds,\
        cores,events_per_s_per_core,rss_bytes_max,rows_out,answer_rows,answer_digest,notes";
    let mut lines = vec![header.to_owned()];
    lines.extend(results.iter().map(csv_row));
    lines.join("\n")
}

fn csv_row(result: &RunResult) -> String {
    let engine = result.engine.clone().unwrap_or_default();
    let exact = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let count = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let values = [
        result.name.clone(),
        result.label.clone().unwrap_or_default(),
        result.query.clone(),
        result.repeat.to_string(),
        engine.name,
        engine.version,
        result.state.name().to_owned(),
        result.message.clone().unwrap_or_default(),
        count(result.events),
        exact(result.seconds),
        exact(result.events_per_s),
        exact(result.cpu_seconds),
        exact(result.cores),
        exact(result.events_per_s_per_core),
        count(result.rss_bytes_max),
        count(result.rows_out),
        result.answer.map(|answer| answer.rows.to_string()).unwrap_or_default(),
        result.answer.map(|answer| format!("{:016x}", answer.sum)).unwrap_or_default(),
        result.notes.join("; "),
    ];
    csv_line(values.iter().map(String::as_str))
}
