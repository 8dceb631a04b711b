//! The program on real Flinks, of both lines that it is made for. `tests/run` runs these tests, one after the other; the
//! first of a version starts that Flink with `nexmark flink up`, which installs it.

mod cluster;

use std::fs;
use std::time::{Duration, Instant};

use nexmark_queries::ALL;
use serde_json::{Value, json};

use crate::answers::{self, Golden};
use crate::interrupt::send;
use crate::program::{Place, Ran, names, root};
use cluster::{Background, Cluster, SLOTS, flink, until};

/// The same tests for each version, in a module of its own.
macro_rules! versions {
    (@ $module:ident $version:literal [$($test:ident)*]) => {
        mod $module {$(
            #[test]
            #[ignore = "needs Java and a Flink, tests/run has both"]
            fn $test() {
                super::$test(&super::flink($version));
            }
        )*}
    };
    ($($module:ident $version:literal)*; $tests:tt) => { $(versions!(@ $module $version $tests);)* };
}

versions! {
    flink_1_20 "1.20.5"
    flink_2_3 "2.3.0";
    [
        answers_are_the_golden_ones_with_parallelism_1
        answers_are_the_golden_ones_with_parallelism_2
        a_run_counts_every_event_and_keeps_what_flink_says
        a_run_at_a_rate_takes_its_time
        a_killed_taskmanager_costs_a_restart_and_no_row
        a_job_that_others_cancel_is_said_to_be_cancelled
        ctrl_c_leaves_no_job_and_no_jar
        jobs_and_jars_of_others_are_left_alone
        a_check_tells_what_a_run_would_find
        more_workers_than_slots_are_told
        a_local_flink_is_started_once
    ]
}

fn answers_are_the_golden_ones_with_parallelism_1(flink: &Cluster) {
    answers_are_the_golden_ones(flink, "1");
}

fn answers_are_the_golden_ones_with_parallelism_2(flink: &Cluster) {
    answers_are_the_golden_ones(flink, "2");
}

/// Three sets of options at a time, with checkpoints. The jar lies there already, so that none removes it under another.
fn answers_are_the_golden_ones(flink: &Cluster, workers: &str) {
    let jar = flink.upload(&jar_name(flink));
    std::thread::scope(|scope| {
        for name in ["answers-a.json", "answers-b.json", "answers-c.json"] {
            scope.spawn(move || verify(flink, &answers::read(name), name, workers));
        }
    });
    flink.remove_jar(&jar);
}

fn verify(flink: &Cluster, golden: &Golden, name: &str, workers: &str) {
    let place = Place::new();
    let mut arguments = vec!["verify", "all", "--format", "json", "--workers", workers];
    arguments.extend(["--events", &golden.events, "--set", "engine.flink.checkpoint.interval=1s"]);
    arguments.extend(golden.sets.iter().flat_map(|set| ["--set", set.as_str()]));
    let ran = flink.run(&place, &arguments);
    let verdicts: Value = serde_json::from_str(ran.data()).unwrap();
    let verdicts = verdicts.as_array().unwrap();
    assert_eq!(verdicts.len(), ALL.len());
    for (verdict, query) in verdicts.iter().zip(ALL) {
        assert_eq!(
            (&verdict["query"], &verdict["verdict"]),
            (&query.name.into(), &"ok".into()),
            "{name} {verdict}"
        );
        assert_eq!(digest(&verdict["answer"]), golden.answers[query.name].trim(), "{name} {}", query.name);
    }
}

/// Rows and digest as `answer --digest` prints them.
fn digest(answer: &Value) -> String {
    format!("{} {}", answer["rows"], answer["digest"].as_str().unwrap_or_default())
}

/// The name under which the program has its jar in a cluster, as `check` tells it.
fn jar_name(flink: &Cluster) -> String {
    let ran = flink.run(&Place::new(), &["check", "--workers", "1"]);
    let name = ran.data().split(['(', ')']).find(|part| part.starts_with("nexmark-flink-"));
    name.unwrap().to_owned()
}

/// The result of the one run in a place.
fn result(place: &Place) -> Value {
    let files = names(&place.path("results"));
    assert_eq!(files.len(), 1, "{files:?}");
    serde_json::from_slice(&fs::read(place.path("results").join(&files[0])).unwrap()).unwrap()
}

