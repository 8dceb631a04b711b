//! Result files: one a run, with a dated name, written whole or not at all, never over another run's.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::{FORMAT_VERSION, RunResult, skim};

/// A result file that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The directory cannot be made or written to.
    #[error("cannot write results into {}: {source}", directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write result {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is there already.
    #[error("cannot write result {}: the file exists", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("cannot read result {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is no JSON, or lacks what a result has. The text tells line and column.
    #[error("cannot read result {}: {source}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        source: serde_json::Error,
    },
    /// JSON of something else.
    #[error("cannot read result {}: not a result of nexmark, it has no format_version", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A file of a later version of this program.
    #[error(
        "cannot read result {}: its format_version is {version}, this nexmark reads up to {FORMAT_VERSION}; use a newer nexmark",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u64,
    },
}

/// Takes results as soon as they are there.
pub trait Keep: Send {
    /// Keeps a result; called again with the same name, it replaces that one. Returns where it is kept.
    ///
    /// # Errors
    /// It could not be kept.
    fn keep(&mut self, result: &RunResult) -> Result<Option<PathBuf>, StoreError>;
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Discard;

impl Keep for Discard {
    fn keep(&mut self, _result: &RunResult) -> Result<Option<PathBuf>, StoreError> {
        Ok(None)
    }
}

/// A directory of result files.
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
    /// Name of the last run that was kept; only its file may be replaced.
    last: Option<String>,
}

impl Store {
    /// Makes the directory where it is missing, and tries to write into it, so that a run is not started for nothing.
    ///
    /// # Errors
    /// It cannot be made or written to.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let directory = directory.into();
        let probe = directory.join(format!(".nexmark-{}.tmp", std::process::id()));
        let tried = fs::create_dir_all(&directory)
            .and_then(|()| File::create(&probe))
            .and_then(|_file| fs::remove_file(&probe));
        match tried {
            Ok(()) => Ok(Self { directory, last: None }),
            Err(source) => Err(StoreError::Directory { directory, source }),
        }
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

impl Keep for Store {
    fn keep(&mut self, result: &RunResult) -> Result<Option<PathBuf>, StoreError> {
        let path = self.directory.join(format!("{}.json", result.name));
        let replaces = self.last.as_ref() == Some(&result.name);
        let temporary = self.directory.join(format!(".{}.tmp", result.name));
        let written = write_whole(&temporary, result).and_then(|()| place(&temporary, &path, replaces));
        if let Err(source) = written {
            // What could not be placed is of no use; its own error matters less than the first.
            let _ = fs::remove_file(&temporary);
            return Err(match source.kind() {
                io::ErrorKind::AlreadyExists => StoreError::Exists { path },
                _ => StoreError::Write { path, source },
            });
        }
        self.last = Some(result.name.clone());
        Ok(Some(path))
    }
}

fn write_whole(path: &Path, result: &RunResult) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(result)?;
    text.push(b'\n');
    let mut file = File::create(path)?;
    file.write_all(&text)?;
    file.sync_all()
}

/// A hard link fails where the name is taken, a rename replaces: both leave either the old file or the whole new one.
fn place(temporary: &Path, path: &Path, replaces: bool) -> io::Result<()> {
    if replaces {
        return fs::rename(temporary, path);
    }
    match fs::hard_link(temporary, path) {
        Ok(()) => fs::remove_file(temporary),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems have no hard links.
        Err(_) if path.exists() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(temporary, path),
    }
}

/// How much of a result is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// All of it.
    Whole,
    /// Everything but its samples, which is much less.
    WithoutSamples,
}

/// Reads a result file.
///
/// # Errors
/// It cannot be read, is damaged or foreign, or was written by a later version.
pub fn read(path: &Path) -> Result<RunResult, StoreError> {
    read_in(path, Detail::Whole)
}

/// Reads as much of a result file as is asked for.
pub(super) fn read_in(path: &Path, detail: Detail) -> Result<RunResult, StoreError> {
    let bytes = fs::read(path).map_err(|source| StoreError::Read { path: path.to_owned(), source })?;
    let result = match detail {
        Detail::Whole => serde_json::from_slice(&bytes),
        Detail::WithoutSamples => skim::without_samples(&bytes),
    };
    match result {
        Ok(result) if result.format_version <= FORMAT_VERSION => Ok(result),
        // What a later version writes need not be readable, so its number is looked for before any other fault is told.
        other => Err(refusal(path, &bytes, other.err())),
    }
}

