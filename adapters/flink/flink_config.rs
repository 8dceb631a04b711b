//! From the keys of section `[engine.flink]` to the settings of a Flink job. Defaults are those of the reference set-up.

use std::collections::BTreeMap;
use std::time::Duration;

use nexmark_driver::config::Settings;
use nexmark_driver::engine::EngineError;

/// Begin of the settings of table programs, which a job is told by its arguments.
const TABLE: &str = "table.";
/// An interval that Flink takes for none: the cluster's own setting would take effect if it were left out.
const NEVER: &str = "9223372036854775807 ms";

/// Settings of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlinkConfig {
    /// For the job itself.
    pub(crate) job: BTreeMap<String, String>,
    /// For its table programs.
    pub(crate) table: BTreeMap<String, String>,
}

impl FlinkConfig {
    /// Reads and checks the settings.
    pub(crate) fn new(settings: &Settings) -> Result<Self, EngineError> {
        let mut config = Self::default();
        config.set("pipeline.object-reuse", settings.text("object-reuse"));
        config.set_checkpoints(settings);
        config.set("state.backend.type", settings.text("state.backend"));
        config.set_mini_batch(settings);
        config.set("table.optimizer.distinct-agg.split.enabled", settings.text("distinct.split"));
        if settings.text("restart") != "cluster" {
            config.set("restart-strategy.type", settings.text("restart"));
        }
        config.set_others(settings.text("settings"))?;
        Ok(config)
    }

    fn set(&mut self, key: &str, value: impl Into<String>) {
        let side = if key.starts_with(TABLE) { &mut self.table } else { &mut self.job };
        side.insert(key.to_owned(), value.into());
    }

    fn set_checkpoints(&mut self, settings: &Settings) {
        let interval = settings.duration("checkpoint.interval");
        self.set(
            "execution.checkpointing.interval",
            if interval.is_zero() { NEVER.to_owned() } else { ms(interval) },
        );
        let mode = settings.text("checkpoint.mode").replace('-', "_").to_uppercase();
        self.set("execution.checkpointing.mode", mode);
        self.set("execution.checkpointing.incremental", settings.text("checkpoint.incremental"));
        // A task at the end of its input would wait for one more checkpoint, which may be minutes away.
        self.set("execution.checkpointing.checkpoints-after-tasks-finish", "false");
        let directory = settings.text("checkpoint.dir");
        if !directory.is_empty() {
            self.set("execution.checkpointing.storage", "filesystem");
            self.set("execution.checkpointing.dir", as_url(directory));
        }
    }

    fn set_mini_batch(&mut self, settings: &Settings) {
        self.set("table.exec.mini-batch.enabled", settings.text("mini-batch.enabled"));
        if settings.switch("mini-batch.enabled") {
            self.set("table.exec.mini-batch.allow-latency", ms(settings.duration("mini-batch.latency")));
            self.set("table.exec.mini-batch.size", settings.count("mini-batch.size").to_string());
        }
    }

    /// Whatever else Flink can be told; it refuses what it does not understand.
    fn set_others(&mut self, others: &str) -> Result<(), EngineError> {
        for other in others.split(';').map(str::trim).filter(|other| !other.is_empty()) {
            let refuse = |reason: &str| {
                Err(EngineError::new(format!(
                    "settings holds {other:?}, {reason}; allowed is KEY=VALUE, several joined by ;"
                )))
            };
            let Some((key, value)) = other.split_once('=').map(|(key, value)| (key.trim(), value.trim()))
            else {
                return refuse("which has no =");
            };
            if key.is_empty() || key.contains(char::is_whitespace) {
                return refuse("whose key is none");
            }
            if self.job.contains_key(key) || self.table.contains_key(key) || TAKEN.contains(&key) {
                return refuse("which has a key or flag of its own");
            }
            self.set(key, value);
        }
        Ok(())
    }
}

/// Settings that follow from the job.
const TAKEN: [&str; 3] = ["pipeline.name", "parallelism.default", "execution.runtime-mode"];

fn ms(duration: Duration) -> String {
    format!("{} ms", duration.as_millis())
}

/// A path of this machine as an address, too.
pub(crate) fn as_url(directory: &str) -> String {
    if directory.contains("://") || directory.starts_with("file:") {
        directory.to_owned()
    } else {
        format!("file://{directory}")
    }
}

#[cfg(test)]
mod tests {
    use nexmark_driver::config::Config;

    use super::*;

    fn config(changes: &[&str]) -> Result<FlinkConfig, EngineError> {
        let mut config = Config::new(&[&crate::FACTORY]);
        for change in changes {
            config.apply_set(&format!("engine.flink.{change}")).unwrap();
        }
        FlinkConfig::new(&config.engine("flink"))
    }

    #[test]
    fn defaults_are_the_reference_set_up() {
        let FlinkConfig { job, table } = config(&[]).unwrap();
        for (key, value) in [
            ("execution.checkpointing.interval", "180000 ms"),
            ("execution.checkpointing.mode", "EXACTLY_ONCE"),
            ("execution.checkpointing.incremental", "true"),
            ("state.backend.type", "rocksdb"),
            ("pipeline.object-reuse", "false"),
        ] {
            assert_eq!(job.get(key).map(String::as_str), Some(value), "{key}");
        }
        for (key, value) in [
            ("table.exec.mini-batch.enabled", "true"),
            ("table.exec.mini-batch.allow-latency", "2000 ms"),
            ("table.exec.mini-batch.size", "50000"),
            ("table.optimizer.distinct-agg.split.enabled", "true"),
        ] {
            assert_eq!(table.get(key).map(String::as_str), Some(value), "{key}");
        }
        assert!(!job.contains_key("restart-strategy.type"), "the cluster's own");
    }

    #[test]
    fn every_key_takes_effect() {
        let FlinkConfig { job, table } = config(&[
            "checkpoint.interval=0s",
            "checkpoint.mode=at-least-once",
            "checkpoint.dir=/shared/c",
            "restart=fixed-delay",
            "mini-batch.enabled=false",
            "settings=metrics.latency.interval=500; table.exec.state.ttl = 1 h",
        ])
        .unwrap();
        assert_eq!(job["execution.checkpointing.interval"], NEVER);
        assert_eq!(job["execution.checkpointing.mode"], "AT_LEAST_ONCE");
        assert_eq!(job["execution.checkpointing.dir"], "file:///shared/c");
        assert_eq!(job["restart-strategy.type"], "fixed-delay");
        assert_eq!(job["metrics.latency.interval"], "500");
        assert_eq!(table["table.exec.state.ttl"], "1 h");
        assert_eq!(table["table.exec.mini-batch.enabled"], "false");
        assert!(!table.contains_key("table.exec.mini-batch.size"));
    }

    #[test]
    fn other_settings_are_checked() {
        for (other, reason) in [
            ("a", "no ="),
            ("=1", "none"),
            ("a b=1", "none"),
            ("pipeline.name=x", "of its own"),
            ("state.backend.type=x", "of its own"),
        ] {
            let message = config(&[&format!("settings={other}")]).unwrap_err().message;
            assert!(
                message.contains(reason) && message.contains("allowed is KEY=VALUE"),
                "{other}: {message}"
            );
        }
    }
}
