//! A ksqlDB server and its Kafka for tests, in one: statements are answered as a real server answered them in the recordings,
//! others are refused in its words, and the recorded records of the sink come when the events have been read.

mod memory;
mod reply;
mod statement;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use nexmark_driver::config::{Allowed, Key, Settings};
use nexmark_driver::engine::{Input, Job, Output};
use nexmark_driver::pace::Schedule;
use nexmark_queries::find;
use serde_json::Value;
use wiremock::MockServer;

use crate::engine::Ksqldb;
use crate::kafka::{Kafka, Partition};
use crate::recording::{self, Recording};
use crate::settings::KEYS;

/// What happens to the job, other than that all goes well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fate {
    #[default]
    Well,
    /// Statements are carried out after their first reply.
    SlowStatements,
    /// The last statement is accepted and fails.
    StatementFails,
    /// Offsets stand still at half of the events.
    Stalls,
    /// The query is in state ERROR at half of the events.
    QueryFails,
    /// Somebody terminates the query at half of the events.
    Terminated,
    /// Kafka acknowledges half of the events.
    FeedFails,
    /// The server answers no more when the events have been read.
    ServerGone,
}

/// A record of a topic.
pub(crate) type Entry = (Option<Vec<u8>>, Option<Vec<u8>>, i64);

#[derive(Debug, Default)]
pub(crate) struct Topic {
    pub(crate) partitions: Vec<Vec<Entry>>,
    pub(crate) kept_for_ever: bool,
}

/// A stream or table.
#[derive(Debug)]
struct Made {
    name: String,
    table: bool,
    topic: String,
}

/// A query that runs.
#[derive(Debug)]
struct Running {
    id: String,
    sink: String,
    /// Topics that it reads.
    reads: Vec<String>,
    description: Value,
}

/// Everything that there is.
#[derive(Debug)]
pub(crate) struct World {
    query: &'static str,
    fate: Fate,
    recordings: Vec<Recording>,
    pub(crate) topics: BTreeMap<String, Topic>,
    pub(crate) groups: BTreeMap<String, BTreeMap<Partition, i64>>,
    made: Vec<Made>,
    running: Vec<Running>,
    /// Number of the last statement that changed anything.
    number: i64,
    /// Every statement, as it was sent.
    pub(crate) statements: Vec<String>,
    /// Properties of the last statement.
    pub(crate) properties: Value,
    /// Commands whose status was not asked for since they were told to be queued.
    queued: Vec<String>,
    /// Whether the records of the sink are there; under EMIT FINAL those of the last windows come with the flush.
    emitted: bool,
    flushes: u64,
    gone: bool,
}

/// The world, shared by server and Kafka.
#[derive(Clone, Debug)]
pub(crate) struct Shared(Arc<Mutex<World>>);

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap()
    }
}

/// A world with an engine in it.
pub(crate) struct Stage {
    pub(crate) world: Shared,
    pub(crate) engine: Ksqldb,
    pub(crate) server: MockServer,
}

impl Stage {
    /// With settings other than the defaults.
    pub(crate) async fn new(query: &'static str, fate: Fate, settings: &[(&str, &str)]) -> Self {
        let world = World {
            query,
            fate,
            recordings: ["server", "ddl", query].map(Recording::read).into(),
            topics: BTreeMap::new(),
            groups: BTreeMap::new(),
            made: Vec::new(),
            running: Vec::new(),
            number: 0,
            statements: Vec::new(),
            properties: Value::Null,
            queued: Vec::new(),
            emitted: false,
            flushes: 0,
            gone: false,
        };
        let world = Shared(Arc::new(Mutex::new(world)));
        let server = MockServer::start().await;
        let responder = reply::Responder(world.clone());
        wiremock::Mock::given(wiremock::matchers::any()).respond_with(responder).mount(&server).await;
        let url = server.uri();
        // The last one counts, so that a test can name another server.
        let settings = [settings, &[("url", url.as_str())]].concat();
        let kafka: Arc<dyn Kafka> = Arc::new(memory::Memory(world.clone()));
        let engine = Ksqldb::with(&set(&settings), Box::new(move |_| Ok(Arc::clone(&kafka)))).unwrap();
        Self { world, engine, server }
    }
}

