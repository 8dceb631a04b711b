//! The last bid of each (auction, bidder), kept for good. Beside the bids themselves only their numbers are kept.

use super::keyed::{HasKey, Keyed};
use super::update::Update;
use crate::event::Bid;

/// Bids by (auction, bidder).
#[derive(Debug, Default)]
pub struct LastByKey {
    bids: Keyed<Bid>,
}

impl HasKey for Bid {
    type Key = (i64, i64);

    #[inline]
    fn key(&self) -> Self::Key {
        (self.auction, self.bidder)
    }
}

impl LastByKey {
    /// Takes a bid into account: if none of its key is later, the former one is taken back and this one added.
    #[inline]
    pub fn offer(&mut self, bid: Bid, mut emit: impl FnMut(Update<Bid>)) {
        let (number, known) = self.bids.number(bid.key(), || bid);
        if known {
            let last = self.bids.row_mut(number);
            if last.date_time > bid.date_time {
                return;
            }
            emit(Update::retract(*last));
            *last = bid;
        }
        emit(Update::add(bid));
    }

    /// Size, bytes.
    pub fn bytes(&self) -> usize {
        self.bids.bytes()
    }
}
