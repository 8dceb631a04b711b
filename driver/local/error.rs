//! What can go wrong with a server of one's own. Every message says what was tried with what, and what the user can do.

use std::io;
use std::path::Path;

/// Why a server was not started, stopped or looked at.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// A program that is needed is not there.
    #[error("{program} is missing: {remedy}")]
    Missing {
        /// Its name.
        program: String,
        /// What to install.
        remedy: &'static str,
    },
    /// A value that cannot be used.
    #[error("{name} is {value:?}, allowed is {allowed}")]
    NotAllowed {
        /// Flag or variable.
        name: &'static str,
        /// As it was given.
        value: String,
        /// What may be given.
        allowed: String,
    },
    /// Somebody else listens where the server should.
    #[error("port {port} is in use by {holder}; --port takes another one")]
    PortInUse {
        /// The port on loopback.
        port: u16,
        /// The process, or `another program`.
        holder: String,
    },
    /// It runs already, but not as asked for.
    #[error(
        "port {port} has a {server} with {name} {running}, not {asked}; `nexmark {server} down --port {port}` ends it"
    )]
    RunsOtherwise {
        /// Its name, as in the command.
        server: &'static str,
        /// The port on loopback.
        port: u16,
        /// What differs.
        name: &'static str,
        /// As it runs.
        running: String,
        /// As it was asked for.
        asked: String,
    },
    /// The operating system refused something.
    #[error("cannot {what}: {error}")]
    System {
        /// What was tried.
        what: String,
        /// Its answer.
        error: io::Error,
    },
    /// A program failed.
    #[error("{what}: {message}")]
    Failed {
        /// What was tried.
        what: String,
        /// The program's words.
        message: String,
    },
}

impl LocalError {
    /// A failure of `what`, in the words of whoever failed.
    pub fn failed(what: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Failed { what: what.into(), message: message.into() }
    }
}

/// Says what was tried when the operating system refuses it.
pub trait Tried<T> {
    /// Fragment that follows `cannot`.
    ///
    /// # Errors
    /// The operating system's refusal, with what was tried.
    fn tried(self, what: impl FnOnce() -> String) -> Result<T, LocalError>;

    /// What was tried with that file.
    ///
    /// # Errors
    /// The operating system's refusal, with what was tried.
    fn tried_with(self, verb: &str, path: &Path) -> Result<T, LocalError>
    where
        Self: Sized,
    {
        self.tried(|| format!("{verb} {}", path.display()))
    }
}

impl<T, E: Into<io::Error>> Tried<T> for Result<T, E> {
    fn tried(self, what: impl FnOnce() -> String) -> Result<T, LocalError> {
        self.map_err(|error| LocalError::System { what: what(), error: error.into() })
    }
}
