//! The winning bid of each auction: of the bids made while it is open, the highest, and the earliest of those at that price.
//! An auction is forgotten when the watermark has passed its end, a bid when no auction that is yet to come can match it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use slab::Slab;
use timely::ExchangeData;
use timely::dataflow::StreamVec;
use timely::dataflow::operators::generic::Operator;

use super::batch::Batch;
use super::calendar::Calendar;
use super::held::Held;
use super::kernel::kernel;
use super::{Blocks, Environment, Map, Time, exchange, route, time};
use crate::event::Auction;

/// An auction, with what the query needs of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening<A> {
    /// Id of the auction.
    pub auction: i64,
    /// Begin, epoch ms: earlier bids do not count.
    pub from: i64,
    /// End, epoch ms: later bids do not count.
    pub to: i64,
    /// What the query needs.
    pub details: A,
}

/// A bid, with what the query needs of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer<B> {
    /// Id of the auction.
    pub auction: i64,
    /// When it was made, epoch ms.
    pub at: i64,
    /// Price.
    pub price: i64,
    /// What the query needs.
    pub details: B,
}

impl<B> Offer<B> {
    fn beats(&self, other: &Self) -> bool {
        (self.price, other.at) > (other.price, self.at)
    }
}

/// What becomes of an auction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<A, B> {
    /// It has another winner.
    Changed {
        /// The auction.
        opening: Opening<A>,
        /// The winner that was reported before.
        before: Option<Offer<B>>,
        /// The winner now.
        after: Offer<B>,
    },
    /// It is over; reported if it has a winner, in the order of the ends up to a step of the watermark.
    Closed {
        /// The auction.
        opening: Opening<A>,
        /// The winner.
        winner: Offer<B>,
    },
}

/// Offers of one batch: of those of one auction at one moment only the best can win, or ever matter.
#[derive(Debug)]
pub struct BestOffers<B> {
    batch: Batch<(i64, i64), Option<Offer<B>>>,
}

impl<B> Default for BestOffers<B> {
    fn default() -> Self {
        Self { batch: Batch::default() }
    }
}

impl<B: Copy> BestOffers<B> {
    /// Takes an offer into account.
    #[inline]
    pub fn offer(&mut self, auction: i64, at: i64, price: i64, details: impl FnOnce() -> B) {
        let best = self.batch.entry((auction, at));
        if best.as_ref().is_none_or(|best| price > best.price) {
            *best = Some(Offer { auction, at, price, details: details() });
        }
    }

    /// Removes the best offers.
    pub fn drain(&mut self) -> impl Iterator<Item = Offer<B>> + '_ {
        self.batch.drain().filter_map(|(_, best)| best)
    }
}

/// The auctions of the blocks, with what `details` takes of each.
pub fn openings<'scope, A: Clone + 'static>(
    blocks: Blocks<'scope>,
    details: fn(&Auction) -> A,
) -> StreamVec<'scope, Time, Opening<A>> {
    kernel(blocks, "auctions", move |block, openings| {
        openings.extend(block.auctions.iter().map(|auction| Opening {
            auction: auction.id,
            from: auction.date_time,
            to: auction.expires,
            details: details(auction),
        }));
    })
}

