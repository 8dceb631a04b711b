//! The bids with their prices converted.

use crate::answer::{Columns, Output};
use crate::event::{Text, Texts};
use crate::operators::kernel::kernel;
use crate::operators::{Blocks, Environment};

/// Euros for a dollar, in thousandths.
const RATE_THOUSANDTHS: i128 = 908;

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    auction: i64,
    bidder: i64,
    price_thousandths: i128,
    date_time: i64,
    extra: Text,
}

impl Output for Row {
    fn columns(&self, texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.auction);
        columns.integer(self.bidder);
        columns.decimal(self.price_thousandths);
        columns.time(self.date_time);
        columns.text(texts.get(self.extra));
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let rows = kernel(blocks, "q1", |block, rows| {
        rows.extend(block.bids.iter().map(|bid| Row {
            auction: bid.auction,
            bidder: bid.bidder,
            price_thousandths: i128::from(bid.price) * RATE_THOUSANDTHS,
            date_time: bid.date_time,
            extra: bid.extra,
        }));
    });
    environment.output(rows);
}
