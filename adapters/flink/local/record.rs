//! What is remembered of a local Flink while it runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nexmark_driver::local::{LocalError, Tried as _};
use serde::{Deserialize, Serialize};

/// A local Flink as it was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Release of Flink.
    pub version: String,
    /// Folder of the distribution.
    pub home: PathBuf,
    /// Task slots.
    pub slots: usize,
    /// Memory of the TaskManager's process, bytes.
    pub memory_bytes: u64,
    /// How many TaskManagers were started, one after the other.
    pub task_managers: u32,
}

impl Record {
    /// Id of the latest TaskManager within Flink.
    pub(super) fn task_manager(&self) -> String {
        format!("taskmanager-{}", self.task_managers)
    }
}

fn file(directory: &Path) -> PathBuf {
    directory.join("cluster.json")
}

pub(super) fn read(directory: &Path) -> Result<Option<Record>, LocalError> {
    let path = file(directory);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).tried_with("read", &path),
    };
    serde_json::from_slice(&text).map(Some).tried_with("read", &path)
}

pub(super) fn write(directory: &Path, record: &Record) -> Result<(), LocalError> {
    let path = file(directory);
    let text = serde_json::to_vec_pretty(record).tried_with("write", &path)?;
    fs::write(&path, text).tried_with("write", &path)
}

pub(super) fn remove(directory: &Path) -> Result<(), LocalError> {
    let path = file(directory);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).tried_with("remove", &path),
        _ => Ok(()),
    }
}
