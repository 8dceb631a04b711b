//! How rows that are kept by the million are kept: ids, prices and lengths are nearly always far smaller than their columns, so
//! that a bid takes little more than half of its bytes.

use std::fmt::Debug;

use super::log::Log;
use crate::event::{Auction, Bid, Channel, KeylessBid, Person, Text, Url};

/// A row that is kept in another form.
pub trait Pack: Copy + Debug {
    /// The form.
    type Packed: Copy + Debug;

    /// Packs this row; one that does not fit goes whole to `wide`.
    fn pack(self, wide: &mut Log<Self>) -> Self::Packed;

    /// The row that was packed with `wide`.
    fn unpack(packed: &Self::Packed, wide: &Log<Self>) -> Self;
}

/// Rows that are kept as they are.
pub trait Whole: Copy + Debug {}

impl Whole for i64 {}
impl Whole for Person {}
impl Whole for Auction {}

impl<T: Whole> Pack for T {
    type Packed = Self;

    #[inline]
    fn pack(self, _wide: &mut Log<Self>) -> Self {
        self
    }

    #[inline]
    fn unpack(packed: &Self, _wide: &Log<Self>) -> Self {
        *packed
    }
}

/// Marks, as a length of the extra text, a row that stands whole elsewhere; its number takes the place of the id.
const WIDE: u16 = u16::MAX;

/// A [`KeylessBid`] of 28 bytes.
#[derive(Clone, Copy, Debug)]
pub struct PackedBid {
    id: u32,
    price: u32,
    date_time_low: u32,
    date_time_high: i16,
    extra_len: u16,
    extra_at: u32,
    channel: Channel,
    url: Url,
}

impl PackedBid {
    #[inline]
    fn new(bid: &KeylessBid) -> Option<Self> {
        Some(Self {
            id: u32::try_from(bid.id).ok()?,
            price: u32::try_from(bid.price).ok()?,
            date_time_low: bid.date_time as u32,
            date_time_high: i16::try_from(bid.date_time >> 32).ok()?,
            extra_len: u16::try_from(bid.extra.len).ok().filter(|len| *len != WIDE)?,
            extra_at: bid.extra.at,
            channel: bid.channel,
            url: bid.url,
        })
    }

    #[cold]
    fn wide(number: u32) -> Self {
        Self {
            id: number,
            price: 0,
            date_time_low: 0,
            date_time_high: 0,
            extra_len: WIDE,
            extra_at: 0,
            channel: Channel::default(),
            url: Url::default(),
        }
    }

    /// The bid, or the number under which it stands whole.
    #[inline]
    fn get(&self) -> Result<KeylessBid, u32> {
        if self.extra_len == WIDE {
            return Err(self.id);
        }
        Ok(KeylessBid {
            id: i64::from(self.id),
            price: i64::from(self.price),
            date_time: i64::from(self.date_time_high) << 32 | i64::from(self.date_time_low),
            channel: self.channel,
            url: self.url,
            extra: Text { at: self.extra_at, len: u32::from(self.extra_len) },
        })
    }
}

/// Out of the way of the rows that fit.
#[cold]
fn whole<T: Copy>(wide: &Log<T>, number: u32) -> T {
    *wide.get(number)
}

impl Pack for KeylessBid {
    type Packed = PackedBid;

    #[inline]
    fn pack(self, wide: &mut Log<Self>) -> PackedBid {
        PackedBid::new(&self).unwrap_or_else(|| PackedBid::wide(wide.push(self)))
    }

    #[inline]
    fn unpack(packed: &PackedBid, wide: &Log<Self>) -> Self {
        packed.get().unwrap_or_else(|number| whole(wide, number))
    }
}

/// In 32 bytes: the auction, and the rest.
impl Pack for Bid {
    type Packed = (u32, PackedBid);

