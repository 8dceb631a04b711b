//! Bids as lines of files: each worker writes its own file in each partition. The answer is what the files hold, so where
//! rows are looked at, they are read back from the files at the end; where they are only counted, each counts as written.

use std::io::BufRead;
use std::rc::Rc;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::Operator;

use super::line::{self, Record};
use super::partition::{MS_PER_MINUTE, Partition};
use crate::answer::{Columns, Output};
use crate::block::Bids;
use crate::event::Texts;
use crate::operators::environment::Sink;
use crate::operators::held::Held;
use crate::operators::partitioned_files::PartitionedFiles;
use crate::operators::{Blocks, Environment, time};

/// Bytes of lines that are handed over at once.
const LINES_BYTES: usize = 64 * 1024;
/// Rows that are read back before the sink gets its turn.
const READ_ROWS: usize = 4096;

/// An output row: what was read back, or nothing where rows are only counted.
#[derive(Clone, Debug)]
struct Row(Option<Box<ReadBack>>);

#[derive(Clone, Debug)]
struct ReadBack {
    record: Record,
    partition: Rc<(String, String)>,
}

impl Output for Row {
    fn columns(&self, _texts: &Texts, columns: &mut dyn Columns) {
        let Some(row) = &self.0 else { return };
        let (dt, hm) = &*row.partition;
        columns.integer(row.record.auction);
        columns.integer(row.record.bidder);
        columns.integer(row.record.price);
        columns.time(row.record.date_time);
        columns.text(&row.record.extra);
        columns.text(dt);
        columns.text(hm);
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let fail = Rc::clone(&environment.fail);
    let files = match (environment.files)() {
        Ok(files) => Some(files),
        Err(message) => {
            fail(message);
            None
        }
    };
    let mut writer = Writer { texts: environment.texts.clone(), files, lines: Vec::new(), open: Vec::new() };
    let counts = matches!(environment.sink, Sink::Count);
    let gauge = environment.state_gauge();
    let scope = blocks.scope();
    let rows = blocks.unary_frontier::<CapacityContainerBuilder<Vec<Row>>, _, _, _>(
        Pipeline,
        "q10",
        move |_capability, info| {
            let activator = scope.activator_for(info.address);
            let mut held = Held::default();
            let mut reader = None;
            move |(input, frontier), output| {
                let result = (|| {
                    let mut written = Vec::new();
                    input.for_each(|capability, blocks| {
                        held.retain(&capability);
                        for block in blocks.drain(..) {
                            written.push(writer.write(&block.bids));
                            if counts {
                                let rows = block.bids.iter().map(|_bid| Row(None));
                                output.session(&capability).give_iterator(rows);
                            }
                        }
                    });
                    written.into_iter().collect::<Result<(), String>>()?;
                    let watermark = time::watermark(frontier.frontier());
                    writer.finish(watermark)?;
                    gauge.set(writer.buffered_bytes());
                    if watermark != time::END {
                        return Ok(false);
                    }
                    if reader.is_none() {
                        reader = Some(Reader::new(writer.finish_all()?));
                    }
                    let (Some(reader), Some(files), Some(capability), false) =
                        (&mut reader, &writer.files, held.get(), counts)
                    else {
                        return Ok(false);
                    };
                    let mut session = output.session(capability);
                    for _row in 0..READ_ROWS {
                        match reader.next(files.as_ref())? {
                            Some(row) => session.give(row),
                            None => return Ok(false),
                        }
                    }
                    Ok(true)
                })();
                let more = result.unwrap_or_else(|message: String| {
                    fail(message);
                    writer.files = None;
                    false
                });
                if more {
                    activator.activate();
                } else {
                    // The capability is kept up to the end: what is buffered is written before the dataflow is done.
                    held.advance(frontier.frontier(), true);
                }
            }
        },
    );
    environment.output(rows);
}

/// Writes bids to the files.
struct Writer {
    texts: std::sync::Arc<Texts>,
    /// None after a failure.
    files: Option<Box<dyn PartitionedFiles>>,
    /// Room for lines.
    lines: Vec<u8>,
    /// Partitions that were written to and not finished, the last one at the end.
    open: Vec<Partition>,
}

impl Writer {
    /// Writes some bids, runs of one partition together.
    fn write(&mut self, bids: &Bids) -> Result<(), String> {
        let Some(files) = &mut self.files else { return Ok(()) };
        let mut from = 0;
        while from < bids.len() {
            let minute = bids.date_time[from].div_euclid(MS_PER_MINUTE);
            open(&mut self.open, minute);
            let Some(partition) = self.open.last() else { return Ok(()) };
            let mut to = from;
            self.lines.clear();
            while to < bids.len() && self.lines.len() < LINES_BYTES && partition.holds(bids.date_time[to]) {
                let bid = bids.get(to);
                line::push(&bid, self.texts.get(bid.extra), &mut self.lines);
                to += 1;
            }
            files.append(partition.path(), &self.lines)?;
            from = to;
        }
        Ok(())
    }

