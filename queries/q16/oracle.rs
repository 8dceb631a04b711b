//! Oracle of q16: the bids of each channel and day, counted.

use std::collections::BTreeMap;

use crate::answer::Row;
use crate::event::{Bid, Event, Texts};
use crate::oracle::{bids, day, minute, statistics, text};

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], texts: &Texts) -> Vec<Row> {
    let mut groups: BTreeMap<(&str, String), Vec<&Bid>> = BTreeMap::new();
    for bid in bids(events) {
        groups.entry((texts.channel(bid.channel), day(bid.date_time))).or_default().push(bid);
    }
    groups
        .into_iter()
        .map(|((channel, day), bids)| {
            let latest = bids.iter().map(|bid| minute(bid.date_time)).max().unwrap_or_default();
            let mut row = vec![text(channel), text(day), text(latest)];
            row.extend(statistics(&bids));
            row
        })
        .collect()
}