    #[inline]
    fn pack(self, wide: &mut Log<Self>) -> Self::Packed {
        let packed = u32::try_from(self.auction).ok().zip(PackedBid::new(&self.without_auction()));
        packed.unwrap_or_else(|| (0, PackedBid::wide(wide.push(self))))
    }

    #[inline]
    fn unpack((auction, packed): &Self::Packed, wide: &Log<Self>) -> Self {
        let bid = packed.get().map(|bid| bid.with_auction(i64::from(*auction)));
        bid.unwrap_or_else(|number| whole(wide, number))
    }
}

/// Puts a bid in the place of one that was packed with `wide`. A place that is whole stays so, and is used again.
#[inline]
pub fn replace(packed: &mut <Bid as Pack>::Packed, bid: Bid, wide: &mut Log<Bid>) {
    match packed.1.get() {
        Ok(_) => *packed = bid.pack(wide),
        Err(number) => *wide.get_mut(number) = bid,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Values on both sides of what fits.
    fn integer() -> impl Strategy<Value = i64> {
        prop_oneof![
            any::<i64>(),
            0..1_000_000_i64,
            prop::sample::select(vec![
                -1,
                i64::from(u32::MAX),
                i64::from(u32::MAX) + 1,
                (1 << 47) - 1,
                1 << 47,
                -(1 << 47),
                -(1 << 47) - 1,
            ]),
        ]
    }

    fn length() -> impl Strategy<Value = u32> {
        prop_oneof![any::<u32>(), 0..200_u32, u32::from(WIDE) - 1..=u32::from(WIDE) + 1]
    }

    fn bid() -> impl Strategy<Value = Bid> {
        let numbers = (any::<u32>(), any::<u32>(), any::<u32>(), length());
        (integer(), integer(), integer(), integer(), numbers).prop_map(
            |(auction, bidder, price, date_time, (channel, url, at, len))| Bid {
                auction,
                bidder,
                price,
                date_time,
                channel: Channel(channel),
                url: Url(url),
                extra: Text { at, len },
            },
        )
    }

    fn unpacked<T: Pack>(rows: impl Iterator<Item = T>) -> (Vec<T>, usize) {
        let mut wide = Log::default();
        let packed: Vec<T::Packed> = rows.map(|row| row.pack(&mut wide)).collect();
        (packed.iter().map(|packed| T::unpack(packed, &wide)).collect(), wide.len())
    }

    proptest! {
        #[test]
        fn every_bid_comes_back(bids in prop::collection::vec(bid(), 0..50)) {
            prop_assert_eq!(&unpacked(bids.iter().copied()).0, &bids);
            let keyless: Vec<KeylessBid> = bids.iter().map(|bid| bid.without_bidder()).collect();
            prop_assert_eq!(&unpacked(keyless.iter().copied()).0, &keyless);
        }
    }

    #[test]
    fn only_what_does_not_fit_is_kept_whole() {
        let time = (1 << 47) - 1;
        let fits = Bid {
            auction: i64::from(u32::MAX),
            bidder: i64::from(u32::MAX),
            price: i64::from(u32::MAX),
            date_time: time,
            channel: Channel(u32::MAX),
            url: Url(u32::MAX),
            extra: Text { at: u32::MAX, len: u32::from(WIDE) - 1 },
        };
        let too_wide = [
            Bid { auction: -1, ..fits },
            Bid { bidder: fits.bidder + 1, ..fits },
            Bid { price: -1, ..fits },
            Bid { date_time: time + 1, ..fits },
            Bid { extra: Text { at: 0, len: u32::from(WIDE) }, ..fits },
        ];
        assert_eq!(unpacked(std::iter::repeat_n(fits, 3)), (vec![fits; 3], 0));
        assert_eq!(unpacked(too_wide.into_iter()), (too_wide.to_vec(), too_wide.len()));
        assert_eq!((size_of::<<KeylessBid as Pack>::Packed>(), size_of::<<Bid as Pack>::Packed>()), (28, 32));
    }
}
