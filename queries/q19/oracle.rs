//! Oracle of q19: the prices of each auction, sorted, the first ten numbered.

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::{bids, by_key};

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], _texts: &Texts) -> Vec<Row> {
    let mut rows = Vec::new();
    for (auction, bids) in by_key(bids(events), |bid| bid.auction) {
        let mut prices: Vec<i64> = bids.iter().map(|bid| bid.price).collect();
        prices.sort_unstable_by(|a, b| b.cmp(a));
        for (rank, price) in (1..=10).zip(prices) {
            rows.push(vec![Value::Integer(auction), Value::Integer(price), Value::Integer(rank)]);
        }
    }
    rows
}
