//! Every auction with the bid that wins it so far; a row is taken back when a better bid comes.

use serde::{Deserialize, Serialize};
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::Operator;

use crate::answer::{Columns, Output};
use crate::event::{Auction, Bid, Channel, Text, Texts, Url};
use crate::operators::kernel::kernel;
use crate::operators::update::Update;
use crate::operators::winning_bid::{BestOffers, Offer, Outcome, Report, openings, winning_bid};
use crate::operators::{Blocks, Environment, Time};

/// What an output row has of a bid beside auction, time and price.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Details {
    bidder: i64,
    channel: Channel,
    url: Url,
    extra: Text,
}

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    auction: Auction,
    bid: Bid,
}

impl Output for Row {
    fn columns(&self, _texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.auction.id);
        columns.integer(self.bid.price);
        columns.time(self.bid.date_time);
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let openings = openings(blocks.clone(), |auction| *auction);
    let mut best = BestOffers::<Details>::default();
    let offers = kernel(blocks, "best bids of a block", move |block, offers| {
        let bids = &block.bids;
        for index in 0..bids.len() {
            best.offer(bids.auction[index], bids.date_time[index], bids.price[index], || Details {
                bidder: bids.bidder[index],
                channel: bids.channel[index],
                url: bids.url[index],
                extra: bids.extra[index],
            });
        }
        offers.extend(best.drain());
    });
    environment.output(winners(winning_bid(openings, offers, Report::Changes, environment)));
}

fn winners<'scope>(
    outcomes: StreamVec<'scope, Time, Outcome<Auction, Details>>,
) -> StreamVec<'scope, Time, Update<Row>> {
    outcomes.unary(Pipeline, "winners", |_capability, _info| {
        move |input, output| {
            input.for_each(|capability, outcomes| {
                let mut session = output.session(&capability);
                for outcome in outcomes.drain(..) {
                    if let Outcome::Changed { opening, before, after } = outcome {
                        let row = |offer: Offer<Details>| Row { auction: opening.details, bid: bid(offer) };
                        if let Some(before) = before {
                            session.give(Update::retract(row(before)));
                        }
                        session.give(Update::add(row(after)));
                    }
                }
            });
        }
    })
}

fn bid(offer: Offer<Details>) -> Bid {
    let Offer { auction, at, price, details: Details { bidder, channel, url, extra } } = offer;
    Bid { auction, bidder, price, date_time: at, channel, url, extra }
}
