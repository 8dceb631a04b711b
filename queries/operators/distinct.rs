//! Which ids were seen, exactly and compactly: in a bitmap where ids lie close together, in a table of 32-bit entries where
//! they do not.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use super::Map;
use super::statistics::{Ranked, Seen};

/// Ids on one page of a bitmap.
const PAGE_IDS: i64 = 64;

/// Ids of one page with the ranks in which they were seen: four words, seen at all and in each rank, a bit an id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page(pub [u64; 4]);

impl Page {
    /// Number of the page of an id.
    #[inline]
    pub fn of(id: i64) -> i64 {
        id.div_euclid(PAGE_IDS)
    }

    /// Notes an id of this page.
    #[inline]
    pub fn note(&mut self, id: i64, rank: usize) {
        let bit = 1 << id.rem_euclid(PAGE_IDS);
        self.0[0] |= bit;
        self.0[1 + rank] |= bit;
    }

    /// Ids of this page, number `number`, with their ranks.
    pub fn ids(self, number: i64) -> impl Iterator<Item = (i64, Seen)> {
        let mut left = self.0[0];
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros();
            left &= left.checked_sub(1)?;
            let seen =
                self.0.iter().enumerate().fold(0, |seen, (at, word)| seen | (((word >> bit) & 1) << at));
            Some((number.wrapping_mul(PAGE_IDS).wrapping_add(i64::from(bit)), Seen(seen as u8)))
        })
    }
}

/// Ids that lie close together, with the ranks in which they were seen.
#[derive(Debug, Default)]
pub struct Bitmap {
    pages: Map<i64, Page>,
}

impl Bitmap {
    /// Notes the ids of a page; how many are new in all and in each rank.
    #[inline]
    pub fn note(&mut self, number: i64, page: Page) -> Ranked {
        let known = self.pages.entry(number).or_default();
        let mut new = Ranked::default();
        for ((new, known), word) in new.0.iter_mut().zip(&mut known.0).zip(page.0) {
            *new = i64::from((word & !*known).count_ones());
            *known |= word;
        }
        new
    }

    /// Size, bytes.
    pub fn bytes(&self) -> usize {
        self.pages.allocation_size()
    }
}

/// Bits of an entry that hold the ranks; the others hold the id's distance from the base, plus one.
const SEEN_BITS: u32 = 4;
const DISTANCE_MAX: i64 = (1 << (32 - SEEN_BITS)) - 2;
const SLOTS_AT_FIRST: usize = 4;

/// Ids of one of many groups, with the ranks in which they were seen: 4 bytes a slot. Ids more than 2^27 away from the
/// group's first one stand in a plain map.
#[derive(Debug, Default)]
pub struct SmallSet {
    base: i64,
    slots: Box<[u32]>,
    len: usize,
    far: Option<Box<Map<i64, Seen>>>,
}

impl SmallSet {
    /// Notes an id; what is new about it.
    #[inline]
    pub fn note(&mut self, id: i64, seen: Seen) -> Seen {
        if self.slots.is_empty() {
            self.base = id.saturating_sub(DISTANCE_MAX / 2);
            self.slots = vec![0; SLOTS_AT_FIRST].into();
        }
        match id.checked_sub(self.base) {
            Some(distance) if (0..=DISTANCE_MAX).contains(&distance) => {
                self.note_near(distance as u32 + 1, seen)
            }
            _ => self.note_far(id, seen),
        }
    }

    /// Where the id stands or would: reading it before [`SmallSet::note`], for many ids at once, lets the processor wait for
    /// their memory together rather than one by one.
    #[inline]
    pub fn touch(&self, id: i64) -> u32 {
        let tag = (id.wrapping_sub(self.base) as u32).wrapping_add(1);
        self.slots.get(slot(tag, self.slots.len().wrapping_sub(1))).copied().unwrap_or(0)
    }

    #[inline]
    fn note_near(&mut self, tag: u32, seen: Seen) -> Seen {
        let mask = self.slots.len() - 1;
        let mut at = slot(tag, mask);
        loop {
            let entry = self.slots[at];
            if entry == 0 {
                self.slots[at] = (tag << SEEN_BITS) | u32::from(seen.0);
                self.len += 1;
                if self.len * 8 > self.slots.len() * 7 {
                    self.grow();
                }
                return seen;
            }
            if entry >> SEEN_BITS == tag {
                self.slots[at] = entry | u32::from(seen.0);
                return Seen(seen.0 & !(entry as u8));
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn note_far(&mut self, id: i64, seen: Seen) -> Seen {
        let known = self.far.get_or_insert_default().entry(id).or_default();
        let new = Seen(seen.0 & !known.0);
        *known = known.or(seen);
        new
    }

    #[cold]
    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![0; mask + 1].into_boxed_slice();
        for entry in self.slots.iter().filter(|entry| **entry != 0) {
            let mut at = slot(*entry >> SEEN_BITS, mask);
            while slots[at] != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = *entry;
        }
        self.slots = slots;
    }

    /// Size on the heap, bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.slots)
            + self.far.as_ref().map_or(0, |far| size_of_val(&**far) + far.allocation_size())
    }
}

#[inline]
fn slot(tag: u32, mask: usize) -> usize {
    FxBuildHasher.hash_one(tag) as usize & mask
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn ids() -> impl Iterator<Item = (i64, usize)> {
        let spread = |i: i64| match i % 5 {
            0 => i % 1000,
            1 => -(i % 300),
            2 => 1_000_000 + i % 77,
            3 => i64::MAX - i % 3,
            _ => i.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64) >> (i % 40),
        };
        (0..30_000_i64).map(move |i| (spread(i), (i * i % 3) as usize))
    }

    #[test]
    fn both_tell_what_is_new_as_a_plain_map_does() {
        let mut plain = HashMap::<i64, u8>::new();
        let (mut bitmap, mut set) = (Bitmap::default(), SmallSet::default());
        for (id, rank) in ids() {
            let known = plain.entry(id).or_default();
            let new = Seen(Seen::at(rank).0 & !*known);
            *known |= Seen::at(rank).0;
            let (mut page, mut counts) = (Page::default(), Ranked::default());
            page.note(id, rank);
            counts.count_seen(new);
            assert_eq!(
                (bitmap.note(Page::of(id), page), set.note(id, Seen::at(rank))),
                (counts, new),
                "id {id}"
            );
        }
    }

    #[test]
    fn a_page_gives_back_its_ids() {
        for ids in [
            [0, 1, 63],
            [-64, -63, -1],
            [i64::MIN, i64::MIN + 5, i64::MIN + 63],
            [i64::MAX - 63, i64::MAX - 1, i64::MAX],
        ] {
            let mut page = Page::default();
            for (rank, id) in ids.into_iter().enumerate() {
                page.note(id, rank);
            }
            page.note(ids[0], 2);
            let seen = [Seen::at(0).or(Seen::at(2)), Seen::at(1), Seen::at(2)];
            let expected: Vec<_> = ids.into_iter().zip(seen).collect();
            assert_eq!(page.ids(Page::of(ids[0])).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn a_set_takes_few_bytes_an_id() {
        let mut set = SmallSet::default();
        for id in 0..7000 {
            set.note(id * 1000, Seen::at(0));
        }
        assert_eq!(set.bytes(), 8192 * 4);
    }
}