/// The defaults with some values set.
pub(crate) fn set(values: &[(&str, &str)]) -> Settings {
    let keys: Vec<Key> = KEYS
        .iter()
        .map(|key| {
            let value = values.iter().find(|(name, _)| *name == key.name);
            let default = value.map_or(key.default, |(_, value)| String::leak((*value).to_owned()));
            assert!(key.allowed.accepts(default) || key.allowed == Allowed::Text, "{} {default}", key.name);
            Key { default, ..*key }
        })
        .collect();
    for (name, _) in values {
        assert!(keys.iter().any(|key| key.name == *name), "{name}");
    }
    Settings::defaults(&keys)
}

/// A job over the recorded events.
pub(crate) fn job(query: &str, output: Output) -> Job {
    Job {
        name: format!("20261130-021509-{query}-ab12cd"),
        query: find(query).unwrap(),
        input: Input::Generated(recording::options()),
        events: Some(recording::EVENTS),
        warmup_events: 0,
        schedule: Schedule::Unlimited,
        watermark_delay_ms: 4_000,
        workers: 1,
        output,
        memory_budget_bytes: None,
    }
}

impl World {
    /// Records of a topic, all partitions.
    pub(crate) fn count(&self, topic: &str) -> usize {
        self.topics.get(topic).map_or(0, |topic| topic.partitions.iter().map(Vec::len).sum())
    }

    /// Things that are there.
    pub(crate) fn left(&self) -> Vec<String> {
        let topics = self.topics.keys().cloned();
        let groups = self.groups.keys().cloned();
        let made = self.made.iter().map(|made| made.name.clone());
        let running = self.running.iter().map(|query| query.id.clone());
        topics.chain(groups).chain(made).chain(running).collect()
    }

    /// Every query reads a third of what is left, at most.
    fn work(&mut self) {
        let half = |end: i64| end / 2;
        for query in &self.running {
            let group = self.groups.entry(group(&query.id)).or_default();
            for name in &query.reads {
                let Some(topic) = self.topics.get(name) else { continue };
                for (number, records) in
                    topic.partitions.iter().enumerate().filter(|(_, records)| !records.is_empty())
                {
                    let end = records.len() as i64;
                    let at = group
                        .entry(Partition { topic: name.clone(), number: i32::try_from(number).unwrap() })
                        .or_insert(0);
                    let stands = matches!(self.fate, Fate::Stalls | Fate::QueryFails | Fate::Terminated);
                    let limit = if stands { half(end) } else { end };
                    *at = limit.min(*at + (end / 3).max(1));
                }
            }
        }
        self.emit();
    }

    fn all_read(&self) -> bool {
        !self.running.is_empty()
            && self.running.iter().all(|query| {
                let group = &self.groups[&group(&query.id)];
                group.iter().all(|(partition, at)| {
                    let records = &self.topics[&partition.topic].partitions[partition.number as usize];
                    *at == records.len() as i64
                })
            })
    }

    /// The records of the sink come when all is read; with EMIT FINAL the last fifth of them after two flushes.
    fn emit(&mut self) {
        let (recorded, sink) =
            (self.recordings[2].records(), self.running.last().map(|query| query.sink.clone()));
        let Some(sink) = sink.filter(|_| self.all_read() && self.is_whole()) else { return };
        let topic = self.made.iter().find(|made| made.name == sink).unwrap().topic.clone();
        let held_back = if self.emits_final() { recorded.len() / 5 } else { 0 };
        let now = recorded.len() - held_back;
        let partition = &mut self.topics.get_mut(&topic).unwrap().partitions[0];
        if !self.emitted {
            partition.extend(recorded[..now].iter().map(|(key, value)| (key.clone(), value.clone(), 0)));
            self.emitted = true;
            self.gone = self.fate == Fate::ServerGone;
        } else if self.flushes >= 2 && partition.len() == now {
            partition.extend(recorded[now..].iter().map(|(key, value)| (key.clone(), value.clone(), 0)));
        }
    }

    fn emits_final(&self) -> bool {
        find(self.query).unwrap().ksqldb.sql.contains("EMIT FINAL")
    }

    /// Whether the statement that makes the answer was sent.
    fn is_whole(&self) -> bool {
        let last = self.running.last().map(|query| query.sink.to_lowercase());
        last.is_some_and(|sink| sink.ends_with(&format!("_{}", self.query)))
    }
}

/// Consumer group of a query.
fn group(id: &str) -> String {
    format!("_confluent-ksql-nx_query_{id}")
}
