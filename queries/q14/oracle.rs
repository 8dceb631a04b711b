//! Oracle of q14: prices are compared as whole thousandths.

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::{bids, hour, integer, text};

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], texts: &Texts) -> Vec<Row> {
    let mut rows = Vec::new();
    for bid in bids(events) {
        let price = i128::from(bid.price) * 908;
        if price <= 1_000_000_000 || price >= 50_000_000_000 {
            continue;
        }
        let hour = hour(bid.date_time);
        let bid_time_type = if (8..=18).contains(&hour) {
            "dayTime"
        } else if hour <= 6 || hour >= 20 {
            "nightTime"
        } else {
            "otherTime"
        };
        let extra = texts.get(bid.extra);
        rows.push(vec![
            Value::Integer(bid.auction),
            Value::Integer(bid.bidder),
            Value::Decimal(price),
            text(bid_time_type),
            Value::Time(bid.date_time),
            text(extra),
            integer(extra.chars().filter(|character| *character == 'c').count() as i128),
        ]);
    }
    rows
}
