//! Verifies an engine: its answer to a query against that of the query's oracle, over the same events. Digests tell whether
//! the two are equal; only where they are not, the rows are fetched by a second run to show how they differ.

use std::collections::HashMap;

use nexmark_queries::Query;
use nexmark_queries::answer::{CanonicalText, Digest, Row, replay};
use nexmark_queries::ndjson::Recording;

use crate::listener::Silent;
use crate::result::{Discard, RunResult, State};
use crate::run::{self, Interrupt, Outcome, Place, RunRequest};
use crate::suite::NewEngine;

/// What came of one query.
#[derive(Clone, Debug)]
pub struct Verification {
    /// The query.
    pub query: &'static Query,
    /// Whether the answer is right.
    pub verdict: Verdict,
    /// Rows that the engine dropped since they came after the watermark; they explain a difference.
    pub late_rows: Option<u64>,
    /// Where the engine's query differs from the query's page.
    pub deviations: Vec<String>,
}

/// Whether an answer is right.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It equals that of the oracle.
    Ok(Digest),
    /// It does not.
    Differs(Difference),
    /// The engine does not run the query, for this reason.
    Unsupported(String),
    /// There is no answer: the state of the run and its message.
    Failed(State, String),
}

/// How an answer differs from that of the oracle.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Digest of the oracle's answer.
    pub expected: Digest,
    /// Digest of the engine's.
    pub answer: Digest,
    /// The rows that differ, or why they are not known.
    pub rows: Result<DifferentRows, String>,
}

/// Rows that only one of two answers has, sorted, each as often as it is there more often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DifferentRows {
    /// Rows that only the oracle has.
    pub missing: Vec<Row>,
    /// Rows that only the engine has.
    pub unexpected: Vec<Row>,
}

/// Runs a query on a fresh engine and compares its answer with the oracle's over `events`, which must be those of the
/// request's input. The output that the request asks for is of no account.
pub async fn verify(
    new_engine: &mut NewEngine<'_>,
    request: &RunRequest,
    events: &Recording,
    interrupt: &mut Interrupt,
) -> Verification {
    let digested = RunRequest { output: crate::engine::Output::Digest, ..request.clone() };
    let Outcome { result, .. } = match run(new_engine, &digested, interrupt).await {
        Ok(outcome) => outcome,
        Err(message) => {
            let verdict = Verdict::Failed(State::Failed, message);
            return Verification { query: request.query, verdict, late_rows: None, deviations: Vec::new() };
        }
    };
    let verdict = match result.answer.filter(|_| result.state == State::Passed) {
        Some(answer) => judge(new_engine, request, answer, events, interrupt).await,
        None => without_answer(&result),
    };
    let RunResult { late_rows, deviations, .. } = result;
    Verification { query: request.query, verdict, late_rows, deviations }
}

fn without_answer(result: &RunResult) -> Verdict {
    let message = result.message.clone();
    match result.state {
        State::Unsupported => Verdict::Unsupported(message.unwrap_or_else(|| "no reason given".to_owned())),
        State::Passed => Verdict::Failed(State::Failed, "the engine gave no digest".to_owned()),
        state => Verdict::Failed(state, message.unwrap_or_else(|| "no reason given".to_owned())),
    }
}

async fn judge(
    new_engine: &mut NewEngine<'_>,
    request: &RunRequest,
    answer: Digest,
    events: &Recording,
    interrupt: &mut Interrupt,
) -> Verdict {
    let oracle = (request.query.oracle)(&events.events, &events.texts);
    let expected = Digest::of(&oracle);
    if answer == expected {
        return Verdict::Ok(answer);
    }
    let rows = rows(new_engine, request, interrupt).await.and_then(|rows| different(oracle, rows));
    Verdict::Differs(Difference { expected, answer, rows })
}

/// The rows of a second run.
async fn rows(
    new_engine: &mut NewEngine<'_>,
    request: &RunRequest,
    interrupt: &mut Interrupt,
) -> Result<Vec<Row>, String> {
    let request = RunRequest { output: crate::engine::Output::Rows, ..request.clone() };
    let Outcome { result, rows, .. } = run(new_engine, &request, interrupt).await?;
    rows.ok_or_else(|| result.message.unwrap_or_else(|| "the engine gave no rows".to_owned()))
}

async fn run(
    new_engine: &mut NewEngine<'_>,
    request: &RunRequest,
    interrupt: &mut Interrupt,
) -> Result<Outcome, String> {
    let mut engine = new_engine(request).map_err(|error| error.message)?;
    Ok(run::run(engine.as_mut(), request, Place::ALONE, &mut Discard, &mut Silent, interrupt).await)
}

