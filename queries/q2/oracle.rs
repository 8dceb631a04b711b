//! Oracle of q2: a filter.

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::bids;

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], _texts: &Texts) -> Vec<Row> {
    bids(events)
        .filter(|bid| bid.auction % 123 == 0)
        .map(|bid| vec![Value::Integer(bid.auction), Value::Integer(bid.price)])
        .collect()
}
