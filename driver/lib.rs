//! How it is measured: one run through its phases, many runs in turn, costs, results. Knows engines only through
//! [`engine::Engine`], and never prints.

pub mod bench;
pub mod config;
pub mod credentials;
pub mod engine;
pub mod events;
pub mod listener;
pub mod local;
pub mod metrics;
pub mod pace;
pub mod remote;
pub mod report;
pub mod result;
pub mod run;
pub mod stats;
pub mod suite;
pub mod verify;

#[cfg(test)]
mod fake;
