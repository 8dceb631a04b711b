//! The N highest rows of a key, and which ranks changed within a batch.

/// Up to N rows, highest first; of rows that tie the first to come is first. Memory grows with the rows.
#[derive(Debug)]
pub struct Top<T, const N: usize> {
    rows: Vec<T>,
    /// Whether the state before this batch is noted.
    noted: bool,
}

impl<T, const N: usize> Default for Top<T, N> {
    fn default() -> Self {
        Self { rows: Vec::new(), noted: false }
    }
}

impl<T: Copy + PartialEq, const N: usize> Top<T, N> {
    /// Index at which a row of that value belongs; `None` if it is not among the first N.
    #[inline]
    pub fn rank(&self, value: i64, value_of: impl Fn(&T) -> i64) -> Option<usize> {
        if self.rows.len() == N && value <= value_of(&self.rows[N - 1]) {
            return None;
        }
        let higher = self.rows.iter().rposition(|row| value_of(row) >= value);
        Some(higher.map_or(0, |last| last + 1))
    }

    /// Puts a row in, the one behind the last rank falls out.
    pub fn insert(&mut self, rank: usize, row: T) {
        if self.rows.len() == N {
            self.rows.pop();
        } else if self.rows.len() == self.rows.capacity() {
            let more = (self.rows.len() / 2).clamp(1, N - self.rows.len());
            self.rows.reserve_exact(more);
        }
        self.rows.insert(rank, row);
    }

    /// Ranks, from 1 on, whose row differs from the one before, with the row before and the row now.
    pub fn changed_since(&mut self, before: &[T], mut changed: impl FnMut(usize, Option<&T>, &T)) {
        self.noted = false;
        for (index, row) in self.rows.iter().enumerate() {
            let before = before.get(index);
            if before != Some(row) {
                changed(index + 1, before, row);
            }
        }
    }

    /// Size on the heap, bytes.
    pub fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<T>()
    }
}

/// What the lists that change in a batch were before it.
#[derive(Debug)]
pub struct Snapshots<T> {
    rows: Vec<T>,
    /// Number of a list, and where its rows end.
    lists: Vec<(u32, usize)>,
}

impl<T> Default for Snapshots<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), lists: Vec::new() }
    }
}

impl<T: Copy> Snapshots<T> {
    /// Notes a list before its first change in a batch.
    #[inline]
    pub fn take<const N: usize>(&mut self, number: u32, top: &mut Top<T, N>) {
        if !top.noted {
            top.noted = true;
            self.rows.extend_from_slice(&top.rows);
            self.lists.push((number, self.rows.len()));
        }
    }

    /// Hands over every list of the batch as it was before, and forgets them.
    pub fn drain(&mut self, mut list: impl FnMut(u32, &[T])) {
        let mut from = 0;
        for (number, to) in self.lists.drain(..) {
            list(number, &self.rows[from..to]);
            from = to;
        }
        self.rows.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(top: &mut Top<(i64, char), 3>, snapshots: &mut Snapshots<(i64, char)>, row: (i64, char)) {
        if let Some(rank) = top.rank(row.0, |row| row.0) {
            snapshots.take(0, top);
            top.insert(rank, row);
        }
    }

    #[test]
    fn the_first_of_ties_is_first_and_the_lowest_falls_out() {
        let (mut top, mut snapshots) = (Top::default(), Snapshots::default());
        for row in [(5, 'a'), (7, 'b'), (5, 'c'), (5, 'd'), (6, 'e'), (1, 'f')] {
            offer(&mut top, &mut snapshots, row);
        }
        assert_eq!(top.rows, [(7, 'b'), (6, 'e'), (5, 'a')]);
        assert_eq!(top.rank(5, |row| row.0), None);
    }

    #[test]
    fn only_ranks_that_differ_from_before_the_batch_are_reported() {
        let (mut top, mut snapshots) = (Top::default(), Snapshots::default());
        offer(&mut top, &mut snapshots, (7, 'a'));
        offer(&mut top, &mut snapshots, (5, 'b'));
        let mut changes = Vec::new();
        snapshots
            .drain(|_, before| top.changed_since(before, |rank, b, a| changes.push((rank, b.copied(), *a))));
        assert_eq!(changes, [(1, None, (7, 'a')), (2, None, (5, 'b'))]);
        offer(&mut top, &mut snapshots, (6, 'c'));
        offer(&mut top, &mut snapshots, (6, 'd'));
        changes.clear();
        snapshots
            .drain(|_, before| top.changed_since(before, |rank, b, a| changes.push((rank, b.copied(), *a))));
        assert_eq!(changes, [(2, Some((5, 'b')), (6, 'c')), (3, None, (6, 'd'))]);
    }
}
