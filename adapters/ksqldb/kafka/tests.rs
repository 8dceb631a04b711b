//! The client against a real Kafka, which the test starts and stops.

use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nexmark_driver::engine::{Input, Job, Output};
use nexmark_driver::local::port;
use nexmark_driver::pace::Schedule;
use nexmark_queries::block::Block;
use nexmark_queries::event::Event;
use nexmark_queries::find;
use nexmark_queries::generator::{Generator, Options};
use nexmark_queries::ndjson::Table;
use tempfile::TempDir;

use super::{Kafka, NewTopic, Partition, Record, connect};
use crate::feed::{Feed, FeedProgress, Topics};
use crate::local::{Life, Local, Request};
use crate::offsets::partitions;
use crate::record;
use crate::settings;
use crate::world::set;

const EVENTS: u64 = 5_000_000;
const PARTITIONS: u32 = 2;

/// Brokers run one at a time: on a small machine two would time each other out.
static TURN: Mutex<()> = Mutex::new(());

/// A broker that ends with the test.
struct Broker(Local, #[expect(dead_code, reason = "held until the broker is down")] MutexGuard<'static, ()>);

impl Broker {
    /// `None`, with a word, where tests may not start one.
    fn start() -> Option<Self> {
        Self::start_with(port::free().unwrap(), "")
    }

    /// The same on that port, with lines of configuration that outdo the usual ones.
    fn start_with(port: u16, config: &str) -> Option<Self> {
        if std::env::var_os("NEXMARK_TEST_KAFKA").is_none() {
            use std::io::Write as _;
            let _closed =
                writeln!(std::io::stderr(), "skipped: NEXMARK_TEST_KAFKA is not set; tests/run sets it");
            return None;
        }
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let local = Local::new(port).unwrap();
        local.up_with(&Request::default(), config).unwrap();
        Some(Self(local, turn))
    }

    fn connect(&self, timeout: &str) -> Arc<dyn Kafka> {
        let address = self.0.address();
        let settings = set(&[("kafka.brokers", &address), ("delivery.timeout", timeout)]);
        connect(&settings::Options::new(&settings).unwrap().kafka).unwrap()
    }

    fn kill(&self) {
        let Life::Runs(id) = self.0.status().unwrap().0 else { panic!("the broker does not run") };
        assert!(std::process::Command::new("kill").args(["-9", &id.to_string()]).status().unwrap().success());
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.0.down().unwrap();
    }
}

fn job(events: u64) -> Job {
    Job {
        name: "20261130-021509-q0-ab12cd".to_owned(),
        query: find("q0").unwrap(),
        input: Input::Generated(Options::default()),
        events: Some(events),
        warmup_events: 0,
        schedule: Schedule::Unlimited,
        watermark_delay_ms: 4_000,
        workers: 1,
        output: Output::Count,
        memory_budget_bytes: None,
    }
}

/// Records and the wrapping sum of their hashes: the same for the same records, in whichever order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    records: u64,
    hashes: u64,
}

impl Sum {
    fn add(&mut self, key: &[u8], value: &[u8]) {
        let mut hasher = DefaultHasher::new();
        (key, value).hash(&mut hasher);
        self.records += 1;
        self.hashes = self.hashes.wrapping_add(hasher.finish());
    }
}

/// What the events should be as records.
fn expected(events: u64) -> HashMap<&'static str, Sum> {
    let generator = Generator::new(Options::default()).unwrap();
    let mut sums = HashMap::<&str, Sum>::new();
    let mut block = Block::default();
    let mut value = String::new();
    let mut add = |event: Event| {
        record::value(&event, generator.texts(), &mut value);
        sums.entry(Table::of(&event).name()).or_default().add(&record::key(&event), value.as_bytes());
    };
    for from in (0..events).step_by(10_000) {
        generator.fill(from..events.min(from + 10_000), &mut block);
        block.persons.iter().copied().map(Event::Person).for_each(&mut add);
        block.auctions.iter().copied().map(Event::Auction).for_each(&mut add);
        block.bids.iter().map(Event::Bid).for_each(&mut add);
    }
    sums
}

