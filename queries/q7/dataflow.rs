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
    let winners = window_maximum(local_maximum(blocks, environment), environment);
    environment.output(winners.map(|winner| Row(winner.row)));
}

/// The highest bids of this worker in each window.
fn local_maximum<'scope>(
    blocks: Blocks<'scope>,
    environment: &Environment,
) -> StreamVec<'scope, Time, Candidate<Bid>> {
    let environment = environment.clone();
    blocks.unary_frontier(Pipeline, "highest of a worker", move |_capability, _info| {
        let gauge = environment.state_gauge();
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
            while let Some(window) =
                windows.first_entry().filter(|window| time::passed(end(*window.key()), watermark))
            {
                let (number, best) = window.remove_entry();
                let end = end(number);
                if let Some(capability) = held.get() {
                    let candidates =
                        best.rows.into_iter().map(|row| Candidate { end, value: best.value, row });
                    output.session(capability).give_iterator(candidates);
                }
            }
            fired = watermark;
            gauge.set(windows.values().map(Best::bytes).sum());
            held.advance(frontier.frontier(), !windows.is_empty());
        }
    })
}

/// Takes the bids of a block into account, runs of one window together; the number of bids whose window has fired.
/// Windows are known by their number: the epoch begins window 0.
fn offer(bids: &Bids, windows: &mut BTreeMap<i64, Best<Bid>>, fired: i64) -> u64 {
    let mut late = 0;
    let mut from = 0;
    while from < bids.len() {
        let first = bids.date_time[from];
        let (number, of_window) = (first.div_euclid(WINDOW_MS), first.rem_euclid(WINDOW_MS));
        let moments = first.saturating_sub(of_window)..=first.saturating_add(WINDOW_MS - 1 - of_window);
        let outside = bids.date_time[from..].iter().position(|time| !moments.contains(time));
        let to = outside.map_or(bids.len(), |run| from + run);
        if time::passed(end(number), fired) {
            late += (to - from) as u64;
        } else {
            offer_run(bids, from..to, windows.entry(number).or_default());
        }
        from = to;
    }
    late
}

/// End of a window by its number, epoch ms; those of the last windows lie beyond 64 bits.
fn end(number: i64) -> i128 {
    (i128::from(number) + 1) * i128::from(WINDOW_MS)
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
