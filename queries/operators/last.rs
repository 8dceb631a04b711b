//! The last bid of each (auction, bidder), kept for good.

use super::keyed::Keyed;
use super::update::Update;
use crate::event::Bid;

/// Bids by (auction, bidder).
#[derive(Debug, Default)]
pub struct LastByKey {
    bids: Keyed<(i64, i64), Option<Bid>>,
}

impl LastByKey {
    /// Takes a bid into account: if none of its key is later, the former one is taken back and this one added.
    #[inline]
    pub fn offer(&mut self, bid: Bid, mut emit: impl FnMut(Update<Bid>)) {
        let number = self.bids.number((bid.auction, bid.bidder), || None);
        let (_, last) = self.bids.row_mut(number);
        if let Some(before) = last {
            if before.date_time > bid.date_time {
                return;
            }
            emit(Update::retract(*before));
        }
        *last = Some(bid);
        emit(Update::add(bid));
    }

    /// Size, bytes.
    pub fn bytes(&self) -> usize {
        self.bids.bytes()
    }
}