/// The best offers of each block, for queries that need nothing but the price.
pub fn best_prices(blocks: Blocks<'_>) -> StreamVec<'_, Time, Offer<()>> {
    let mut best = BestOffers::<()>::default();
    kernel(blocks, "best bids of a block", move |block, offers| {
        let bids = &block.bids;
        for ((auction, at), price) in bids.auction.iter().zip(&bids.date_time).zip(&bids.price) {
            best.offer(*auction, *at, *price, || ());
        }
        offers.extend(best.drain());
    })
}

/// An auction that is not over, with its winner so far.
#[derive(Debug)]
struct Open<A, B> {
    opening: Opening<A>,
    best: Option<Offer<B>>,
    /// The winner that was reported; kept up to date only while changes are.
    reported: Option<Offer<B>>,
    /// Whether the winner changed since.
    changed: bool,
    /// The next auction of the same id.
    next: Option<u32>,
}

/// What is known of an id: nearly always one auction, and offers of the last seconds.
#[derive(Debug)]
struct Entry<B> {
    open: Option<u32>,
    /// Offers by arrival, kept for auctions that come after their bids.
    offers: VecDeque<Pending<B>>,
}

/// An offer under its auction's id.
#[derive(Clone, Copy, Debug)]
struct Pending<B> {
    at: i64,
    price: i64,
    details: B,
}

/// State of one worker.
#[derive(Debug)]
struct State<A, B> {
    entries: Map<i64, Entry<B>>,
    open: Slab<Open<A, B>>,
    /// Auctions by their end.
    ends: Calendar<u32>,
    /// Ids by the time of their offers.
    offered: Calendar<i64>,
    /// Offers that the lists of the entries have room for.
    offers_room: usize,
    changed: Vec<u32>,
    passed: i64,
}

/// Which outcomes are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// [`Outcome::Changed`], once per auction and batch.
    Changes,
    /// [`Outcome::Closed`].
    Closings,
}

/// Outcomes of auctions, dealt to workers by auction.
pub fn winning_bid<'scope, A, B>(
    openings: StreamVec<'scope, Time, Opening<A>>,
    offers: StreamVec<'scope, Time, Offer<B>>,
    report: Report,
    environment: &Environment,
) -> StreamVec<'scope, Time, Outcome<A, B>>
where
    A: ExchangeData + Copy,
    B: ExchangeData + Copy,
{
    let environment = environment.clone();
    let by_auction = exchange(|opening: &Opening<A>| route(opening.auction));
    let by_bid = exchange(|offer: &Offer<B>| route(offer.auction));
    openings.binary_frontier(offers, by_auction, by_bid, "winning bid", move |_capability, _info| {
        let gauge = environment.state_gauge();
        let mut held = Held::default();
        let mut state = State::new();
        let mut outcomes = Vec::new();
        move |(openings, openings_frontier), (offers, offers_frontier), output| {
            let mut late = 0;
            openings.for_each(|capability, openings| {
                held.retain(&capability);
                late += openings.drain(..).map(|opening| state.open(opening)).sum::<u64>();
            });
            offers.for_each(|capability, offers| {
                held.retain(&capability);
                late += offers.drain(..).map(|offer| state.offer(offer)).sum::<u64>();
            });
            environment.count_late(late);
            state.report_changes(report, &mut outcomes);
            let frontiers = [openings_frontier.frontier(), offers_frontier.frontier()];
            // An ended input has no first time, and holds nobody up.
            let slower = match frontiers.map(|frontier| frontier.first().copied()) {
                [Some(a), Some(b)] if b < a => frontiers[1],
                [None, _] => frontiers[1],
                _ => frontiers[0],
            };
            state.pass(time::watermark(slower), report, &mut outcomes);
            if let Some(capability) = held.get() {
                output.session(capability).give_iterator(outcomes.drain(..));
            }
            gauge.set(state.bytes());
            held.advance(slower, !state.entries.is_empty());
        }
    })
}

impl<A: Copy, B: Copy> State<A, B> {
    fn new() -> Self {
        Self {
            entries: Map::default(),
            open: Slab::new(),
            ends: Calendar::default(),
            offered: Calendar::default(),
            offers_room: 0,
            changed: Vec::new(),
            passed: time::NEVER,
        }
    }

    /// Adds an auction and lets the offers that came before it bid; 1 if it came after its own end. One that ends before it
    /// begins is not late for that.
    fn open(&mut self, opening: Opening<A>) -> u64 {
        if opening.to < self.passed {
            return u64::from(opening.from < self.passed);
        }
        let entry = self.entries.entry(opening.auction).or_insert_with(Entry::new);
        let number =
            self.open.insert(Open { opening, best: None, reported: None, changed: false, next: entry.open })
                as u32;
        entry.open = Some(number);
        self.ends.add(opening.to, number);
        for Pending { at, price, details } in &entry.offers {
            let offer = Offer { auction: opening.auction, at: *at, price: *price, details: *details };
            bid(&mut self.open[number as usize], number, &offer, &mut self.changed);
        }
        0
    }

