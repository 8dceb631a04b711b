//! Rows that workers share or pass on: what crosses from one to another is a reference, and what is kept is one copy.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use timely::dataflow::StreamVec;

use super::kernel::kernel;
use super::log::{Log, NONE};
use super::{Blocks, Time};
use crate::block::Block;

/// What is shared.
pub trait Payload: Clone + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Whether there are no rows in it.
    fn is_empty(&self) -> bool;

    /// Size, bytes.
    fn bytes(&self) -> usize;
}

impl<R: Clone + Serialize + DeserializeOwned + Send + Sync + 'static> Payload for Box<[R]> {
    fn is_empty(&self) -> bool {
        <[R]>::is_empty(self)
    }

    fn bytes(&self) -> usize {
        size_of_val(&**self)
    }
}

/// Rows of a block on their way to a worker, and perhaps to others, too.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "P: Serialize + DeserializeOwned")]
pub struct Parcel<P> {
    to: usize,
    /// Whether their size counts there: of all workers that share them, it does on one.
    counts: bool,
    rows: Arc<P>,
}

impl<P> Parcel<P> {
    /// The worker that it goes to, for an exchange.
    pub fn to(&self) -> u64 {
        self.to as u64
    }
}

/// Gives every worker what `make` takes out of each block.
pub fn broadcast<P: Payload>(
    blocks: Blocks<'_>,
    make: impl Fn(&Block) -> P + 'static,
) -> StreamVec<'_, Time, Parcel<P>> {
    let (workers, home) = (blocks.scope().peers(), blocks.scope().index());
    kernel(blocks, "broadcast", move |block, parcels| {
        let rows = make(block);
        if !rows.is_empty() {
            let rows = Arc::new(rows);
            parcels.extend((0..workers).map(|to| Parcel { to, counts: to == home, rows: Arc::clone(&rows) }));
        }
    })
}

/// Gives each worker what `make` takes out of each block for it: of (block, number of workers), one for each worker.
pub fn deal<P: Payload>(
    blocks: Blocks<'_>,
    make: impl Fn(&Block, usize) -> Vec<P> + 'static,
) -> StreamVec<'_, Time, Parcel<P>> {
    let workers = blocks.scope().peers();
    kernel(blocks, "deal", move |block, parcels| {
        let rows = make(block, workers).into_iter().enumerate().filter(|(_to, rows)| !rows.is_empty());
        parcels.extend(rows.map(|(to, rows)| Parcel { to, counts: true, rows: Arc::new(rows) }));
    })
}

/// What was in the parcels, kept for good.
#[derive(Debug)]
pub struct Kept<P> {
    parcels: Log<Arc<P>>,
    bytes: usize,
}

impl<P> Default for Kept<P> {
    fn default() -> Self {
        Self { parcels: Log::default(), bytes: 0 }
    }
}

impl<P: Payload> Kept<P> {
    /// Keeps what is in a parcel; its number.
    pub fn push(&mut self, parcel: Parcel<P>) -> u32 {
        self.bytes += if parcel.counts { parcel.rows.bytes() } else { 0 };
        self.parcels.push(parcel.rows)
    }

    /// What was in parcel number `number`.
    #[inline]
    pub fn get(&self, number: u32) -> &P {
        self.parcels.get(number)
    }

    /// Size, bytes.
    pub fn bytes(&self) -> usize {
        self.parcels.bytes() + self.bytes
    }
}

/// Rows of parcels, linked by key: each knows the one of its key before it.
#[derive(Debug, Default)]
pub struct Links {
    links: Log<Link>,
}

/// A row: its parcel, its number there, and the row before it in its chain.
#[derive(Clone, Copy, Debug)]
struct Link {
    parcel: u32,
    row: u32,
    before: u32,
}

impl Links {
    /// Puts row number `row` of parcel number `parcel` in front of the chain that begins at `head`.
    #[inline]
    pub fn push(&mut self, head: &mut u32, parcel: u32, row: usize) {
        *head = self.links.push(Link { parcel, row: row as u32, before: *head });
    }

    /// Numbers of parcel and row along the chain that begins at `head`, latest first.
    #[inline]
    pub fn iter(&self, head: u32) -> impl Iterator<Item = (u32, usize)> + '_ {
        let mut next = head;
        std::iter::from_fn(move || {
            if next == NONE {
                return None;
            }
            let Link { parcel, row, before } = *self.links.get(next);
            next = before;
            Some((parcel, row as usize))
        })
    }

    /// Size, bytes.
    pub fn bytes(&self) -> usize {
        self.links.bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use timely::dataflow::operators::{Input as _, Inspect as _};

    use super::super::alone;
    use super::*;
    use crate::block::Bids;

    /// Of every parcel: the worker that it goes to, whether its size counts there, and its number of rows.
    fn parcels(workers: usize) -> Vec<(usize, bool, usize)> {
        alone::run(workers, |worker, out| {
            let out = Arc::clone(out);
            let mut input = worker.dataflow::<Time, _, _>(|scope| {
                let (input, blocks) = scope.new_input::<Vec<Rc<Block>>>();
                broadcast(blocks, |block| block.bids.price.clone().into_boxed_slice()).inspect(
                    move |parcel| {
                        out.lock().unwrap().push((parcel.to, parcel.counts, parcel.rows.len()));
                    },
                );
                input
            });
            for prices in [vec![5; 3], Vec::new()] {
                let bids = Bids { price: prices, ..Bids::default() };
                input.send(Rc::new(Block { bids, ..Block::default() }));
            }
        })
    }

    #[test]
    fn each_worker_gets_the_rows_of_all_and_counts_its_own() {
        for workers in [1, 2, 3] {
            let mut expected = Vec::new();
            for to in 0..workers {
                expected.extend((0..workers).map(|from| (to, from == to, 3)));
            }
            expected.sort_unstable();
            assert_eq!(parcels(workers), expected, "{workers} workers");
        }
    }

    #[test]
    fn rows_that_workers_share_count_once() {
        let rows: Arc<Box<[[u64; 11]]>> = Arc::new(vec![[0; 11]; 1000].into());
        let bytes = |counts| {
            let mut kept = Kept::default();
            assert_eq!(kept.push(Parcel { to: 0, counts, rows: Arc::clone(&rows) }), 0);
            kept.bytes()
        };
        assert_eq!(bytes(true) - bytes(false), 88_000);
    }
}