fn create(kafka: &dyn Kafka, topics: &Topics) -> Vec<String> {
    let names: Vec<String> = Table::ALL.into_iter().map(|table| topics.of(table)).collect();
    let new = |name| NewTopic { name, partitions: PARTITIONS, replication: 1 };
    kafka.create(&names.iter().map(|name| new(name.as_str())).collect::<Vec<_>>()).unwrap();
    names
}

/// The calls of the engine are made from such threads.
async fn in_thread(test: impl FnOnce() + Send + 'static) {
    tokio::task::spawn_blocking(test).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn five_million_events_are_fed_and_read_back() {
    in_thread(|| {
        let Some(broker) = Broker::start() else { return };
        let kafka = broker.connect("120s");
        let topics = Topics::new("nexmark_20261130_021509_q0_ab12cd_");
        let names = create(kafka.as_ref(), &topics);
        let progress = Arc::new(FeedProgress::new());
        let feed = Feed::new(&job(EVENTS), &topics, Arc::clone(&progress)).unwrap();
        feed.run(kafka.producer().unwrap().as_mut(), false).unwrap();
        assert_eq!(progress.acknowledged(), EVENTS);
        let speed = progress.events_per_s().unwrap();
        {
            use std::io::Write as _;
            let _closed = writeln!(std::io::stderr(), "fed {speed:.0} events/s");
        }
        let there: HashMap<String, u32> = kafka.topics().unwrap().into_iter().collect();
        let mut found = HashMap::new();
        let mut places = HashMap::<i64, i32>::new();
        for (table, name) in Table::ALL.into_iter().zip(&names) {
            let mut sum = Sum::default();
            let partitions = partitions(name, &there).unwrap();
            assert_eq!(partitions.len(), PARTITIONS as usize);
            let ends = kafka.ends(&partitions).unwrap();
            for (partition, ends) in partitions.iter().zip(ends) {
                assert!(ends.high > 0, "{partition:?} is empty");
                let mut take = |(key, value): super::Read<'_>| {
                    let (key, value): (&[u8], &[u8]) = (key.unwrap(), value.unwrap());
                    sum.add(key, value);
                    if table == Table::Auction {
                        places.insert(i64::from_be_bytes(key.try_into().unwrap()), partition.number);
                    } else if table == Table::Bid {
                        // A bid lies where its auction does, or no join would find it.
                        let id = i64::from_be_bytes(key.try_into().unwrap());
                        assert!(
                            places.get(&id).is_none_or(|place| *place == partition.number),
                            "auction {id}"
                        );
                    }
                    true
                };
                kafka.read(partition, ends, &mut take).unwrap();
            }
            found.insert(table.name(), sum);
        }
        assert_eq!(found, expected(EVENTS));
        // 1000 and 1003 lie where Kafka's own client would put them.
        assert_eq!(places[&1000], murmur2_partition(1000));
        assert_eq!(places[&1003], murmur2_partition(1003));
        kafka.delete(&names).unwrap();
    })
    .await;
}

