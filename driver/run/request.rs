//! What a run is asked to do.

use std::time::Duration;

use nexmark_queries::Query;

use crate::engine::{Input, Job, Output};
use crate::pace::Schedule;
use crate::remote::Station;
use crate::result::{self, Environment};

/// One run: the job, the workload, and how long to wait for what.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// The query.
    pub query: &'static Query,
    /// Where the events come from.
    pub input: Input,
    /// How many events, or for how long.
    pub workload: Workload,
    /// How far the watermark stays behind, ms.
    pub watermark_delay_ms: u64,
    /// Workers, or the parallelism.
    pub workers: usize,
    /// What happens to the output rows.
    pub output: Output,
    /// State size at which the run is to fail, bytes.
    pub memory_budget_bytes: Option<u64>,
    /// Longest waits.
    pub deadlines: Deadlines,
    /// Time between two polls of the engine.
    pub poll_interval: Duration,
    /// Hosts whose costs are collected, beside this machine.
    pub stations: Vec<Station>,
    /// The user's own mark, kept with the result.
    pub label: Option<String>,
    /// The exact command line, kept with the result.
    pub command: String,
    /// Where the driver runs, kept with the result.
    pub environment: Environment,
}

/// How many events, or for how long.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// A number of events, as fast as the engine takes them; the result is the time they took.
    Events {
        /// Measured events.
        events: u64,
        /// Events before the measured ones.
        warmup_events: u64,
    },
    /// Events are offered for a time.
    Rate {
        /// Measured time.
        duration: Duration,
        /// Time before the measured one, from the first event.
        warmup: Duration,
        /// When events are due.
        schedule: Schedule,
    },
}

/// The longest that a run waits for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// From the start of the run to the first event, or from the last record that was written ahead of it.
    pub start: Duration,
    /// Without any movement of events, rows or watermark, or without an answer to a poll.
    pub stall: Duration,
    /// For the engine to stop and clean up.
    pub stop: Duration,
    /// From the start of the run to the end of the job; `None` for as long as it moves.
    pub total: Option<Duration>,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(60),
            stall: Duration::from_secs(60),
            stop: Duration::from_secs(30),
            total: None,
        }
    }
}

impl RunRequest {
    /// Default time between two polls.
    pub const POLL_INTERVAL: Duration = Duration::from_millis(200);

    /// A run of a workload with the defaults for everything else.
    pub fn new(query: &'static Query, input: Input, workload: Workload) -> Self {
        Self {
            query,
            input,
            workload,
            watermark_delay_ms: 4_000,
            workers: 1,
            output: Output::Count,
            memory_budget_bytes: None,
            deadlines: Deadlines::default(),
            poll_interval: Self::POLL_INTERVAL,
            stations: Vec::new(),
            label: None,
            command: String::new(),
            environment: Environment::default(),
        }
    }

    /// Events that the job reads before its input ends, warm-up included; `None` in rate mode.
    pub fn events_asked(&self) -> Option<u64> {
        match self.workload {
            Workload::Events { events, warmup_events } => Some(events.saturating_add(warmup_events)),
            Workload::Rate { .. } => None,
        }
    }

    /// The schedule by which the events are due.
    pub fn schedule(&self) -> &Schedule {
        match &self.workload {
            Workload::Events { .. } => &Schedule::Unlimited,
            Workload::Rate { schedule, .. } => schedule,
        }
    }

    /// The job that the engine is asked to run.
    pub(super) fn job(&self, name: &str) -> Job {
        let warmup_events = match self.workload {
            Workload::Events { warmup_events, .. } => warmup_events,
            Workload::Rate { .. } => 0,
        };
        Job {
            name: name.to_owned(),
            query: self.query,
            input: self.input.clone(),
            events: self.events_asked(),
            warmup_events,
            schedule: self.schedule().clone(),
            watermark_delay_ms: self.watermark_delay_ms,
            workers: self.workers,
            output: self.output,
            memory_budget_bytes: self.memory_budget_bytes,
        }
    }

    /// The workload as it is kept with the result.
    pub(super) fn workload_kept(&self) -> result::Workload {
        let (events, warmup_events, duration, warmup) = match self.workload {
            Workload::Events { events, warmup_events } => (Some(events), Some(warmup_events), None, None),
            Workload::Rate { duration, warmup, .. } => (None, None, Some(duration), Some(warmup)),
        };
        let (shape, first, next, period) = match *self.schedule() {
            Schedule::Unlimited => ("unlimited", None, None, None),
            Schedule::Constant(rate) => ("constant", Some(rate), None, None),
            Schedule::Square { first, next, period } => ("square", Some(first), Some(next), Some(period)),
            Schedule::Sine { first, next, period } => ("sine", Some(first), Some(next), Some(period)),
        };
        result::Workload {
            mode: if events.is_some() { "events" } else { "rate" }.to_owned(),
            events,
            warmup_events,
            duration_seconds: duration.map(|duration| duration.as_secs_f64()),
            warmup_seconds: warmup.map(|warmup| warmup.as_secs_f64()),
            shape: shape.to_owned(),
            events_per_s: first,
            events_per_s_next: next,
            period_seconds: period.map(|period| period.as_secs_f64()),
            input: match self.input {
                Input::Generated(_) => "generated".to_owned(),
                Input::Recorded(_) => "recorded".to_owned(),
            },
            watermark_delay_ms: self.watermark_delay_ms,
            workers: self.workers,
            output: match self.output {
                Output::Count => "count",
                Output::Digest => "digest",
                Output::Rows => "rows",
            }
            .to_owned(),
            memory_budget_bytes: self.memory_budget_bytes,
        }
    }
}
