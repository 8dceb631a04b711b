//! The life of a job from its topics to its answer: one step after the other, each with a deadline of its own or the driver's.

mod keep_up;

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nexmark_driver::engine::{EngineError, Job, JobState, Output};
use nexmark_queries::ndjson::Table;
use nexmark_queries::q13;
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::answer::Answer;
use crate::feed::{Feed, FeedProgress, Topics};
use crate::kafka::{Kafka, NewTopic, Record};
use crate::leftovers::blocking;
use crate::offsets::{Group, Offsets, Sample, partitions};
use crate::script::{Script, Statement};
use crate::server::Server;
use crate::settings::{Feeding, Options};
use crate::status::Shared;
use keep_up::KeepUp;

/// Time between two looks at the offsets.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(200);
/// Time between two looks at the state of the queries.
const STATE_INTERVAL: Duration = Duration::from_secs(2);
/// Longest wait for a query to appear in the server's list with its consumer group.
const GROUP_LIMIT: Duration = Duration::from_secs(30);
/// Samples in a row that must be the same before a job counts as done.
const SAME_SAMPLES: u32 = 3;
/// Length of the longest windows that wait for their end, ms.
const WINDOW_MS: i64 = 10_000;
/// Kafka Streams looks for windows that are over once a second, and only when a record comes.
const FLUSH_INTERVAL: Duration = Duration::from_millis(1_600);
/// Times that the windows are closed, at least; the first may come before a second is over.
const FLUSHES_MIN: u32 = 3;
const FLUSHES_MAX: u32 = 40;
/// Records for each partition, each with another key: what a query groups by leads to other partitions.
const FLUSH_KEYS: u32 = 32;
/// A day, which is how far the joins look back, ms.
const DAY_MS: i64 = 86_400_000;
/// Records that are read back between two signs of life.
const READ_STEP: u64 = 10_000;

/// A job on its way.
pub(crate) struct Life {
    pub(crate) server: Server,
    pub(crate) kafka: Arc<dyn Kafka>,
    pub(crate) options: Options,
    pub(crate) job: Job,
    pub(crate) prefix: String,
    pub(crate) script: Script,
    pub(crate) feeding: Feeding,
    pub(crate) feed: Arc<FeedProgress>,
    pub(crate) shared: Arc<Shared>,
}

/// A query that the server runs.
#[derive(Clone, Debug)]
struct Query {
    id: String,
    name: String,
}

impl Life {
    /// Lives it; the end is in the status.
    pub(crate) async fn live(mut self) {
        let shared = Arc::clone(&self.shared);
        if let Err(error) = self.steps().await {
            shared.change(|status| {
                // What ended a query is told by the one who looks at its state.
                if !matches!(status.state, JobState::Cancelled(_)) {
                    status.state = JobState::Failed(error.message);
                }
            });
        }
    }

    async fn steps(&mut self) -> Result<(), EngineError> {
        let topics = Topics::new(&self.prefix);
        let feed = Feed::new(&self.job, &topics, Arc::clone(&self.feed))?;
        let bounded = feed.end() < u64::MAX;
        self.make_topics(&topics).await?;
        let mut feeding = None;
        if self.feeding == Feeding::Prefilled {
            self.prefill(feed).await?;
        } else {
            feeding = Some(feed);
        }
        let queries = self.make_queries().await?;
        let offsets = Arc::new(Mutex::new(self.offsets(&topics, &queries).await?));
        let feeding = feeding.map(|feed| self.spawn_feed(feed, true));
        self.shared.change(|status| {
            status.state = JobState::Running;
            // What went before, such as filling the topics, is no part of what is measured.
            status.at = Instant::now();
            status.events_in = Some(0);
        });
        self.follow(&offsets, &queries, feeding, bounded).await?;
        if self.script.emits_final {
            self.flush(&offsets, &topics).await?;
        }
        self.read_answer().await?;
        self.shared.change(|status| {
            status.waits_for = None;
            status.state = JobState::Finished;
        });
        Ok(())
    }

