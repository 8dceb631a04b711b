//! The bids with a value of the side table. The table is made when the dataflow is, on every worker; its keys follow each
//! other, so a value is found by its place.

use super::{SIDE_KEYS, side_value};
use crate::answer::{Columns, Output};
use crate::block::Bids;
use crate::event::{ShortText, Texts};
use crate::operators::kernel::kernel;
use crate::operators::{Blocks, Environment};

/// Auctions are looked up by their remainder by this.
const DIVISOR: i64 = 10_000;

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    auction: i64,
    bidder: i64,
    price: i64,
    date_time: i64,
    value: ShortText,
}

impl Output for Row {
    fn columns(&self, texts: &Texts, columns: &mut dyn Columns) {
        columns.integer(self.auction);
        columns.integer(self.bidder);
        columns.integer(self.price);
        columns.time(self.date_time);
        columns.text(self.value.get(texts));
    }
}

/// Values of consecutive keys.
#[derive(Debug)]
struct SideTable {
    first_key: i64,
    values: Box<[ShortText]>,
}

impl SideTable {
    fn new() -> Self {
        let value = |key| ShortText::inline(&side_value(key)).expect("a value of at most 23 bytes");
        Self { first_key: SIDE_KEYS.start, values: SIDE_KEYS.map(value).collect() }
    }

    #[inline]
    fn get(&self, key: i64) -> Option<ShortText> {
        // A key below the first one wraps to an index beyond the last.
        self.values.get(key.wrapping_sub(self.first_key) as u64 as usize).copied()
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let side = SideTable::new();
    environment.state_gauge().set(size_of_val(&*side.values));
    let rows = kernel(blocks, "q13", move |block, rows| join(&block.bids, &side, rows));
    environment.output(rows);
}

fn join(bids: &Bids, side: &SideTable, rows: &mut Vec<Row>) {
    rows.reserve(bids.len());
    let keys = bids.auction.iter().zip(&bids.bidder);
    for ((auction, bidder), (price, date_time)) in keys.zip(bids.price.iter().zip(&bids.date_time)) {
        if let Some(value) = side.get(*auction % DIVISOR) {
            rows.push(Row {
                auction: *auction,
                bidder: *bidder,
                price: *price,
                date_time: *date_time,
                value,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::against_oracle::{Made, answer};

    fn lines(auctions: impl IntoIterator<Item = i64>) -> Vec<String> {
        let bids: Vec<Made<'_>> =
            auctions.into_iter().map(|auction| Made { ids: (auction, 2), ..Made::default() }).collect();
        answer(&crate::q13::QUERY, &bids, |bids, _texts, rows| join(bids, &SideTable::new(), rows))
    }

    #[test]
    fn remainders_are_keys_and_negative_ones_are_not() {
        let auctions = [0, 7, 9_999, 10_000, -1, -9_999, -10_000, i64::MAX, i64::MIN];
        let expected = [
            "-10000|2|3|4|0",
            "0|2|3|4|0",
            "10000|2|3|4|0",
            "7|2|3|4|7",
            "9223372036854775807|2|3|4|5807",
            "9999|2|3|4|9999",
        ];
        assert_eq!(lines(auctions), expected);
    }

    #[test]
    fn every_key_has_its_own_value() {
        assert_eq!(lines(20_000..30_000).len(), 10_000);
    }

    #[test]
    fn a_table_has_nothing_beside_its_keys() {
        let value = |text| ShortText::inline(text).expect("short");
        let side = SideTable { first_key: 5, values: [value("five"), value("six")].into() };
        let get = |key| side.get(key).map(|value| value.get(&Texts::default()).to_owned());
        assert_eq!([5, 6].map(get), [Some("five".to_owned()), Some("six".to_owned())]);
        assert_eq!([4, 7, -1, 0, i64::MIN, i64::MAX].map(get), [const { None }; 6]);
    }
}
