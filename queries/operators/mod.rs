//! What the dataflows share: logical time, the environment they run in, sinks, and operators that two queries need or that
//! deserve to be tested alone. One operator a file.

#[cfg(test)]
pub(crate) mod against_oracle;
#[cfg(test)]
pub(crate) mod alone;
pub mod batch;
pub mod broadcast;
pub mod broadcast_join;
pub mod byte_mask;
pub mod calendar;
pub mod distinct;
pub mod environment;
pub mod exchange;
pub mod held;
pub mod hopping_count;
pub mod join;
pub mod kernel;
pub mod keyed;
pub mod last;
pub mod log;
pub mod pack;
pub mod partitioned_files;
pub mod session;
pub mod sink;
pub mod statistics;
pub mod time;
pub mod top;
pub mod update;
pub mod utc;
pub mod window_maximum;
pub mod winning_bid;

use std::rc::Rc;

use timely::dataflow::StreamVec;

pub use environment::{Counters, Environment};
pub use exchange::exchange;
pub use time::Time;

use crate::block::Block;

/// Blocks of events of one worker.
pub type Blocks<'scope> = StreamVec<'scope, Time, Rc<Block>>;

/// Hash map of the operators: ids are small integers, for which a multiplication is hash enough.
pub type Map<K, V> = hashbrown::HashMap<K, V, rustc_hash::FxBuildHasher>;

/// Hash by which rows are dealt to workers. Its bits differ from those that [`Map`] uses, else every worker's map would
/// be filled in part.
#[inline]
pub fn route(key: i64) -> u64 {
    crate::generator::mix(key as u64)
}
