//! The results that a name stands for: a file, a directory of files, or the label of runs. Many files are read at once.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::RunResult;
use super::store::{Detail, StoreError, read_in};

/// Results that were found, in the order of their start.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// The results.
    pub results: Vec<RunResult>,
    /// Files of a directory that are no results, each with the reason.
    pub skipped: Vec<String>,
}

/// No results.
#[derive(Debug, thiserror::Error)]
pub enum GatherError {
    /// A file that was named cannot be used.
    #[error(transparent)]
    File(#[from] StoreError),
    /// A directory cannot be read.
    #[error("cannot read directory {}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A directory has no results.
    #[error("no results in {}{}", path.display(), skipped_text(skipped))]
    Empty {
        /// The directory.
        path: PathBuf,
        /// Its files that are no results.
        skipped: Vec<String>,
    },
    /// No file, no directory, and no label.
    #[error(
        "{name:?} is no file, no directory, and no label of a result in {}; labels there are: {}{}",
        directory.display(),
        if labels.is_empty() { "none" } else { labels },
        nearest.as_ref().map(|near| format!("; did you mean {near:?}?")).unwrap_or_default()
    )]
    Unknown {
        /// What was given.
        name: String,
        /// Where labels were looked for.
        directory: PathBuf,
        /// The labels there.
        labels: String,
        /// The one that is most alike.
        nearest: Option<String>,
    },
}

fn skipped_text(skipped: &[String]) -> String {
    skipped.iter().map(|reason| format!("; {reason}")).collect()
}

/// Finds results by name; labels are those of one directory, which is read once.
#[derive(Debug)]
pub struct Library {
    directory: PathBuf,
    detail: Detail,
    read: Option<Gathered>,
}

impl Library {
    /// Results are read in this detail, and labels looked for in this directory.
    pub fn new(directory: impl Into<PathBuf>, detail: Detail) -> Self {
        Self { directory: directory.into(), detail, read: None }
    }

    /// Results of a file, of a directory, or with this label, in this order of precedence. What is skipped is told once.
    ///
    /// # Errors
    /// There are none, or a file that was named is no result.
    pub fn find(&mut self, name: &str) -> Result<Gathered, GatherError> {
        let path = Path::new(name);
        if path.is_dir() {
            return gather_directory(path, self.detail);
        }
        if path.exists() || name.ends_with(".json") {
            return Ok(Gathered { results: vec![read_in(path, self.detail)?], skipped: Vec::new() });
        }
        if self.read.is_none() && self.directory.is_dir() {
            self.read = Some(read_directory(&self.directory, self.detail)?);
        }
        let all = self.read.get_or_insert_default();
        let skipped = std::mem::take(&mut all.skipped);
        let labelled = all.results.iter().filter(|result| result.label.as_deref() == Some(name));
        let results: Vec<RunResult> = labelled.cloned().collect();
        if results.is_empty() {
            return Err(unknown(name, &self.directory, &all.results));
        }
        Ok(Gathered { results, skipped })
    }
}

/// Results of a directory, at least one.
///
/// # Errors
/// It cannot be read, or has none.
pub fn gather_directory(path: &Path, detail: Detail) -> Result<Gathered, GatherError> {
    let found = read_directory(path, detail)?;
    if found.results.is_empty() {
        return Err(GatherError::Empty { path: path.to_owned(), skipped: found.skipped });
    }
    Ok(found)
}

fn unknown(name: &str, directory: &Path, others: &[RunResult]) -> GatherError {
    let labels: BTreeSet<&str> = others.iter().filter_map(|result| result.label.as_deref()).collect();
    GatherError::Unknown {
        name: name.to_owned(),
        directory: directory.to_owned(),
        nearest: nexmark_queries::nearest(name, labels.iter().copied()).map(str::to_owned),
        labels: labels.into_iter().collect::<Vec<_>>().join(", "),
    }
}

fn read_directory(path: &Path, detail: Detail) -> Result<Gathered, GatherError> {
    let mut found = Gathered::default();
    for read in read_all(&files(path)?, detail) {
        match read {
            Ok(result) => found.results.push(result),
            Err(error) => found.skipped.push(error.to_string()),
        }
    }
    found.results.sort_by(|one, other| (&one.started_at, &one.name).cmp(&(&other.started_at, &other.name)));
    Ok(found)
}

