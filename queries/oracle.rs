//! What the oracles share: the tables of a stream, the calendar, windows, valid bids, statistics. Slow and obvious, and
//! independent of the operators and of the generator, so that no fault of theirs can hide here as well.

use std::collections::{BTreeSet, HashMap};

use crate::answer::Value;
use crate::event::{Auction, Bid, Event, Person};

const MS_PER_MINUTE: i64 = 60 * 1000;
const MS_PER_HOUR: i64 = 60 * MS_PER_MINUTE;
const MS_PER_DAY: i64 = 24 * MS_PER_HOUR;

/// Rows of table person.
pub(crate) fn persons(events: &[Event]) -> impl Iterator<Item = &Person> {
    events.iter().filter_map(|event| match event {
        Event::Person(person) => Some(person),
        _ => None,
    })
}

/// Rows of table auction.
pub(crate) fn auctions(events: &[Event]) -> impl Iterator<Item = &Auction> {
    events.iter().filter_map(|event| match event {
        Event::Auction(auction) => Some(auction),
        _ => None,
    })
}

/// Rows of table bid.
pub(crate) fn bids(events: &[Event]) -> impl Iterator<Item = &Bid> {
    events.iter().filter_map(|event| match event {
        Event::Bid(bid) => Some(bid),
        _ => None,
    })
}

/// Rows by a key that need not be unique.
pub(crate) fn by_key<T>(rows: impl Iterator<Item = T>, key: impl Fn(&T) -> i64) -> HashMap<i64, Vec<T>> {
    let mut groups: HashMap<i64, Vec<T>> = HashMap::new();
    for row in rows {
        groups.entry(key(&row)).or_default().push(row);
    }
    groups
}

/// Text of an answer.
pub(crate) fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

/// Time of an answer. At the ends of 64 bits a window may begin or end beyond them; it is then shown at the end.
pub(crate) fn time(epoch_ms: i128) -> Value {
    Value::Time(epoch_ms.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
}

/// Count or sum of an answer; a sum beyond 64 bits wraps, as that of a SQL engine in BIGINT.
pub(crate) fn integer(value: i128) -> Value {
    Value::Integer(value as i64)
}

/// Start of the tumbling window of `size_ms`, aligned to the epoch, that holds a time.
pub(crate) fn window_start(epoch_ms: i64, size_ms: i128) -> i128 {
    i128::from(epoch_ms).div_euclid(size_ms) * size_ms
}

/// Hour of the day in UTC, 0 to 23.
pub(crate) fn hour(epoch_ms: i64) -> i64 {
    epoch_ms.rem_euclid(MS_PER_DAY) / MS_PER_HOUR
}

/// Minute of the day in UTC, as `HH:mm`.
pub(crate) fn minute(epoch_ms: i64) -> String {
    format!("{:02}:{:02}", hour(epoch_ms), epoch_ms.rem_euclid(MS_PER_HOUR) / MS_PER_MINUTE)
}

/// Day in UTC, as `yyyy-MM-dd`: Gregorian throughout, year 0 before year 1, at least four digits of the year.
pub(crate) fn day(epoch_ms: i64) -> String {
    // The calendar repeats every 400 years, which are 146 097 days.
    let days = epoch_ms.div_euclid(MS_PER_DAY);
    let mut year = 1970 + days.div_euclid(146_097) * 400;
    let mut rest = days.rem_euclid(146_097);
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    while rest >= 365 + i64::from(leap(year)) {
        rest -= 365 + i64::from(leap(year));
        year += 1;
    }
    let months = [31, 28 + i64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while rest >= months[month] {
        rest -= months[month];
        month += 1;
    }
    let sign = if year < 0 { "-" } else { "" };
    format!("{sign}{:04}-{:02}-{:02}", year.abs(), month + 1, rest + 1)
}

/// An auction with the bid that won it.
pub(crate) struct Won<'a> {
    /// The auction.
    pub(crate) auction: &'a Auction,
    /// Its valid bid with the highest price, the earliest at that price.
    pub(crate) bid: &'a Bid,
}

/// Every auction that has a valid bid: one made while it is open, both ends included. Each row of table auction counts
/// as an auction, so when a recorded stream gives an id twice, a bid may win both.
pub(crate) fn won(events: &[Event]) -> Vec<Won<'_>> {
    let bids = by_key(bids(events), |bid| bid.auction);
    let mut won = Vec::new();
    for auction in auctions(events) {
        let bids = bids.get(&auction.id).map_or(&[][..], Vec::as_slice);
        let valid =
            bids.iter().filter(|bid| auction.date_time <= bid.date_time && bid.date_time <= auction.expires);
        if let Some(bid) = valid.max_by_key(|bid| (bid.price, std::cmp::Reverse(bid.date_time))) {
            won.push(Won { auction, bid });
        }
    }
    won
}

