//! Bids are counted per bidder within a block, then at the bidder's worker in windows of its clock; the counts of a window
//! leave when the clock has passed its end, and those of the last one at the end of the input.

use std::time::Duration;

use timely::dataflow::StreamVec;
use timely::dataflow::operators::generic::Operator;

use crate::answer::{Columns, Output};
use crate::event::Texts;
use crate::operators::batch::Batch;
use crate::operators::held::Held;
use crate::operators::kernel::kernel;
use crate::operators::{Blocks, Environment, Map, Time, route, time, exchange};

const WINDOW_MS: i64 = 10_000;

/// Number of a bidder's bids: bidder, count.
type Count = (i64, i64);

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    bidder: i64,
    bid_count: i64,
    /// Start and end of the window of processing time; they differ from run to run, so the answer leaves them out.
    _window: (i64, i64),
}

impl Output for Row {
    fn columns(&self, _texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.bidder);
        columns.integer(self.bid_count);
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let mut batch = Batch::<i64, i64>::default();
    let counts = kernel(blocks, "bids per bidder of a block", move |block, counts| {
        for bidder in &block.bids.bidder {
            *batch.entry(*bidder) += 1;
        }
        counts.extend(batch.drain());
    });
    environment.output(windows(counts, environment));
}

fn windows<'scope>(counts: StreamVec<'scope, Time, Count>, environment: &Environment) -> StreamVec<'scope, Time, Row> {
    let environment = environment.clone();
    let activations = counts.scope().activations();
    let by_bidder = exchange(|count: &Count| route(count.0));
    counts.unary_frontier(by_bidder, "processing-time window", move |_capability, info| {
        let gauge = environment.state_gauge();
        let activator = timely::scheduling::Activator::new(info.address, activations);
        let mut held = Held::default();
        let mut window = Map::<i64, i64>::default();
        let mut start = i64::MIN;
        move |(input, frontier), output| {
            let now = (environment.clock)();
            let ended = time::watermark(frontier.frontier()) == time::END;
            let mut fire = |start: i64, window: &mut Map<i64, i64>, held: &Held| {
                if let Some(capability) = held.get() {
                    let rows = window.drain().map(|(bidder, bid_count)| Row {
                        bidder,
                        bid_count,
                        _window: (start, start + WINDOW_MS),
                    });
                    output.session(capability).give_iterator(rows);
                }
            };
            if now.div_euclid(WINDOW_MS) * WINDOW_MS != start {
                fire(start, &mut window, &held);
                start = now.div_euclid(WINDOW_MS) * WINDOW_MS;
                // The window ends on time even if no bid comes then.
                let rest = u64::try_from(start + WINDOW_MS - now).unwrap_or(0);
                activator.activate_after(Duration::from_millis(rest));
            }
            input.for_each(|capability, counts| {
                held.retain(&capability);
                for (bidder, count) in counts.drain(..) {
                    *window.entry(bidder).or_default() += count;
                }
            });
            if ended {
                fire(start, &mut window, &held);
            }
            gauge.set(window.allocation_size());
            held.advance(frontier.frontier(), !window.is_empty());
        }
    })
}