/// Compares two answers by the canonical text of their rows, as digests do.
fn different(oracle: Vec<Row>, engine: Vec<Row>) -> Result<DifferentRows, String> {
    let mut surplus: HashMap<String, (Row, i64)> = HashMap::new();
    let signed = oracle.into_iter().map(|row| (row, 1)).chain(engine.into_iter().map(|row| (row, -1)));
    let mut text = CanonicalText::default();
    for (row, sign) in signed {
        text.clear();
        replay(&row, &mut text);
        surplus.entry(text.as_str().to_owned()).or_insert((row, 0)).1 += sign;
    }
    let mut rows = DifferentRows::default();
    for (row, count) in surplus.into_values() {
        let side = if count > 0 { &mut rows.missing } else { &mut rows.unexpected };
        side.extend(std::iter::repeat_n(row, usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX)));
    }
    if rows == DifferentRows::default() {
        return Err("a second run gave the right rows: the answer changes from run to run".to_owned());
    }
    rows.missing.sort_unstable();
    rows.unexpected.sort_unstable();
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use nexmark_queries::answer::Value;
    use nexmark_queries::generator::{Generator, Options};

    use super::*;
    use crate::engine::{EngineError, JobState, Progress, Support};
    use crate::fake::{Fake, events, progress};

    const EVENTS: u64 = 10_000;

    fn recording() -> Recording {
        let generator = Generator::new(Options::default()).unwrap();
        let events = (0..EVENTS).map(|position| generator.event(position)).collect();
        Recording { events, texts: generator.texts().clone() }
    }

    fn q2() -> RunRequest {
        RunRequest { query: nexmark_queries::find("q2").unwrap(), ..events(EVENTS) }
    }

    /// An engine whose answer is these rows.
    fn answering(rows: Vec<Row>) -> Fake {
        let answer = Some(Digest::of(&rows));
        let script = move |_| {
            Some(Ok(Progress { answer, late_rows: Some(3), ..progress(JobState::Finished, EVENTS) }))
        };
        Fake { rows: Ok(rows), ..Fake::new(script) }
    }

    async fn verified(mut engine: impl FnMut() -> Fake + Send) -> Verification {
        let mut new_engine = |_: &RunRequest| -> Result<Box<dyn crate::engine::Engine>, EngineError> {
            Ok(Box::new(engine()))
        };
        verify(&mut new_engine, &q2(), &recording(), &mut Interrupt::never()).await
    }

    fn oracle() -> Vec<Row> {
        let recording = recording();
        let rows = (q2().query.oracle)(&recording.events, &recording.texts);
        assert!(rows.len() > 5, "too few rows to compare");
        rows
    }

    #[tokio::test(start_paused = true)]
    async fn a_right_answer_is_ok_in_any_order() {
        let mut rows = oracle();
        rows.reverse();
        let verification = verified(|| answering(rows.clone())).await;
        assert_eq!(verification.verdict, Verdict::Ok(Digest::of(&rows)));
        assert_eq!(verification.query.name, "q2");
    }

    #[tokio::test(start_paused = true)]
    async fn a_wrong_answer_differs_and_its_rows_are_shown() {
        let right = oracle();
        let mut wrong = right.clone();
        let lost = wrong.remove(0);
        let changed = wrong[0].clone();
        wrong[0][1] = Value::Integer(-7);
        wrong.push(wrong[3].clone());
        let verification = verified(|| answering(wrong.clone())).await;
        let Verdict::Differs(difference) = verification.verdict else { panic!("{verification:?}") };
        assert_eq!(difference.expected, Digest::of(&right));
        assert_eq!(difference.answer, Digest::of(&wrong));
        let rows = difference.rows.unwrap();
        let mut missing = vec![lost, changed];
        missing.sort_unstable();
        let mut unexpected = vec![wrong[0].clone(), wrong[3].clone()];
        unexpected.sort_unstable();
        assert_eq!(rows, DifferentRows { missing, unexpected });
        assert_eq!(verification.late_rows, Some(3));
    }

    #[tokio::test(start_paused = true)]
    async fn rows_that_are_not_known_say_why() {
        let unknown =
            verified(|| Fake { rows: Err(EngineError::new("no rows here")), ..answering(Vec::new()) }).await;
        let Verdict::Differs(difference) = unknown.verdict else { panic!("{unknown:?}") };
        assert_eq!(difference.rows, Err("no rows here".to_owned()));
        let right = oracle();
        let unsteady = verified(|| Fake { rows: Ok(right.clone()), ..answering(Vec::new()) }).await;
        let Verdict::Differs(difference) = unsteady.verdict else { panic!("{unsteady:?}") };
        assert!(difference.rows.unwrap_err().contains("changes from run to run"));
    }

    #[tokio::test(start_paused = true)]
    async fn no_answer_is_never_ok() {
        let support = || Support::Unsupported("no joins".to_owned());
        let unsupported = verified(|| Fake { support: support(), ..answering(oracle()) }).await;
        assert_eq!(unsupported.verdict, Verdict::Unsupported("no joins".to_owned()));
        let failed =
            verified(|| Fake::new(|_| Some(Ok(progress(JobState::Failed("boom".to_owned()), 1))))).await;
        assert_eq!(failed.verdict, Verdict::Failed(State::Failed, "boom".to_owned()));
        let mute = verified(|| {
            Fake::new(|_| Some(Ok(Progress { answer: None, ..progress(JobState::Finished, EVENTS) })))
        });
        assert!(
            matches!(mute.await.verdict, Verdict::Failed(State::Failed, message) if message.contains("digest"))
        );
    }
}
