//! Oracle of q8: the persons whose id sold something in the window in which they registered.

use std::collections::BTreeSet;

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::{auctions, persons, text, time, window_start};

const SIZE_MS: i128 = 10_000;

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], texts: &Texts) -> Vec<Row> {
    let sellers: BTreeSet<(i64, i128)> =
        auctions(events).map(|auction| (auction.seller, window_start(auction.date_time, SIZE_MS))).collect();
    // A person is (id, name): when a recorded stream gives an id to two names, both are new users.
    let new_sellers: BTreeSet<(i64, &str, i128)> = persons(events)
        .map(|person| (person.id, texts.get(person.name), window_start(person.date_time, SIZE_MS)))
        .filter(|(id, _, window)| sellers.contains(&(*id, *window)))
        .collect();
    new_sellers
        .into_iter()
        .map(|(id, name, window)| vec![Value::Integer(id), text(name), time(window)])
        .collect()
}
