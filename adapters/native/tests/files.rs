//! The files of q10: what they hold, where they are, when they are removed, and what happens when they cannot be written.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nexmark_driver::config::{Key, Settings};
use nexmark_driver::engine::{Engine, Input, Job, JobState, Output, Progress};
use nexmark_driver::pace::Schedule;
use nexmark_queries::answer::Digest;
use nexmark_queries::event::Event;
use nexmark_queries::generator::{Generator, Options};
use nexmark_queries::ndjson::Recorder;

const DEADLINE: Duration = Duration::from_secs(60);

/// A directory of one test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("nexmark-test-q10-{}-{number}", std::process::id()));
        fs::create_dir(&path).expect("a new directory");
        Self(path)
    }

    /// Every file with its path below the directory, in the order of the paths.
    fn files(&self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        collect(&self.0, &self.0, &mut files);
        files.sort_unstable();
        files
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn collect(root: &Path, directory: &Path, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).expect("below").to_str().expect("text").to_owned();
            files.push((name, fs::read_to_string(&path).expect("text")));
        }
    }
}

fn engine(directory: &Path, keep: &'static str) -> Box<dyn Engine> {
    let directory = directory.to_str().expect("text").to_owned();
    let set = |key: &Key| match key.name {
        "files.dir" => Key { default: Box::leak(directory.clone().into()), ..*key },
        "files.keep" => Key { default: keep, ..*key },
        "block.events" => Key { default: "500", ..*key },
        "pinning" => Key { default: "false", ..*key },
        _ => *key,
    };
    let keys: Vec<Key> = nexmark_native::FACTORY.keys.iter().map(set).collect();
    (nexmark_native::FACTORY.create)(&Settings::defaults(&keys)).expect("an engine")
}

fn job(input: Input, events: Option<u64>, output: Output) -> Job {
    Job {
        name: "test-q10".to_owned(),
        query: nexmark_queries::find("q10").expect("the query"),
        input,
        events,
        warmup_events: 0,
        schedule: Schedule::Unlimited,
        watermark_delay_ms: 4000,
        workers: 2,
        output,
        memory_budget_bytes: None,
    }
}

/// Runs a job to its end, looks at the disk, and stops it.
fn run(engine: &mut dyn Engine, job: &Job, before_stop: impl FnOnce()) -> Progress {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        engine.submit(job).await.expect("the job is accepted");
        let started = Instant::now();
        let progress = loop {
            let progress = engine.poll().await.expect("a poll");
            if !matches!(progress.state, JobState::Starting | JobState::Running) {
                break progress;
            }
            assert!(started.elapsed() < DEADLINE, "the job does not end: {progress:?}");
            engine.changed(Duration::from_millis(100)).await;
        };
        before_stop();
        engine.stop().await.expect("the job stops");
        progress
    })
}

/// One event a second: 20 000 of them are many minutes.
fn options() -> Options {
    Options { event_rate: 1, out_of_order_group_size: 100, ..Options::default() }
}

#[test]
fn files_hold_every_bid_under_its_minute_and_are_kept_on_request() {
    const EVENTS: u64 = 20_000;
    let scratch = Scratch::new();
    let input = Input::Generated(options());
    let progress = run(&mut *engine(&scratch.0, "true"), &job(input, Some(EVENTS), Output::Count), || ());
    assert_eq!(progress.state, JobState::Finished);

    let mut found = Vec::new();
    let files = scratch.files();
    for (path, content) in &files {
        let (_run, partition) = path.split_once('/').expect("a directory of the run");
        let (partition, file) = partition.rsplit_once('/').expect("a directory of the minute");
        assert!(["part-0.csv", "part-1.csv"].contains(&file), "{path}");
        found.extend(content.lines().map(|line| format!("{partition} {line}")));
    }
    let generator = Generator::new(options()).expect("options in range");
    let mut expected: Vec<String> = (0..EVENTS)
        .filter_map(|position| match generator.event(position) {
            Event::Bid(bid) => Some(bid),
            _ => None,
        })
        .map(|bid| {
            // The stream begins on 2015-07-15 at midnight, and 20 000 seconds later it is half past five.
            let minute = (bid.date_time - 1_436_918_400_000) / 60_000;
            let extra = generator.texts().get(bid.extra);
            let (auction, bidder, price, time) = (bid.auction, bid.bidder, bid.price, bid.date_time);
            let (hour, minute) = (minute / 60, minute % 60);
            format!("dt=2015-07-15/hm={hour:02}:{minute:02} {auction},{bidder},{price},{time},{extra}")
        })
        .collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(progress.rows_out, Some(expected.len() as u64));
    assert!(files.len() > 300, "{} files", files.len());
}

