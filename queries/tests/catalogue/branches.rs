//! Every branch of every query: on the golden configurations where these reach it, else on events made by hand. Each
//! test of a made stream holds the whole answer, so that it fails when a row is missing, wrong or too many.

use std::collections::BTreeSet;

use nexmark_queries::answer::{Row, Value};
use nexmark_queries::event::Event;
use nexmark_queries::find;
use nexmark_queries::generator::{Generator, Options};

use crate::answers::rows;
use crate::golden::{Golden, events};
use crate::streams::{answer, auction, bid, bid_through, person, record};

fn golden_answer(query: &str, name: &str) -> Vec<Row> {
    let golden = Golden::read(name);
    let generator = golden.generator();
    rows(find(query).expect("a query"), &events(&generator, golden.events), generator.texts())
}

/// The answer over some events of three days: one event a second, every 17th of them.
fn three_days(query: &str) -> Vec<Row> {
    let generator =
        Generator::new(Options { event_rate: 1, ..Options::default() }).expect("options in range");
    let events: Vec<Event> = (0..3 * 86_400).step_by(17).map(|position| generator.event(position)).collect();
    rows(find(query).expect("a query"), &events, generator.texts())
}

/// The different values of a column.
fn column(query: &str, name: &str, rows: &[Row]) -> BTreeSet<Value> {
    let columns = find(query).expect("a query").columns;
    let index = columns.iter().position(|column| column.name == name).expect("a column");
    rows.iter().map(|row| row[index].clone()).collect()
}

fn texts<const N: usize>(values: [&str; N]) -> BTreeSet<Value> {
    values.map(|value| Value::Text(value.to_owned())).into()
}

fn positive(values: &BTreeSet<Value>) -> bool {
    values.iter().any(|value| *value > Value::Integer(0))
}

#[track_caller]
fn assert_answer(query: &str, lines: &[String], expected: &[&str]) {
    assert_eq!(answer(query, &record(lines)), expected, "{query}");
}

#[test]
fn q0_and_q10_pass_every_bid_and_no_other_event() {
    let lines = [person(1, "p", "CA", 0), auction(1, 1, 10, (0, 9)), bid(1, 2, 3, -1), bid(1, 2, 3, -1)];
    assert_answer("q0", &lines, &["1|2|3|-1|xc", "1|2|3|-1|xc"]);
    assert_answer("q10", &lines, &["1|2|3|-1|xc|1969-12-31|23:59", "1|2|3|-1|xc|1969-12-31|23:59"]);
}

#[test]
fn q1_is_exact_for_any_price() {
    let lines = [bid(1, 2, i64::MAX, 0), bid(1, 2, i64::MIN, 0), bid(1, 2, -1, 0), bid(1, 2, 1500, 0)];
    let expected = [
        "1|2|-0.908|0|xc",
        "1|2|-8374821809464136433.664|0|xc",
        "1|2|1362.000|0|xc",
        "1|2|8374821809464136432.756|0|xc",
    ];
    assert_answer("q1", &lines, &expected);
}

#[test]
fn q2_takes_multiples_of_123_of_either_sign() {
    let lines = [bid(123, 2, 3, 0), bid(-246, 2, 4, 0), bid(0, 2, 5, 0), bid(124, 2, 6, 0), bid(-1, 2, 7, 0)];
    assert_answer("q2", &lines, &["-246|4", "0|5", "123|3"]);
}

#[test]
fn q3_joins_each_state_asked_for_in_any_order_of_arrival() {
    assert_eq!(column("q3", "state", &golden_answer("q3", "a")), texts(["CA", "ID", "OR"]));
    let lines = [
        auction(7, 1, 10, (0, 9)),
        person(1, "first", "OR", 0),
        person(1, "again", "ID", 5_000_000),
        person(2, "elsewhere", "WA", 0),
        auction(8, 2, 10, (0, 9)),
        auction(9, 1, 11, (0, 9)),
        auction(10, 1, 10, (0, 9)),
    ];
    assert_answer(
        "q3",
        &lines,
        &["again|Bend|ID|10", "again|Bend|ID|7", "first|Bend|OR|10", "first|Bend|OR|7"],
    );
}

