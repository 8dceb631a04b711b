//! A block of events at once. Bids are made column by column over a chunk, in loops that the compiler turns into wide
//! arithmetic and that are compiled for several levels of it; the level is chosen at run time.

use std::ops::Range;

use multiversion::multiversion;

use super::{
    AHEAD, Draw, Draws, FIRST_ID, GOLDEN_GAMMA, Generator, HOT_EVERY, PRICE_STEPS, mix, shared_text, start,
};
use crate::block::{Bids, Block};
use crate::event::{Auction, Channel, Person, Text, Url};

/// Persons or auctions whose draws are made at once.
const ROWS: usize = 32;
/// Draws that a person uses: the last letter of the e-mail address' host is draw 27.
const PERSON_DRAWS: usize = 28;
/// Draws that an auction uses.
const AUCTION_DRAWS: usize = 12;
/// Bids made at once: small enough that a chunk's inputs stay in the first-level cache.
const CHUNK: usize = 256;

/// What the bids of a chunk are computed from; one entry a bid.
struct Chunk {
    len: usize,
    number: [u64; CHUNK],
    auction: References,
    bidder: References,
}

/// A [`Reference`] a bid, by column.
struct References {
    hot: [u64; CHUNK],
    low: [u64; CHUNK],
    bound: [u64; CHUNK],
}

impl References {
    const EMPTY: Self = Self { hot: [0; CHUNK], low: [0; CHUNK], bound: [0; CHUNK] };

    #[inline]
    fn fill(&mut self, range: Range<usize>, reference: Reference) {
        self.hot[range.clone()].fill(reference.hot);
        self.low[range.clone()].fill(reference.low);
        self.bound[range].fill(reference.bound);
    }
}

/// Where an id of a bid points: the hot one, or one of `bound` from `low` on. Ids as shown to users.
#[derive(Clone, Copy)]
struct Reference {
    hot: u64,
    low: u64,
    bound: u64,
}

/// The constants of one generator that the bids' columns need.
struct Constants<'a> {
    seed: u64,
    auction_ratio: u64,
    bidder_ratio: u64,
    extra: ExtraLength,
    prices: &'a [u32; PRICE_STEPS + 1],
}

/// Length of a bid's `extra`: `least + below(spread)`, or just `least` when the spread is 0.
#[derive(Clone, Copy)]
struct ExtraLength {
    least: u64,
    spread: u64,
}

/// One chunk's part of each column.
struct Columns<'a> {
    auction: &'a mut [i64],
    bidder: &'a mut [i64],
    price: &'a mut [i64],
    channel: &'a mut [Channel],
    url: &'a mut [Url],
    extra: &'a mut [Text],
}

impl Generator {
    /// Replaces the content of `block` by the events at `positions`.
    pub fn fill(&self, positions: Range<u64>, block: &mut Block) {
        block.persons.clear();
        block.auctions.clear();
        let mut rows = Rows {
            generator: self,
            persons: Numbers::EMPTY,
            auctions: Numbers::EMPTY,
            block_persons: &mut block.persons,
            block_auctions: &mut block.auctions,
        };
        // Columns keep their old content until it is overwritten: clearing would write every byte twice.
        let mut writer = Writer::new(self, &mut block.bids, positions.end.saturating_sub(positions.start));
        if self.options.out_of_order_group_size == 1 {
            self.fill_in_order(positions, &mut writer, &mut rows);
        } else {
            for position in positions {
                let number = self.number(position);
                let (epoch, offset) = self.cycle.divide(number);
                self.fill_run(epoch, offset, 1, &mut writer, &mut rows);
            }
        }
        rows.finish();
        writer.finish();
    }

    /// Whole runs of one kind at a time, with one division for all of them.
    fn fill_in_order(&self, positions: Range<u64>, writer: &mut Writer<'_>, rows: &mut Rows<'_>) {
        let (mut epoch, mut offset) = (positions.start / self.total, positions.start % self.total);
        let mut left = positions.end.saturating_sub(positions.start);
        while left > 0 {
            let done = self.fill_run(epoch, offset, left, writer, rows);
            left -= done;
            offset += done;
            if offset == self.total {
                epoch += 1;
                offset = 0;
            }
        }
    }

    /// Up to `most` consecutive events of one kind and one cycle; the number of them.
    #[inline]
    fn fill_run(
        &self,
        epoch: u64,
        offset: u64,
        most: u64,
        writer: &mut Writer<'_>,
        rows: &mut Rows<'_>,
    ) -> u64 {
        let (person_end, auction_end) = (
            self.options.person_proportion,
            self.options.person_proportion + self.options.auction_proportion,
        );
        let first = epoch * self.total + offset;
        if offset < person_end {
            let run = most.min(person_end - offset);
            rows.persons(first, run);
            run
        } else if offset < auction_end {
            let run = most.min(auction_end - offset);
            rows.auctions(first, run);
            run
        } else {
            let run = most.min(self.total - offset);
            writer.bids(epoch, first, run);
            run
        }
    }

