//! Ids are gathered by pages of 64 and noted at the worker of the page, which tells the day's worker how many were new; that one adds up and emits the
//! day's row once a batch.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use timely::dataflow::StreamVec;
use timely::dataflow::operators::generic::Operator;

use crate::answer::{Columns, Output};
use crate::block::Bids;
use crate::event::{ShortText, Texts};
use crate::operators::batch::Batch;
use crate::operators::distinct::{Bitmap, Page};
use crate::operators::held::Held;
use crate::operators::kernel::kernel;
use crate::operators::statistics::{Ranked, Statistics, rank};
use crate::operators::update::Update;
use crate::operators::{Blocks, Environment, Time, route, utc, exchange};

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    day: ShortText,
    statistics: Statistics,
}

impl Output for Row {
    fn columns(&self, texts: &Texts, columns: &mut dyn Columns) {
        columns.text(self.day.get(texts));
        self.statistics.columns(columns);
    }
}

/// What a block says of a day.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Noted {
    Bids { day: i64, bids: Ranked },
    Bidders { day: i64, number: i64, page: Page },
    Auctions { day: i64, number: i64, page: Page },
}

/// The ids of a day that this worker keeps.
#[derive(Debug, Default)]
struct Ids {
    bidders: Bitmap,
    auctions: Bitmap,
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let (mut bidders, mut auctions) = (Batch::default(), Batch::default());
    let noted = kernel(blocks, "ids of a block", move |block, noted| {
        note(&block.bids, &mut bidders, &mut auctions, noted);
    });
    environment.output(reports(new_ids(noted, environment), environment));
}

/// The ids of a block by page and day.
fn note(bids: &Bids, bidders: &mut Batch<i64, Page>, auctions: &mut Batch<i64, Page>, noted: &mut Vec<Noted>) {
    let mut from = 0;
    while from < bids.len() {
        let day = utc::day(bids.date_time[from]);
        let range = utc::day_range(day);
        let mut counts = Ranked::default();
        let mut at = from;
        while at < bids.len() && range.contains(&bids.date_time[at]) {
            let (rank, bidder, auction) = (rank(bids.price[at]), bids.bidder[at], bids.auction[at]);
            counts.count(rank);
            bidders.entry(Page::of(bidder)).note(bidder, rank);
            auctions.entry(Page::of(auction)).note(auction, rank);
            at += 1;
        }
        noted.push(Noted::Bids { day, bids: counts });
        noted.extend(bidders.drain().map(|(number, page)| Noted::Bidders { day, number, page }));
        noted.extend(auctions.drain().map(|(number, page)| Noted::Auctions { day, number, page }));
        from = at;
    }
}

/// Per batch and day, how many bids there were and how many ids were new.
fn new_ids<'scope>(
    noted: StreamVec<'scope, Time, Noted>,
    environment: &Environment,
) -> StreamVec<'scope, Time, (i64, Statistics)> {
    let gauge = environment.state_gauge();
    let by_page = exchange(|noted: &Noted| match noted {
        Noted::Bids { day, .. } => route(*day),
        Noted::Bidders { number, .. } | Noted::Auctions { number, .. } => route(*number),
    });
    noted.unary(by_page, "new ids", move |_capability, _info| {
        let mut days = BTreeMap::<i64, Ids>::new();
        let mut changes = Batch::<i64, Statistics>::default();
        let mut earliest = Held::default();
        move |input, output| {
            input.for_each(|capability, noted| {
                earliest.retain(&capability);
                for noted in noted.drain(..) {
                    match noted {
                        Noted::Bids { day, bids } => changes.entry(day).bids.add(&bids),
                        Noted::Bidders { day, number, page } => {
                            let new = days.entry(day).or_default().bidders.note(number, page);
                            changes.entry(day).bidders.add(&new);
                        }
                        Noted::Auctions { day, number, page } => {
                            let new = days.entry(day).or_default().auctions.note(number, page);
                            changes.entry(day).auctions.add(&new);
                        }
                    }
                }
            });
            if let Some(capability) = earliest.take() {
                output.session(&capability).give_iterator(changes.drain());
            }
            gauge.set(days.values().map(|ids| ids.bidders.bytes() + ids.auctions.bytes()).sum());
        }
    })
}

fn reports<'scope>(
    changes: StreamVec<'scope, Time, (i64, Statistics)>,
    environment: &Environment,
) -> StreamVec<'scope, Time, Update<Row>> {
    let gauge = environment.state_gauge();
    let by_day = exchange(|change: &(i64, Statistics)| route(change.0));
    changes.unary(by_day, "report of a day", move |_capability, _info| {
        let mut days = BTreeMap::<i64, Row>::new();
        let mut batch = Batch::<i64, Statistics>::default();
        let mut earliest = Held::default();
        move |input, output| {
            input.for_each(|capability, changes| {
                earliest.retain(&capability);
                changes.drain(..).for_each(|(day, change)| batch.entry(day).add(&change));
            });
            if let Some(capability) = earliest.take() {
                let mut session = output.session(&capability);
                for (day, change) in batch.drain() {
                    if let Some(before) = days.get(&day) {
                        session.give(Update::retract(*before));
                    }
                    let row = days
                        .entry(day)
                        .or_insert_with(|| Row { day: utc::day_text(day), statistics: Statistics::default() });
                    row.statistics.add(&change);
                    session.give(Update::add(*row));
                }
            }
            gauge.set(days.len() * size_of::<(i64, Row)>());
        }
    })
}