/// Average, truncated toward zero; `values` is not empty.
pub(crate) fn average(values: &[i64]) -> Value {
    let sum: i128 = values.iter().map(|value| i128::from(*value)).sum();
    Value::Integer((sum / values.len() as i128) as i64)
}

/// Rank of a price, 1 to 3.
fn rank(price: i64) -> usize {
    if price < 10_000 {
        1
    } else if price < 1_000_000 {
        2
    } else {
        3
    }
}

/// Numbers of bids: all, then ranks 1 to 3.
pub(crate) fn bid_counts(bids: &[&Bid]) -> Vec<Value> {
    counts(bids, |bids| bids.count())
}

/// Numbers of bids, of different bidders and of different auctions, each in all and in ranks 1 to 3.
pub(crate) fn statistics(bids: &[&Bid]) -> Vec<Value> {
    let mut row = bid_counts(bids);
    row.extend(counts(bids, |bids| bids.map(|bid| bid.bidder).collect::<BTreeSet<_>>().len()));
    row.extend(counts(bids, |bids| bids.map(|bid| bid.auction).collect::<BTreeSet<_>>().len()));
    row
}

fn counts<'a>(bids: &[&'a Bid], count: impl Fn(&mut dyn Iterator<Item = &'a Bid>) -> usize) -> Vec<Value> {
    let all = count(&mut bids.iter().copied());
    let ranks =
        (1..=3).map(|wanted| count(&mut bids.iter().copied().filter(|bid| rank(bid.price) == wanted)));
    std::iter::once(all).chain(ranks).map(|count| integer(count as i128)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_right_near_and_far() {
        let cases = [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (1_436_918_400_000 - 1, "2015-07-14"),
            (1_436_918_400_000, "2015-07-15"),
            (951_782_400_000, "2000-02-29"),
            (951_868_800_000, "2000-03-01"),
            (4_107_542_400_000, "2100-03-01"),
            (-2_203_977_600_000, "1900-02-28"),
            (-2_203_891_200_000, "1900-03-01"),
            (253_402_300_800_000, "10000-01-01"),
            (-62_135_596_800_000, "0001-01-01"),
            (-62_167_219_200_000, "0000-01-01"),
            (-62_167_219_200_001, "-0001-12-31"),
            (i64::MAX, "292278994-08-17"),
            (i64::MIN, "-292275055-05-16"),
        ];
        for (epoch_ms, expected) in cases {
            assert_eq!(day(epoch_ms), expected, "{epoch_ms}");
        }
    }

    #[test]
    fn minutes_count_from_midnight_before_the_epoch_too() {
        assert_eq!(minute(0), "00:00");
        assert_eq!(minute(-1), "23:59");
        assert_eq!(minute(1_436_918_400_000 + 13 * MS_PER_HOUR + 5 * MS_PER_MINUTE + 59_999), "13:05");
        assert_eq!(hour(-MS_PER_HOUR - 1), 22);
    }

    #[test]
    fn windows_are_closed_at_the_start_and_open_at_the_end() {
        assert_eq!(window_start(9_999, 10_000), 0);
        assert_eq!(window_start(10_000, 10_000), 10_000);
        assert_eq!(window_start(-1, 10_000), -10_000);
        assert_eq!(time(window_start(i64::MIN, 10_000)), Value::Time(i64::MIN));
    }

    #[test]
    fn averages_are_truncated_toward_zero() {
        assert_eq!(average(&[1, 2]), Value::Integer(1));
        assert_eq!(average(&[-1, -2]), Value::Integer(-1));
        assert_eq!(average(&[i64::MAX, i64::MAX]), Value::Integer(i64::MAX));
    }
}