    fn extra_length(size: u64, average: u64) -> Option<ExtraLength> {
        let want = average.checked_sub(size).filter(|want| *want > 0)?;
        let delta = (want + 2) / 5;
        Some(ExtraLength { least: want - delta, spread: 2 * delta })
    }

    /// What the auctions of the bids of one cycle are drawn from.
    #[inline]
    fn auction_reference(&self, epoch: u64) -> Reference {
        let last = epoch * self.options.auction_proportion + self.options.auction_proportion - 1;
        let low = last.saturating_sub(self.options.auctions_in_flight);
        Reference {
            hot: last / HOT_EVERY * HOT_EVERY + FIRST_ID,
            low: low + FIRST_ID,
            bound: last - low + 1 + AHEAD,
        }
    }

    /// What the bidders of the bids of one cycle are drawn from.
    #[inline]
    fn bidder_reference(&self, epoch: u64) -> Reference {
        let last = epoch * self.options.person_proportion + self.options.person_proportion - 1;
        let people = last + 1;
        let active = people.min(self.options.people_active);
        Reference {
            hot: last / HOT_EVERY * HOT_EVERY + 1 + FIRST_ID,
            low: people - active + FIRST_ID,
            bound: active + AHEAD,
        }
    }
}

/// Numbers of persons or auctions that wait to be made together.
struct Numbers {
    len: usize,
    number: [u64; ROWS],
}

impl Numbers {
    const EMPTY: Self = Self { len: 0, number: [0; ROWS] };

    /// Adds a number; whether the batch is full now.
    #[inline]
    fn push(&mut self, number: u64) -> bool {
        self.number[self.len] = number;
        self.len += 1;
        self.len == ROWS
    }
}

/// Appends persons and auctions to a block. They are made row by row, but from draws that are made for many at once.
struct Rows<'a> {
    generator: &'a Generator,
    persons: Numbers,
    auctions: Numbers,
    block_persons: &'a mut Vec<Person>,
    block_auctions: &'a mut Vec<Auction>,
}

impl Rows<'_> {
    fn persons(&mut self, first: u64, run: u64) {
        for number in first..first + run {
            if self.persons.push(number) {
                self.flush_persons();
            }
        }
    }

    fn auctions(&mut self, first: u64, run: u64) {
        for number in first..first + run {
            if self.auctions.push(number) {
                self.flush_auctions();
            }
        }
    }

    fn flush_persons(&mut self) {
        let mut table = [[0; ROWS]; PERSON_DRAWS];
        let numbers = &mut self.persons;
        draw_rows(self.generator.options.seed, &numbers.number, &mut table);
        let rows = numbers.number[..numbers.len].iter().enumerate();
        self.block_persons
            .extend(rows.map(|(row, number)| self.generator.person(*number, &Drawn { table: &table, row })));
        numbers.len = 0;
    }

    fn flush_auctions(&mut self) {
        let mut table = [[0; ROWS]; AUCTION_DRAWS];
        let numbers = &mut self.auctions;
        draw_rows(self.generator.options.seed, &numbers.number, &mut table);
        let rows = numbers.number[..numbers.len].iter().enumerate();
        self.block_auctions
            .extend(rows.map(|(row, number)| self.generator.auction(*number, &Drawn { table: &table, row })));
        numbers.len = 0;
    }

    fn finish(mut self) {
        self.flush_persons();
        self.flush_auctions();
    }
}

/// Draws of one row of a table that [`draw_rows`] made.
struct Drawn<'a> {
    table: &'a [[u64; ROWS]],
    row: usize,
}

impl Draw for Drawn<'_> {
    #[inline(always)]
    fn draw(&self, k: u64) -> u64 {
        self.table[k as usize][self.row]
    }
}

/// Draw number `k` of every event of a batch, into row `k` of the table.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512bw+avx512vl+avx512cd",
    "x86_64+avx2+bmi2",
    "aarch64+neon"
))]
fn draw_rows(seed: u64, numbers: &[u64; ROWS], table: &mut [[u64; ROWS]]) {
    let starts = numbers.map(|number| start(seed, number));
    for (k, row) in table.iter_mut().enumerate() {
        let step = GOLDEN_GAMMA.wrapping_mul(k as u64 + 1);
        for (draw, start) in row.iter_mut().zip(&starts) {
            *draw = mix(start.wrapping_add(step));
        }
    }
}

/// Appends bids to the columns of a block, a chunk at a time.
struct Writer<'a> {
    generator: &'a Generator,
    constants: Constants<'a>,
    bids: &'a mut Bids,
    written: usize,
    chunk: Box<Chunk>,
}

