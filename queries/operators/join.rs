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
