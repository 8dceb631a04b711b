//! The winning price of each auction changes the sum of its category; each worker gathers the changes of a batch, the
//! category's worker adds them up and emits the new average.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::Operator;

use crate::answer::{Columns, Output};
use crate::event::Texts;
use crate::operators::batch::Batch;
use crate::operators::held::Held;
use crate::operators::update::Update;
use crate::operators::winning_bid::{Outcome, Report, best_prices, openings, winning_bid};
use crate::operators::{Blocks, Environment, Time, route, exchange};

/// An output row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    category: i64,
    average: i64,
}

impl Output for Row {
    fn columns(&self, _texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.category);
        columns.integer(self.average);
    }
}

/// Sum and number of the winning prices of a category, or a change of both.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Prices {
    sum: i128,
    auctions: i64,
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let openings = openings(blocks.clone(), |auction| auction.category);
    let offers = best_prices(blocks);
    let outcomes = winning_bid(openings, offers, Report::Changes, environment);
    environment.output(averages(changes(outcomes), environment));
}

/// Changes per category, one a batch.
fn changes<'scope>(
    outcomes: StreamVec<'scope, Time, Outcome<i64, ()>>,
) -> StreamVec<'scope, Time, (i64, Prices)> {
    outcomes.unary(Pipeline, "change per category", |_capability, _info| {
        let mut batch = Batch::<i64, Prices>::default();
        let mut earliest = Held::default();
        move |input, output| {
            input.for_each(|capability, outcomes| {
                earliest.retain(&capability);
                for outcome in outcomes.drain(..) {
                    if let Outcome::Changed { opening, before, after } = outcome {
                        let change = batch.entry(opening.details);
                        change.sum += i128::from(after.price) - before.map_or(0, |before| i128::from(before.price));
                        change.auctions += i64::from(before.is_none());
                    }
                }
            });
            if let Some(capability) = earliest.take() {
                output.session(&capability).give_iterator(batch.drain());
            }
        }
    })
}

/// Averages of the categories that changed, once a batch.
fn averages<'scope>(
    changes: StreamVec<'scope, Time, (i64, Prices)>,
    environment: &Environment,
) -> StreamVec<'scope, Time, Update<Row>> {
    let gauge = environment.state_gauge();
    let by_category = exchange(|change: &(i64, Prices)| route(change.0));
    changes.unary(by_category, "average per category", move |_capability, _info| {
        let mut categories = BTreeMap::<i64, Prices>::new();
        let mut batch = Batch::<i64, Prices>::default();
        let mut earliest = Held::default();
        move |input, output| {
            input.for_each(|capability, changes| {
                earliest.retain(&capability);
                for (category, change) in changes.drain(..) {
                    let sum = batch.entry(category);
                    sum.sum += change.sum;
                    sum.auctions += change.auctions;
                }
            });
            if let Some(capability) = earliest.take() {
                let mut session = output.session(&capability);
                for (category, change) in batch.drain() {
                    let prices = categories.entry(category).or_default();
                    let before = prices.row(category);
                    prices.sum += change.sum;
                    prices.auctions += change.auctions;
                    let after = prices.row(category);
                    if before != after {
                        session.give_iterator(before.map(Update::retract).into_iter());
                        session.give_iterator(after.map(Update::add).into_iter());
                    }
                }
            }
            gauge.set(categories.len() * size_of::<(i64, Prices)>());
        }
    })
}

impl Prices {
    fn row(&self, category: i64) -> Option<Row> {
        let average = self.sum.checked_div(i128::from(self.auctions))?;
        // An average lies between the prices, which are of 64 bits.
        Some(Row { category, average: average as i64 })
    }
}
