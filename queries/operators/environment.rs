//! What a dataflow runs in: the text of the stream, its counters, its sink. One for each worker.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use timely::dataflow::operators::probe;

use super::Time;
use super::partitioned_files::PartitionedFiles;
use crate::answer::{Digest, Row};
use crate::event::Texts;

/// Cumulative counters of one worker. Only that worker writes them; anyone may read them at any time.
#[derive(Debug)]
#[repr(align(128))]
pub struct Counters {
    /// Events generated.
    pub events_in: AtomicU64,
    /// Rows handed to the sink.
    pub rows_out: AtomicU64,
    /// Rows dropped since they came after the watermark.
    pub late_rows: AtomicU64,
    /// Size of the state of all operators, bytes.
    pub state_bytes: AtomicU64,
    /// Watermark of the source, epoch ms.
    pub watermark_ms: AtomicI64,
    digest_rows: AtomicI64,
    digest_sum: AtomicU64,
}

impl Counters {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Self {
            events_in: AtomicU64::new(0),
            rows_out: AtomicU64::new(0),
            late_rows: AtomicU64::new(0),
            state_bytes: AtomicU64::new(0),
            watermark_ms: AtomicI64::new(super::time::NEVER),
            digest_rows: AtomicI64::new(0),
            digest_sum: AtomicU64::new(0),
        }
    }

    /// Digest of the rows so far.
    pub fn digest(&self) -> Digest {
        Digest {
            rows: self.digest_rows.load(Ordering::Relaxed),
            sum: self.digest_sum.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn set_digest(&self, digest: Digest) {
        self.digest_rows.store(digest.rows, Ordering::Relaxed);
        self.digest_sum.store(digest.sum, Ordering::Relaxed);
    }

    /// Adds to a counter that only the calling worker writes.
    pub fn add(counter: &AtomicU64, more: u64) {
        counter.store(counter.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
    }
}

impl Default for Counters {
    fn default() -> Self {
        Self::new()
    }
}

/// Rows of an answer with their differences, gathered from all workers.
pub type GatheredRows = Arc<Mutex<Vec<(Row, i64)>>>;

/// What happens to the rows of a dataflow.
#[derive(Clone, Debug)]
pub enum Sink {
    /// They are counted.
    Count,
    /// Their digest is kept.
    Digest,
    /// They are gathered; the digest is kept, too.
    Rows(GatheredRows),
}

/// What a dataflow runs in.
#[derive(Clone)]
pub struct Environment {
    /// Text of the stream.
    pub texts: Arc<Texts>,
    /// Counters of this worker.
    pub counters: Arc<Counters>,
    /// Where rows go.
    pub sink: Sink,
    /// Follows what has reached the sink.
    pub probe: probe::Handle<Time>,
    /// Processing time, epoch ms.
    pub clock: Rc<dyn Fn() -> i64>,
    /// Files for a dataflow that writes some; the error says why there are none.
    pub files: Rc<dyn Fn() -> Result<Box<dyn PartitionedFiles>, String>>,
    /// Ends the job as failed, for the reason given. The dataflow may be stepped a little longer.
    pub fail: Rc<dyn Fn(String)>,
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("sink", &self.sink).finish_non_exhaustive()
    }
}

impl Environment {
    /// A gauge for the state of one operator.
    pub fn state_gauge(&self) -> StateGauge {
        StateGauge { counters: Arc::clone(&self.counters), bytes: Cell::new(0) }
    }

    /// Counts rows that came after the watermark.
    pub fn count_late(&self, rows: u64) {
        if rows > 0 {
            Counters::add(&self.counters.late_rows, rows);
        }
    }
}

/// Size of one operator's state, part of [`Counters::state_bytes`].
#[derive(Debug)]
pub struct StateGauge {
    counters: Arc<Counters>,
    bytes: Cell<u64>,
}

impl StateGauge {
    /// Sets the size, bytes.
    pub fn set(&self, bytes: usize) {
        let bytes = bytes as u64;
        let before = self.bytes.replace(bytes);
        if bytes != before {
            Counters::add(&self.counters.state_bytes, bytes.wrapping_sub(before));
        }
    }
}
