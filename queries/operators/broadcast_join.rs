//! As [`join`](super::join), of bids with the rows of a table that is small beside them: a bid stays on the worker that has it, and
//! every worker gets all rows of the table. However skewed the keys are, all workers then have the same to do, and next to
//! nothing crosses from one to another.

use serde::Serialize;
use serde::de::DeserializeOwned;
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::Operator;

use super::broadcast::{Kept, Links, Parcel, broadcast};
use super::join::WithKey;
use super::log::{Chains, NONE};
use super::pack::Pack;
use super::{Blocks, Environment, Map, Time, exchange};
use crate::block::Block;
use crate::event::Bid;

/// The chains of one key.
#[derive(Debug)]
struct Heads {
    bids: u32,
    rows: u32,
}

impl Heads {
    const NONE: Self = Self { bids: NONE, rows: NONE };
}

/// Every pair of a bid and a row of one key, as `pair` makes it of (key, bid, row). `split` gives a bid's key and what is kept of
/// the bid beside it, `table` the rows in a block.
pub fn broadcast_join<'scope, B, R, O>(
    blocks: Blocks<'scope>,
    split: impl Fn(Bid) -> WithKey<B> + 'static,
    table: impl Fn(&Block) -> Vec<WithKey<R>> + 'static,
    environment: &Environment,
    mut pair: impl FnMut(i64, B, R) -> O + 'static,
) -> StreamVec<'scope, Time, O>
where
    B: Pack + 'static,
    R: Copy + Serialize + DeserializeOwned + Send + Sync + 'static,
    O: Clone + 'static,
{
    let gauge = environment.state_gauge();
    let rows = broadcast(blocks.clone(), move |block| table(block).into_boxed_slice());
    let to_worker = exchange(Parcel::<Box<[WithKey<R>]>>::to);
    blocks.binary(rows, Pipeline, to_worker, "broadcast join", move |_capability, _info| {
        let mut heads = Map::<i64, Heads>::default();
        let (mut bids, mut rows) = (Chains::<B>::default(), Links::default());
        let mut kept = Kept::<Box<[WithKey<R>]>>::default();
        move |blocks, parcels, output| {
            blocks.for_each(|capability, blocks| {
                let mut session = output.session(&capability);
                for block in blocks.drain(..) {
                    for (key, bid) in block.bids.iter().map(&split) {
                        let heads = heads.entry(key).or_insert(Heads::NONE);
                        let rows = rows.iter(heads.rows).map(|(parcel, row)| kept.get(parcel)[row].1);
                        session.give_iterator(rows.map(|row| pair(key, bid, row)));
                        bids.push(&mut heads.bids, bid);
                    }
                }
            });
            parcels.for_each(|capability, parcels| {
                let mut session = output.session(&capability);
                for parcel in parcels.drain(..) {
                    let parcel = kept.push(parcel);
                    for (number, (key, row)) in kept.get(parcel).iter().enumerate() {
                        let heads = heads.entry(*key).or_insert(Heads::NONE);
                        session.give_iterator(bids.iter(heads.bids).map(|bid| pair(*key, bid, *row)));
                        rows.push(&mut heads.rows, parcel, number);
                    }
                }
            });
            gauge.set(heads.allocation_size() + bids.bytes() + rows.bytes() + kept.bytes());
        }
    })
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::sync::Arc;

    use timely::dataflow::operators::{Input as _, Inspect as _};

    use super::super::alone;
    use super::super::join::tests::{bid, lefts, pairs, rights};
    use super::*;
    use crate::event::{Auction, Event, Text};

    fn auction((id, seller): (i64, i64)) -> Event {
        let text = Text::default();
        let (item_name, description, extra) = (text, text, text);
        let (initial_bid, reserve, date_time, expires, category) = (0, 0, 0, 0, 0);
        Event::Auction(Auction {
            id,
            item_name,
            description,
            initial_bid,
            reserve,
            date_time,
            expires,
            seller,
            category,
            extra,
        })
    }

    /// Bids of all workers with auctions that all come from the last worker.
    fn joined(workers: usize) -> Vec<(i64, i64, i64)> {
        alone::run(workers, |worker, out| {
            let out = Arc::clone(out);
            let (index, workers) = (worker.index(), worker.peers());
            let mut input = worker.dataflow::<Time, _, _>(|scope| {
                let (input, blocks) = scope.new_input::<Vec<Rc<Block>>>();
                let split = |bid: Bid| (bid.auction, bid.without_auction());
                let table = |block: &Block| {
                    block.auctions.iter().map(|auction| (auction.id, auction.seller)).collect()
                };
                broadcast_join(blocks, split, table, &alone::environment(), |key, left, seller: i64| {
                    assert_eq!(left, bid(left.id), "as it came");
                    (key, left.id, seller)
                })
                .inspect(move |row| out.lock().unwrap().push(*row));
                input
            });
            let mut bids = lefts().into_iter().skip(index).step_by(workers).peekable();
            let table = if index + 1 == workers { rights() } else { Vec::new() };
            let mut table = table.into_iter().peekable();
            // Both come a little at a time, so that each row meets earlier and later ones.
            while bids.peek().is_some() || table.peek().is_some() {
                let mut block = Block::default();
                let next = bids.by_ref().take(19).map(|(key, id)| bid(id).with_auction(key));
                next.for_each(|bid| block.push(Event::Bid(bid)));
                table.by_ref().take(13).for_each(|row| block.push(auction(row)));
                input.send(Rc::new(block));
                worker.step();
            }
        })
    }

    #[test]
    fn every_pair_of_a_key_comes_once_whichever_was_first() {
        for workers in [1, 2, 3] {
            assert_eq!(joined(workers), pairs(), "{workers} workers");
        }
    }
}