#[test]
fn q4_counts_bids_at_both_ends_of_an_auction_and_truncates_toward_zero() {
    let lines = [
        // Category 10: prices 5 (at the start) and 8 (at the end), average 6.5.
        bid(1, 9, 5, 100),
        auction(1, 1, 10, (100, 200)),
        bid(1, 9, 900, 99),
        bid(1, 9, 901, 201),
        auction(2, 1, 10, (100, 200)),
        bid(2, 9, 8, 200),
        bid(2, 9, 6, 150),
        // Category 11: -1 and -2, average -1.5. Category 12: no valid bid, no row.
        auction(3, 1, 11, (100, 200)),
        bid(3, 9, -1, 150),
        auction(4, 1, 11, (100, 200)),
        bid(4, 9, -2, 150),
        auction(5, 1, 12, (100, 200)),
        bid(5, 9, 1, 300),
    ];
    assert_answer("q4", &lines, &["10|6", "11|-1"]);
    let categories = column("q4", "category", &golden_answer("q4", "a"));
    assert_eq!(categories, (10..15).map(Value::Integer).collect());
}

#[test]
fn q5_gives_every_window_all_auctions_that_tie() {
    let lines = [bid(1, 9, 5, 9_999), bid(2, 9, 5, 9_000), bid(2, 9, 5, -1), bid(1, 9, 5, 10_000)];
    let expected = [
        // The bid at -1 is only in windows that start below 0, that at 10000 only in those that end above it.
        "1|1|0|10000",
        "1|1|10000|20000",
        "1|2|2000|12000",
        "1|2|4000|14000",
        "1|2|6000|16000",
        "1|2|8000|18000",
        "2|1|-10000|0",
        "2|1|-2000|8000",
        "2|1|-4000|6000",
        "2|1|-6000|4000",
        "2|1|-8000|2000",
        "2|1|0|10000",
    ];
    assert_answer("q5", &lines, &expected);
}

#[test]
fn q6_averages_the_last_ten_auctions_in_the_order_of_expiry() {
    // Auction n expires at 1000 - n and sells for n * n: expiry runs against ids and arrival.
    let mut lines = Vec::new();
    for id in 1..=12 {
        lines.push(auction(id, 1, 10, (0, 1000 - id)));
        lines.push(bid(id, 9, id * id, 5));
    }
    // Ties in expiry go by id; a seller of negative prices; an auction without a valid bid.
    lines.extend([
        auction(31, 2, 10, (0, 50)),
        auction(30, 2, 10, (0, 50)),
        bid(31, 9, -4, 5),
        bid(30, 9, -1, 5),
        auction(32, 2, 10, (0, 40)),
    ]);
    let square_mean = |ids: std::ops::RangeInclusive<i64>| {
        let count = ids.clone().count() as i64;
        ids.map(|id| id * id).sum::<i64>() / count
    };
    let mut expected: Vec<String> =
        (1..=12).map(|id: i64| format!("1|{id}|{}", square_mean(id..=(id + 9).min(12)))).collect();
    expected.extend(["2|30|-1".to_owned(), "2|31|-2".to_owned()]);
    expected.sort_unstable();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    assert_answer("q6", &lines, &expected);
}

#[test]
fn q7_takes_ties_and_puts_a_bid_on_a_windows_end_into_the_next() {
    let lines = [
        bid(1, 2, 50, 0),
        bid(3, 4, 50, 9_999),
        bid(5, 6, 49, 5_000),
        // On the end of the first window: higher than all of it, yet not in it.
        bid(7, 8, 60, 10_000),
        bid(9, 9, 59, 10_001),
        bid(1, 1, -5, -1),
        bid(1, 1, -6, -10_000),
    ];
    assert_answer("q7", &lines, &["1|1|-5|-1|xc", "1|2|50|0|xc", "3|4|50|9999|xc", "7|8|60|10000|xc"]);
}

