//! `generate`: the golden events, any part of the stream, and CSV.

use std::fs;

use crate::program::{Place, golden, names};

/// Options of `events-b.ndjson`.
const B: &[&str] = &[
    "seed=7",
    "event.rate=3",
    "out-of-order.group-size=1000",
    "person.proportion=2",
    "auction.proportion=5",
    "bid.proportion=13",
    "person.avg-size=20",
    "auction.avg-size=2000",
    "bid.avg-size=32",
];

fn generate(more: &[&str], sets: &[&str]) -> String {
    let mut arguments = vec!["generate"];
    arguments.extend(sets.iter().flat_map(|set| ["--set", set]));
    arguments.extend(more);
    Place::new().run(&arguments).data().to_owned()
}

#[test]
fn generated_events_are_the_golden_ones() {
    let a = generate(&["--events", "200"], &[]);
    assert!(a == fs::read_to_string(golden("events-a.ndjson")).unwrap());
    let b = generate(&["--events", "200", "--from", "1_000_000_000_000"], B);
    assert!(b == fs::read_to_string(golden("events-b.ndjson")).unwrap());
}

#[test]
fn parts_of_the_stream_make_the_whole() {
    let whole = generate(&["--events", "3k"], B);
    let parts = [("0", "1"), ("1", "1999"), ("2000", "1000")];
    let joined: String =
        parts.iter().map(|(from, events)| generate(&["--from", from, "--events", events], B)).collect();
    assert!(whole == joined);
}

#[test]
fn csv_has_a_file_for_each_kind_of_event() {
    let place = Place::new();
    let ran = place.run(&["generate", "--events", "1000", "--format", "csv", "--out", "events"]);
    assert_eq!(ran.data(), "");
    let directory = place.path("events");
    assert_eq!(names(&directory), ["auction.csv", "bid.csv", "person.csv"]);
    for (name, rows, header) in [
        ("person.csv", 20, "id,name,emailAddress,creditCard,city,state,dateTime,extra"),
        ("bid.csv", 920, "auction,bidder,price,channel,url,dateTime,extra"),
    ] {
        let text = fs::read_to_string(directory.join(name)).unwrap();
        assert_eq!(text.lines().next(), Some(header));
        assert_eq!(text.lines().count(), 1 + rows, "{name}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let place = Place::new();
    let mut command = place.command(&["generate", "--events", "1M"]);
    let mut child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
