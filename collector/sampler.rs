//! Reads the counters of this machine and of its watched processes. They are looked for anew at each sample, so that a
//! restarted process is found; one that ends while it is read is left out.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::clock;
use crate::machine::MachineCounters;
use crate::proc_text;
use crate::sample::{ProcessCounters, Sample};
use crate::watch::{Target, Watch};

/// Names of this project's programs. A pattern stands on their own command lines, too, and never means them.
const OWN_PROGRAMS: [&[u8]; 2] = [b"nexmark", b"nexmark-collector"];

/// Longest command in a sample. The class paths of some engines are a hundred times longer, and tell nothing.
const COMMAND_LETTERS_MAX: usize = 240;

/// Ancestors that are looked up at most: no chain is longer, and a text that is no chain at all ends, too.
const ANCESTORS_MAX: usize = 64;

/// Samples this machine.
#[derive(Clone, Debug)]
pub struct Sampler {
    host: String,
    process_space: String,
    watches: Vec<Watch>,
    /// This process and those that started it: a pattern may stand on their command lines.
    family: Vec<u32>,
    ticks_per_second: u64,
    page_bytes: u64,
}

impl Sampler {
    /// A sampler of these watches on a host of that name. Threads are left to their own process.
    pub fn new(host: impl Into<String>, watches: Vec<Watch>) -> Self {
        Self {
            host: host.into(),
            process_space: process_space(),
            watches,
            family: family(),
            ticks_per_second: procfs::ticks_per_second(),
            page_bytes: procfs::page_size(),
        }
    }

    /// Reads all counters now.
    ///
    /// # Errors
    /// `/proc` or a watched control group cannot be read.
    pub fn sample(&self) -> io::Result<Sample> {
        // The clocks are read first: counters may be younger than their time, never older.
        let (monotonic_ns, since_boot_ns, wall_ns) =
            (clock::monotonic_ns(), clock::since_boot_ns(), clock::wall_ns());
        let processes = self.processes()?;
        let boot_ticks = u128::from(since_boot_ns) * u128::from(self.ticks_per_second) / 1_000_000_000;
        Ok(Sample {
            host: self.host.clone(),
            process_space: self.process_space.clone(),
            request: None,
            monotonic_ns,
            wall_ms: wall_ns / 1_000_000,
            ticks_per_second: self.ticks_per_second,
            boot_ticks: u64::try_from(boot_ticks).unwrap_or(u64::MAX),
            machine: MachineCounters::read().ok(),
            processes,
        })
    }

    fn processes(&self) -> io::Result<Vec<ProcessCounters>> {
        let mut chosen = self.chosen()?;
        let by_command =
            || self.watches.iter().filter(|watch| matches!(watch.target, Target::CommandLine(_)));
        if by_command().next().is_some() {
            let mut text = Vec::new();
            for (pid, folder) in numbered_folders(Path::new("/proc"))? {
                if self.family.contains(&pid) || read(&folder.join("cmdline"), &mut text).is_err() {
                    continue;
                }
                if let Some(watch) = by_command().find(|watch| claims(watch, &text)) {
                    chosen.entry(pid).or_insert(watch);
                }
            }
        }
        let mut processes: Vec<_> =
            chosen.into_iter().filter_map(|(pid, watch)| self.process(pid, &watch.role)).collect();
        processes.sort_unstable_by_key(|process| process.pid);
        Ok(processes)
    }

    /// Processes that are watched by their id or control group.
    fn chosen(&self) -> io::Result<HashMap<u32, &Watch>> {
        let mut chosen = HashMap::new();
        for watch in &self.watches {
            match &watch.target {
                Target::Process(pid) => {
                    chosen.entry(*pid).or_insert(watch);
                }
                Target::Cgroup(directory) => {
                    for pid in members(directory)? {
                        chosen.entry(pid).or_insert(watch);
                    }
                }
                Target::CommandLine(_) | Target::OwnThreads(_) => {}
            }
        }
        Ok(chosen)
    }

    fn process(&self, pid: u32, role: &str) -> Option<ProcessCounters> {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let mut text = Vec::new();
        read(&folder.join("cmdline"), &mut text).ok()?;
        let counters = self.counters(pid, &folder)?;
        let command = proc_text::command_line(&text);
        let command = if command.is_empty() { counters.command.clone() } else { shortened(&command) };
        Some(ProcessCounters { role: role.to_owned(), command, ..counters })
    }