#[test]
fn files_are_removed_when_the_job_is_stopped() {
    let scratch = Scratch::new();
    fs::write(scratch.0.join("foreign"), "stays").expect("written");
    let mut engine = engine(&scratch.0, "false");
    for output in [Output::Count, Output::Digest] {
        let job = job(Input::Generated(options()), Some(5000), output);
        let progress = run(&mut *engine, &job, || assert!(scratch.files().len() > 50));
        assert_eq!((progress.state, progress.rows_out), (JobState::Finished, Some(4600)));
        assert_eq!(scratch.files(), [("foreign".to_owned(), "stays".to_owned())]);
        assert_eq!(fs::read_dir(&scratch.0).expect("the directory").count(), 1, "no empty directory is left");
    }
}

#[test]
fn any_text_and_time_are_read_back_from_the_files() {
    let mut recorder = Recorder::new();
    let extras = ["", "a,b", "\\\"", "\\\"\\\"\\n\\r\\n", "é\\u0000\\u001f", "\\\\N", "\\n", " x "];
    let times = [0, -1, i64::MIN, i64::MAX, 1_436_918_400_000, -62_167_219_200_001];
    let mut number = 0;
    for _repeat in 0..50 {
        for (extra, time) in extras.iter().flat_map(|extra| times.map(|time| (extra, time))) {
            number += 1;
            let line = format!(
                r#"{{"bid":{{"auction":{},"bidder":-{number},"price":{time},"channel":"c","url":"u","dateTime":{time},"extra":"{extra}"}}}}"#,
                i64::MIN
            );
            recorder.push_line(number, &line).expect("an event");
        }
    }
    let recording = Arc::new(recorder.finish());
    let job = job(Input::Recorded(Arc::clone(&recording)), None, Output::Digest);
    let scratch = Scratch::new();
    let progress = run(&mut *engine(&scratch.0, "false"), &job, || ());
    assert_eq!(progress.state, JobState::Finished);
    let rows = (job.query.oracle)(&recording.events, &recording.texts);
    assert_eq!(rows.len() as u64, number);
    assert_eq!(progress.answer, Some(Digest::of(&rows)));
}

#[track_caller]
fn failure(progress: Progress) -> String {
    match progress.state {
        JobState::Failed(message) => message,
        state => panic!("the job is to fail, not {state:?}"),
    }
}

#[test]
fn a_missing_directory_fails_the_job() {
    let scratch = Scratch::new();
    let job = job(Input::Generated(options()), Some(5000), Output::Count);
    let message = failure(run(&mut *engine(&scratch.0.join("missing"), "false"), &job, || ()));
    assert!(message.contains("/missing") && message.contains("No such file"), "{message}");
}

#[test]
fn too_many_events_for_the_disk_fail_the_job_before_anything_is_written() {
    let scratch = Scratch::new();
    let job = job(Input::Generated(options()), Some(1 << 60), Output::Count);
    let message =
        failure(run(&mut *engine(&scratch.0, "false"), &job, || assert!(scratch.files().is_empty())));
    assert!(message.starts_with("too little space: q10 is going to write about "), "{message}");
}

#[test]
fn a_disk_that_becomes_full_fails_the_job() {
    let scratch = Scratch::new();
    let mount = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
        .arg(&scratch.0)
        .output();
    if !mount.is_ok_and(|output| output.status.success()) {
        println!("skipped: only root can mount a small disk");
        return;
    }
    // A recording's texts are not looked at before.
    let mut recorder = Recorder::new();
    let extra = "x".repeat(10_000);
    for number in 1..=1000 {
        let line = format!(
            r#"{{"bid":{{"auction":1,"bidder":2,"price":3,"channel":"c","url":"u","dateTime":4,"extra":"{extra}"}}}}"#
        );
        recorder.push_line(number, &line).expect("an event");
    }
    let job = job(Input::Recorded(Arc::new(recorder.finish())), None, Output::Count);
    let progress = run(&mut *engine(&scratch.0, "false"), &job, || ());
    let left = scratch.files();
    let unmounted = std::process::Command::new("umount").arg(&scratch.0).status();
    let message = failure(progress);
    assert!(message.starts_with("cannot write ") && message.contains(".csv: No space left"), "{message}");
    assert!(left.is_empty(), "{left:?}");
    assert!(unmounted.is_ok_and(|status| status.success()));
}
