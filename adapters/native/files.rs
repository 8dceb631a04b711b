//! Files that a dataflow writes, below a directory of the run only: one for each partition and worker, buffered, a bounded
//! number of them open. Free space is looked at before, and what this run made is removed at the end unless it is to be
//! kept; what others put there stays.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use nexmark_driver::engine::{Input, Job};
use nexmark_queries::operators::partitioned_files::PartitionedFiles;

/// Files that each worker keeps open.
const OPEN_MAX: usize = 64;
/// Bytes that are written at once.
const BUFFER_BYTES: usize = 64 * 1024;
/// Bytes of a line beside its text: four numbers and their separators.
const LINE_BYTES: u64 = 48;
/// Numbers that are tried for the name of the directory.
const NUMBERS: u32 = 10_000;

/// The directory of one run. Made when a dataflow asks for files, so that other queries touch no disk.
#[derive(Debug)]
pub(crate) struct RunDirectory {
    /// Directory below which it is made.
    parent: PathBuf,
    query: &'static str,
    /// Bytes that the run is going to write, as far as is known.
    expected_bytes: u64,
    keep: bool,
    made: Mutex<Made>,
}

/// What this run has made, in that order.
#[derive(Debug, Default)]
struct Made {
    root: Option<PathBuf>,
    directories: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl RunDirectory {
    /// A directory below `parent`; an empty one means the system's for temporary files.
    pub(crate) fn new(job: &Job, parent: &str, keep: bool) -> Self {
        let parent = if parent.is_empty() { std::env::temp_dir() } else { PathBuf::from(parent) };
        Self {
            parent,
            query: job.query.name,
            expected_bytes: expected_bytes(job),
            keep,
            made: Mutex::default(),
        }
    }

    /// The files of one worker.
    ///
    /// # Errors
    /// The directory cannot be made, or there is too little space.
    pub(crate) fn files(self: &Arc<Self>, worker: usize) -> Result<Files, String> {
        Ok(Files {
            root: self.root()?,
            directory: Arc::clone(self),
            file_name: format!("part-{worker}.csv"),
            open: HashMap::new(),
            known: HashMap::new(),
            uses: 0,
            open_max: OPEN_MAX,
        })
    }

    fn made(&self) -> std::sync::MutexGuard<'_, Made> {
        // Lists are whole after every push, so a panic elsewhere does not spoil them.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The directory; made by the first who asks.
    fn root(&self) -> Result<PathBuf, String> {
        let mut made = self.made();
        if let Some(root) = &made.root {
            return Ok(root.clone());
        }
        self.check_space()?;
        for number in 0..NUMBERS {
            let root = self.parent.join(format!("nexmark-{}-{}-{number}", self.query, std::process::id()));
            match fs::create_dir(&root) {
                Ok(()) => {
                    made.root = Some(root.clone());
                    return Ok(root);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("cannot make directory {}: {error}", root.display())),
            }
        }
        Err(format!("{} is full of directories of earlier runs", self.parent.display()))
    }

    fn check_space(&self) -> Result<(), String> {
        let parent = self.parent.display();
        let system = rustix::fs::statvfs(&self.parent)
            .map_err(|error| format!("cannot look at the free space of {parent}: {error}"))?;
        let free = system.f_bavail.saturating_mul(system.f_frsize);
        if free < self.expected_bytes {
            return Err(format!(
                "too little space: {} is going to write about {} MB, {parent} has {} MB left",
                self.query,
                self.expected_bytes.div_ceil(1_000_000),
                free / 1_000_000
            ));
        }
        Ok(())
    }

    /// Where the files are that stay after the run.
    pub(crate) fn kept(&self) -> Option<PathBuf> {
        self.made().root.clone().filter(|_| self.keep)
    }

    /// Removes what this run made, unless it is to be kept.
    ///
    /// # Errors
    /// Something cannot be removed; the rest is.
    pub(crate) fn remove(&self) -> Result<(), String> {
        if self.keep {
            return Ok(());
        }
        let made = std::mem::take(&mut *self.made());
        let files = made.files.iter().map(|path| (path, fs::remove_file(path)));
        let mut result = Ok(());
        for (path, removed) in files {
            if let Err(error) = removed
                && error.kind() != ErrorKind::NotFound
            {
                result = Err(format!("cannot remove {}: {error}", path.display()));
            }
        }
        for path in made.directories.iter().rev().chain(&made.root) {
            match fs::remove_dir(path) {
                // Somebody else's file is in there.
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {}
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    result = Err(format!("cannot remove {}: {error}", path.display()));
                }
                _ => {}
            }
        }
        result
    }

