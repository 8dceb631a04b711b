//! ksqlDB, 0.29 and 7.4 to 8.x, as an engine: a server somewhere and its Kafka. The events are written into topics of the run,
//! the query is made over the server's REST interface, and what it has read is seen by the offsets of its consumer groups.

mod answer;
mod checkup;
mod engine;
mod feed;
mod kafka;
mod leftovers;
mod life;
pub mod local;
mod offsets;
mod record;
#[cfg(test)]
mod recording;
mod script;
mod server;
mod settings;
mod status;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod world;

use nexmark_driver::config::EngineFactory;

/// The engine's row in the table of engines.
pub static FACTORY: EngineFactory = EngineFactory {
    name: "ksqldb",
    title: "ksqlDB server, fed through Kafka",
    keys: settings::KEYS,
    create: |settings| Ok(Box::new(engine::Ksqldb::new(settings)?)),
};
