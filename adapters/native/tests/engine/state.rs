//! The size of the state: flat where the watermark lets things be forgotten, in proportion to what is kept elsewhere.

use std::collections::BTreeSet;

use nexmark_driver::engine::{Job, JobState, Output};
use nexmark_queries::event::{Auction, Bid, Event, Person};
use nexmark_queries::find;
use nexmark_queries::generator::Options;

use crate::harness::{events, generated, run};

const EVENTS: u64 = 400_000;

/// 20 s of event time for [`EVENTS`], twice the longest window.
fn options() -> Options {
    Options { event_rate: 20_000, ..Options::default() }
}

fn state_bytes_max(query: &str, events: u64) -> u64 {
    let query = find(query).expect("a query");
    // Blocks of 50 ms and few of them ahead, so that a poll sees no more than a moment of the stream.
    let job = Job { output: Output::Count, ..generated(query, &options(), events, 2) };
    let ended = run(&job, 1000);
    assert_eq!(
        (ended.progress.state, ended.progress.late_rows),
        (JobState::Finished, Some(0)),
        "{}",
        query.name
    );
    assert!(ended.state_bytes_max > 0, "{} tells its state", query.name);
    ended.state_bytes_max
}

#[test]
fn state_that_the_watermark_bounds_is_flat() {
    for query in ["q4", "q5", "q8", "q9", "q11"] {
        let (short, long) = (state_bytes_max(query, EVENTS), state_bytes_max(query, 3 * EVENTS));
        // Hash tables double, and polls are taken at any moment; in proportion to the stream it would be three times.
        assert!(long * 10 < short * 22, "{query}: {short} bytes, then {long}");
    }
}

#[test]
fn q6_keeps_at_most_the_last_prices_of_each_seller() {
    let (events, _texts) = events(&options(), 3 * EVENTS);
    let sellers: BTreeSet<i64> = events
        .iter()
        .filter_map(|event| match event {
            Event::Auction(auction) => Some(auction.seller),
            _ => None,
        })
        .collect();
    // Ten prices, a list's head and its key; a hash table is at least 7/16 full.
    let of_seller = 10 * size_of::<i64>() + 48 * 16 / 7;
    let bounded = state_bytes_max("q4", EVENTS) * 2;
    let bytes = state_bytes_max("q6", 3 * EVENTS);
    let allowed = (sellers.len() * of_seller) as u64 + bounded;
    assert!(bytes < allowed, "{bytes} bytes for {} sellers, at most {allowed}", sellers.len());
}

/// Number of different values that bids have.
fn different<K: Ord>(events: &[Event], value: impl Fn(&Bid) -> K) -> u64 {
    let bids = events.iter().filter_map(|event| match event {
        Event::Bid(bid) => Some(value(bid)),
        _ => None,
    });
    bids.collect::<BTreeSet<K>>().len() as u64
}

#[test]
fn state_that_is_kept_is_compact() {
    let (events, _texts) = events(&options(), EVENTS);
    // The events are of one day.
    let pairs = different(&events, |bid| (bid.auction, bid.bidder));
    let bid_auctions = different(&events, |bid| bid.auction);
    let ids = bid_auctions + different(&events, |bid| bid.bidder);
    let channels = different(&events, |bid| bid.channel);
    let channel_ids = different(&events, |bid| (bid.channel, bid.auction))
        + different(&events, |bid| (bid.channel, bid.bidder));
    let (mut persons, mut auctions, mut bids) = (0_u64, 0_u64, 0_u64);
    for event in &events {
        match event {
            Event::Person(_) => persons += 1,
            Event::Auction(_) => auctions += 1,
            Event::Bid(_) => bids += 1,
        }
    }
    let (bid_bytes, auction_bytes) = (size_of::<Bid>() as u64, size_of::<Auction>() as u64);
    let person_bytes = size_of::<Person>() as u64;
    // Beside the rows themselves: links of a chain, numbers in a hash table that may be 7/16 full, spare of two workers.
    let hash_entry = 16 * 5 / 4;
    let cases = [
        // Bits of ids on pages of 64 ids, of which some may be used by one id only.
        ("q15", ids * 40),
        ("q16", channels * (400 + hash_entry) + channel_ids * 12),
        ("q17", bid_auctions * (72 + hash_entry)),
        ("q18", pairs * (bid_bytes + hash_entry)),
        ("q19", bids.min(bid_auctions * 10) * bid_bytes * 3 / 2 + bid_auctions * (40 + hash_entry)),
        ("q20", bids * (bid_bytes + 4) + auctions * (auction_bytes + 4) + bid_auctions * 4 * hash_entry),
        (
            "q23",
            bids * (bid_bytes + 4)
                + auctions * (auction_bytes + 4)
                + persons * (person_bytes + 4)
                + ids * 4 * hash_entry,
        ),
    ];
    for (query, allowed) in cases {
        // Every worker has a chunk in use of each list.
        let (bytes, allowed) = (state_bytes_max(query, EVENTS), allowed + 2 * 3 * (1 << 18));
        assert!(bytes <= allowed, "{query}: {bytes} bytes, allowed are {allowed}");
    }
}
