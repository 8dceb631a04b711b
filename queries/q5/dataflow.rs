//! Bids are counted per auction in panes of 2 s; a window fires when the watermark passes its end: each worker hands in its
//! best auctions, one worker per window picks the best of all.

use timely::dataflow::operators::vec::Map;

use crate::answer::{Columns, Output};
use crate::block::Bids;
use crate::event::Texts;
use crate::operators::batch::Batch;
use crate::operators::hopping_count::{Hopping, PaneCount, hopping_count};
use crate::operators::kernel::kernel;
use crate::operators::window_maximum::window_maximum;
use crate::operators::{Blocks, Environment, time};

const WINDOW: Hopping = Hopping { size_ms: 10_000, slide_ms: 2_000 };

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    auction: i64,
    num: i64,
    start: i64,
    end: i64,
}

impl Output for Row {
    fn columns(&self, _texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.auction);
        columns.integer(self.num);
        columns.time(self.start);
        columns.time(self.end);
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let mut batch = Batch::default();
    let counts = kernel(blocks, "count per auction", move |block, counts| {
        count(&block.bids, &mut batch, counts);
    });
    let candidates = hopping_count(counts, WINDOW, environment);
    let rows = window_maximum(candidates, environment).map(|winner| Row {
        auction: winner.row,
        num: winner.value,
        start: time::shown(winner.end - i128::from(WINDOW.size_ms)),
        end: time::shown(winner.end),
    });
    environment.output(rows);
}

/// Counts the bids of one block per auction; runs of one pane together.
fn count(bids: &Bids, batch: &mut Batch<i64, i64>, counts: &mut Vec<PaneCount>) {
    let mut pane = 0;
    // First and last moment of the pane, as far as times go.
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    let flush = |pane: i64, batch: &mut Batch<i64, i64>, counts: &mut Vec<PaneCount>| {
        counts.extend(batch.drain().map(|(key, count)| PaneCount { pane, key, count }));
    };
    for (auction, date_time) in bids.auction.iter().zip(&bids.date_time) {
        if *date_time < first || *date_time > last {
            flush(pane, batch, counts);
            pane = date_time.div_euclid(WINDOW.slide_ms);
            let of_pane = date_time.rem_euclid(WINDOW.slide_ms);
            first = date_time.saturating_sub(of_pane);
            last = date_time.saturating_add(WINDOW.slide_ms - 1 - of_pane);
        }
        *batch.entry(*auction) += 1;
    }
    flush(pane, batch, counts);
}
