//! The golden files: events and answers that were made by implementations which share no code with this one.

use std::collections::BTreeMap;
use std::fs;

use nexmark_queries::answer::Digest;
use nexmark_queries::event::Event;
use nexmark_queries::generator::{Generator, Options};
use nexmark_queries::{ALL, find, ndjson};
use serde::Deserialize;

/// A golden file of answers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Golden {
    pub(crate) events: u64,
    seed: u64,
    options: BTreeMap<String, u64>,
    answers: BTreeMap<String, GoldenAnswer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GoldenAnswer {
    rows: i64,
    digest: String,
    columns: Vec<String>,
}

impl Golden {
    /// Reads `answers-NAME.json`.
    pub(crate) fn read(name: &str) -> Self {
        serde_json::from_str(&file(&format!("answers-{name}.json"))).expect("a golden file of answers")
    }

    /// The generator of its configuration.
    pub(crate) fn generator(&self) -> Generator {
        let mut options = Options { seed: self.seed, ..Options::default() };
        for (name, value) in &self.options {
            options.set(name, &value.to_string()).expect("a golden option");
        }
        Generator::new(options).expect("golden options")
    }
}

fn file(name: &str) -> String {
    let path = format!("{}/../tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The first events of a stream.
pub(crate) fn events(generator: &Generator, count: u64) -> Vec<Event> {
    (0..count).map(|position| generator.event(position)).collect()
}

fn assert_lines(generator: &Generator, from: u64, golden: &str) {
    let golden = file(golden);
    let mut line = String::new();
    for (position, expected) in (from..).zip(golden.lines()) {
        line.clear();
        ndjson::write(&generator.event(position), generator.texts(), &mut line);
        assert_eq!(line.strip_suffix('\n'), Some(expected), "position {position}");
    }
    assert_eq!(golden.lines().count(), 200);
}

#[test]
fn default_events_are_the_golden_ones_to_the_byte() {
    assert_lines(&Generator::new(Options::default()).unwrap(), 0, "events-a.ndjson");
}

#[test]
fn far_out_of_order_events_are_the_golden_ones_to_the_byte() {
    let mut options = Options { seed: 7, ..Options::default() };
    for (name, value) in [
        ("event.rate", "3"),
        ("out-of-order.group-size", "1000"),
        ("person.proportion", "2"),
        ("auction.proportion", "5"),
        ("bid.proportion", "13"),
        ("person.avg-size", "20"),
        ("auction.avg-size", "2000"),
        ("bid.avg-size", "32"),
    ] {
        options.set(name, value).unwrap();
    }
    assert_lines(&Generator::new(options).unwrap(), 1_000_000_000_000, "events-b.ndjson");
}

#[test]
fn columns_are_the_golden_ones() {
    for name in ["a", "b", "c", "k"] {
        let golden = Golden::read(name);
        assert_eq!(golden.answers.len(), ALL.len());
        for (query, answer) in &golden.answers {
            let columns: Vec<_> = find(query).unwrap().columns.iter().map(|column| column.name).collect();
            assert_eq!(columns, answer.columns, "{query}");
        }
    }
}

fn assert_answers(name: &str) {
    let golden = Golden::read(name);
    let generator = golden.generator();
    let events = events(&generator, golden.events);
    let mut wrong = Vec::new();
    for query in ALL {
        let expected = &golden.answers[query.name];
        let answer = Digest::of(&(query.oracle)(&events, generator.texts()));
        let expected = format!("{} {}", expected.rows, expected.digest);
        if answer.to_string() != expected {
            wrong.push(format!("{}: {answer}, expected {expected}", query.name));
        }
    }
    assert!(wrong.is_empty(), "answers-{name}:\n{}", wrong.join("\n"));
}

#[test]
fn oracles_give_the_golden_answers_a() {
    assert_answers("a");
}

#[test]
fn oracles_give_the_golden_answers_b() {
    assert_answers("b");
}

#[test]
fn oracles_give_the_golden_answers_c() {
    assert_answers("c");
}

#[test]
fn oracles_give_the_golden_answers_k() {
    assert_answers("k");
}
