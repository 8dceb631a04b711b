//! The command line of the program that is copied to hosts. It is written by programs, so it has no short forms.

use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use crate::collect::Collection;
use crate::watch::Watch;

/// How the program is called.
pub const USAGE: &str = "\
nexmark-collector [--watch ROLE=command:TEXT|ROLE=pid:NUMBER|ROLE=cgroup:DIRECTORY]... [--interval-ms N] [--host NAME] \
[--silence-ms-max N] [--remove PATH]...";

/// Shortest time between two samples, ms.
pub const INTERVAL_MS_MIN: u64 = 10;

impl Default for Collection {
    fn default() -> Self {
        Self {
            watches: Vec::new(),
            interval: Duration::from_secs(1),
            host: own_name(),
            silence_max: None,
            remove: Vec::new(),
        }
    }
}

impl Collection {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    /// What is wrong with which of them, and what is allowed.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut collection = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(name) = arguments.next() {
            let value =
                arguments.next().ok_or_else(|| format!("{name:?} lacks its value; usage: {USAGE}"))?;
            match name.as_str() {
                "--watch" => {
                    collection.watches.push(value.parse::<Watch>().map_err(|error| error.to_string())?)
                }
                "--interval-ms" => {
                    collection.interval = Duration::from_millis(number(&name, &value, INTERVAL_MS_MIN)?);
                }
                "--host" => collection.host = value,
                "--silence-ms-max" => {
                    collection.silence_max = Some(Duration::from_millis(number(&name, &value, 1)?));
                }
                "--remove" => collection.remove.push(PathBuf::from(value)),
                _ => return Err(format!("unknown argument {name:?}; usage: {USAGE}")),
            }
        }
        Ok(collection)
    }

    /// Arguments from which the same collection is read.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        let mut push =
            |name: &str, value: &dyn Display| arguments.extend([name.to_owned(), value.to_string()]);
        for watch in self.watches.iter().filter_map(Watch::argument) {
            push("--watch", &watch);
        }
        push("--interval-ms", &self.interval.as_millis());
        push("--host", &self.host);
        if let Some(silence) = self.silence_max {
            push("--silence-ms-max", &silence.as_millis());
        }
        for path in &self.remove {
            push("--remove", &path.display());
        }
        arguments
    }
}

/// The name of this machine.
pub fn own_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn number(name: &str, value: &str, min: u64) -> Result<u64, String> {
    let number = value.parse().ok().filter(|number| *number >= min);
    number.ok_or_else(|| format!("{name} is {value:?}, allowed is a whole number from {min}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Collection, String> {
        Collection::parse(arguments.iter().map(|argument| (*argument).to_owned()))
    }

    #[test]
    fn arguments_and_collections_are_the_same() {
        let collection = Collection {
            watches: ["a=command:x y", "b=pid:7"].map(|text| text.parse().unwrap()).to_vec(),
            interval: Duration::from_millis(250),
            host: "h".to_owned(),
            silence_max: Some(Duration::from_secs(60)),
            remove: vec![PathBuf::from("/a b"), PathBuf::from("/c")],
        };
        assert_eq!(Collection::parse(collection.arguments()), Ok(collection));
        let defaults = parse(&[]).unwrap();
        assert_eq!(Collection::parse(defaults.arguments()), Ok(defaults));
    }

    #[test]
    fn mistakes_name_the_argument_and_what_is_allowed() {
        for (arguments, message) in [
            (&["--watch"][..], "\"--watch\" lacks its value"),
            (&["--watch", "x"], "watch is \"x\", allowed is ROLE=command:TEXT"),
            (&["--interval-ms", "0"], "--interval-ms is \"0\", allowed is a whole number from 10"),
            (&["--interval-ms", "1s"], "--interval-ms is \"1s\""),
            (&["--wach", "x"], "unknown argument \"--wach\""),
        ] {
            let error = parse(arguments).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
