//! Servers of one's own on this machine: where their files go, which processes are theirs, which ports are free. Adapters
//! build the commands `up`, `down` and `status` on it.

mod error;
pub mod port;
pub mod process;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

pub use error::{LocalError, Tried};
pub use process::Life;

/// Where the server of a main port has its files.
#[derive(Clone, Debug)]
pub struct Place {
    /// Main port, by which it is found again.
    pub port: u16,
    /// What is its own while it runs, and its logs: below the user's directory for state.
    pub directory: PathBuf,
    /// What it is installed from: below the user's directory for caches.
    pub cache: PathBuf,
    /// An installation to use in place of our own, as `SERVER_HOME` names it (`FLINK_HOME`).
    pub home: Option<PathBuf>,
}

impl Place {
    /// The one of the server of that name, whether it runs or not.
    ///
    /// # Errors
    /// The user has no home directory.
    pub fn new(server: &str, port: u16) -> Result<Self, LocalError> {
        let home = std::env::var_os(format!("{}_HOME", server.to_uppercase()));
        Ok(Self {
            port,
            directory: below(dirs::state_dir(), server)?.join(port.to_string()),
            cache: below(dirs::cache_dir(), server)?,
            home: home.filter(|home| !home.is_empty()).map(PathBuf::from),
        })
    }
}

fn below(directory: Option<PathBuf>, server: &str) -> Result<PathBuf, LocalError> {
    match directory {
        Some(directory) => Ok(directory.join("nexmark").join(server)),
        None => Err(LocalError::failed("cannot tell where files go", "HOME is not set")),
    }
}

/// Makes the directory of a server, and keeps other commands from working on it as long as the file is held.
///
/// # Errors
/// Another command works on it.
pub fn lock(directory: &Path) -> Result<File, LocalError> {
    fs::create_dir_all(directory).tried_with("make", directory)?;
    let path = directory.join("lock");
    let file = File::create(&path).tried_with("write", &path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => Err(LocalError::failed(
            format!("the server of {} is being started or stopped", directory.display()),
            "wait until that is done",
        )),
        locked => locked.tried_with("lock", &path).map(|()| file),
    }
}

/// Removes a directory with all it holds, if it is there.
///
/// # Errors
/// It cannot be removed.
pub fn remove_all(path: &Path) -> Result<(), LocalError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).tried_with("remove", path),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_command_at_a_time_works_on_a_server() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("flink/8081");
        let held = lock(&directory).unwrap();
        let error = lock(&directory).unwrap_err().to_string();
        let said = format!("the server of {} is being started or stopped: wait", directory.display());
        assert!(error.starts_with(&said), "{error}");
        drop(held);
        lock(&directory).unwrap();
        remove_all(&directory).unwrap();
        remove_all(&directory).unwrap();
    }
}