/// The partition of a key as Kafka's own client and Kafka Streams choose it, as published.
fn murmur2_partition(id: i64) -> i32 {
    let key = id.to_be_bytes();
    let mut hash = 0x9747_b28c_u32 ^ key.len() as u32;
    for word in key.chunks_exact(4) {
        let mut mixed = u32::from_le_bytes(word.try_into().unwrap()).wrapping_mul(0x5bd1_e995);
        mixed ^= mixed >> 24;
        hash = hash.wrapping_mul(0x5bd1_e995) ^ mixed.wrapping_mul(0x5bd1_e995);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0x5bd1_e995);
    hash ^= hash >> 15;
    ((hash & 0x7fff_ffff) % PARTITIONS) as i32
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_killed_in_mid_feed_ends_the_feed_with_what_was_acknowledged() {
    in_thread(|| {
        let Some(broker) = Broker::start() else { return };
        let kafka = broker.connect("20s");
        let topics = Topics::new("killed_");
        create(kafka.as_ref(), &topics);
        let progress = Arc::new(FeedProgress::new());
        let feed = Feed::new(&job(500_000_000), &topics, Arc::clone(&progress)).unwrap();
        let feeding = {
            let kafka = Arc::clone(&kafka);
            std::thread::spawn(move || feed.run(kafka.producer().unwrap().as_mut(), false))
        };
        let began = Instant::now();
        while progress.acknowledged() < 200_000 {
            assert!(began.elapsed() < Duration::from_secs(60) && !feeding.is_finished(), "nothing was fed");
            std::thread::sleep(Duration::from_millis(20));
        }
        broker.kill();
        let killed = Instant::now();
        let error = feeding.join().unwrap().unwrap_err().to_string();
        assert!(killed.elapsed() < Duration::from_secs(120), "{:?}", killed.elapsed());
        let numbers: Vec<u64> = error.split(' ').filter_map(|word| word.parse().ok()).collect();
        let (acknowledged, sent) = (numbers[0], numbers[1]);
        assert!(error.starts_with("Kafka acknowledged ") && acknowledged < sent, "{error}");
        assert!(progress.acknowledged.load(Ordering::Relaxed) <= acknowledged, "{error}");
        assert!(progress.events_per_s().is_none());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_and_offsets_are_those_of_a_real_kafka() {
    in_thread(|| {
        let Some(broker) = Broker::start() else { return };
        let kafka = broker.connect("20s");
        assert!(kafka.describe().unwrap().contains("1 brokers: 127.0.0.1:"));
        kafka.check_transactions("nexmark-check").unwrap();
        let new = NewTopic { name: "sink", partitions: 2, replication: 1 };
        kafka.create(&[new]).unwrap();
        let again = kafka.create(&[new]).unwrap_err().to_string();
        assert!(again.starts_with("cannot make topic sink: "), "{again}");
        let too_many = NewTopic { name: "copies", replication: 3, ..new };
        assert!(kafka.create(&[too_many]).is_err());
        kafka.keep_records("sink").unwrap();

        let mut producer = kafka.producer().unwrap();
        for number in 0..10u8 {
            let partition = Some(i32::from(number) % 2);
            // Of 1970: they would be dropped for their age.
            producer
                .send(Record { topic: "sink", partition, key: &[number], value: b"{}", timestamp: 1 })
                .unwrap();
        }
        producer.flush().unwrap();
        assert_eq!(producer.acknowledged(), 10);
        let both = partitions("sink", &kafka.topics().unwrap().into_iter().collect()).unwrap();
        let ends = kafka.ends(&both).unwrap();
        assert!(ends.iter().all(|ends| (ends.low, ends.high) == (0, 5)), "{ends:?}");
        assert_eq!(kafka.committed("nobody", &both).unwrap(), [None, None]);
        let mut keys = Vec::new();
        kafka
            .read(&both[1], ends[1], &mut |(key, _)| {
                keys.push(key.unwrap()[0]);
                keys.len() < 3
            })
            .unwrap();
        assert_eq!(keys, [1, 3, 5]);
        kafka.delete_groups(&["nobody".to_owned()]).unwrap();
        kafka.delete(&["sink".to_owned(), "nothing".to_owned()]).unwrap();
        let missing = Partition { topic: "nothing".to_owned(), number: 0 };
        assert!(kafka.ends(&[missing]).is_err());
    })
    .await;
}

/// A topic that ksqlDB makes for a window keeps its records for a day, which for events of 2015 is not at all.
#[tokio::test(flavor = "multi_thread")]
async fn records_of_a_topic_that_somebody_else_made_are_kept() {
    in_thread(|| {
        let Some(broker) = Broker::start() else { return };
        let kafka = broker.connect("20s");
        let client = super::client::Client::new(
            &settings::Options::new(&set(&[("kafka.brokers", &broker.0.address())])).unwrap().kafka,
        )
        .unwrap();
        client
            .create_with("window", &[("retention.ms", "86400000"), ("cleanup.policy", "compact,delete")])
            .unwrap();
        kafka.keep_records("window").unwrap();
        let config = client.config_of("window").unwrap();
        assert_eq!(config["retention.ms"], "-1");
        assert_eq!(config["cleanup.policy"], "compact,delete");
    })
    .await;
}

/// Of the authority and the server that tests with TLS share.
fn certificate(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tls").join(name)
}

/// Listeners of a broker for clients who show a password, with a certificate for loopback.
struct Secured {
    place: TempDir,
    port: u16,
    sasl_port: u16,
}

impl Secured {
    const PASSWORD: &str = "open sesame";

    fn new() -> Self {
        let place = TempDir::new().unwrap();
        let text = |name| fs::read_to_string(certificate(name)).unwrap();
        fs::write(place.path().join("keystore.pem"), text("server.key") + &text("server.pem")).unwrap();
        Self { place, port: port::free().unwrap(), sasl_port: port::free().unwrap() }
    }

    fn config(&self) -> String {
        let controller = port::free().unwrap();
        let Self { port, sasl_port, .. } = self;
        format!(
            "listeners=PLAINTEXT://127.0.0.1:{port},SASL_SSL://127.0.0.1:{sasl_port},CONTROLLER://127.0.0.1:{controller}\n\
             advertised.listeners=PLAINTEXT://127.0.0.1:{port},SASL_SSL://127.0.0.1:{sasl_port}\n\
             controller.quorum.voters=1@127.0.0.1:{controller}\n\
             listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL\n\
             sasl.enabled.mechanisms=PLAIN\n\
             listener.name.sasl_ssl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule \
             required user_nexmark=\"{}\";\n\
             ssl.keystore.type=PEM\n\
             ssl.keystore.location={}\n",
            Self::PASSWORD,
            self.place.path().join("keystore.pem").display()
        )
    }

    fn connect(&self, security: &str, ca_file: &str, password: &str) -> Arc<dyn Kafka> {
        let credentials = self.place.path().join("credentials");
        fs::write(&credentials, format!("NEXMARK_KAFKA_USER=nexmark\nNEXMARK_KAFKA_PASSWORD={password}\n"))
            .unwrap();
        fs::set_permissions(&credentials, fs::Permissions::from_mode(0o600)).unwrap();
        let settings = set(&[
            ("kafka.brokers", &format!("127.0.0.1:{}", self.sasl_port)),
            ("kafka.security", security),
            ("kafka.mechanism", "PLAIN"),
            ("ca.file", ca_file),
            ("credentials", credentials.to_str().unwrap()),
            ("delivery.timeout", "5s"),
        ]);
        connect(&settings::Options::new(&settings).unwrap().kafka).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn brokers_that_want_tls_and_a_password_are_used_and_a_refusal_says_why() {
    in_thread(|| {
        let secured = Secured::new();
        let Some(_broker) = Broker::start_with(secured.port, &secured.config()) else { return };
        let authority = certificate("ca.pem").to_str().unwrap().to_owned();
        let kafka = secured.connect("sasl_ssl", &authority, Secured::PASSWORD);
        kafka.describe().unwrap();
        kafka.create(&[NewTopic { name: "secret", partitions: 1, replication: 1 }]).unwrap();
        let mut producer = kafka.producer().unwrap();
        let record = Record { topic: "secret", partition: None, key: b"key", value: b"{}", timestamp: 1 };
        producer.send(record).unwrap();
        producer.flush().unwrap();
        let partition = Partition { topic: "secret".to_owned(), number: 0 };
        let ends = kafka.ends(std::slice::from_ref(&partition)).unwrap();
        let mut found = 0;
        kafka
            .read(&partition, ends[0], &mut |(key, _)| {
                assert_eq!(key, Some(b"key".as_slice()));
                found += 1;
                true
            })
            .unwrap();
        assert_eq!((found, kafka.committed("nobody", &[partition]).unwrap()), (1, vec![None]));

        // A broker that hangs up says nothing.
        for (security, authority, password, reason) in [
            ("sasl_ssl", authority.as_str(), "shazam", "Authentication failed: Invalid username or password"),
            ("sasl_ssl", "", Secured::PASSWORD, "broker certificate could not be verified"),
            ("ssl", authority.as_str(), Secured::PASSWORD, ""),
            ("sasl_plaintext", authority.as_str(), Secured::PASSWORD, ""),
        ] {
            let kafka = secured.connect(security, authority, password);
            let error = kafka.describe().unwrap_err().to_string();
            let start = format!("cannot reach Kafka at 127.0.0.1:{} ({security}): ", secured.sasl_port);
            assert!(error.starts_with(&start) && error.contains(reason), "{error}");
            let mut producer = kafka.producer().unwrap();
            producer.send(record).unwrap();
            let error = producer.flush().unwrap_err().to_string();
            assert!(
                error.starts_with("Kafka acknowledged 0 of 1 records: ") && error.contains(reason),
                "{error}"
            );
        }
    })
    .await;
}
