//! Rows that are kept for good, in the order in which they came. Memory grows by whole chunks, so that nothing is copied and
//! hardly anything is spare.

/// Bytes of a chunk: large enough that chunks are few, small enough that the last one wastes little.
const CHUNK_BYTES: usize = 1 << 18;

/// An append-only list.
#[derive(Debug)]
pub struct Log<T> {
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }
}

impl<T> Log<T> {
    /// Rows of a chunk, a power of two.
    const ROWS: usize = {
        let rows = CHUNK_BYTES / if size_of::<T>() == 0 { 1 } else { size_of::<T>() };
        if rows == 0 { 1 } else { 1 << rows.ilog2() }
    };

    /// Appends a row; its number.
    ///
    /// # Panics
    /// More than 2^32 - 1 rows.
    #[inline]
    pub fn push(&mut self, row: T) -> u32 {
        let number = self.len;
        assert!(number < u32::MAX as usize, "more than 2^32 - 1 rows in one list of one worker");
        if number.is_multiple_of(Self::ROWS) {
            self.chunks.push(Vec::with_capacity(Self::ROWS));
        }
        let last = self.chunks.len() - 1;
        self.chunks[last].push(row);
        self.len += 1;
        number as u32
    }

    /// Row number `number`.
    #[inline]
    pub fn get(&self, number: u32) -> &T {
        &self.chunks[number as usize / Self::ROWS][number as usize % Self::ROWS]
    }

    /// Row number `number`, to change.
    #[inline]
    pub fn get_mut(&mut self, number: u32) -> &mut T {
        &mut self.chunks[number as usize / Self::ROWS][number as usize % Self::ROWS]
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size, bytes.
    pub fn bytes(&self) -> usize {
        self.chunks.len() * Self::ROWS * size_of::<T>()
    }
}

/// Rows that are kept for good, linked by key: each row knows the one of its key before it.
#[derive(Debug)]
pub struct Chains<T> {
    log: Log<(T, u32)>,
}

/// End of a chain.
pub const NONE: u32 = u32::MAX;

impl<T> Default for Chains<T> {
    fn default() -> Self {
        Self { log: Log::default() }
    }
}

impl<T> Chains<T> {
    /// Puts a row in front of the chain that begins at `head`.
    #[inline]
    pub fn push(&mut self, head: &mut u32, row: T) {
        *head = self.log.push((row, *head));
    }

    /// Rows of the chain that begins at `head`, latest first.
    #[inline]
    pub fn iter(&self, head: u32) -> impl Iterator<Item = &T> + '_ {
        let mut next = head;
        std::iter::from_fn(move || {
            if next == NONE {
                return None;
            }
            let (row, before) = self.log.get(next);
            next = *before;
            Some(row)
        })
    }

    /// Size, bytes.
    pub fn bytes(&self) -> usize {
        self.log.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stay_where_they_are_over_many_chunks() {
        let mut log = Log::<[u64; 100]>::default();
        for i in 0..2000 {
            assert_eq!(log.push([i; 100]), i as u32);
        }
        log.get_mut(777)[0] = 1;
        assert_eq!((log.get(777)[0], log.get(777)[1], log.get(1999)[99]), (1, 777, 1999));
        assert!(log.bytes() >= 2000 * 800 && log.bytes() < 2000 * 800 + 2 * CHUNK_BYTES);
    }

    #[test]
    fn chains_are_apart_and_latest_first() {
        let mut chains = Chains::default();
        let (mut a, mut b) = (NONE, NONE);
        for row in 0..6 {
            chains.push(if row % 2 == 0 { &mut a } else { &mut b }, row);
        }
        assert_eq!(chains.iter(a).copied().collect::<Vec<_>>(), [4, 2, 0]);
        assert_eq!(chains.iter(b).copied().collect::<Vec<_>>(), [5, 3, 1]);
        assert_eq!(chains.iter(NONE).count(), 0);
    }
}
