//! From raw counters to rates: the only place where rates are computed, always from differences of counters over the
//! driver's own monotonic clock.

pub mod proc_text;
pub mod resources;
pub mod sample;
pub mod sampler;
pub mod series;
pub mod throughput;
