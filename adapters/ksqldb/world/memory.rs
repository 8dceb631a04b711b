//! The Kafka of a world.

use nexmark_driver::engine::EngineError;

use super::{Entry, Fate, Shared, Topic};
use crate::kafka::{Ends, Kafka, NewTopic, Partition, Producer, Read, Record};

pub(super) struct Memory(pub(super) Shared);

/// Time of the first record that is past the end of the recorded events, epoch ms.
const PAST: i64 = 1_795_917_600_000 + 60_000;

impl Kafka for Memory {
    fn describe(&self) -> Result<String, EngineError> {
        Ok("cluster q0RZ5y1kQ0m8mZ5l8yqk1A, 1 brokers: memory:1".to_owned())
    }

    fn topics(&self) -> Result<Vec<(String, u32)>, EngineError> {
        let world = self.0.lock();
        Ok(world.topics.iter().map(|(name, topic)| (name.clone(), topic.partitions.len() as u32)).collect())
    }

    fn groups(&self) -> Result<Vec<String>, EngineError> {
        Ok(self.0.lock().groups.keys().cloned().collect())
    }

    fn create(&self, topics: &[NewTopic<'_>]) -> Result<(), EngineError> {
        let mut world = self.0.lock();
        for topic in topics {
            let partitions = (0..topic.partitions).map(|_| Vec::new()).collect();
            let made = Topic { partitions, kept_for_ever: true };
            if world.topics.insert(topic.name.to_owned(), made).is_some() {
                return Err(EngineError::new(format!("topic {} is there", topic.name)));
            }
        }
        Ok(())
    }

    fn keep_records(&self, topic: &str) -> Result<(), EngineError> {
        self.0.lock().topics.get_mut(topic).unwrap().kept_for_ever = true;
        Ok(())
    }

    fn delete(&self, topics: &[String]) -> Result<(), EngineError> {
        let mut world = self.0.lock();
        topics.iter().for_each(|topic| drop(world.topics.remove(topic)));
        Ok(())
    }

    fn delete_groups(&self, groups: &[String]) -> Result<(), EngineError> {
        let mut world = self.0.lock();
        groups.iter().for_each(|group| drop(world.groups.remove(group)));
        Ok(())
    }

    fn committed(&self, group: &str, partitions: &[Partition]) -> Result<Vec<Option<i64>>, EngineError> {
        let mut world = self.0.lock();
        world.work();
        let committed = world.groups.get(group);
        Ok(partitions.iter().map(|partition| committed?.get(partition).copied()).collect())
    }

    fn ends(&self, partitions: &[Partition]) -> Result<Vec<Ends>, EngineError> {
        let world = self.0.lock();
        let records = |partition: &Partition| {
            world.topics[&partition.topic].partitions[partition.number as usize].len()
        };
        Ok(partitions.iter().map(|partition| Ends { low: 0, high: records(partition) as i64 }).collect())
    }

    fn read(
        &self,
        partition: &Partition,
        ends: Ends,
        take: &mut dyn FnMut(Read<'_>) -> bool,
    ) -> Result<(), EngineError> {
        let world = self.0.lock();
        let records = &world.topics[&partition.topic].partitions[partition.number as usize];
        for (key, value, _) in &records[ends.low as usize..ends.high as usize] {
            if !take((key.as_deref(), value.as_deref())) {
                break;
            }
        }
        Ok(())
    }

    fn producer(&self) -> Result<Box<dyn Producer>, EngineError> {
        Ok(Box::new(Writer { world: self.0.clone(), sent: 0, flushes: false }))
    }

    fn check_transactions(&self, _id: &str) -> Result<(), EngineError> {
        Ok(())
    }
}

struct Writer {
    world: Shared,
    sent: u64,
    flushes: bool,
}

impl Producer for Writer {
    fn send(&mut self, record: Record<'_>) -> Result<(), EngineError> {
        let mut world = self.world.lock();
        if world.fate == Fate::FeedFails && self.sent >= 3_000 {
            return Err(EngineError::new(format!(
                "Kafka acknowledged {} of 6000 records: broker down",
                self.sent
            )));
        }
        self.flushes |= record.timestamp > PAST;
        let partitions = &mut world.topics.get_mut(record.topic).unwrap().partitions;
        let number = record.partition.map_or_else(
            || record.key.iter().map(|byte| usize::from(*byte)).sum::<usize>() % partitions.len(),
            |number| number as usize,
        );
        let entry: Entry = (Some(record.key.to_vec()), Some(record.value.to_vec()), record.timestamp);
        partitions[number].push(entry);
        self.sent += 1;
        Ok(())
    }

    fn acknowledged(&self) -> u64 {
        self.sent
    }

    fn flush(&mut self) -> Result<(), EngineError> {
        self.world.lock().flushes += u64::from(self.flushes);
        Ok(())
    }
}
