//! The bids on every 123rd auction.

use crate::answer::{Columns, Output};
use crate::event::Texts;
use crate::operators::kernel::kernel;
use crate::operators::{Blocks, Environment};

/// Auctions whose id this divides are selected.
const EVERY: i64 = 123;

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    auction: i64,
    price: i64,
}

impl Output for Row {
    fn columns(&self, _texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.auction);
        columns.integer(self.price);
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let rows = kernel(blocks, "q2", |block, rows| {
        let bids = &block.bids;
        let selected = bids.auction.iter().zip(&bids.price).filter(|(auction, _)| **auction % EVERY == 0);
        rows.extend(selected.map(|(auction, price)| Row { auction: *auction, price: *price }));
    });
    environment.output(rows);
}
