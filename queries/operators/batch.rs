//! Aggregates within one batch of rows, before they cross an exchange: a hot key then costs one row a batch, not one a row,
//! as with Flink's mini-batch.

use std::hash::{BuildHasher, Hash};

use rustc_hash::FxBuildHasher;

/// A small hash table whose entries are drained after each batch; emptying it costs nothing.
#[derive(Debug)]
pub struct Batch<K, V> {
    /// Slot of a key: the round in which it was taken, and the number of its entry.
    slots: Vec<Slot>,
    round: u32,
    entries: Vec<(K, V)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    round: u32,
    entry: u32,
}

const SLOTS_AT_FIRST: usize = 1024;

impl<K: Copy + Eq + Hash, V: Default> Default for Batch<K, V> {
    fn default() -> Self {
        Self { slots: vec![Slot::default(); SLOTS_AT_FIRST], round: 1, entries: Vec::new() }
    }
}

impl<K: Copy + Eq + Hash, V: Default> Batch<K, V> {
    /// The value of a key, made if it is not there.
    #[inline]
    pub fn entry(&mut self, key: K) -> &mut V {
        if self.entries.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = FxBuildHasher.hash_one(key) as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.round != self.round {
                self.slots[at] = Slot { round: self.round, entry: self.entries.len() as u32 };
                self.entries.push((key, V::default()));
                let last = self.entries.len() - 1;
                return &mut self.entries[last].1;
            }
            if self.entries[slot.entry as usize].0 == key {
                return &mut self.entries[slot.entry as usize].1;
            }
            at = (at + 1) & mask;
        }
    }

    /// Removes all entries, in the order in which their keys came first.
    pub fn drain(&mut self) -> std::vec::Drain<'_, (K, V)> {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.slots.fill(Slot::default());
            self.round = 1;
        }
        self.entries.drain(..)
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[cold]
    fn grow(&mut self) {
        let slots = self.slots.len() * 2;
        self.slots = vec![Slot::default(); slots];
        self.round = 1;
        for (number, (key, _)) in self.entries.iter().enumerate() {
            let mut at = FxBuildHasher.hash_one(*key) as usize & (slots - 1);
            while self.slots[at].round == self.round {
                at = (at + 1) & (slots - 1);
            }
            self.slots[at] = Slot { round: self.round, entry: number as u32 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn counts_like_a_plain_map_over_many_batches() {
        let mut batch = Batch::<i64, u64>::default();
        for round in 0..5 {
            let mut expected = HashMap::<i64, u64>::new();
            for i in 0..20_000_i64 {
                let key = (i * i + round) % (700 * (round + 1));
                *batch.entry(key) += 1;
                *expected.entry(key).or_default() += 1;
            }
            let counted: HashMap<i64, u64> = batch.drain().collect();
            assert_eq!(counted, expected);
            assert!(batch.is_empty());
        }
    }

    #[test]
    fn survives_the_wrap_of_its_rounds() {
        let mut batch = Batch::<i64, u64> { round: u32::MAX, ..Batch::default() };
        *batch.entry(7) += 1;
        assert_eq!(batch.drain().collect::<Vec<_>>(), [(7, 1)]);
        assert_eq!(*batch.entry(7), 0, "the former round is forgotten");
    }
}