    async fn make_topics(&self, topics: &Topics) -> Result<(), EngineError> {
        let mut names: Vec<String> = Table::ALL.into_iter().map(|table| topics.of(table)).collect();
        let side_input = topics.side_input();
        if self.script.reads_side_table {
            names.push(side_input.clone());
        }
        let Options { partitions, replication, .. } = self.options;
        let fill_side = self.script.reads_side_table;
        blocking(&self.kafka, move |kafka| {
            let made: Vec<NewTopic<'_>> =
                names.iter().map(|name| NewTopic { name, partitions, replication }).collect();
            kafka.create(&made)?;
            if fill_side { fill_side_table(kafka, &side_input) } else { Ok(()) }
        })
        .await
    }

    /// Writes all events and returns when Kafka has acknowledged them.
    async fn prefill(&self, feed: Feed) -> Result<(), EngineError> {
        let end = feed.end();
        if end == u64::MAX {
            return Err(EngineError::new(
                "feed is prefilled, and the events have no end; give --events, or set feed to live",
            ));
        }
        let mut feeding = self.spawn_feed(feed, false);
        loop {
            self.shared.change(|status| {
                status.prepared = self.feed.acknowledged();
                status.waits_for =
                    Some(format!("Kafka, which has acknowledged {} of {end} events", status.prepared));
            });
            tokio::select! {
                fed = &mut feeding => {
                    fed.map_err(|error| EngineError::new(format!("the feed ended: {error}")))??;
                    break;
                }
                () = tokio::time::sleep(SAMPLE_INTERVAL) => {}
            }
        }
        self.note_feed();
        Ok(())
    }

    /// Writes how fast the feed was, once it is over.
    fn note_feed(&self) {
        self.shared.change(|status| {
            status.waits_for = None;
            if let Some(speed) = self.feed.events_per_s() {
                let feed = self.feeding.name();
                status.notes.push(format!("feed {feed}: Kafka took {speed:.0} events/s"));
            }
        });
    }

    fn spawn_feed(&self, feed: Feed, paced: bool) -> JoinHandle<Result<(), EngineError>> {
        let kafka = Arc::clone(&self.kafka);
        let progress = Arc::clone(&self.feed);
        progress.active.store(true, Ordering::Release);
        tokio::task::spawn_blocking(move || {
            let fed = kafka.producer().and_then(|mut producer| feed.run(producer.as_mut(), paced));
            progress.active.store(false, Ordering::Release);
            fed
        })
    }

    /// Makes sources and queries, one statement after the other.
    async fn make_queries(&mut self) -> Result<Vec<Query>, EngineError> {
        let mut queries = Vec::new();
        let statements = self.script.statements.clone();
        for Statement { text, name, topic, runs, .. } in &statements {
            self.shared.change(|status| status.waits_for = Some(format!("the server to make {name}")));
            let done = self.server.execute(text).await?;
            if !runs {
                continue;
            }
            let id = match done.query_id {
                Some(id) => id,
                // Older servers do not tell it with the status.
                None => self.query_of(name).await?,
            };
            queries.push(Query { id, name: name.clone() });
            let topic = topic.clone();
            // The time of a record is that of the event, so that old ones would be dropped within minutes.
            blocking(&self.kafka, move |kafka| kafka.keep_records(&topic)).await?;
        }
        self.shared.change(|status| status.waits_for = None);
        Ok(queries)
    }

    async fn query_of(&self, sink: &str) -> Result<String, EngineError> {
        let queries = self.server.queries().await?;
        let query = queries.into_iter().find(|query| query.sinks.iter().any(|name| name == sink));
        let missing = || EngineError::new(format!("ksqlDB made {sink}, and has no query that writes it"));
        query.map(|query| query.id).ok_or_else(missing)
    }

