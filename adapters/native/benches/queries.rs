//! Speed of every query as whole runs of the engine: whole events made in the loop, default options. Prints a table of the
//! medians; the speed-up is over the first number of workers. Each run has a process of its own, as a run of the command has:
//! in one process a run keeps what the one before has freed. Right before it, as much memory is used and freed: a virtual
//! machine takes back what is free and hands it out again at a price that varies more than all else. The table tells how far
//! apart the first two processors are: a virtual machine's may share a cache now and not a minute later, which costs queries
//! that move many rows between workers up to a fifth of their speed.
//!
//! `cargo bench -p nexmark-native --bench queries -- [--events N] [--runs K] [--workers W,…] [--set NAME=VALUE]
//! [--engine KEY=VALUE] [QUERY…]`

#![expect(clippy::print_stdout, reason = "the table is what this program is for")]

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nexmark_driver::config::{Key, Settings};
use nexmark_driver::engine::{Input, Job, JobState, Output};
use nexmark_driver::pace::Schedule;
use nexmark_queries::generator::Options;
use nexmark_queries::{ALL, Query};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The option by which this program starts itself for one run.
const ALONE: &str = "--alone";
/// The option by which it starts itself to use so many bytes of memory.
const WARM: &str = "--warm";

struct Arguments {
    events: u64,
    runs: usize,
    workers: Vec<usize>,
    queries: Vec<&'static Query>,
    options: Options,
    settings: Settings,
    /// The words of `options` and `settings`.
    configuration: Vec<String>,
    /// Whether to measure one run and to print it as JSON.
    alone: bool,
    /// Bytes of memory to use, and nothing else.
    warm: Option<usize>,
}

/// What a run tells the process that started it.
#[derive(Serialize, Deserialize)]
struct Measured {
    seconds: f64,
    cpu_seconds: f64,
    state_bytes_max: u64,
    resident_bytes_max: u64,
    hand_over_ns: Option<u32>,
}

fn main() {
    let arguments = arguments();
    if arguments.alone {
        let measured = measure(arguments.queries[0], arguments.workers[0], &arguments);
        return println!("{}", serde_json::to_string(&measured).expect("numbers"));
    }
    if let Some(bytes) = arguments.warm {
        return drop(std::hint::black_box(vec![1_u8; bytes]));
    }
    println!(
        "{:<5} {:>7} {:>12} {:>12} {:>12} {:>9} {:>8} {:>10} {:>9} {:>9}",
        "query",
        "workers",
        "events/s",
        "least",
        "per core",
        "cores",
        "speed-up",
        "state MB",
        "rss MB",
        "apart ns"
    );
    for query in &arguments.queries {
        // In turn, so that what the machine does meanwhile meets every number of workers.
        let mut runs: Vec<Vec<Measured>> = arguments.workers.iter().map(|_workers| Vec::new()).collect();
        // Tells how much memory to warm.
        let mut resident_bytes_max =
            measure_alone(query, arguments.workers[0], &arguments, 0).resident_bytes_max;
        for _round in 0..arguments.runs {
            for (runs, workers) in runs.iter_mut().zip(&arguments.workers) {
                let measured = measure_alone(query, *workers, &arguments, resident_bytes_max);
                resident_bytes_max = resident_bytes_max.max(measured.resident_bytes_max);
                runs.push(measured);
            }
        }
        let mut first_seconds = None;
        for (runs, workers) in runs.iter_mut().zip(&arguments.workers) {
            runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
            let median = &runs[runs.len() / 2];
            let events = arguments.events as f64;
            println!(
                "{:<5} {:>7} {:>12.0} {:>12.0} {:>12.0} {:>9.2} {:>8.2} {:>10.1} {:>9.1} {:>9}",
                query.name,
                workers,
                events / median.seconds,
                events / runs[runs.len() - 1].seconds,
                events / median.cpu_seconds,
                median.cpu_seconds / median.seconds,
                *first_seconds.get_or_insert(median.seconds) / median.seconds,
                median.state_bytes_max as f64 / 1e6,
                median.resident_bytes_max as f64 / 1e6,
                median.hand_over_ns.map_or_else(|| "n/a".to_owned(), |ns| ns.to_string()),
            );
        }
    }
}