    /// Counters below `/proc/<pid>` or `/proc/self/task/<id>`; `None` when it has ended.
    pub fn counters(&self, pid: u32, folder: &Path) -> Option<ProcessCounters> {
        let mut text = Vec::new();
        read(&folder.join("stat"), &mut text).ok()?;
        let (stat, name) = (proc_text::stat(&text)?, proc_text::name(&text)?);
        let status =
            read(&folder.join("status"), &mut text).map(|()| proc_text::status(&text)).unwrap_or_default();
        let io = read(&folder.join("io"), &mut text).map(|()| proc_text::io(&text)).unwrap_or_default();
        Some(ProcessCounters {
            pid,
            thread_of: None,
            start_ticks: stat.start_ticks,
            role: String::new(),
            command: name,
            user_ticks: stat.user_ticks,
            system_ticks: stat.system_ticks,
            cpu_ns: None,
            threads: stat.threads,
            rss_bytes: stat.rss_pages.saturating_mul(self.page_bytes),
            rss_bytes_peak: status.rss_bytes_peak,
            read_bytes: io.read_bytes,
            write_bytes: io.write_bytes,
            context_switches: status.context_switches,
        })
    }
}

/// Whether a watch claims the process of a command line, as `/proc` gives it.
fn claims(watch: &Watch, command: &[u8]) -> bool {
    let Target::CommandLine(pattern) = &watch.target else { return false };
    let program = command.split(|byte| *byte == 0).next().unwrap_or_default();
    let name = program.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    !OWN_PROGRAMS.contains(&name) && proc_text::command_line(command).contains(pattern.as_str())
}

/// This process and its ancestors.
fn family() -> Vec<u32> {
    let parent = |pid: &u32| Some(proc_text::stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)?.parent);
    let chain = std::iter::successors(Some(std::process::id()), |pid| parent(pid).filter(|pid| *pid > 1));
    chain.take(ANCESTORS_MAX).collect()
}

/// Names where ids and start times of processes are unique: a boot of a machine, and a name space in it.
fn process_space() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", boot.trim(), space.display())
}

/// Processes of a control group and of those below it.
fn members(directory: &Path) -> io::Result<Vec<u32>> {
    let text = fs::read(directory.join("cgroup.procs")).map_err(|error| {
        io::Error::new(error.kind(), format!("control group {}: {error}", directory.display()))
    })?;
    let mut members: Vec<u32> = proc_text::numbers(&text).collect();
    for entry in fs::read_dir(directory)?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            // One that is removed at this moment has no members.
            members.extend(self::members(&entry.path()).unwrap_or_default());
        }
    }
    Ok(members)
}

fn shortened(command: &str) -> String {
    let letters = command.chars().count();
    if letters <= COMMAND_LETTERS_MAX {
        return command.to_owned();
    }
    let half = COMMAND_LETTERS_MAX / 2;
    let (begin, end) = (command.chars().take(half), command.chars().skip(letters - half));
    begin.chain(" … ".chars()).chain(end).collect()
}

/// Reads a file below `/proc/<pid>` over `text`. The kernel makes such a file at once and gives as much of it as is asked for, so
/// that a read that is not filled was the last; 500 files are read at each sample, and a second read of each would tell.
fn read(path: &Path, text: &mut Vec<u8>) -> io::Result<()> {
    const BLOCK: usize = 4096;
    let mut file = File::open(path)?;
    text.clear();
    loop {
        let length = text.len();
        text.resize(length + BLOCK, 0);
        let read = file.read(&mut text[length..]);
        text.truncate(length + read.as_ref().copied().unwrap_or(0));
        if read? < BLOCK {
            return Ok(());
        }
    }
}

/// Directories whose names are numbers, as those of processes and threads.
///
/// # Errors
/// The directory cannot be read.
pub fn numbered_folders(parent: &Path) -> io::Result<Vec<(u32, PathBuf)>> {
    let entries = fs::read_dir(parent)?;
    let numbered = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        Some((entry.file_name().to_str()?.parse().ok()?, entry.path()))
    });
    Ok(numbered.collect())
}

#[cfg(test)]
mod tests;
