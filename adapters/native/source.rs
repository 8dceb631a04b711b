//! The source of one worker: takes positions from the feed, makes their events, and sends them as one block. It keeps to the
//! schedule, moves the watermark, and stops when it is too far ahead of what all workers have finished, so that memory is
//! bounded by state, whatever the skew.

use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nexmark_queries::block::Block;
use nexmark_queries::operators::{Blocks, Counters, Time, time};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::Scope;
use timely::dataflow::operators::generic::OutputBuilder;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::operators::{Capability, probe};
use timely::scheduling::Activator;

use crate::cluster::Shared;
use crate::feed::Deal;

/// How long a source that is too far ahead waits before it looks again.
const AHEAD_WAIT: Duration = Duration::from_micros(100);

/// One worker's source.
struct Source {
    shared: Arc<Shared>,
    counters: Arc<Counters>,
    probe: probe::Handle<Time>,
    activator: Activator,
    /// Blocks that were sent, oldest first; those that the dataflow has let go of are used again, so their memory is warm.
    sent: VecDeque<Rc<Block>>,
    /// Times of the blocks that not all workers have finished.
    ahead: VecDeque<Time>,
    /// Number of blocks sent.
    number: u64,
}

/// What a source does next.
enum Step {
    Send(Rc<Block>),
    Wait(Duration),
    End,
}

/// The source as a stream. `probe` must see the end of the dataflow.
pub(crate) fn source<'scope>(
    scope: Scope<'scope, Time>,
    shared: Arc<Shared>,
    counters: Arc<Counters>,
    probe: probe::Handle<Time>,
) -> Blocks<'scope> {
    let mut builder = OperatorBuilder::new("source".to_owned(), scope);
    let (output, stream) = builder.new_output();
    let mut output = OutputBuilder::<_, CapacityContainerBuilder<Vec<Rc<Block>>>>::from(output);
    let activator = scope.activator_for(builder.operator_info().address);
    builder.build(move |mut capabilities| {
        let mut capability = capabilities.pop();
        let (sent, ahead) = (VecDeque::new(), VecDeque::new());
        let mut source = Source { shared, counters, probe, activator, sent, ahead, number: 0 };
        move |_frontiers| {
            let Some(held) = &mut capability else { return };
            match source.step(*held.time()) {
                Step::Send(block) => {
                    output.activate().session(held).give(block);
                    source.activator.activate();
                }
                Step::Wait(wait) => source.activator.activate_after(wait),
                Step::End => {
                    capability = None;
                    return;
                }
            }
            source.advance(held);
        }
    });
    stream
}

impl Source {
    fn step(&mut self, now: Time) -> Step {
        while self.ahead.front().is_some_and(|time| !self.probe.less_equal(time)) {
            self.ahead.pop_front();
        }
        if self.ahead.len() >= self.shared.blocks_ahead {
            return Step::Wait(AHEAD_WAIT);
        }
        match self.shared.feed.deal(self.shared.elapsed()) {
            Deal::End => Step::End,
            Deal::NotYet(wait) => Step::Wait(wait),
            Deal::Positions(positions) => {
                if self.shared.feed.ends_warmup(&positions) {
                    self.shared.end_warmup();
                }
                let block = self.block(positions);
                Counters::add(&self.counters.events_in, block.len() as u64);
                if let Some(date_time_max) = block.date_time_max() {
                    self.shared.feed.sent(date_time_max);
                }
                self.ahead.push_back(now);
                self.number += 1;
                self.shared.check_budget();
                Step::Send(block)
            }
        }
    }

    fn block(&mut self, positions: Range<u64>) -> Rc<Block> {
        let oldest_is_free = self.sent.front().is_some_and(|block| Rc::strong_count(block) == 1);
        let free = if oldest_is_free { self.sent.pop_front() } else { None };
        let mut block = free.unwrap_or_default();
        if let Some(events) = Rc::get_mut(&mut block) {
            self.shared.feed.fill(positions, events);
        }
        self.sent.push_back(Rc::clone(&block));
        block
    }

    /// Moves the watermark. Every source follows the stream as a whole: what a source is dealt next lies behind all that any
    /// source has sent, and a source that is dealt nothing for a while holds nobody up.
    fn advance(&self, capability: &mut Capability<Time>) {
        let watermark = match self.shared.feed.date_time_max() {
            time::NEVER => time::NEVER,
            // The last moment is an event's time, too; only the end of the input says that nothing follows.
            date_time_max => {
                date_time_max.saturating_sub_unsigned(self.shared.watermark_delay_ms).min(time::END - 1)
            }
        };
        let stamp = time::stamp(watermark, self.number);
        if stamp > *capability.time() {
            capability.downgrade(&stamp);
            self.counters.watermark_ms.store(watermark, Ordering::Relaxed);
        }
    }
}
