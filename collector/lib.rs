//! What a host spends: counters of its watched processes and of the machine, read from `/proc` and written as a line of
//! JSON a sample. Only raw counters leave this crate; differences are made by the reader, so that a lost sample costs
//! nothing. It is small, since its program is copied to every host.

pub mod arguments;
pub mod clock;
pub mod collect;
pub mod line;
pub mod machine;
pub mod proc_text;
pub mod sample;
pub mod sampler;
pub mod watch;
