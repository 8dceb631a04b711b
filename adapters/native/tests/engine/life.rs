//! The life of a job: its pace, its stop, its failures, and that nothing of it stays behind.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use nexmark_driver::engine::{Engine, Job, JobState, Output};
use nexmark_driver::pace::Schedule;
use nexmark_queries::event::{Channel, Event, Texts};
use nexmark_queries::generator::{Generator, Options};
use nexmark_queries::{ALL, find};

use crate::harness::{THREADS, block_on, engine, generated, job, recorded, run, wait};

/// Far below what a run of these events takes, far above what stopping does.
const SOON: Duration = Duration::from_secs(5);

fn endless(query: &str, workers: usize) -> Job {
    let query = find(query).expect("a query");
    Job { events: None, output: Output::Count, ..generated(query, &Options::default(), 0, workers) }
}

/// Threads of this process, by their numbers.
fn threads() -> BTreeSet<String> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("the threads of this process");
    tasks.map(|task| task.expect("a thread").file_name().into_string().expect("a number")).collect()
}

/// Names of the threads that are workers.
fn workers() -> Vec<String> {
    let name = |task: &String| std::fs::read_to_string(format!("/proc/self/task/{task}/comm")).ok();
    let names = threads().iter().filter_map(name).collect::<Vec<_>>();
    names.into_iter().filter(|name| name.starts_with("nexmark-worker")).collect()
}

/// The text of a failed job.
async fn failure(engine: &mut dyn Engine, job: &Job) -> String {
    engine.submit(job).await.expect("the job is accepted");
    let (progress, _) = wait(engine).await;
    engine.stop().await.expect("the job stops");
    match progress.state {
        JobState::Failed(message) => message,
        state => panic!("{state:?}, expected a failure"),
    }
}

#[test]
fn an_offered_rate_gives_the_answer_of_the_same_events() {
    const EVENTS: u64 = 4000;
    for query in ALL {
        let unlimited = generated(query, &Options::default(), EVENTS, 2);
        let paced = Job { schedule: Schedule::Constant(100_000.0), ..unlimited.clone() };
        let (unlimited, paced) = (run(&unlimited, 1000).progress, run(&paced, 1000).progress);
        assert!(paced.answer.is_some_and(|answer| answer.rows > 0) || query.name == "q14", "{}", query.name);
        assert_eq!(unlimited.answer, paced.answer, "{}", query.name);
        let took = paced.at - paced.first_event_at.expect("a first event");
        // The last event is due after 39.99 ms.
        assert!(took >= Duration::from_millis(39), "{} took {took:?}", query.name);
    }
}

