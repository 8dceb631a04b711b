//! The answers that the recorded sinks of a real server hold.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use nexmark_driver::engine::Output;
use nexmark_queries::answer::{Digest, Row, Value};
use nexmark_queries::{ALL, Query, find};
use serde::Deserialize;

use super::Answer;
use crate::recording::{self, Recording};
use crate::script::{Kind, Script};

#[derive(Deserialize)]
struct Golden {
    answers: HashMap<String, GoldenAnswer>,
}

#[derive(Deserialize)]
struct GoldenAnswer {
    rows: i64,
    digest: String,
}

fn golden(query: &Query) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/answers-k.json");
    let golden: Golden = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let answer = &golden.answers[query.name];
    format!("{} {}", answer.rows, answer.digest)
}

fn sink(query: &Query) -> Kind {
    Script::new(query, "r_", 4000).sink().unwrap().kind
}

/// Takes the records of a recording.
fn answer(query: &'static Query, output: Output) -> Result<(Digest, Vec<Row>), String> {
    let mut answer = Answer::new(query, sink(query), recording::time_max(), output);
    for (key, value) in Recording::read(query.name).records() {
        answer.take(key.as_deref(), value.as_deref())?;
    }
    answer.finish()
}

#[test]
fn recorded_sinks_hold_the_golden_answers() {
    let mut equal = 0;
    // Of q6 the sink has other rows, of q23 three columns less.
    for query in ALL.iter().filter(|query| !matches!(query.name, "q6" | "q23")) {
        let (digest, rows) = answer(query, Output::Rows).unwrap();
        assert_eq!(digest.to_string(), golden(query), "{}", query.name);
        assert_eq!(Digest::of(&rows), digest, "{}", query.name);
        let (alone, _rows) = answer(query, Output::Digest).unwrap();
        assert_eq!(alone, digest, "{}", query.name);
        equal += 1;
    }
    assert_eq!(equal, 22);
}

/// The statement as it was recorded left out the bid's auction and time and the auction's id.
#[test]
fn recorded_rows_of_q23_equal_the_oracle_in_the_columns_that_they_have() {
    const MISSING: [&str; 3] = ["AUCTION", "BID_DATE_TIME", "AUCTION_ID"];
    let query = find("q23").unwrap();
    let mut found = Answer::new(query, sink(query), recording::time_max(), Output::Rows);
    for (key, value) in Recording::read(query.name).records() {
        let value = String::from_utf8(value.unwrap()).unwrap();
        let missing: String = MISSING.iter().map(|name| format!("\"{name}\":0,")).collect();
        found.take(key.as_deref(), Some(value.replacen('{', &format!("{{{missing}"), 1).as_bytes())).unwrap();
    }
    let (_digest, mut found) = found.finish().unwrap();
    let (events, generator) = recording::events();
    let mut expected = (query.oracle)(&events, generator.texts());
    let zeros = ["auction", "bid_dateTime", "auction_id"];
    for (at, column) in query.columns.iter().enumerate().filter(|(_, column)| zeros.contains(&column.name)) {
        for row in &mut expected {
            row[at] = if column.name == "bid_dateTime" { Value::Time(0) } else { Value::Integer(0) };
        }
    }
    found.sort();
    expected.sort();
    assert_eq!(found.len(), 12_199);
    assert!(found == expected);
}

/// The sink has one row for each seller, whose last ten auctions are in another order.
#[test]
fn recorded_rows_of_q6_are_near_the_last_row_of_each_seller() {
    let query = find("q6").unwrap();
    let (_digest, found) = answer(query, Output::Rows).unwrap();
    let (events, generator) = recording::events();
    let closing: HashMap<i64, i64> = events
        .iter()
        .filter_map(|event| match event {
            nexmark_queries::event::Event::Auction(auction) => Some((auction.id, auction.expires)),
            _ => None,
        })
        .collect();
    let integer = |row: &Row, at: usize| match row[at] {
        Value::Integer(value) => value,
        _ => panic!("{row:?}"),
    };
    let mut last = BTreeMap::<i64, (i64, i64, i64)>::new();
    for row in (query.oracle)(&events, generator.texts()) {
        let (seller, auction) = (integer(&row, 0), integer(&row, 1));
        let next = (closing[&auction], auction, integer(&row, 2));
        let kept = last.entry(seller).or_insert(next);
        *kept = next.max(*kept);
    }
    let found: BTreeMap<i64, i64> = found.iter().map(|row| (integer(row, 0), integer(row, 2))).collect();
    assert_eq!(found.keys().collect::<Vec<_>>(), last.keys().collect::<Vec<_>>());
    let equal = last.iter().filter(|(seller, (_, _, average))| found[seller] == *average).count();
    // A seller with more than ten auctions has others among the last ten.
    assert_eq!((equal, last.len()), (49, 51));
}

#[test]
fn a_tombstone_takes_a_row_back_and_a_stream_has_none() {
    let query = find("q15").unwrap();
    let mut table = Answer::new(query, Kind::Table, i64::MAX, Output::Rows);
    table.take(Some(b"2026-11-29"), Some(b"{}")).unwrap();
    table.take(Some(b"2026-11-29"), None).unwrap();
    assert_eq!(table.finish().unwrap().0, Digest::default());
    let mut stream = Answer::new(find("q0").unwrap(), Kind::Stream, i64::MAX, Output::Count);
    assert!(stream.take(Some(&[0; 8]), None).unwrap_err().contains("without a value"));
}

#[test]
fn a_record_of_another_shape_is_named() {
    let query = find("q2").unwrap();
    for (key, value, problem) in [
        (&[0; 8][..], "{\"AMOUNT\":1}", "no field PRICE"),
        (&[0; 8], "{\"PRICE\":\"x\"}", "field PRICE is \"x\", expected a number"),
        (&[0; 8], "[1]", "the value is no object"),
        (&[0; 3], "{\"PRICE\":1}", "the key has 3 bytes"),
    ] {
        let mut answer = Answer::new(query, Kind::Stream, i64::MAX, Output::Count);
        let error = answer.take(Some(key), Some(value.as_bytes())).unwrap_err();
        assert!(error.contains(problem) && error.contains(value), "{error}");
    }
}
