//! Oracle of q22: the URL split at every slash.

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::{bids, text};

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], texts: &Texts) -> Vec<Row> {
    bids(events)
        .map(|bid| {
            let parts: Vec<&str> = texts.url(bid.url).split('/').collect();
            let part = |number: usize| parts.get(number).map_or(Value::Null, |part| text(*part));
            vec![
                Value::Integer(bid.auction),
                Value::Integer(bid.bidder),
                Value::Integer(bid.price),
                text(texts.channel(bid.channel)),
                part(3),
                part(4),
                part(5),
            ]
        })
        .collect()
}