/// Files of a directory that may be results, sorted; what the store writes for a moment begins with a dot.
fn files(path: &Path) -> Result<Vec<PathBuf>, GatherError> {
    let failed = |source| GatherError::Directory { path: path.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let hidden = file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden && file.extension().is_some_and(|extension| extension == "json") {
            files.push(file);
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Reads files on all cores; what came of each, in their order.
fn read_all(files: &[PathBuf], detail: Detail) -> Vec<Result<RunResult, StoreError>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut read = Vec::new();
        while let Some((number, path)) = {
            let number = next.fetch_add(1, Ordering::Relaxed);
            files.get(number).map(|path| (number, path))
        } {
            read.push((number, read_in(path, detail)));
        }
        read
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(files.len());
    let mut read: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    read.sort_unstable_by_key(|(number, _)| *number);
    read.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::result;
    use crate::result::{Keep as _, RunSample, Store};

    fn store(directory: &Path, names: &[(&str, Option<&str>)]) {
        let mut store = Store::open(directory).unwrap();
        for (name, label) in names {
            let samples = vec![RunSample::default(); 3];
            let (name, label) = ((*name).to_owned(), label.map(str::to_owned));
            let started_at = format!("2026-01-01T00:00:0{}Z", name.len());
            store.keep(&RunResult { name, label, samples, started_at, ..result("q0", 1.0) }).unwrap();
        }
    }

    #[test]
    fn files_directories_and_labels_are_found() {
        let place = tempfile::tempdir().unwrap();
        store(place.path(), &[("zz", Some("a")), ("y", Some("a")), ("xxx", Some("b")), ("wwww", None)]);
        fs::write(place.path().join("note.txt"), "no result").unwrap();
        let names = |name: &str| {
            let found = Library::new(place.path(), Detail::WithoutSamples).find(name).unwrap();
            assert!(found.skipped.is_empty() && found.results.iter().all(|result| result.samples.is_empty()));
            found.results.into_iter().map(|result| result.name).collect::<Vec<_>>()
        };
        assert_eq!(names("a"), ["y", "zz"], "in the order of their start");
        assert_eq!(names(place.path().to_str().unwrap()), ["y", "zz", "xxx", "wwww"]);
        assert_eq!(names(place.path().join("xxx.json").to_str().unwrap()), ["xxx"]);
        let whole = Library::new(place.path(), Detail::Whole).find("b").unwrap();
        assert_eq!(whole.results[0].samples.len(), 3);
    }

    #[test]
    fn what_is_no_result_is_named_and_passed_over() {
        let place = tempfile::tempdir().unwrap();
        store(place.path(), &[("good", Some("a"))]);
        for (name, text) in [("bad", "{"), ("foreign", "{\"a\": 1}"), ("newer", "{\"format_version\": 9}")] {
            fs::write(place.path().join(format!("{name}.json")), text).unwrap();
        }
        let found = gather_directory(place.path(), Detail::WithoutSamples).unwrap();
        assert_eq!(found.results.len(), 1);
        let told = found.skipped.join("\n");
        for part in ["bad.json: EOF", "foreign.json: not a result", "newer.json: its format_version is 9"] {
            assert!(told.contains(part), "{told}");
        }
        fs::remove_file(place.path().join("good.json")).unwrap();
        let error = gather_directory(place.path(), Detail::Whole).unwrap_err().to_string();
        assert!(error.starts_with("no results in /") && error.contains("bad.json"), "{error}");
    }

    #[test]
    fn unknown_names_tell_the_labels() {
        let place = tempfile::tempdir().unwrap();
        store(place.path(), &[("one", Some("flink-1.20"))]);
        let find =
            |name: &str, place: &Path| Library::new(place, Detail::Whole).find(name).unwrap_err().to_string();
        let error = find("flink-1.2", place.path());
        assert!(error.contains("labels there are: flink-1.20; did you mean \"flink-1.20\"?"), "{error}");
        let error = find("any", &place.path().join("none"));
        assert!(error.contains("labels there are: none"), "{error}");
        let error = find("none.json", place.path());
        assert!(error.starts_with("cannot read result none.json"), "{error}");
    }
}
