//! `verify`: an engine's answers against those of the queries' oracles, over the same events.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, bail};
use nexmark_driver::config::{Config, EngineFactory, Origin};
use nexmark_driver::engine::Input;
use nexmark_driver::result::State;
use nexmark_driver::run::{RunRequest, Workload};
use nexmark_driver::verify::{self, DifferentRows, Verdict, Verification};
use nexmark_queries::Query;
use nexmark_queries::answer::{Digest, Row};
use nexmark_queries::generator::Generator;
use nexmark_queries::ndjson::Recording;
use serde_json::{Value, json};

use crate::answer;
use crate::args::{Global, VerdictFormat, VerifyArguments};
use crate::engines;
use crate::interrupt::{self, INTERRUPTED};
use crate::printer::{self, Tone};
use crate::quantity::si;
use crate::run::{NOT_PASSED, request, runtime};
use crate::selection;
use crate::table::{Align, Cell, Table};

/// Events when nothing else is said: the oracles are slow.
const EVENTS: &str = "50000";
/// An oracle has all events and all rows in memory.
const EVENTS_MAX: u64 = 10_000_000;
/// Different rows of each kind that are shown.
const ROWS_SHOWN: usize = 5;

/// Verifies the queries one after the other.
pub(crate) fn command(global: &Global, arguments: &VerifyArguments) -> Result<ExitCode> {
    let queries = selection::select(&arguments.queries)?;
    let engine = engines::find(global.engine())?;
    let config = configure(global, arguments)?;
    let settings = config.workload()?;
    let (input, events) = events(&config, arguments)?;
    engines::create(engine, &config)?;
    let workload = Workload::Events { events: events.events.len() as u64, warmup_events: 0 };
    let requests: Vec<RunRequest> =
        queries.iter().map(|query| request(query, input.clone(), workload.clone(), &settings)).collect();
    let (verifications, interrupted) = verify_all(&requests, engine, &config, &events)?;
    match arguments.format {
        VerdictFormat::Table => print_table(&verifications)?,
        VerdictFormat::Json => printer::data(serde_json::to_string_pretty(&documents(&verifications)?)?)?,
    }
    Ok(match interrupted {
        true => ExitCode::from(INTERRUPTED),
        false if verifications.iter().any(is_wrong) => ExitCode::from(NOT_PASSED),
        false => ExitCode::SUCCESS,
    })
}

fn configure(global: &Global, arguments: &VerifyArguments) -> Result<Config> {
    let mut config = crate::config::load(global)?;
    let untold = |entry: &nexmark_driver::config::Entry| {
        entry.path() == "workload.events" && entry.origin == Origin::Default
    };
    match &arguments.events {
        Some(events) => config.apply_flag("--events", "workload.events", events)?,
        None if config.entries().iter().any(untold) => {
            config.apply_flag("verify", "workload.events", EVENTS)?;
        }
        None => {}
    }
    if let Some(workers) = &arguments.workers {
        config.apply_flag("--workers", "workload.workers", workers)?;
    }
    // An answer is of a bounded stream, whatever a profile says.
    config.apply_flag("verify", "workload.mode", "events")?;
    Ok(config)
}

/// Where the engine has its events from, and the same ones for the oracles.
fn events(config: &Config, arguments: &VerifyArguments) -> Result<(Input, Arc<Recording>)> {
    if let Some(path) = &arguments.input {
        let recording = Arc::new(answer::read(path)?);
        return Ok((Input::Recorded(Arc::clone(&recording)), recording));
    }
    let events = config.events();
    if events > EVENTS_MAX {
        bail!(
            "workload.events is {events}, allowed is up to {EVENTS_MAX}, since the oracles keep them in memory"
        );
    }
    let options = config.options()?;
    let generator = Generator::new(options.clone())?;
    let events = (0..events).map(|position| generator.event(position)).collect();
    let recording = Recording { events, texts: Arc::clone(generator.texts()) };
    Ok((Input::Generated(options), Arc::new(recording)))
}

