//! A Flink whose job runs at a steady rate that is known, with what makes it hard to measure: metrics and details that are
//! seconds old, a list of metrics that is empty at first, and a meter that averages over the last minute.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use nexmark_driver::pace::Schedule;
use nexmark_driver::result::State;
use nexmark_driver::run::Workload;
use serde_json::{Value, json};

use super::{events, request, run, settings};
use crate::engine::Flink;
use crate::moment::now;
use crate::recorded;
use crate::transport::{Method, NoReply, Reply, Request, Transport};

/// Events per second, the truth.
const RATE: u64 = 100_000;
/// One way of a request or a reply.
const WAY: Duration = Duration::from_millis(3);
/// From the acceptance of the job until its tasks run.
const DEPLOYMENT: Duration = Duration::from_millis(1_300);
/// How long TaskManagers need to hand over their metrics.
const FETCH: Duration = Duration::from_millis(40);
/// What a meter averages over, and how often it is renewed.
const METER: (u64, u64) = (60, 5);
/// The JobManager's clock at the begin, which is no matter.
const EPOCH_MS: i64 = 1_795_000_000_000;
const JOB: &str = "fdfa6c87716f56451d00bacd3836c862";
const SOURCE: &str = "cbc357ccb763df2852fee8c4fc7d55f2";

struct Simulated {
    began: Instant,
    events: u64,
    /// `metrics.fetcher.update-interval`
    fetch_interval: Duration,
    /// `web.refresh-interval`
    refresh_interval: Duration,
    /// When, after the begin, a TaskManager dies that owes its metrics.
    dead_since: Option<Duration>,
    state: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    /// When the job's tasks run.
    running: Option<Instant>,
    cancelled: bool,
    fetched: Option<Instant>,
    /// What is in the store, and what is on the way there.
    stored: Option<(u64, f64)>,
    coming: Option<(Instant, (u64, f64))>,
    /// When the details were taken that are told.
    details: Option<Instant>,
}

impl Simulated {
    fn ms(&self, at: Instant) -> i64 {
        EPOCH_MS + i64::try_from((at - self.began).as_millis()).unwrap()
    }

    fn count(&self, running: Instant, at: Instant) -> u64 {
        let ran = at.saturating_duration_since(running).as_secs_f64();
        ((ran * RATE as f64) as u64).min(self.events)
    }

    fn meter(&self, running: Instant, at: Instant) -> f64 {
        let (minute, step) = METER;
        let renewed =
            running + Duration::from_secs(at.saturating_duration_since(running).as_secs() / step * step);
        let before = renewed.checked_sub(Duration::from_secs(minute)).unwrap_or(running);
        (self.count(running, renewed) - self.count(running, before)) as f64 / minute as f64
    }

    fn end(&self, running: Instant) -> Instant {
        running + Duration::from_secs_f64(self.events as f64 / RATE as f64)
    }