fn a_run_counts_every_event_and_keeps_what_flink_says(flink: &Cluster) {
    let place = Place::new();
    let ran = flink.run(&place, &["run", "q0", "--events", "2M", "--workers", "2", "--digest"]);
    ran.data();
    let result = result(&place);
    assert_eq!((&result["state"], &result["events"]), (&"passed".into(), &2_000_000.into()), "{result}");
    assert_eq!(result["engine"]["version"], flink.version());
    let config = &result["engine"]["config"];
    for (key, value) in [
        ("state.backend.type", "rocksdb"),
        ("job.checkpoints.interval", "180000"),
        ("job.checkpoints.mode", "exactly_once"),
        ("job.parallelism", "2"),
    ] {
        assert_eq!(config[key], value, "{key}: {config}");
    }
    assert!(result["cores"].as_f64().unwrap() > 0.1, "{result}");
    assert_eq!(digest(&result["answer"]), native(&["q0", "--events", "2M"]));
    assert_eq!(flink.jars(), [""; 0]);
}

/// What the native engine answers.
fn native(arguments: &[&str]) -> String {
    let ran = Place::new().run(&[&["answer", "--digest"], arguments].concat());
    ran.data().trim().to_owned()
}

fn a_run_at_a_rate_takes_its_time(flink: &Cluster) {
    let place = Place::new();
    let arguments = ["run", "q1", "--duration", "10s", "--warmup", "5s", "--rate", "20k", "--workers", "1"];
    flink.run(&place, &arguments).data();
    let result = result(&place);
    let (seconds, rate) = (result["seconds"].as_f64().unwrap(), result["events_per_s"].as_f64().unwrap());
    assert!((9.5..13.0).contains(&seconds), "{seconds} s");
    assert!((19_000.0..21_000.0).contains(&rate), "{rate} events/s");
}

fn a_killed_taskmanager_costs_a_restart_and_no_row(flink: &Cluster) {
    let place = Place::new();
    let settings = "engine.flink.settings=restart-strategy.fixed-delay.attempts=100;restart-strategy.fixed-delay.delay=1 s";
    let events = ["q5", "--events", "2M", "--set", "event.rate=50k"];
    let mut arguments = vec!["run"];
    arguments.extend(events);
    arguments.extend(["--digest", "--workers", "2", "--set", "engine.flink.checkpoint.interval=1s"]);
    arguments.extend(["--set", "engine.flink.restart=fixed-delay", "--set", settings]);
    let run = Background::start(&place, &mut flink.command(&place, &arguments));
    let job = flink.running_job(&[]);
    until("two checkpoints are complete", || {
        let checkpoints = flink.get(&format!("/jobs/{job}/checkpoints"));
        checkpoints["counts"]["completed"].as_u64() >= Some(2)
    });
    // It dies owing its metrics, which keeps Flink from asking a living one for its own.
    let kill = |signal| {
        // SAFETY: kill takes no pointers; the process is one that this test has started.
        assert_eq!(unsafe { libc::kill(flink.task_manager(), signal) }, 0);
    };
    kill(libc::SIGSTOP);
    // What it answered last may still be on its way.
    let mut told = (flink.cpu_time(), Instant::now());
    until("its metrics have been asked for and are owed", || {
        let now = flink.cpu_time();
        if now != told.0 {
            told = (now, Instant::now());
        }
        told.1.elapsed() > Duration::from_secs(2)
    });
    kill(libc::SIGKILL);
    until("the death is seen", || flink.flink(&["status"]).stdout.contains("died"));
    assert_eq!(flink.flink(&["status"]).code, Some(1));
    let up = flink.flink(&["up"]);
    assert!(up.data().ends_with(" has a new TaskManager, since its last one had died\n"), "{up:?}");
    let ran = run.end();
    ran.data();
    let result = result(&place);
    assert_eq!((&result["state"], &result["events"]), (&"passed".into(), &2_000_000.into()), "{result}");
    assert!(result["restarts"].as_u64() >= Some(1), "{result}");
    assert_eq!(digest(&result["answer"]), native(&events));
    // The slots of the dead one are counted until its heartbeat is missed.
    until("its slots are gone", || flink.get("/overview")["slots-total"] == SLOTS);
    let (told, asked) = (flink.cpu_time(), Instant::now());
    until("metrics are renewed", || {
        assert!(asked.elapsed() < Duration::from_secs(60), "Flink still waits for the dead one");
        flink.cpu_time() != told
    });
}

/// A run that does not end by itself while a test lasts.
fn endless(flink: &Cluster, place: &Place) -> Background {
    let arguments = ["run", "q0", "--duration", "10m", "--warmup", "0s", "--rate", "1k", "--workers", "1"];
    Background::start(place, &mut flink.command(place, &arguments))
}

fn a_job_that_others_cancel_is_said_to_be_cancelled(flink: &Cluster) {
    let place = Place::new();
    let run = endless(flink, &place);
    flink.cancel(&flink.running_job(&[]));
    let ran = run.end();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let result = result(&place);
    assert_eq!(result["state"], "cancelled", "{result}");
    assert!(flink.jobs().is_empty() && flink.jars().is_empty());
}