    /// Bids on the auctions that are known and keeps the offer for those that are not; 1 if it came too late for both.
    fn offer(&mut self, offer: Offer<B>) -> u64 {
        let late = offer.at < self.passed;
        if late && !self.entries.contains_key(&offer.auction) {
            return 1;
        }
        let entry = self.entries.entry(offer.auction).or_insert_with(Entry::new);
        let mut next = entry.open;
        let mut known = false;
        while let Some(number) = next {
            let open = &mut self.open[number as usize];
            next = open.next;
            known = true;
            bid(open, number, &offer, &mut self.changed);
        }
        if late {
            return u64::from(!known);
        }
        if entry.offers.is_empty() {
            self.offered.add(offer.at, offer.auction);
        }
        self.offers_room -= entry.offers.capacity();
        entry.offers.push_back(Pending { at: offer.at, price: offer.price, details: offer.details });
        self.offers_room += entry.offers.capacity();
        0
    }

    fn report_changes(&mut self, report: Report, outcomes: &mut Vec<Outcome<A, B>>) {
        for number in self.changed.drain(..) {
            let open = &mut self.open[number as usize];
            open.changed = false;
            let (before, after) = (open.reported, open.best);
            open.reported = after;
            if let (Report::Changes, Some(after)) = (report, after) {
                outcomes.push(Outcome::Changed { opening: open.opening, before, after });
            }
        }
    }

    /// Closes auctions and forgets offers that the watermark has passed.
    fn pass(&mut self, watermark: i64, report: Report, outcomes: &mut Vec<Outcome<A, B>>) {
        if watermark <= self.passed {
            return;
        }
        self.passed = watermark;
        while let Some(numbers) = self.ends.next(watermark) {
            for number in numbers {
                let open = self.open.remove(number as usize);
                self.unlink(&open, number);
                if let (Report::Closings, Some(winner)) = (report, open.best) {
                    outcomes.push(Outcome::Closed { opening: open.opening, winner });
                }
            }
        }
        while let Some(ids) = self.offered.next(watermark) {
            for id in ids {
                self.forget_offers(id, watermark);
            }
        }
    }

    fn unlink(&mut self, closed: &Open<A, B>, number: u32) {
        let hashbrown::hash_map::Entry::Occupied(mut entry) = self.entries.entry(closed.opening.auction)
        else {
            return;
        };
        if entry.get().open == Some(number) {
            entry.get_mut().open = closed.next;
            if closed.next.is_none() && entry.get().offers.is_empty() {
                self.offers_room -= entry.remove().offers.capacity();
            }
            return;
        }
        let mut at = entry.get().open;
        while let Some(before) = at {
            let before = &mut self.open[before as usize];
            at = before.next;
            if at == Some(number) {
                before.next = closed.next;
                return;
            }
        }
    }

    /// An auction that comes after the watermark begins after it, so offers before it can match no more.
    fn forget_offers(&mut self, id: i64, watermark: i64) {
        let hashbrown::hash_map::Entry::Occupied(mut entry) = self.entries.entry(id) else { return };
        let known = entry.get_mut();
        while known.offers.front().is_some_and(|offer| offer.at < watermark || watermark == time::END) {
            known.offers.pop_front();
        }
        match known.offers.front() {
            Some(first) => self.offered.add(first.at, id),
            // The memory of a list is worth more to the ids to come.
            None if known.open.is_some() => {
                self.offers_room -= std::mem::take(&mut known.offers).capacity();
            }
            None => self.offers_room -= entry.remove().offers.capacity(),
        }
    }

    fn bytes(&self) -> usize {
        self.entries.allocation_size()
            + self.open.capacity() * size_of::<Open<A, B>>()
            + self.ends.bytes()
            + self.offered.bytes()
            + self.offers_room * size_of::<Pending<B>>()
    }
}

impl<B> Entry<B> {
    fn new() -> Self {
        Self { open: None, offers: VecDeque::new() }
    }
}

