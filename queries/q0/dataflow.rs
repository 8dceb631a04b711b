//! The bids, row by row.

use crate::answer::{Columns, Output};
use crate::event::{Text, Texts};
use crate::operators::kernel::kernel;
use crate::operators::{Blocks, Environment};

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    auction: i64,
    bidder: i64,
    price: i64,
    date_time: i64,
    extra: Text,
}

impl Output for Row {
    fn columns(&self, texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.auction);
        columns.integer(self.bidder);
        columns.integer(self.price);
        columns.time(self.date_time);
        columns.text(texts.get(self.extra));
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let rows = kernel(blocks, "q0", |block, rows| {
        let bids = &block.bids;
        rows.extend(bids.iter().map(|bid| Row {
            auction: bid.auction,
            bidder: bid.bidder,
            price: bid.price,
            date_time: bid.date_time,
            extra: bid.extra,
        }));
    });
    environment.output(rows);
}
