//! Oracle of q4: the winning prices by category, averaged.

use std::collections::BTreeMap;

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::{average, won};

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], _texts: &Texts) -> Vec<Row> {
    let mut prices: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for won in won(events) {
        prices.entry(won.auction.category).or_default().push(won.bid.price);
    }
    prices.iter().map(|(category, prices)| vec![Value::Integer(*category), average(prices)]).collect()
}
