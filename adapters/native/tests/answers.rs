//! Every answer of the engine equals the golden ones, with several numbers of workers.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nexmark_driver::config::Settings;
use nexmark_driver::engine::{Input, Job, JobState, Output, Progress};
use nexmark_driver::pace::Schedule;
use nexmark_queries::generator::Options;
use nexmark_queries::{ALL, Query};
use serde_json::Value;

const DEADLINE: Duration = Duration::from_secs(120);

fn job(query: &'static Query, options: Options, events: u64, workers: usize) -> Job {
    Job {
        name: format!("test-{}", query.name),
        query,
        input: Input::Generated(options),
        events: Some(events),
        warmup_events: 0,
        schedule: Schedule::Unlimited,
        watermark_delay_ms: 4000,
        workers,
        output: Output::Digest,
        memory_budget_bytes: None,
    }
}

/// Runs a job to its end, with blocks of that many events.
fn run(job: &Job, block_events: &str) -> Progress {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let keys: Vec<_> = nexmark_native::FACTORY
            .keys
            .iter()
            .map(|key| match key.name {
                "block.events" => {
                    nexmark_driver::config::Key { default: Box::leak(block_events.into()), ..*key }
                }
                "pinning" => nexmark_driver::config::Key { default: "false", ..*key },
                _ => *key,
            })
            .collect();
        let mut engine = (nexmark_native::FACTORY.create)(&Settings::defaults(&keys)).expect("an engine");
        engine.submit(job).await.expect("the job is accepted");
        let started = Instant::now();
        loop {
            let progress = engine.poll().await.expect("a poll");
            if !matches!(progress.state, JobState::Starting | JobState::Running) {
                engine.stop().await.expect("the job stops");
                return progress;
            }
            assert!(started.elapsed() < DEADLINE, "{} does not end: {progress:?}", job.name);
            engine.changed(Duration::from_millis(100)).await;
        }
    })
}

fn golden(name: &str) -> (Options, u64, BTreeMap<String, (i64, String)>) {
    let path = format!("{}/../../tests/golden/answers-{name}.json", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::read_to_string(path).expect("the golden file");
    let file: Value = serde_json::from_str(&file).expect("JSON");
    let mut options = Options { seed: file["seed"].as_u64().expect("seed"), ..Options::default() };
    for (name, value) in file["options"].as_object().expect("options") {
        options.set(name, &value.to_string()).expect("a known option");
    }
    let answers = file["answers"].as_object().expect("answers").iter();
    let answers = answers.map(|(query, answer)| {
        let digest = answer["digest"].as_str().expect("digest").to_owned();
        (query.clone(), (answer["rows"].as_i64().expect("rows"), digest))
    });
    (options, file["events"].as_u64().expect("events"), answers.collect())
}

fn equals_golden(name: &str) {
    let (options, events, answers) = golden(name);
    for query in ALL {
        for (workers, block_events) in [(1, "4096"), (2, "512"), (3, "97"), (5, "1000")] {
            let progress = run(&job(query, options.clone(), events, workers), block_events);
            assert_eq!(progress.state, JobState::Finished, "{}", query.name);
            assert_eq!(progress.events_in, Some(events), "{}", query.name);
            assert_eq!(progress.late_rows, Some(0), "{}", query.name);
            let digest = progress.answer.expect("a digest");
            let answer = (digest.rows, format!("{:016x}", digest.sum));
            assert_eq!(answer, answers[query.name], "{} on {name} with {workers} workers", query.name);
        }
    }
}

#[test]
fn answers_a() {
    equals_golden("a");
}

#[test]
fn answers_b() {
    equals_golden("b");
}

#[test]
fn answers_c() {
    equals_golden("c");
}

#[test]
fn answers_k() {
    equals_golden("k");
}