    /// Finds the consumer group of each query and the topics that it reads.
    async fn offsets(&self, topics: &Topics, queries: &[Query]) -> Result<Offsets, EngineError> {
        let mut groups = Vec::new();
        let mut config = HashMap::new();
        let deadline = Instant::now() + GROUP_LIMIT;
        for query in queries {
            let description = loop {
                match self.server.describe(&query.id).await? {
                    Some(description) if description.consumer_group_id.is_some() => break description,
                    _ if Instant::now() >= deadline => {
                        let text = format!(
                            "ksqlDB tells no consumer group of query {} for {GROUP_LIMIT:?}",
                            query.id
                        );
                        return Err(EngineError::new(text));
                    }
                    _ => tokio::time::sleep(SAMPLE_INTERVAL).await,
                }
            };
            groups.push(Group {
                topics: description.topics().into_iter().map(str::to_owned).collect(),
                id: description.consumer_group_id.unwrap_or_default(),
            });
            config.extend(description.overridden_properties);
        }
        let guarantee = config.get("processing.guarantee").and_then(Value::as_str).unwrap_or("");
        let exactly_once = guarantee.starts_with("exactly_once");
        self.shared.change(|status| {
            status.config.insert("feed".to_owned(), self.feeding.name().to_owned());
            let told = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            status.config.extend(config.iter().map(|(name, value)| (format!("query.{name}"), told(value))));
        });
        let events: Vec<String> = Table::ALL.into_iter().map(|table| topics.of(table)).collect();
        let sink = self.script.sink().map(|sink| sink.topic.clone()).unwrap_or_default();
        Ok(Offsets::new(Arc::clone(&self.kafka), groups, &events, &sink, exactly_once))
    }

    /// Follows the offsets until all events are taken and nothing is left to do.
    async fn follow(
        &self,
        offsets: &Watched,
        queries: &[Query],
        mut feeding: Option<JoinHandle<Result<(), EngineError>>>,
        bounded: bool,
    ) -> Result<(), EngineError> {
        let mut keep_up = KeepUp::default();
        let mut looked = Instant::now();
        let mut same = 0;
        let mut rows_when_done = None;
        loop {
            if feeding.as_ref().is_some_and(JoinHandle::is_finished)
                && let Some(feed) = feeding.take()
            {
                feed.await.map_err(|error| EngineError::new(format!("the feed ended: {error}")))??;
                self.note_feed();
            }
            self.check_day()?;
            let sample = sample(offsets).await?;
            let fed = self.feed.acknowledged();
            let done =
                bounded && feeding.is_none() && sample.lag == Some(0) && sample.consumed == sample.available;
            let repeats = done && rows_when_done == Some(sample.rows);
            same = if repeats { same + 1 } else { 0 };
            rows_when_done = done.then_some(sample.rows);
            if self.feeding == Feeding::Live && feeding.is_some() {
                keep_up.sample(sample.at, self.behind(), sample.consumed, sample.available);
            }
            // Waiting until a thing stays the same is no part of what is measured.
            if same == 0 {
                self.show(&sample, fed);
            }
            if same >= SAME_SAMPLES {
                break;
            }
            self.shared.change(|status| status.source_bound = keep_up.note());
            if looked.elapsed() >= STATE_INTERVAL {
                self.check_queries(queries).await?;
                looked = Instant::now();
            }
            tokio::time::sleep(SAMPLE_INTERVAL).await;
        }
        Ok(())
    }

    fn show(&self, sample: &Sample, fed: u64) {
        let (consumed, available) = (u128::from(sample.consumed), u128::from(sample.available.max(1)));
        let events = u64::try_from(u128::from(fed) * consumed / available).unwrap_or(u64::MAX).min(fed);
        self.shared.change(|status| {
            if events > 0 && status.first_event_at.is_none() {
                // The last moment at which nothing was taken.
                status.first_event_at = Some(status.at);
            }
            status.at = sample.at;
            status.events_in = Some(events);
            status.rows_out = Some(sample.rows);
            status.lag = sample.lag;
            status.waits_for.clone_from(&sample.waits_for);
            if self.feeding == Feeding::Live {
                status.first_event_at = self.feed.began.get().copied();
                status.behind_events = self.behind();
            }
        });
    }