#[test]
fn q8_gives_one_row_a_person_and_window() {
    let lines = [
        auction(1, 1, 10, (9_999, 9_999)),
        auction(2, 1, 10, (5, 9_999)),
        person(1, "both", "CA", 0),
        person(2, "later", "CA", 9_999),
        auction(3, 2, 10, (10_000, 20_000)),
        person(3, "before", "CA", -1),
        auction(4, 3, 10, (-10_000, 5)),
        person(4, "none", "CA", 0),
        person(1, "other name", "CA", 5),
        person(1, "both", "CA", 6),
    ];
    assert_answer("q8", &lines, &["1|both|0", "1|other name|0", "3|before|-10000"]);
}

#[test]
fn q9_takes_the_earliest_of_the_highest_bids() {
    let lines = [
        bid(1, 3, 70, 160),
        auction(1, 1, 10, (100, 200)),
        bid(1, 2, 70, 150),
        bid(1, 4, 69, 110),
        bid(1, 5, 71, 201),
        auction(2, 1, 10, (100, 200)),
    ];
    assert_answer("q9", &lines, &["1|70|150"]);
}

#[test]
fn q9_treats_every_row_of_a_repeated_id_as_an_auction() {
    let lines = [
        auction(1, 1, 10, (100, 200)),
        auction(1, 2, 11, (150, 300)),
        bid(1, 2, 5, 120),
        bid(1, 2, 7, 180),
        bid(1, 2, 6, 250),
    ];
    assert_answer("q9", &lines, &["1|7|180", "1|7|180"]);
    assert_answer("q4", &lines, &["10|7", "11|7"]);
    assert_answer("q6", &lines, &["1|1|7", "2|1|7"]);
}

#[test]
fn q11_ends_a_session_after_more_than_ten_seconds() {
    let lines = [
        bid(1, 1, 5, 20_000),
        bid(1, 1, 5, 0),
        bid(1, 1, 5, 10_000),
        bid(1, 1, 5, 30_001),
        bid(1, 2, 5, 25_000),
        bid(1, 1, 5, -10_001),
    ];
    let expected = ["1|1|-10001|-1", "1|1|30001|40001", "1|3|0|30000", "2|1|25000|35000"];
    assert_answer("q11", &lines, &expected);
    let counts = column("q11", "bid_count", &golden_answer("q11", "b"));
    assert!(counts.len() > 10, "sessions of many lengths: {counts:?}");
}

#[test]
fn q12_counts_bids_of_a_bidder_whenever_they_are() {
    let lines = [bid(1, 1, 5, 0), bid(2, 1, 5, 1 << 40), bid(1, -2, 5, 0), person(1, "p", "CA", 0)];
    assert_answer("q12", &lines, &["-2|1", "1|2"]);
}

#[test]
fn q13_finds_every_key_of_the_side_table_and_none_beside_it() {
    let lines = [
        bid(10_000, 1, 5, 0),
        bid(29_999, 1, 5, 0),
        bid(7, 1, 5, 0),
        bid(-7, 1, 5, 0),
        bid(-10_000, 1, 5, 0),
    ];
    assert_answer("q13", &lines, &["-10000|1|5|0|0", "10000|1|5|0|0", "29999|1|5|0|9999", "7|1|5|0|7"]);
}

#[test]
fn q14_has_every_time_of_day() {
    let types = column("q14", "bidTimeType", &three_days("q14"));
    assert_eq!(types, texts(["dayTime", "nightTime", "otherTime"]));
}

#[test]
fn q14_changes_at_the_hours_and_prices_of_its_definition() {
    const HOUR: i64 = 3_600_000;
    let at = |time| bid(1, 2, 2_000_000, time);
    let mut lines = Vec::new();
    for hour in [7, 8, 19, 20] {
        lines.extend([at(hour * HOUR - 1), at(hour * HOUR)]);
    }
    // 1101322 * 0.908 is the first above a million; 55066079 * 0.908 the last below fifty.
    for price in [1_101_321, 1_101_322, 55_066_079, 55_066_080, -2_000_000] {
        lines.push(bid(3, 4, price, 0));
    }
    let mut expected = vec![
        format!("1|2|1816000.000|nightTime|{}|xc|1", 7 * HOUR - 1),
        format!("1|2|1816000.000|otherTime|{}|xc|1", 7 * HOUR),
        format!("1|2|1816000.000|otherTime|{}|xc|1", 8 * HOUR - 1),
        format!("1|2|1816000.000|dayTime|{}|xc|1", 8 * HOUR),
        format!("1|2|1816000.000|dayTime|{}|xc|1", 19 * HOUR - 1),
        format!("1|2|1816000.000|otherTime|{}|xc|1", 19 * HOUR),
        format!("1|2|1816000.000|otherTime|{}|xc|1", 20 * HOUR - 1),
        format!("1|2|1816000.000|nightTime|{}|xc|1", 20 * HOUR),
        "3|4|1000000.376|nightTime|0|xc|1".to_owned(),
        "3|4|49999999.732|nightTime|0|xc|1".to_owned(),
    ];
    expected.sort_unstable();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    assert_answer("q14", &lines, &expected);
    let counts = column("q14", "c_counts", &golden_answer("q14", "a"));
    assert!(counts.contains(&Value::Integer(0)) && counts.len() > 5, "{counts:?}");
}

