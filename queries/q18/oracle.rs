//! Oracle of q18: the latest time of each bidder and auction.

use std::collections::BTreeMap;

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::bids;

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], _texts: &Texts) -> Vec<Row> {
    let mut latest: BTreeMap<(i64, i64), i64> = BTreeMap::new();
    for bid in bids(events) {
        let time = latest.entry((bid.bidder, bid.auction)).or_insert(bid.date_time);
        *time = bid.date_time.max(*time);
    }
    latest
        .into_iter()
        .map(|((bidder, auction), time)| {
            vec![Value::Integer(auction), Value::Integer(bidder), Value::Time(time)]
        })
        .collect()
}
