//! Rows that are kept for good, in the order in which they came. Memory grows by whole chunks, so that nothing is copied and
//! hardly anything is spare.

use super::pack::Pack;

/// Bytes of a chunk: large enough that what an allocator puts beside it is little (a quarter of the memory, with chunks of
/// [`SMALL_BYTES`]).
const CHUNK_BYTES: usize = 1 << 20;
/// Bytes of a chunk at first, while a large one could be mostly spare.
const SMALL_BYTES: usize = 1 << 18;
/// Number of chunks at first.
const SMALL_CHUNKS: usize = 32;

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
    const ROWS: usize = rows::<T>(CHUNK_BYTES);
    /// Rows of a chunk at first, a power of two.
    const SMALL_ROWS: usize = rows::<T>(SMALL_BYTES);
    /// Rows of all chunks at first.
    const FIRST_ROWS: usize = SMALL_CHUNKS * Self::SMALL_ROWS;

    /// Chunk of a row, and its number there.
    #[inline]
    fn place(number: usize) -> (usize, usize) {
        match number.checked_sub(Self::FIRST_ROWS) {
            None => (number / Self::SMALL_ROWS, number % Self::SMALL_ROWS),
            Some(number) => (SMALL_CHUNKS + number / Self::ROWS, number % Self::ROWS),
        }
    }

    /// Appends a row; its number.
    ///
    /// # Panics
    /// More than 2^32 - 1 rows.
    #[inline]
    pub fn push(&mut self, row: T) -> u32 {
        let number = self.len;
        assert!(number < u32::MAX as usize, "more than 2^32 - 1 rows in one list of one worker");
        let (chunk, at) = Self::place(number);
        if at == 0 {
            let rows = if chunk < SMALL_CHUNKS { Self::SMALL_ROWS } else { Self::ROWS };
            self.chunks.push(Vec::with_capacity(rows));
        }
        self.chunks[chunk].push(row);
        self.len += 1;
        number as u32
    }

    /// Row number `number`.
    #[inline]
    pub fn get(&self, number: u32) -> &T {
        let (chunk, at) = Self::place(number as usize);
        &self.chunks[chunk][at]
    }

    /// Row number `number`, to change.
    #[inline]
    pub fn get_mut(&mut self, number: u32) -> &mut T {
        let (chunk, at) = Self::place(number as usize);
        &mut self.chunks[chunk][at]
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
        let small = self.chunks.len().min(SMALL_CHUNKS);
        (small * Self::SMALL_ROWS + (self.chunks.len() - small) * Self::ROWS) * size_of::<T>()
    }
}

/// Rows that so many bytes hold, a power of two.
const fn rows<T>(bytes: usize) -> usize {
    let rows = bytes / if size_of::<T>() == 0 { 1 } else { size_of::<T>() };
    if rows == 0 { 1 } else { 1 << rows.ilog2() }
}

/// Rows that are kept for good, linked by key: each row knows the one of its key before it.
#[derive(Debug)]
pub struct Chains<T: Pack> {
    log: Log<(T::Packed, u32)>,
    wide: Log<T>,
}

/// End of a chain.
pub const NONE: u32 = u32::MAX;

impl<T: Pack> Default for Chains<T> {
    fn default() -> Self {
        Self { log: Log::default(), wide: Log::default() }
    }
}

impl<T: Pack> Chains<T> {
    /// Puts a row in front of the chain that begins at `head`.
    #[inline]
    pub fn push(&mut self, head: &mut u32, row: T) {
        *head = self.log.push((row.pack(&mut self.wide), *head));
    }

    /// Rows of the chain that begins at `head`, latest first.
    #[inline]
    pub fn iter(&self, head: u32) -> impl Iterator<Item = T> + '_ {
        let mut next = head;
        std::iter::from_fn(move || {
            if next == NONE {
                return None;
            }
            let (row, before) = self.log.get(next);
            next = *before;
            Some(T::unpack(row, &self.wide))
        })
    }

    /// Size, bytes.
    pub fn bytes(&self) -> usize {
        self.log.bytes() + self.wide.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stay_where_they_are_over_many_chunks() {
        let mut log = Log::<[u64; 100]>::default();
        for i in 0..20_000 {
            assert_eq!(log.push([i; 100]), i as u32);
            let bytes = log.len() * 800;
            let most = bytes + SMALL_BYTES.max(bytes / 8);
            assert!((bytes..=most).contains(&log.bytes()), "{} bytes for {bytes}", log.bytes());
        }
        assert!(log.chunks.len() > SMALL_CHUNKS + 2);
        log.get_mut(777)[0] = 1;
        assert_eq!((log.get(777)[0], log.get(777)[1], log.get(19_999)[99]), (1, 777, 19_999));
    }

    #[test]
    fn chains_are_apart_and_latest_first() {
        let mut chains = Chains::<i64>::default();
        let (mut a, mut b) = (NONE, NONE);
        for row in 0..6 {
            chains.push(if row % 2 == 0 { &mut a } else { &mut b }, row);
        }
        assert_eq!(chains.iter(a).collect::<Vec<_>>(), [4, 2, 0]);
        assert_eq!(chains.iter(b).collect::<Vec<_>>(), [5, 3, 1]);
        assert_eq!(chains.iter(NONE).count(), 0);
    }
}
