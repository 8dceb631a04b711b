//! A cluster as it describes itself, and the settings of a job as Flink has understood them.

use std::collections::BTreeMap;

use nexmark_driver::engine::EngineError;
use serde_json::Value;

use crate::replies::{Config, JobConfig, Overview, Setting, TaskManager, TaskManagers};
use crate::rest::{Rest, RestError};

/// Parts of keys whose values are nobody's business; Flink hides most of them itself.
const SECRET: [&str; 7] = ["password", "secret", "token", "credential", "access-key", "apikey", "sasl.jaas"];
/// Settings that tell one process or one job from the next and nothing else, so that no two runs would have them in common.
const NAMES: [&str; 6] =
    ["blob.server.port", "jobmanager.rpc.port", "pipeline.name", "rest.port", "web.tmpdir", "web.upload.dir"];

/// What a cluster says about itself.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) version: String,
    /// Whether jars may be uploaded.
    pub(crate) takes_jars: bool,
    pub(crate) overview: Overview,
    pub(crate) taskmanagers: Vec<TaskManager>,
    pub(crate) settings: BTreeMap<String, String>,
}

impl Cluster {
    pub(crate) async fn read(rest: &Rest) -> Result<Self, RestError> {
        let config: Config = rest.get("/config").await?;
        let settings: Vec<Setting> = rest.get("/jobmanager/config").await?;
        let taskmanagers: TaskManagers = rest.get("/taskmanagers").await?;
        Ok(Self {
            version: config.flink_version,
            takes_jars: config.features.web_submit,
            overview: rest.get("/overview").await?,
            taskmanagers: taskmanagers.taskmanagers,
            settings: settings.into_iter().map(|setting| (setting.key, setting.value)).collect(),
        })
    }

    /// The cluster's settings that may be kept with a result, and its size.
    pub(crate) fn config(&self) -> BTreeMap<String, String> {
        let mut config = shown(self.settings.clone());
        config.insert("cluster.taskmanagers".to_owned(), self.overview.taskmanagers.to_string());
        config.insert("cluster.slots".to_owned(), self.overview.slots_total.to_string());
        config
    }
}

/// The settings that may be kept and that may matter.
fn shown(mut config: BTreeMap<String, String>) -> BTreeMap<String, String> {
    config.retain(|key, _| {
        let key = key.to_lowercase();
        !NAMES.contains(&key.as_str()) && !SECRET.iter().any(|secret| key.contains(secret))
    });
    config
}

/// The settings of a job: those that its program has set as well as those that its checkpoints go by.
pub(crate) async fn job_config(rest: &Rest, job: &str) -> Result<BTreeMap<String, String>, EngineError> {
    let execution: JobConfig = rest.get(&format!("/jobs/{job}/config")).await?;
    let mut config = BTreeMap::new();
    if let Some(execution) = execution.execution_config {
        config.extend(shown(execution.user_config));
        config.insert("job.parallelism".to_owned(), execution.job_parallelism.to_string());
        config.insert("job.object-reuse".to_owned(), execution.object_reuse_mode.to_string());
        config.insert("job.restart-strategy".to_owned(), execution.restart_strategy);
    }
    match rest.get::<Value>(&format!("/jobs/{job}/checkpoints/config")).await {
        Ok(checkpoints) => flatten("job.checkpoints", &checkpoints, &mut config),
        // A job without checkpoints has no settings of them.
        Err(error) if error.is_not_found() => {
            drop(config.insert("job.checkpoints".to_owned(), "none".to_owned()))
        }
        Err(error) => return Err(error.into()),
    }
    Ok(config)
}

/// Values at the leaves, under their joined names.
fn flatten(name: &str, value: &Value, config: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                flatten(&format!("{name}.{field}"), value, config);
            }
        }
        Value::String(text) => drop(config.insert(name.to_owned(), text.clone())),
        value => drop(config.insert(name.to_owned(), value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded;

    #[test]
    fn settings_of_a_recorded_cluster_are_read() {
        let settings: Vec<Setting> = recorded::read("jobmanager-config");
        assert!(settings.len() > 30);
        let taskmanagers: TaskManagers = recorded::read("taskmanagers");
        assert_eq!(taskmanagers.taskmanagers[0].id, "127.0.0.1:46343-33c8f5");
        let overview: Overview = recorded::read("overview");
        assert_eq!((overview.slots_total, overview.slots_available), (2, 2));
    }

    #[test]
    fn secrets_and_mere_names_are_left_out() {
        let keys = [
            "s3.secret-key",
            "security.ssl.rest.key-Password",
            "rest.port",
            "pipeline.name",
            "pipeline.object-reuse",
            "state.backend.type",
        ];
        let config = keys.map(|key| (key.to_owned(), "x".to_owned())).into();
        assert_eq!(
            shown(config).into_keys().collect::<Vec<_>>(),
            ["pipeline.object-reuse", "state.backend.type"]
        );
    }

    #[test]
    fn settings_of_checkpoints_become_flat() {
        let mut config = BTreeMap::new();
        flatten("c", &recorded::response("checkpoints-config"), &mut config);
        assert_eq!(config["c.mode"], "exactly_once");
        assert_eq!(config["c.interval"], "5000");
        assert_eq!(config["c.externalization.delete_on_cancellation"], "true");
    }
}
