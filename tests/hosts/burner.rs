//! Processes that spend a known amount of CPU time.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::OnceLock;

use super::sshd::available;
use crate::program::root;

/// A process that spends CPU time and then sleeps until it is dropped.
pub(crate) struct Burner(Child);

impl Burner {
    /// Starts one with a mark on its command line. Each of the threads spends so many seconds.
    pub(crate) fn new(mark: &str, threads: u32, seconds: f64) -> Self {
        Self::named(program().expect("a C compiler is there"), mark, threads, seconds)
    }

    /// Starts one from a copy of its program.
    pub(crate) fn named(program: &Path, mark: &str, threads: u32, seconds: f64) -> Self {
        let mut command = Command::new(program);
        Self(command.args([&threads.to_string(), &seconds.to_string(), mark]).spawn().unwrap())
    }

    /// CPU seconds so far, to a clock tick.
    pub(crate) fn spent(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
        ticks / 100.0
    }
}

impl Drop for Burner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether burners can be made.
pub(crate) fn has_burner() -> bool {
    available("a C compiler", program().is_some())
}

/// The program, compiled once.
pub(crate) fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROGRAM
        .get_or_init(|| {
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("burner-{}", std::process::id()));
            let source = root().join("tests/hosts/burner.c");
            let built = Command::new("cc").args(["-O1", "-pthread", "-o"]).arg(&path).arg(source).status();
            built.is_ok_and(|status| status.success()).then_some(path)
        })
        .as_deref()
}
