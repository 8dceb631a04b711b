//! Rows that come after the watermark: counted, left out of the answer, and none with the default delay.

use nexmark_driver::engine::{Job, JobState};
use nexmark_queries::answer::{Digest, Row, Value};
use nexmark_queries::event::Event;
use nexmark_queries::find;
use nexmark_queries::generator::Options;

use crate::harness::{events, generated, run};

const EVENTS: u64 = 20_000;

/// Events that are up to 20 s out of order, longer than any window.
fn disordered() -> Options {
    Options {
        event_rate: 200,
        out_of_order_group_size: 4001,
        auctions_in_flight: 20,
        bid_proportion: 20,
        ..Options::default()
    }
}

#[test]
fn without_delay_rows_are_late_and_left_out() {
    let options = disordered();
    let (events, texts) = events(&options, EVENTS);
    for query in ["q4", "q5", "q6", "q7", "q8", "q9", "q11"].map(|name| find(name).expect("a query")) {
        let expected = Digest::of(&(query.oracle)(&events, &texts));
        for workers in [1, 2] {
            let job = Job { watermark_delay_ms: 0, ..generated(query, &options, EVENTS, workers) };
            let ended = run(&job, 100).progress;
            assert_eq!((ended.state, ended.events_in), (JobState::Finished, Some(EVENTS)), "{}", query.name);
            assert!(ended.late_rows > Some(0), "{} with {workers} workers has late rows", query.name);
            assert_ne!(ended.answer, Some(expected), "{} with {workers} workers", query.name);
            let enough = Job { watermark_delay_ms: options.disorder_ms() + 1, ..job };
            let ended = run(&enough, 100).progress;
            let result = (ended.late_rows, ended.answer);
            assert_eq!(result, (Some(0), Some(expected)), "{} with {workers} workers", query.name);
        }
    }
}

#[test]
fn every_bid_is_late_or_in_a_session() {
    let options = disordered();
    let (events, _texts) = events(&options, EVENTS);
    let query = find("q11").expect("q11");
    let bids = events.iter().filter(|event| matches!(event, Event::Bid(_))).count();
    let job = Job { watermark_delay_ms: 0, ..generated(query, &options, EVENTS, 2) };
    let ended = run(&job, 100);
    let count = |row: &Row| match row[1] {
        Value::Integer(count) => count as u64,
        _ => panic!("bid_count is a number"),
    };
    let counted: u64 = ended.rows.iter().map(count).sum();
    assert_eq!(counted + ended.progress.late_rows.expect("late rows"), bids as u64);
}

#[test]
fn queries_without_windows_have_no_late_rows() {
    let options = disordered();
    for name in ["q0", "q3", "q10", "q12", "q15", "q16", "q17", "q18", "q19", "q20", "q23"] {
        let query = find(name).expect("a query");
        let events = if name == "q23" { 1000 } else { EVENTS };
        let job = Job { watermark_delay_ms: 0, ..generated(query, &options, events, 2) };
        assert_eq!(run(&job, 100).progress.late_rows, Some(0), "{name}");
    }
}