impl<'a> Writer<'a> {
    fn new(generator: &'a Generator, bids: &'a mut Bids, events: u64) -> Self {
        let options = &generator.options;
        let events = events as usize;
        bids.resize(events);
        let extra =
            Generator::extra_length(32, options.bid_avg_size).unwrap_or(ExtraLength { least: 0, spread: 0 });
        let constants = Constants {
            seed: options.seed,
            auction_ratio: options.bid_hot_ratio_auctions,
            bidder_ratio: options.bid_hot_ratio_bidders,
            extra,
            prices: &generator.prices,
        };
        Self { generator, constants, bids, written: 0, chunk: Chunk::new() }
    }

    /// `run` bids of one cycle, from event `first` on.
    #[inline]
    fn bids(&mut self, epoch: u64, mut first: u64, mut run: u64) {
        let auction = self.generator.auction_reference(epoch);
        let bidder = self.generator.bidder_reference(epoch);
        while run > 0 {
            let at = self.chunk.len;
            let part = (run as usize).min(CHUNK - at);
            for (index, number) in self.chunk.number[at..at + part].iter_mut().enumerate() {
                *number = first + index as u64;
            }
            self.chunk.auction.fill(at..at + part, auction);
            self.chunk.bidder.fill(at..at + part, bidder);
            self.chunk.len += part;
            if self.chunk.len == CHUNK {
                self.flush();
            }
            first += part as u64;
            run -= part as u64;
        }
    }

    fn flush(&mut self) {
        let (from, len) = (self.written, self.chunk.len);
        let to = from + len;
        let bids = &mut *self.bids;
        for (time, number) in bids.date_time[from..to].iter_mut().zip(&self.chunk.number) {
            *time = self.generator.timestamp(*number);
        }
        make_columns(
            &self.constants,
            &self.chunk,
            &mut Columns {
                auction: &mut bids.auction[from..to],
                bidder: &mut bids.bidder[from..to],
                price: &mut bids.price[from..to],
                channel: &mut bids.channel[from..to],
                url: &mut bids.url[from..to],
                extra: &mut bids.extra[from..to],
            },
        );
        self.written = to;
        self.chunk.len = 0;
    }

    fn finish(mut self) {
        self.flush();
        self.bids.resize(self.written);
    }
}

impl Chunk {
    fn new() -> Box<Self> {
        Box::new(Self { len: 0, number: [0; CHUNK], auction: References::EMPTY, bidder: References::EMPTY })
    }
}

#[inline(always)]
fn below(start: u64, k: u64, bound: u64) -> u64 {
    (Draws { start }).below(k, bound)
}

/// Ids of a column: draw `k` decides between hot and cold, the next one which of the cold.
#[inline(always)]
fn refer(column: &mut [i64], starts: &[u64; CHUNK], references: &References, k: u64, ratio: u64) {
    let references = references.hot.iter().zip(&references.low).zip(&references.bound);
    for ((id, start), ((hot, low), bound)) in column.iter_mut().zip(starts).zip(references) {
        let cold = low + below(*start, k + 1, *bound);
        *id = (if below(*start, k, ratio) > 0 { *hot } else { cold }) as i64;
    }
}

#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512bw+avx512vl+avx512cd",
    "x86_64+avx2+bmi2",
    "aarch64+neon"
))]
fn make_columns(constants: &Constants<'_>, chunk: &Chunk, columns: &mut Columns<'_>) {
    let mut starts = [0u64; CHUNK];
    for (start, number) in starts.iter_mut().zip(&chunk.number) {
        *start = super::start(constants.seed, *number);
    }
    refer(columns.auction, &starts, &chunk.auction, 0, constants.auction_ratio);
    refer(columns.bidder, &starts, &chunk.bidder, 2, constants.bidder_ratio);
    for (price, start) in columns.price.iter_mut().zip(&starts) {
        let draw = (Draws { start: *start }).draw(4);
        let index = (draw >> 52) as usize;
        let low = u64::from(constants.prices[index]);
        let step = u64::from(constants.prices[index + 1]) - low;
        *price = (low + ((step * ((draw >> 20) & 0xFFFF_FFFF)) >> 32)) as i64;
    }
    for ((channel, url), start) in columns.channel.iter_mut().zip(columns.url.iter_mut()).zip(&starts) {
        let hot = below(*start, 6, shared_text::HOT_CHANNELS);
        let cold = shared_text::HOT_CHANNELS + below(*start, 7, shared_text::COLD_CHANNELS);
        let number = if below(*start, 5, 2) > 0 { hot } else { cold };
        *channel = Channel(number as u32);
        *url = Url(number as u32);
    }
    let ExtraLength { least, spread } = constants.extra;
    for (extra, start) in columns.extra.iter_mut().zip(&starts) {
        // A spread of 0 draws 0.
        let len = (least + below(*start, 8, spread)).min(shared_text::SLICE_MAX);
        *extra = shared_text::letters_at(below(*start, 9, shared_text::POOL - len), len);
    }
    if least + spread == 0 {
        columns.extra.fill(Text::default());
    }
}