    /// Finishes the partitions that the watermark has passed. A later bid would open its partition again.
    fn finish(&mut self, watermark: i64) -> Result<(), String> {
        let Some(files) = &mut self.files else { return Ok(()) };
        let mut result = Ok(());
        self.open.retain(|partition| {
            let passed = partition.end().is_some_and(|end| end <= watermark);
            if passed && result.is_ok() {
                result = files.finish(partition.path());
            }
            !passed
        });
        result
    }

    fn finish_all(&mut self) -> Result<Vec<String>, String> {
        self.open.clear();
        self.files.as_mut().map_or_else(|| Ok(Vec::new()), |files| files.finish_all())
    }

    fn buffered_bytes(&self) -> usize {
        self.files.as_ref().map_or(0, |files| files.buffered_bytes())
    }
}

/// Puts the partition of a minute at the end of those that are open.
#[inline]
fn open(partitions: &mut Vec<Partition>, minute: i64) {
    if partitions.last().is_some_and(|last| last.minute() == minute) {
        return;
    }
    match partitions.iter().rposition(|partition| partition.minute() == minute) {
        Some(index) => {
            let last = partitions.len() - 1;
            partitions.swap(index, last);
        }
        None => partitions.push(Partition::new(minute)),
    }
}

/// Reads the files of finished partitions row by row.
struct Reader {
    partitions: std::vec::IntoIter<String>,
    open: Option<Open>,
    record: Vec<u8>,
}

struct Open {
    path: String,
    names: Rc<(String, String)>,
    content: Box<dyn BufRead>,
}

impl Reader {
    fn new(partitions: Vec<String>) -> Self {
        Self { partitions: partitions.into_iter(), open: None, record: Vec::new() }
    }

    fn next(&mut self, files: &dyn PartitionedFiles) -> Result<Option<Row>, String> {
        loop {
            let Some(open) = &mut self.open else {
                let Some(path) = self.partitions.next() else { return Ok(None) };
                let names =
                    Partition::names(&path).ok_or_else(|| format!("{path} is no partition of q10"))?;
                let content = files.read(&path)?;
                self.open = Some(Open { path, names: Rc::new(names), content });
                continue;
            };
            let wrong = |problem: String| format!("cannot read back the file of {}: {problem}", open.path);
            let read =
                line::read(&mut open.content, &mut self.record).map_err(|error| wrong(error.to_string()))?;
            if read {
                let record = line::parse(&self.record).ok_or_else(|| {
                    wrong(format!("{:?} is not a line of q10", String::from_utf8_lossy(&self.record)))
                })?;
                return Ok(Some(Row(Some(Box::new(ReadBack { record, partition: Rc::clone(&open.names) })))));
            }
            self.open = None;
        }
    }
}
