//! Samples the driver's own machine: its watched processes, and the threads of the driver itself, among which are those
//! of an embedded engine.

use std::io;
use std::path::Path;

use nexmark_collector::sample::{ProcessCounters, Sample};
use nexmark_collector::sampler::{Sampler, numbered_folders};

use crate::engine::{Target, Watch};

/// Role of the driver's own threads that no watch claims.
pub const DRIVER_ROLE: &str = "driver";

/// Longest name of a thread in Linux, bytes; longer ones are cut when they are set.
const THREAD_NAME_LENGTH: usize = 15;

/// Samples this machine with the driver in it.
#[derive(Clone, Debug)]
pub struct OwnSampler {
    sampler: Sampler,
    watches: Vec<Watch>,
    own_pid: u32,
}

impl OwnSampler {
    /// A sampler of these watches on this machine under that name.
    pub fn new(host: impl Into<String>, watches: Vec<Watch>) -> Self {
        Self { sampler: Sampler::new(host, watches.clone()), watches, own_pid: std::process::id() }
    }

    /// Reads all counters now.
    ///
    /// # Errors
    /// `/proc` cannot be read.
    pub fn sample(&self) -> io::Result<Sample> {
        // The engine's own threads first: what they spend goes on while the rest is read.
        let threads = self.own_threads()?;
        let mut sample = self.sampler.sample()?;
        sample.processes.extend(threads);
        Ok(sample)
    }

    /// The threads of this process: under the role of the first watch that claims them, else the driver's.
    fn own_threads(&self) -> io::Result<Vec<ProcessCounters>> {
        let folders = numbered_folders(Path::new("/proc/self/task"))?;
        Ok(folders.iter().filter_map(|(id, folder)| self.own_thread(*id, folder)).collect())
    }

    fn own_thread(&self, id: u32, folder: &Path) -> Option<ProcessCounters> {
        let mut counters = self.sampler.counters(id, folder)?;
        counters.thread_of = Some(self.own_pid);
        counters.threads = 1;
        counters.cpu_ns = thread_cpu_ns(id);
        let claimed = self.watches.iter().find(|watch| claims_thread(watch, &counters.command));
        counters.role = claimed.map_or(DRIVER_ROLE, |watch| &watch.role).to_owned();
        Some(counters)
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

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
        let watch = Watch { role: "workers".to_owned(), target };
        let sample = OwnSampler::new("here", vec![watch]).sample().unwrap();
        drop(end);
        worker.unwrap().join().unwrap();
        let (workers, others): (Vec<_>, Vec<_>) =
            sample.processes.iter().partition(|process| process.role == "workers");
        assert_eq!(workers.len(), 1, "{sample:?}");
        assert!(workers[0].cpu_ns.unwrap() > 5_000_000 && workers[0].rss_bytes > 0, "{workers:?}");
        assert_eq!(workers[0].thread_of, Some(std::process::id()));
        assert!(!others.is_empty() && others.iter().all(|process| process.role == DRIVER_ROLE));
    }
}
