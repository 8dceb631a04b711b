//! Bids are merged to sessions per bidder, first within a block, then over all blocks at the bidder's worker.

use timely::dataflow::operators::vec::Map;

use crate::answer::{Columns, Output};
use crate::block::Bids;
use crate::event::Texts;
use crate::operators::batch::Batch;
use crate::operators::kernel::kernel;
use crate::operators::session::{Part, session};
use crate::operators::{Blocks, Environment};

const GAP_MS: i64 = 10_000;

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    bidder: i64,
    bid_count: i64,
    start: i64,
    end: i64,
}

impl Output for Row {
    fn columns(&self, _texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.bidder);
        columns.integer(self.bid_count);
        columns.time(self.start);
        columns.time(self.end);
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let mut batch = Batch::default();
    let parts = kernel(blocks, "sessions of a block", move |block, parts| {
        merge_block(&block.bids, &mut batch, parts);
    });
    let rows = session(parts, GAP_MS, environment).map(|session| Row {
        bidder: session.key,
        bid_count: session.count,
        start: session.first,
        end: session.last.saturating_add(GAP_MS),
    });
    environment.output(rows);
}

/// One part a bidder, or several where the block spans more than a gap.
fn merge_block(bids: &Bids, batch: &mut Batch<i64, Option<Part>>, parts: &mut Vec<Part>) {
    for (bidder, date_time) in bids.bidder.iter().zip(&bids.date_time) {
        match batch.entry(*bidder) {
            Some(part) => {
                if !part.add(*date_time, GAP_MS) {
                    parts.push(Part::row(*bidder, *date_time));
                }
            }
            none => *none = Some(Part::row(*bidder, *date_time)),
        }
    }
    parts.extend(batch.drain().filter_map(|(_bidder, part)| part));
}
