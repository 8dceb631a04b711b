//! Oracle of q6: the won auctions of each seller in the order of (expires, id), averaged over the last ten.

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::{average, by_key, won};

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], _texts: &Texts) -> Vec<Row> {
    let sellers = by_key(won(events).into_iter(), |won| won.auction.seller);
    let mut rows = Vec::new();
    for (seller, mut won) in sellers {
        // The price decides only where a recorded stream gives an id twice.
        won.sort_by_key(|won| (won.auction.expires, won.auction.id, won.bid.price));
        for last in 0..won.len() {
            let first = (last + 1).saturating_sub(10);
            let prices: Vec<i64> = won[first..=last].iter().map(|won| won.bid.price).collect();
            rows.push(vec![Value::Integer(seller), Value::Integer(won[last].auction.id), average(&prices)]);
        }
    }
    rows
}
