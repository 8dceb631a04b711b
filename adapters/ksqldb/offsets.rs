//! How far the queries of a run are: what their consumer groups have committed against the ends of the topics that they read.
//! An offset is committed only after what follows from it is written, so that a lag of 0 everywhere means that all is done.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use nexmark_driver::engine::EngineError;

use crate::kafka::{Ends, Kafka, Partition};

/// The consumer group of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) id: String,
    /// Topics that it reads; those that are its own lack its id.
    pub(crate) topics: Vec<String>,
}

/// What is watched of a run.
pub(crate) struct Offsets {
    kafka: Arc<dyn Kafka>,
    groups: Vec<Group>,
    /// Topics of events that a group reads.
    inputs: Vec<String>,
    sink: String,
    /// Records that a query may never take from a partition of a topic that queries have written: under exactly-once the last
    /// one can be the mark of a transaction.
    marks_max: i64,
    /// Partitions that each group reads, once all its topics are there.
    resolved: Option<Vec<Vec<Partition>>>,
    sink_partitions: Vec<Partition>,
}

/// Counters at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) at: Instant,
    /// Records of events that every group that reads them has taken.
    pub(crate) consumed: u64,
    /// Records of events that there are in those topics.
    pub(crate) available: u64,
    /// Records that are not taken, internal topics included; `None` while it is not known.
    pub(crate) lag: Option<u64>,
    /// Why the lag is not known or not 0.
    pub(crate) waits_for: Option<String>,
    /// Records of the sink.
    pub(crate) rows: u64,
}

impl Offsets {
    pub(crate) fn new(
        kafka: Arc<dyn Kafka>,
        groups: Vec<Group>,
        events: &[String],
        sink: &str,
        exactly_once: bool,
    ) -> Self {
        let read: HashSet<&String> = groups.iter().flat_map(|group| &group.topics).collect();
        Self {
            inputs: events.iter().filter(|topic| read.contains(topic)).cloned().collect(),
            kafka,
            groups,
            sink: sink.to_owned(),
            marks_max: if exactly_once { 1 } else { 0 },
            resolved: None,
            sink_partitions: Vec::new(),
        }
    }

    /// Reads the counters. Blocks.
    ///
    /// # Errors
    /// Kafka does not answer.
    pub(crate) fn sample(&mut self) -> Result<Sample, EngineError> {
        if let Some(missing) = self.resolve()? {
            let waits_for = Some(format!("topic {missing}"));
            let (consumed, available) = (0, 0);
            return Ok(Sample { at: Instant::now(), consumed, available, lag: None, waits_for, rows: 0 });
        }
        let read = self.resolved.as_deref().unwrap_or_default();
        // Commits first: what was written before them is then below the ends.
        let mut committed = Vec::new();
        for (group, partitions) in self.groups.iter().zip(read) {
            committed.push(self.kafka.committed(&group.id, partitions)?);
        }
        let at = Instant::now();
        let mut known = HashMap::<&Partition, Ends>::new();
        for partitions in read.iter().chain([&self.sink_partitions]) {
            let unknown: Vec<Partition> =
                partitions.iter().filter(|partition| !known.contains_key(partition)).cloned().collect();
            let ends = self.kafka.ends(&unknown)?;
            for partition in partitions {
                if let Some(at) = unknown.iter().position(|other| other == partition) {
                    known.insert(partition, ends[at]);
                }
            }
        }
        let mut lag = Some(0);
        let mut waits_for = None;
        for ((group, partitions), committed) in self.groups.iter().zip(read).zip(&committed) {
            for (partition, committed) in partitions.iter().zip(committed) {
                let behind = self.behind(partition, *committed, known[partition]);
                if behind != Some(0) && waits_for.is_none() {
                    let Partition { topic, number } = partition;
                    let behind = behind.map_or_else(|| "a number of".to_owned(), |behind| behind.to_string());
                    waits_for =
                        Some(format!("{behind} records of topic {topic}/{number} in group {}", group.id));
                }
                lag = lag.zip(behind).map(|(lag, behind)| lag + behind);
            }
        }
        let inputs = self.inputs.iter().map(|topic| taken(topic, read, &committed, &known));
        let (consumed, available) = inputs.fold((0, 0), |sum, (taken, there)| (sum.0 + taken, sum.1 + there));
        let rows = self.sink_partitions.iter().map(|partition| count(known[partition])).sum();
        Ok(Sample { at, consumed, available, lag, waits_for, rows })
    }

    /// Finds the partitions of every topic; returns the name of a topic that is not there yet.
    fn resolve(&mut self) -> Result<Option<String>, EngineError> {
        if self.resolved.is_some() {
            return Ok(None);
        }
        let topics: HashMap<String, u32> = self.kafka.topics()?.into_iter().collect();
        let mut resolved = Vec::new();
        for group in &self.groups {
            let mut read = Vec::new();
            for topic in &group.topics {
                let own = format!("{}-{topic}", group.id);
                let name = if topics.contains_key(topic) { topic } else { &own };
                match partitions(name, &topics) {
                    Some(found) => read.extend(found),
                    None => return Ok(Some(name.clone())),
                }
            }
            resolved.push(read);
        }
        let Some(sink) = partitions(&self.sink, &topics) else { return Ok(Some(self.sink.clone())) };
        self.sink_partitions = sink;
        self.resolved = Some(resolved);
        Ok(None)
    }

    /// Records of a partition that a group has not taken; `None` while it has committed nothing and there is something.
    fn behind(&self, partition: &Partition, committed: Option<i64>, ends: Ends) -> Option<u64> {
        let behind = match committed {
            Some(committed) => ends.high - committed,
            None if ends.high == ends.low => 0,
            None => return None,
        };
        let allowed = if self.inputs.contains(&partition.topic) { 0 } else { self.marks_max };
        Some(if behind <= allowed { 0 } else { behind.unsigned_abs() })
    }
}

/// Records of a topic of events that every group that reads it has taken, and those that there are.
fn taken(
    topic: &str,
    read: &[Vec<Partition>],
    committed: &[Vec<Option<i64>>],
    known: &HashMap<&Partition, Ends>,
) -> (u64, u64) {
    let mut least = None;
    let mut there = 0;
    for (partitions, committed) in read.iter().zip(committed) {
        let of_topic = partitions.iter().zip(committed).filter(|(partition, _)| partition.topic == topic);
        let of_topic: Vec<(&Partition, &Option<i64>)> = of_topic.collect();
        if of_topic.is_empty() {
            continue;
        }
        there = of_topic.iter().map(|(partition, _)| count(known[partition])).sum();
        let sum: i64 = of_topic.iter().map(|(_, committed)| committed.unwrap_or(0)).sum();
        let sum = u64::try_from(sum).unwrap_or(0);
        least = Some(least.map_or(sum, |least: u64| least.min(sum)));
    }
    (least.unwrap_or(0), there)
}

fn count(ends: Ends) -> u64 {
    u64::try_from(ends.high - ends.low).unwrap_or(0)
}

/// Every partition of a topic, if there is such a topic.
pub(crate) fn partitions(topic: &str, topics: &HashMap<String, u32>) -> Option<Vec<Partition>> {
    let number = i32::try_from(*topics.get(topic)?).ok()?;
    Some((0..number).map(|number| Partition { topic: topic.to_owned(), number }).collect())
}
