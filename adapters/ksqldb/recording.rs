//! Recordings of a real ksqlDB 7.4.15 on Kafka 3.4, for tests: every exchange with its REST interface, polls of offsets, and
//! the final records of the sinks, for 6 000 events.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use nexmark_queries::event::Event;
use nexmark_queries::generator::{Generator, Options};
use serde::Deserialize;
use serde_json::Value;

/// Events of the recordings.
pub(crate) const EVENTS: u64 = 6_000;

#[derive(Debug, Deserialize)]
pub(crate) struct Recording {
    pub(crate) exchanges: Vec<Exchange>,
    /// Records of the sinks.
    #[serde(default)]
    topics: BTreeMap<String, Vec<Entry>>,
}

/// Key and value of a record, where it has them.
pub(crate) type Record = (Option<Vec<u8>>, Option<Vec<u8>>);

/// A request and its reply.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Exchange {
    pub(crate) request: Request,
    pub(crate) status: u16,
    pub(crate) response: Value,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: Value,
}

#[derive(Debug, Deserialize)]
struct Entry {
    key_base64: Option<String>,
    value: Option<String>,
}

impl Recording {
    /// That of a query, or `server`, `ddl` or `errors`.
    pub(crate) fn read(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("recordings/{name}.json.gz"));
        serde_json::from_reader(GzDecoder::new(File::open(path).unwrap())).unwrap()
    }

    /// Key and value of each record of the answer's topic, in its order.
    pub(crate) fn records(&self) -> Vec<Record> {
        let entries = self.topics.values().next().unwrap();
        let key = |entry: &Entry| entry.key_base64.as_ref().map(|key| STANDARD.decode(key).unwrap());
        entries.iter().map(|entry| (key(entry), entry.value.clone().map(String::into_bytes))).collect()
    }

    /// The statement that an exchange sent, if it is one.
    pub(crate) fn statements(&self) -> impl Iterator<Item = (&str, &Exchange)> {
        let posted = self.exchanges.iter().filter(|exchange| exchange.request.method == "POST");
        posted.filter_map(|exchange| Some((exchange.request.body["ksql"].as_str()?, exchange)))
    }
}

/// Options of the events.
pub(crate) fn options() -> Options {
    let mut options = Options::default();
    options.set("event.rate", "100").unwrap();
    options.set("base.time", "1795917600000").unwrap();
    options
}

/// The events, with their generator, which has the texts.
pub(crate) fn events() -> (Vec<Event>, Generator) {
    let generator = Generator::new(options()).unwrap();
    ((0..EVENTS).map(|position| generator.event(position)).collect(), generator)
}

/// Time of the last event, epoch ms.
pub(crate) fn time_max() -> i64 {
    events().0.iter().map(Event::date_time).max().unwrap()
}
