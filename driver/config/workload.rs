//! Section `[workload]`: how many events, how fast, how often, and how long to wait for what.

use std::time::Duration;

use super::key::{self, Allowed, Key};
use super::{Config, ConfigError, Origin};
use crate::pace::Schedule;
use crate::run::{Deadlines, Workload};

/// Events are numbered up to 2^53, so that no engine has to round a number.
const EVENTS_MAX: u64 = 1 << 53;

macro_rules! keys {
    ($($name:literal $default:literal $allowed:expr; $meaning:literal)*) => {
        &[$(Key { name: $name, default: $default, allowed: $allowed, meaning: $meaning }),*]
    };
}

/// The keys of the section.
pub(super) const KEYS: &[Key] = keys! {
    "mode" "events" Allowed::Choice(&["events", "rate"]); "events: the time that a number of events takes; rate: events are offered for a time"
    "events" "10000000" Allowed::Count { min: 1, max: EVENTS_MAX }; "mode events: events that are measured"
    "warmup-events" "0" Allowed::Count { min: 0, max: EVENTS_MAX }; "mode events: events before the measured ones"
    "duration" "30s" Allowed::Duration; "mode rate: measured time"
    "warmup" "10s" Allowed::Duration; "mode rate: time before the measured one"
    "rate" "0" Allowed::Rate; "mode rate: events offered per second, 0 for as fast as the engine takes them"
    "shape" "constant" Allowed::Choice(&["constant", "square", "sine"]); "mode rate: how the rate changes over time"
    "next-rate" "0" Allowed::Rate; "shapes square and sine: the second rate"
    "period" "1m" Allowed::Duration; "shapes square and sine: length of a period"
    "watermark.delay" "4000" Allowed::Count { min: 0, max: 1 << 40 }; "ms that the watermark stays behind the highest event time"
    "workers" "0" Allowed::Count { min: 0, max: 1024 }; "workers, or the parallelism; 0 for the number of cores"
    "repeat" "1" Allowed::Count { min: 1, max: 1000 }; "runs of each query"
    "memory-budget" "0" Allowed::Bytes { max: 1 << 50 }; "size of the state at which a run fails, such as 2GiB; 0 for no budget"
    "deadline.start" "60s" Allowed::Duration; "longest wait for the first event"
    "deadline.stall" "60s" Allowed::Duration; "longest time without any progress"
    "deadline.stop" "30s" Allowed::Duration; "longest wait for the end of a job that was told to stop"
    "deadline.total" "0s" Allowed::Duration; "longest time of a whole run, 0s for as long as it moves"
};

/// Keys that only one mode reads.
const ONLY: &[(&str, &[&str])] = &[
    ("events", &["events", "warmup-events"]),
    ("rate", &["duration", "warmup", "rate", "shape", "next-rate", "period"]),
];

/// What is offered to an engine, how often, and how long to wait for what.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadSettings {
    /// A number of events, or a time.
    pub workload: Workload,
    /// How far the watermark stays behind the highest event time, ms.
    pub watermark_delay_ms: u64,
    /// Workers; `None` for the number of cores.
    pub workers: Option<usize>,
    /// Runs of each query.
    pub repeat: u32,
    /// State size at which a run fails, bytes.
    pub memory_budget_bytes: Option<u64>,
    /// Longest waits.
    pub deadlines: Deadlines,
}

impl WorkloadSettings {
    pub(super) fn new(config: &Config) -> Result<Self, ConfigError> {
        refuse_ineffective(config)?;
        let zero_is_none = |name| Some(count(config, name)).filter(|value| *value > 0);
        Ok(Self {
            workload: workload(config)?,
            watermark_delay_ms: count(config, "watermark.delay"),
            workers: zero_is_none("workers").and_then(|workers| usize::try_from(workers).ok()),
            repeat: u32::try_from(count(config, "repeat")).unwrap_or(u32::MAX),
            memory_budget_bytes: key::bytes(&config.workload_entry("memory-budget").value)
                .filter(|size| *size > 0),
            deadlines: Deadlines {
                start: positive_duration(config, "deadline.start")?,
                stall: positive_duration(config, "deadline.stall")?,
                stop: positive_duration(config, "deadline.stop")?,
                total: Some(any_duration(config, "deadline.total")).filter(|total| !total.is_zero()),
            },
        })
    }
}

fn workload(config: &Config) -> Result<Workload, ConfigError> {
    if config.workload_entry("mode").value == "events" {
        let (events, warmup_events) = (count(config, "events"), count(config, "warmup-events"));
        return Ok(Workload::Events { events, warmup_events });
    }
    let (duration, warmup) = (positive_duration(config, "duration")?, any_duration(config, "warmup"));
    Ok(Workload::Rate { duration, warmup, schedule: schedule(config)? })
}

fn schedule(config: &Config) -> Result<Schedule, ConfigError> {
    let rate = |name| key::rate(&config.workload_entry(name).value).unwrap_or_default();
    let (first, next) = (rate("rate"), rate("next-rate"));
    let period = || positive_duration(config, "period");
    let schedule = match config.workload_entry("shape").value.as_str() {
        "square" => Schedule::Square { first, next, period: period()? },
        "sine" => Schedule::Sine { first, next, period: period()? },
        _ if first == 0.0 => Schedule::Unlimited,
        _ => Schedule::Constant(first),
    };
    schedule.check().map_err(|error| ConfigError::Damaged {
        origin: config.workload_entry("rate").origin.clone(),
        message: format!("no schedule of shape {}: {error}", config.workload_entry("shape").value),
    })?;
    Ok(schedule)
}

/// A value of `--set` or of a flag that nothing reads is a mistake. Files and profiles may hold both modes.
fn refuse_ineffective(config: &Config) -> Result<(), ConfigError> {
    let mode = &config.workload_entry("mode").value;
    let shape = &config.workload_entry("shape").value;
    let other_mode = ONLY.iter().filter(|(only, _)| only != mode).flat_map(|(_, names)| names.iter());
    for name in other_mode {
        refuse(config, name, &format!("with workload.mode = {mode}"))?;
    }
    if shape == "constant" {
        refuse(config, "next-rate", "with workload.shape = constant")?;
        refuse(config, "period", "with workload.shape = constant")?;
    }
    Ok(())
}

fn refuse(config: &Config, name: &str, because: &str) -> Result<(), ConfigError> {
    let entry = config.workload_entry(name);
    if matches!(entry.origin, Origin::Set | Origin::Flag(_)) {
        let because = because.to_owned();
        return Err(ConfigError::NoEffect { origin: entry.origin.clone(), key: entry.path(), because });
    }
    Ok(())
}

fn count(config: &Config, name: &str) -> u64 {
    // Only values that the key allows are ever stored.
    key::count(&config.workload_entry(name).value).unwrap_or_default()
}

fn any_duration(config: &Config, name: &str) -> Duration {
    key::duration(&config.workload_entry(name).value).unwrap_or_default()
}

fn positive_duration(config: &Config, name: &str) -> Result<Duration, ConfigError> {
    let entry = config.workload_entry(name);
    match key::duration(&entry.value) {
        Some(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(ConfigError::Value {
            origin: entry.origin.clone(),
            key: entry.path(),
            value: entry.value.clone(),
            allowed: format!("{} above 0", entry.allowed),
        }),
    }
}
