//! Joins without windows: both sides are kept for good, every row meets all rows of the other side that came before it.

use timely::ExchangeData;
use timely::dataflow::StreamVec;
use timely::dataflow::operators::generic::Operator;

use super::log::{Chains, NONE};
use super::pack::Pack;
use super::{Environment, Map, Time, exchange, route};

/// A row with the key by which it is joined.
pub type WithKey<T> = (i64, T);

/// The chains of one key.
#[derive(Debug)]
struct Heads {
    left: u32,
    right: u32,
}

/// Every pair of a left and a right row of one key, as `pair` makes it of (key, left, right).
pub fn join<'scope, L, R, O>(
    left: StreamVec<'scope, Time, WithKey<L>>,
    right: StreamVec<'scope, Time, WithKey<R>>,
    environment: &Environment,
    mut pair: impl FnMut(i64, L, R) -> O + 'static,
) -> StreamVec<'scope, Time, O>
where
    L: ExchangeData + Pack,
    R: ExchangeData + Pack,
    O: Clone + 'static,
{
    let gauge = environment.state_gauge();
    let by_left = exchange(|row: &WithKey<L>| route(row.0));
    let by_right = exchange(|row: &WithKey<R>| route(row.0));
    left.binary(right, by_left, by_right, "join", move |_capability, _info| {
        let mut heads = Map::<i64, Heads>::default();
        let (mut lefts, mut rights) = (Chains::<L>::default(), Chains::<R>::default());
        move |left, right, output| {
            left.for_each(|capability, rows| {
                let mut session = output.session(&capability);
                for (key, row) in rows.drain(..) {
                    let heads = heads.entry(key).or_insert(Heads { left: NONE, right: NONE });
                    session.give_iterator(rights.iter(heads.right).map(|right| pair(key, row, right)));
                    lefts.push(&mut heads.left, row);
                }
            });
            right.for_each(|capability, rows| {
                let mut session = output.session(&capability);
                for (key, row) in rows.drain(..) {
                    let heads = heads.entry(key).or_insert(Heads { left: NONE, right: NONE });
                    session.give_iterator(lefts.iter(heads.left).map(|left| pair(key, left, row)));
                    rights.push(&mut heads.right, row);
                }
            });
            gauge.set(heads.allocation_size() + lefts.bytes() + rights.bytes());
        }
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use timely::dataflow::operators::{Input as _, Inspect as _};

    use super::super::alone;
    use super::*;
    use crate::event::{Channel, KeylessBid, Text, Url};

    /// Key and id of a left row; ids of 1 and below are of rows that do not fit when packed.
    pub(crate) fn lefts() -> Vec<(i64, i64)> {
        (-4..300).map(|id| (id % 40, id)).chain([(7, 7), (7, 7), (i64::MIN, 5), (i64::MAX, -6)]).collect()
    }

    /// Key and number of a right row.
    pub(crate) fn rights() -> Vec<(i64, i64)> {
        (0..100).map(|number| (number % 50 - 5, number)).chain([(i64::MIN, 5), (i64::MAX, 6)]).collect()
    }

    pub(crate) fn bid(id: i64) -> KeylessBid {
        let price = if id <= 1 { i64::MAX - id.abs() } else { id };
        let (channel, url, extra) = (Channel(1), Url(2), Text { at: 3, len: 4 });
        KeylessBid { id, price, date_time: -id, channel, url, extra }
    }

    fn joined(workers: usize) -> Vec<(i64, i64, i64)> {
        alone::run(workers, |worker, out| {
            let out = std::sync::Arc::clone(out);
            let index = worker.index();
            let workers = worker.peers();
            let (mut left, mut right) = worker.dataflow::<Time, _, _>(|scope| {
                let (left_input, left) = scope.new_input::<Vec<_>>();
                let (right_input, right) = scope.new_input::<Vec<_>>();
                join(left, right, &alone::environment(), |key, left: KeylessBid, right: i64| {
                    assert_eq!(left, bid(left.id), "as it came");
                    (key, left.id, right)
                })
                .inspect(move |row| out.lock().unwrap().push(*row));
                (left_input, right_input)
            });
            let mine = |rows: Vec<(i64, i64)>| rows.into_iter().skip(index).step_by(workers);
            let lefts: Vec<_> = mine(lefts()).map(|(key, id)| (key, bid(id))).collect();
            let rights: Vec<_> = mine(rights()).collect();
            // Both sides come a little at a time, so that each row meets earlier and later ones.
            for part in 0..7 {
                let seventh = |len: usize| len * part / 7..len * (part + 1) / 7;
                left.send_batch(&mut lefts[seventh(lefts.len())].to_vec());
                worker.step();
                right.send_batch(&mut rights[seventh(rights.len())].to_vec());
                worker.step();
            }
        })
    }

    /// Every pair of the two, sorted.
    pub(crate) fn pairs() -> Vec<(i64, i64, i64)> {
        let mut pairs = Vec::new();
        for (key, id) in lefts() {
            pairs.extend(rights().iter().filter(|right| right.0 == key).map(|right| (key, id, right.1)));
        }
        pairs.sort_unstable();
        assert!(pairs.len() > 500, "{} pairs", pairs.len());
        pairs
    }

    #[test]
    fn every_pair_of_a_key_comes_once_whichever_row_was_first() {
        for workers in [1, 2, 3] {
            assert_eq!(joined(workers), pairs(), "{workers} workers");
        }
    }
}
