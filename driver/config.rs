//! Settings: built-in defaults, then a profile, a file, `--set` and flags, each over the one before. Every value keeps
//! where it came from, so that the command `config` and every message can say so.

mod error;
mod file;
mod key;
mod settings;
mod workload;

use std::fmt;
use std::path::Path;

use nexmark_queries::generator::{OptionError, Options};

use crate::remote::HostList;

pub use error::ConfigError;
pub(crate) use file::line_of;
pub use key::{Allowed, Key, bytes, count, duration, rate};
pub use settings::{EngineFactory, Settings};
pub use workload::WorkloadSettings;

/// Profiles that are compiled in: name and text.
pub const PROFILES: &[(&str, &str)] = &[
    ("default", include_str!("../conf/profiles/default.toml")),
    ("article", include_str!("../conf/profiles/article.toml")),
    ("heavy", include_str!("../conf/profiles/heavy.toml")),
];

/// Section of the event options.
const EVENTS: &str = "events";
/// Section of the workload.
const WORKLOAD: &str = "workload";

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Built in.
    Default,
    /// A profile of that name.
    Profile(String),
    /// A line of a file.
    File {
        /// As it was given.
        path: String,
        /// Counted from 1.
        line: usize,
    },
    /// `--set`.
    Set,
    /// A flag of that name.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Profile(name) => write!(f, "profile {name}"),
            Self::File { path, line } => write!(f, "{path}:{line}"),
            Self::Set => f.write_str("--set"),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

/// One key with its value and where that came from.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Section, as `workload` or `engine.native`.
    pub section: String,
    /// Name within the section.
    pub name: &'static str,
    /// What may be given.
    pub allowed: Allowed,
    /// What it does, one line.
    pub meaning: &'static str,
    /// The value as text.
    pub value: String,
    /// Where the value came from.
    pub origin: Origin,
}

impl Entry {
    /// Section and name.
    pub fn path(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }
}

/// All settings of a command.
#[derive(Clone, Debug)]
pub struct Config {
    entries: Vec<Entry>,
    hosts: HostList,
}

impl Config {
    /// The built-in defaults: the event stream's, the workload's, and those of the given engines.
    pub fn new(engines: &[&EngineFactory]) -> Self {
        let mut entries = event_entries();
        entries.extend(workload::KEYS.iter().map(|key| entry(WORKLOAD.to_owned(), key)));
        for engine in engines {
            entries.extend(engine.keys.iter().map(|key| entry(format!("engine.{}", engine.name), key)));
        }
        Self { entries, hosts: HostList::default() }
    }