#[test]
fn a_stop_in_the_middle_of_a_run_is_quick_and_leaves_no_thread() {
    let _alone = THREADS.write().unwrap_or_else(PoisonError::into_inner);
    for query in ["q0", "q5", "q10", "q12", "q20"] {
        for workers_count in [1, 3] {
            block_on(async {
                let mut engine = engine(&[]);
                let job = endless(query, workers_count);
                engine.submit(&job).await.expect("the job is accepted");
                let started = Instant::now();
                // A thread has its name a moment after it was started.
                while engine.poll().await.expect("a poll").events_in < Some(100_000)
                    || workers().len() < workers_count
                {
                    assert!(started.elapsed() < 12 * SOON, "{query} does not begin");
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                assert_eq!(workers().len(), workers_count, "{query}: {:?}", workers());
                let asked = Instant::now();
                engine.stop().await.expect("the job stops");
                assert!(asked.elapsed() < SOON, "{query} took {:?} to stop", asked.elapsed());
                assert_eq!(workers(), Vec::<String>::new(), "{query} with {workers_count} workers");
            });
        }
    }
}

#[test]
fn an_engine_that_is_dropped_lets_its_workers_go() {
    let _alone = THREADS.write().unwrap_or_else(PoisonError::into_inner);
    block_on(async {
        let mut engine = engine(&[]);
        engine.submit(&endless("q5", 2)).await.expect("the job is accepted");
    });
    let dropped = Instant::now();
    while !workers().is_empty() {
        assert!(dropped.elapsed() < SOON, "{:?} stay", workers());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_finished_job_keeps_its_workers_until_it_is_stopped() {
    let _alone = THREADS.write().unwrap_or_else(PoisonError::into_inner);
    block_on(async {
        let mut engine = engine(&[]);
        let job = generated(find("q1").expect("q1"), &Options::default(), 10_000, 2);
        engine.submit(&job).await.expect("the job is accepted");
        assert_eq!(wait(&mut *engine).await.0.state, JobState::Finished);
        assert_eq!(workers().len(), 2);
        engine.stop().await.expect("the job stops");
        assert_eq!(workers(), Vec::<String>::new());
    });
}

#[test]
fn a_job_can_follow_a_job_on_one_engine() {
    let _alone = THREADS.write().unwrap_or_else(PoisonError::into_inner);
    block_on(async {
        let mut engine = engine(&[]);
        let job = generated(find("q5").expect("q5"), &Options::default(), 10_000, 2);
        engine.submit(&endless("q0", 2)).await.expect("the first job is accepted");
        engine.submit(&job).await.expect("the second job is accepted");
        assert!(workers().len() <= 2, "the first job is stopped: {:?}", workers());
        let (progress, _) = wait(&mut *engine).await;
        assert_eq!((progress.state, progress.events_in), (JobState::Finished, Some(10_000)));
        engine.submit(&job).await.expect("the same again");
        let (again, _) = wait(&mut *engine).await;
        assert_eq!(again.answer, progress.answer);
        engine.stop().await.expect("the job stops");
        engine.stop().await.expect("a second stop is none");
        assert_eq!(workers(), Vec::<String>::new());
    });
}

#[test]
fn without_a_job_there_is_nothing_to_poll_and_a_stop_is_none() {
    let _threads = THREADS.read().unwrap_or_else(PoisonError::into_inner);
    block_on(async {
        let mut engine = engine(&[]);
        engine.stop().await.expect("nothing to stop");
        assert_eq!(engine.poll().await.expect_err("no job").message, "no job was submitted");
        assert_eq!(engine.rows().await.expect_err("no job").message, "no job was submitted");
        engine.submit(&generated(find("q0").unwrap(), &Options::default(), 10, 1)).await.expect("a job");
        engine.stop().await.expect("the job stops");
        assert_eq!(engine.poll().await.expect_err("stopped").message, "no job was submitted");
    });
}

#[test]
fn rows_are_given_at_the_end_only() {
    let _threads = THREADS.read().unwrap_or_else(PoisonError::into_inner);
    block_on(async {
        let mut engine = engine(&[]);
        engine.submit(&endless("q2", 1)).await.expect("the job is accepted");
        assert_eq!(engine.rows().await.expect_err("it runs").message, "the job has not finished");
        engine.stop().await.expect("the job stops");
    });
}

#[test]
fn options_out_of_range_are_refused_and_stop_has_nothing_to_do() {
    block_on(async {
        let mut engine = engine(&[]);
        let options = Options { event_rate: 0, ..Options::default() };
        let error =
            engine.submit(&generated(find("q0").unwrap(), &options, 10, 1)).await.expect_err("refused");
        assert!(error.message.contains("event.rate"), "{error}");
        engine.stop().await.expect("nothing to stop");
    });
}

#[test]
fn a_workers_panic_fails_the_job() {
    let _alone = THREADS.write().unwrap_or_else(PoisonError::into_inner);
    // A channel that its stream has no name of: the worker that shows the row panics.
    let (events, texts) = {
        let generator = Generator::new(Options::default()).expect("the defaults");
        let event = |position| match generator.event(position) {
            Event::Bid(bid) => Event::Bid(nexmark_queries::event::Bid { channel: Channel(u32::MAX), ..bid }),
            event => event,
        };
        ((0..500).map(event).collect::<Vec<_>>(), Arc::new(Texts::default()))
    };
    for workers_count in [1, 3] {
        block_on(async {
            let mut engine = engine(&[("block.events", 10)]);
            let job = job(find("q22").expect("q22"), recorded(&events, &texts), workers_count);
            let message = failure(&mut *engine, &job).await;
            assert!(message.starts_with("worker ") && message.contains(" panicked: "), "{message}");
            assert_eq!(workers(), Vec::<String>::new());
        });
    }
}

#[test]
fn state_over_its_budget_fails_the_job() {
    let _threads = THREADS.read().unwrap_or_else(PoisonError::into_inner);
    for workers_count in [1, 2] {
        block_on(async {
            let mut engine = engine(&[]);
            let job = Job { memory_budget_bytes: Some(5_000_000), ..endless("q20", workers_count) };
            let message = failure(&mut *engine, &job).await;
            let sizes: Vec<u64> = message.split(' ').filter_map(|word| word.parse().ok()).collect();
            let [holds, allowed] = sizes[..] else { panic!("{message}") };
            assert!(allowed == 5_000_000 && holds > allowed && holds < 20 * allowed, "{message}");
            assert_eq!(
                message,
                format!("state over its budget: q20 holds {holds} bytes, allowed are 5000000 bytes")
            );
        });
    }
}

#[test]
fn sources_may_be_as_far_ahead_as_one_block_or_as_all() {
    let _threads = THREADS.read().unwrap_or_else(PoisonError::into_inner);
    for query in ["q0", "q4", "q5", "q11", "q23"].map(|name| find(name).expect("a query")) {
        let job = generated(query, &Options::default(), 3000, 3);
        let expected = run_with(&job, 32, 100);
        for (blocks_ahead, block_events) in [(1, 1), (1, 1 << 20), (1 << 16, 1)] {
            let answer = run_with(&job, blocks_ahead, block_events);
            assert_eq!(answer, expected, "{} {blocks_ahead} blocks of {block_events}", query.name);
        }
    }
}

fn run_with(job: &Job, blocks_ahead: u64, block_events: u64) -> nexmark_queries::answer::Digest {
    block_on(async {
        let mut engine = engine(&[("blocks.ahead", blocks_ahead), ("block.events", block_events)]);
        engine.submit(job).await.expect("the job is accepted");
        let (progress, _) = wait(&mut *engine).await;
        engine.stop().await.expect("the job stops");
        assert_eq!((progress.state, progress.late_rows), (JobState::Finished, Some(0)), "{}", job.name);
        progress.answer.expect("a digest")
    })
}

#[test]
fn a_stream_without_events_has_an_answer() {
    for query in ALL {
        let job = job(query, recorded(&[], &Arc::new(Texts::default())), 2);
        let ended = run(&job, 100);
        assert_eq!(ended.progress.state, JobState::Finished, "{}", query.name);
        assert_eq!((ended.progress.events_in, ended.rows.len()), (Some(0), 0), "{}", query.name);
    }
}
