//! Oracle of q9: the won auctions.

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::won;

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], _texts: &Texts) -> Vec<Row> {
    won(events)
        .iter()
        .map(|won| {
            vec![
                Value::Integer(won.auction.id),
                Value::Integer(won.bid.price),
                Value::Time(won.bid.date_time),
            ]
        })
        .collect()
}
