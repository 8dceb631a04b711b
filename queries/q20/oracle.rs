//! Oracle of q20: every bid with every auction of its id that is of category 10.

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::{auctions, bids, by_key, text};

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], texts: &Texts) -> Vec<Row> {
    let auctions = by_key(auctions(events).filter(|auction| auction.category == 10), |auction| auction.id);
    let mut rows = Vec::new();
    for bid in bids(events) {
        for auction in auctions.get(&bid.auction).into_iter().flatten() {
            rows.push(vec![
                Value::Integer(bid.auction),
                Value::Integer(bid.bidder),
                Value::Integer(bid.price),
                text(texts.channel(bid.channel)),
                text(texts.url(bid.url)),
                Value::Time(bid.date_time),
                text(texts.get(bid.extra)),
                text(texts.get(auction.item_name)),
                text(texts.get(auction.description)),
                Value::Integer(auction.initial_bid),
                Value::Integer(auction.reserve),
                Value::Time(auction.date_time),
                Value::Time(auction.expires),
                Value::Integer(auction.seller),
                Value::Integer(auction.category),
                text(texts.get(auction.extra)),
            ]);
        }
    }
    rows
}
