//! Kafka through librdkafka.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use nexmark_driver::engine::EngineError;
use rdkafka::admin::{
    AdminClient, AdminOptions, AlterConfig, ConfigSource, NewTopic as CreatedTopic, ResourceSpecifier,
    TopicReplication,
};
use rdkafka::client::{ClientContext, DefaultClientContext};
use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::consumer::{BaseConsumer, Consumer as _, ConsumerContext};
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use rdkafka::message::Message as _;
use rdkafka::producer::{
    BaseProducer, BaseRecord, DeliveryResult, Producer as _, ProducerContext, ThreadedProducer,
};
use rdkafka::{Offset, TopicPartitionList};

use super::{Ends, Kafka, NewTopic, Partition, Producer, Read, Record};
use crate::settings::KafkaAccess;

/// Records that may be under way at once: enough for 2 M/s and a round trip of 25 ms, few enough to stay in the cache from
/// when they are written until they are acknowledged, which makes a fifth of the speed.
const UNDER_WAY_MAX: &str = "50000";
/// Memory of records under way, kB.
const UNDER_WAY_KB: &str = "262144";
/// Time that a record may wait for others of its batch, ms.
const LINGER_MS: &str = "20";
/// Wait while too many records are under way.
const FULL_WAIT: Duration = Duration::from_millis(2);
/// Wait for the broker that is in charge of a group.
const COORDINATOR_WAIT: Duration = Duration::from_millis(200);
/// Complaints that are looked at when something was refused.
const COMPLAINTS_MAX: usize = 100;
/// Configuration of a topic: age at which its records are dropped, ms.
const RETENTION: &str = "retention.ms";
/// Never.
const FOREVER: &str = "-1";

/// A Kafka cluster.
pub(super) struct Client {
    config: ClientConfig,
    compression: String,
    limit: Duration,
    admin: AdminClient<DefaultClientContext>,
    /// One for each group whose offsets are asked for; none of them joins it.
    groups: Mutex<HashMap<String, Arc<BaseConsumer<Complaint>>>>,
}

impl Client {
    pub(super) fn new(access: &KafkaAccess) -> Result<Self, EngineError> {
        let mut config = ClientConfig::new();
        for (name, value) in &access.config {
            config.set(*name, value);
        }
        if let Some((user, password)) = access.sasl() {
            config.set("sasl.username", user).set("sasl.password", password);
        }
        config.set("client.id", "nexmark").set_log_level(RDKafkaLogLevel::Emerg);
        let admin = config.create().map_err(|error| failed("make a client of Kafka", &error))?;
        Ok(Self {
            config,
            compression: access.compression.clone(),
            limit: access.limit,
            admin,
            groups: Mutex::default(),
        })
    }

    /// Addresses of the brokers and how they are spoken to, for messages.
    fn at(&self) -> String {
        let value = |name| self.config.get(name).unwrap_or_default();
        format!("{} ({})", value("bootstrap.servers"), value("security.protocol"))
    }

    fn options(&self) -> AdminOptions {
        AdminOptions::new().request_timeout(Some(self.limit)).operation_timeout(Some(self.limit))
    }

    /// Waits for a reply to an administrative request.
    fn wait<T>(&self, what: &str, reply: impl Future<Output = KafkaResult<T>>) -> Result<T, EngineError> {
        let runtime = tokio::runtime::Handle::try_current().map_err(EngineError::new)?;
        let limit = self.limit + Duration::from_secs(1);
        match runtime.block_on(async { tokio::time::timeout(limit, reply).await }) {
            Ok(reply) => reply.map_err(|error| failed(what, &error)),
            Err(_late) => Err(EngineError::new(format!("cannot {what}: no answer within {limit:?}"))),
        }
    }

