//! The ten highest bids of each auction, first of a block, then of all at the auction's worker. Ranks that changed within a batch are taken back and emitted
//! anew.

use timely::dataflow::StreamVec;
use timely::dataflow::operators::generic::Operator;

use crate::answer::{Columns, Output};
use crate::event::{KeylessBid, Texts};
use crate::operators::batch::Batch;
use crate::operators::held::Held;
use crate::operators::kernel::kernel;
use crate::operators::keyed::Keyed;
use crate::operators::top::{Snapshots, Top};
use crate::operators::update::Update;
use crate::operators::{Blocks, Environment, Time, route, exchange};

const TOP: usize = 10;

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    auction: i64,
    rank: usize,
    offer: KeylessBid,
}

impl Output for Row {
    fn columns(&self, _texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.auction);
        columns.integer(self.offer.price);
        columns.integer(self.rank as i64);
    }
}

/// Indexes of the highest bids of one auction in a block, highest first, of ties the first: no other bid of the block can be
/// among the auction's ten.
#[derive(Clone, Copy, Debug, Default)]
struct BlockTop {
    len: usize,
    indexes: [u32; TOP],
}

impl BlockTop {
    #[inline]
    fn offer(&mut self, index: usize, prices: &[i64]) {
        let price = |at: u32| prices[at as usize];
        let mut at = self.len;
        if self.len == TOP {
            if prices[index] <= price(self.indexes[TOP - 1]) {
                return;
            }
            at -= 1;
        } else {
            self.len += 1;
        }
        while at > 0 && price(self.indexes[at - 1]) < prices[index] {
            self.indexes[at] = self.indexes[at - 1];
            at -= 1;
        }
        self.indexes[at] = index as u32;
    }
}

impl IntoIterator for BlockTop {
    type Item = usize;
    type IntoIter = std::iter::Map<std::iter::Take<std::array::IntoIter<u32, TOP>>, fn(u32) -> usize>;

    fn into_iter(self) -> Self::IntoIter {
        self.indexes.into_iter().take(self.len).map(|index| index as usize)
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let mut batch = Batch::<i64, BlockTop>::default();
    let offers = kernel(blocks, "top ten of a block", move |block, offers| {
        let bids = &block.bids;
        for (index, auction) in bids.auction.iter().enumerate() {
            batch.entry(*auction).offer(index, &bids.price);
        }
        let best = batch.drain().flat_map(|(_, top)| top);
        offers.extend(best.map(|index| (bids.auction[index], bids.get(index).without_auction())));
    });
    environment.output(top_ten(offers, environment));
}

fn top_ten<'scope>(
    offers: StreamVec<'scope, Time, (i64, KeylessBid)>,
    environment: &Environment,
) -> StreamVec<'scope, Time, Update<Row>> {
    let gauge = environment.state_gauge();
    let by_auction = exchange(|offer: &(i64, KeylessBid)| route(offer.0));
    offers.unary(by_auction, "top ten", move |_capability, _info| {
        let mut auctions = Keyed::<(i64, Top<KeylessBid, TOP>)>::default();
        let mut snapshots = Snapshots::default();
        let mut list_bytes = 0;
        let mut earliest = Held::default();
        move |input, output| {
            input.for_each(|capability, offers| {
                earliest.retain(&capability);
                for (auction, offer) in offers.drain(..) {
                    let (number, _known) = auctions.number(auction, || (auction, Top::default()));
                    let (_, top) = auctions.row_mut(number);
                    let Some(rank) = top.rank(offer.price, |offer| offer.price) else { continue };
                    list_bytes -= top.bytes();
                    snapshots.take(number, top);
                    top.insert(rank, offer);
                    list_bytes += top.bytes();
                }
            });
            if let Some(capability) = earliest.take() {
                let mut session = output.session(&capability);
                snapshots.drain(|number, before| {
                    let (auction, top) = auctions.row_mut(number);
                    top.changed_since(before, |rank, before, after| {
                        let row = |offer: &KeylessBid| Row { auction: *auction, rank, offer: *offer };
                        if let Some(before) = before {
                            session.give(Update::retract(row(before)));
                        }
                        session.give(Update::add(row(after)));
                    });
                });
            }
            gauge.set(auctions.bytes() + list_bytes);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_keeps_ten_bids_and_the_first_of_ties() {
        let prices: Vec<i64> = (0..30).map(|i| i * 7 % 15).collect();
        let mut top = BlockTop::default();
        (0..prices.len()).for_each(|index| top.offer(index, &prices));
        let mut expected: Vec<usize> = (0..prices.len()).collect();
        expected.sort_by_key(|index| std::cmp::Reverse(prices[*index]));
        assert_eq!(top.into_iter().collect::<Vec<_>>(), expected[..TOP]);
    }
}