/// Takes an offer into account for an auction.
#[inline]
fn bid<A, B: Copy>(open: &mut Open<A, B>, number: u32, offer: &Offer<B>, changed: &mut Vec<u32>) {
    let valid = open.opening.from <= offer.at && offer.at <= open.opening.to;
    if valid && open.best.as_ref().is_none_or(|best| offer.beats(best)) {
        open.best = Some(*offer);
        if !open.changed {
            open.changed = true;
            changed.push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(auction: i64, from: i64, to: i64) -> Opening<char> {
        Opening { auction, from, to, details: 'a' }
    }

    fn offer(auction: i64, at: i64, price: i64) -> Offer<char> {
        Offer { auction, at, price, details: 'b' }
    }

    fn changes(state: &mut State<char, char>) -> Vec<(i64, Option<i64>, i64)> {
        let mut outcomes = Vec::new();
        state.report_changes(Report::Changes, &mut outcomes);
        let change = |outcome| match outcome {
            Outcome::Changed { opening, before, after } => {
                (opening.auction, before.map(|before: Offer<char>| before.price), after.price)
            }
            Outcome::Closed { .. } => panic!("only changes are reported"),
        };
        outcomes.into_iter().map(change).collect()
    }

    fn closings(state: &mut State<char, char>, watermark: i64) -> Vec<(i64, i64, i64)> {
        let mut outcomes = Vec::new();
        state.report_changes(Report::Closings, &mut outcomes);
        state.pass(watermark, Report::Closings, &mut outcomes);
        let closing = |outcome| match outcome {
            Outcome::Closed { opening, winner } => (opening.auction, winner.price, winner.at),
            Outcome::Changed { .. } => panic!("only closings are reported"),
        };
        outcomes.into_iter().map(closing).collect()
    }

    #[test]
    fn only_bids_within_the_auction_count_and_the_earliest_of_the_highest_wins() {
        let mut state = State::new();
        state.open(opening(1, 10, 20));
        for (at, price) in [(9, 900), (21, 900), (10, 5), (20, 7), (15, 7), (16, 7)] {
            assert_eq!(state.offer(offer(1, at, price)), 0);
        }
        assert_eq!(closings(&mut state, 1000), [(1, 7, 15)]);
        assert!(state.entries.is_empty() && state.open.is_empty() && state.offers_room == 0);
    }

    #[test]
    fn a_bid_may_come_before_its_auction_and_a_change_is_reported_once_a_batch() {
        let mut state = State::new();
        state.offer(offer(1, 5, 3));
        assert_eq!(changes(&mut state), []);
        state.open(opening(1, 5, 20));
        state.offer(offer(1, 6, 4));
        assert_eq!(changes(&mut state), [(1, None, 4)]);
        state.offer(offer(1, 7, 2));
        assert_eq!(changes(&mut state), []);
        state.offer(offer(1, 7, 9));
        assert_eq!(changes(&mut state), [(1, Some(4), 9)]);
    }

    #[test]
    fn auctions_of_one_id_are_apart() {
        let mut state = State::new();
        state.open(opening(1, 0, 10));
        state.offer(offer(1, 5, 3));
        state.open(opening(1, 4, 500));
        state.offer(offer(1, 8, 2));
        state.offer(offer(1, 400, 9));
        assert_eq!(closings(&mut state, 300), [(1, 3, 5)]);
        assert_eq!(closings(&mut state, time::END), [(1, 9, 400)]);
        assert!(state.entries.is_empty());
    }

    #[test]
    fn nothing_is_kept_that_can_match_no_more() {
        let mut state = State::<char, char>::new();
        state.offer(offer(7, 100, 1));
        state.offer(offer(7, 450, 1));
        state.pass(300, Report::Closings, &mut Vec::new());
        assert_eq!((state.entries[&7].offers.len(), state.entries.len()), (1, 1));
        state.pass(700, Report::Closings, &mut Vec::new());
        assert_eq!((state.offers_room, state.entries.len()), (0, 0));
        assert_eq!(state.offer(offer(7, 600, 1)), 1, "late, and no auction is known");
        assert_eq!(state.open(opening(7, 600, 650)), 1, "late");
        assert_eq!(state.open(opening(7, 700, 650)), 0, "on time, but nothing can match");
        assert!(state.entries.is_empty());
    }
}
