//! `compare`, `report`, `history` and `bench`: two sides put side by side, from outside.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::{Place, names};

/// A place with a result file of one run, from which others are made.
pub(crate) struct Bank {
    pub(crate) place: Place,
    template: Value,
}

impl Bank {
    pub(crate) fn new() -> Self {
        let place = Place::new();
        place.run(&["run", "q0", "--events", "2000", "--out", "template"]).data();
        let file = place.path("template").join(&names(&place.path("template"))[0]);
        let template = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        fs::create_dir(place.path("results")).unwrap();
        Self { place, template }
    }

    /// Writes a run with this throughput; the change may touch anything else.
    fn add(&self, name: &str, label: &str, query: &str, rate: f64, change: impl FnOnce(&mut Value)) {
        let mut result = self.template.clone();
        for (field, value) in [
            ("name", json!(name)),
            ("label", json!(label)),
            ("query", json!(query)),
            ("state", json!("passed")),
            ("events_per_s", json!(rate)),
            ("cores", json!(2.0)),
            ("cpu_seconds", json!(2e9 / rate)),
            ("events_per_s_per_core", json!(rate / 2.0)),
            ("rss_bytes_max", json!(50_000_000)),
            ("notes", json!([])),
        ] {
            result[field] = value;
        }
        change(&mut result);
        let file = self.place.path("results").join(format!("{}.json", name.replace('/', "_")));
        fs::write(file, result.to_string()).unwrap();
    }

    /// Five runs around this throughput, with a few samples each.
    pub(crate) fn five(&self, label: &str, query: &str, rate: f64) {
        for (number, factor) in [1.0, 1.01, 0.99, 1.005, 0.995].into_iter().enumerate() {
            self.add(&format!("{label}-{query}-{number}"), label, query, rate * factor, |result| {
                result["started_at"] = json!(format!("2026-05-01T10:00:0{number}.000Z"));
                result["samples"] = (0..20).map(sample).collect();
            });
        }
    }
}

fn sample(second: u32) -> Value {
    json!({"seconds": second, "events_in": second * 1000, "cpu_seconds": second, "rss_bytes": 5_000_000 + second})
}

fn row<'a>(text: &'a str, first: &str) -> Vec<&'a str> {
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(first));
    line.unwrap_or_else(|| panic!("no line {first:?} in {text}")).split_whitespace().collect()
}

