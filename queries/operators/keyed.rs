//! One row per key, kept for good and compactly: rows stand in a log, the hash table holds their numbers, and the key is read
//! from the row.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;

use super::log::Log;

/// A row that tells its key, which does not change while it is kept.
pub trait HasKey {
    /// The key.
    type Key: Copy + Eq + Hash;

    /// The key of this row.
    fn key(&self) -> Self::Key;
}

impl<K: Copy + Eq + Hash, V> HasKey for (K, V) {
    type Key = K;

    #[inline]
    fn key(&self) -> K {
        self.0
    }
}

/// Rows of different keys, whose number only grows.
#[derive(Debug)]
pub struct Keyed<R> {
    numbers: HashTable<u32>,
    rows: Log<R>,
}

impl<R> Default for Keyed<R> {
    fn default() -> Self {
        Self { numbers: HashTable::new(), rows: Log::default() }
    }
}

impl<R: HasKey> Keyed<R> {
    /// Number of a key's row, which stays the same, and whether it was there; else it is made.
    #[inline]
    pub fn number(&mut self, key: R::Key, make: impl FnOnce() -> R) -> (u32, bool) {
        let Self { numbers, rows } = self;
        let hash = FxBuildHasher.hash_one(key);
        let entry = numbers.entry(
            hash,
            |number| rows.get(*number).key() == key,
            |number| FxBuildHasher.hash_one(rows.get(*number).key()),
        );
        match entry {
            Entry::Occupied(entry) => (*entry.get(), true),
            Entry::Vacant(entry) => {
                let number = rows.len() as u32;
                entry.insert(number);
                (rows.push(make()), false)
            }
        }
    }

    /// The row of a number, to change.
    #[inline]
    pub fn row_mut(&mut self, number: u32) -> &mut R {
        self.rows.get_mut(number)
    }

    /// Size, bytes, without what rows own elsewhere.
    pub fn bytes(&self) -> usize {
        self.numbers.allocation_size() + self.rows.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_a_row_per_key_while_it_grows() {
        let mut keyed = Keyed::<((i64, i64), u64)>::default();
        for i in 0..100_000_i64 {
            let key = (i % 30_000, i % 7);
            let before = keyed.rows.len();
            let (number, known) = keyed.number(key, || (key, 0));
            assert_eq!(known, keyed.rows.len() == before);
            keyed.row_mut(number).1 += 1;
        }
        let key = (29_999, 29_999 % 7);
        let (number, known) = keyed.number(key, || unreachable!("the key is there"));
        assert_eq!((*keyed.row_mut(number), known), ((key, 1), true));
        let mut sum = 0;
        for number in 0..keyed.rows.len() as u32 {
            sum += keyed.row_mut(number).1;
        }
        assert_eq!(sum, 100_000);
    }
}
