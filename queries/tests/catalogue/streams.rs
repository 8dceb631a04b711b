//! Streams for the tests: random options of the generator, and events made by hand.

use nexmark_queries::answer::{CanonicalText, Row, replay};
use nexmark_queries::event::{Event, Texts};
use nexmark_queries::generator::Options;
use nexmark_queries::ndjson::{Recorder, Recording};
use nexmark_queries::{find, ndjson};
use proptest::prelude::*;
use proptest::sample::select;

use crate::answers::rows;

/// Options all over their ranges. Sizes touch the edges where `extra` is empty, one byte and cut off.
pub(crate) fn options() -> impl Strategy<Value = Options> {
    let sizes = || select(vec![0, 8, 31, 32, 33, 34, 35, 80, 100, 200, 500, 5_000, 500_000]);
    let ratio = || prop_oneof![Just(1u64), Just(2), 1..1000u64, Just(1_000_000)];
    let proportions = prop_oneof![
        Just((1u64, 3u64, 46u64)),
        (1..200u64, 1..5u64, 0..100u64),
        (1..5u64, 1..200u64, 0..5u64),
        (1..5u64, 1..5u64, 0..1000u64),
    ];
    let times = (
        any::<u64>(),
        0..1u64 << 42,
        prop_oneof![Just(1u64), 1..1000u64, 1..1_000_000_000u64, Just(1_000_000_000)],
        select(vec![1u64, 1, 2, 7, 100, 954, 1000, 2000]),
    );
    let population = (ratio(), ratio(), ratio(), 1..10_000u64, 1..10_000u64);
    (times, proportions, (sizes(), sizes(), sizes()), population)
        .prop_map(|(times, proportions, sizes, population)| Options {
            seed: times.0,
            base_time: times.1,
            event_rate: times.2,
            out_of_order_group_size: times.3,
            person_proportion: proportions.0,
            auction_proportion: proportions.1,
            bid_proportion: proportions.2,
            person_avg_size: sizes.0,
            auction_avg_size: sizes.1,
            bid_avg_size: sizes.2,
            bid_hot_ratio_auctions: population.0,
            bid_hot_ratio_bidders: population.1,
            auction_hot_ratio_sellers: population.2,
            auctions_in_flight: population.3,
            people_active: population.4,
        })
        .prop_filter("auctions would be open too long", |options| options.check().is_ok())
}

/// A place to begin: near the start, or far.
pub(crate) fn position() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0u64), 0..5_000u64, 0..10_000_000_000_000u64]
}

/// Events as lines of JSON.
pub(crate) fn lines(events: &[Event], texts: &Texts) -> Vec<String> {
    events
        .iter()
        .map(|event| {
            let mut line = String::new();
            ndjson::write(event, texts, &mut line);
            line
        })
        .collect()
}

/// Reads lines that are all good.
pub(crate) fn record<T: AsRef<str>>(lines: &[T]) -> Recording {
    let mut recorder = Recorder::new();
    for (number, line) in (1..).zip(lines) {
        recorder.push_line(number, line.as_ref()).unwrap_or_else(|error| panic!("{error}"));
    }
    recorder.finish()
}

/// A person's line.
pub(crate) fn person(id: i64, name: &str, state: &str, date_time: i64) -> String {
    format!(
        r#"{{"person":{{"id":{id},"name":"{name}","emailAddress":"e","creditCard":"c","city":"Bend","state":"{state}","dateTime":{date_time},"extra":""}}}}"#
    )
}

/// An auction's line.
pub(crate) fn auction(id: i64, seller: i64, category: i64, open: (i64, i64)) -> String {
    let (date_time, expires) = open;
    format!(
        r#"{{"auction":{{"id":{id},"itemName":"i","description":"d","initialBid":1,"reserve":2,"dateTime":{date_time},"expires":{expires},"seller":{seller},"category":{category},"extra":""}}}}"#
    )
}

/// A bid's line.
pub(crate) fn bid(auction: i64, bidder: i64, price: i64, date_time: i64) -> String {
    bid_through("Google", "u", auction, bidder, price, date_time)
}

/// The line of a bid that came through a channel.
pub(crate) fn bid_through(
    channel: &str,
    url: &str,
    auction: i64,
    bidder: i64,
    price: i64,
    date_time: i64,
) -> String {
    format!(
        r#"{{"bid":{{"auction":{auction},"bidder":{bidder},"price":{price},"channel":"{channel}","url":"{url}","dateTime":{date_time},"extra":"xc"}}}}"#
    )
}

/// The answer to a query, sorted, its columns joined by bars.
pub(crate) fn answer(query: &str, recording: &Recording) -> Vec<String> {
    let query = find(query).expect("a query's name");
    let mut lines: Vec<String> = rows(query, &recording.events, &recording.texts).iter().map(show).collect();
    lines.sort_unstable();
    lines
}

fn show(row: &Row) -> String {
    let mut text = CanonicalText::default();
    replay(row, &mut text);
    text.as_str().replace('\x1f', "|")
}
