//! Each worker keeps the highest bids of its open windows and hands them in when the watermark passes a window's end; one
//! worker per window picks the highest of all.

use std::collections::BTreeMap;

use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::vec::Map;

use crate::answer::{Columns, Output};
use crate::block::Bids;
use crate::event::{Bid, Texts};
use crate::operators::held::Held;
use crate::operators::window_maximum::{Best, Candidate, window_maximum};
use crate::operators::{Blocks, Environment, Time, time};

const WINDOW_MS: i64 = 10_000;

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row(Bid);

impl Output for Row {
    fn columns(&self, texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.0.auction);
        columns.integer(self.0.bidder);
        columns.integer(self.0.price);
        columns.time(self.0.date_time);
        columns.text(texts.get(self.0.extra));
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let winners = window_maximum(local_maximum(blocks, environment));
    environment.output(winners.map(|winner| Row(winner.row)));
}

/// The highest bids of this worker in each window.
fn local_maximum<'scope>(
    blocks: Blocks<'scope>,
    environment: &Environment,
) -> StreamVec<'scope, Time, Candidate<Bid>> {
    let environment = environment.clone();
    blocks.unary_frontier(Pipeline, "highest of a worker", move |_capability, _info| {
        let mut held = Held::default();
        let mut windows = BTreeMap::<i64, Best<Bid>>::new();
        let mut fired = time::NEVER;
        move |(input, frontier), output| {
            input.for_each(|capability, blocks| {
                held.retain(&capability);
                for block in blocks.drain(..) {
                    environment.count_late(offer(&block.bids, &mut windows, fired));
                }
            });
            let watermark = time::watermark(frontier.frontier());
            while let Some(window) = windows.first_entry().filter(|window| *window.key() <= watermark) {
                let (end, best) = window.remove_entry();
                if let Some(capability) = held.get() {
                    let candidates = best.rows.into_iter().map(|row| Candidate { end, value: best.value, row });
                    output.session(capability).give_iterator(candidates);
                }
            }
            fired = watermark;
            held.advance(frontier.frontier(), !windows.is_empty());
        }
    })
}

/// Takes the bids of a block into account, runs of one window together; the number of bids whose window has fired.
fn offer(bids: &Bids, windows: &mut BTreeMap<i64, Best<Bid>>, fired: i64) -> u64 {
    let mut late = 0;
    let mut from = 0;
    while from < bids.len() {
        let start = bids.date_time[from].div_euclid(WINDOW_MS) * WINDOW_MS;
        let end = start + WINDOW_MS;
        let outside = bids.date_time[from..].iter().position(|time| !(start..end).contains(time));
        let to = outside.map_or(bids.len(), |run| from + run);
        if end <= fired {
            late += (to - from) as u64;
        } else {
            offer_run(bids, from..to, windows.entry(end).or_default());
        }
        from = to;
    }
    late
}

fn offer_run(bids: &Bids, run: std::ops::Range<usize>, best: &mut Best<Bid>) {
    let prices = &bids.price[run.clone()];
    // Most blocks hold nothing that reaches the maximum so far: one pass over the prices says so.
    let highest = prices.iter().copied().max().unwrap_or(i64::MIN);
    if highest < best.value {
        return;
    }
    for (price, index) in prices.iter().zip(run) {
        if *price == highest {
            best.offer(highest, || bids.get(index));
        }
    }
}
