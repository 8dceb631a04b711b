//! How much state each query may have, and whether its gauge tells it.

use std::ops::RangeInclusive;

use nexmark_queries::generator::Options;
use nexmark_queries::{ALL, find};

use crate::heap::{Reading, readings};
use crate::kept::kept;

const STEP: u64 = 20_000;
/// More than two doublings of a hash table after [`ENOUGH`], so that readings fall on all its degrees of filling.
const STEPS: u64 = 75;
/// From here on the one chunk that a list may have to spare counts for little.
const ENOUGH: u64 = 200_000;
/// A chunk of a list, of which one may be nearly empty.
const CHUNK: u64 = 1 << 18;
/// Rows on their way and what batches are gathered in, for blocks as small as those of these tests.
const WORKING: u64 = 192 * 1024;

/// 20 000 events are a second: much more than the windows of every query pass.
fn options() -> Options {
    Options { event_rate: 20_000, ..Options::default() }
}

fn read(query: &str, step: u64, steps: u64) -> Vec<Reading> {
    readings(find(query).expect("a query"), &options(), step, steps)
}

#[test]
fn what_is_kept_for_good_takes_at_most_half_as_much_again_as_it_must() {
    let queries = ["q15", "q16", "q17", "q18", "q19", "q20", "q23"];
    let kept = kept(&queries, &options(), STEP, STEPS);
    for query in queries {
        let readings = read(query, STEP, STEPS);
        // Rows of q18 are hardly larger than their places in a table that has just grown.
        let (enough, heap_max) = if query == "q18" { (3 * ENOUGH / 2, 5.0 / 3.0) } else { (ENOUGH, 1.5) };
        for (reading, kept) in
            readings.iter().zip(&kept[query]).filter(|(reading, _)| reading.events >= enough)
        {
            // The heap at its highest has a table twice while it grows, and all rows on their way.
            let allowed = (*kept as f64 * 1.5, *kept as f64 * heap_max);
            assert!(
                reading.gauge as f64 <= allowed.0 && reading.heap_max as f64 <= allowed.1,
                "{query}: {kept} bytes, {reading:?}"
            );
        }
    }
}

#[test]
fn rows_that_can_never_be_forgotten_are_small() {
    let (step, steps) = (10 * STEP, 15);
    let kept = kept(&["q3", "q6"], &options(), step, steps);
    let (q3, q6, bounded) = (read("q3", step, steps), read("q6", step, steps), read("q4", step, steps));
    for (at, reading) in q3.iter().enumerate() {
        let (bytes, allowed) = (reading.gauge, 2 * kept["q3"][at] + 2 * CHUNK);
        assert!(bytes <= allowed, "q3: {bytes} bytes, at most {allowed}");
        // q4 has the same auctions open and the same bids waiting, and beside them next to nothing. Most sellers sell once,
        // so that a list's head outweighs its prices.
        let (bytes, allowed) = (q6[at].gauge - bounded[at].gauge, 3 * kept["q6"][at] + 2 * CHUNK);
        assert!(bytes <= allowed, "q6: {bytes} bytes, at most {allowed}");
    }
}

#[test]
fn state_that_the_watermark_bounds_is_flat() {
    let highest = |readings: &[Reading], events: RangeInclusive<u64>| {
        let within = readings.iter().filter(|reading| events.contains(&reading.events));
        within.map(|reading| reading.gauge).max().expect("a reading")
    };
    for query in ["q4", "q5", "q7", "q8", "q9", "q11"] {
        let readings = read(query, STEP, 250);
        let (first, last) = (highest(&readings, 1..=500_000), highest(&readings, 4_500_000..=5_000_000));
        // A table that is full of removed keys may double once; in proportion to the stream it would be ten times.
        let allowed = if query == "q11" { 2 * first } else { first + first / 50 };
        assert!(last <= allowed, "{query}: {first} bytes, then {last}");
    }
}

#[test]
fn every_gauge_tells_what_is_on_the_heap() {
    for query in ALL {
        let stateless = ["q0", "q1", "q2", "q14", "q21", "q22"].contains(&query.name);
        for reading in readings(query, &options(), 2 * STEP, STEPS / 2) {
            assert_eq!(reading.gauge == 0, stateless, "{}: {reading:?}", query.name);
            let told = reading.gauge..=reading.gauge + WORKING;
            assert!(told.contains(&reading.heap), "{}: {reading:?}", query.name);
        }
    }
}