    /// Every key with its value, in the order of `conf/nexmark.toml`.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Lays a profile over the values.
    ///
    /// # Errors
    /// There is no profile of that name.
    pub fn apply_profile(&mut self, name: &str) -> Result<(), ConfigError> {
        let Some((_, text)) = PROFILES.iter().find(|(known, _)| *known == name) else {
            return Err(ConfigError::UnknownProfile {
                name: name.to_owned(),
                known: PROFILES.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", "),
            });
        };
        self.apply_text(text, |_line| Origin::Profile(name.to_owned()))
    }

    /// Lays a file over the values.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or holds an unknown key or a value that is not allowed.
    pub fn apply_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|error| ConfigError::Unreadable {
            path: path.display().to_string(),
            message: error.to_string(),
        })?;
        let path = path.display().to_string();
        self.apply_text(&text, |line| Origin::File { path: path.clone(), line })?;
        let hosts = HostList::among_settings(&text, &path)?;
        if !hosts.hosts.is_empty() {
            self.hosts = hosts;
        }
        Ok(())
    }

    /// Hosts of a run, from the last file that lists any.
    pub fn hosts(&self) -> &HostList {
        &self.hosts
    }

    /// Lays one `KEY=VALUE` of `--set` over the values. The sections `events` and `workload` may be left out of the key.
    ///
    /// # Errors
    /// No `=`, an unknown key, or a value that is not allowed.
    pub fn apply_set(&mut self, assignment: &str) -> Result<(), ConfigError> {
        let Some((path, value)) = assignment.split_once('=') else {
            return Err(ConfigError::NoAssignment { text: assignment.to_owned() });
        };
        self.apply(path.trim(), value.trim(), Origin::Set)
    }

    /// Lays the value of a flag over the one of its key.
    ///
    /// # Errors
    /// A value that is not allowed.
    pub fn apply_flag(&mut self, flag: &'static str, path: &str, value: &str) -> Result<(), ConfigError> {
        self.apply(path, value, Origin::Flag(flag))
    }

    /// The options of the event stream, checked together.
    ///
    /// # Errors
    /// Values that exclude each other.
    pub fn options(&self) -> Result<Options, ConfigError> {
        let mut options = Options::default();
        for entry in self.section(EVENTS) {
            options.set(entry.name, &canonical(&entry.value)).map_err(|error| self.option_error(&error))?;
        }
        options.check().map_err(|error| self.option_error(&error))?;
        Ok(options)
    }

    /// Number of events of mode `events`, whatever the mode is: for commands that know no other.
    pub fn events(&self) -> u64 {
        count(&self.workload_entry("events").value).unwrap_or_default()
    }

    /// How events are offered, checked together.
    ///
    /// # Errors
    /// Values that exclude each other, or one that was given expressly and has no effect.
    pub fn workload(&self) -> Result<WorkloadSettings, ConfigError> {
        WorkloadSettings::new(self)
    }

    /// The section of an engine.
    pub fn engine(&self, name: &str) -> Settings {
        Settings::new(self.section(&format!("engine.{name}")).map(|entry| (entry.name, entry.value.clone())))
    }

    fn section<'a>(&'a self, section: &'a str) -> impl Iterator<Item = &'a Entry> + 'a {
        self.entries.iter().filter(move |entry| entry.section == section)
    }

    /// A key of the workload.
    fn workload_entry(&self, name: &str) -> &Entry {
        let entry = self.section(WORKLOAD).find(|entry| entry.name == name);
        entry.unwrap_or_else(|| panic!("workload.{name} is not in the table of keys"))
    }

    fn apply_text(&mut self, text: &str, origin: impl Fn(usize) -> Origin) -> Result<(), ConfigError> {
        let lines = file::read(text).map_err(|damage| ConfigError::Damaged {
            origin: origin(damage.line),
            message: damage.message,
        })?;
        for line in lines {
            match line.value {
                Some(value) => self.apply_full(&line.path, &value, origin(line.number))?,
                None => self.check_section(&line.path, origin(line.number))?,
            }
        }
        Ok(())
    }

    fn apply(&mut self, path: &str, value: &str, origin: Origin) -> Result<(), ConfigError> {
        let short =
            |section: &str| self.entries.iter().any(|entry| entry.section == section && entry.name == path);
        let section = [EVENTS, WORKLOAD].into_iter().find(|section| short(section));
        let full = section.map_or_else(|| path.to_owned(), |section| format!("{section}.{path}"));
        self.apply_full(&full, value, origin)
    }

    fn apply_full(&mut self, path: &str, value: &str, origin: Origin) -> Result<(), ConfigError> {
        let Some(index) = self.entries.iter().position(|entry| entry.path() == path) else {
            return Err(self.unknown(path, origin));
        };
        let entry = &mut self.entries[index];
        if !entry.allowed.accepts(value) {
            let allowed = entry.allowed.to_string();
            return Err(ConfigError::Value { origin, key: entry.path(), value: value.to_owned(), allowed });
        }
        entry.value = value.to_owned();
        entry.origin = origin;
        if entry.section == EVENTS { self.check_option(index) } else { Ok(()) }
    }

    /// The table of the options knows exceptions to the ranges.
    fn check_option(&self, index: usize) -> Result<(), ConfigError> {
        let entry = &self.entries[index];
        let set = Options::default().set(entry.name, &canonical(&entry.value));
        set.map_err(|error| self.option_error(&error))
    }

    fn check_section(&self, path: &str, origin: Origin) -> Result<(), ConfigError> {
        let inside = format!("{path}.");
        if self.entries.iter().any(|entry| entry.path().starts_with(&inside)) {
            return Ok(());
        }
        Err(self.unknown(path, origin))
    }

    fn unknown(&self, path: &str, origin: Origin) -> ConfigError {
        let paths: Vec<String> = self.entries.iter().map(Entry::path).collect();
        let short = self.entries.iter().filter(|entry| entry.section == EVENTS || entry.section == WORKLOAD);
        let known = paths.iter().map(String::as_str).chain(short.map(|entry| entry.name));
        let nearest = nexmark_queries::nearest(path, known).map(str::to_owned);
        ConfigError::UnknownKey { origin, key: path.to_owned(), nearest }
    }

    fn option_error(&self, error: &OptionError) -> ConfigError {
        match error {
            OptionError::Unknown { name, .. } => self.unknown(name, Origin::Default),
            OptionError::Value { name, value, allowed } => {
                let entry = self.section(EVENTS).find(|entry| entry.name == *name);
                ConfigError::Value {
                    origin: entry.map_or(Origin::Default, |entry| entry.origin.clone()),
                    key: format!("{EVENTS}.{name}"),
                    value: value.clone(),
                    allowed: allowed.clone(),
                }
            }
        }
    }
}

fn event_entries() -> Vec<Entry> {
    let defaults = Options::default();
    let values = defaults.entries().map(|(_, value)| value.to_string());
    Options::TABLE
        .iter()
        .zip(values)
        .map(|(option, value)| Entry {
            section: EVENTS.to_owned(),
            name: option.name,
            allowed: Allowed::Count { min: option.min, max: option.max },
            meaning: option.meaning,
            value,
            origin: Origin::Default,
        })
        .collect()
}

fn entry(section: String, key: &Key) -> Entry {
    Entry {
        section,
        name: key.name,
        allowed: key.allowed,
        meaning: key.meaning,
        value: key.default.to_owned(),
        origin: Origin::Default,
    }
}

/// A count without suffix and underscores, as the options of the stream read it.
fn canonical(value: &str) -> String {
    count(value).map_or_else(|| value.to_owned(), |number| number.to_string())
}

#[cfg(test)]
mod tests;
