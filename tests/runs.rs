//! `run` and `show`: result files, formats, exit codes.

use std::fs;

use nexmark_queries::ALL;
use serde_json::Value;

use crate::program::{Place, names};

/// Fields that readers of results may rely on.
const FIELDS: &[&str] = &[
    "query",
    "state",
    "message",
    "engine",
    "workload",
    "seed",
    "events",
    "seconds",
    "events_per_s",
    "cpu_seconds",
    "cores",
    "events_per_s_per_core",
    "rss_bytes_max",
    "rows_out",
    "answer",
    "phases",
    "samples",
    "environment",
    "command",
    "deviations",
    "format_version",
];

#[test]
fn a_run_prints_and_keeps_the_same_result() {
    let place = Place::new();
    let ran =
        place.run(&["run", "q0", "--events", "1000", "--format", "json", "--label", "mine", "--digest"]);
    let printed: Value = serde_json::from_str(ran.data()).unwrap();
    assert_eq!(printed.as_array().map(Vec::len), Some(1), "{printed}");
    let result = &printed[0];
    for field in FIELDS {
        assert!(result.get(field).is_some(), "{field} is missing");
    }
    assert_eq!(result["state"], "passed");
    assert_eq!((&result["events"], &result["label"]), (&Value::from(1000), &Value::from("mine")));
    assert_eq!(result["answer"]["rows"], 920);
    assert!(
        result["command"]
            .as_str()
            .unwrap()
            .ends_with("run q0 --events 1000 --format json --label mine --digest")
    );
    assert!(result["notes"].to_string().contains("too short"), "{}", result["notes"]);

    let files = names(&place.path("results"));
    assert_eq!(files.len(), 1, "{files:?}");
    let kept: Value =
        serde_json::from_slice(&fs::read(place.path("results").join(&files[0])).unwrap()).unwrap();
    assert_eq!(kept["name"], result["name"]);
    assert!(ran.stderr.contains("1 result file in results"), "{}", ran.stderr);
}

#[test]
fn show_prints_a_result_again_in_every_format() {
    let place = Place::new();
    let table = place.run(&["run", "q0,q2", "--events", "1000", "--out", "kept"]);
    let files: Vec<String> = names(&place.path("kept")).iter().map(|name| format!("kept/{name}")).collect();
    assert_eq!(files.len(), 2);
    let show = |more: &[&str]| {
        let mut arguments = vec!["show", &files[0], &files[1]];
        arguments.extend(more);
        place.run(&arguments).data().to_owned()
    };
    assert_eq!(show(&[]), table.data());
    assert!(show(&[]).contains("geomean"), "{}", show(&[]));
    assert!(show(&["--format", "markdown"]).starts_with("| query | state | events | time s | events/s |"));
    let csv = show(&["--format", "csv"]);
    assert_eq!(csv.lines().count(), 3);
    assert!(csv.starts_with("name,label,query,repeat,engine,"), "{csv}");
    let json: Value = serde_json::from_str(&show(&["--format", "json"])).unwrap();
    assert_eq!(json[1]["query"], "q2");
}

#[test]
fn repeats_are_runs_of_their_own() {
    let place = Place::new();
    let ran = place.run(&["run", "q0", "--events", "1000", "--repeat", "3", "--format", "json"]);
    let printed: Value = serde_json::from_str(ran.data()).unwrap();
    let repeats: Vec<u64> = (0..3).map(|run| printed[run]["repeat"].as_u64().unwrap()).collect();
    assert_eq!(repeats, [1, 2, 3]);
    let files: Vec<String> =
        names(&place.path("results")).iter().map(|name| format!("results/{name}")).collect();
    assert_eq!(files.len(), 3);
    let shown = place.run(&["show", &files[0], &files[1], &files[2]]);
    assert!(["q0  ", "q0 #2", "q0 #3"].iter().all(|name| shown.data().contains(name)), "{shown:?}");
}

#[test]
fn a_rate_is_offered_for_a_time() {
    let place = Place::new();
    let ran = place.run(&[
        "run",
        "q0",
        "--duration",
        "2s",
        "--warmup",
        "500ms",
        "--rate",
        "50k",
        "--format",
        "json",
    ]);
    let result = &serde_json::from_str::<Value>(ran.data()).unwrap()[0];
    let rate = result["events_per_s"].as_f64().unwrap();
    assert!((45_000.0..55_000.0).contains(&rate), "{rate}");
    assert_eq!(result["workload"]["mode"], "rate");
    // Workers that wait for events sleep.
    assert!(result["cores"].as_f64().unwrap() < 0.5, "{}", result["cores"]);
}

#[test]
fn every_query_passes() {
    let ran = Place::new().run(&["run", "all", "--events", "2000", "--format", "json"]);
    let results: Value = serde_json::from_str(ran.data()).unwrap();
    let states: Vec<&str> =
        results.as_array().unwrap().iter().map(|result| result["state"].as_str().unwrap()).collect();
    assert_eq!(states, vec!["passed"; ALL.len()]);
}

