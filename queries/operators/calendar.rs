//! What is to be looked at when the watermark has passed a time, in steps that keep the number of lists small.

use std::collections::BTreeMap;

use super::time;

/// Length of a step, ms: items are due up to that much after their time.
const STEP_MS: i64 = 100;

/// Items by the time at which they are due.
#[derive(Debug)]
pub struct Calendar<T> {
    steps: BTreeMap<i64, Vec<T>>,
    items: usize,
    /// Items that the lists of `steps` have room for.
    room: usize,
    /// Step in use, taken out of the map: most items come for one step after the other.
    open: Vec<T>,
    open_step: i64,
}

impl<T> Default for Calendar<T> {
    fn default() -> Self {
        Self { steps: BTreeMap::new(), items: 0, room: 0, open: Vec::new(), open_step: i64::MIN }
    }
}

impl<T> Calendar<T> {
    /// Adds an item that is due when the watermark has passed `at`, epoch ms.
    #[inline]
    pub fn add(&mut self, at: i64, item: T) {
        let step = at.div_euclid(STEP_MS);
        if step != self.open_step {
            self.switch(step);
        }
        self.open.push(item);
        self.items += 1;
    }

    fn switch(&mut self, step: i64) {
        self.close();
        self.open = self.steps.remove(&step).unwrap_or_default();
        self.room -= self.open.capacity();
        self.open_step = step;
    }

    fn close(&mut self) {
        let items = std::mem::take(&mut self.open);
        if !items.is_empty() {
            self.room += items.capacity();
            self.steps.insert(self.open_step, items);
        }
    }

    /// Removes the items of the earliest step if the watermark has passed all of it; all items of a step come together.
    pub fn next(&mut self, watermark: i64) -> Option<Vec<T>> {
        let passed = |step: i64| watermark == time::END || step < watermark.div_euclid(STEP_MS);
        if !self.open.is_empty() && passed(self.open_step) {
            self.close();
        }
        let entry = self.steps.first_entry().filter(|entry| passed(*entry.key()))?;
        let items = entry.remove();
        self.items -= items.len();
        self.room -= items.capacity();
        Some(items)
    }

    /// Whether nothing is due at any time.
    pub fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// Size, bytes.
    pub fn bytes(&self) -> usize {
        (self.room + self.open.capacity()) * size_of::<T>() + self.steps.len() * size_of::<(i64, Vec<T>)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_step_by_step_and_never_before_their_time() {
        let mut calendar = Calendar::default();
        for at in [250, 99, 0, 100, -1, 199, 250] {
            calendar.add(at, at);
        }
        assert_eq!(calendar.next(-1), None, "the step of -1 ends at 0");
        assert_eq!(calendar.next(100), Some(vec![-1]));
        assert_eq!(calendar.next(100), Some(vec![99, 0]));
        assert_eq!(calendar.next(199), None);
        assert_eq!(calendar.next(200), Some(vec![100, 199]));
        assert!(!calendar.is_empty());
        assert_eq!(calendar.next(time::END), Some(vec![250, 250]));
        assert_eq!((calendar.next(time::END), calendar.is_empty()), (None, true));
    }

    #[test]
    fn the_last_moment_is_due_at_the_end() {
        let mut calendar = Calendar::default();
        calendar.add(i64::MAX, 1);
        assert_eq!(calendar.next(i64::MAX - 1), None);
        assert_eq!(calendar.next(time::END), Some(vec![1]));
    }
}
