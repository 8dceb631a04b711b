//! Oracle of q1: the price is multiplied as a whole number of thousandths, which is exact.

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::{bids, text};

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], texts: &Texts) -> Vec<Row> {
    bids(events)
        .map(|bid| {
            vec![
                Value::Integer(bid.auction),
                Value::Integer(bid.bidder),
                Value::Decimal(i128::from(bid.price) * 908),
                Value::Time(bid.date_time),
                text(texts.get(bid.extra)),
            ]
        })
        .collect()
}
