//! One value per key, kept for good and compactly: values stand in a log, the hash table holds their numbers.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::log::Log;

/// A map that only grows.
#[derive(Debug)]
pub struct Keyed<K, V> {
    numbers: HashTable<u32>,
    rows: Log<(K, V)>,
}

impl<K, V> Default for Keyed<K, V> {
    fn default() -> Self {
        Self { numbers: HashTable::new(), rows: Log::default() }
    }
}

impl<K: Copy + Eq + Hash, V> Keyed<K, V> {
    /// Number of a key's value, which stays the same; the value is made if it is not there.
    #[inline]
    pub fn number(&mut self, key: K, make: impl FnOnce() -> V) -> u32 {
        let Self { numbers, rows } = self;
        let hash = FxBuildHasher.hash_one(key);
        let entry = numbers.entry(
            hash,
            |number| rows.get(*number).0 == key,
            |number| FxBuildHasher.hash_one(rows.get(*number).0),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(entry) => *entry.get(),
            hashbrown::hash_table::Entry::Vacant(entry) => {
                let number = rows.len() as u32;
                entry.insert(number);
                rows.push((key, make()))
            }
        }
    }

    /// Key of a number and its value, to change.
    #[inline]
    pub fn row_mut(&mut self, number: u32) -> (&K, &mut V) {
        let (key, value) = self.rows.get_mut(number);
        (key, value)
    }

    /// Size, bytes, without what values own elsewhere.
    pub fn bytes(&self) -> usize {
        self.numbers.allocation_size() + self.rows.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_a_value_per_key_while_it_grows() {
        let mut keyed = Keyed::<(i64, i64), u64>::default();
        for i in 0..100_000_i64 {
            let number = keyed.number((i % 30_000, i % 7), || 0);
            *keyed.row_mut(number).1 += 1;
        }
        let number = keyed.number((29_999, 29_999 % 7), || unreachable!("the key is there"));
        assert_eq!(keyed.row_mut(number), (&(29_999, 29_999 % 7), &mut 1));
        let mut sum = 0;
        for number in 0..keyed.rows.len() as u32 {
            sum += *keyed.row_mut(number).1;
        }
        assert_eq!(sum, 100_000);
    }
}
