//! A server that replies what a real Flink was recorded to. A test says how the job's states follow each other, and which
//! replies are others.

use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::recorded::response;

/// The recorded job, and its source.
pub(super) const JOB: &str = "fdfa6c87716f56451d00bacd3836c862";
pub(super) const SOURCE: &str = "cbc357ccb763df2852fee8c4fc7d55f2";
/// What the recorded job's source has read at its end.
pub(super) const EVENTS: u64 = 1_481_180;

type Otherwise = Box<dyn Fn(&str, usize) -> Option<ResponseTemplate> + Send + Sync>;

/// A story of one job.
struct Story {
    /// A state a look; the last one stays.
    states: Vec<&'static str>,
    /// What is replied otherwise, by "METHOD /path" and how often that was asked for before.
    otherwise: Otherwise,
    told: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    looks: usize,
    cancelled: bool,
    asked: Vec<String>,
}

/// A server that tells a story.
pub(super) async fn tell(
    states: &[&'static str],
    otherwise: impl Fn(&str, usize) -> Option<ResponseTemplate> + Send + Sync + 'static,
) -> MockServer {
    let server = MockServer::start().await;
    let story = Story { states: states.to_vec(), otherwise: Box::new(otherwise), told: Mutex::default() };
    Mock::given(any()).respond_with(story).mount(&server).await;
    server
}

/// Nothing is otherwise.
pub(super) fn as_recorded(_call: &str, _before: usize) -> Option<ResponseTemplate> {
    None
}

pub(super) fn json_reply(value: &Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(value)
}

pub(super) fn refusal(status: u16, recorded: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(response(recorded))
}

/// What was asked of a server: method and path.
pub(super) async fn calls(server: &MockServer) -> Vec<String> {
    let requests = server.received_requests().await.unwrap();
    requests.iter().map(|request| format!("{} {}", request.method, request.url.path())).collect()
}

impl Respond for Story {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let path = request.url.path();
        let call = format!("{} {path}", request.method);
        let mut told = self.told.lock().unwrap();
        let before = told.asked.iter().filter(|asked| **asked == call).count();
        told.asked.push(call.clone());
        if let Some(other) = (self.otherwise)(&call, before) {
            return other;
        }
        let query: Vec<(String, String)> = request.url.query_pairs().into_owned().collect();
        let names = query.iter().find(|(key, _)| key == "get").map(|(_, names)| names.as_str());
        match path.strip_prefix(&format!("/jobs/{JOB}")) {
            Some(below) => self.job(&mut told, request.method.as_str(), below, names),
            None => cluster(request.method.as_str(), path, names),
        }
    }
}

impl Story {
    fn state(&self, told: &Told) -> &'static str {
        let last = self.states.len() - 1;
        if told.cancelled { "CANCELED" } else { self.states[told.looks.saturating_sub(1).min(last)] }
    }

    fn job(&self, told: &mut Told, method: &str, below: &str, names: Option<&str>) -> ResponseTemplate {
        let recorded = |name: &str| json_reply(&response(name));
        match (method, below) {
            ("PATCH", "") => {
                told.cancelled = true;
                ResponseTemplate::new(202).set_body_json(response("cancel"))
            }
            (_, "/status") => {
                told.looks += 1;
                json_reply(&json!({ "status": self.state(told) }))
            }
            (_, "") if self.state(told) == "FINISHED" => recorded("job-finished-after-stop"),
            (_, "") => recorded("job-detail"),
            (_, "/accumulators") => json_reply(&accumulators()),
            (_, "/exceptions") => recorded("failing-job-exceptions"),
            (_, "/metrics") => recorded("job-metrics-values"),
            (_, "/config") => recorded("job-config"),
            (_, "/checkpoints") => recorded("checkpoints"),
            (_, "/checkpoints/config") => recorded("checkpoints-config"),
            (_, below) if below.ends_with("/subtasktimes") => recorded("vertex-subtasktimes"),
            (_, below) if below.ends_with("/subtasks/metrics") => match names {
                None => recorded("subtasks-metrics-list"),
                Some(names) => json_reply(&values(names)),
            },
            _ => refusal(404, "error-unknown-path"),
        }
    }
}

fn cluster(method: &str, path: &str, names: Option<&str>) -> ResponseTemplate {
    let recorded = |name: &str| json_reply(&response(name));
    match (method, path) {
        (_, "/config") => recorded("config"),
        (_, "/overview") => recorded("overview"),
        (_, "/taskmanagers") => recorded("taskmanagers"),
        (_, "/jobmanager/config") => recorded("jobmanager-config"),
        (_, "/taskmanagers/metrics") => match names {
            None => recorded("tm-metrics-list"),
            Some(names) => json_reply(&values(names)),
        },
        ("GET", "/jars") => recorded("jars"),
        ("POST", "/jars/upload") => recorded("jar-upload"),
        ("POST", path) if path.starts_with("/jars/") && path.ends_with("/run") => recorded("jar-run"),
        ("DELETE", path) if path.starts_with("/jars/") => recorded("jars-delete"),
        (_, path) if path.starts_with("/jobs/") => refusal(404, "error-unknown-job"),
        _ => refusal(404, "error-unknown-path"),
    }
}

/// Aggregates over two subtasks.
fn values(names: &str) -> Value {
    let value = |name: &str| match name {
        "numRecordsIn" => 108_998.0,
        name if name.ends_with("numRecordsOutPerSecond") => 14_234.8,
        name if name.ends_with("Watermark") => 1_436_918_400_000.0,
        _ => 500.0,
    };
    let aggregate = |name| json!({ "id": name, "sum": value(name), "min": value(name), "max": value(name) });
    names.split(',').map(aggregate).collect()
}

/// What the sink would leave.
pub(super) fn accumulators() -> Value {
    let pairs = [("nexmark.records", "399034"), ("nexmark.rows", "399034"), ("nexmark.digest", "-1")];
    let list: Value = pairs
        .iter()
        .map(|(name, value)| json!({ "name": name, "type": "LongCounter", "value": value }))
        .collect();
    json!({ "job-accumulators": [], "user-task-accumulators": list, "serialized-user-task-accumulators": {} })
}

/// A reply that comes too late.
pub(super) fn late(reply: ResponseTemplate, by: Duration) -> ResponseTemplate {
    reply.set_delay(by)
}