fn arguments() -> Arguments {
    let mut parsed = Arguments {
        events: 20_000_000,
        runs: 3,
        workers: vec![1, 2],
        queries: Vec::new(),
        options: Options::default(),
        settings: Settings::defaults(nexmark_native::FACTORY.keys),
        configuration: Vec::new(),
        alone: false,
        warm: None,
    };
    // `cargo bench` adds `--bench`.
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap_or_else(|| panic!("{word} needs a value"));
        match word.as_str() {
            "--events" => parsed.events = value().parse().expect("--events is a number"),
            "--runs" => parsed.runs = value().parse().expect("--runs is a number"),
            "--workers" => {
                parsed.workers =
                    value().split(',').map(|n| n.parse().expect("--workers are numbers")).collect();
            }
            ALONE => parsed.alone = true,
            WARM => parsed.warm = Some(value().parse().expect("a number of bytes")),
            "--set" => {
                let pair = value();
                parsed.configuration.extend([word, pair.clone()]);
                let (name, value) = pair.split_once('=').expect("--set is NAME=VALUE");
                parsed.options.set(name, value).unwrap_or_else(|error| panic!("{error}"));
            }
            "--engine" => {
                let pair = value();
                parsed.configuration.extend([word, pair.clone()]);
                let (name, value) = pair.split_once('=').expect("--engine is KEY=VALUE");
                let keys = nexmark_native::FACTORY.keys.iter().copied();
                let keys = keys.map(|key| {
                    if key.name == name { Key { default: value.to_owned().leak(), ..key } } else { key }
                });
                parsed.settings = Settings::defaults(keys.collect::<Vec<_>>().leak());
            }
            name => parsed.queries.push(
                nexmark_queries::find(name).unwrap_or_else(|| panic!("{name} is no query and no option")),
            ),
        }
    }
    if parsed.queries.is_empty() {
        parsed.queries = ALL.to_vec();
    }
    parsed
}

/// A run in a process of its own, for which so much memory is made warm.
fn measure_alone(query: &Query, workers: usize, arguments: &Arguments, warm_bytes: u64) -> Measured {
    let program = std::env::current_exe().expect("the path of this program");
    let warmed = Command::new(&program).args([WARM, &warm_bytes.to_string()]).status();
    assert!(warmed.expect("this program starts once more").success(), "{warm_bytes} bytes of memory");
    let run = Command::new(program)
        .args([
            ALONE,
            "--events",
            &arguments.events.to_string(),
            "--workers",
            &workers.to_string(),
            query.name,
        ])
        .args(&arguments.configuration)
        .stderr(Stdio::inherit())
        .output()
        .expect("this program starts once more");
    assert!(run.status.success(), "{} with {workers} workers: {}", query.name, run.status);
    serde_json::from_slice(&run.stdout).expect("what a run prints")
}

fn measure(query: &'static Query, workers: usize, arguments: &Arguments) -> Measured {
    let job = Job {
        name: format!("bench-{}", query.name),
        query,
        input: Input::Generated(arguments.options.clone()),
        events: Some(arguments.events),
        warmup_events: 0,
        schedule: Schedule::Unlimited,
        watermark_delay_ms: 4000,
        workers,
        output: Output::Count,
        memory_budget_bytes: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let hand_over_ns = hand_over_ns();
    runtime.block_on(async {
        let mut engine = (nexmark_native::FACTORY.create)(&arguments.settings).expect("an engine");
        engine.submit(&job).await.expect("the job is accepted");
        let cpu_before = cpu_seconds();
        let submitted = Instant::now();
        let mut state_bytes_max = 0;
        let progress = loop {
            let progress = engine.poll().await.expect("a poll");
            state_bytes_max = state_bytes_max.max(progress.state_bytes.unwrap_or(0));
            match progress.state {
                JobState::Finished => break progress,
                JobState::Starting | JobState::Running => engine.changed(Duration::from_millis(100)).await,
                state => panic!("{}: {state:?}", job.name),
            }
        };
        let cpu_seconds = cpu_seconds() - cpu_before;
        let seconds = (progress.at - progress.first_event_at.unwrap_or(submitted)).as_secs_f64();
        assert_eq!(progress.events_in, Some(arguments.events), "{}", job.name);
        let resident_bytes_max = resident_bytes_max();
        engine.stop().await.expect("the job stops");
        Measured { seconds, cpu_seconds, state_bytes_max, resident_bytes_max, hand_over_ns }
    })
}

/// Time that a word takes from the first processor to the second, ns; `None` where there is one.
fn hand_over_ns() -> Option<u32> {
    const ROUNDS: u32 = 50_000;
    if std::thread::available_parallelism().is_ok_and(|processors| processors.get() < 2) {
        return None;
    }
    let word = AtomicU32::new(0);
    // Two threads that write in turn.
    let write = |processor: u32| {
        nexmark_native::pin(processor as usize);
        for number in (processor..2 * ROUNDS).step_by(2) {
            while word.load(Ordering::Acquire) != number {
                std::hint::spin_loop();
            }
            word.store(number + 1, Ordering::Release);
        }
    };
    let started = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| write(0));
        scope.spawn(|| write(1));
    });
    u32::try_from((started.elapsed() / (2 * ROUNDS)).as_nanos()).ok()
}

/// CPU time of this process; beside the workers only the loop above runs, ten times a second.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Highest resident memory of this process so far.
fn resident_bytes_max() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let highest = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = highest.and_then(|value| value.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
