//! The numbers of a job that goes on. What decides the result is read at each poll; the rest, which costs the JobManager many
//! requests, more seldom. Where the rest cannot be read the old values stay.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::details::Topology;
use crate::metrics::{Aggregated, Figure, single};
use crate::moment::now;
use crate::replies::{Aggregate, Checkpoints, Details};
use crate::rest::{Rest, RestError};

/// Time between two readings of what does not decide the result.
const SELDOM: Duration = Duration::from_secs(2);
/// Metrics that are as old as this are not renewed: Flink renews them every 10 s by default.
const STALE: Duration = Duration::from_secs(30);
/// Watermarks below this are none yet: Flink begins with the lowest number of 64 bits.
const WATERMARK_MIN: f64 = -9e18;
/// Metrics of the job.
const OF_JOB: [&str; 2] = ["numRestarts", "lastCheckpointFullSize"];

/// Has Flink renew its store of TaskManagers' metrics, which holds what was read last, however long ago: counters are told since
/// then.
pub(crate) async fn renew(rest: &Rest) {
    // A cluster that does not answer is told of by whatever follows.
    drop(rest.get::<serde_json::Value>("/taskmanagers/metrics?get=Status.JVM.CPU.Time&agg=sum").await);
}

/// What was read last.
#[derive(Default)]
pub(super) struct Figures {
    pub(super) events: Option<u64>,
    pub(super) rows: Option<u64>,
    pub(super) events_per_s: Option<f64>,
    pub(super) watermark_ms: Option<i64>,
    pub(super) late_rows: Option<u64>,
    pub(super) state_bytes: Option<u64>,
    pub(super) restarts: u32,
    pub(super) extras: BTreeMap<&'static str, f64>,
    taskmanagers: TaskManagers,
    seldom: Option<Instant>,
}

/// Metrics of all TaskManagers together; counters are told since the job began.
struct TaskManagers {
    metrics: Aggregated,
    cpu_ns: Option<f64>,
    gc_ms: Option<f64>,
    /// The CPU time that was told last, which grows all the time, and since when it is told.
    cpu_ns_told: Option<(f64, Instant)>,
}

impl Default for TaskManagers {
    fn default() -> Self {
        let metrics = Aggregated::new("/taskmanagers/metrics".to_owned());
        Self { metrics, cpu_ns: None, gc_ms: None, cpu_ns_told: None }
    }
}

impl Figures {
    pub(super) async fn read(
        &mut self,
        rest: &Rest,
        topology: &mut Topology,
        job: &str,
    ) -> Result<(), RestError> {
        let is_due = self.seldom.is_none_or(|last| now() >= last + SELDOM);
        let mut values = Vec::new();
        for vertex in &mut topology.vertices {
            let decides = vertex.is_source || vertex.has_sink;
            if !decides && !is_due {
                continue;
            }
            match vertex.metrics.read(rest, Figure::is_told_by).await {
                Ok(read) => values.push((vertex.is_source, read)),
                Err(error) if decides => return Err(error),
                Err(_old_values_stay) => {}
            }
        }
        self.take(&values, is_due);
        if is_due {
            self.seldom = Some(now());
            self.read_job(rest, job).await;
            self.taskmanagers.read(rest, &mut self.extras).await;
        }
        Ok(())
    }

    /// What Flink is waited for where its metrics are not renewed.
    pub(super) fn waits_for(&self) -> Option<String> {
        let age = self.taskmanagers.age().filter(|age| *age >= STALE)?;
        Some(format!(
            "new metrics: Flink's are {} s old, as where a TaskManager died owing its own, which Flink waits for as long as \
             web.timeout says (10 minutes by default)",
            age.as_secs()
        ))
    }

    /// Takes the values of some vertices, or of `all`; each with whether it is a source.
    fn take(&mut self, vertices: &[(bool, Vec<Aggregate>)], all: bool) {
        let of = |figure: Figure, sources_only: bool| {
            vertices.iter().filter(move |(is_source, _)| *is_source || !sources_only).flat_map(
                move |(_, values)| values.iter().filter(move |value| Figure::of(&value.id) == Some(figure)),
            )
        };
        let sources = vertices.iter().filter(|(is_source, _)| *is_source).count();
        let events: Vec<u64> = of(Figure::EventsIn, true).map(|value| value.sum as u64).collect();
        // A sum over some of the sources would be no count of events.
        self.events = (sources > 0 && events.len() == sources).then(|| events.iter().sum());
        self.events_per_s = sum(of(Figure::EventsPerSecond, true)).or(self.events_per_s);
        self.rows = sum(of(Figure::RowsOut, false)).map(|rows| rows as u64).or(self.rows);
        let watermarks = of(Figure::Watermark, true).map(|value| value.min);
        let watermark = watermarks.filter(|watermark| *watermark > WATERMARK_MIN).reduce(f64::min);
        self.watermark_ms = watermark.map(|watermark| watermark as i64).or(self.watermark_ms);
        if all {
            self.late_rows = sum(of(Figure::LateRows, false)).map(|rows| rows as u64).or(self.late_rows);
            let highest = |figure| of(figure, false).map(|value| value.max).reduce(f64::max);
            self.extra("busy_ms_per_s_max", highest(Figure::Busy));
            self.extra("backpressured_ms_per_s_max", highest(Figure::BackPressured));
        }
    }

