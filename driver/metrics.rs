//! From raw counters to rates: the only place where rates are computed, always from differences of counters over the
//! driver's own monotonic clock.

mod host_account;
pub mod own_threads;
pub mod resources;
mod role_account;
pub mod series;
pub mod throughput;

pub use nexmark_collector::{sample, sampler};
