//! The bids of a block are summed up per auction and day, the auction's worker adds them to the row and emits it.

use serde::{Deserialize, Serialize};
use timely::dataflow::StreamVec;
use timely::dataflow::operators::generic::Operator;

use crate::answer::{Columns, Output};
use crate::block::Bids;
use crate::event::{ShortText, Texts};
use crate::operators::batch::Batch;
use crate::operators::kernel::kernel;
use crate::operators::keyed::Keyed;
use crate::operators::statistics::{RANKS, rank};
use crate::operators::update::Update;
use crate::operators::{Blocks, Environment, Time, route, utc, exchange};

/// Auction and day.
type Key = (i64, i64);

/// Prices of the bids of an auction. Packed, since a number of 128 bits alone would be padded to 64 bytes, and to 80 with its
/// key.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C, packed(8))]
struct Prices {
    bids: [i64; RANKS],
    min: i64,
    max: i64,
    sum: i128,
}

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    auction: i64,
    day: ShortText,
    bids: i64,
    rank_bids: [i64; RANKS],
    min_price: i64,
    max_price: i64,
    average_price: i64,
    sum_price: i64,
}

impl Output for Row {
    fn columns(&self, texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.auction);
        columns.text(self.day.get(texts));
        columns.integer(self.bids);
        self.rank_bids.iter().for_each(|bids| columns.integer(*bids));
        columns.integer(self.min_price);
        columns.integer(self.max_price);
        columns.integer(self.average_price);
        columns.integer(self.sum_price);
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let mut batch = Batch::default();
    let prices = kernel(blocks, "prices of a block", move |block, prices| {
        sum_up(&block.bids, &mut batch, prices);
    });
    environment.output(reports(prices, environment));
}

/// One row an auction and day.
fn sum_up(bids: &Bids, batch: &mut Batch<i64, Prices>, prices: &mut Vec<(Key, Prices)>) {
    let mut from = 0;
    while from < bids.len() {
        let day = utc::day(bids.date_time[from]);
        let range = utc::day_range(day);
        let mut at = from;
        while at < bids.len() && range.contains(&bids.date_time[at]) {
            batch.entry(bids.auction[at]).add_bid(bids.price[at]);
            at += 1;
        }
        prices.extend(batch.drain().map(|(auction, prices)| ((auction, day), prices)));
        from = at;
    }
}

fn reports<'scope>(
    prices: StreamVec<'scope, Time, (Key, Prices)>,
    environment: &Environment,
) -> StreamVec<'scope, Time, Update<Row>> {
    let gauge = environment.state_gauge();
    let by_auction = exchange(|row: &(Key, Prices)| route(row.0.0));
    prices.unary(by_auction, "report of an auction", move |_capability, _info| {
        let mut auctions = Keyed::<(Key, Prices)>::default();
        let mut days = utc::DayTexts::default();
        move |input, output| {
            input.for_each(|capability, rows| {
                let mut session = output.session(&capability);
                for (key, more) in rows.drain(..) {
                    let (auction, day) = key;
                    let day_text = days.text(day);
                    let (number, known) = auctions.number(key, || (key, more));
                    let (_, prices) = auctions.row_mut(number);
                    if known {
                        session.give(Update::retract(prices.row(auction, day_text)));
                        prices.add(&more);
                    }
                    session.give(Update::add(prices.row(auction, day_text)));
                }
            });
            gauge.set(auctions.bytes());
        }
    })
}

impl Default for Prices {
    fn default() -> Self {
        Self { bids: [0; RANKS], min: i64::MAX, max: i64::MIN, sum: 0 }
    }
}

impl Prices {
    #[inline]
    fn add_bid(&mut self, price: i64) {
        self.bids[rank(price)] += 1;
        self.min = self.min.min(price);
        self.max = self.max.max(price);
        self.sum += i128::from(price);
    }

    #[inline]
    fn add(&mut self, more: &Self) {
        for (bids, more) in self.bids.iter_mut().zip(&more.bids) {
            *bids += more;
        }
        self.min = self.min.min(more.min);
        self.max = self.max.max(more.max);
        self.sum += more.sum;
    }

    fn count(&self) -> i64 {
        self.bids.iter().sum()
    }

    /// The row of an auction with at least one bid.
    #[inline]
    fn row(&self, auction: i64, day: ShortText) -> Row {
        let bids = self.count();
        // Few sums need 128 bits, and dividing them is slow.
        let average = match i64::try_from(self.sum) {
            Ok(sum) => sum / bids,
            Err(_) => (self.sum / i128::from(bids)) as i64,
        };
        Row {
            auction,
            day,
            bids,
            rank_bids: self.bids,
            min_price: self.min,
            max_price: self.max,
            average_price: average,
            // A sum beyond 64 bits wraps, as in SQL's BIGINT.
            sum_price: self.sum as i64,
        }
    }
}
