//! What an engine is told of the configuration, and how an engine is made from it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::key::{self, Key};
use crate::engine::{Engine, EngineError};

/// An engine that can be chosen: its name, the keys of its section, and how it is made.
#[derive(Clone, Copy, Debug)]
pub struct EngineFactory {
    /// Name, as given to `--engine` and in `[engine.NAME]`.
    pub name: &'static str,
    /// What it is, one line.
    pub title: &'static str,
    /// The keys of its section; every other one is refused.
    pub keys: &'static [Key],
    /// Makes the engine; reaches no network.
    pub create: fn(&Settings) -> Result<Box<dyn Engine>, EngineError>,
}

/// The section of one engine: every declared key has a value that its [`Key`] allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    values: BTreeMap<&'static str, String>,
}

impl Settings {
    pub(super) fn new(values: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        Self { values: values.into_iter().collect() }
    }

    /// The defaults of a factory's keys.
    pub fn defaults(keys: &[Key]) -> Self {
        Self::new(keys.iter().map(|key| (key.name, key.default.to_owned())))
    }

    /// Value of a key, as text.
    ///
    /// # Panics
    /// The key is not declared by the factory.
    pub fn text(&self, name: &str) -> &str {
        self.values.get(name).unwrap_or_else(|| panic!("key {name} is not declared by its engine"))
    }

    /// Value of a key that allows [`super::Allowed::Count`].
    ///
    /// # Panics
    /// The key is not declared so by the factory.
    pub fn count(&self, name: &str) -> u64 {
        key::count(self.text(name)).unwrap_or_else(|| panic!("key {name} is not declared as a count"))
    }

    /// Value of a key that allows [`super::Allowed::Switch`].
    ///
    /// # Panics
    /// The key is not declared by the factory.
    pub fn switch(&self, name: &str) -> bool {
        self.text(name) == "true"
    }

    /// Value of a key that allows [`super::Allowed::Duration`].
    ///
    /// # Panics
    /// The key is not declared so by the factory.
    pub fn duration(&self, name: &str) -> Duration {
        key::duration(self.text(name)).unwrap_or_else(|| panic!("key {name} is not declared as a duration"))
    }

    /// Every key with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> + '_ {
        self.values.iter().map(|(name, value)| (*name, value.as_str()))
    }
}
