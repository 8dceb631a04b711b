//! Both joins have the same key, bidder = person = seller, so that one operator keeps all three sides and every arriving row
//! meets the pairs of the other two.

use serde::{Deserialize, Serialize};
use timely::dataflow::StreamVec;
use timely::dataflow::operators::generic::Operator;

use crate::answer::{Columns, Output};
use crate::event::{Auction, Bid, KeylessBid, Person, Texts};
use crate::operators::kernel::kernel;
use crate::operators::log::{Chains, NONE};
use crate::operators::{Blocks, Environment, Map, Time, route, exchange};

/// A bid, or a row of one of the two other tables.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Other {
    Person(Person),
    Auction(Auction),
}

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    bid: Bid,
    person: Person,
    auction: Auction,
}

impl Output for Row {
    fn columns(&self, texts: &Texts, columns: &mut dyn Columns) {
        let Self { bid, person, auction } = self;
        columns.integer(bid.auction);
        columns.integer(bid.bidder);
        columns.integer(bid.price);
        columns.text(texts.channel(bid.channel));
        columns.text(texts.url(bid.url));
        columns.time(bid.date_time);
        columns.text(texts.get(bid.extra));
        columns.text(texts.get(person.name));
        columns.text(person.email_address.get(texts));
        columns.text(person.credit_card.get(texts));
        columns.text(texts.get(person.city));
        columns.text(texts.get(person.state));
        columns.text(texts.get(person.extra));
        columns.integer(auction.id);
        columns.text(texts.get(auction.item_name));
        columns.text(texts.get(auction.description));
        columns.integer(auction.initial_bid);
        columns.integer(auction.reserve);
        columns.time(auction.date_time);
        columns.time(auction.expires);
        columns.integer(auction.category);
        columns.text(texts.get(auction.extra));
    }
}

/// The chains of one key.
#[derive(Debug)]
struct Heads {
    bids: u32,
    persons: u32,
    auctions: u32,
}

/// All rows so far.
#[derive(Debug, Default)]
struct Sides {
    heads: Map<i64, Heads>,
    bids: Chains<KeylessBid>,
    persons: Chains<Person>,
    auctions: Chains<Auction>,
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let bids = kernel(blocks.clone(), "bids", |block, bids: &mut Vec<Bid>| bids.extend(block.bids.iter()));
    let others = kernel(blocks, "persons and auctions", |block, others| {
        others.extend(block.persons.iter().map(|person| Other::Person(*person)));
        others.extend(block.auctions.iter().map(|auction| Other::Auction(*auction)));
    });
    environment.output(join(bids, others, environment));
}

fn join<'scope>(
    bids: StreamVec<'scope, Time, Bid>,
    others: StreamVec<'scope, Time, Other>,
    environment: &Environment,
) -> StreamVec<'scope, Time, Row> {
    let gauge = environment.state_gauge();
    let by_bidder = exchange(|bid: &Bid| route(bid.bidder));
    let by_person = exchange(|other: &Other| match other {
        Other::Person(person) => route(person.id),
        Other::Auction(auction) => route(auction.seller),
    });
    bids.binary(others, by_bidder, by_person, "three-way join", move |_capability, _info| {
        let mut sides = Sides::default();
        move |bids, others, output| {
            others.for_each(|capability, rows| {
                let mut session = output.session(&capability);
                for row in rows.drain(..) {
                    match row {
                        Other::Person(person) => sides.add_person(person, |row| session.give(row)),
                        Other::Auction(auction) => sides.add_auction(auction, |row| session.give(row)),
                    }
                }
            });
            bids.for_each(|capability, rows| {
                let mut session = output.session(&capability);
                for bid in rows.drain(..) {
                    sides.add_bid(bid, |row| session.give(row));
                }
            });
            gauge.set(sides.bytes());
        }
    })
}

impl Sides {
    fn add_bid(&mut self, bid: Bid, mut emit: impl FnMut(Row)) {
        let heads = self.heads.entry(bid.bidder).or_insert(Heads::NONE);
        for person in self.persons.iter(heads.persons) {
            for auction in self.auctions.iter(heads.auctions) {
                emit(Row { bid, person, auction });
            }
        }
        self.bids.push(&mut heads.bids, bid.without_bidder());
    }

    fn add_person(&mut self, person: Person, mut emit: impl FnMut(Row)) {
        let heads = self.heads.entry(person.id).or_insert(Heads::NONE);
        for bid in self.bids.iter(heads.bids) {
            for auction in self.auctions.iter(heads.auctions) {
                emit(Row { bid: bid.with_bidder(person.id), person, auction });
            }
        }
        self.persons.push(&mut heads.persons, person);
    }

    fn add_auction(&mut self, auction: Auction, mut emit: impl FnMut(Row)) {
        let heads = self.heads.entry(auction.seller).or_insert(Heads::NONE);
        for person in self.persons.iter(heads.persons) {
            for bid in self.bids.iter(heads.bids) {
                emit(Row { bid: bid.with_bidder(person.id), person, auction });
            }
        }
        self.auctions.push(&mut heads.auctions, auction);
    }

    fn bytes(&self) -> usize {
        self.heads.allocation_size() + self.bids.bytes() + self.persons.bytes() + self.auctions.bytes()
    }
}

impl Heads {
    const NONE: Self = Self { bids: NONE, persons: NONE, auctions: NONE };
}
