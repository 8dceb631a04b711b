//! Each (channel, day) is kept at one worker, with small sets of the ids seen. Ids of a block come once for each channel, so
//! that the few channels with most of the bids do not outweigh the others. Channels are grouped by their number: every name
//! has one.

use std::hint::black_box;

use serde::{Deserialize, Serialize};
use timely::dataflow::StreamVec;
use timely::dataflow::operators::generic::Operator;

use crate::answer::{Columns, Output};
use crate::block::Bids;
use crate::event::{Channel, ShortText, Texts};
use crate::operators::batch::Batch;
use crate::operators::distinct::{Page, SmallSet};
use crate::operators::held::Held;
use crate::operators::kernel::kernel;
use crate::operators::keyed::Keyed;
use crate::operators::statistics::{Ranked, Seen, Statistics, rank};
use crate::operators::update::Update;
use crate::operators::{Blocks, Environment, Time, route, utc, exchange};

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    channel: Channel,
    day: ShortText,
    minute: ShortText,
    statistics: Statistics,
}

impl Output for Row {
    fn columns(&self, texts: &Texts, columns: &mut dyn Columns) {
        columns.text(texts.channel(self.channel));
        columns.text(self.day.get(texts));
        columns.text(self.minute.get(texts));
        self.statistics.columns(columns);
    }
}

/// Channel and day.
type Key = (u32, i64);

/// What a block says of a channel on a day.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Noted {
    /// One bid.
    Bid { key: Key, minute: i64, rank: usize, bidder: i64, auction: i64 },
    /// Some bids, whose ids come apart.
    Bids { key: Key, minute: i64, bids: Ranked },
    Bidders { key: Key, number: i64, page: Page },
    Auctions { key: Key, number: i64, page: Page },
}

/// Channels with more bids than this in a block are summed up; the bids of the others are sent as they are.
const FEW: i64 = 4;

/// Rows whose memory is fetched together: their groups and slots fit the first-level cache.
const AT_ONCE: usize = 64;

/// Bids of a channel in a block.
#[derive(Debug, Default)]
struct Count {
    bids: Ranked,
    minute: i64,
}

/// A channel on a day.
#[derive(Debug, Default)]
struct Group {
    statistics: Statistics,
    minute: i64,
    bidders: SmallSet,
    auctions: SmallSet,
    /// Whether a row was emitted.
    emitted: bool,
    /// Whether the row of this batch was noted.
    changed: bool,
}

/// What one block's bids are gathered in.
#[derive(Default)]
struct Gather {
    counts: Batch<u32, Count>,
    /// By channel and number of the page.
    bidders: Batch<(u32, i64), Page>,
    auctions: Batch<(u32, i64), Page>,
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let mut gather = Gather::default();
    let noted = kernel(blocks, "ids of a block", move |block, noted| gather.note(&block.bids, noted));
    environment.output(reports(noted, environment));
}

impl Gather {
    /// Each id of a block once for each channel and day.
    fn note(&mut self, bids: &Bids, noted: &mut Vec<Noted>) {
        let mut from = 0;
        while from < bids.len() {
            let day = utc::day(bids.date_time[from]);
            let range = utc::day_range(day);
            let run = bids.date_time[from..].iter().position(|time| !range.contains(time));
            let to = run.map_or(bids.len(), |run| from + run);
            for at in from..to {
                let count = self.counts.entry(bids.channel[at].0);
                count.bids.count(rank(bids.price[at]));
                count.minute = count.minute.max(utc::minute_of_day(bids.date_time[at]));
            }
            for at in from..to {
                let (Channel(channel), rank) = (bids.channel[at], rank(bids.price[at]));
                let (bidder, auction) = (bids.bidder[at], bids.auction[at]);
                if self.counts.entry(channel).bids.total() <= FEW {
                    let minute = utc::minute_of_day(bids.date_time[at]);
                    noted.push(Noted::Bid { key: (channel, day), minute, rank, bidder, auction });
                } else {
                    self.bidders.entry((channel, Page::of(bidder))).note(bidder, rank);
                    self.auctions.entry((channel, Page::of(auction))).note(auction, rank);
                }
            }
            let many = self.counts.drain().filter(|(_, count)| count.bids.total() > FEW);
            noted.extend(many.map(|(channel, Count { bids, minute })| Noted::Bids { key: (channel, day), minute, bids }));
            noted.extend(self.bidders.drain().map(|((channel, number), page)| Noted::Bidders {
                key: (channel, day),
                number,
                page,
            }));
            noted.extend(self.auctions.drain().map(|((channel, number), page)| Noted::Auctions {
                key: (channel, day),
                number,
                page,
            }));
            from = to;
        }
    }
}