    fn consumer(&self, group: &str) -> Result<Arc<BaseConsumer<Complaint>>, EngineError> {
        let mut groups = self.groups.lock().map_err(|_poisoned| EngineError::new("a thread panicked"))?;
        if let Some(consumer) = groups.get(group) {
            return Ok(Arc::clone(consumer));
        }
        let mut config = self.config.clone();
        config.set("group.id", group).set("enable.auto.commit", "false");
        let consumer: BaseConsumer<Complaint> = config
            .create_with_context(Complaint::default())
            .map_err(|error| failed(&format!("ask for group {group}"), &error))?;
        let consumer = Arc::new(consumer);
        groups.insert(group.to_owned(), Arc::clone(&consumer));
        Ok(consumer)
    }
}

#[cfg(test)]
impl Client {
    /// Makes a topic as somebody else would.
    pub(super) fn create_with(&self, name: &str, config: &[(&str, &str)]) -> Result<(), EngineError> {
        let topic = CreatedTopic::new(name, 1, TopicReplication::Fixed(1));
        let topic = config.iter().fold(topic, |topic, (key, value)| topic.set(key, value));
        self.wait("make a topic", self.admin.create_topics(&[topic], &self.options())).map(drop)
    }

    /// Configuration of a topic.
    pub(super) fn config_of(&self, name: &str) -> Result<HashMap<String, String>, EngineError> {
        let specifier = [ResourceSpecifier::Topic(name)];
        let described = self.wait("look", self.admin.describe_configs(&specifier, &self.options()))?;
        let entries = described.into_iter().flatten().flat_map(|resource| resource.entries);
        Ok(entries.filter_map(|entry| Some((entry.name, entry.value?))).collect())
    }
}

/// Group of the consumers that ask for ends and never commit.
const OBSERVER: &str = "nexmark-observer";

/// Why no connection comes about, which librdkafka tells beside its replies.
#[derive(Clone, Debug, Default)]
struct Complaint(Arc<Mutex<Option<String>>>);

impl Complaint {
    /// An error, with the complaint if it may be the reason.
    fn with(&self, error: &KafkaError) -> String {
        use RDKafkaErrorCode::{AllBrokersDown, BrokerTransportFailure, MessageTimedOut, OperationTimedOut};
        let unconnected = [AllBrokersDown, BrokerTransportFailure, MessageTimedOut, OperationTimedOut];
        let complaint = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (complaint.as_deref(), error.rdkafka_error_code()) {
            (Some(complaint), Some(code)) if unconnected.contains(&code) => {
                format!("{}: {complaint}", told(error))
            }
            _ => told(error),
        }
    }
}

impl ClientContext for Complaint {
    fn error(&self, error: KafkaError, reason: &str) {
        let mut complaint = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // That no broker is left says less than why.
        let says_little = error.rdkafka_error_code() == Some(RDKafkaErrorCode::AllBrokersDown);
        if complaint.is_none() || !says_little {
            *complaint = Some(reason.to_owned());
        }
    }
}

impl ConsumerContext for Complaint {}

/// What a consumer could not do, and its complaint.
fn refused_by(consumer: &BaseConsumer<Complaint>, what: &str, error: &KafkaError) -> EngineError {
    for _event in 0..COMPLAINTS_MAX {
        if consumer.poll(Duration::ZERO).is_none() {
            break;
        }
    }
    EngineError::new(format!("cannot {what}: {}", consumer.context().with(error)))
}

impl Kafka for Client {
    fn describe(&self) -> Result<String, EngineError> {
        let consumer = self.consumer(OBSERVER)?;
        let client = consumer.client();
        let metadata = client
            .fetch_metadata(None, self.limit)
            .map_err(|error| refused_by(&consumer, &format!("reach Kafka at {}", self.at()), &error))?;
        let brokers = metadata.brokers();
        let named: Vec<String> =
            brokers.iter().map(|broker| format!("{}:{}", broker.host(), broker.port())).collect();
        let cluster = client.fetch_cluster_id(self.limit).unwrap_or_else(|| "without an id".to_owned());
        Ok(format!("cluster {cluster}, {} brokers: {}", brokers.len(), named.join(", ")))
    }

