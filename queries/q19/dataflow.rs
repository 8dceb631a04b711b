//! The ten highest bids of each auction at the auction's worker. Ranks that changed within a batch are taken back and emitted
//! anew.

use serde::{Deserialize, Serialize};
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::Operator;

use crate::answer::{Columns, Output};
use crate::event::{Bid, Channel, Text, Texts, Url};
use crate::operators::held::Held;
use crate::operators::kernel::kernel;
use crate::operators::keyed::Keyed;
use crate::operators::top::{Snapshots, Top};
use crate::operators::update::Update;
use crate::operators::{Blocks, Environment, Time, route};

const TOP: usize = 10;

/// A bid without its auction, which is the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Offer {
    bidder: i64,
    price: i64,
    date_time: i64,
    channel: Channel,
    url: Url,
    extra: Text,
}

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    auction: i64,
    rank: usize,
    offer: Offer,
}

impl Output for Row {
    fn columns(&self, _texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.auction);
        columns.integer(self.offer.price);
        columns.integer(self.rank as i64);
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let offers = kernel(blocks, "bids", |block, offers| {
        offers.extend(block.bids.iter().map(|bid| {
            let Bid { auction, bidder, price, date_time, channel, url, extra } = bid;
            (auction, Offer { bidder, price, date_time, channel, url, extra })
        }));
    });
    environment.output(top_ten(offers, environment));
}

fn top_ten<'scope>(
    offers: StreamVec<'scope, Time, (i64, Offer)>,
    environment: &Environment,
) -> StreamVec<'scope, Time, Update<Row>> {
    let gauge = environment.state_gauge();
    let by_auction = Exchange::new(|offer: &(i64, Offer)| route(offer.0));
    offers.unary(by_auction, "top ten", move |_capability, _info| {
        let mut auctions = Keyed::<i64, Top<Offer, TOP>>::default();
        let mut snapshots = Snapshots::default();
        let mut list_bytes = 0;
        let mut earliest = Held::default();
        move |input, output| {
            input.for_each(|capability, offers| {
                earliest.retain(&capability);
                for (auction, offer) in offers.drain(..) {
                    let number = auctions.number(auction, Top::default);
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
                        let row = |offer: &Offer| Row { auction: *auction, rank, offer: *offer };
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
