//! What must be kept, from the events alone: the number of keys, times the fields that belong to each at the width that
//! events have them in, or, where only bids are kept, at the width of those whose numbers are small.

use std::collections::{BTreeMap, HashSet};

use nexmark_queries::event::{Auction, Bid, Event, KeylessBid, Person, Text, Texts};
use nexmark_queries::generator::{Generator, Options};
use nexmark_queries::operators::pack::Pack;

use crate::heap::alone;

/// An id, a time, a number.
const LONG: u64 = 8;
/// In which of the three ranks of price an id was seen.
const RANKS: u64 = 1;
/// A number in all and in three ranks.
const RANKED: u64 = 4 * LONG;
const BID: u64 = size_of::<<Bid as Pack>::Packed>() as u64;
const KEYLESS_BID: u64 = size_of::<KeylessBid>() as u64;
const AUCTION: u64 = size_of::<Auction>() as u64;
const PERSON: u64 = size_of::<Person>() as u64;
/// Name, city and state of a person.
const SELLER: u64 = 3 * size_of::<Text>() as u64;

/// What the stream has shown so far.
#[derive(Default)]
struct Shown {
    persons: u64,
    persons_of_states: u64,
    auctions: u64,
    bids: u64,
    auctions_of_category: u64,
    auctions_of_sellers: BTreeMap<i64, u64>,
    last_auctions: u64,
    day_bidders: HashSet<(i64, i64)>,
    day_auctions: HashSet<(i64, i64)>,
    channels: HashSet<(u32, i64)>,
    channel_bidders: HashSet<(u32, i64, i64)>,
    channel_auctions: HashSet<(u32, i64, i64)>,
    pairs: HashSet<(i64, i64)>,
    bids_of_auctions: BTreeMap<i64, u64>,
    top_bids: u64,
}

impl Shown {
    fn show(&mut self, event: Event, texts: &Texts) {
        match event {
            Event::Person(person) => {
                self.persons += 1;
                self.persons_of_states += u64::from(["OR", "ID", "CA"].contains(&texts.get(person.state)));
            }
            Event::Auction(auction) => {
                self.auctions += 1;
                self.auctions_of_category += u64::from(auction.category == 10);
                let auctions = self.auctions_of_sellers.entry(auction.seller).or_default();
                *auctions += 1;
                self.last_auctions += u64::from(*auctions <= 10);
            }
            Event::Bid(bid) => {
                self.bids += 1;
                let (day, channel) = (bid.date_time.div_euclid(86_400_000), bid.channel.0);
                self.day_bidders.insert((day, bid.bidder));
                self.day_auctions.insert((day, bid.auction));
                self.channels.insert((channel, day));
                self.channel_bidders.insert((channel, day, bid.bidder));
                self.channel_auctions.insert((channel, day, bid.auction));
                self.pairs.insert((bid.auction, bid.bidder));
                let bids = self.bids_of_auctions.entry(bid.auction).or_default();
                *bids += 1;
                self.top_bids += u64::from(*bids <= 10);
            }
        }
    }

    fn bytes(&self, query: &str) -> u64 {
        let count = |keys: usize| keys as u64;
        match query {
            // A person with its id, an auction with its seller.
            "q3" => self.persons_of_states * (LONG + SELLER) + self.auctions_of_category * 2 * LONG,
            // A seller with up to ten prices; nearly all auctions are sold.
            "q6" => count(self.auctions_of_sellers.len()) * LONG + self.last_auctions * LONG,
            // Day and id, with the ranks; one report a day is nothing beside them.
            "q15" => (count(self.day_bidders.len()) + count(self.day_auctions.len())) * (LONG + RANKS),
            // A report: channel, day, minute and numbers. An id with its ranks, under the channel and day.
            "q16" => {
                count(self.channels.len()) * (3 * LONG + 3 * RANKED)
                    + (count(self.channel_bidders.len()) + count(self.channel_auctions.len()))
                        * (LONG + RANKS)
            }
            // Auction, day, bids in three ranks, minimum, maximum, and a sum that needs twice the width.
            "q17" => count(self.day_auctions.len()) * 9 * LONG,
            "q18" => count(self.pairs.len()) * BID,
            // The auction once, and its bids without it.
            "q19" => count(self.bids_of_auctions.len()) * LONG + self.top_bids * KEYLESS_BID,
            "q20" => self.bids * BID + self.auctions_of_category * AUCTION,
            "q23" => self.bids * BID + self.auctions * AUCTION + self.persons * PERSON,
            other => panic!("{other} forgets"),
        }
    }
}

/// What must be kept after every `step` events, bytes, by query.
pub(crate) fn kept(
    queries: &[&'static str],
    options: &Options,
    step: u64,
    steps: u64,
) -> BTreeMap<&'static str, Vec<u64>> {
    let _alone = alone();
    let generator = Generator::new(options.clone()).expect("options in range");
    let mut shown = Shown::default();
    let mut kept = BTreeMap::<_, Vec<u64>>::new();
    for at in 0..steps {
        (at * step..(at + 1) * step)
            .for_each(|position| shown.show(generator.event(position), generator.texts()));
        queries.iter().for_each(|query| kept.entry(*query).or_default().push(shown.bytes(query)));
    }
    kept
}
