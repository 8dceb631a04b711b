//! Oracle of q23: every bid with every person of its bidder's id and every auction that this id sells.

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::{auctions, bids, by_key, persons, text};

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], texts: &Texts) -> Vec<Row> {
    let persons = by_key(persons(events), |person| person.id);
    let auctions = by_key(auctions(events), |auction| auction.seller);
    let mut rows = Vec::new();
    for bid in bids(events) {
        for person in persons.get(&bid.bidder).into_iter().flatten() {
            for auction in auctions.get(&bid.bidder).into_iter().flatten() {
                rows.push(vec![
                    Value::Integer(bid.auction),
                    Value::Integer(bid.bidder),
                    Value::Integer(bid.price),
                    text(texts.channel(bid.channel)),
                    text(texts.url(bid.url)),
                    Value::Time(bid.date_time),
                    text(texts.get(bid.extra)),
                    text(texts.get(person.name)),
                    text(person.email_address.get(texts)),
                    text(person.credit_card.get(texts)),
                    text(texts.get(person.city)),
                    text(texts.get(person.state)),
                    text(texts.get(person.extra)),
                    Value::Integer(auction.id),
                    text(texts.get(auction.item_name)),
                    text(texts.get(auction.description)),
                    Value::Integer(auction.initial_bid),
                    Value::Integer(auction.reserve),
                    Value::Time(auction.date_time),
                    Value::Time(auction.expires),
                    Value::Integer(auction.category),
                    text(texts.get(auction.extra)),
                ]);
            }
        }
    }
    rows
}