/// The verdicts, and whether the user ended it early.
fn verify_all(
    requests: &[RunRequest],
    engine: &EngineFactory,
    config: &Config,
    events: &Recording,
) -> Result<(Vec<Verification>, bool)> {
    let section = config.engine(engine.name);
    let create = engine.create;
    let mut new_engine = |_request: &RunRequest| create(&section);
    runtime()?.block_on(async {
        let mut interrupt = interrupt::listen("stopping the engine")?;
        let mut verifications = Vec::new();
        let bar = printer::bar(requests.len() as u64);
        for request in requests {
            if let Some(bar) = &bar {
                bar.set_prefix(request.query.name);
            }
            let verification = verify::verify(&mut new_engine, request, events, &mut interrupt).await;
            if interrupt.came() {
                return Ok((verifications, true));
            }
            let (number, all) = (verifications.len() + 1, requests.len());
            let word = word(&verification.verdict);
            printer::note(format!("[{number:>2}/{all}] {:<3} {word}", request.query.name));
            verifications.push(verification);
            if let Some(bar) = &bar {
                bar.inc(1);
            }
        }
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        Ok((verifications, false))
    })
}

fn is_wrong(verification: &Verification) -> bool {
    matches!(verification.verdict, Verdict::Differs(_) | Verdict::Failed(..))
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Ok(_) => "ok",
        Verdict::Differs(_) => "differs",
        Verdict::Unsupported(_) => "unsupported",
        Verdict::Failed(State::Failed, _) => "failed",
        Verdict::Failed(state, _) => state.name(),
    }
}

fn print_table(verifications: &[Verification]) -> Result<()> {
    let columns = [("query", Align::Left), ("verdict", Align::Left), ("rows", Align::Right)];
    let more = [("digest", Align::Left), ("notes", Align::Wrapped)];
    let mut table = Table::new(&[&columns[..], &more].concat());
    for verification in verifications {
        table.push(row(verification));
    }
    printer::data(table.terminal())?;
    for verification in verifications {
        let Verdict::Differs(difference) = &verification.verdict else { continue };
        let Ok(rows) = &difference.rows else { continue };
        for line in lines(verification.query, rows)? {
            printer::data(line)?;
        }
    }
    Ok(())
}

fn row(verification: &Verification) -> Vec<Cell> {
    let tone = match verification.verdict {
        Verdict::Ok(_) => Tone::Good,
        Verdict::Unsupported(_) => Tone::Quiet,
        Verdict::Differs(_) | Verdict::Failed(..) => Tone::Bad,
    };
    let answer = match &verification.verdict {
        Verdict::Ok(answer) => Some(*answer),
        Verdict::Differs(difference) => Some(difference.answer),
        Verdict::Unsupported(_) | Verdict::Failed(..) => None,
    };
    vec![
        verification.query.name.into(),
        Cell::toned(tone, word(&verification.verdict)),
        answer.map(|answer| answer.rows.to_string()).unwrap_or_default().into(),
        answer.map(hexadecimal).unwrap_or_default().into(),
        notes(verification).join("; ").replace('\n', " ").into(),
    ]
}

fn hexadecimal(digest: Digest) -> String {
    format!("{:016x}", digest.sum)
}

fn notes(verification: &Verification) -> Vec<String> {
    let mut notes = Vec::new();
    match &verification.verdict {
        Verdict::Ok(_) => {}
        Verdict::Differs(difference) => {
            notes.push(format!("expected {}", difference.expected));
            match &difference.rows {
                Ok(rows) => {
                    notes.push(format!(
                        "{} missing, {} unexpected",
                        rows.missing.len(),
                        rows.unexpected.len()
                    ));
                }
                Err(why) => notes.push(why.clone()),
            }
        }
        Verdict::Unsupported(reason) | Verdict::Failed(_, reason) => notes.push(reason.clone()),
    }
    if let Some(late) = verification.late_rows.filter(|late| *late > 0) {
        notes.push(format!("{} rows came after the watermark and were dropped", si(late as f64)));
    }
    notes.extend(verification.deviations.iter().map(|text| format!("deviates: {text}")));
    notes
}

/// The first rows that differ, a line each.
fn lines(query: &Query, rows: &DifferentRows) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for (word, rows) in [("missing", &rows.missing), ("unexpected", &rows.unexpected)] {
        for row in rows.iter().take(ROWS_SHOWN) {
            lines.push(format!("{} {word:<10} {}", query.name, answer::object(query, row)?));
        }
        if let Some(more) = rows.len().checked_sub(ROWS_SHOWN).filter(|more| *more > 0) {
            lines.push(format!("{} {word:<10} and {more} more", query.name));
        }
    }
    Ok(lines)
}

