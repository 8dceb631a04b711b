//! `answer`: the golden answers, rows as objects, and events from a file.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use nexmark_queries::ALL;
use serde_json::Value;

use crate::program::{Place, Ran, golden};

/// A file of golden answers: options for `--set`, and per query the rows and their digest.
pub(crate) struct Golden {
    pub(crate) events: String,
    pub(crate) sets: Vec<String>,
    pub(crate) answers: BTreeMap<String, String>,
}

pub(crate) fn read(name: &str) -> Golden {
    let file: Value = serde_json::from_str(&fs::read_to_string(golden(name)).unwrap()).unwrap();
    let mut sets = vec![format!("seed={}", file["seed"])];
    sets.extend(
        file["options"].as_object().unwrap().iter().map(|(option, value)| format!("{option}={value}")),
    );
    let answers = file["answers"].as_object().unwrap().iter().map(|(query, answer)| {
        (query.clone(), format!("{} {}\n", answer["rows"], answer["digest"].as_str().unwrap()))
    });
    Golden { events: file["events"].to_string(), sets, answers: answers.collect() }
}

fn answer(query: &str, golden: &Golden, more: &[&str]) -> Ran {
    let mut arguments = vec!["answer", query, "--events", &golden.events];
    arguments.extend(golden.sets.iter().flat_map(|set| ["--set", set.as_str()]));
    arguments.extend(more);
    Place::new().run(&arguments)
}

#[test]
fn native_answers_are_the_golden_ones() {
    for name in ["answers-a.json", "answers-b.json", "answers-c.json"] {
        let golden = read(name);
        for query in ALL {
            let ran = answer(query.name, &golden, &["--digest"]);
            assert_eq!(ran.data(), golden.answers[query.name], "{name} {}", query.name);
        }
    }
}

#[test]
fn rows_are_sorted_objects_with_the_answer_columns_as_keys() {
    let golden = read("answers-a.json");
    let ran = answer("q1", &golden, &["--workers", "2"]);
    let lines: Vec<&str> = ran.data().lines().collect();
    assert_eq!(lines.len(), 18_400);
    let row: Value = serde_json::from_str(lines[0]).unwrap();
    assert!(lines[0].starts_with("{\"auction\":"), "{}", lines[0]);
    assert!(row["dateTime"].is_i64() && row["price"].as_str().unwrap().contains('.'), "{row}");
    assert_eq!(ran.stdout, answer("q1", &golden, &["--workers", "1"]).stdout);
}

#[test]
fn events_may_come_from_a_file_or_from_stdin() {
    let golden = read("answers-a.json");
    let place = Place::new();
    let mut arguments = vec!["generate", "--events", &golden.events];
    arguments.extend(golden.sets.iter().flat_map(|set| ["--set", set.as_str()]));
    let events = place.run(&arguments);
    place.write("events.ndjson", events.data().as_bytes());
    for query in ["q2", "q5"] {
        let ran = place.run(&["answer", query, "--digest", "--input", "events.ndjson"]);
        assert_eq!(ran.data(), golden.answers[query], "{query}");
    }
    let mut command = place.command(&["answer", "q0", "--digest", "--input", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(events.data().as_bytes()).unwrap();
    let ran = Ran::of(&child.wait_with_output().unwrap());
    assert_eq!(ran.data(), golden.answers["q0"]);
}

#[test]
fn no_answer_is_said_with_its_reason() {
    let ran = Place::new().run(&["answer", "q20", "--events", "100k", "--set", "memory-budget=4KiB"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.starts_with("nexmark: q20 failed: state over its budget"), "{}", ran.stderr);
}

#[test]
fn no_events_have_an_empty_answer() {
    let place = Place::new();
    place.write("empty.ndjson", b"");
    assert_eq!(place.run(&["answer", "q5", "--input", "empty.ndjson"]).data(), "");
    assert_eq!(
        place.run(&["answer", "q5", "--input", "empty.ndjson", "--digest"]).data(),
        "0 0000000000000000\n"
    );
}

#[test]
fn hand_made_events_may_hold_any_text() {
    let place = Place::new();
    let bid = |extra: &str| {
        format!(
            "{{\"bid\":{{\"auction\":5,\"bidder\":6,\"price\":7,\"channel\":\"ü\",\"url\":\"\",\"dateTime\":-3,\"extra\":{extra}}}}}\n"
        )
    };
    place.write("events.ndjson", [bid("\"naïve \\u0000 \\\"語\\\"\""), bid("\"\"")].concat().as_bytes());
    let ran = place.run(&["answer", "q0", "--input", "events.ndjson"]);
    assert_eq!(
        ran.data(),
        "{\"auction\":5,\"bidder\":6,\"price\":7,\"dateTime\":-3,\"extra\":\"\"}\n\
         {\"auction\":5,\"bidder\":6,\"price\":7,\"dateTime\":-3,\"extra\":\"naïve \\u0000 \\\"語\\\"\"}\n"
    );
}
