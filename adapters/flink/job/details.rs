//! What Flink tells of a job as a whole: its vertices, and when it was in which state.

use std::time::Instant;

use crate::metrics::Aggregated;
use crate::moment::{Exchange, now};
use crate::replies::{Details, SubtaskTime, SubtaskTimes};
use crate::rest::{Rest, RestError};

/// Name of the operator that takes the rows.
const SINK: &str = "nexmark-sink";

/// The details, and when they were told.
pub(super) struct Read {
    pub(super) details: Details,
    exchange: Exchange,
}

/// Reads the details of a job.
pub(super) async fn read(rest: &Rest, job: &str) -> Result<Read, RestError> {
    let asked = now();
    let details = rest.get(&format!("/jobs/{job}")).await?;
    Ok(Read { details, exchange: Exchange { asked, replied: now() } })
}

impl Read {
    /// When the job entered a state.
    pub(super) fn moment(&self, state: &str) -> Option<Instant> {
        let then = self.details.timestamps.get(state).copied().filter(|then| *then > 0)?;
        Some(self.exchange.moment(self.details.now?, then))
    }
}

/// The vertices of a job.
pub(super) struct Topology {
    pub(super) vertices: Vec<KnownVertex>,
}

/// A vertex and its metrics.
pub(super) struct KnownVertex {
    pub(super) id: String,
    pub(super) is_source: bool,
    /// The sink may be in the chain of any vertex.
    pub(super) has_sink: bool,
    pub(super) metrics: Aggregated,
}

impl Topology {
    /// A source is a vertex without inputs. A job may have several, and the chain of one may hold the whole query.
    pub(super) fn new(job: &str, details: &Details) -> Self {
        let is_source = |id: &str, name: &str| match details.plan.nodes.iter().find(|node| node.id == id) {
            Some(node) => node.inputs.is_empty(),
            None => name.starts_with("Source: "),
        };
        let vertices = details.vertices.iter().map(|vertex| KnownVertex {
            id: vertex.id.clone(),
            is_source: is_source(&vertex.id, &vertex.name),
            has_sink: vertex.name.contains(SINK),
            metrics: Aggregated::new(format!("/jobs/{job}/vertices/{}/subtasks/metrics", vertex.id)),
        });
        Self { vertices: vertices.collect() }
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = &KnownVertex> {
        self.vertices.iter().filter(|vertex| vertex.is_source)
    }

    /// Events that all subtasks of all sources of a finished job have read; `None` while Flink has not heard of all.
    pub(super) fn events_total(&self, details: &Details) -> Option<u64> {
        let mut sources = self.sources().peekable();
        sources.peek()?;
        sources.try_fold(0, |sum: u64, source| {
            let vertex = details.vertices.iter().find(|vertex| vertex.id == source.id)?;
            sum.checked_add(vertex.metrics.read_records).filter(|_| vertex.metrics.read_records_complete)
        })
    }
}

/// When the first subtask of a source began to run, which is not before the job was asked for; `None` while none does.
pub(super) async fn start(
    rest: &Rest,
    job: &str,
    topology: &Topology,
    asked_for: Instant,
) -> Result<Option<Instant>, RestError> {
    let mut first: Option<Instant> = None;
    for source in topology.sources() {
        let asked = now();
        let times: SubtaskTimes =
            rest.get(&format!("/jobs/{job}/vertices/{}/subtasktimes", source.id)).await?;
        let exchange = Exchange { asked, replied: now() };
        let running = times.subtasks.iter().filter_map(|subtask| subtask.timestamps.get("RUNNING").copied());
        if let Some(then) = running.filter(|then| *then > 0).min() {
            let moment = exchange.moment(times.now, then).max(asked_for);
            first = Some(first.map_or(moment, |first| first.min(moment)));
        }
    }
    Ok(first)
}

/// States in which a subtask has ended.
const ENDS: [&str; 3] = ["FINISHED", "CANCELED", "FAILED"];

/// Says so where the subtasks of a source never ran all at once: with too few slots Flink runs those that need nothing of each
/// other one after another, and fewer were measured than asked for.
pub(super) async fn apart(rest: &Rest, job: &str, topology: &Topology) -> Result<Option<String>, RestError> {
    for source in topology.sources() {
        let times: SubtaskTimes =
            rest.get(&format!("/jobs/{job}/vertices/{}/subtasktimes", source.id)).await?;
        if !times.ran_at_once() {
            let all = times.subtasks.len();
            return Ok(Some(format!(
                "the {all} subtasks of a source never ran all at once, as where slots are too few"
            )));
        }
    }
    Ok(None)
}

impl SubtaskTimes {
    fn ran_at_once(&self) -> bool {
        let moment = |subtask: &SubtaskTime, state: &str| {
            subtask.timestamps.get(state).copied().filter(|moment| *moment > 0)
        };
        let ends =
            self.subtasks.iter().flat_map(|subtask| ENDS.iter().filter_map(|end| moment(subtask, end)));
        let first_end = ends.min().unwrap_or(i64::MAX);
        self.subtasks.iter().all(|subtask| moment(subtask, "RUNNING").is_some_and(|begin| begin <= first_end))
    }
}

/// What the tasks of a job wait for that does not run as a whole.
pub(super) fn waits_for(details: &Details) -> Option<String> {
    let all: u64 = details.vertices.iter().map(|vertex| vertex.parallelism).sum();
    let in_state =
        |state: &str| -> u64 { details.vertices.iter().filter_map(|vertex| vertex.tasks.get(state)).sum() };
    let (waiting, deploying) = (in_state("SCHEDULED"), in_state("DEPLOYING") + in_state("INITIALIZING"));
    if waiting > 0 {
        return Some(format!("slots: {waiting} of its {all} tasks have none"));
    }
    (deploying > 0).then(|| format!("{deploying} of its {all} tasks to be deployed"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn times(subtasks: &[(i64, i64)]) -> SubtaskTimes {
        let subtask = |(running, finished): &(i64, i64)| json!({ "timestamps": { "RUNNING": running, "FINISHED": finished } });
        let subtasks: Vec<_> = subtasks.iter().map(subtask).collect();
        serde_json::from_value(json!({ "now": 100, "subtasks": subtasks })).unwrap()
    }

    #[test]
    fn subtasks_that_took_turns_did_not_run_at_once() {
        assert!(times(&[(10, 50), (12, 0)]).ran_at_once());
        assert!(times(&[(10, 0), (12, 0)]).ran_at_once());
        assert!(times(&[(10, 50)]).ran_at_once());
        assert!(!times(&[(10, 50), (60, 90)]).ran_at_once());
        assert!(!times(&[(10, 0), (0, 0)]).ran_at_once());
    }
}
