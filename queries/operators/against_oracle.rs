//! For the tests of queries that make rows of each bid alone: their rows over streams made by hand, beside the oracle's.

use crate::answer::{CanonicalText, Output, replay};
use crate::block::{Bids, Block};
use crate::event::{Bid, Event, Texts};
use crate::query::Query;

/// A bid made by hand.
pub(crate) struct Made<'a> {
    pub(crate) ids: (i64, i64),
    pub(crate) price: i64,
    pub(crate) date_time: i64,
    pub(crate) channel: &'a str,
    pub(crate) url: &'a str,
    pub(crate) extra: &'a str,
}

impl Default for Made<'_> {
    fn default() -> Self {
        Self { ids: (1, 2), price: 3, date_time: 4, channel: "c", url: "u", extra: "e" }
    }
}

/// The bids as events, with their text.
pub(crate) fn events(bids: &[Made<'_>]) -> (Vec<Event>, Texts) {
    let mut texts = Texts::default();
    let mut events = Vec::new();
    for bid in bids {
        events.push(Event::Bid(Bid {
            auction: bid.ids.0,
            bidder: bid.ids.1,
            price: bid.price,
            date_time: bid.date_time,
            channel: texts.push_channel(bid.channel).expect("little text"),
            url: texts.push_url(bid.url).expect("little text"),
            extra: texts.push(bid.extra).expect("little text"),
        }));
    }
    (events, texts)
}

/// Lines of the answer, columns joined by bars, sorted; the oracle must give the same.
#[track_caller]
pub(crate) fn answer<R: Output>(
    query: &Query,
    bids: &[Made<'_>],
    kernel: impl FnOnce(&Bids, &Texts, &mut Vec<R>),
) -> Vec<String> {
    let (events, texts) = events(bids);
    let mut block = Block::default();
    events.iter().for_each(|event| block.push(*event));
    let mut rows = Vec::new();
    kernel(&block.bids, &texts, &mut rows);
    let answer = lines(&rows, &texts);
    let mut expected: Vec<String> =
        (query.oracle)(&events, &texts).iter().map(|row| line(|columns| replay(row, columns))).collect();
    expected.sort_unstable();
    assert_eq!(answer, expected, "{} beside its oracle", query.name);
    answer
}

fn lines<R: Output>(rows: &[R], texts: &Texts) -> Vec<String> {
    let mut lines: Vec<String> = rows.iter().map(|row| line(|columns| row.columns(texts, columns))).collect();
    lines.sort_unstable();
    lines
}

fn line(columns: impl FnOnce(&mut CanonicalText)) -> String {
    let mut text = CanonicalText::default();
    columns(&mut text);
    text.as_str().replace('\x1f', "|")
}
