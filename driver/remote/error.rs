//! What can go wrong with a host. Every message names the host and what was tried.

use std::fmt;

/// What was done with a host when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Its address was looked up and connected to.
    Connect,
    /// Its key was compared with the known ones.
    HostKey,
    /// A key of the user was offered.
    Authenticate,
    /// A command was run.
    Run,
    /// The collector was copied.
    Copy,
    /// The collector was started.
    Start,
    /// The collector's samples were read.
    Follow,
}

/// A failure with a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("host {host}: {message}")]
pub struct HostError {
    /// Name of the host.
    pub host: String,
    /// What was done.
    pub step: Step,
    /// Lower-case fragment: what was tried, with what, and the system's own words.
    pub message: String,
}

impl HostError {
    /// A failure of a step.
    pub fn new(host: &str, step: Step, message: impl fmt::Display) -> Self {
        Self { host: host.to_owned(), step, message: message.to_string() }
    }
}