#[test]
fn q15_q16_and_q17_have_several_days_and_all_ranks() {
    for query in ["q15", "q16", "q17"] {
        let rows = three_days(query);
        assert_eq!(column(query, "day", &rows), texts(["2015-07-15", "2015-07-16", "2015-07-17"]), "{query}");
        for rank in ["rank1_bids", "rank2_bids", "rank3_bids"] {
            assert!(positive(&column(query, rank, &rows)), "{query} {rank}");
        }
    }
    let minutes = column("q16", "minute", &three_days("q16"));
    assert!(minutes.len() > 100, "{} different minutes", minutes.len());
}

#[test]
fn q15_q16_and_q17_change_rank_at_their_prices_and_count_the_different() {
    let through =
        |channel: &str, auction, bidder, price, time| bid_through(channel, "u", auction, bidder, price, time);
    let lines = [
        through("a", 1, 7, 9_999, 60_000),
        through("a", 1, 7, 10_000, 120_000),
        through("a", 2, 7, 999_999, 59_999),
        through("b", 1, 8, 1_000_000, 0),
        through("a", 1, 9, -3, -1),
    ];
    assert_answer(
        "q15",
        &lines,
        &["1969-12-31|1|1|0|0|1|1|0|0|1|1|0|0", "1970-01-01|4|1|2|1|2|1|1|1|2|1|2|1"],
    );
    assert_answer(
        "q16",
        &lines,
        &[
            "a|1969-12-31|23:59|1|1|0|0|1|1|0|0|1|1|0|0",
            "a|1970-01-01|00:02|3|1|2|0|1|1|1|0|2|1|2|0",
            "b|1970-01-01|00:00|1|0|0|1|1|0|0|1|1|0|0|1",
        ],
    );
    assert_answer(
        "q17",
        &lines,
        &[
            "1|1969-12-31|1|1|0|0|-3|-3|-3|-3",
            "1|1970-01-01|3|1|1|1|9999|1000000|339999|1019999",
            "2|1970-01-01|1|0|1|0|999999|999999|999999|999999",
        ],
    );
}

#[test]
fn q18_keeps_one_row_a_pair_also_when_the_latest_come_twice_or_first() {
    let lines = [bid(1, 1, 5, 9), bid(1, 1, 6, 9), bid(1, 1, 7, 3), bid(2, 1, 5, -4), bid(1, 2, 5, 1)];
    assert_answer("q18", &lines, &["1|1|9", "1|2|1", "2|1|-4"]);
}

#[test]
fn q19_ranks_ten_without_gaps_also_when_prices_tie() {
    let mut lines: Vec<String> = (1..=12).map(|price| bid(1, 1, price, 0)).collect();
    lines.extend([bid(1, 2, 12, 5), bid(2, 2, -1, 0)]);
    let mut expected = vec!["1|12|1".to_owned(), "1|12|2".to_owned(), "2|-1|1".to_owned()];
    expected.extend((3..=10).map(|rank| format!("1|{}|{rank}", 14 - rank)));
    expected.sort_unstable();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    assert_answer("q19", &lines, &expected);
    assert_eq!(column("q19", "rank_number", &golden_answer("q19", "a")).len(), 10);
}

