//! Oracle of q10: every bid with the day and minute of its partition.

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::{bids, day, minute, text};

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], texts: &Texts) -> Vec<Row> {
    bids(events)
        .map(|bid| {
            vec![
                Value::Integer(bid.auction),
                Value::Integer(bid.bidder),
                Value::Integer(bid.price),
                Value::Time(bid.date_time),
                text(texts.get(bid.extra)),
                text(day(bid.date_time)),
                text(minute(bid.date_time)),
            ]
        })
        .collect()
}
