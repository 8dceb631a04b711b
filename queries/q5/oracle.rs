//! Oracle of q5: counts of every window, then those that equal the window's maximum.

use std::collections::BTreeMap;

use crate::answer::{Row, Value};
use crate::event::{Event, Texts};
use crate::oracle::{bids, integer, time, window_start};

const SIZE_MS: i128 = 10_000;
const SLIDE_MS: i128 = 2_000;

/// The answer over a bounded stream, slow and obvious.
pub(super) fn oracle(events: &[Event], _texts: &Texts) -> Vec<Row> {
    let mut windows: BTreeMap<i128, BTreeMap<i64, i128>> = BTreeMap::new();
    for bid in bids(events) {
        let latest = window_start(bid.date_time, SLIDE_MS);
        for back in 0..SIZE_MS / SLIDE_MS {
            *windows.entry(latest - back * SLIDE_MS).or_default().entry(bid.auction).or_default() += 1;
        }
    }
    let mut rows = Vec::new();
    for (start, counts) in windows {
        let most = counts.values().copied().max();
        for (auction, count) in counts {
            if Some(count) == most {
                rows.push(vec![Value::Integer(auction), integer(count), time(start), time(start + SIZE_MS)]);
            }
        }
    }
    rows
}
