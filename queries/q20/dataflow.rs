//! All bids joined with the auctions of one category. Bids, nine events in ten, stay where they are; the auctions, one event in
//! eighty, go to every worker. Every bid is kept: its auction may come later, as may another one of the same id.

use crate::answer::{Columns, Output};
use crate::block::Block;
use crate::event::{Auction, Bid, KeylessBid, Texts};
use crate::operators::broadcast_join::broadcast_join;
use crate::operators::{Blocks, Environment};

const CATEGORY: i64 = 10;

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    bid: Bid,
    auction: Auction,
}

impl Output for Row {
    fn columns(&self, texts: &Texts, columns: &mut dyn Columns) {
        let Self { bid, auction } = self;
        columns.integer(bid.auction);
        columns.integer(bid.bidder);
        columns.integer(bid.price);
        columns.text(texts.channel(bid.channel));
        columns.text(texts.url(bid.url));
        columns.time(bid.date_time);
        columns.text(texts.get(bid.extra));
        columns.text(texts.get(auction.item_name));
        columns.text(texts.get(auction.description));
        columns.integer(auction.initial_bid);
        columns.integer(auction.reserve);
        columns.time(auction.date_time);
        columns.time(auction.expires);
        columns.integer(auction.seller);
        columns.integer(auction.category);
        columns.text(texts.get(auction.extra));
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let split = |bid: Bid| (bid.auction, bid.without_auction());
    let auctions = |block: &Block| {
        let selected = block.auctions.iter().filter(|auction| auction.category == CATEGORY);
        selected.map(|auction| (auction.id, *auction)).collect()
    };
    let pair = |id, bid: KeylessBid, auction| Row { bid: bid.with_auction(id), auction };
    environment.output(broadcast_join(blocks, split, auctions, environment, pair));
}
