//! The recorded form of events: what is written is read back as it was, and what is no event is refused with the
//! place and what is allowed there.

use nexmark_queries::event::Event;
use nexmark_queries::generator::Generator;
use nexmark_queries::ndjson::{Recorder, Table, csv_header, csv_row, write};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::streams::{bid, bid_through, lines, options, position, record};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn generated_events_survive_a_round_trip(options in options(), from in position()) {
        let generator = Generator::new(options).unwrap();
        let events: Vec<Event> = (from..from + 60).map(|position| generator.event(position)).collect();
        let written = lines(&events, generator.texts());
        let recording = record(&written);
        prop_assert_eq!(&lines(&recording.events, &recording.texts), &written);
        for (read, made) in recording.events.iter().zip(&events) {
            prop_assert_eq!(read.date_time(), made.date_time());
        }
    }
}

proptest! {
    #[test]
    fn any_text_and_any_number_survive_a_round_trip(
        texts in proptest::collection::vec(any::<String>(), 6),
        numbers in proptest::collection::vec(any::<i64>(), 6),
    ) {
        let objects = [
            json!({"person": {
                "id": numbers[0], "name": texts[0], "emailAddress": texts[1], "creditCard": texts[2],
                "city": texts[3], "state": texts[4], "dateTime": numbers[1], "extra": texts[5],
            }}),
            json!({"auction": {
                "id": numbers[0], "itemName": texts[0], "description": texts[1], "initialBid": numbers[1],
                "reserve": numbers[2], "dateTime": numbers[3], "expires": numbers[4], "seller": numbers[5],
                "category": numbers[0], "extra": texts[2],
            }}),
            json!({"bid": {
                "auction": numbers[0], "bidder": numbers[1], "price": numbers[2], "channel": texts[0],
                "url": texts[1], "dateTime": numbers[3], "extra": texts[2],
            }}),
        ];
        let given: Vec<String> = objects.iter().map(Value::to_string).collect();
        let recording = record(&given);
        for (written, object) in lines(&recording.events, &recording.texts).iter().zip(&objects) {
            prop_assert_eq!(written.matches('\n').count(), 1);
            prop_assert_eq!(&serde_json::from_str::<Value>(written).unwrap(), object);
        }
    }
}

