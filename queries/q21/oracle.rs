//! Oracle of q21: the definition's case distinction and its regular expression.

use regex::Regex;

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::{bids, text};

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], texts: &Texts) -> Vec<Row> {
    let parameter = Regex::new("(&|^)channel_id=([^&]*)").expect("the pattern is valid");
    let mut rows = Vec::new();
    for bid in bids(events) {
        let channel = texts.channel(bid.channel);
        let known = match channel.to_lowercase().as_str() {
            "apple" => Some("0"),
            "google" => Some("1"),
            "facebook" => Some("2"),
            "baidu" => Some("3"),
            _ => None,
        };
        let in_url = || parameter.captures(texts.url(bid.url)).and_then(|found| found.get(2));
        if let Some(channel_id) = known.or_else(|| in_url().map(|found| found.as_str())) {
            rows.push(vec![
                Value::Integer(bid.auction),
                Value::Integer(bid.bidder),
                Value::Integer(bid.price),
                text(channel),
                text(channel_id),
            ]);
        }
    }
    rows
}