fn documents(verifications: &[Verification]) -> Result<Vec<Value>> {
    verifications.iter().map(document).collect()
}

fn document(verification: &Verification) -> Result<Value> {
    let (answer, expected, rows, message) = match &verification.verdict {
        Verdict::Ok(answer) => (Some(answer), Some(answer), None, None),
        Verdict::Differs(difference) => (
            Some(&difference.answer),
            Some(&difference.expected),
            difference.rows.as_ref().ok(),
            difference.rows.as_ref().err(),
        ),
        Verdict::Unsupported(reason) | Verdict::Failed(_, reason) => (None, None, None, Some(reason)),
    };
    let first = |side: fn(&DifferentRows) -> &Vec<Row>| -> Result<Option<Vec<Value>>> {
        let shown = rows.map(|rows| side(rows).iter().take(ROWS_SHOWN));
        shown.map(|rows| rows.map(|row| value(verification.query, row)).collect()).transpose()
    };
    Ok(json!({
        "query": verification.query.name,
        "verdict": word(&verification.verdict),
        "message": message,
        "answer": answer,
        "expected": expected,
        "missing_rows": rows.map(|rows| rows.missing.len()),
        "unexpected_rows": rows.map(|rows| rows.unexpected.len()),
        "missing": first(|rows| &rows.missing)?,
        "unexpected": first(|rows| &rows.unexpected)?,
        "late_rows": verification.late_rows,
        "deviations": verification.deviations,
    }))
}

fn value(query: &Query, row: &Row) -> Result<Value> {
    Ok(serde_json::from_str(&answer::object(query, row)?)?)
}

#[cfg(test)]
mod tests {
    use nexmark_driver::verify::Difference;
    use nexmark_queries::answer;

    use super::*;

    fn q2_row(auction: i64) -> Row {
        vec![answer::Value::Integer(auction), answer::Value::Integer(7)]
    }

    fn differing() -> Verification {
        let rows = DifferentRows { missing: vec![q2_row(1)], unexpected: (2..9).map(q2_row).collect() };
        Verification {
            query: nexmark_queries::find("q2").unwrap(),
            verdict: Verdict::Differs(Difference {
                expected: Digest { rows: 1, sum: 2 },
                answer: Digest { rows: 7, sum: 3 },
                rows: Ok(rows),
            }),
            late_rows: Some(4),
            deviations: Vec::new(),
        }
    }

    #[test]
    fn rows_that_differ_are_shown_with_their_columns() {
        let verification = differing();
        assert!(is_wrong(&verification));
        let Verdict::Differs(Difference { rows: Ok(rows), .. }) = &verification.verdict else { panic!() };
        let lines = lines(verification.query, rows).unwrap();
        assert_eq!(lines[0], r#"q2 missing    {"auction":1,"price":7}"#);
        assert_eq!(lines[1], r#"q2 unexpected {"auction":2,"price":7}"#);
        assert_eq!(lines.last().unwrap(), "q2 unexpected and 2 more");
        assert_eq!(lines.len(), 7);
        let notes = notes(&verification).join("; ");
        assert!(notes.contains("1 missing, 7 unexpected") && notes.contains("4 rows came after"), "{notes}");
    }

    #[test]
    fn a_document_holds_both_digests_and_the_rows() {
        let document = document(&differing()).unwrap();
        assert_eq!(document["verdict"], "differs");
        assert_eq!((&document["missing_rows"], &document["unexpected_rows"]), (&json!(1), &json!(7)));
        assert_eq!(document["missing"], json!([{ "auction": 1, "price": 7 }]));
        assert_eq!(document["expected"]["digest"], "0000000000000002");
        assert_eq!(document["unexpected"].as_array().unwrap().len(), ROWS_SHOWN);
    }

    #[test]
    fn unsupported_is_not_wrong_and_failed_is() {
        let with = |verdict| Verification { verdict, ..differing() };
        assert!(!is_wrong(&with(Verdict::Unsupported("no joins".to_owned()))));
        let late = with(Verdict::Failed(State::TimedOut, "slow".to_owned()));
        assert!(is_wrong(&late));
        assert_eq!(word(&late.verdict), "timed-out");
    }
}
