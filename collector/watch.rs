//! What is watched: a part of an engine under a role, and how its processes are told from others.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// A part of an engine whose costs are collected under one role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    /// As in `workers`, `broker`.
    pub role: String,
    /// Which processes or threads.
    pub target: Target,
}

/// Which processes or threads are watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Processes whose command line contains this text, on every host of the run. This program's own are never meant, though
    /// the text stands on their command lines, too.
    CommandLine(String),
    /// A process of this machine.
    Process(u32),
    /// Processes of a control group (version 2) and of all below it, by its directory.
    Cgroup(PathBuf),
    /// Threads of the driver's own process whose name begins with this text.
    OwnThreads(String),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandLine(text) => write!(f, "processes with {text:?} in their command line"),
            Self::Process(id) => write!(f, "process {id}"),
            Self::Cgroup(directory) => write!(f, "processes of control group {}", directory.display()),
            Self::OwnThreads(text) => write!(f, "threads of this program whose name begins with {text:?}"),
        }
    }
}

impl Target {
    /// Whether it is looked for on every host of a run, not on the driver's machine alone.
    pub fn is_everywhere(&self) -> bool {
        matches!(self, Self::CommandLine(_))
    }
}

/// A text that is no [`Watch`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchError(String);

impl fmt::Display for WatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(text) = self;
        write!(f, "watch is {text:?}, allowed is ROLE=command:TEXT, ROLE=pid:NUMBER or ROLE=cgroup:DIRECTORY")
    }
}

impl std::error::Error for WatchError {}

impl FromStr for Watch {
    type Err = WatchError;

    fn from_str(text: &str) -> Result<Self, WatchError> {
        let parse = || {
            let (role, target) = text.split_once('=')?;
            let (kind, value) = target.split_once(':')?;
            if role.is_empty() || value.is_empty() {
                return None;
            }
            let target = match kind {
                "command" => Target::CommandLine(value.to_owned()),
                "command-hex" => Target::CommandLine(from_hex(value)?),
                "pid" => Target::Process(value.parse().ok()?),
                "cgroup" => Target::Cgroup(PathBuf::from(value)),
                _ => return None,
            };
            Some(Self { role: role.to_owned(), target })
        };
        parse().ok_or_else(|| WatchError(text.to_owned()))
    }
}

impl Watch {
    /// The text that gives this watch again; `None` for threads, which no other process can watch. It does not hold the text
    /// that is looked for on command lines, so that whatever hands it on is not found by it.
    pub fn argument(&self) -> Option<String> {
        let role = &self.role;
        match &self.target {
            Target::CommandLine(text) => Some(format!("{role}=command-hex:{}", to_hex(text))),
            Target::Process(pid) => Some(format!("{role}=pid:{pid}")),
            Target::Cgroup(directory) => Some(format!("{role}=cgroup:{}", directory.display())),
            Target::OwnThreads(_) => None,
        }
    }
}

fn to_hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |pair: &[u8]| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    String::from_utf8(text.as_bytes().chunks(2).map(byte).collect::<Option<_>>()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_watches_are_the_same() {
        for (text, target) in [
            ("workers=command:org.apache a=b:c", Target::CommandLine("org.apache a=b:c".to_owned())),
            ("broker=pid:7", Target::Process(7)),
            ("all=cgroup:/sys/fs/cgroup/a", Target::Cgroup(PathBuf::from("/sys/fs/cgroup/a"))),
        ] {
            let watch: Watch = text.parse().unwrap();
            assert_eq!(watch.target, target);
            let argument = watch.argument().unwrap();
            assert_eq!(argument.parse(), Ok(watch));
            assert!(!argument.contains("org.apache"), "{argument}");
        }
        for text in [
            "",
            "workers",
            "workers=java",
            "=command:x",
            "a=command:",
            "a=pid:x",
            "a=name:x",
            "a=command-hex:0",
            "a=command-hex:fg",
            "a=command-hex:+f",
            "a=command-hex:ff",
        ] {
            let error = text.parse::<Watch>().unwrap_err().to_string();
            assert!(error.contains(&format!("{text:?}")) && error.contains("ROLE=pid:"), "{error}");
        }
    }
}
