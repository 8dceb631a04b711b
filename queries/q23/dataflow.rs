//! Both joins have the same key, bidder = person = seller, so that one operator keeps all three sides and every arriving row
//! meets the pairs of the other two. With few workers bids stay where they are, and persons and auctions, one event in twelve, go
//! to every worker; with many all three are dealt by key.

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::{ParallelizationContract, Pipeline};
use timely::dataflow::operators::generic::Operator;

use crate::answer::{Columns, Output};
use crate::block::Block;
use crate::event::{Auction, Bid, KeylessBid, Person, Texts};
use crate::operators::broadcast::{Kept, Links, Parcel, Payload, broadcast, deal};
use crate::operators::exchange::worker_of;
use crate::operators::kernel::kernel;
use crate::operators::log::{Chains, NONE};
use crate::operators::{Blocks, Environment, Map, Time, exchange, route};

/// The rows of the two other tables in a block.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Tables {
    persons: Box<[Person]>,
    auctions: Box<[Auction]>,
}

impl Payload for Tables {
    fn is_empty(&self) -> bool {
        self.persons.is_empty() && self.auctions.is_empty()
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.persons) + size_of_val(&*self.auctions)
    }
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
    persons: Links,
    auctions: Links,
    tables: Kept<Tables>,
}

/// Workers up to which it costs less to give every one all persons and auctions than to deal the bids: measured on two cores, by
/// the work of all workers together, it is 4 to 14 % less with 2 to 4 workers and 20 % more with 8.
const BROADCAST_WORKERS_MAX: usize = 4;

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let rows = if blocks.scope().peers() <= BROADCAST_WORKERS_MAX {
        let tables = broadcast(blocks.clone(), |block| Tables {
            persons: block.persons.as_slice().into(),
            auctions: block.auctions.as_slice().into(),
        });
        join(blocks, Pipeline, tables, environment)
    } else {
        let bids = kernel(blocks.clone(), "bids", |block, bids: &mut Vec<Bid>| bids.extend(block.bids.iter()));
        let by_bidder = exchange(|bid: &Bid| route(bid.bidder));
        join(bids, by_bidder, deal(blocks, tables_of_workers), environment)
    };
    environment.output(rows);
}

/// Persons by id, auctions by seller, each where the exchange deals the bids of its key.
fn tables_of_workers(block: &Block, workers: usize) -> Vec<Tables> {
    let worker = |key: i64| worker_of(route(key), workers);
    let mut tables = vec![(Vec::new(), Vec::new()); workers];
    block.persons.iter().for_each(|person| tables[worker(person.id)].0.push(*person));
    block.auctions.iter().for_each(|auction| tables[worker(auction.seller)].1.push(*auction));
    let tables = tables.into_iter();
    tables.map(|(persons, auctions)| Tables { persons: persons.into(), auctions: auctions.into() }).collect()
}

/// A row of a stream of bids: one, or a block of them.
trait SomeBids: Clone + 'static {
    fn each(&self, take: impl FnMut(Bid));
}

impl SomeBids for Bid {
    fn each(&self, mut take: impl FnMut(Bid)) {
        take(*self);
    }
}

impl SomeBids for Rc<Block> {
    fn each(&self, take: impl FnMut(Bid)) {
        self.bids.iter().for_each(take);
    }
}

/// Joins the bids with what has come of the tables, where both meet on a worker.
fn join<'scope, B: SomeBids>(
    bids: StreamVec<'scope, Time, B>,
    to_bids_worker: impl ParallelizationContract<Time, Vec<B>>,
    tables: StreamVec<'scope, Time, Parcel<Tables>>,
    environment: &Environment,
) -> StreamVec<'scope, Time, Row> {
    let gauge = environment.state_gauge();
    let to_worker = exchange(Parcel::<Tables>::to);
    bids.binary(tables, to_bids_worker, to_worker, "three-way join", move |_capability, _info| {
        let mut sides = Sides::default();
        move |bids, tables, output| {
            tables.for_each(|capability, tables| {
                let mut session = output.session(&capability);
                tables.drain(..).for_each(|tables| sides.add_tables(tables, |row| session.give(row)));
            });
            bids.for_each(|capability, bids| {
                let mut session = output.session(&capability);
                for bids in bids.drain(..) {
                    bids.each(|bid| sides.add_bid(bid, |row| session.give(row)));
                }
            });
            gauge.set(sides.bytes());
        }
    })
}

impl Sides {
    fn add_bid(&mut self, bid: Bid, mut emit: impl FnMut(Row)) {
        let heads = self.heads.entry(bid.bidder).or_insert(Heads::NONE);
        for (tables, person) in self.persons.iter(heads.persons) {
            let person = self.tables.get(tables).persons[person];
            for (tables, auction) in self.auctions.iter(heads.auctions) {
                emit(Row { bid, person, auction: self.tables.get(tables).auctions[auction] });
            }
        }
        self.bids.push(&mut heads.bids, bid.without_bidder());
    }

    fn add_tables(&mut self, tables: Parcel<Tables>, mut emit: impl FnMut(Row)) {
        let number = self.tables.push(tables);
        let tables = self.tables.get(number);
        for (row, person) in tables.persons.iter().enumerate() {
            let heads = self.heads.entry(person.id).or_insert(Heads::NONE);
            for bid in self.bids.iter(heads.bids) {
                let bid = bid.with_bidder(person.id);
                for (tables, auction) in self.auctions.iter(heads.auctions) {
                    emit(Row { bid, person: *person, auction: self.tables.get(tables).auctions[auction] });
                }
            }
            self.persons.push(&mut heads.persons, number, row);
        }
        for (row, auction) in tables.auctions.iter().enumerate() {
            let heads = self.heads.entry(auction.seller).or_insert(Heads::NONE);
            for (tables, person) in self.persons.iter(heads.persons) {
                let person = self.tables.get(tables).persons[person];
                for bid in self.bids.iter(heads.bids) {
                    emit(Row { bid: bid.with_bidder(auction.seller), person, auction: *auction });
                }
            }
            self.auctions.push(&mut heads.auctions, number, row);
        }
    }

    fn bytes(&self) -> usize {
        let links = self.persons.bytes() + self.auctions.bytes();
        self.heads.allocation_size() + self.bids.bytes() + links + self.tables.bytes()
    }
}

impl Heads {
    const NONE: Self = Self { bids: NONE, persons: NONE, auctions: NONE };
}
