//! Where the rows of a query leave the dataflow.

use std::cell::RefCell;
use std::rc::Rc;

use timely::container::CapacityContainerBuilder;
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::Probe;
use timely::dataflow::operators::generic::{Operator, OutputBuilderSession};

use super::environment::{GatheredRows, Sink};
use super::{Counters, Environment, Time};
use crate::answer::{Digester, Output, Row};

impl Environment {
    /// Hands every row of a query to the sink.
    pub fn output<R: Output>(&self, rows: StreamVec<'_, Time, R>) {
        match &self.sink {
            Sink::Count => self.consume(rows, |_row| {}, || {}),
            Sink::Digest => self.digest(rows, None),
            Sink::Rows(gathered) => self.digest(rows, Some(gathered.clone())),
        }
    }

    fn digest<R: Output>(&self, rows: StreamVec<'_, Time, R>, gathered: Option<GatheredRows>) {
        let (texts, counters) = (self.texts.clone(), self.counters.clone());
        let digester = Rc::new(RefCell::new(Digester::default()));
        let batch_digester = Rc::clone(&digester);
        let on_row = move |row: &R| {
            digester.borrow_mut().row(row.difference(), |columns| row.columns(&texts, columns));
            if let Some(gathered) = &gathered {
                let mut values = Row::new();
                row.columns(&texts, &mut values);
                // A poisoned lock means that another worker panicked, which ends the job anyway.
                if let Ok(mut gathered) = gathered.lock() {
                    gathered.push((values, row.difference()));
                }
            }
        };
        self.consume(rows, on_row, move || counters.set_digest(batch_digester.borrow_mut().digest()));
    }

    fn consume<R: Output>(
        &self,
        rows: StreamVec<'_, Time, R>,
        mut on_row: impl FnMut(&R) + 'static,
        mut on_batch: impl FnMut() + 'static,
    ) {
        let counters = self.counters.clone();
        // A stream without rows, for the probe to see what the sink has finished.
        let done: StreamVec<'_, Time, ()> = rows.unary(Pipeline, "sink", |_capability, _info| {
            move |input, _output: &mut OutputBuilderSession<'_, Time, CapacityContainerBuilder<Vec<()>>>| {
                let mut rows_out = 0;
                input.for_each(|_capability, rows| {
                    rows_out += rows.len() as u64;
                    rows.iter().for_each(&mut on_row);
                });
                if rows_out > 0 {
                    Counters::add(&counters.rows_out, rows_out);
                    on_batch();
                }
            }
        });
        done.probe_with(&self.probe);
    }
}
