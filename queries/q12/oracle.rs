//! Oracle of q12: the number of bids of each bidder. The windows of an engine's clock differ from run to run, so an answer is their sum.

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::{bids, by_key, integer};

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], _texts: &Texts) -> Vec<Row> {
    by_key(bids(events), |bid| bid.bidder)
        .into_iter()
        .map(|(bidder, bids)| vec![Value::Integer(bidder), integer(bids.len() as i128)])
        .collect()
}
