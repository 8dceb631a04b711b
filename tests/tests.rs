//! The whole program from outside: what it prints, where, and how it exits. One binary, so that it links once.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod answers;
mod bad_input;
mod browser;
mod check;
mod configuration;
mod dependencies;
mod events;
mod flink_local;
mod hosts;
mod interrupt;
mod kafka_local;
mod output;
mod program;
mod readme;
mod real_flink;
mod reports;
mod runs;
mod verify;
