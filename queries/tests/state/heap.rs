//! Runs a dataflow on one worker, step by step, and reads the state gauge and the heap between the steps.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nexmark_queries::Query;
use nexmark_queries::block::Block;
use nexmark_queries::generator::{Generator, Options};
use nexmark_queries::operators::environment::Sink;
use nexmark_queries::operators::partitioned_files::PartitionedFiles;
use nexmark_queries::operators::{Counters, Environment, time};
use timely::dataflow::operators::probe;
use timely::dataflow::operators::vec::Input;

use crate::HEAP;

static ALONE: Mutex<()> = Mutex::new(());

/// Held by whoever uses much memory: the heap is that of the whole process.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

const BLOCK_EVENTS: u64 = 1000;
const WATERMARK_DELAY_MS: i64 = 4000;

/// Sizes after some events, bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// Events that the dataflow has taken in.
    pub(crate) events: u64,
    /// What the state gauges tell.
    pub(crate) gauge: u64,
    /// Heap since before the dataflow was built.
    pub(crate) heap: u64,
    /// The most that the heap was since the reading before.
    pub(crate) heap_max: u64,
}

/// Readings every `step` events. The input does not end, so nothing is let go that a stream without an end would keep.
pub(crate) fn readings(query: &'static Query, options: &Options, step: u64, steps: u64) -> Vec<Reading> {
    let _alone = alone();
    let generator = Generator::new(options.clone()).expect("options in range");
    timely::execute_directly(move |worker| {
        let mut readings = Vec::with_capacity(steps as usize);
        let heap_before = HEAP.current_usage();
        let heap = |usage: usize| usage.saturating_sub(heap_before) as u64;
        let counters = Arc::new(Counters::new());
        let environment = environment(&generator, &counters);
        let mut input = worker.dataflow(|scope| {
            let (input, blocks) = scope.new_input();
            (query.dataflow)(blocks, &environment);
            input
        });
        let mut date_time_max = time::NEVER;
        for number in 1..=steps * step / BLOCK_EVENTS {
            let mut block = Block::default();
            generator.fill((number - 1) * BLOCK_EVENTS..number * BLOCK_EVENTS, &mut block);
            date_time_max = date_time_max.max(block.date_time_max().expect("an event"));
            input.send(Rc::new(block));
            input.advance_to(time::stamp(date_time_max - WATERMARK_DELAY_MS, number));
            worker.step_while(|| environment.probe.less_than(input.time()));
            if (number * BLOCK_EVENTS).is_multiple_of(step) {
                // What reached the sink last may still wait for its memory to be taken back.
                for _settle in 0..3 {
                    worker.step();
                }
                readings.push(Reading {
                    events: number * BLOCK_EVENTS,
                    gauge: counters.state_bytes.load(Ordering::Relaxed),
                    heap: heap(HEAP.current_usage()),
                    heap_max: heap(HEAP.peak_usage()),
                });
                HEAP.reset_peak_usage();
            }
        }
        readings
    })
}

fn environment(generator: &Generator, counters: &Arc<Counters>) -> Environment {
    Environment {
        texts: Arc::clone(generator.texts()),
        counters: Arc::clone(counters),
        sink: Sink::Count,
        probe: probe::Handle::new(),
        clock: Rc::new(|| 0),
        files: Rc::new(|| Ok(Box::new(Buffers::default()))),
        fail: Rc::new(|message| panic!("{message}")),
    }
}

/// Files that are all buffer: what is open stands in memory, what is finished is gone.
#[derive(Default)]
struct Buffers(BTreeMap<String, Vec<u8>>);

impl PartitionedFiles for Buffers {
    fn append(&mut self, partition: &str, lines: &[u8]) -> Result<(), String> {
        self.0.entry(partition.to_owned()).or_default().extend_from_slice(lines);
        Ok(())
    }

    fn finish(&mut self, partition: &str) -> Result<(), String> {
        self.0.remove(partition);
        Ok(())
    }

    fn finish_all(&mut self) -> Result<Vec<String>, String> {
        self.0.clear();
        Ok(Vec::new())
    }

    fn read(&self, partition: &str) -> Result<Box<dyn BufRead>, String> {
        Err(format!("{partition} is gone"))
    }

    fn buffered_bytes(&self) -> usize {
        self.0.values().map(Vec::capacity).sum()
    }
}