    fn word(&self, held: &Held, at: Instant) -> &'static str {
        match held.running {
            Some(_) if held.cancelled => "CANCELED",
            Some(running) if at >= self.end(running) => "FINISHED",
            Some(running) if at + DEPLOYMENT >= running + Duration::from_millis(100) => "RUNNING",
            _ => "CREATED",
        }
    }

    /// Fetches when the store is too old, at a request and beside it.
    fn fetch(&self, held: &mut Held, at: Instant) {
        if let Some((_, values)) = held.coming.take_if(|(ready, _)| at >= *ready) {
            held.stored = Some(values);
        }
        let Some(running) = held.running.filter(|running| at >= *running) else { return };
        let is_owed = self.dead_since.is_some_and(|dead| at >= self.began + dead);
        if !is_owed && held.fetched.is_none_or(|fetched| at >= fetched + self.fetch_interval) {
            held.fetched = Some(at);
            held.coming = Some((at + FETCH, (self.count(running, at), self.meter(running, at))));
        }
    }

    fn details(&self, held: &mut Held, at: Instant) -> Value {
        let told = held.details.filter(|told| at < *told + self.refresh_interval).unwrap_or(at);
        held.details = Some(told);
        let running = held.running.unwrap_or(at);
        let word = self.word(held, told);
        let is_over = word == "FINISHED";
        json!({
            "state": word,
            "now": self.ms(at),
            "timestamps": { "FINISHED": if is_over { self.ms(self.end(running)) } else { 0 } },
            "vertices": [{
                "id": SOURCE,
                "name": "Source: nexmark[1] -> nexmark-sink -> nothing: Writer",
                "parallelism": 2,
                "tasks": { "RUNNING": 2 },
                "metrics": { "read-records": if is_over { self.events } else { 0 }, "read-records-complete": is_over },
            }],
            "plan": { "nodes": [{ "id": SOURCE }] },
        })
    }

    fn times(&self, held: &mut Held, at: Instant) -> Value {
        let told = held.details.filter(|told| at < *told + self.refresh_interval).unwrap_or(at);
        held.details = Some(told);
        let running = held.running.filter(|running| told >= *running);
        let running = running.map_or(0, |running| self.ms(running));
        json!({ "now": self.ms(at), "subtasks": [{ "timestamps": { "RUNNING": running } }, { "timestamps": { "RUNNING": running } }] })
    }

    fn metrics(&self, held: &mut Held, at: Instant, values: bool) -> Value {
        self.fetch(held, at);
        let names = ["numRecordsIn", "Source__nexmark[1].numRecordsOutPerSecond", "Calc[2].numRecordsIn"];
        match held.stored {
            None => json!([]),
            Some(_) if !values => names.iter().map(|name| json!({ "id": name })).collect(),
            Some((count, meter)) => [(names[0], count as f64), (names[1], meter)]
                .map(|(name, value)| json!({ "id": name, "sum": value, "min": value / 2.0, "max": value / 2.0 }))
                .into_iter()
                .collect(),
        }
    }

    fn reply(&self, request: &Request) -> Value {
        let at = now();
        let mut held = self.state.lock().unwrap();
        let job = format!("/jobs/{JOB}");
        let path = request.path.split('?').next().unwrap();
        match (request.method, path.strip_prefix(&job)) {
            (Method::Post, None) if path.ends_with("/run") => {
                held.running = Some(at + DEPLOYMENT);
                json!({ "jobid": JOB })
            }
            (Method::Patch, Some("")) => {
                held.cancelled = true;
                json!({})
            }
            (_, Some("/status")) => json!({ "status": self.word(&held, at) }),
            (_, Some("")) => self.details(&mut held, at),
            (_, Some("/accumulators")) => {
                json!({ "user-task-accumulators": [{ "name": "nexmark.records", "value": "7" }] })
            }
            (_, Some(below)) if below.ends_with("/subtasktimes") => self.times(&mut held, at),
            (_, Some(below)) if below.ends_with("/subtasks/metrics") => {
                self.metrics(&mut held, at, request.path.contains("?get="))
            }
            (_, Some("/config")) => recorded::response("job-config"),
            (_, Some("/checkpoints/config")) => recorded::response("checkpoints-config"),
            (_, Some(_)) => json!([]),
            (_, None) => match path {
                "/config" => recorded::response("config"),
                "/overview" => recorded::response("overview"),
                "/taskmanagers" => recorded::response("taskmanagers"),
                "/taskmanagers/metrics" if !request.path.contains("?get=") => {
                    json!([{ "id": "Status.JVM.CPU.Time" }])
                }
                "/taskmanagers/metrics" => {
                    let fetched = held.fetched.filter(|_at| held.stored.is_some());
                    let ns = (fetched.unwrap_or(self.began) - self.began).as_nanos() as f64;
                    json!([{ "id": "Status.JVM.CPU.Time", "sum": ns, "min": ns, "max": ns }])
                }
                "/jars" => json!({ "files": [] }),
                "/jars/upload" => recorded::response("jar-upload"),
                _ => json!([]),
            },
        }
    }
}

#[async_trait]
impl Transport for Simulated {
    async fn send(&self, request: &Request) -> Result<Reply, NoReply> {
        tokio::time::sleep(WAY).await;
        let body = self.reply(request).to_string().into_bytes();
        tokio::time::sleep(WAY).await;
        Ok(Reply { status: 200, body })
    }

    fn address(&self) -> &str {
        "http://simulated"
    }
}

