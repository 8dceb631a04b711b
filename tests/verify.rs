//! `verify`: an engine's answers against the oracles'.

use nexmark_queries::ALL;
use serde_json::Value;

use crate::program::Place;

#[test]
fn every_query_of_the_native_engine_is_ok() {
    let sets = ["--set", "event.rate=1000", "--set", "out-of-order.group-size=100"];
    let ran = Place::new().run(&[&["verify", "all", "--events", "5000"][..], &sets].concat());
    let lines: Vec<Vec<&str>> = ran.data().lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), 1 + ALL.len(), "{}", ran.stdout);
    for (line, query) in lines[1..].iter().zip(ALL) {
        assert_eq!(line[..2], [query.name, "ok"], "{}", ran.stdout);
        assert!(line[2].parse::<u64>().unwrap() > 0, "{} has no rows to compare", query.name);
    }
    let told = format!("[{}/{}] {:<3} ok", ALL.len(), ALL.len(), ALL[ALL.len() - 1].name);
    assert!(ran.stderr.contains(&told), "{}", ran.stderr);
}

#[test]
fn rows_that_are_dropped_as_late_differ_and_are_shown() {
    let arguments = ["verify", "q0,q5", "--events", "20k", "--workers", "2"];
    // A group lasts 11 s, a second more than a window.
    let late = [
        "watermark.delay=0",
        "out-of-order.group-size=1000",
        "event.rate=90",
        "engine.native.block.events=100",
    ];
    let late = late.iter().flat_map(|set| ["--set", set]);
    let arguments: Vec<&str> = arguments.into_iter().chain(late).collect();
    let ran = Place::new().run(&arguments);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let line = |start: &str| ran.stdout.lines().find(|line| line.starts_with(start)).unwrap_or_default();
    assert!(line("q0 ").contains("ok"), "{ran:?}");
    assert!(line("q5 ").contains("differs") && line("q5 ").contains("after the watermark"), "{ran:?}");
    assert!(line("q5 missing ").contains("{\"auction\":"), "{ran:?}");

    let ran = Place::new().run(&[&arguments[..], &["--format", "json"]].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let verdicts: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&verdicts[0]["verdict"], &verdicts[1]["verdict"]), (&"ok".into(), &"differs".into()));
    assert_eq!(verdicts[0]["answer"], verdicts[0]["expected"]);
    assert_ne!(verdicts[1]["answer"], verdicts[1]["expected"]);
    assert!(verdicts[1]["missing"][0]["auction"].is_i64(), "{verdicts}");
    assert!(verdicts[1]["late_rows"].as_u64() > Some(0), "{verdicts}");
}

#[test]
fn recorded_events_can_be_verified_too() {
    let place = Place::new();
    let events = place.run(&["generate", "--events", "3000", "--set", "event.rate=10"]);
    place.write("events.ndjson", events.data().as_bytes());
    let ran = place.run(&["verify", "q4-q9", "--input", "events.ndjson"]);
    assert_eq!(ran.data().matches(" ok ").count(), 6, "{}", ran.stdout);
}
