//! Auctions are closed when the watermark has passed their end; the seller's worker puts the closings of all workers in the
//! order of (end, id) and averages the last ten.

use serde::{Deserialize, Serialize};
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::Operator;

use crate::answer::{Columns, Output};
use crate::event::Texts;
use crate::operators::calendar::Calendar;
use crate::operators::held::Held;
use crate::operators::keyed::Keyed;
use crate::operators::winning_bid::{Outcome, Report, best_prices, openings, winning_bid};
use crate::operators::{Blocks, Environment, Time, route, time, exchange};

/// Auctions of a seller that are averaged.
const LAST: usize = 10;

/// An auction that is over.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Sale {
    seller: i64,
    expires: i64,
    auction: i64,
    price: i64,
}

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    seller: i64,
    auction: i64,
    average: i64,
}

impl Output for Row {
    fn columns(&self, _texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.seller);
        columns.integer(self.auction);
        columns.integer(self.average);
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let openings = openings(blocks.clone(), |auction| auction.seller);
    let offers = best_prices(blocks);
    let outcomes = winning_bid(openings, offers, Report::Closings, environment);
    environment.output(averages(sales(outcomes), environment));
}

fn sales<'scope>(outcomes: StreamVec<'scope, Time, Outcome<i64, ()>>) -> StreamVec<'scope, Time, Sale> {
    outcomes.unary(Pipeline, "sales", |_capability, _info| {
        move |input, output| {
            input.for_each(|capability, outcomes| {
                let sales = outcomes.drain(..).filter_map(|outcome| match outcome {
                    Outcome::Closed { opening, winner } => Some(Sale {
                        seller: opening.details,
                        expires: opening.to,
                        auction: opening.auction,
                        price: winner.price,
                    }),
                    Outcome::Changed { .. } => None,
                });
                output.session(&capability).give_iterator(sales);
            });
        }
    })
}

/// A row for each sale, when no earlier one can come any more.
fn averages<'scope>(sales: StreamVec<'scope, Time, Sale>, environment: &Environment) -> StreamVec<'scope, Time, Row> {
    let environment = environment.clone();
    let by_seller = exchange(|sale: &Sale| route(sale.seller));
    sales.unary_frontier(by_seller, "last ten of a seller", move |_capability, _info| {
        let gauge = environment.state_gauge();
        let mut held = Held::default();
        let mut waiting = Calendar::<Sale>::default();
        let mut sellers = Keyed::<(i64, Vec<i64>)>::default();
        let mut prices = 0;
        move |(input, frontier), output| {
            input.for_each(|capability, sales| {
                held.retain(&capability);
                for sale in sales.drain(..) {
                    waiting.add(sale.expires, sale);
                }
            });
            while let Some(mut sales) = waiting.next(time::watermark(frontier.frontier())) {
                // The price decides only where a recorded stream gives an id twice.
                sales.sort_unstable_by_key(|sale| (sale.expires, sale.auction, sale.price));
                let Some(capability) = held.get() else { continue };
                output.session(capability).give_iterator(sales.iter().map(|sale| {
                    let (number, _known) = sellers.number(sale.seller, || (sale.seller, Vec::new()));
                    let (_, last) = sellers.row_mut(number);
                    prices -= last.capacity();
                    let average = add(last, sale.price);
                    prices += last.capacity();
                    Row { seller: sale.seller, auction: sale.auction, average }
                }));
            }
            gauge.set(sellers.bytes() + waiting.bytes() + prices * size_of::<i64>());
            held.advance(frontier.frontier(), !waiting.is_empty());
        }
    })
}

/// Adds a price to the last ones, oldest first; their average, truncated.
fn add(last: &mut Vec<i64>, price: i64) -> i64 {
    if last.len() == LAST {
        last.remove(0);
    } else if last.len() == last.capacity() {
        // Most sellers sell once or twice.
        last.reserve_exact(last.len().clamp(1, LAST - last.len()));
    }
    last.push(price);
    let sum: i128 = last.iter().map(|price| i128::from(*price)).sum();
    (sum / last.len() as i128) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eleventh_price_pushes_out_the_first() {
        let mut last = Vec::new();
        assert_eq!(add(&mut last, 1001), 1001);
        for _ in 0..8 {
            add(&mut last, 1);
        }
        assert_eq!(add(&mut last, 1), 101, "1010 / 10");
        assert_eq!(add(&mut last, 5), 1, "14 / 10, truncated");
        assert_eq!(last.len(), LAST);
        let mut negative = Vec::new();
        add(&mut negative, -2);
        assert_eq!(add(&mut negative, -1), -1, "truncated toward zero");
    }
}
