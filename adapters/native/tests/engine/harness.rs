//! Runs the engine on a job to its end, and compares what came out with the oracle.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use nexmark_driver::config::{Key, Settings};
use nexmark_driver::engine::{Engine, Input, Job, JobState, Output, Progress};
use nexmark_driver::pace::Schedule;
use nexmark_queries::Query;
use nexmark_queries::answer::{CanonicalText, Digest, Row, replay};
use nexmark_queries::event::{Event, Texts};
use nexmark_queries::generator::{Generator, Options};
use nexmark_queries::ndjson::Recording;
use proptest::prelude::ProptestConfig;

const DEADLINE: Duration = Duration::from_secs(120);

/// Held for writing by those who count the threads of this process, for reading by all others that make some.
pub(crate) static THREADS: RwLock<()> = RwLock::new(());

/// How a job is spread and cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) workers: usize,
    pub(crate) block_events: u64,
}

/// What is left of a job that has ended.
pub(crate) struct Ended {
    pub(crate) progress: Progress,
    /// Highest state that a poll saw, bytes.
    pub(crate) state_bytes_max: u64,
    pub(crate) rows: Vec<Row>,
}

/// A number of cases that PROPTEST_CASES overrides.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    config
}

/// A job whose rows are kept.
pub(crate) fn job(query: &'static Query, input: Input, workers: usize) -> Job {
    Job {
        name: format!("test-{}", query.name),
        query,
        input,
        events: None,
        warmup_events: 0,
        schedule: Schedule::Unlimited,
        watermark_delay_ms: 4000,
        workers,
        output: Output::Rows,
        memory_budget_bytes: None,
    }
}

/// A job of generated events.
pub(crate) fn generated(query: &'static Query, options: &Options, events: u64, workers: usize) -> Job {
    Job { events: Some(events), ..job(query, Input::Generated(options.clone()), workers) }
}

/// An engine with the default settings but these; threads go where they like.
pub(crate) fn engine(settings: &[(&str, u64)]) -> Box<dyn Engine> {
    let keys: Vec<Key> = nexmark_native::FACTORY
        .keys
        .iter()
        .map(|key| match settings.iter().find(|(name, _)| *name == key.name) {
            Some((_, value)) => Key { default: value.to_string().leak(), ..*key },
            None if key.name == "pinning" => Key { default: "false", ..*key },
            None => *key,
        })
        .collect();
    (nexmark_native::FACTORY.create)(&Settings::defaults(&keys)).expect("an engine")
}

/// Waits on a runtime of its own.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(future)
}

/// Polls until the job is over; the last poll, and the highest state.
pub(crate) async fn wait(engine: &mut dyn Engine) -> (Progress, u64) {
    let started = Instant::now();
    let mut state_bytes_max = 0;
    loop {
        let progress = engine.poll().await.expect("a poll");
        state_bytes_max = state_bytes_max.max(progress.state_bytes.expect("a state"));
        if !matches!(progress.state, JobState::Starting | JobState::Running) {
            return (progress, state_bytes_max);
        }
        assert!(started.elapsed() < DEADLINE, "does not end: {progress:?}");
        engine.changed(Duration::from_millis(1)).await;
    }
}

/// Runs a job to its end, stops it, and hands over what is left.
pub(crate) fn run(job: &Job, block_events: u64) -> Ended {
    let _threads = THREADS.read().unwrap_or_else(PoisonError::into_inner);
    block_on(async {
        let mut engine = engine(&[("block.events", block_events)]);
        engine.submit(job).await.expect("the job is accepted");
        let (progress, state_bytes_max) = wait(&mut *engine).await;
        let rows = match (&progress.state, job.output) {
            (JobState::Finished, Output::Rows) => engine.rows().await.expect("rows"),
            _ => Vec::new(),
        };
        engine.stop().await.expect("the job stops");
        Ended { progress, state_bytes_max, rows }
    })
}

/// Events that a generator makes, as the oracles take them.
pub(crate) fn events(options: &Options, count: u64) -> (Vec<Event>, Arc<Texts>) {
    let generator = Generator::new(options.clone()).expect("options in range");
    let events = (0..count).map(|position| generator.event(position)).collect();
    (events, Arc::clone(generator.texts()))
}

/// How far the events go back behind the highest time before them, ms.
pub(crate) fn disorder_ms(events: &[Event]) -> u64 {
    let mut highest = i64::MIN;
    let back = events.iter().map(|event| {
        highest = highest.max(event.date_time());
        highest.abs_diff(event.date_time())
    });
    back.max().unwrap_or(0)
}

/// Events as an input.
pub(crate) fn recorded(events: &[Event], texts: &Arc<Texts>) -> Input {
    Input::Recorded(Arc::new(Recording { events: events.to_vec(), texts: Arc::clone(texts) }))
}

/// Runs a job and holds its answer to the oracle's over the same events; what is wrong.
pub(crate) fn against_oracle(
    job: &Job,
    block_events: u64,
    events: &[Event],
    texts: &Texts,
) -> Result<(), String> {
    let ended = run(job, block_events);
    let what = format!("{} with {} workers and blocks of {block_events}", job.query.name, job.workers);
    if ended.progress.state != JobState::Finished {
        return Err(format!("{what}: {:?}", ended.progress.state));
    }
    if ended.progress.events_in != Some(events.len() as u64) || ended.progress.late_rows != Some(0) {
        return Err(format!("{what}: {:?}", ended.progress));
    }
    let expected = (job.query.oracle)(events, texts);
    if let Some(difference) = difference(&ended.rows, &expected) {
        return Err(format!("{what}:\n{difference}"));
    }
    if ended.progress.answer != Some(Digest::of(&expected)) {
        return Err(format!("{what}: the rows are right, the digest is {:?}", ended.progress.answer));
    }
    Ok(())
}

/// The first rows that only one of two answers has; `None` when they are equal.
fn difference(rows: &[Row], expected: &[Row]) -> Option<String> {
    let mut counts = BTreeMap::<&Row, i64>::new();
    rows.iter().for_each(|row| *counts.entry(row).or_default() += 1);
    expected.iter().for_each(|row| *counts.entry(row).or_default() -= 1);
    let mut differing = counts.into_iter().filter(|(_, count)| *count != 0).peekable();
    differing.peek()?;
    let mut text = format!("{} rows, expected {}", rows.len(), expected.len());
    for (row, count) in differing.take(10) {
        let mut line = CanonicalText::default();
        replay(row, &mut line);
        let _ = write!(text, "\n{count:+} {}", line.as_str().replace('\x1f', "|"));
    }
    Some(text)
}

#[test]
fn a_difference_shows_the_rows_of_either_side() {
    use nexmark_queries::answer::Value;
    let row = |number| vec![Value::Integer(number), Value::Null];
    assert_eq!(difference(&[row(1), row(2)], &[row(2), row(1)]), None);
    let shown = difference(&[row(1), row(1), row(2)], &[row(1), row(3)]);
    assert_eq!(shown.as_deref(), Some("3 rows, expected 2\n+1 1|\\N\n+1 2|\\N\n-1 3|\\N"));
}
