//! New persons and sellers of each window meet at the worker of their id. A window is dropped when the watermark passes its
//! end.

use std::collections::BTreeMap;

use timely::dataflow::StreamVec;
use timely::dataflow::operators::generic::Operator;

use crate::answer::{Columns, Output};
use crate::event::{Text, Texts};
use crate::operators::batch::Batch;
use crate::operators::kernel::kernel;
use crate::operators::{Blocks, Environment, Map, Time, route, time, exchange};

const WINDOW_MS: i64 = 10_000;

/// A person who registered: id, name, start of the window.
type Registered = (i64, Text, i64);
/// A seller of a window: id, start of the window.
type Selling = (i64, i64);

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    id: i64,
    name: Text,
    start: i64,
}

impl Output for Row {
    fn columns(&self, texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.id);
        columns.text(texts.get(self.name));
        columns.time(self.start);
    }
}

/// What is known of an id in a window.
#[derive(Debug, Default)]
struct User {
    selling: bool,
    /// The name under which it registered; nearly every id has one.
    name: Option<Text>,
    /// Further names, where a stream gives an id to several persons.
    more_names: Vec<Text>,
}

/// The users of a window.
type Window = Map<i64, User>;

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let registered = kernel(blocks.clone(), "persons", |block, registered| {
        registered.extend(block.persons.iter().map(|person| (person.id, person.name, window_start(person.date_time))));
    });
    let mut batch = Batch::<Selling, ()>::default();
    let selling = kernel(blocks, "sellers of a block", move |block, selling| {
        for auction in &block.auctions {
            batch.entry((auction.seller, window_start(auction.date_time)));
        }
        selling.extend(batch.drain().map(|(seller, ())| seller));
    });
    environment.output(new_sellers(registered, selling, environment));
}

fn new_sellers<'scope>(
    registered: StreamVec<'scope, Time, Registered>,
    selling: StreamVec<'scope, Time, Selling>,
    environment: &Environment,
) -> StreamVec<'scope, Time, Row> {
    let environment = environment.clone();
    let by_person = exchange(|row: &Registered| route(row.0));
    let by_seller = exchange(|row: &Selling| route(row.0));
    registered.binary_frontier(selling, by_person, by_seller, "new sellers", move |_capability, _info| {
        let gauge = environment.state_gauge();
        let mut windows = BTreeMap::<i64, Window>::new();
        let mut closed = time::NEVER;
        move |(registered, registered_frontier), (selling, selling_frontier), output| {
            let mut late = 0;
            registered.for_each(|capability, rows| {
                let mut session = output.session(&capability);
                for (id, name, start) in rows.drain(..) {
                    if end(start) <= closed {
                        late += 1;
                    } else if register(windows.entry(start).or_default(), id, name, &environment.texts) {
                        session.give(Row { id, name, start });
                    }
                }
            });
            selling.for_each(|capability, rows| {
                let mut session = output.session(&capability);
                for (id, start) in rows.drain(..) {
                    if end(start) <= closed {
                        late += 1;
                        continue;
                    }
                    let user = windows.entry(start).or_default().entry(id).or_default();
                    if !std::mem::replace(&mut user.selling, true) {
                        let names = user.name.iter().chain(&user.more_names);
                        session.give_iterator(names.map(|name| Row { id, name: *name, start }));
                    }
                }
            });
            environment.count_late(late);
            let frontiers = [registered_frontier.frontier(), selling_frontier.frontier()];
            closed = frontiers.map(time::watermark).into_iter().min().unwrap_or(time::END);
            while let Some(window) = windows.first_entry().filter(|window| end(*window.key()) <= closed) {
                window.remove();
            }
            gauge.set(windows.values().map(Map::allocation_size).sum());
        }
    })
}

/// Notes a person; whether the row of this person is to be emitted now.
fn register(window: &mut Window, id: i64, name: Text, texts: &Texts) -> bool {
    let user = window.entry(id).or_default();
    let known = user.name.iter().chain(&user.more_names).any(|other| texts.get(*other) == texts.get(name));
    if known {
        return false;
    }
    match user.name {
        None => user.name = Some(name),
        Some(_) => user.more_names.push(name),
    }
    user.selling
}

fn window_start(date_time: i64) -> i64 {
    date_time.div_euclid(WINDOW_MS).saturating_mul(WINDOW_MS)
}

fn end(start: i64) -> i64 {
    start.saturating_add(WINDOW_MS)
}
