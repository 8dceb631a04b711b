//! Writes the events of a job into their topics, by its schedule, and counts what Kafka acknowledges: nothing else counts as
//! fed.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use nexmark_driver::engine::{EngineError, Job};
use nexmark_driver::events::Events;
use nexmark_driver::pace::Schedule;
use nexmark_queries::block::Block;
use nexmark_queries::event::Event;
use nexmark_queries::ndjson::Table;

use crate::kafka::{Producer, Record};
use crate::record;

/// Events that are made at once.
const BLOCK_EVENTS: u64 = 1024;
/// Longest wait for an event that is not due, so that a stop is noticed.
const WAIT_MAX: Duration = Duration::from_millis(20);
/// Shortest wait: batches are not sent oftener, either.
const WAIT_MIN: Duration = Duration::from_millis(1);

/// The topics of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Topics {
    prefix: String,
}

impl Topics {
    pub(crate) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    pub(crate) fn of(&self, table: Table) -> String {
        format!("{}{}", self.prefix, table.name())
    }

    pub(crate) fn side_input(&self) -> String {
        format!("{}side_input", self.prefix)
    }
}

/// How far a feed is; read while it goes on.
#[derive(Debug, Default)]
pub(crate) struct FeedProgress {
    /// Events that Kafka has acknowledged.
    pub(crate) acknowledged: AtomicU64,
    pub(crate) began: OnceLock<Instant>,
    /// When the last event was acknowledged.
    pub(crate) ended: OnceLock<Instant>,
    /// Whether the feed goes on.
    pub(crate) active: AtomicBool,
    /// The feed is to end where it is.
    pub(crate) stop: AtomicBool,
    /// Event times so far, epoch ms; `i64::MAX` and `i64::MIN` before the first.
    date_time_min: AtomicI64,
    date_time_max: AtomicI64,
}

impl FeedProgress {
    pub(crate) fn new() -> Self {
        Self {
            date_time_min: AtomicI64::new(i64::MAX),
            date_time_max: AtomicI64::new(i64::MIN),
            ..Self::default()
        }
    }

    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Relaxed)
    }

    /// First and last event time, epoch ms.
    pub(crate) fn date_times(&self) -> Option<(i64, i64)> {
        let (min, max) =
            (self.date_time_min.load(Ordering::Relaxed), self.date_time_max.load(Ordering::Relaxed));
        (min <= max).then_some((min, max))
    }

    /// Mean speed of the whole feed, once it is over: events per second.
    pub(crate) fn events_per_s(&self) -> Option<f64> {
        let seconds = self.ended.get()?.saturating_duration_since(*self.began.get()?).as_secs_f64();
        (seconds > 0.0).then(|| self.acknowledged() as f64 / seconds)
    }
}

/// The events of a job on their way into Kafka.
pub(crate) struct Feed {
    events: Events,
    end: u64,
    schedule: Schedule,
    topics: [String; 3],
    progress: Arc<FeedProgress>,
}

impl Feed {
    /// # Errors
    /// An option of the generator is out of its range.
    pub(crate) fn new(job: &Job, topics: &Topics, progress: Arc<FeedProgress>) -> Result<Self, EngineError> {
        let events = Events::new(&job.input)?;
        Ok(Self {
            end: job.events.unwrap_or(u64::MAX).min(events.available()),
            events,
            schedule: job.schedule.clone(),
            topics: Table::ALL.map(|table| topics.of(table)),
            progress,
        })
    }

    /// Number of events; `u64::MAX` without end.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Feeds until the end or until it is stopped, and returns when all is acknowledged. Blocks. `paced`: by the schedule, else
    /// as fast as Kafka takes them.
    ///
    /// # Errors
    /// Kafka did not acknowledge an event.
    pub(crate) fn run(&self, producer: &mut dyn Producer, paced: bool) -> Result<(), EngineError> {
        let schedule = if paced { &self.schedule } else { &Schedule::Unlimited };
        let began = *self.progress.began.get_or_init(Instant::now);
        let mut block = Block::default();
        let mut value = String::new();
        let mut from = 0;
        while from < self.end && !self.progress.stop.load(Ordering::Relaxed) {
            let due = schedule.events_due(began.elapsed()).min(self.end);
            if due <= from {
                let wait = schedule.due(from).saturating_sub(began.elapsed());
                std::thread::sleep(wait.clamp(WAIT_MIN, WAIT_MAX));
            } else {
                let to = due.min(from + BLOCK_EVENTS);
                self.events.fill(from..to, &mut block);
                self.send(&block, producer, &mut value)?;
                from = to;
            }
            self.progress.acknowledged.store(producer.acknowledged(), Ordering::Relaxed);
        }
        producer.flush()?;
        self.progress.acknowledged.store(producer.acknowledged(), Ordering::Relaxed);
        self.progress.ended.get_or_init(Instant::now);
        Ok(())
    }

    fn send(
        &self,
        block: &Block,
        producer: &mut dyn Producer,
        value: &mut String,
    ) -> Result<(), EngineError> {
        let persons = block.persons.iter().copied().map(Event::Person);
        let auctions = block.auctions.iter().copied().map(Event::Auction);
        let bids = block.bids.iter().map(Event::Bid);
        for event in persons.chain(auctions).chain(bids) {
            let timestamp = event.date_time();
            if timestamp < 0 {
                return Err(EngineError::new(format!(
                    "an event has dateTime {timestamp}, and Kafka keeps no time before 1970"
                )));
            }
            self.progress.date_time_min.fetch_min(timestamp, Ordering::Relaxed);
            self.progress.date_time_max.fetch_max(timestamp, Ordering::Relaxed);
            record::value(&event, self.events.texts(), value);
            let [person, auction, bid] = &self.topics;
            let topic = match event {
                Event::Person(_) => person,
                Event::Auction(_) => auction,
                Event::Bid(_) => bid,
            };
            producer.send(Record {
                topic,
                partition: None,
                key: &record::key(&event),
                value: value.as_bytes(),
                timestamp,
            })?;
        }
        Ok(())
    }
}
