//! The bids of a range of prices with a word for the time of day and a count over their text. Prices are looked at first
//! and by themselves: most bids end there, and none of their other columns is read.

use crate::answer::{Columns, Output};
use crate::block::Bids;
use crate::event::{Text, Texts};
use crate::operators::kernel::kernel;
use crate::operators::{Blocks, Environment};

/// Euros for a dollar, in thousandths.
const RATE_THOUSANDTHS: i64 = 908;
/// Least and highest price whose conversion lies strictly between 1 000 000 and 50 000 000.
const PRICE_MIN: i64 = 1_000_000 * 1000 / RATE_THOUSANDTHS + 1;
const PRICE_MAX: i64 = (50_000_000 * 1000 - 1) / RATE_THOUSANDTHS;

const MS_PER_HOUR: i64 = 60 * 60 * 1000;
const MS_PER_DAY: i64 = 24 * MS_PER_HOUR;

/// Part of the day in which a bid was made.
#[derive(Clone, Copy, Debug)]
enum TimeOfDay {
    Day,
    Night,
    Other,
}

impl TimeOfDay {
    #[inline]
    fn of(epoch_ms: i64) -> Self {
        match epoch_ms.rem_euclid(MS_PER_DAY) / MS_PER_HOUR {
            8..=18 => Self::Day,
            7 | 19 => Self::Other,
            _ => Self::Night,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Day => "dayTime",
            Self::Night => "nightTime",
            Self::Other => "otherTime",
        }
    }
}

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    auction: i64,
    bidder: i64,
    /// Converted; the range of prices keeps it within 64 bits.
    price_thousandths: i64,
    date_time: i64,
    extra: Text,
    c_counts: u32,
    bid_time_type: TimeOfDay,
}

impl Output for Row {
    fn columns(&self, texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.auction);
        columns.integer(self.bidder);
        columns.decimal(self.price_thousandths.into());
        columns.text(self.bid_time_type.word());
        columns.time(self.date_time);
        columns.text(texts.get(self.extra));
        columns.integer(self.c_counts.into());
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let texts = environment.texts.clone();
    let mut selected = Vec::new();
    let rows = kernel(blocks, "q14", move |block, rows| calculate(&block.bids, &texts, &mut selected, rows));
    environment.output(rows);
}

/// Appends the rows of some bids. `selected` is room for the numbers of those that are in the range.
fn calculate(bids: &Bids, texts: &Texts, selected: &mut Vec<u32>, rows: &mut Vec<Row>) {
    select(&bids.price, selected);
    rows.extend(selected.iter().map(|index| {
        let index = *index as usize;
        let (date_time, extra) = (bids.date_time[index], bids.extra[index]);
        Row {
            auction: bids.auction[index],
            bidder: bids.bidder[index],
            price_thousandths: bids.price[index] * RATE_THOUSANDTHS,
            date_time,
            extra,
            c_counts: count_c(texts.get(extra).as_bytes()),
            bid_time_type: TimeOfDay::of(date_time),
        }
    }));
}

/// Numbers of the prices that are in the range. Which they are cannot be foreseen, so every number is written and the
/// place moves on only behind those to keep: no jump to be guessed wrong.
fn select(prices: &[i64], selected: &mut Vec<u32>) {
    if selected.len() < prices.len() {
        selected.resize(prices.len(), 0);
    }
    let mut kept = 0;
    for (index, price) in prices.iter().enumerate() {
        selected[kept] = index as u32;
        kept += usize::from((PRICE_MIN..=PRICE_MAX).contains(price));
    }
    selected.truncate(kept);
}

/// How often the byte `c` occurs. In UTF-8 it is never a part of another character.
fn count_c(text: &[u8]) -> u32 {
    memchr::memchr_iter(b'c', text).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::against_oracle::{Made, answer};

    fn lines(bids: &[Made<'_>]) -> Vec<String> {
        let mut selected = vec![7; 3];
        answer(&crate::q14::QUERY, bids, |bids, texts, rows| calculate(bids, texts, &mut selected, rows))
    }

    #[test]
    fn prices_are_taken_strictly_between_the_bounds() {
        let prices = [PRICE_MIN - 1, PRICE_MIN, PRICE_MAX, PRICE_MAX + 1, 0, -2_000_000, i64::MAX, i64::MIN];
        let bids = prices.map(|price| Made { price, extra: "", ..Made::default() });
        assert_eq!(
            lines(&bids),
            ["1|2|1000000.376|nightTime|4||0", "1|2|49999999.732|nightTime|4||0"],
            "1101322 and 55066079"
        );
    }

    #[test]
    fn every_hour_has_its_word_before_the_epoch_too() {
        let hours: Vec<Made<'_>> = (-24..24)
            .flat_map(|hour| [hour * MS_PER_HOUR, (hour + 1) * MS_PER_HOUR - 1])
            .chain([i64::MIN, i64::MAX])
            .map(|date_time| Made { date_time, price: 2_000_000, ..Made::default() })
            .collect();
        let lines = lines(&hours);
        let of = |word: &str| lines.iter().filter(|line| line.contains(word)).count();
        // 11 hours of the day, 2 that are neither, 11 of the night; two moments of each, on two days.
        assert_eq!((of("dayTime"), of("otherTime"), of("nightTime")), (44 + 1, 8 + 1, 44));
    }

    #[test]
    fn the_letter_is_counted_in_any_text() {
        let long = "c".repeat(1000);
        let texts =
            ["", "c", "C", "xcxc", "ç\u{63}\u{327}č", "ｃ", &long, "abcabcabcabcabcabcabcabcabcabcabcabcab"];
        for (extra, count) in texts.into_iter().zip([0, 1, 0, 2, 1, 0, 1000, 12]) {
            let lines = lines(&[Made { extra, price: 2_000_000, ..Made::default() }]);
            assert_eq!(lines, [format!("1|2|1816000.000|nightTime|4|{extra}|{count}")]);
        }
    }

    #[test]
    fn blocks_of_any_length_follow_each_other() {
        let mut selected = Vec::new();
        for prices in [vec![2_000_000; 5], vec![], vec![1; 3], vec![2_000_000, 1, 2_000_000]] {
            select(&prices, &mut selected);
            let expected: Vec<u32> =
                (0..).zip(&prices).filter(|(_, price)| **price > 1).map(|(i, _)| i).collect();
            assert_eq!(selected, expected);
        }
    }
}
