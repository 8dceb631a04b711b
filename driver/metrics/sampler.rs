//! Reads the counters of this machine's watched processes and threads. They are looked for anew at each sample, so that
//! a restarted process is found; one that ends while it is read is left out.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::proc_text;
use super::sample::{ProcessCounters, Sample};
use crate::engine::{Target, Watch};

/// Role of the driver's own threads that no watch claims.
pub const DRIVER_ROLE: &str = "driver";

/// Longest name of a thread in Linux, bytes; longer ones are cut when they are set.
const THREAD_NAME_LENGTH: usize = 15;

/// Samples the local machine.
#[derive(Clone, Debug)]
pub struct Sampler {
    host: String,
    watches: Vec<Watch>,
    own_pid: u32,
    ticks_per_second: u64,
    page_bytes: u64,
}

impl Sampler {
    /// A sampler of these watches on a host of that name, and of the driver itself.
    pub fn new(host: impl Into<String>, watches: Vec<Watch>) -> Self {
        Self {
            host: host.into(),
            watches,
            own_pid: std::process::id(),
            ticks_per_second: procfs::ticks_per_second(),
            page_bytes: procfs::page_size(),
        }
    }

    /// Reads all counters now.
    ///
    /// # Errors
    /// `/proc` cannot be read.
    pub fn sample(&self) -> io::Result<Sample> {
        let monotonic = proc_text::uptime_seconds(&fs::read("/proc/uptime")?)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "/proc/uptime holds no time"))?;
        let mut processes = self.own_threads()?;
        processes.extend(self.watched_processes()?);
        Ok(Sample {
            host: self.host.clone(),
            monotonic_ns: (monotonic * 1e9) as u64,
            wall_ms: jiff::Timestamp::now().as_millisecond(),
            ticks_per_second: self.ticks_per_second,
            boot_ticks: (monotonic * self.ticks_per_second as f64) as u64,
            processes,
        })
    }

    /// The threads of this process: under the role of the first watch that claims them, else the driver's.
    fn own_threads(&self) -> io::Result<Vec<ProcessCounters>> {
        let folders = numbered_folders(Path::new("/proc/self/task"))?;
        Ok(folders.iter().filter_map(|(id, folder)| self.own_thread(*id, folder)).collect())
    }

    fn own_thread(&self, id: u32, folder: &Path) -> Option<ProcessCounters> {
        let mut counters = self.counters(id, folder)?;
        counters.thread_of = Some(self.own_pid);
        counters.threads = 1;
        counters.cpu_ns = thread_cpu_ns(id);
        let claimed = self.watches.iter().find(|watch| claims_thread(watch, &counters.command));
        counters.role = claimed.map_or(DRIVER_ROLE, |watch| &watch.role).to_owned();
        Some(counters)
    }

    fn watched_processes(&self) -> io::Result<Vec<ProcessCounters>> {
        if !self
            .watches
            .iter()
            .any(|watch| matches!(watch.target, Target::CommandLine(_) | Target::Process(_)))
        {
            return Ok(Vec::new());
        }
        let folders = numbered_folders(Path::new("/proc"))?;
        let others = folders.iter().filter(|(pid, _)| *pid != self.own_pid);
        Ok(others.filter_map(|(pid, folder)| self.watched_process(*pid, folder)).collect())
    }

    fn watched_process(&self, pid: u32, folder: &Path) -> Option<ProcessCounters> {
        let command = proc_text::command_line(&fs::read(folder.join("cmdline")).ok()?);
        let watch = self.watches.iter().find(|watch| claims_process(watch, pid, &command))?;
        let counters = self.counters(pid, folder)?;
        let command = if command.is_empty() { counters.command.clone() } else { command };
        Some(ProcessCounters { role: watch.role.clone(), command, ..counters })
    }

    /// Counters below `/proc/<pid>` or `/proc/self/task/<id>`; `None` when it has ended.
    fn counters(&self, pid: u32, folder: &Path) -> Option<ProcessCounters> {
        let text = fs::read(folder.join("stat")).ok()?;
        let stat = proc_text::stat(&text)?;
        let status = fs::read(folder.join("status")).map(|text| proc_text::status(&text)).unwrap_or_default();
        let io = fs::read(folder.join("io")).map(|text| proc_text::io(&text)).unwrap_or_default();
        Some(ProcessCounters {
            pid,
            thread_of: None,
            start_ticks: stat.start_ticks,
            role: String::new(),
            command: proc_text::name(&text)?,
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

/// CPU time of a thread of this process, up to this moment: files below `/proc` tell that of a running thread only up to the
/// scheduler's last tick. `None` when it has ended.
fn thread_cpu_ns(id: u32) -> Option<u64> {
    // How Linux makes the id of a clock from that of a thread: MAKE_THREAD_CPUCLOCK(id, CPUCLOCK_SCHED).
    let clock = !libc::clockid_t::try_from(id).ok()? << 3 | 6;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to `time`, which lives on; an id that is no thread's any more is refused.
    let read = unsafe { libc::clock_gettime(clock, &raw mut time) };
    let (seconds, ns) = (u64::try_from(time.tv_sec).ok()?, u64::try_from(time.tv_nsec).ok()?);
    (read == 0).then_some(seconds * 1_000_000_000 + ns)
}

fn claims_thread(watch: &Watch, name: &str) -> bool {
    let Target::OwnThreads(prefix) = &watch.target else { return false };
    let length = prefix.len().min(THREAD_NAME_LENGTH);
    name.as_bytes().starts_with(&prefix.as_bytes()[..length])
}

fn claims_process(watch: &Watch, pid: u32, command: &str) -> bool {
    match &watch.target {
        Target::CommandLine(text) => command.contains(text.as_str()),
        Target::Process(watched) => *watched == pid,
        Target::OwnThreads(_) => false,
    }
}

fn numbered_folders(parent: &Path) -> io::Result<Vec<(u32, PathBuf)>> {
    let entries = fs::read_dir(parent)?;
    let numbered = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        Some((entry.file_name().to_str()?.parse().ok()?, entry.path()))
    });
    Ok(numbered.collect())
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::mpsc;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    fn watch(role: &str, target: Target) -> Watch {
        Watch { role: role.to_owned(), target }
    }

    fn spin(time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn own_threads_are_told_apart_by_name() {
        let (ready, spun) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        // Longer than the kernel keeps, so that the prefix is cut, too.
        let name = "sampled-worker-number-0";
        let worker = thread::Builder::new().name(name.to_owned()).spawn(move || {
            spin(Duration::from_millis(30));
            ready.send(()).unwrap();
            let _ = ended.recv();
        });
        spun.recv().unwrap();
        let target = Target::OwnThreads("sampled-worker-number".to_owned());
        let sample = Sampler::new("here", vec![watch("workers", target)]).sample().unwrap();
        drop(end);
        worker.unwrap().join().unwrap();
        let (workers, others): (Vec<_>, Vec<_>) =
            sample.processes.iter().partition(|process| process.role == "workers");
        assert_eq!(workers.len(), 1, "{sample:?}");
        assert!(workers[0].cpu_ns.unwrap() > 5_000_000 && workers[0].rss_bytes > 0, "{workers:?}");
        assert_eq!(workers[0].thread_of, Some(std::process::id()));
        assert!(!others.is_empty() && others.iter().all(|process| process.role == DRIVER_ROLE));
    }

    #[test]
    fn processes_are_found_by_command_line_and_id() {
        let sleep = |seconds: &str| Command::new("sleep").arg(seconds).spawn().unwrap();
        let (mut one, mut other) = (sleep("61.4242"), sleep("62.4343"));
        let watches = vec![
            watch("broker", Target::CommandLine("sleep 61.4242".to_owned())),
            watch("workers", Target::Process(other.id())),
        ];
        let sampler = Sampler::new("here", watches);
        // Until a child has executed `sleep`, it shows the command line of this test.
        thread::sleep(Duration::from_millis(200));
        let sample = sampler.sample().unwrap();
        for child in [&mut one, &mut other] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let role = |role: &str| -> Vec<u32> {
            let of_role = sample.processes.iter().filter(|process| process.role == role);
            of_role.map(|process| process.pid).collect()
        };
        assert_eq!((role("broker"), role("workers")), (vec![one.id()], vec![other.id()]));
        let after = sampler.sample().unwrap();
        assert!(after.processes.iter().all(|process| process.role == DRIVER_ROLE));
    }
}