#[test]
fn q20_joins_every_pair_whenever_it_arrives() {
    let lines = [
        bid(1, 2, 3, 4),
        auction(1, 5, 10, (100, 200)),
        auction(1, 6, 10, (100, 200)),
        auction(1, 7, 11, (100, 200)),
        auction(2, 8, 10, (100, 200)),
    ];
    let row = |seller: i64| format!("1|2|3|Google|u|4|xc|i|d|1|2|100|200|{seller}|10|");
    assert_answer("q20", &lines, &[&row(5), &row(6)]);
}

#[test]
fn q21_has_every_channel_id_and_leaves_bids_out() {
    let rows = golden_answer("q21", "a");
    let ids = column("q21", "channel_id", &rows);
    assert!(ids.is_superset(&texts(["0", "1", "2", "3"])), "the known channels");
    assert!(ids.len() > 1000, "channels by their URL: {}", ids.len());
    assert!(rows.len() < golden_answer("q0", "a").len(), "left out");
}

#[test]
fn q21_reads_names_in_any_case_and_only_a_whole_parameter() {
    let through = |channel: &str, url: &str| bid_through(channel, url, 1, 2, 3, 4);
    let lines = [
        through("aPPle", "&channel_id=77"),
        through("google", ""),
        through("FACEBOOK", ""),
        through("Baidu", ""),
        through("first", "channel_id=5&x=1"),
        through("second", "?q=1&channel_id=6&channel_id=7"),
        through("empty", "?q=1&channel_id=&y=2"),
        // Neither at the start nor after an ampersand, or another parameter.
        through("question mark", "http://x/?channel_id=8"),
        through("longer", "&my_channel_id=9"),
        through("apples", "no parameter"),
    ];
    let expected = [
        "1|2|3|Baidu|3",
        "1|2|3|FACEBOOK|2",
        "1|2|3|aPPle|0",
        "1|2|3|empty|",
        "1|2|3|first|5",
        "1|2|3|google|1",
        "1|2|3|second|6",
    ];
    assert_answer("q21", &lines, &expected);
}

#[test]
fn q22_counts_empty_parts_and_gives_null_beyond_the_last() {
    let through = |url: &str| bid_through("c", url, 1, 2, 3, 4);
    let lines = [through("https://h/a/b/c/d"), through("https://h//b/"), through("https://h/a"), through("")];
    let expected = ["1|2|3|c|\\N|\\N|\\N", "1|2|3|c|a|\\N|\\N", "1|2|3|c|a|b|c", "1|2|3|c||b|"];
    assert_answer("q22", &lines, &expected);
    assert!(!column("q22", "dir3", &golden_answer("q22", "a")).contains(&Value::Null));
}

#[test]
fn q23_joins_every_triple_whenever_it_arrives() {
    let lines = [
        bid(40, 1, 3, 4),
        auction(5, 1, 10, (100, 200)),
        person(1, "p", "CA", 0),
        auction(6, 1, 11, (100, 200)),
        person(2, "no auction", "CA", 0),
        bid(5, 2, 3, 4),
        auction(7, 3, 10, (100, 200)),
        bid(5, 3, 3, 4),
    ];
    let row = |auction: i64, category: i64| {
        format!("40|1|3|Google|u|4|xc|p|e|c|Bend|CA||{auction}|i|d|1|2|100|200|{category}|")
    };
    assert_answer("q23", &lines, &[&row(5, 10), &row(6, 11)]);
}

#[test]
fn answers_at_the_ends_of_time_are_given() {
    let lines = [
        person(1, "p", "CA", i64::MIN),
        auction(1, 1, 10, (i64::MIN, i64::MAX)),
        bid(1, 1, i64::MAX, i64::MAX),
        bid(1, 1, i64::MAX, i64::MIN),
    ];
    let recording = record(&lines);
    for query in nexmark_queries::ALL {
        // q2 wants another auction, q14 a price of millions.
        let expected_rows = !["q2", "q14"].contains(&query.name);
        assert_eq!(!answer(query.name, &recording).is_empty(), expected_rows, "{}", query.name);
    }
    let ends =
        ["1|1|-9223372036854775808|-9223372036854765808", "1|1|9223372036854775807|9223372036854775807"];
    assert_eq!(answer("q11", &recording), ends);
}
