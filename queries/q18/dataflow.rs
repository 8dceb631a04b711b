//! The last bid of each (bidder, auction): first of a block, then of all at the worker of the two, which takes the former one
//! back. Dealt by both, a hot auction keeps all workers busy.

use timely::dataflow::StreamVec;
use timely::dataflow::operators::generic::Operator;

use crate::answer::{Columns, Output};
use crate::event::{Bid, Texts};
use crate::operators::batch::Batch;
use crate::operators::kernel::kernel;
use crate::operators::last::LastByKey;
use crate::operators::update::Update;
use crate::operators::{Blocks, Environment, Time, route, exchange};

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row(Bid);

impl Output for Row {
    fn columns(&self, _texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.0.auction);
        columns.integer(self.0.bidder);
        columns.time(self.0.date_time);
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    // Number of the last bid within its block, plus one.
    let mut batch = Batch::<(i64, i64), u32>::default();
    let last = kernel(blocks, "last bids of a block", move |block, last: &mut Vec<Bid>| {
        let bids = &block.bids;
        for index in 0..bids.len() {
            let entry = batch.entry((bids.auction[index], bids.bidder[index]));
            let later = *entry == 0 || bids.date_time[index] >= bids.date_time[*entry as usize - 1];
            if later {
                *entry = index as u32 + 1;
            }
        }
        last.extend(batch.drain().map(|(_, number)| bids.get(number as usize - 1)));
    });
    environment.output(last_of_all(last, environment));
}

fn last_of_all<'scope>(bids: StreamVec<'scope, Time, Bid>, environment: &Environment) -> StreamVec<'scope, Time, Update<Row>> {
    let gauge = environment.state_gauge();
    let by_key = exchange(|bid: &Bid| route(bid.auction.rotate_left(32) ^ bid.bidder));
    bids.unary(by_key, "last bid", move |_capability, _info| {
        let mut last = LastByKey::default();
        move |input, output| {
            input.for_each(|capability, bids| {
                let mut session = output.session(&capability);
                last.offer_all(bids, |update| session.give(update.map(Row)));
            });
            gauge.set(last.bytes());
        }
    })
}
