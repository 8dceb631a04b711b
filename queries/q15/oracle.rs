//! Oracle of q15: the bids of each day, counted.

use std::collections::BTreeMap;

use crate::answer::Row;
use crate::event::{Bid, Event, Texts};
use crate::oracle::{bids, day, statistics, text};

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], _texts: &Texts) -> Vec<Row> {
    let mut days: BTreeMap<String, Vec<&Bid>> = BTreeMap::new();
    for bid in bids(events) {
        days.entry(day(bid.date_time)).or_default().push(bid);
    }
    days.into_iter()
        .map(|(day, bids)| {
            let mut row = vec![text(day)];
            row.extend(statistics(&bids));
            row
        })
        .collect()
}