    fn topics(&self) -> Result<Vec<(String, u32)>, EngineError> {
        let consumer = self.consumer(OBSERVER)?;
        let metadata = consumer
            .fetch_metadata(None, self.limit)
            .map_err(|error| refused_by(&consumer, "list the topics of Kafka", &error))?;
        let topics = metadata.topics().iter();
        Ok(topics.map(|topic| (topic.name().to_owned(), topic.partitions().len() as u32)).collect())
    }

    fn groups(&self) -> Result<Vec<String>, EngineError> {
        let consumer = self.consumer(OBSERVER)?;
        let list = consumer
            .fetch_group_list(None, self.limit)
            .map_err(|error| refused_by(&consumer, "list the consumer groups of Kafka", &error))?;
        Ok(list.groups().iter().map(|group| group.name().to_owned()).collect())
    }

    fn create(&self, topics: &[NewTopic<'_>]) -> Result<(), EngineError> {
        let made: Vec<CreatedTopic<'_>> = topics
            .iter()
            .map(|topic| {
                let replication = TopicReplication::Fixed(topic.replication as i32);
                CreatedTopic::new(topic.name, topic.partitions as i32, replication).set(RETENTION, FOREVER)
            })
            .collect();
        let replies = self.wait("make topics", self.admin.create_topics(&made, &self.options()))?;
        for reply in replies {
            reply.map_err(|(topic, code)| refused(&format!("make topic {topic}"), code))?;
        }
        Ok(())
    }

    fn keep_records(&self, topic: &str) -> Result<(), EngineError> {
        let what = format!("set {RETENTION} of topic {topic}");
        let specifier = [ResourceSpecifier::Topic(topic)];
        let described = self.wait(&what, self.admin.describe_configs(&specifier, &self.options()))?;
        let described =
            described.into_iter().next().ok_or_else(|| EngineError::new(format!("cannot {what}")))?;
        let config = described.map_err(|code| refused(&what, code))?;
        if config.get(RETENTION).is_some_and(|entry| entry.value.as_deref() == Some(FOREVER)) {
            return Ok(());
        }
        // What is not set again falls back to its default.
        let mut alter = AlterConfig::new(ResourceSpecifier::Topic(topic)).set(RETENTION, FOREVER);
        for entry in &config.entries {
            if let (ConfigSource::DynamicTopic, Some(value)) = (&entry.source, &entry.value)
                && entry.name != RETENTION
            {
                alter = alter.set(&entry.name, value);
            }
        }
        let replies = self.wait(&what, self.admin.alter_configs(&[alter], &self.options()))?;
        for reply in replies {
            reply.map_err(|(_topic, code)| refused(&what, code))?;
        }
        Ok(())
    }

    fn delete(&self, topics: &[String]) -> Result<(), EngineError> {
        if topics.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = topics.iter().map(String::as_str).collect();
        let replies = self.wait("remove topics", self.admin.delete_topics(&names, &self.options()))?;
        first_failure("remove topic", replies, RDKafkaErrorCode::UnknownTopicOrPartition)
    }

    fn delete_groups(&self, groups: &[String]) -> Result<(), EngineError> {
        if groups.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = groups.iter().map(String::as_str).collect();
        let replies =
            self.wait("remove consumer groups", self.admin.delete_groups(&names, &self.options()))?;
        first_failure("remove consumer group", replies, RDKafkaErrorCode::GroupIdNotFound)
    }

    fn committed(&self, group: &str, partitions: &[Partition]) -> Result<Vec<Option<i64>>, EngineError> {
        let what = || format!("ask for the offsets of group {group}");
        let mut list = TopicPartitionList::new();
        for partition in partitions {
            list.add_partition(&partition.topic, partition.number);
        }
        let consumer = self.consumer(group)?;
        let deadline = Instant::now() + self.limit;
        let told = loop {
            match consumer.committed_offsets(list.clone(), self.limit) {
                Err(error) if is_passing(&error) && Instant::now() < deadline => {
                    std::thread::sleep(COORDINATOR_WAIT);
                }
                told => break told.map_err(|error| refused_by(&consumer, &what(), &error))?,
            }
        };
        let of = |partition: &Partition| {
            let told = told.find_partition(&partition.topic, partition.number);
            told.and_then(|told| match told.offset() {
                Offset::Offset(offset) => Some(offset),
                _ => None,
            })
        };
        Ok(partitions.iter().map(of).collect())
    }

    fn ends(&self, partitions: &[Partition]) -> Result<Vec<Ends>, EngineError> {
        let consumer = self.consumer(OBSERVER)?;
        let of = |partition: &Partition| {
            let (low, high) = consumer
                .fetch_watermarks(&partition.topic, partition.number, self.limit)
                .map_err(|error| {
                    refused_by(&consumer, &format!("ask for the end of topic {}", partition.topic), &error)
                })?;
            Ok(Ends { low, high })
        };
        partitions.iter().map(of).collect()
    }

    fn read(
        &self,
        partition: &Partition,
        ends: Ends,
        take: &mut dyn FnMut(Read<'_>) -> bool,
    ) -> Result<(), EngineError> {
        let what = || format!("read topic {}", partition.topic);
        let mut config = self.config.clone();
        config.set("group.id", OBSERVER).set("enable.auto.commit", "false");
        config.set("enable.partition.eof", "true").set("isolation.level", "read_committed");
        let consumer: BaseConsumer = config.create().map_err(|error| failed(&what(), &error))?;
        let mut list = TopicPartitionList::new();
        list.add_partition_offset(&partition.topic, partition.number, Offset::Offset(ends.low))
            .and_then(|()| consumer.assign(&list))
            .map_err(|error| failed(&what(), &error))?;
        let mut next = ends.low;
        while next < ends.high {
            match consumer.poll(self.limit) {
                Some(Ok(message)) => {
                    next = message.offset() + 1;
                    if !take((message.key(), message.payload())) {
                        return Ok(());
                    }
                }
                // Marks of transactions at the end are not handed over.
                Some(Err(KafkaError::PartitionEOF(_))) => return Ok(()),
                Some(Err(error)) => return Err(failed(&what(), &error)),
                None => {
                    let limit = self.limit;
                    return Err(EngineError::new(format!(
                        "cannot {}: no record within {limit:?} at offset {next} of {}",
                        what(),
                        ends.high
                    )));
                }
            }
        }
        Ok(())
    }

    fn producer(&self) -> Result<Box<dyn Producer>, EngineError> {
        let mut config = self.config.clone();
        config.set("enable.idempotence", "true");
        // As Kafka Streams divides its own topics, so that joins meet.
        config.set("partitioner", "murmur2_random");
        config.set("compression.codec", &self.compression);
        config.set("linger.ms", LINGER_MS);
        config.set("batch.num.messages", "10000").set("batch.size", "1000000");
        config
            .set("queue.buffering.max.messages", UNDER_WAY_MAX)
            .set("queue.buffering.max.kbytes", UNDER_WAY_KB);
        config.set("message.timeout.ms", self.limit.as_millis().to_string());
        let context = Context::default();
        let producer = config
            .create_with_context(context.clone())
            .map_err(|error| failed("make a producer for Kafka", &error))?;
        Ok(Box::new(Writer { producer, context, sent: 0, limit: self.limit }))
    }

    fn check_transactions(&self, id: &str) -> Result<(), EngineError> {
        let what = "begin a transaction in Kafka";
        let mut config = self.config.clone();
        config.set("transactional.id", id);
        let producer: BaseProducer = config.create().map_err(|error| failed(what, &error))?;
        producer
            .init_transactions(self.limit)
            .and_then(|()| producer.begin_transaction())
            .and_then(|()| producer.abort_transaction(self.limit))
            .map_err(|error| failed(what, &error))
    }
}

/// Counts what the brokers acknowledge.
#[derive(Debug, Default)]
struct Deliveries {
    acknowledged: AtomicU64,
    failure: OnceLock<String>,
}

#[derive(Clone, Default)]
struct Context {
    deliveries: Arc<Deliveries>,
    complaint: Complaint,
}

impl ClientContext for Context {
    fn error(&self, error: KafkaError, reason: &str) {
        self.complaint.error(error, reason);
    }
}

impl ProducerContext for Context {
    type DeliveryOpaque = ();

    fn delivery(&self, delivery: &DeliveryResult<'_>, _opaque: ()) {
        let Self { deliveries, complaint } = self;
        match delivery {
            Ok(_message) => {
                deliveries.acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            Err((error, message)) => {
                let problem = || format!("topic {}: {}", message.topic(), complaint.with(error));
                deliveries.failure.get_or_init(problem);
            }
        }
    }
}

struct Writer {
    producer: ThreadedProducer<Context>,
    context: Context,
    sent: u64,
    limit: Duration,
}

impl Writer {
    /// An error as soon as any record was not acknowledged.
    fn check(&self) -> Result<(), EngineError> {
        match self.context.deliveries.failure.get() {
            Some(failure) => Err(self.failed(failure)),
            None => Ok(()),
        }
    }

    fn failed(&self, problem: &str) -> EngineError {
        let (acknowledged, sent) = (self.acknowledged(), self.sent);
        EngineError::new(format!("Kafka acknowledged {acknowledged} of {sent} records: {problem}"))
    }
}

impl Producer for Writer {
    fn send(&mut self, record: Record<'_>) -> Result<(), EngineError> {
        let mut next = BaseRecord::<[u8], [u8]>::to(record.topic)
            .key(record.key)
            .payload(record.value)
            .timestamp(record.timestamp);
        next.partition = record.partition;
        let mut waiting: Option<Instant> = None;
        loop {
            match self.producer.send(next) {
                Ok(()) => {
                    self.sent += 1;
                    // Looking at every record would cost more than finding out a little later.
                    return if self.sent.is_multiple_of(1024) { self.check() } else { Ok(()) };
                }
                Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), back)) => {
                    self.check()?;
                    if waiting.get_or_insert_with(Instant::now).elapsed() > self.limit {
                        return Err(self.failed(&format!("no room for more within {:?}", self.limit)));
                    }
                    next = back;
                    std::thread::sleep(FULL_WAIT);
                }
                Err((error, _back)) => return Err(self.failed(&told(&error))),
            }
        }
    }