fn ctrl_c_leaves_no_job_and_no_jar(flink: &Cluster) {
    let place = Place::new();
    let run = endless(flink, &place);
    flink.running_job(&[]);
    assert_eq!(flink.jars().len(), 1);
    send(&run.child, libc::SIGINT);
    let ran = run.end();
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert_eq!(result(&place)["state"], "cancelled");
    assert_eq!((flink.jobs(), flink.jars()), (Vec::new(), Vec::new()));
}

fn jobs_and_jars_of_others_are_left_alone(flink: &Cluster) {
    let jar = flink.upload("theirs.jar");
    let sql = |name: &str| fs::read_to_string(root().join(format!("queries/{name}/flink.sql"))).unwrap();
    let arguments = ["--sql", &sql("source"), "--sql", &sql("q0"), "--option", "nexmark", "rate=100"];
    let name = json!({ "pipeline.name": "theirs" });
    let job = flink
        .start(&jar, &json!({ "programArgsList": arguments, "parallelism": 1, "flinkConfiguration": name }));
    let theirs = [flink.running_job(&[])];
    assert_eq!(theirs, std::slice::from_ref(&job));

    let place = Place::new();
    flink.run(&place, &["run", "q2", "--events", "10k", "--workers", "2"]).data();
    let run = endless(flink, &place);
    flink.running_job(&theirs);
    send(&run.child, libc::SIGINT);
    assert_eq!(run.end().code, Some(130));
    flink.run(&place, &["check", "--workers", "1", "--clean"]).data();

    assert_eq!((flink.jobs(), flink.jars()), (vec![job.clone()], vec![jar.clone()]));
    flink.cancel(&job);
    until("their job has ended", || flink.jobs().is_empty());
    flink.remove_jar(&jar);
}

fn a_check_tells_what_a_run_would_find(flink: &Cluster) {
    let check = |workers: usize| flink.run(&Place::new(), &["check", "--workers", &workers.to_string()]);
    let ran = check(SLOTS);
    for said in
        [&format!("Flink {}", flink.version()), &format!("{SLOTS} of {SLOTS} slots are free"), "takes jars"]
    {
        assert!(ran.data().contains(said), "{said}: {ran:?}");
    }
    let ran = check(SLOTS + 1);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.lines().any(|line| line.starts_with("slots") && line.contains(" bad ")), "{ran:?}");
}

fn more_workers_than_slots_are_told(flink: &Cluster) {
    let place = Place::new();
    let ran = flink.run(&place, &["run", "q5", "--events", "1000", "--workers", &(SLOTS + 1).to_string()]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let waited = result(&place);
    // Flink itself would give up after five minutes.
    assert_eq!(waited["state"], "timed-out", "{waited}");
    let message = waited["message"].as_str().unwrap();
    assert!(message.contains("no first event within") && message.contains("waits for slots"), "{message}");
    // Subtasks that need nothing of each other take turns.
    let place = Place::new();
    let ran = flink.run(&place, &["run", "q0", "--events", "1000000", "--workers", &(SLOTS + 1).to_string()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let notes = result(&place)["notes"].to_string();
    assert!(notes.contains("never ran all at once"), "{notes}");
    assert!(flink.jobs().is_empty() && flink.jars().is_empty());
}

fn a_local_flink_is_started_once(flink: &Cluster) {
    let up = flink.flink(&["up"]);
    let said = format!("Flink {} with {SLOTS} slots at {} runs already\n", flink.version(), flink.address());
    assert_eq!(up.data(), said);
    let other = flink.flink(&["up", "--slots", "1"]);
    assert_eq!(other.code, Some(2), "{other:?}");
    assert!(other.stderr.contains(&format!("with slots {SLOTS}, not 1")), "{other:?}");
    let status = flink.flink(&["status"]);
    assert!(status.data().contains(&format!("{SLOTS} of {SLOTS} slots free")), "{status:?}");
    assert_eq!(status.data().matches(" runs ").count(), 2, "{status:?}");
    // Somebody with other files has not started it, and cannot stop it.
    let place = Place::new();
    let port = flink.address().rsplit(':').next().unwrap().to_owned();
    for (action, code) in [("up", 2), ("down", 0)] {
        let mut command = place.command(&["flink", action, "--port", &port]);
        let ran = Ran::of(&command.env("XDG_STATE_HOME", place.path("state")).output().unwrap());
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(action == "down" || ran.stderr.contains("is in use by process "), "{ran:?}");
    }
    assert!(flink.flink(&["status"]).data().contains("slots free"));
}
