//! From what was observed to the result.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, Instant};

use nexmark_queries::generator::Options;

use super::observed::Observed;
use super::{Place, RunRequest};
use crate::engine::{Input, JobState, Output};
use crate::metrics::resources::Costs;
use crate::metrics::throughput::Reading;
use crate::result::{FORMAT_VERSION, Phases, RunResult, State};

/// A measured phase below this is marked as too short: start-up and the grain of the clocks weigh too much in it.
const MEASURED_MIN: Duration = Duration::from_secs(1);
/// Below this share of the offered rate the engine fell behind.
const ACHIEVED_SHARE_MIN: f64 = 0.99;

/// A name that no other run has: date, time, query, and six random digits.
pub(crate) fn unique_name(query: &str) -> String {
    let random = RandomState::new().hash_one(std::process::id()) & 0xff_ffff;
    format!("{}-{query}-{random:06x}", jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S"))
}

/// The result of a run of which nothing is known but what was asked.
pub(crate) fn blank(request: &RunRequest, place: Place, name: String) -> RunResult {
    let options = match &request.input {
        Input::Generated(options) => Some(options),
        Input::Recorded(_) => None,
    };
    let entries = |options: &Options| -> BTreeMap<String, u64> {
        options.entries().map(|(name, value)| (name.to_owned(), value)).collect()
    };
    RunResult {
        format_version: FORMAT_VERSION,
        name,
        label: request.label.clone(),
        repeat: place.repeat,
        started_at: format!("{:.3}", jiff::Timestamp::now()),
        command: request.command.clone(),
        query: request.query.name.to_owned(),
        state: State::Failed,
        message: None,
        notes: Vec::new(),
        deviations: Vec::new(),
        engine: None,
        workload: request.workload_kept(),
        seed: options.map(|options| options.seed),
        options: options.map(entries).unwrap_or_default(),
        events: None,
        events_total: None,
        seconds: None,
        events_per_s: None,
        events_per_s_offered: None,
        achieved_share: None,
        cpu_seconds: None,
        cores: None,
        events_per_s_per_core: None,
        rss_bytes_max: None,
        resources: BTreeMap::new(),
        hosts: BTreeMap::new(),
        hosts_missing: Vec::new(),
        rows_out: None,
        late_rows: None,
        state_bytes_max: None,
        restarts: 0,
        counters_dropped: 0,
        answer: None,
        extras: BTreeMap::new(),
        files: None,
        phases: Phases::default(),
        samples: Vec::new(),
        host_samples: BTreeMap::new(),
        environment: request.environment.clone(),
    }
}

/// Fills in what the engine's counters tell.
pub(super) fn fill_progress(result: &mut RunResult, request: &RunRequest, observed: &Observed<'_>) {
    result.events_total = observed.counted().map(|counted| counted.events);
    result.restarts = observed.restarts;
    result.counters_dropped = observed.counters_dropped();
    result.state_bytes_max = observed.state_bytes_max;
    if let Some(throughput) = observed.throughput() {
        result.events = Some(throughput.events);
        result.seconds = Some(throughput.seconds);
        result.events_per_s = throughput.events_per_s;
    }
    result.events_per_s_offered = observed.events_per_s_offered().filter(|offered| *offered > 0.0);
    result.achieved_share =
        result.events_per_s.zip(result.events_per_s_offered).map(|(rate, offered)| rate / offered);
    if let Some(last) = &observed.last {
        result.rows_out = last.rows_out;
        result.late_rows = last.late_rows;
        result.extras = last.extras.clone();
        let taken = request.output != Output::Count;
        result.answer = last.answer.filter(|_| taken && last.state == JobState::Finished);
    }
}

/// Fills in what the measured phase cost. `silence` tells why a host did not report, where that is known.
pub(super) fn fill_costs(result: &mut RunResult, costs: Costs, silence: impl Fn(&str) -> Option<String>) {
    for role in &costs.roles_missing {
        result.notes.push(format!("costs unknown: no process or thread of {role} was seen"));
    }
    for host in &costs.hosts_missing {
        let why = silence(host).map(|why| format!(": {why}")).unwrap_or_default();
        result.notes.push(format!("costs unknown: host {host} did not report throughout{why}"));
    }
    if costs.too_coarse {
        result
            .notes
            .push("CPU unknown: too little was measured for the readings near its begin and end".to_owned());
    }
    result.cpu_seconds = costs.cpu_seconds;
    result.rss_bytes_max = costs.rss_bytes_max;
    result.resources = costs.roles;
    result.hosts = costs.hosts;
    result.hosts_missing = costs.hosts_missing;
    let positive = |value: Option<f64>| value.filter(|value| *value > 0.0);
    let quotient = |one: Option<f64>, other: Option<f64>| Some(one? / positive(other)?);
    result.cores = quotient(result.cpu_seconds, result.seconds);
    result.events_per_s_per_core = quotient(result.events_per_s, result.cores);
}

/// Adds what a reader of the numbers should know.
pub(super) fn add_notes(result: &mut RunResult) {
    if let Some(seconds) = result.seconds.filter(|seconds| *seconds < MEASURED_MIN.as_secs_f64()) {
        result
            .notes
            .push(format!("too short: {seconds:.3} s were measured, below 1 s rates are not to be trusted"));
    }
    if result.restarts > 0 {
        result.notes.push(format!("restarted: {} times", result.restarts));
    }
    if result.counters_dropped > 0 {
        result.notes.push(format!("event counter went backwards: {} times", result.counters_dropped));
    }
    if let Some(share) = result.achieved_share.filter(|share| *share < ACHIEVED_SHARE_MIN) {
        result.notes.push(format!("fell behind: {:.1} % of the offered rate were achieved", share * 100.0));
    }
    if let Some(files) = &result.files {
        result.notes.push(format!("files kept in {files}"));
    }
    if let Some(rows) = result.late_rows.filter(|rows| *rows > 0) {
        result.notes.push(format!("late: {rows} rows came after the watermark and were dropped"));
    }
}

/// Moments that the phases lie between.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    pub(super) began: Instant,
    /// The end of the job was noticed.
    pub(super) ended: Instant,
    /// The engine is told to stop.
    pub(super) stopping: Instant,
    /// The engine has stopped.
    pub(super) stopped: Instant,
}

/// Lengths of the phases. A phase that was not reached is empty, so that they add up to the wall time.
pub(super) fn phases(observed: &Observed<'_>, moments: Moments) -> Phases {
    let Moments { began, ended, stopping, stopped } = moments;
    let at = |reading: Option<Reading>| reading.map(|reading| reading.at);
    let seen = [observed.submitted, at(observed.first), at(observed.from), at(observed.to)];
    let mut ends = seen.map(|moment| moment.unwrap_or(ended).clamp(began, ended));
    // An embedded engine may generate its first event before it returns from `submit`.
    for index in (1..ends.len()).rev() {
        ends[index - 1] = ends[index - 1].min(ends[index]);
    }
    let [submitted, first, from, to] = ends;
    let seconds = |from: Instant, to: Instant| to.saturating_duration_since(from).as_secs_f64();
    Phases {
        submit_seconds: seconds(began, submitted),
        starting_seconds: seconds(submitted, first),
        warmup_seconds: seconds(first, from),
        measured_seconds: seconds(from, to),
        draining_seconds: seconds(to, stopping),
        stop_seconds: seconds(stopping, stopped),
        wall_seconds: seconds(began, stopped),
    }
}
