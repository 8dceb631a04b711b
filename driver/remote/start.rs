//! Starts a collector on a host: finds out what the host is, copies the program if it has not the same one, and waits for the
//! first sample.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use nexmark_collector::collect::Collection;
use nexmark_collector::watch::Watch;

use super::binary::Binary;
use super::error::{HostError, Step};
use super::host::{Host, Process, ProcessEnd};
use super::quote::{joined, quoted};

/// Longest wait for the answer to what a host is.
const PROBE: Duration = Duration::from_secs(10);
/// Longest wait for the program to be copied.
const COPY: Duration = Duration::from_secs(30);

/// A collector that has not heard its reader for so long ends by itself.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// Time between two samples of a collector, unless one is asked for.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

/// What a host is, and where its collector belongs.
const PROBE_COMMAND: &str = r#"uname -s; uname -m; printf '%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}/nexmark""#;

/// A host of a run.
#[derive(Clone, Debug)]
pub struct Station {
    /// The host.
    pub host: Arc<dyn Host>,
    /// What runs on it beside what an engine says of every host.
    pub roles: Vec<Watch>,
    /// What collects on it.
    pub collector: Collector,
    /// Whether it is the driver's own machine.
    pub local: bool,
}

/// What collects on a host.
#[derive(Clone, Debug)]
pub enum Collector {
    /// A command that is there; its arguments follow.
    There(Vec<String>),
    /// A program that is copied.
    Copied {
        /// The program.
        binary: Arc<Binary>,
        /// Whether it stays for the next time.
        keep: bool,
    },
    /// There is none, for this reason.
    Missing(String),
}

impl Station {
    /// What is watched on this host: its own roles, and those of the engine that it does not name itself.
    pub(super) fn watches(&self, engine: &[Watch]) -> Vec<Watch> {
        let own = |role: &str| self.roles.iter().any(|watch| watch.role == role);
        let others = engine.iter().filter(|watch| !own(&watch.role));
        self.roles.iter().chain(others).cloned().collect()
    }

    /// Starts the collector.
    pub(super) async fn start(&self, engine: &[Watch]) -> Result<Process, HostError> {
        let mut collection = Collection {
            watches: self.watches(engine),
            interval: INTERVAL,
            host: self.host.name().to_owned(),
            silence_max: Some(SILENCE_MAX),
            remove: Vec::new(),
        };
        let program = match &self.collector {
            Collector::There(words) => words.clone(),
            Collector::Copied { binary, keep } => {
                let (path, made) = deploy(self.host.as_ref(), binary, *keep).await?;
                if !keep {
                    // The collector itself does it, at once, so that nothing stays whatever becomes of the connection.
                    collection.remove = made.into_iter().map(PathBuf::from).collect();
                }
                vec![path]
            }
            Collector::Missing(why) => return Err(HostError::new(self.host.name(), Step::Copy, why)),
        };
        let words: Vec<String> = program.into_iter().chain(collection.arguments()).collect();
        let command = format!("exec {}", joined(words.iter().map(String::as_str)));
        self.host.spawn(&command).await.map_err(|error| HostError { step: Step::Start, ..error })
    }
}

/// The path of the program on the host, and what was made for it.
async fn deploy(host: &dyn Host, binary: &Binary, keep: bool) -> Result<(String, Vec<String>), HostError> {
    let failed = |message: String| HostError::new(host.name(), Step::Copy, message);
    let probe = host.run(PROBE_COMMAND, PROBE).await?;
    let lines: Vec<&str> = probe.stdout.lines().collect();
    // What a shell's own start-up prints stands before.
    let [.., system, machine, directory] = lines[..] else {
        return Err(failed(format!("cannot find out what it is: {}", probe.complaint())));
    };
    if system != "Linux" {
        return Err(failed(format!("it runs {system}, only Linux has a collector")));
    }
    if !is_same_machine(machine, binary.machine) {
        return Err(failed(format!(
            "it is {machine}, the collector is for {}: build one with `cargo build --profile collector -p nexmark-collector \
             --target {machine}-unknown-linux-musl` and give its path as `collector` of this host",
            binary.machine
        )));
    }
    let kept = format!("{directory}/collector-{}", &binary.hash[..16]);
    if has_same(host, &kept, binary).await? {
        return Ok((kept, Vec::new()));
    }
    // One that is to be removed has a name that no other run looks for.
    let path = if keep { kept } else { format!("{kept}-{:016x}", fastrand::u64(..)) };
    let mut made = host.copy_in(binary.bytes(), &path, COPY).await?;
    if !made.iter().any(|path| path == directory) {
        // Hosts may share a home: whoever is the last to leave the directory removes it, and none does while it holds anything.
        made.push(directory.to_owned());
    }
    Ok((path, made))
}

/// Whether the host has the same program. One without a program to compare gets a copy.
async fn has_same(host: &dyn Host, path: &str, binary: &Binary) -> Result<bool, HostError> {
    let command = format!("[ -x {0} ] && sha256sum -- {0}", quoted(path));
    let finished = host.run(&command, PROBE).await?;
    Ok(finished.end == ProcessEnd::Code(0) && finished.stdout.contains(&binary.hash))
}

fn is_same_machine(host: &str, binary: &str) -> bool {
    let canonical = |name: &str| match name {
        "arm64" => "aarch64".to_owned(),
        "amd64" => "x86_64".to_owned(),
        "i386" | "i486" | "i586" => "i686".to_owned(),
        name => name.to_owned(),
    };
    canonical(host) == canonical(binary)
}
