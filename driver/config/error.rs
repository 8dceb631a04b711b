//! What can be wrong with settings. Every message names the place, the key, the value and what is allowed.

use super::Origin;
use crate::remote::ListError;

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {path}: {message}")]
    Unreadable {
        /// As it was given.
        path: String,
        /// From the operating system.
        message: String,
    },
    /// The file is no TOML, or holds something that no key allows.
    #[error("{origin}: {message}")]
    Damaged {
        /// Where.
        origin: Origin,
        /// What.
        message: String,
    },
    /// No such key.
    #[error("{origin}: unknown key {key:?}{}", nearest.as_ref().map(|name| format!(", did you mean {name:?}?")).unwrap_or_default())]
    UnknownKey {
        /// Where.
        origin: Origin,
        /// What was given.
        key: String,
        /// The known key that is most alike.
        nearest: Option<String>,
    },
    /// No such profile.
    #[error("unknown profile {name:?}, known are {known}")]
    UnknownProfile {
        /// What was given.
        name: String,
        /// The names that are known.
        known: String,
    },
    /// `--set` without `=`.
    #[error("--set: {text:?} is no KEY=VALUE")]
    NoAssignment {
        /// What was given.
        text: String,
    },
    /// A value that its key does not allow.
    #[error("{origin}: {key} is {value:?}, allowed is {allowed}")]
    Value {
        /// Where.
        origin: Origin,
        /// Which key.
        key: String,
        /// What was given.
        value: String,
        /// What may be given.
        allowed: String,
    },
    /// The list of hosts among the settings.
    #[error(transparent)]
    Hosts(#[from] ListError),
    /// A value that was given expressly and would be ignored.
    #[error("{origin}: {key} has no effect {because}")]
    NoEffect {
        /// Where.
        origin: Origin,
        /// Which key.
        key: String,
        /// As in `with workload.mode = events`.
        because: String,
    },
}
