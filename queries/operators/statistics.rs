//! The numbers that the reports of q15, q16 and q17 share: bids, and distinct bidders and auctions, in all and in three ranks
//! of price.

use serde::{Deserialize, Serialize};

use crate::answer::Columns;

/// Prices below these bounds are of rank 1 and 2; the others of rank 3.
const RANK_BOUNDS: [i64; 2] = [10_000, 1_000_000];
/// Ranks.
pub const RANKS: usize = 3;
/// Numbers in all and per rank.
const IN_ALL_AND_RANKS: usize = 1 + RANKS;

/// Rank of a price: 0, 1 or 2.
#[inline]
pub fn rank(price: i64) -> usize {
    usize::from(price >= RANK_BOUNDS[0]) + usize::from(price >= RANK_BOUNDS[1])
}

/// In which ranks an id was seen: bit 0 in any, bits 1 to 3 in each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen(pub u8);

impl Seen {
    /// Seen in a rank, and so in any.
    #[inline]
    pub fn at(rank: usize) -> Self {
        Self(1 | (2 << rank))
    }

    /// Seen in either.
    #[inline]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A number in all, and of each rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ranked(pub [i64; IN_ALL_AND_RANKS]);

impl Ranked {
    /// One more of a rank.
    #[inline]
    pub fn count(&mut self, rank: usize) {
        self.0[0] += 1;
        self.0[1 + rank] += 1;
    }

    /// The number in all.
    #[inline]
    pub fn total(&self) -> i64 {
        self.0[0]
    }

    /// One more wherever a bit is set.
    #[inline]
    pub fn count_seen(&mut self, new: Seen) {
        for (at, number) in self.0.iter_mut().enumerate() {
            *number += i64::from((new.0 >> at) & 1);
        }
    }

    /// Adds numbers.
    pub fn add(&mut self, more: &Self) {
        for (number, more) in self.0.iter_mut().zip(&more.0) {
            *number += more;
        }
    }
}

/// Bids, bidders and auctions of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Bids.
    pub bids: Ranked,
    /// Distinct bidders.
    pub bidders: Ranked,
    /// Distinct auctions.
    pub auctions: Ranked,
}

impl Statistics {
    /// Adds numbers.
    pub fn add(&mut self, more: &Self) {
        self.bids.add(&more.bids);
        self.bidders.add(&more.bidders);
        self.auctions.add(&more.auctions);
    }

    /// Hands the numbers over in the order of the answer columns.
    pub fn columns(&self, columns: &mut dyn Columns) {
        for ranked in [&self.bids, &self.bidders, &self.auctions] {
            ranked.0.iter().for_each(|number| columns.integer(*number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_closed_below() {
        assert_eq!([-1, 9_999, 10_000, 999_999, 1_000_000].map(rank), [0, 0, 1, 1, 2]);
    }

    #[test]
    fn an_id_counts_once_in_all_and_once_in_each_rank() {
        let mut ranked = Ranked::default();
        let first = Seen::at(2);
        ranked.count_seen(first);
        let both = first.or(Seen::at(0));
        ranked.count_seen(Seen(both.0 & !first.0));
        assert_eq!(ranked, Ranked([1, 1, 0, 1]));
    }
}
