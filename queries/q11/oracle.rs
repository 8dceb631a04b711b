//! Oracle of q11: the times of each bidder in order, cut where two are more than 10 s apart.

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::{bids, by_key, integer, time};

const GAP_MS: i128 = 10_000;

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], _texts: &Texts) -> Vec<Row> {
    let mut rows = Vec::new();
    for (bidder, bids) in by_key(bids(events), |bid| bid.bidder) {
        let mut times: Vec<i128> = bids.iter().map(|bid| i128::from(bid.date_time)).collect();
        times.sort_unstable();
        for session in times.chunk_by(|earlier, later| later - earlier <= GAP_MS) {
            let (first, last) = (session[0], session[session.len() - 1]);
            let count = integer(session.len() as i128);
            rows.push(vec![Value::Integer(bidder), count, time(first), time(last + GAP_MS)]);
        }
    }
    rows
}
