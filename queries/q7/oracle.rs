//! Oracle of q7: the maximum of every window, then the bids that equal it.

use std::collections::BTreeMap;

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::{bids, text, window_start};

const SIZE_MS: i128 = 10_000;

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], texts: &Texts) -> Vec<Row> {
    let mut highest: BTreeMap<i128, i64> = BTreeMap::new();
    for bid in bids(events) {
        let price = highest.entry(window_start(bid.date_time, SIZE_MS)).or_insert(bid.price);
        *price = bid.price.max(*price);
    }
    bids(events)
        .filter(|bid| highest[&window_start(bid.date_time, SIZE_MS)] == bid.price)
        .map(|bid| {
            vec![
                Value::Integer(bid.auction),
                Value::Integer(bid.bidder),
                Value::Integer(bid.price),
                Value::Time(bid.date_time),
                text(texts.get(bid.extra)),
            ]
        })
        .collect()
}
