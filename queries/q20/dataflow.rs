//! All bids joined with the auctions of one category. Every bid is kept: its auction may come later, as may another one of
//! the same id.

use crate::answer::{Columns, Output};
use crate::event::{Auction, Bid, KeylessBid, Texts};
use crate::operators::join::join;
use crate::operators::kernel::kernel;
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
    let auctions = kernel(blocks.clone(), "auctions of the category", |block, auctions| {
        let selected = block.auctions.iter().filter(|auction| auction.category == CATEGORY);
        auctions.extend(selected.map(|auction| (auction.id, *auction)));
    });
    let bids = kernel(blocks, "bids", |block, bids| {
        bids.extend(block.bids.iter().map(|bid| (bid.auction, bid.without_auction())));
    });
    let rows = join(bids, auctions, environment, |id, bid: KeylessBid, auction: Auction| Row {
        bid: bid.with_auction(id),
        auction,
    });
    environment.output(rows);
}
