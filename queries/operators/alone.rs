//! For the tests of one operator: rows in, rows out, without an engine.

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use timely::dataflow::operators::probe;
use timely::worker::Worker;

use super::environment::Sink;
use super::{Counters, Environment};

/// An environment that has no text, no files, and no time.
pub(crate) fn environment() -> Environment {
    Environment {
        texts: Arc::default(),
        counters: Arc::new(Counters::new()),
        sink: Sink::Count,
        probe: probe::Handle::new(),
        clock: Rc::new(|| 0),
        files: Rc::new(|| Err("no files".to_owned())),
        fail: Rc::new(|reason| panic!("{reason}")),
    }
}

/// What so many workers put out together, sorted.
pub(crate) fn run<O: Ord + Send + 'static>(
    workers: usize,
    work: impl Fn(&mut Worker, &Arc<Mutex<Vec<O>>>) + Send + Sync + 'static,
) -> Vec<O> {
    let out = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&out);
    let guards = timely::execute(timely::Config::process(workers), move |worker| work(worker, &shared));
    guards.expect("workers").join().into_iter().for_each(|worker| worker.expect("no panic"));
    let mut out = std::mem::take(&mut *out.lock().expect("no panic"));
    out.sort_unstable();
    out
}