#[test]
fn labels_are_compared_and_the_exit_code_tells() {
    let bank = Bank::new();
    bank.five("old", "q5", 1e6);
    bank.five("old", "q10", 2e6);
    bank.five("new", "q5", 1.2e6);
    bank.five("new", "q10", 1.7e6);
    let ran = bank.place.run(&["compare", "old", "new", "--metric", "events_per_s"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        row(&ran.stdout, "q5").contains(&"better") && row(&ran.stdout, "q5").contains(&"1.200"),
        "{ran:?}"
    );
    assert!(
        row(&ran.stdout, "q10").contains(&"worse") && row(&ran.stdout, "q10").contains(&"5+5"),
        "{ran:?}"
    );
    assert!(row(&ran.stdout, "geomean").contains(&"better,") || ran.stdout.contains("1 better, 1 worse"));
    assert!(ran.stderr.contains("new is worse than old in events_per_s: q10 by 18 %"), "{ran:?}");
    let tolerant = ["compare", "old", "new", "--metric", "events_per_s", "--fail-above", "20%"];
    bank.place.run(&tolerant).data();
    let indifferent = bank.place.run(&["compare", "old", "new", "--threshold", "30%"]);
    assert!(row(indifferent.data(), "q10").contains(&"same"), "{indifferent:?}");
    // Two sides may also be a directory and a file.
    let ran = bank.place.run(&["compare", "results", "results/new-q5-0.json"]);
    assert!(ran.stdout.contains("1 passed of 3 runs that a verdict needs"), "{ran:?}");
}

#[test]
fn every_format_holds_the_ratio_and_its_interval() {
    let bank = Bank::new();
    bank.five("old|1", "q5", 1e6);
    bank.five("<b>", "q5", 1.2e6);
    let run =
        |format: &str| bank.place.run(&["compare", "old|1", "<b>", "--format", format]).data().to_owned();
    let document: Value = serde_json::from_str(&run("json")).unwrap();
    let rate = &document["queries"][0]["metrics"][0];
    assert_eq!((&rate["metric"], &rate["verdict"]), (&json!("events_per_s"), &json!("better")));
    let (low, high) = (&rate["ratio"]["interval"]["low"], &rate["ratio"]["interval"]["high"]);
    assert!(low.as_f64() > Some(1.17) && high.as_f64() < Some(1.23), "{rate}");
    let csv = run("csv");
    let line = csv.lines().find(|line| line.starts_with("q5,events_per_s,events/s,5,1000000,")).unwrap();
    assert_eq!(line.split(',').count(), csv.lines().next().unwrap().split(',').count());
    assert!(line.contains(",better,"), "{line}");
    let markdown = run("markdown");
    assert!(
        markdown.starts_with("### &lt;b> against old|1\n") && markdown.contains("| throughput | 1.200 |"),
        "{markdown}"
    );
    assert!(markdown.contains("old\\|1") && !markdown.contains("<b>"), "{markdown}");
    let page = run("html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("&lt;b&gt; against old|1"), "no page");
    bank.place.run(&["compare", "old|1", "<b>", "--format", "html", "-o", "out.html"]).data();
    assert!(bank.place.files().contains(&"out.html".to_owned()));
}

#[test]
fn other_workloads_and_answers_are_refused_unless_forced() {
    let bank = Bank::new();
    let side = |label: &str, change: fn(&mut Value)| {
        for number in 0..3 {
            bank.add(&format!("{label}{number}"), label, "q5", 1e6 + f64::from(number), change);
        }
    };
    side("base", |result| result["answer"] = json!({"rows": 1, "digest": "00000000000000aa"}));
    side("events", |result| result["workload"]["events"] = json!(9));
    side("answer", |result| result["answer"] = json!({"rows": 1, "digest": "00000000000000bb"}));
    side("machine", |result| result["environment"]["cpu_model"] = json!("other"));
    for (other, part) in
        [("events", "workload.events is 2000 and 9 (q5)"), ("answer", "answer is 1 00000000000000aa and 1")]
    {
        let ran = bank.place.run(&["compare", "base", other]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.stderr.contains(part) && ran.stderr.contains("--force"), "{ran:?}");
        let forced = bank.place.run(&["compare", "base", other, "--force"]);
        assert!(row(forced.data(), "q5").contains(&"same"), "{forced:?}");
    }
    let ran = bank.place.run(&["compare", "base", "machine"]);
    let differs = ran.data().find("environment.cpu_model").unwrap();
    assert!(differs < ran.stdout.find("throughput, events/s").unwrap(), "differences come first");
}

#[test]
fn a_side_that_does_not_run_any_more_fails() {
    let bank = Bank::new();
    bank.five("old", "q5", 1e6);
    bank.five("new", "q5", 1e6);
    bank.add("new-bad", "new", "q5", 1e6, |result| {
        result["state"] = json!("failed");
        result["message"] = json!("out of slots");
    });
    let ran = bank.place.run(&["compare", "old", "new"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("new: failed: out of slots (1 of 6)"), "{ran:?}");
    assert!(ran.stderr.contains("passed on old, and not always on new: q5"), "{ran:?}");
    bank.place.run(&["compare", "new", "old"]).data();
}

#[test]
fn history_marks_a_change_and_skips_what_is_no_result() {
    let bank = Bank::new();
    for day in 1..=8 {
        for number in 0..3 {
            let rate = if day < 5 { 1e6 } else { 8e5 } + f64::from(number) * 1e3;
            bank.add(&format!("d{day}-{number}"), "main", "q5", rate, |result| {
                result["started_at"] = json!(format!("2026-05-0{day}T10:00:0{number}.000Z"));
            });
        }
    }
    bank.place.write("results/bad.json", b"{");
    bank.place.write("results/foreign.json", b"[]");
    // What the first version wrote lacked much of what is written now.
    let mut old = bank.template.clone();
    for field in ["notes", "deviations", "samples", "extras", "label", "command"] {
        old.as_object_mut().unwrap().remove(field);
    }
    bank.place.write("results/old.json", old.to_string().as_bytes());
    let ran = bank.place.run(&["history", "q5", "--label", "main"]);
    let changed: Vec<&str> = ran.data().lines().filter(|line| line.contains("new level, 0.80")).collect();
    assert!(changed.len() == 1 && changed[0].starts_with("2026-05-05"), "{ran:?}");
    assert!(changed[0].contains("worse"), "{ran:?}");
    for part in ["skipped: cannot read result results/bad.json", "foreign.json: not a result"] {
        assert!(ran.stderr.contains(part), "{ran:?}");
    }
    assert!(bank.place.run(&["history", "q0"]).data().contains("q0, throughput"), "the older file is read");
    let document: Value =
        serde_json::from_str(bank.place.run(&["history", "q5", "--format", "json"]).data()).unwrap();
    assert_eq!(document["series"][0]["points"].as_array().unwrap().len(), 8);
    bank.place.run(&["history", "--format", "html", "-o", "history.html"]).data();
    let page = fs::read_to_string(bank.place.path("history.html")).unwrap();
    assert!(page.contains("data-chart=\"history\"") && page.contains("new level, 0.80"), "no history");
    let ran = bank.place.run(&["history", "q7"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("no passed run of these queries"), "{ran:?}");
}

#[test]
fn sides_are_run_in_turn_and_compared() {
    let place = Place::new();
    let arguments = [
        "bench",
        "q0,q2",
        "--events",
        "20k",
        "--repeat",
        "3",
        "--repeat-max",
        "3",
        "--side",
        "A=native",
        "--side",
        "B=native,label=two,engine.native.block.events=100",
        "--fail-above",
        "1000%",
    ];
    let ran = place.run(&arguments);
    ran.data();
    let order: Vec<String> = ran
        .stderr
        .lines()
        .filter(|line| line.starts_with('['))
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(order.len(), 12, "{ran:?}");
    for (line, expected) in
        order.iter().zip(["[ 1/12] q0 A", "[ 2/12] q0 B", "[ 3/12] q2 A", "[ 4/12] q2 B", "[ 5/12] q0 A"])
    {
        let line = line.replace("[ ", "[");
        assert!(line.starts_with(&expected.replace("[ ", "[")), "{order:?}");
    }
    assert!(row(&ran.stdout, "q0").contains(&"3+3"), "{ran:?}");
    assert!(
        ran.stdout.contains("engine.config.block.events") || ran.stdout.contains("engine.config."),
        "{ran:?}"
    );
    assert_eq!(names(&place.path("results")).len(), 12);
    let shown = place.run(&["compare", "A", "two", "--fail-above", "1000%"]);
    assert!(row(shown.data(), "q2").contains(&"3+3"), "{shown:?}");
}

#[test]
fn another_build_runs_as_a_program_of_its_own() {
    let place = Place::new();
    let other = place.path("other-nexmark");
    fs::copy(env!("CARGO_BIN_EXE_nexmark"), &other).unwrap();
    let side = format!("B=native,binary={}", other.display());
    let arguments =
        ["bench", "q0", "--events", "20k", "--repeat", "3", "--repeat-max", "3", "--fail-above", "1000%"];
    let ran =
        place.run(&[&arguments[..], &["--side", "A=native", "--side", &side, "--format", "json"]].concat());
    let document: Value = serde_json::from_str(ran.data()).unwrap();
    assert_eq!(document["queries"][0]["base_passed"], 3);
    let files = names(&place.path("results"));
    assert_eq!(files.len(), 6);
    let commands: Vec<String> = files
        .iter()
        .map(|file| {
            let result: Value =
                serde_json::from_slice(&fs::read(place.path("results").join(file)).unwrap()).unwrap();
            format!("{} {}", result["label"].as_str().unwrap(), result["command"].as_str().unwrap())
        })
        .collect();
    let by = |label: &str, part: &str| {
        commands.iter().filter(|command| command.starts_with(label) && command.contains(part)).count()
    };
    assert_eq!((by("A", "--label A"), by("B", "other-nexmark run q0")), (3, 3), "{commands:?}");
    assert_eq!(by("A", "other-nexmark"), 0);
}

#[test]
fn a_build_that_gives_no_result_is_told() {
    let place = Place::new();
    place.write("broken", b"#!/bin/sh\necho 'no such engine today' >&2\nexit 3\n");
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(place.path("broken"), fs::Permissions::from_mode(0o755)).unwrap();
    let side = format!("B=native,binary={}", place.path("broken").display());
    let ran =
        place.run(&["bench", "q0", "--events", "1k", "--repeat", "3", "--side", "A=native", "--side", &side]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("broken gave no result: no such engine today"), "{ran:?}");
    assert!(ran.stderr.contains("no query in common that passed on both"), "{ran:?}");
}

#[test]
fn reports_name_their_sides() {
    let bank = Bank::new();
    bank.five("old", "q5", 1e6);
    bank.five("new", "q5", 1.2e6);
    let ran = bank.place.run(&["report", "old", "new", "--baseline", "new", "-o", "out.html"]);
    ran.data();
    let page = fs::read_to_string(bank.place.path("out.html")).unwrap();
    assert!(page.contains("Relative to new") && page.contains("old has 0.833 times"), "no such side");
    bank.place.run(&["report", "results", "--vendor", "-o", "vendor.html"]).data();
    let page = fs::read_to_string(bank.place.path("vendor.html")).unwrap();
    assert!(page.contains("How to repeat it") && page.contains("sink"), "no vendor report");
    let ran = bank.place.run(&["report", "old", "new", "--baseline", "nww"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("did you mean \"new\"?"), "{ran:?}");
}

/// As many files as a long history has, on a small scale; the benchmark `compare` of the driver has the large one.
#[test]
fn hundreds_of_files_with_many_samples_are_compared_quickly() {
    let bank = Bank::new();
    let samples: Vec<Value> = (0..1000).map(sample).collect();
    for number in 0..200 {
        let (label, query) = (["old", "new"][number % 2], ["q0", "q5"][number / 2 % 2]);
        bank.add(&format!("r{number}"), label, query, 1e6 + number as f64, |result| {
            result["samples"] = json!(samples)
        });
    }
    let begin = Instant::now();
    let ran = bank.place.run(&["compare", "old", "new"]);
    assert!(row(ran.data(), "q5").contains(&"50+50"), "{ran:?}");
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    assert!(Path::new(&bank.place.path("results")).is_dir());
}
