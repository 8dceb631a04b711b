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
}

#[test]
fn a_query_that_the_engine_does_not_run_is_listed_and_fails_the_suite() {
    let Some(query) = ALL.iter().find(|query| query.dataflow.is_none()) else { return };
    let ran = Place::new().run(&["run", &format!("{},q0", query.name), "--events", "1000"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.stdout.lines().any(|line| line.starts_with(query.name) && line.contains("unsupported")),
        "{ran:?}"
    );
    assert!(ran.stdout.lines().any(|line| line.starts_with("q0 ") && line.contains("passed")), "{ran:?}");
}

#[test]
fn a_dry_run_starts_nothing() {
    let place = Place::new();
    let ran = place.run(&["run", "all", "--dry-run", "--events", "20M", "--workers", "3"]);
    assert_eq!(ran.data().lines().count(), 1 + ALL.len());
    assert!(ran.data().contains("20.0 M events"), "{}", ran.stdout);
    assert_eq!(place.files(), Vec::<String>::new());
}