    fn acknowledged(&self) -> u64 {
        self.context.deliveries.acknowledged.load(Ordering::Relaxed)
    }

    fn flush(&mut self) -> Result<(), EngineError> {
        // Records that are not acknowledged in time fail by themselves.
        let flushed = self.producer.flush(self.limit + Duration::from_secs(5));
        self.check()?;
        flushed.map_err(|error| self.failed(&self.context.complaint.with(&error)))?;
        if self.acknowledged() == self.sent {
            Ok(())
        } else {
            Err(self.failed("the others are unaccounted for"))
        }
    }
}

fn failed(what: &str, error: &KafkaError) -> EngineError {
    EngineError::new(format!("cannot {what}: {}", told(error)))
}

/// Whether an error says that the broker in charge of a group is not yet ready, or has just changed.
fn is_passing(error: &KafkaError) -> bool {
    use RDKafkaErrorCode::{CoordinatorLoadInProgress, CoordinatorNotAvailable, NotCoordinator};
    let passing = [CoordinatorLoadInProgress, CoordinatorNotAvailable, NotCoordinator];
    error.rdkafka_error_code().is_some_and(|code| passing.contains(&code))
}

fn refused(what: &str, code: RDKafkaErrorCode) -> EngineError {
    EngineError::new(format!("cannot {what}: {code}"))
}

/// The first failure that is not the one that does not matter.
fn first_failure(
    what: &str,
    replies: Vec<Result<String, (String, RDKafkaErrorCode)>>,
    harmless: RDKafkaErrorCode,
) -> Result<(), EngineError> {
    for reply in replies {
        match reply {
            Err((name, code)) if code != harmless => return Err(refused(&format!("{what} {name}"), code)),
            _ => {}
        }
    }
    Ok(())
}

/// What librdkafka says, without the name of the call.
fn told(error: &KafkaError) -> String {
    error.rdkafka_error_code().map_or_else(|| error.to_string(), |code| code.to_string())
}