/// Why a file is not used.
fn refusal(path: &Path, bytes: &[u8], fault: Option<serde_json::Error>) -> StoreError {
    let path = path.to_owned();
    let value: serde_json::Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(source) => return StoreError::Damaged { path, source },
    };
    match (value.get("format_version").and_then(serde_json::Value::as_u64), fault) {
        (None, _) => StoreError::Foreign { path },
        (Some(version), Some(source)) if version <= u64::from(FORMAT_VERSION) => {
            StoreError::Damaged { path, source }
        }
        (Some(version), _) => StoreError::Newer { path, version },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, Heard, Kept, events, steady};
    use crate::result::State;
    use crate::run::{self, Interrupt, Place};

    /// A whole result, of a run of the scripted engine.
    async fn result() -> RunResult {
        let (mut fake, mut kept, mut heard) =
            (Fake::new(steady(1_000, 2_000)), Kept::default(), Heard::default());
        let mut never = Interrupt::never();
        let request = events(2_000);
        run::run(&mut fake, &request, Place::ALONE, &mut kept, &mut heard, &mut never).await.result
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn error_of(text: &[u8]) -> String {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        let error = read(file.path()).unwrap_err().to_string();
        assert!(error.contains(&file.path().display().to_string()), "{error}");
        error
    }

    #[tokio::test(start_paused = true)]
    async fn a_result_comes_back_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Store::open(directory.path().join("new/results")).unwrap();
        let result = result().await;
        let path = store.keep(&result).unwrap().unwrap();
        assert_eq!(read(&path).unwrap(), result);
        assert_eq!(names(store.directory()), [format!("{}.json", result.name)]);
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_run_itself_replaces_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let mut result = result().await;
        let mut store = Store::open(directory.path()).unwrap();
        store.keep(&result).unwrap();
        result.state = State::Invalid;
        let path = store.keep(&result).unwrap().unwrap();
        assert_eq!(read(&path).unwrap().state, State::Invalid);
        let mut other = Store::open(directory.path()).unwrap();
        let before = fs::read(&path).unwrap();
        assert!(other.keep(&result).unwrap_err().to_string().ends_with("the file exists"));
        assert_eq!(fs::read(&path).unwrap(), before);
        assert_eq!(names(directory.path()).len(), 1, "nothing temporary is left");
    }

    #[test]
    fn an_unwritable_directory_is_told_before_a_run() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Store::open(file.path().join("results")).unwrap_err().to_string();
        assert!(error.starts_with("cannot write results into /"), "{error}");
    }

    #[tokio::test(start_paused = true)]
    async fn names_and_nulls_are_as_documented() {
        let value = serde_json::to_value(result().await).unwrap();
        for name in [
            "query",
            "state",
            "message",
            "engine",
            "workload",
            "seed",
            "events",
            "seconds",
            "events_per_s",
            "cpu_seconds",
            "cores",
            "events_per_s_per_core",
            "rss_bytes_max",
            "rows_out",
            "answer",
            "phases",
            "samples",
            "environment",
            "command",
            "deviations",
            "format_version",
        ] {
            assert!(value.get(name).is_some(), "{name} is missing");
        }
        for name in ["name", "version", "config"] {
            assert!(value["engine"].get(name).is_some(), "engine.{name} is missing");
        }
        assert!(value["answer"].is_null() && value["cores"].is_null() && value["message"].is_null());
        assert_eq!((&value["state"], &value["seed"]), (&"passed".into(), &1.into()));
        let started = value["started_at"].as_str().unwrap();
        assert!(started.ends_with('Z') && started.parse::<jiff::Timestamp>().is_ok(), "{started}");
    }

    #[tokio::test(start_paused = true)]
    async fn damaged_files_tell_where() {
        let text = serde_json::to_string_pretty(&result().await).unwrap();
        let cut = error_of(&text.as_bytes()[..text.len() / 2]);
        assert!(cut.contains("EOF while parsing") && cut.contains("line "), "{cut}");
        let wrong = error_of(text.replace("\"state\": \"passed\"", "\"state\": \"great\"").as_bytes());
        assert!(wrong.contains("unknown variant `great`, expected") && wrong.contains("line "), "{wrong}");
        let lacking = error_of(text.replace("\"query\"", "\"quarry\"").as_bytes());
        assert!(lacking.contains("missing field `query`"), "{lacking}");
        assert!(error_of(b"").contains("EOF"));
        assert!(error_of(&[0xff, 0xfe, 0x00]).contains("line 1 column 1"));
    }

    #[tokio::test(start_paused = true)]
    async fn foreign_and_newer_files_are_refused_and_unknown_fields_tolerated() {
        assert!(error_of(b"{\"a\": 1}").ends_with("not a result of nexmark, it has no format_version"));
        assert!(error_of(b"[1, 2]").contains("not a result of nexmark"));
        let newer = error_of(b"{\"format_version\": 99, \"anything\": []}");
        assert!(newer.contains("its format_version is 99, this nexmark reads up to 1"), "{newer}");
        let mut value = serde_json::to_value(result().await).unwrap();
        value["colour"] = "green".into();
        value.as_object_mut().unwrap().remove("notes");
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), value.to_string()).unwrap();
        assert_eq!(read(file.path()).unwrap().query, "q0");
    }

    #[test]
    fn an_absent_file_is_named() {
        let error = read(Path::new("/no/such/result.json")).unwrap_err().to_string();
        assert!(error.starts_with("cannot read result /no/such/result.json: No such file"), "{error}");
    }
}
