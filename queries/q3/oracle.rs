//! Oracle of q3: every auction of category 10 with every person of its seller's id.

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::{auctions, by_key, persons, text};

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], texts: &Texts) -> Vec<Row> {
    let persons = by_key(persons(events), |person| person.id);
    let mut rows = Vec::new();
    for auction in auctions(events).filter(|auction| auction.category == 10) {
        for person in persons.get(&auction.seller).into_iter().flatten() {
            if ["OR", "ID", "CA"].contains(&texts.get(person.state)) {
                rows.push(vec![
                    text(texts.get(person.name)),
                    text(texts.get(person.city)),
                    text(texts.get(person.state)),
                    Value::Integer(auction.id),
                ]);
            }
        }
    }
    rows
}
