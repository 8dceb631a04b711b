//! The event stream as tables, one text a dialect. Options of the stream are set by whoever runs a query.

/// Table `nexmark`, and a view of it for each kind of event.
pub static FLINK: &str = include_str!("flink.sql");