    /// Makes the directories of a partition that are not there yet.
    fn make_partition(&self, root: &Path, partition: &str) -> Result<PathBuf, String> {
        let mut path = root.to_path_buf();
        for name in partition.split('/') {
            path.push(name);
            // Noted before another worker can make one inside, so that the list has the outer ones first.
            let mut made = self.made();
            match fs::create_dir(&path) {
                Ok(()) => made.directories.push(path.clone()),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("cannot make directory {}: {error}", path.display())),
            }
        }
        Ok(path)
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        // Whoever stopped the job has heard of what cannot be removed.
        let _ = self.remove();
    }
}

/// Bytes of the lines of a job, about; 0 where the job has no end.
fn expected_bytes(job: &Job) -> u64 {
    let Some(events) = job.events else { return 0 };
    match &job.input {
        Input::Generated(options) => {
            let cycle = options.person_proportion + options.auction_proportion + options.bid_proportion;
            let bids = u128::from(events) * u128::from(options.bid_proportion) / u128::from(cycle);
            let line = u128::from(LINE_BYTES + options.bid_avg_size.saturating_sub(32));
            u64::try_from(bids * line).unwrap_or(u64::MAX)
        }
        Input::Recorded(recording) => events.min(recording.events.len() as u64) * LINE_BYTES,
    }
}

/// The files of one worker.
#[derive(Debug)]
pub(crate) struct Files {
    root: PathBuf,
    directory: Arc<RunDirectory>,
    file_name: String,
    open: HashMap<String, OpenFile>,
    /// Path of the file of every partition so far.
    known: HashMap<String, PathBuf>,
    /// Number of the latest use of a file.
    uses: u64,
    open_max: usize,
}

#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
    used: u64,
}

impl OpenFile {
    fn flush(&mut self) -> Result<(), String> {
        let result = self.file.write_all(&self.buffer);
        self.buffer.clear();
        result.map_err(|error| cannot_write(&self.path, &error))
    }

    fn append(&mut self, lines: &[u8]) -> Result<(), String> {
        if self.buffer.len() + lines.len() >= BUFFER_BYTES {
            self.flush()?;
            if lines.len() >= BUFFER_BYTES / 2 {
                return self.file.write_all(lines).map_err(|error| cannot_write(&self.path, &error));
            }
        }
        self.buffer.extend_from_slice(lines);
        Ok(())
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

impl Files {
    fn open(&mut self, partition: &str) -> Result<(), String> {
        if self.open.len() >= self.open_max {
            let oldest = self.open.iter().min_by_key(|(_, open)| open.used).map(|(name, _)| name.clone());
            if let Some(oldest) = oldest {
                self.finish(&oldest)?;
            }
        }
        let path = match self.known.get(partition) {
            Some(path) => path.clone(),
            None => self.make(partition)?,
        };
        let file = OpenOptions::new().append(true).open(&path);
        let file = file.map_err(|error| format!("cannot open {}: {error}", path.display()))?;
        let open = OpenFile { path, file, buffer: Vec::with_capacity(BUFFER_BYTES), used: 0 };
        self.open.insert(partition.to_owned(), open);
        Ok(())
    }

    /// Makes the file of a partition.
    fn make(&mut self, partition: &str) -> Result<PathBuf, String> {
        let path = self.directory.make_partition(&self.root, partition)?.join(&self.file_name);
        File::create_new(&path).map_err(|error| format!("cannot make {}: {error}", path.display()))?;
        self.directory.made().files.push(path.clone());
        self.known.insert(partition.to_owned(), path.clone());
        Ok(path)
    }
}

impl PartitionedFiles for Files {
    fn append(&mut self, partition: &str, lines: &[u8]) -> Result<(), String> {
        if !self.open.contains_key(partition) {
            self.open(partition)?;
        }
        self.uses += 1;
        let Some(open) = self.open.get_mut(partition) else { return Ok(()) };
        open.used = self.uses;
        open.append(lines)
    }

    fn finish(&mut self, partition: &str) -> Result<(), String> {
        self.open.remove(partition).map_or(Ok(()), |mut open| open.flush())
    }

    fn finish_all(&mut self) -> Result<Vec<String>, String> {
        for mut open in std::mem::take(&mut self.open).into_values() {
            open.flush()?;
        }
        Ok(self.known.keys().cloned().collect())
    }

    fn read(&self, partition: &str) -> Result<Box<dyn BufRead>, String> {
        let path = self.root.join(partition).join(&self.file_name);
        let file = File::open(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, file)))
    }