#[test]
fn control_characters_and_quotes_are_escaped() {
    let line = bid_through(r#"\"\\\n\r\t\u0001\u001f/é\ud83d\ude00"#, "", i64::MIN, i64::MAX, 0, -1);
    let recording = record(&[&line]);
    let mut written = String::new();
    write(&recording.events[0], &recording.texts, &mut written);
    let expected = line.replace(r"\ud83d\ude00", "😀") + "\n";
    assert_eq!(written, expected);
}

#[test]
fn blank_lines_are_passed_over_and_order_is_kept() {
    let recording = record(&["", &bid(1, 2, 3, 9), " \t\r", &(bid(4, 5, 6, 7) + "\r")]);
    let times: Vec<i64> = recording.events.iter().map(Event::date_time).collect();
    assert_eq!(times, [9, 7]);
}

#[test]
fn channels_and_urls_are_kept_once() {
    let through = |channel, url| bid_through(channel, url, 1, 2, 3, 4);
    let recording = record(&[through("a", "u"), through("b", "u"), through("a", "v")]);
    let [Event::Bid(first), Event::Bid(second), Event::Bid(third)] = recording.events[..] else {
        panic!("three bids")
    };
    assert_eq!((first.channel, first.url), (third.channel, second.url));
    assert_ne!(first.channel, second.channel);
    assert_ne!(first.url, third.url);
    assert_eq!(recording.texts.channel(second.channel), "b");
    assert_eq!(recording.texts.url(third.url), "v");
}

const INTEGER: &str = "a whole number from -9223372036854775808 to 9223372036854775807";

fn assert_refused(line: &str, problem: &str) {
    let mut recorder = Recorder::new();
    let error = recorder.push_line(7, line).expect_err(line);
    assert_eq!(error.to_string(), format!("line 7: {problem}"));
    assert!(recorder.finish().events.is_empty());
}

#[test]
fn lines_that_are_no_object_of_one_table_are_refused() {
    let one = "expected an object with exactly one of the keys \"person\", \"auction\" and \"bid\"";
    assert_refused("{\"bid\":", "not JSON: EOF while parsing a value at column 7");
    assert_refused("nonsense", "not JSON: expected ident at column 2");
    assert_refused("{} {}", "not JSON: trailing characters at column 4");
    assert_refused("[1]", &format!("the line is an array, {one}"));
    assert_refused("17", &format!("the line is the number 17, {one}"));
    assert_refused("{}", &format!("the object is empty, {one}"));
    assert_refused("{\"bids\":{}}", &format!("the key is \"bids\", {one}"));
    assert_refused("{\"bid\":{},\"person\":{}}", &format!("the object has 2 keys, {one}"));
    assert_refused("{\"bid\":{},\"bid\":{}}", &format!("the object has 2 keys, {one}"));
    assert_refused("{\"bid\":null}", "bid is null, expected an object with its fields");
}

#[test]
fn fields_that_are_not_the_tables_are_refused() {
    let good = bid(1, 2, 3, 4);
    assert_refused(
        &good.replace("bidder", "buyer"),
        "bid has no field \"buyer\", its fields are auction, bidder, price, channel, url, dateTime, extra",
    );
    assert_refused(&good.replace("\"bidder\":2,", ""), &format!("bid.bidder is missing, expected {INTEGER}"));
    assert_refused(&good.replace("\"url\":\"u\",", ""), "bid.url is missing, expected a string");
    assert_refused(
        &good.replace("\"price\":3", "\"price\":3,\"price\":3"),
        "bid.price is given twice, expected once",
    );
}

#[test]
fn values_of_the_wrong_type_or_range_are_refused() {
    let good = bid(1, 2, 3, 4);
    let price = |value: &str, found: &str| {
        assert_refused(
            &good.replace("\"price\":3", &format!("\"price\":{value}")),
            &format!("bid.price is {found}, expected {INTEGER}"),
        );
    };
    price("\"3\"", "the string \"3\"");
    price("3.5", "the number 3.5");
    price("3.0", "the number 3.0");
    price("9223372036854775808", "the number 9223372036854775808");
    price("-9223372036854775809", "the number -9.223372036854776e18");
    price("null", "null");
    price("true", "true");
    price("[3]", "an array");
    price("{\"a\":[{}]}", "an object");
    assert_refused(&good.replace("\"u\"", "5"), "bid.url is the number 5, expected a string");
}

#[test]
fn a_refused_line_leaves_the_recording_as_it_was() {
    let mut recorder = Recorder::new();
    recorder.push_line(1, &bid_through("first", "u", 1, 2, 3, 4)).unwrap();
    let bad = bid_through("second", "u", 1, 2, 3, 4).replace("\"extra\":\"xc\"", "\"extra\":0");
    assert!(recorder.push_line(2, &bad).is_err());
    recorder.push_line(3, &bid_through("third", "u", 5, 6, 7, 8)).unwrap();
    let recording = recorder.finish();
    let Event::Bid(last) = recording.events[1] else { panic!("a bid") };
    assert_eq!(recording.events.len(), 2);
    assert_eq!(last.channel.0, 1, "no number was given to the refused line's channel");
    assert_eq!(recording.texts.channel(last.channel), "third");
}

#[test]
fn csv_is_quoted_where_it_must_be() {
    let mut text = String::new();
    csv_header(Table::Bid, &mut text);
    let lines = [
        bid_through("a,b", r#"say \"no\""#, 1, -2, 3, 4),
        bid_through(r"two\nlines", r"\r", 1, 2, 3, 4),
        bid_through("", "plain text", 1, 2, 3, 4),
    ];
    let recording = record(&lines);
    for event in &recording.events {
        csv_row(event, &recording.texts, &mut text);
    }
    let expected = "auction,bidder,price,channel,url,dateTime,extra\n\
        1,-2,3,\"a,b\",\"say \"\"no\"\"\",4,xc\n\
        1,2,3,\"two\nlines\",\"\r\",4,xc\n\
        1,2,3,,plain text,4,xc\n";
    assert_eq!(text, expected);
}

#[test]
fn csv_has_as_many_columns_as_its_header() {
    let generator = Generator::new(nexmark_queries::generator::Options::default()).unwrap();
    for table in Table::ALL {
        let event = (0..50).map(|position| generator.event(position)).find(|event| Table::of(event) == table);
        let mut text = String::new();
        csv_header(table, &mut text);
        csv_row(&event.unwrap(), generator.texts(), &mut text);
        let columns: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(columns, [table.fields().len(); 2], "{}", table.name());
    }
}