fn simulated(
    events: u64,
    fetch_interval: Duration,
    refresh_interval: Duration,
) -> (Flink, tempfile::NamedTempFile) {
    over(Simulated {
        began: now(),
        events,
        fetch_interval,
        refresh_interval,
        dead_since: None,
        state: Mutex::default(),
    })
}

fn over(flink: Simulated) -> (Flink, tempfile::NamedTempFile) {
    let (settings, jar) = settings(&[]);
    (Flink::over(&settings, Arc::new(flink)).unwrap(), jar)
}

/// Flink's defaults, and those of a cluster that is set up for measuring.
const INTERVALS: [(Duration, Duration); 2] =
    [(Duration::from_secs(10), Duration::from_secs(3)), (Duration::from_secs(1), Duration::from_millis(500))];

#[track_caller]
fn assert_near(found: Option<f64>, truth: f64, share: f64) {
    let found = found.unwrap();
    assert!((found / truth - 1.0).abs() < share, "{found} is not within {share} of {truth}");
}

#[tokio::test(start_paused = true)]
async fn the_rate_is_right_where_the_meter_still_climbs() {
    for seconds in [10, 30, 120] {
        for (fetch, refresh) in INTERVALS {
            let (mut flink, _jar) = simulated(RATE * seconds, fetch, refresh);
            let (outcome, warnings) = run(&mut flink, &request(events(RATE * seconds))).await;
            let result = outcome.result;
            assert_eq!((result.state, &result.message), (State::Passed, &None), "{seconds} {warnings:?}");
            assert_eq!(result.events, Some(RATE * seconds));
            assert_near(result.events_per_s, RATE as f64, 0.02);
            assert_near(result.seconds, seconds as f64, 0.02);
            let meter: Vec<f64> =
                result.samples.iter().filter_map(|sample| sample.events_per_s_reported).collect();
            let mean = meter.iter().sum::<f64>() / meter.len().max(1) as f64;
            assert!(mean < 0.8 * RATE as f64, "the meter is no trap: {mean} after {seconds} s");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_measured_time_is_between_two_counts_however_old_they_are() {
    for (fetch, refresh) in INTERVALS {
        let (mut flink, _jar) = simulated(u64::MAX >> 12, fetch, refresh);
        let (duration, warmup) = (Duration::from_secs(20), Duration::from_secs(10));
        let rate = Workload::Rate { duration, warmup, schedule: Schedule::Unlimited };
        let (outcome, _) = run(&mut flink, &request(rate)).await;
        let result = outcome.result;
        assert_eq!((result.state, &result.message), (State::Passed, &None));
        assert_near(result.events_per_s, RATE as f64, 0.02);
        let seconds = result.seconds.unwrap();
        assert!((20.0..=20.0 + fetch.as_secs_f64() + 0.5).contains(&seconds), "{seconds} s for {fetch:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_that_is_too_short_is_still_right() {
    let (fetch, refresh) = INTERVALS[0];
    let (mut flink, _jar) = simulated(RATE / 10, fetch, refresh);
    let (outcome, _) = run(&mut flink, &request(events(RATE / 10))).await;
    let result = outcome.result;
    assert_eq!((result.state, result.events), (State::Passed, Some(RATE / 10)));
    assert_near(result.events_per_s, RATE as f64, 0.1);
    assert!(result.notes.iter().any(|note| note.starts_with("too short")), "{:?}", result.notes);
}

#[tokio::test(start_paused = true)]
async fn metrics_that_are_not_renewed_are_told_with_their_age() {
    let (fetch_interval, refresh_interval) = INTERVALS[0];
    let (dead_since, state) = (Some(Duration::from_secs(25)), Mutex::default());
    let events_asked = RATE * 600;
    let began = now();
    let (mut flink, _jar) =
        over(Simulated { began, events: events_asked, fetch_interval, refresh_interval, dead_since, state });
    let (outcome, _) = run(&mut flink, &request(events(events_asked))).await;
    let (state, message) = (outcome.result.state, outcome.result.message.unwrap());
    assert_eq!(state, State::TimedOut, "{message}");
    let age = message
        .split("it waits for new metrics: Flink's are ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    let age: u64 = age.unwrap_or_else(|| panic!("{message}")).parse().unwrap();
    let stall = request(events(1)).deadlines.stall.as_secs();
    assert!((stall - 3..=stall).contains(&age), "{age} s: {message}");
}