    fn buffered_bytes(&self) -> usize {
        self.open.values().map(|open| open.buffer.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// A directory of one test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new() -> Self {
            static NUMBER: AtomicU32 = AtomicU32::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("nexmark-test-files-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir(&path).expect("a new directory");
            Self(path)
        }

        fn run(&self, expected_bytes: u64, keep: bool) -> Arc<RunDirectory> {
            let made = Mutex::default();
            Arc::new(RunDirectory { parent: self.0.clone(), query: "q10", expected_bytes, keep, made })
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).expect("the directory");
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    fn content(files: &Files, partition: &str) -> String {
        let mut text = String::new();
        files.read(partition).expect("a file").read_to_string(&mut text).expect("text");
        text
    }

    #[test]
    fn each_worker_has_its_file_in_each_partition() {
        let scratch = Scratch::new();
        let run = scratch.run(0, false);
        let (mut first, mut second) = (run.files(0).expect("files"), run.files(1).expect("files"));
        first.append("dt=1/hm=2", b"a\n").expect("written");
        second.append("dt=1/hm=2", b"b\n").expect("written");
        first.append("dt=1/hm=3", b"c\n").expect("written");
        assert_eq!((content(&first, "dt=1/hm=2"), first.buffered_bytes()), (String::new(), 4));
        first.finish("dt=1/hm=2").expect("finished");
        first.append("dt=1/hm=2", b"late\n").expect("written");
        let mut partitions = first.finish_all().expect("finished");
        partitions.sort_unstable();
        assert_eq!(partitions, ["dt=1/hm=2", "dt=1/hm=3"]);
        assert_eq!(second.finish_all().expect("finished"), ["dt=1/hm=2"]);
        assert_eq!(content(&first, "dt=1/hm=2"), "a\nlate\n");
        assert_eq!(content(&first, "dt=1/hm=3"), "c\n");
        assert_eq!(content(&second, "dt=1/hm=2"), "b\n");
        assert_eq!((first.root.clone(), first.buffered_bytes()), (second.root, 0));
    }

    #[test]
    fn no_more_files_than_allowed_are_open_and_the_oldest_is_closed() {
        let scratch = Scratch::new();
        let run = scratch.run(0, false);
        let mut files = run.files(0).expect("files");
        files.open_max = 3;
        let open = |files: &Files| {
            let mut names: Vec<String> = files.open.keys().cloned().collect();
            names.sort_unstable();
            names.concat()
        };
        let uses = ["a", "b", "c", "a", "d", "b", "e"];
        let expected = ["a", "ab", "abc", "abc", "acd", "abd", "bde"];
        for (partition, names) in uses.into_iter().zip(expected) {
            files.append(partition, format!("{partition}\n").as_bytes()).expect("written");
            assert_eq!(open(&files), names);
        }
        files.finish_all().expect("finished");
        let contents = ["a", "b", "c", "d", "e"].map(|partition| content(&files, partition));
        assert_eq!(contents, ["a\na\n", "b\nb\n", "c\n", "d\n", "e\n"]);
    }

    #[test]
    fn lines_of_any_size_stay_in_order() {
        let scratch = Scratch::new();
        let run = scratch.run(0, false);
        let mut files = run.files(0).expect("files");
        let mut expected = String::new();
        for size in [1, BUFFER_BYTES - 2, 1, 1, BUFFER_BYTES, 5, 3 * BUFFER_BYTES, BUFFER_BYTES / 2 - 1, 7] {
            let line = "x".repeat(size - 1) + "\n";
            files.append("p", line.as_bytes()).expect("written");
            assert!(files.buffered_bytes() <= BUFFER_BYTES);
            expected += &line;
        }
        files.finish_all().expect("finished");
        assert!(content(&files, "p") == expected, "the lines in their order");
    }

    #[test]
    fn only_what_the_run_made_is_removed() {
        let scratch = Scratch::new();
        let (run, other) = (scratch.run(0, false), scratch.run(0, true));
        for directory in [&run, &other] {
            let mut files = directory.files(0).expect("files");
            files.append("dt=1/hm=1", b"a\n").expect("written");
            files.append("dt=2/hm=1", b"a\n").expect("written");
            files.finish_all().expect("finished");
        }
        assert_eq!(scratch.names().len(), 2, "two runs at once");
        let root = run.root().expect("the directory");
        fs::write(root.join("dt=1/foreign"), "x").expect("written");
        run.remove().expect("removed");
        assert!(root.join("dt=1/foreign").exists() && !root.join("dt=1/hm=1").exists());
        assert!(!root.join("dt=2").exists());
        let kept = other.root().expect("the directory");
        other.remove().expect("nothing to do");
        drop(other);
        assert!(kept.join("dt=1/hm=1/part-0.csv").exists(), "kept");
    }

    #[test]
    fn a_dropped_run_leaves_nothing() {
        let scratch = Scratch::new();
        let run = scratch.run(0, false);
        run.files(0).expect("files").append("dt=1/hm=1", b"a\n").expect("written");
        assert_eq!(scratch.names().len(), 1);
        drop(run);
        assert!(scratch.names().is_empty());
    }

    #[test]
    fn workers_that_make_the_same_directories_at_once_leave_nothing() {
        let scratch = Scratch::new();
        for _run in 0..100 {
            let run = scratch.run(0, false);
            let barrier = std::sync::Barrier::new(4);
            std::thread::scope(|scope| {
                for worker in 0..4 {
                    let (run, barrier) = (&run, &barrier);
                    scope.spawn(move || {
                        let mut files = run.files(worker).expect("files");
                        barrier.wait();
                        files.append(&format!("dt=1/hm={worker}"), b"a\n").expect("written");
                        files.append("dt=1/hm=9", b"a\n").expect("written");
                    });
                }
            });
            run.remove().expect("removed");
            assert!(scratch.names().is_empty());
        }
    }

    #[test]
    fn too_little_space_is_seen_before_anything_is_made() {
        let scratch = Scratch::new();
        let error = scratch.run(u64::MAX, false).files(0).expect_err("no disk is so large");
        assert!(
            error.starts_with("too little space: q10 is going to write about 18446744073710 MB, "),
            "{error}"
        );
        assert!(scratch.names().is_empty());
    }

    #[test]
    fn errors_name_the_path() {
        let scratch = Scratch::new();
        let mut missing = scratch.run(0, false);
        Arc::get_mut(&mut missing).expect("the only one").parent = scratch.0.join("missing");
        let error = missing.files(0).expect_err("no such directory");
        assert!(error.contains("/missing") && error.contains("No such file"), "{error}");

        let run = scratch.run(0, false);
        let mut files = run.files(0).expect("files");
        fs::write(files.root.join("dt=1"), "in the way").expect("written");
        let error = files.append("dt=1/hm=1", b"a\n").expect_err("a file is in the way");
        assert!(error.starts_with("cannot make directory ") && error.contains("/dt=1/hm=1"), "{error}");
        fs::remove_file(files.root.join("dt=1")).expect("removed");
    }

    #[test]
    fn a_full_disk_is_an_error_and_not_a_panic() {
        let scratch = Scratch::new();
        let mount = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
            .arg(&scratch.0)
            .output();
        if !mount.is_ok_and(|output| output.status.success()) {
            println!("skipped: only root can mount a small disk");
            return;
        }
        let run = scratch.run(0, false);
        let mut files = run.files(0).expect("files");
        let error = (0..1000).find_map(|_line| files.append("dt=1/hm=1", &[b'x'; 1000]).err());
        // An open file would keep the disk in use.
        drop(files);
        run.remove().expect("removed on a full disk");
        let left = scratch.names();
        let unmounted = std::process::Command::new("umount").arg(&scratch.0).status();
        let error = error.expect("256 KiB do not hold a megabyte");
        assert!(
            error.starts_with("cannot write ") && error.contains("/dt=1/hm=1/part-0.csv: No space"),
            "{error}"
        );
        assert_eq!(left, [""; 0]);
        assert!(unmounted.is_ok_and(|status| status.success()));
    }
}
