//! The workers of one job: threads that build the dataflow and step it until it is done or told to stop. They stay alive
//! until the job is stopped, so that what they spent can be read from the system after the end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nexmark_driver::engine::{EngineError, Job, Output};
use nexmark_queries::operators::environment::{GatheredRows, Sink};
use nexmark_queries::operators::partitioned_files::PartitionedFiles;
use nexmark_queries::operators::{Counters, Environment, Time};
use nexmark_queries::query::Dataflow;
use timely::CommunicationConfig;
use timely::WorkerConfig;
use timely::communication::{Allocator, WorkerGuards, initialize_from};
use timely::dataflow::operators::probe;
use timely::worker::Worker;
use tokio::sync::Notify;

use crate::feed::Feed;
use crate::files::RunDirectory;
use crate::source::source;

/// Begin of the name of every worker's thread; the system cuts names at 15 bytes.
pub(crate) const THREAD_NAME: &str = "nexmark-worker";
/// How long an idle worker sleeps before it looks whether it is to stop.
const IDLE: Duration = Duration::from_millis(10);

/// What the workers of a job and the engine share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) feed: Feed,
    pub(crate) blocks_ahead: usize,
    pub(crate) watermark_delay_ms: u64,
    pub(crate) counters: Vec<Arc<Counters>>,
    pub(crate) changed: Notify,
    /// Whether a digest of the answer is kept.
    pub(crate) takes_digest: bool,
    query: &'static str,
    memory_budget_bytes: Option<u64>,
    started: OnceLock<Instant>,
    warmup_ended: OnceLock<Instant>,
    ended: OnceLock<Instant>,
    ended_workers: AtomicUsize,
    stop: AtomicBool,
    failure: Mutex<Option<String>>,
    released: Mutex<bool>,
    release: Condvar,
}

/// The running workers of one job.
pub(crate) struct Cluster {
    pub(crate) shared: Arc<Shared>,
    pub(crate) gathered: GatheredRows,
    pub(crate) directory: Arc<RunDirectory>,
    threads: Option<WorkerGuards<()>>,
}

/// What each worker is started with.
#[derive(Clone)]
struct Plan {
    dataflow: Dataflow,
    sink: Sink,
    directory: Arc<RunDirectory>,
    pinning: bool,
}

impl Shared {
    pub(crate) fn new(job: &Job, feed: Feed, blocks_ahead: usize) -> Self {
        Self {
            feed,
            blocks_ahead,
            watermark_delay_ms: job.watermark_delay_ms,
            counters: (0..job.workers).map(|_worker| Arc::new(Counters::new())).collect(),
            changed: Notify::new(),
            takes_digest: job.output != Output::Count,
            query: job.query.name,
            memory_budget_bytes: job.memory_budget_bytes,
            started: OnceLock::new(),
            warmup_ended: OnceLock::new(),
            ended: OnceLock::new(),
            ended_workers: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            failure: Mutex::new(None),
            released: Mutex::new(false),
            release: Condvar::new(),
        }
    }

    /// Time since the first source asked for events; the schedule begins then. The driver is woken, since the costs of the
    /// measured phase may count from there.
    pub(crate) fn elapsed(&self) -> Duration {
        let started = self.started.get_or_init(|| {
            self.changed.notify_one();
            Instant::now()
        });
        started.elapsed()
    }

    /// Notes that the next event to be generated is the first one after the warm-up.
    pub(crate) fn end_warmup(&self) {
        self.warmup_ended.get_or_init(Instant::now);
        self.changed.notify_one();
    }

    /// The moment at which all events of the warm-up had been dealt.
    pub(crate) fn warmup_ended(&self) -> Option<Instant> {
        self.warmup_ended.get().copied()
    }

    pub(crate) fn started(&self) -> Option<Instant> {
        self.started.get().copied()
    }

    /// The moment at which the last worker had finished everything.
    pub(crate) fn ended(&self) -> Option<Instant> {
        self.ended.get().copied()
    }

    pub(crate) fn failure(&self) -> Option<String> {
        lock(&self.failure).clone()
    }

    /// Ends the job as failed if its state is over the budget.
    pub(crate) fn check_budget(&self) {
        let Some(budget) = self.memory_budget_bytes else { return };
        let bytes = self.state_bytes();
        if bytes > budget {
            self.fail(format!(
                "state over its budget: {} holds {bytes} bytes, allowed are {budget} bytes",
                self.query
            ));
        }
    }

    pub(crate) fn state_bytes(&self) -> u64 {
        let bytes = self.counters.iter().map(|counters| counters.state_bytes.load(Ordering::Relaxed));
        // Workers' gauges are read one after the other, so a sum may be off for a moment, but not below zero.
        bytes.fold(0, u64::wrapping_add)
    }

    fn fail(&self, message: String) {
        lock(&self.failure).get_or_insert(message);
        self.stop.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }

    fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn worker_ended(&self) {
        if self.ended_workers.fetch_add(1, Ordering::AcqRel) + 1 == self.counters.len() {
            self.ended.get_or_init(Instant::now);
            self.changed.notify_one();
        }
    }

    /// Sleeps until the job is stopped.
    fn wait_for_release(&self) {
        let released = lock(&self.released);
        drop(self.release.wait_while(released, |released| !*released));
    }

    fn release(&self) {
        self.stop.store(true, Ordering::Relaxed);
        *lock(&self.released) = true;
        self.release.notify_all();
    }
}

/// The content is a plain value that is whole after every write, so a panic elsewhere does not spoil it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cluster {
    /// Starts the workers of a job.
    ///
    /// # Errors
    /// The system gives no threads.
    pub(crate) fn start(
        job: &Job,
        shared: Shared,
        directory: RunDirectory,
        pinning: bool,
    ) -> Result<Self, EngineError> {
        let gathered = GatheredRows::default();
        let sink = match job.output {
            Output::Count => Sink::Count,
            Output::Digest => Sink::Digest,
            Output::Rows => Sink::Rows(gathered.clone()),
        };
        let directory = Arc::new(directory);
        let plan = Plan { dataflow: job.query.dataflow, sink, directory: Arc::clone(&directory), pinning };
        let communication = match job.workers {
            1 => CommunicationConfig::Thread,
            workers => CommunicationConfig::Process(workers),
        };
        let (allocators, guard) = communication.try_build().map_err(EngineError::new)?;
        let shared = Arc::new(shared);
        let for_workers = Arc::clone(&shared);
        let run = move |allocator: Allocator| run_worker(allocator, &for_workers, &plan);
        let threads = initialize_from(allocators, guard, run)
            .map_err(|error| EngineError::new(format!("cannot start {} workers: {error}", job.workers)))?;
        Ok(Self { shared, gathered, directory, threads: Some(threads) })
    }

    /// Tells the workers to stop, waits for them, and removes their files.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub(crate) fn stop(&mut self) -> Result<(), EngineError> {
        self.shared.release();
        if let Some(threads) = self.threads.take() {
            // A panic was caught inside its thread and is the job's failure.
            drop(threads.join());
        }
        self.directory.remove().map_err(EngineError::new)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.shared.release();
    }
}

fn run_worker(allocator: Allocator, shared: &Arc<Shared>, plan: &Plan) {
    let index = allocator.index();
    set_thread_name(index);
    if plan.pinning {
        pin(index);
    }
    let result = catch_unwind(AssertUnwindSafe(|| step_worker(allocator, shared, plan)));
    match result {
        Ok(()) if !shared.stopping() => shared.worker_ended(),
        Ok(()) => {}
        Err(panic) => shared.fail(format!("worker {index} panicked: {}", panic_text(panic.as_ref()))),
    }
    shared.wait_for_release();
}

fn step_worker(allocator: Allocator, shared: &Arc<Shared>, plan: &Plan) {
    let index = allocator.index();
    // A worker with nothing to do polls its channels for a while before it sleeps, which is worth its while only where events
    // come as fast as they are taken.
    let config = WorkerConfig::default();
    let config = if shared.feed.is_paced() { config.idle_spin(Duration::ZERO) } else { config };
    let mut worker = Worker::new(config, allocator, Some(Instant::now()));
    let counters = Arc::clone(&shared.counters[index]);
    let environment = Environment {
        texts: Arc::clone(shared.feed.texts()),
        counters: Arc::clone(&counters),
        sink: plan.sink.clone(),
        probe: probe::Handle::new(),
        clock: Rc::new(epoch_ms),
        files: {
            let directory = Arc::clone(&plan.directory);
            Rc::new(move || {
                let files: Box<dyn PartitionedFiles> = Box::new(directory.files(index)?);
                Ok(files)
            })
        },
        fail: {
            let shared = Arc::clone(shared);
            Rc::new(move |message| shared.fail(message))
        },
    };
    worker.dataflow::<Time, _, _>(|scope| {
        let blocks = source(scope, Arc::clone(shared), counters, environment.probe.clone());
        (plan.dataflow)(blocks, &environment);
    });
    while worker.has_dataflows() && !shared.stopping() {
        worker.step_or_park(Some(IDLE));
    }
    // What is left is dropped with the worker, without firing a window.
}

/// The driver finds the workers' threads by their names.
fn set_thread_name(index: usize) {
    if let Ok(name) = std::ffi::CString::new(format!("{THREAD_NAME}{index}")) {
        // The system cuts what is too long, and nothing else can fail.
        let _ = rustix::thread::set_name(&name);
    }
}

/// Keeps the calling thread to the `index`-th of the processors that it may use. Only a hint: without the right to, or with
/// fewer processors than workers, threads run where the system puts them.
pub fn pin(index: usize) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let processors = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).nth(index);
    if let Some(processor) = processors {
        let mut one = CpuSet::new();
        one.set(processor);
        let _ = sched_setaffinity(None, &one);
    }
}

fn epoch_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}
