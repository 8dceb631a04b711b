//! A block of events: what a source hands to a dataflow at once. Bids, nine events in ten, are held by column, so that
//! kernels touch only the columns they need and the compiler can use wide registers.

use crate::event::{Auction, Bid, Channel, Event, Person, Text, Url};

/// Bids by column; all columns have one length. Columns are those of [`Bid`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns of the table, under its names")]
pub struct Bids {
    pub auction: Vec<i64>,
    pub bidder: Vec<i64>,
    pub price: Vec<i64>,
    pub date_time: Vec<i64>,
    pub channel: Vec<Channel>,
    pub url: Vec<Url>,
    pub extra: Vec<Text>,
}

impl Bids {
    /// Number of bids.
    pub fn len(&self) -> usize {
        self.auction.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.auction.is_empty()
    }

    /// Whole bid number `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Bid {
        Bid {
            auction: self.auction[index],
            bidder: self.bidder[index],
            price: self.price[index],
            date_time: self.date_time[index],
            channel: self.channel[index],
            url: self.url[index],
            extra: self.extra[index],
        }
    }

    /// Whole bids, in order of arrival.
    pub fn iter(&self) -> impl Iterator<Item = Bid> + '_ {
        let bids = self.len();
        (0..bids).map(|index| self.get(index))
    }

    /// Appends a bid.
    pub fn push(&mut self, bid: Bid) {
        self.auction.push(bid.auction);
        self.bidder.push(bid.bidder);
        self.price.push(bid.price);
        self.date_time.push(bid.date_time);
        self.channel.push(bid.channel);
        self.url.push(bid.url);
        self.extra.push(bid.extra);
    }

    /// Cuts or extends every column to `len` bids; the content of new ones is arbitrary.
    pub(crate) fn resize(&mut self, len: usize) {
        self.auction.resize(len, 0);
        self.bidder.resize(len, 0);
        self.price.resize(len, 0);
        self.date_time.resize(len, 0);
        self.channel.resize(len, Channel::default());
        self.url.resize(len, Url::default());
        self.extra.resize(len, Text::default());
    }

    /// Removes all bids, keeps the memory.
    pub fn clear(&mut self) {
        self.auction.clear();
        self.bidder.clear();
        self.price.clear();
        self.date_time.clear();
        self.channel.clear();
        self.url.clear();
        self.extra.clear();
    }
}

/// Consecutive events of one source; each table in its order of arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the tables")]
pub struct Block {
    pub persons: Vec<Person>,
    pub auctions: Vec<Auction>,
    pub bids: Bids,
}

impl Block {
    /// Number of events.
    pub fn len(&self) -> usize {
        self.persons.len() + self.auctions.len() + self.bids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends an event.
    pub fn push(&mut self, event: Event) {
        match event {
            Event::Person(person) => self.persons.push(person),
            Event::Auction(auction) => self.auctions.push(auction),
            Event::Bid(bid) => self.bids.push(bid),
        }
    }

    /// Highest event time, epoch ms; `None` when empty.
    pub fn date_time_max(&self) -> Option<i64> {
        let persons = self.persons.iter().map(|person| person.date_time);
        let auctions = self.auctions.iter().map(|auction| auction.date_time);
        persons.chain(auctions).chain(self.bids.date_time.iter().copied()).max()
    }

    /// Removes all events, keeps the memory.
    pub fn clear(&mut self) {
        self.persons.clear();
        self.auctions.clear();
        self.bids.clear();
    }
}
