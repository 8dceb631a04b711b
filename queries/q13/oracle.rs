//! Oracle of q13: the side table as a map. A negative auction has a negative remainder, as in SQL, and so no key there.

use std::collections::HashMap;

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::{bids, text};

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], _texts: &Texts) -> Vec<Row> {
    let side: HashMap<i64, String> = (0..10_000).map(|key: i64| (key, key.to_string())).collect();
    bids(events)
        .filter_map(|bid| {
            let value = side.get(&(bid.auction % 10_000))?;
            Some(vec![
                Value::Integer(bid.auction),
                Value::Integer(bid.bidder),
                Value::Integer(bid.price),
                Value::Time(bid.date_time),
                text(value.as_str()),
            ])
        })
        .collect()
}