    /// Keeps the highest value.
    fn extra(&mut self, name: &'static str, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            let highest = self.extras.entry(name).or_insert(value);
            *highest = highest.max(value);
        }
    }

    async fn read_job(&mut self, rest: &Rest, job: &str) {
        let Ok(metrics) = single(rest, &format!("/jobs/{job}/metrics"), &OF_JOB).await else { return };
        for metric in metrics {
            let Ok(value) = metric.value.parse::<u64>() else { continue };
            match metric.id.as_str() {
                "numRestarts" => self.restarts = self.restarts.max(u32::try_from(value).unwrap_or(u32::MAX)),
                "lastCheckpointFullSize" => self.state_bytes = Some(value),
                _ => {}
            }
        }
    }

    /// Reads what only the end of a job tells, and the rest once more.
    pub(super) async fn read_end(&mut self, rest: &Rest, details: &Details, topology: &Topology, job: &str) {
        self.read_job(rest, job).await;
        self.taskmanagers.read(rest, &mut self.extras).await;
        for source in topology.sources() {
            let Some(vertex) = details.vertices.iter().find(|vertex| vertex.id == source.id) else {
                continue;
            };
            let times = [
                ("source_busy_ms", vertex.metrics.accumulated_busy_time),
                ("source_backpressured_ms", vertex.metrics.accumulated_backpressured_time),
                ("source_idle_ms", vertex.metrics.accumulated_idle_time),
            ];
            for (name, value) in times {
                *self.extras.entry(name).or_insert(0.0) += value;
            }
        }
        self.read_checkpoints(rest, job).await;
    }

    async fn read_checkpoints(&mut self, rest: &Rest, job: &str) {
        let Ok(checkpoints) = rest.get::<Checkpoints>(&format!("/jobs/{job}/checkpoints")).await else {
            return;
        };
        for (name, count) in [("checkpoints_completed", "completed"), ("checkpoints_failed", "failed")] {
            let count = checkpoints.counts.get(count).map(|count| *count as f64);
            self.extras.extend(count.map(|count| (name, count)));
        }
        let completed = checkpoints.counts.get("completed").is_some_and(|count| *count > 0);
        let Some(summary) = checkpoints.summary.filter(|_| completed) else { return };
        let sizes = [
            ("checkpoint_ms_avg", summary.end_to_end_duration.avg),
            ("checkpoint_ms_max", summary.end_to_end_duration.max),
            ("checkpoint_bytes_max", summary.checkpointed_size.max),
            ("checkpoint_state_bytes_max", summary.state_size.max),
        ];
        self.extras.extend(sizes.into_iter().filter(|(_, size)| size.is_finite()));
    }
}

impl TaskManagers {
    /// For how long the same has been told.
    fn age(&self) -> Option<Duration> {
        self.cpu_ns_told.map(|(_told, since)| now().saturating_duration_since(since))
    }

    async fn read(&mut self, rest: &Rest, extras: &mut BTreeMap<&'static str, f64>) {
        let Ok(values) = self.metrics.read(rest, is_of_taskmanagers).await else { return };
        for value in values.iter().filter(|value| value.sum.is_finite()) {
            match value.id.as_str() {
                "Status.JVM.CPU.Time" => {
                    if self.cpu_ns_told.is_none_or(|(told, _since)| told != value.sum) {
                        self.cpu_ns_told = Some((value.sum, now()));
                    }
                    let since = value.sum - *self.cpu_ns.get_or_insert(value.sum);
                    extras.insert("taskmanagers_cpu_seconds", since / 1e9);
                }
                "Status.JVM.GarbageCollector.All.Time" => {
                    let since = value.sum - *self.gc_ms.get_or_insert(value.sum);
                    extras.insert("taskmanagers_gc_ms", since);
                }
                "Status.JVM.Memory.Heap.Used" => {
                    keep_highest(extras, "taskmanagers_heap_bytes_max", value.sum)
                }
                "Status.JVM.Memory.NonHeap.Used" => {
                    keep_highest(extras, "taskmanagers_non_heap_bytes_max", value.sum);
                }
                "Status.Flink.Memory.Managed.Used" => {
                    keep_highest(extras, "taskmanagers_managed_memory_bytes_max", value.sum);
                }
                _ => {}
            }
        }
    }
}

fn is_of_taskmanagers(name: &str) -> bool {
    matches!(
        name,
        "Status.JVM.CPU.Time"
            | "Status.JVM.GarbageCollector.All.Time"
            | "Status.JVM.Memory.Heap.Used"
            | "Status.JVM.Memory.NonHeap.Used"
            | "Status.Flink.Memory.Managed.Used"
    )
}

fn keep_highest(extras: &mut BTreeMap<&'static str, f64>, name: &'static str, value: f64) {
    let highest = extras.entry(name).or_insert(value);
    *highest = highest.max(value);
}

/// The sum over all, or `None` where there is none.
fn sum<'a>(values: impl Iterator<Item = &'a Aggregate>) -> Option<f64> {
    values.map(|value| value.sum).filter(|sum| sum.is_finite()).reduce(|a, b| a + b)
}
