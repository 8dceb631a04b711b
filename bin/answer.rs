//! `answer`: runs a query over a bounded stream, generated or from a file, and prints the rows of its answer.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use nexmark_driver::config::Config;
use nexmark_driver::engine::{Input, Output};
use nexmark_driver::listener::Silent;
use nexmark_driver::result::{Discard, State};
use nexmark_driver::run::{self, Outcome, Place, RunRequest, Workload};
use nexmark_queries::Query;
use nexmark_queries::answer::{Row, Thousandths, Value};
use nexmark_queries::ndjson::{Recorder, Recording};

use crate::args::{AnswerArguments, Global};
use crate::interrupt::{self, INTERRUPTED};
use crate::run::{NOT_PASSED, runtime};
use crate::{engines, printer, selection};

/// Prints the answer.
pub(crate) fn command(global: &Global, arguments: &AnswerArguments) -> Result<ExitCode> {
    let query = selection::single(&arguments.query)?;
    let engine = engines::find(global.engine())?;
    let config = configure(global, arguments)?;
    let request = request(query, &config, arguments)?;
    let mut engine = engines::create(engine, &config)?;
    let outcome = runtime()?.block_on(async {
        let mut interrupt = interrupt::listen("stopping the engine")?;
        let outcome =
            run::run(engine.as_mut(), &request, Place::ALONE, &mut Discard, &mut Silent, &mut interrupt)
                .await;
        Ok::<_, anyhow::Error>((outcome, interrupt.came()))
    })?;
    match outcome {
        (_, true) => Ok(ExitCode::from(INTERRUPTED)),
        (outcome, false) if outcome.result.state == State::Passed => print(query, outcome, arguments),
        (outcome, false) => {
            let result = outcome.result;
            let message = result.message.unwrap_or_else(|| "no reason given".to_owned());
            printer::error(format!("{} {}: {message}", query.name, result.state.name()));
            Ok(ExitCode::from(NOT_PASSED))
        }
    }
}

fn configure(global: &Global, arguments: &AnswerArguments) -> Result<Config> {
    let mut config = crate::config::load(global)?;
    if let Some(events) = &arguments.events {
        config.apply_flag("--events", "workload.events", events)?;
    }
    if let Some(workers) = &arguments.workers {
        config.apply_flag("--workers", "workload.workers", workers)?;
    }
    // An answer is of a bounded stream, whatever a profile says.
    config.apply_flag("answer", "workload.mode", "events")?;
    Ok(config)
}

fn request(query: &'static Query, config: &Config, arguments: &AnswerArguments) -> Result<RunRequest> {
    let settings = config.workload()?;
    let (input, events) = match &arguments.input {
        None => (Input::Generated(config.options()?), config.events()),
        Some(path) => {
            let recording = read(path)?;
            let events = recording.events.len() as u64;
            (Input::Recorded(Arc::new(recording)), events)
        }
    };
    let workload = Workload::Events { events, warmup_events: 0 };
    let output = if arguments.digest { Output::Digest } else { Output::Rows };
    Ok(RunRequest { output, ..crate::run::request(query, input, workload, &settings) })
}

/// The events of a file in the form of `generate`, or of stdin.
pub(crate) fn read(path: &Path) -> Result<Recording> {
    if path.as_os_str() == "-" {
        return read_lines(io::stdin().lock(), "stdin");
    }
    let shown = path.display().to_string();
    let file = File::open(path).with_context(|| format!("cannot read --input {shown}"))?;
    read_lines(BufReader::with_capacity(1 << 20, file), &shown)
}

fn read_lines(mut source: impl BufRead, name: &str) -> Result<Recording> {
    let mut recorder = Recorder::new();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if source.read_until(b'\n', &mut line).with_context(|| format!("cannot read --input {name}"))? == 0 {
            break;
        }
        let text = str::from_utf8(&line).map_err(|_bad| anyhow!("{name}: line {number}: not UTF-8"))?;
        recorder.push_line(number, text).with_context(|| name.to_owned())?;
    }
    Ok(recorder.finish())
}

fn print(query: &Query, outcome: Outcome, arguments: &AnswerArguments) -> Result<ExitCode> {
    if arguments.digest {
        let digest = outcome.result.answer.ok_or_else(|| anyhow!("the engine gave no digest"))?;
        printer::data(digest)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = outcome.rows.ok_or_else(|| anyhow!("the engine gave no rows"))?;
    rows.sort_unstable();
    let mut stdout = printer::bulk();
    for row in &rows {
        writeln!(stdout, "{}", object(query, row)?)?;
    }
    stdout.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// A row as a JSON object, its keys in the order of the columns.
pub(crate) fn object(query: &Query, row: &Row) -> Result<String> {
    let mut fields = Vec::with_capacity(row.len());
    for (column, value) in query.columns.iter().zip(row) {
        let value = match value {
            Value::Null => "null".to_owned(),
            Value::Integer(value) | Value::Time(value) => value.to_string(),
            Value::Decimal(value) => format!("\"{}\"", Thousandths(*value)),
            Value::Text(value) => serde_json::to_string(value)?,
        };
        fields.push(format!("{}:{value}", serde_json::to_string(column.name)?));
    }
    Ok(format!("{{{}}}", fields.join(",")))
}

#[cfg(test)]
mod tests {
    use nexmark_queries::answer::Kind;

    use super::*;

    #[test]
    fn rows_become_objects_with_the_columns_as_keys() {
        let query = nexmark_queries::find("q1").unwrap();
        assert_eq!(query.columns[2].kind, Kind::Decimal);
        let row = vec![
            Value::Integer(1),
            Value::Null,
            Value::Decimal(-1_500),
            Value::Time(7),
            Value::Text("a\"b".to_owned()),
        ];
        assert_eq!(
            object(query, &row).unwrap(),
            r#"{"auction":1,"bidder":null,"price":"-1.500","dateTime":7,"extra":"a\"b"}"#
        );
    }

    #[test]
    fn a_bad_line_is_named() {
        let bad = read_lines(&b"\n{\"bid\":3}\n"[..], "events").unwrap_err();
        assert!(format!("{bad:#}").starts_with("events: line 2: "), "{bad:#}");
        let bad = read_lines(&b"\n\xff\n"[..], "events").unwrap_err();
        assert_eq!(format!("{bad:#}"), "events: line 2: not UTF-8");
    }
}
