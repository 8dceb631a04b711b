//! Bids are merged to sessions per bidder, first within a block, then over all blocks at the bidder's worker.

use timely::dataflow::operators::vec::Map;

use crate::answer::{Columns, Output};
use crate::block::Bids;
use crate::event::Texts;
use crate::operators::batch::Batch;
use crate::operators::kernel::kernel;
use crate::operators::session::{Session, session};
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
    let sessions = kernel(blocks, "sessions of a block", move |block, sessions| {
        merge_block(&block.bids, &mut batch, sessions);
    });
    let rows = session(sessions, GAP_MS, environment).map(|session| Row {
        bidder: session.key,
        bid_count: session.count,
        start: session.first,
        end: session.last.saturating_add(GAP_MS),
    });
    environment.output(rows);
}

/// Times and number of one bidder's bids in a block.
#[derive(Debug, Default)]
struct Span {
    first: i64,
    last: i64,
    count: i64,
}

/// One session a bidder, or several where the block spans more than a gap.
fn merge_block(bids: &Bids, batch: &mut Batch<i64, Span>, sessions: &mut Vec<Session>) {
    for (bidder, date_time) in bids.bidder.iter().zip(&bids.date_time) {
        let span = batch.entry(*bidder);
        if span.count == 0 {
            *span = Span { first: *date_time, last: *date_time, count: 1 };
        } else if *date_time >= span.first.saturating_sub(GAP_MS)
            && *date_time <= span.last.saturating_add(GAP_MS)
        {
            span.first = span.first.min(*date_time);
            span.last = span.last.max(*date_time);
            span.count += 1;
        } else {
            sessions.push(Session { key: *bidder, first: *date_time, last: *date_time, count: 1 });
        }
    }
    sessions.extend(batch.drain().map(|(key, span)| Session {
        key,
        first: span.first,
        last: span.last,
        count: span.count,
    }));
}
