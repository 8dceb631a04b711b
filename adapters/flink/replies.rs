//! The parts of Flink's replies that are read. Fields that only some versions have may be absent.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// `/config`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Config {
    pub(crate) flink_version: String,
    #[serde(default)]
    pub(crate) features: Features,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct Features {
    pub(crate) web_submit: bool,
    pub(crate) web_cancel: bool,
}

/// `/overview`
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Overview {
    pub(crate) taskmanagers: u64,
    pub(crate) slots_total: u64,
    pub(crate) slots_available: u64,
    #[serde(default)]
    pub(crate) jobs_running: u64,
}

/// An entry of `/jobmanager/config`
#[derive(Debug, Deserialize)]
pub(crate) struct Setting {
    pub(crate) key: String,
    pub(crate) value: String,
}

/// `/taskmanagers`
#[derive(Debug, Deserialize)]
pub(crate) struct TaskManagers {
    pub(crate) taskmanagers: Vec<TaskManager>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskManager {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) path: String,
}

/// `/jars`
#[derive(Debug, Deserialize)]
pub(crate) struct Jars {
    pub(crate) files: Vec<Jar>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Jar {
    pub(crate) id: String,
    pub(crate) name: String,
}

/// `/jars/upload`
#[derive(Debug, Deserialize)]
pub(crate) struct Uploaded {
    pub(crate) filename: String,
}

/// `/jars/:id/run`
#[derive(Debug, Deserialize)]
pub(crate) struct Started {
    pub(crate) jobid: String,
}

/// `/jobs/:id/status`
#[derive(Debug, Deserialize)]
pub(crate) struct Status {
    pub(crate) status: String,
}

/// `/jobs/:id`
#[derive(Debug, Deserialize)]
pub(crate) struct Details {
    pub(crate) state: String,
    /// The JobManager's clock when it replied, epoch ms.
    #[serde(default)]
    pub(crate) now: Option<i64>,
    /// When each state was entered, epoch ms; 0 for never.
    pub(crate) timestamps: BTreeMap<String, i64>,
    #[serde(default)]
    pub(crate) vertices: Vec<Vertex>,
    #[serde(default)]
    pub(crate) plan: Plan,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Vertex {
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) parallelism: u64,
    /// Number of subtasks in each state.
    #[serde(default)]
    pub(crate) tasks: BTreeMap<String, u64>,
    #[serde(default)]
    pub(crate) metrics: VertexMetrics,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct VertexMetrics {
    pub(crate) read_records: u64,
    pub(crate) read_records_complete: bool,
    #[serde(deserialize_with = "number")]
    pub(crate) accumulated_backpressured_time: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) accumulated_busy_time: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) accumulated_idle_time: f64,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Plan {
    #[serde(default)]
    pub(crate) nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    /// Absent for a source.
    #[serde(default)]
    pub(crate) inputs: Vec<Value>,
}

/// `/jobs/:id/vertices/:id/subtasktimes`
#[derive(Debug, Deserialize)]
pub(crate) struct SubtaskTimes {
    pub(crate) now: i64,
    pub(crate) subtasks: Vec<SubtaskTime>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SubtaskTime {
    /// When each state was entered, epoch ms; 0 for never.
    pub(crate) timestamps: BTreeMap<String, i64>,
}

/// A name in a list of metrics.
#[derive(Debug, Deserialize)]
pub(crate) struct MetricName {
    pub(crate) id: String,
}

/// A metric over all subtasks of a vertex, or over all TaskManagers.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Aggregate {
    pub(crate) id: String,
    #[serde(deserialize_with = "number")]
    pub(crate) sum: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) min: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) max: f64,
}

/// A metric of one thing.
#[derive(Debug, Deserialize)]
pub(crate) struct Metric {
    pub(crate) id: String,
    pub(crate) value: String,
}

/// `/jobs/:id/exceptions`
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Exceptions {
    #[serde(rename = "exceptionHistory", default)]
    pub(crate) history: ExceptionHistory,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct ExceptionHistory {
    /// The last one first.
    #[serde(default)]
    pub(crate) entries: Vec<ExceptionEntry>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ExceptionEntry {
    #[serde(rename = "exceptionName")]
    pub(crate) name: String,
    #[serde(rename = "stacktrace", default)]
    pub(crate) trace: String,
    #[serde(rename = "taskName")]
    pub(crate) task: Option<String>,
    #[serde(rename = "concurrentExceptions", default)]
    pub(crate) concurrent: Vec<ExceptionEntry>,
}

/// `/jobs/:id/accumulators`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Accumulators {
    pub(crate) user_task_accumulators: Vec<Accumulator>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Accumulator {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// `/jobs/:id/checkpoints`
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Checkpoints {
    #[serde(default)]
    pub(crate) counts: BTreeMap<String, u64>,
    #[serde(default)]
    pub(crate) summary: Option<CheckpointSummary>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CheckpointSummary {
    pub(crate) end_to_end_duration: Spread,
    pub(crate) state_size: Spread,
    pub(crate) checkpointed_size: Spread,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Spread {
    #[serde(deserialize_with = "number")]
    pub(crate) max: f64,
    #[serde(deserialize_with = "number")]
    pub(crate) avg: f64,
}

/// `/jobs/:id/config`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct JobConfig {
    pub(crate) execution_config: Option<ExecutionConfig>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct ExecutionConfig {
    pub(crate) restart_strategy: String,
    pub(crate) job_parallelism: i64,
    pub(crate) object_reuse_mode: bool,
    #[serde(default)]
    pub(crate) user_config: BTreeMap<String, String>,
}

/// A number. Flink writes those that are none as text: "NaN".
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_f64().unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none_do_no_harm() {
        let text = r#"{"id":"x","sum":"NaN","min":-3,"max":1.5}"#;
        let Aggregate { sum, min, max, .. } = serde_json::from_str(text).unwrap();
        assert!(sum.is_nan());
        assert_eq!((min, max), (-3.0, 1.5));
    }
}
