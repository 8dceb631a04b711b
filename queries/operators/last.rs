//! The last bid of each (auction, bidder), kept for good. Beside the bids themselves only their numbers are kept, as in
//! [`Keyed`](super::keyed::Keyed), which reads keys from rows that are not packed.

use std::hash::BuildHasher;
use std::hint::black_box;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;

use super::log::Log;
use super::pack::{Pack, replace};
use super::update::Update;
use crate::event::Bid;

/// Bids by (auction, bidder).
#[derive(Debug, Default)]
pub struct LastByKey {
    numbers: HashTable<u32>,
    bids: Log<<Bid as Pack>::Packed>,
    wide: Log<Bid>,
}

/// Bids whose memory is waited for together rather than one by one.
const AT_ONCE: usize = 32;

fn key(bid: &Bid) -> (i64, i64) {
    (bid.auction, bid.bidder)
}

impl LastByKey {
    /// Takes bids into account, one after the other: if none of its key is later, the former one is taken back and this one
    /// added.
    pub fn offer_all(&mut self, bids: &[Bid], mut emit: impl FnMut(Update<Bid>)) {
        for bids in bids.chunks(AT_ONCE) {
            self.touch(bids);
            for bid in bids {
                self.offer(*bid, &mut emit);
            }
        }
    }

    #[inline]
    fn offer(&mut self, bid: Bid, mut emit: impl FnMut(Update<Bid>)) {
        let Self { numbers, bids, wide } = self;
        let key_of = |number: &u32| key(&Bid::unpack(bids.get(*number), wide));
        let hash = |key: (i64, i64)| FxBuildHasher.hash_one(key);
        let entry = numbers.entry(
            hash(key(&bid)),
            |number| key_of(number) == key(&bid),
            |number| hash(key_of(number)),
        );
        match entry {
            Entry::Occupied(entry) => {
                let last = bids.get_mut(*entry.get());
                let before = Bid::unpack(last, wide);
                if before.date_time > bid.date_time {
                    return;
                }
                replace(last, bid, wide);
                emit(Update::retract(before));
            }
            Entry::Vacant(entry) => {
                entry.insert(bids.push(bid.pack(wide)));
            }
        }
        emit(Update::add(bid));
    }

    /// Reads ahead what [`Self::offer`] is going to need.
    fn touch(&self, coming: &[Bid]) {
        let mut numbers = [None; AT_ONCE];
        for (number, bid) in numbers.iter_mut().zip(coming) {
            // Nearly always the one that the key will be found at.
            *number = self.numbers.find(FxBuildHasher.hash_one(key(bid)), |_number| true).copied();
        }
        let touched = numbers.into_iter().flatten().map(|number| self.bids.get(number).0);
        black_box(touched.fold(0, u32::wrapping_add));
    }

    /// Size, bytes.
    pub fn bytes(&self) -> usize {
        self.numbers.allocation_size() + self.bids.bytes() + self.wide.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Channel, Text, Url};

    fn bid(auction: i64, bidder: i64, date_time: i64, price: i64) -> Bid {
        let (channel, url, extra) = (Channel(1), Url(2), Text { at: 3, len: 4 });
        Bid { auction, bidder, price, date_time, channel, url, extra }
    }

    #[test]
    fn the_last_of_a_key_is_taken_back_whether_it_is_packed_or_too_wide() {
        let mut last = LastByKey::default();
        let mut updates = |bid| {
            let mut updates = Vec::new();
            last.offer_all(&[bid], |update| updates.push(update));
            updates
        };
        let (narrow, wide) = (bid(1, 2, 10, 7), bid(1, 2, 10, i64::MAX));
        assert_eq!(updates(narrow), [Update::add(narrow)]);
        assert_eq!(updates(bid(1, 2, 9, 7)), [], "earlier");
        assert_eq!(updates(wide), [Update::retract(narrow), Update::add(wide)], "as late");
        let (later, key) = (bid(1, 2, 11, 8), bid(1 << 40, 2, 1, 1));
        assert_eq!(updates(later), [Update::retract(wide), Update::add(later)]);
        assert_eq!(updates(key), [Update::add(key)]);
        assert_eq!(updates(bid(1 << 40, 2, 0, 1)), [], "of a key that is too wide");
        assert_eq!(updates(bid(2, 1, 0, 1)).len(), 1, "the other way round");
    }

    #[test]
    fn a_key_that_comes_again_takes_no_more_memory() {
        let mut last = LastByKey::default();
        last.offer_all(&[bid(1, 1, 0, -1), bid(2, 2, 0, 1)], |_update| {});
        let bytes = last.bytes();
        for time in 1..20_000 {
            let bids = [bid(1, 1, time, -time), bid(2, 2, time, time), bid(1, 1, time, time)];
            last.offer_all(&bids, |_update| {});
        }
        assert_eq!(last.bytes(), bytes);
    }
}