#[test]
fn a_suite_goes_on_after_a_run_that_did_not_pass() {
    let ran = Place::new().run(&["run", "q20,q0", "--events", "100k", "--memory-budget", "4KiB"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let state = |query: &str, state: &str| {
        ran.stdout.lines().any(|line| line.starts_with(query) && line.contains(state))
    };
    assert!(state("q20 ", "failed") && state("q0 ", "passed"), "{ran:?}");
}

#[test]
fn a_dry_run_starts_nothing() {
    let place = Place::new();
    let ran = place.run(&["run", "all", "--dry-run", "--events", "20M", "--workers", "3"]);
    assert_eq!(ran.data().lines().count(), 1 + ALL.len());
    assert!(ran.data().contains("20.0 M events"), "{}", ran.stdout);
    assert_eq!(place.files(), Vec::<String>::new());
}

/// The only result of a run that prints JSON.
fn result(place: &Place, arguments: &[&str], code: i32) -> Value {
    let ran = place.run(&[arguments, &["--format", "json"]].concat());
    assert_eq!(ran.code, Some(code), "{ran:?}");
    serde_json::from_str::<Value>(&ran.stdout).unwrap()[0].take()
}

#[test]
fn files_are_kept_on_request_and_removed_else() {
    let place = Place::new();
    fs::create_dir(place.path("files")).unwrap();
    let run = ["run", "q10", "--events", "5000", "--set", "engine.native.files.dir=files"];
    assert_eq!(result(&place, &run, 0)["files"], Value::Null);
    assert_eq!(names(&place.path("files")), Vec::<String>::new());

    let kept = result(&place, &[&run[..], &["--keep-files"]].concat(), 0);
    let directory = kept["files"].as_str().unwrap();
    assert!(directory.starts_with("files/nexmark-q10-"), "{directory}");
    assert!(!names(&place.path(directory)).is_empty());
    assert!(kept["notes"].to_string().contains(directory), "{}", kept["notes"]);
}

#[test]
fn state_over_its_budget_fails_the_run() {
    let run = ["run", "q20", "--events", "2M", "--memory-budget", "1MiB"];
    let place = Place::new();
    let failed = result(&place, &run, 1);
    assert_eq!((&failed["query"], &failed["state"]), (&"q20".into(), &"failed".into()));
    let message = failed["message"].as_str().unwrap();
    assert!(message.contains("q20 holds ") && message.contains("allowed are 1048576 bytes"), "{message}");
    assert!(failed["state_bytes_max"].as_u64() > Some(1 << 20), "{failed}");
    let table = place.run(&["run", "q20", "--events", "100k", "--memory-budget", "2GiB", "-v"]);
    assert!(table.data().contains("state B"), "{table:?}");
}

#[test]
fn late_rows_are_counted() {
    let place = Place::new();
    // A group lasts 3.3 s: less than the default delay, more than the slide of the windows.
    let disorder = [
        "run",
        "q5",
        "--events",
        "100k",
        "--set",
        "out-of-order.group-size=1000",
        "--set",
        "event.rate=300",
        "--set",
        "engine.native.block.events=100",
    ];
    assert_eq!(result(&place, &disorder, 0)["late_rows"], 0);
    let late = result(&place, &[&disorder[..], &["--set", "watermark.delay=0"]].concat(), 0);
    assert!(late["late_rows"].as_u64() > Some(0), "{}", late["late_rows"]);
    assert!(late["notes"].to_string().contains("came after the watermark"), "{}", late["notes"]);
    let table = place.run(&[&disorder[..], &["-v"]].concat());
    assert!(table.data().contains("late rows"), "{table:?}");
}

#[test]
fn events_after_a_warm_up_are_measured_to_the_event() {
    let place = Place::new();
    let run = ["run", "q5", "--set", "warmup-events=300k", "--events", "1000"];
    for _ in 0..3 {
        let result = result(&place, &run, 0);
        assert_eq!((&result["events"], &result["events_total"]), (&1000.into(), &301_000.into()), "{result}");
        // Nothing is said of how long either phase took: on a busy machine the shorter one may take longer.
        let (seconds, phases) = (result["seconds"].as_f64().unwrap(), &result["phases"]);
        assert!(seconds > 0.0 && phases["warmup_seconds"].as_f64().unwrap() > 0.0, "{result}");
        let measured = phases["measured_seconds"].as_f64().unwrap();
        assert!((seconds - measured).abs() < 1e-6, "{seconds} s, and a phase of {measured} s");
    }
}

#[test]
fn no_run_has_more_cores_than_the_machine() {
    let place = Place::new();
    let cores = std::thread::available_parallelism().unwrap().get() as f64;
    for events in ["1", "1000", "100k", "300k"] {
        let result = result(&place, &["run", "q1", "--events", events], 0);
        match result["cores"].as_f64() {
            // Readings that stand for begin and end may lie off by a twentieth of the phase. There is no lower bound but 0: on a
            // busy machine the workers may have little of the time.
            Some(used) => assert!(used > 0.0 && used < cores * 1.1, "{events} events on {used} cores"),
            None => assert!(result["notes"].to_string().contains("CPU unknown"), "{}", result["notes"]),
        }
    }
}

#[test]
fn what_a_query_has_freed_is_not_taken_for_memory_of_the_next() {
    let ran = Place::new().run(&["run", "q20,q0", "--events", "3M", "--format", "json"]);
    let results: Value = serde_json::from_str(ran.data()).unwrap();
    let memory = |run: usize| results[run]["rss_bytes_max"].as_u64().unwrap();
    assert!(memory(1) < memory(0) / 2, "q20 {} bytes, then q0 {} bytes", memory(0), memory(1));
}
