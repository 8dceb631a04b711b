//! Oracle of q17: the bids of each auction and day, counted and summed.

use std::collections::BTreeMap;

use crate::answer::{Row, Value};
use crate::event::{Bid, Event, Texts};
use crate::oracle::{average, bid_counts, bids, day, integer, text};

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], _texts: &Texts) -> Vec<Row> {
    let mut groups: BTreeMap<(i64, String), Vec<&Bid>> = BTreeMap::new();
    for bid in bids(events) {
        groups.entry((bid.auction, day(bid.date_time))).or_default().push(bid);
    }
    groups
        .into_iter()
        .map(|((auction, day), bids)| {
            let mut prices: Vec<i64> = bids.iter().map(|bid| bid.price).collect();
            prices.sort_unstable();
            let mut row = vec![Value::Integer(auction), text(day)];
            row.extend(bid_counts(&bids));
            row.push(Value::Integer(prices[0]));
            row.push(Value::Integer(prices[prices.len() - 1]));
            row.push(average(&prices));
            row.push(integer(prices.iter().map(|price| i128::from(*price)).sum()));
            row
        })
        .collect()
}