    /// Events that are due and not acknowledged; `None` without a schedule.
    fn behind(&self) -> Option<u64> {
        let elapsed = self.feed.began.get()?.elapsed();
        let due = self.job.schedule.events_due(elapsed);
        let due = due.min(self.job.events.unwrap_or(u64::MAX));
        (due < u64::MAX).then(|| due.saturating_sub(self.feed.acknowledged()))
    }

    /// Joins forget what is more than a day apart.
    fn check_day(&self) -> Result<(), EngineError> {
        let Some((min, max)) = self.feed.date_times() else { return Ok(()) };
        if self.script.looks_back_a_day && max - min > DAY_MS {
            return Err(EngineError::new(format!(
                "the events span {} h of event time, and the joins of {} look back 24 h; take fewer events or a higher event.rate",
                (max - min) / 3_600_000,
                self.job.query.name
            )));
        }
        Ok(())
    }

    /// Ends the job when a query has failed, or somebody else has ended it. A query that the server calls running may be
    /// anything else: its offsets tell.
    async fn check_queries(&self, queries: &[Query]) -> Result<(), EngineError> {
        for Query { id, name } in queries {
            let Ok(description) = self.server.describe(id).await else { continue };
            let Some(description) = description else {
                let text = format!("somebody else has ended query {id}");
                self.shared.change(|status| status.state = JobState::Cancelled(text.clone()));
                return Err(EngineError::new(text));
            };
            match description.state.as_deref() {
                Some("ERROR") => {
                    let error = description.error().unwrap_or("no reason is told");
                    return Err(EngineError::new(format!("query {id}, which makes {name}, failed: {error}")));
                }
                Some("PAUSED") => {
                    self.shared
                        .change(|status| status.waits_for = Some(format!("query {id}, which is paused")));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Sends records past the end until the last windows have shown their results. Their own windows stay open.
    async fn flush(&self, offsets: &Watched, topics: &Topics) -> Result<(), EngineError> {
        let Some((_, last)) = self.feed.date_times() else { return Ok(()) };
        let grace_ms = i64::try_from(self.job.watermark_delay_ms).unwrap_or(i64::MAX);
        let past = last.saturating_add(grace_ms).saturating_add(2 * WINDOW_MS);
        let bid = topics.of(Table::Bid);
        let mut rows = None;
        for round in 1..=FLUSHES_MAX {
            self.shared.change(|status| status.waits_for = Some("the last windows to close".to_owned()));
            let (bid, partitions) = (bid.clone(), self.options.partitions);
            blocking(&self.kafka, move |kafka| send_flush(kafka, &bid, partitions, past + i64::from(round)))
                .await?;
            let after = self.settle(offsets).await?;
            self.shared.change(|status| {
                status.rows_out = Some(after.rows);
                status.prepared += 1;
            });
            if round >= FLUSHES_MIN && rows == Some(after.rows) {
                return Ok(());
            }
            rows = Some(after.rows);
        }
        Err(EngineError::new(format!(
            "the last windows were not closed after {FLUSHES_MAX} records past the end"
        )))
    }

    /// Waits until everything is taken, and not shorter than Kafka Streams takes to look for windows.
    async fn settle(&self, offsets: &Watched) -> Result<Sample, EngineError> {
        let began = Instant::now();
        loop {
            tokio::time::sleep(SAMPLE_INTERVAL).await;
            let sample = sample(offsets).await?;
            if sample.lag == Some(0) && began.elapsed() >= FLUSH_INTERVAL {
                return Ok(sample);
            }
            self.shared.change(|status| status.waits_for.clone_from(&sample.waits_for));
            if began.elapsed() > GROUP_LIMIT {
                let waited = sample.waits_for.unwrap_or_default();
                return Err(EngineError::new(format!("waited {GROUP_LIMIT:?} for {waited} after the end")));
            }
        }
    }

    async fn read_answer(&self) -> Result<(), EngineError> {
        let Some(sink) = self.script.sink().filter(|_| self.job.output != Output::Count) else {
            return Ok(());
        };
        let time_max = self.feed.date_times().map_or(i64::MIN, |(_, max)| max);
        let mut answer = Answer::new(self.job.query, sink.kind, time_max, self.job.output);
        let (topic, shared) = (sink.topic.clone(), Arc::clone(&self.shared));
        let feed = Arc::clone(&self.feed);
        let read = move |kafka: &dyn Kafka| {
            read_sink(kafka, &topic, &mut answer, &shared, &feed)?;
            answer.finish().map_err(|problem| EngineError::new(format!("topic {topic}: {problem}")))
        };
        let (digest, rows) = blocking(&self.kafka, read).await?;
        self.shared.change(|status| {
            status.answer = Some(digest);
            status.rows = (self.job.output == Output::Rows).then_some(rows);
        });
        Ok(())
    }
}

/// Offsets that are asked for in a thread that may wait.
type Watched = Arc<Mutex<Offsets>>;

async fn sample(offsets: &Watched) -> Result<Sample, EngineError> {
    let offsets = Arc::clone(offsets);
    let ask = move || offsets.lock().unwrap_or_else(PoisonError::into_inner).sample();
    let asked = tokio::task::spawn_blocking(ask).await;
    asked.map_err(|error| EngineError::new(format!("cannot ask for offsets: {error}")))?
}

/// Reads every partition of a sink to its end.
fn read_sink(
    kafka: &dyn Kafka,
    topic: &str,
    answer: &mut Answer,
    shared: &Shared,
    feed: &FeedProgress,
) -> Result<(), EngineError> {
    let topics: HashMap<String, u32> = kafka.topics()?.into_iter().collect();
    let missing = || EngineError::new(format!("there is no topic {topic}"));
    let partitions = partitions(topic, &topics).ok_or_else(missing)?;
    let ends = kafka.ends(&partitions)?;
    let mut records = 0u64;
    for (partition, ends) in partitions.iter().zip(ends) {
        let mut problem = None;
        kafka.read(partition, ends, &mut |(key, value)| {
            records += 1;
            if records.is_multiple_of(READ_STEP) {
                shared.change(|status| status.prepared += READ_STEP);
            }
            problem = answer.take(key, value).err();
            problem.is_none() && !feed.stop.load(Ordering::Relaxed)
        })?;
        if let Some(problem) = problem {
            return Err(EngineError::new(format!("topic {topic}: {problem}")));
        }
    }
    Ok(())
}

/// Fills the side table of q13. Its records are older than any event, so that they are there when the first bid comes.
fn fill_side_table(kafka: &dyn Kafka, topic: &str) -> Result<(), EngineError> {
    let mut producer = kafka.producer()?;
    for number in q13::SIDE_KEYS {
        let value = format!("{{\"side_value\":\"{}\"}}", q13::side_value(number));
        producer.send(Record {
            topic,
            partition: None,
            key: &number.to_be_bytes(),
            value: value.as_bytes(),
            timestamp: 0,
        })?;
    }
    producer.flush()
}

/// Sends bids of nobody at a time past the end to every partition.
fn send_flush(kafka: &dyn Kafka, topic: &str, partitions: u32, timestamp: i64) -> Result<(), EngineError> {
    let mut producer = kafka.producer()?;
    for partition in 0..partitions {
        for number in 0..FLUSH_KEYS * partitions {
            let id = -1 - i64::from(number);
            let value = format!(
                "{{\"bidder\":{id},\"price\":-1,\"channel\":\"\",\"url\":\"\",\"date_time\":{timestamp},\"extra\":\"\"}}"
            );
            producer.send(Record {
                topic,
                partition: i32::try_from(partition).ok(),
                key: &id.to_be_bytes(),
                value: value.as_bytes(),
                timestamp,
            })?;
        }
    }
    producer.flush()
}
