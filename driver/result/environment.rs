//! Where a run took place: differences between two environments are printed before any verdict.

use std::fs;

use serde::{Deserialize, Serialize};

/// The driver's machine, and the hosts of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Model of the processor.
    pub cpu_model: Option<String>,
    /// Processors that this process may use.
    pub cores: Option<u64>,
    /// Kernel and its version.
    pub kernel: Option<String>,
    /// Distribution.
    #[serde(default)]
    pub system: Option<String>,
    /// Memory of the machine.
    pub memory_bytes: Option<u64>,
    /// Hosts of the run.
    pub hosts: Vec<String>,
    /// Version of this program.
    pub nexmark_version: String,
}

impl Environment {
    /// Reads the environment of this machine; what cannot be read is `None`.
    pub fn read() -> Self {
        let cores = std::thread::available_parallelism().ok();
        Self {
            cpu_model: fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| cpu_model(&text)),
            cores: cores.and_then(|cores| u64::try_from(cores.get()).ok()),
            kernel: trimmed("/proc/sys/kernel/osrelease").map(|release| format!("Linux {release}")),
            system: fs::read_to_string("/etc/os-release").ok().and_then(|text| system(&text)),
            memory_bytes: fs::read_to_string("/proc/meminfo").ok().and_then(|text| memory_bytes(&text)),
            hosts: trimmed("/proc/sys/kernel/hostname").into_iter().collect(),
            nexmark_version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

fn trimmed(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// x86 names the model; ARM gives only numbers of implementer and part, which serve as well to tell machines apart.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let value = |key: &str| {
        let mut lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_owned())
    };
    value("model name").or_else(|| Some(format!("{} {}", value("CPU implementer")?, value("CPU part")?)))
}

fn system(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches('"').to_owned())
}

fn memory_bytes(meminfo: &str) -> Option<u64> {
    let value = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_kernel_are_read() {
        assert_eq!(
            cpu_model("processor\t: 0\nmodel name\t: Some CPU @ 2\n").as_deref(),
            Some("Some CPU @ 2")
        );
        assert_eq!(cpu_model("CPU implementer : 0x41\nCPU part : 0xd0c\n").as_deref(), Some("0x41 0xd0c"));
        assert_eq!(memory_bytes("MemTotal:       1024 kB\nMemFree: 1 kB\n"), Some(1024 * 1024));
        assert_eq!(system("ID=x\nPRETTY_NAME=\"Some Linux 12\"\n").as_deref(), Some("Some Linux 12"));
        assert_eq!((cpu_model(""), memory_bytes("MemTotal: many kB"), system("")), (None, None, None));
    }

    #[test]
    fn this_machine_is_described() {
        let environment = Environment::read();
        assert!(environment.cores > Some(0) && environment.memory_bytes > Some(1 << 20), "{environment:?}");
        assert_eq!(environment.hosts.len(), 1);
        assert_eq!(environment.nexmark_version, env!("CARGO_PKG_VERSION"));
    }
}