impl Noted {
    fn key(&self) -> Key {
        match self {
            Self::Bid { key, .. }
            | Self::Bids { key, .. }
            | Self::Bidders { key, .. }
            | Self::Auctions { key, .. } => *key,
        }
    }
}

fn reports<'scope>(
    noted: StreamVec<'scope, Time, Noted>,
    environment: &Environment,
) -> StreamVec<'scope, Time, Update<Row>> {
    let gauge = environment.state_gauge();
    let by_channel = exchange(|noted: &Noted| route(i64::from(noted.key().0)));
    noted.unary(by_channel, "report of a channel", move |_capability, _info| {
        let mut groups = Keyed::<(Key, Group)>::default();
        let mut set_bytes = 0;
        let mut changed = Vec::new();
        let mut days = utc::DayTexts::default();
        let mut earliest = Held::default();
        let mut numbers = Vec::new();
        move |input, output| {
            input.for_each(|capability, noted| {
                earliest.retain(&capability);
                let mut session = output.session(&capability);
                for noted in noted.chunks(AT_ONCE) {
                    numbers.clear();
                    numbers.extend(noted.iter().map(|noted| {
                        let key = noted.key();
                        groups.number(key, || (key, Group::default())).0
                    }));
                    let touched = noted.iter().zip(&numbers).map(|(noted, number)| groups.row_mut(*number).1.touch(noted));
                    black_box(touched.fold(0, u32::wrapping_add));
                    for (noted, number) in noted.iter().zip(&numbers) {
                        let ((channel, day), group) = groups.row_mut(*number);
                        if !group.changed {
                            group.changed = true;
                            changed.push(*number);
                            if group.emitted {
                                session.give(Update::retract(group.row(*channel, days.text(*day))));
                            }
                        }
                        set_bytes += group.note(noted);
                    }
                }
            });
            if let Some(capability) = earliest.take() {
                let mut session = output.session(&capability);
                for number in changed.drain(..) {
                    let ((channel, day), group) = groups.row_mut(number);
                    group.changed = false;
                    group.emitted = true;
                    session.give(Update::add(group.row(*channel, days.text(*day))));
                }
            }
            gauge.set(groups.bytes() + set_bytes);
        }
    })
}

impl Group {
    /// Reads ahead what [`Group::note`] is going to need.
    #[inline]
    fn touch(&self, noted: &Noted) -> u32 {
        match *noted {
            Noted::Bid { bidder, auction, .. } => {
                self.bidders.touch(bidder).wrapping_add(self.auctions.touch(auction))
            }
            _ => 0,
        }
    }

    /// Takes what a block says into account; by how many bytes the sets grew.
    #[inline]
    fn note(&mut self, noted: &Noted) -> usize {
        match *noted {
            Noted::Bid { minute, rank, bidder, auction, .. } => {
                self.statistics.bids.count(rank);
                self.minute = self.minute.max(minute);
                let seen = Seen::at(rank);
                note_id(&mut self.bidders, &mut self.statistics.bidders, bidder, seen)
                    + note_id(&mut self.auctions, &mut self.statistics.auctions, auction, seen)
            }
            Noted::Bids { bids, minute, .. } => {
                self.statistics.bids.add(&bids);
                self.minute = self.minute.max(minute);
                0
            }
            Noted::Bidders { number, page, .. } => {
                note_page(&mut self.bidders, &mut self.statistics.bidders, number, page)
            }
            Noted::Auctions { number, page, .. } => {
                note_page(&mut self.auctions, &mut self.statistics.auctions, number, page)
            }
        }
    }

    fn row(&self, channel: u32, day: ShortText) -> Row {
        let minute = utc::minute_text(self.minute);
        Row { channel: Channel(channel), day, minute, statistics: self.statistics }
    }
}

fn note_page(set: &mut SmallSet, ranked: &mut Ranked, number: i64, page: Page) -> usize {
    page.ids(number).map(|(id, seen)| note_id(set, ranked, id, seen)).sum()
}

#[inline]
fn note_id(set: &mut SmallSet, ranked: &mut Ranked, id: i64, seen: Seen) -> usize {
    let before = set.bytes();
    ranked.count_seen(set.note(id, seen));
    set.bytes() - before
}
