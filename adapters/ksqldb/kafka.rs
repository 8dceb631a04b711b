//! What the adapter needs of Kafka. The calls block, each up to a limit, and are made from threads that may.

#[cfg(feature = "kafka")]
mod client;
#[cfg(test)]
#[cfg(feature = "kafka")]
mod tests;

use std::sync::Arc;

use nexmark_driver::engine::EngineError;

use crate::settings::KafkaAccess;

/// A partition of a topic.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Partition {
    pub(crate) topic: String,
    pub(crate) number: i32,
}

/// Offsets of the first record of a partition and of the one that will be written next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) low: i64,
    pub(crate) high: i64,
}

/// A topic that is to be made.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(any(test, feature = "kafka")), expect(dead_code, reason = "nobody takes it without a client"))]
pub(crate) struct NewTopic<'a> {
    pub(crate) name: &'a str,
    pub(crate) partitions: u32,
    #[cfg_attr(
        all(test, not(feature = "kafka")),
        expect(dead_code, reason = "the tests' own Kafka keeps one copy")
    )]
    pub(crate) replication: u32,
}

/// A record that is to be written.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(any(test, feature = "kafka")), expect(dead_code, reason = "nobody takes it without a client"))]
pub(crate) struct Record<'a> {
    pub(crate) topic: &'a str,
    /// `None`: as the key says.
    pub(crate) partition: Option<i32>,
    pub(crate) key: &'a [u8],
    pub(crate) value: &'a [u8],
    /// Epoch ms.
    pub(crate) timestamp: i64,
}

/// A record that was read: key and value, where it has them.
pub(crate) type Read<'a> = (Option<&'a [u8]>, Option<&'a [u8]>);

/// A Kafka cluster.
pub(crate) trait Kafka: Send + Sync {
    /// Brokers and controller, in words.
    fn describe(&self) -> Result<String, EngineError>;
    /// Every topic with its number of partitions.
    fn topics(&self) -> Result<Vec<(String, u32)>, EngineError>;
    /// Every consumer group.
    fn groups(&self) -> Result<Vec<String>, EngineError>;
    /// Makes topics whose records are never dropped for their age, which begins at the time of the event.
    fn create(&self, topics: &[NewTopic<'_>]) -> Result<(), EngineError>;
    /// The same for topics that someone else made.
    fn keep_records(&self, topic: &str) -> Result<(), EngineError>;
    /// Removes topics; one that is not there is no error.
    fn delete(&self, topics: &[String]) -> Result<(), EngineError>;
    /// Removes consumer groups; one that is not there is no error.
    fn delete_groups(&self, groups: &[String]) -> Result<(), EngineError>;
    /// What a group has committed of partitions, in their order; `None` where it has committed nothing.
    fn committed(&self, group: &str, partitions: &[Partition]) -> Result<Vec<Option<i64>>, EngineError>;
    /// Ends of partitions, in their order.
    fn ends(&self, partitions: &[Partition]) -> Result<Vec<Ends>, EngineError>;
    /// Hands over the records of a partition from `ends.low` up to `ends.high`, transactions that were aborted left out, until
    /// `take` returns false.
    fn read(
        &self,
        partition: &Partition,
        ends: Ends,
        take: &mut dyn FnMut(Read<'_>) -> bool,
    ) -> Result<(), EngineError>;
    /// A new producer: idempotent, so that each record is written once and in its order.
    fn producer(&self) -> Result<Box<dyn Producer>, EngineError>;
    /// Checks that transactions are allowed, without which a ksqlDB server cannot take statements.
    fn check_transactions(&self, id: &str) -> Result<(), EngineError>;
}

/// Writes records.
pub(crate) trait Producer: Send {
    /// Takes a record, and waits while too many are under way.
    fn send(&mut self, record: Record<'_>) -> Result<(), EngineError>;
    /// Records that the brokers have acknowledged so far.
    fn acknowledged(&self) -> u64;
    /// Waits until all are acknowledged.
    fn flush(&mut self) -> Result<(), EngineError>;
}

/// The cluster that the settings name.
#[cfg(feature = "kafka")]
pub(crate) fn connect(access: &KafkaAccess) -> Result<Arc<dyn Kafka>, EngineError> {
    Ok(Arc::new(client::Client::new(access)?))
}

/// Says how to build a program that can.
#[cfg(not(feature = "kafka"))]
pub(crate) fn connect(access: &KafkaAccess) -> Result<Arc<dyn Kafka>, EngineError> {
    let _unreachable = (access.sasl(), &access.config, &access.compression, access.limit);
    Err(EngineError::new(
        "this program was built without a client of Kafka: build it with `cargo build --release --features kafka`, which \
         needs a C++ compiler, make and perl",
    ))
}
