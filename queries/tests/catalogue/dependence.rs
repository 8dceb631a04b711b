//! What an answer depends on: exactly the tables and fields that the query reads. One event left out or changed in such
//! a field changes the answer; any change of another field does not.

use nexmark_queries::answer::Digest;
use nexmark_queries::event::Event;
use nexmark_queries::generator::{Generator, Options};
use nexmark_queries::ndjson::{Recording, Table};
use nexmark_queries::{ALL, Query, find};
use serde_json::Value;

use crate::answers::rows;
use crate::golden::events;
use crate::streams::{lines, record};

/// The fields that each query reads: of persons, of auctions, of bids.
const READ: [(&str, &str, &str, &str); 24] = [
    ("q0", "", "", "auction bidder price dateTime extra"),
    ("q1", "", "", "auction bidder price dateTime extra"),
    ("q2", "", "", "auction price"),
    ("q3", "id name city state", "id seller category", ""),
    ("q4", "", "id dateTime expires category", "auction price dateTime"),
    ("q5", "", "", "auction dateTime"),
    ("q6", "", "id dateTime expires seller", "auction price dateTime"),
    ("q7", "", "", "auction bidder price dateTime extra"),
    ("q8", "id name dateTime", "dateTime seller", ""),
    ("q9", "", "id dateTime expires", "auction price dateTime"),
    ("q10", "", "", "auction bidder price dateTime extra"),
    ("q11", "", "", "bidder dateTime"),
    ("q12", "", "", "bidder"),
    ("q13", "", "", "auction bidder price dateTime"),
    ("q14", "", "", "auction bidder price dateTime extra"),
    ("q15", "", "", "auction bidder price dateTime"),
    ("q16", "", "", "auction bidder price channel dateTime"),
    ("q17", "", "", "auction price dateTime"),
    ("q18", "", "", "auction bidder dateTime"),
    ("q19", "", "", "auction price"),
    ("q20", "", ALL_OF_AUCTION, ALL_OF_BID),
    ("q21", "", "", "auction bidder price channel url"),
    ("q22", "", "", "auction bidder price channel url"),
    ("q23", "id name emailAddress creditCard city state extra", ALL_OF_AUCTION, ALL_OF_BID),
];
const ALL_OF_AUCTION: &str =
    "id itemName description initialBid reserve dateTime expires seller category extra";
const ALL_OF_BID: &str = "auction bidder price channel url dateTime extra";

fn read(query: &Query, table: Table) -> Vec<&'static str> {
    let (_, person, auction, bid) =
        READ.iter().find(|(name, ..)| *name == query.name).expect("a row a query");
    let fields = match table {
        Table::Person => person,
        Table::Auction => auction,
        Table::Bid => bid,
    };
    fields.split_whitespace().collect()
}

/// A short stream in which every query has rows: many auctions with few bids each, open for some of them only.
fn generator() -> Generator {
    Generator::new(Options {
        seed: 5,
        event_rate: 40,
        bid_proportion: 6,
        bid_hot_ratio_auctions: 1,
        bid_hot_ratio_bidders: 2,
        auctions_in_flight: 20,
        people_active: 30,
        ..Options::default()
    })
    .expect("options in range")
}

const EVENTS: u64 = 600;

fn digest(query: &'static Query, recording: &Recording) -> Digest {
    Digest::of(&rows(query, &recording.events, &recording.texts))
}

#[test]
fn an_event_left_out_changes_the_answer_of_the_queries_that_read_its_table() {
    let generator = generator();
    let all = events(&generator, EVENTS);
    for query in ALL {
        let answer = |events: &[Event]| Digest::of(&rows(query, events, generator.texts()));
        let whole = answer(&all);
        assert!(whole.rows > 0, "{} has no rows", query.name);
        for table in Table::ALL {
            let mut of_table = (0..all.len()).filter(|index| Table::of(&all[*index]) == table);
            let matters = of_table.any(|index| {
                let mut rest = all.clone();
                rest.remove(index);
                answer(&rest) != whole
            });
            let expected = !read(query, table).is_empty();
            assert_eq!(matters, expected, "{}: {} left out", query.name, table.name());
        }
    }
}

#[test]
fn every_bid_left_out_changes_the_answer_of_the_queries_that_count_all_bids() {
    let generator = generator();
    let all = events(&generator, EVENTS);
    for query in ["q0", "q1", "q10", "q11", "q12", "q13", "q15", "q16", "q17", "q22"] {
        let answer = |events: &[Event]| Digest::of(&rows(find(query).unwrap(), events, generator.texts()));
        let whole = answer(&all);
        for index in (0..all.len()).filter(|index| Table::of(&all[*index]) == Table::Bid) {
            let mut rest = all.clone();
            rest.remove(index);
            assert_ne!(answer(&rest), whole, "{query} without event {index}");
        }
    }
}

/// Other values for a field.
fn others(value: &Value) -> Vec<Value> {
    match value.as_i64() {
        Some(number) => vec![(number + 1).into(), (number + 86_400_000).into(), (number * 2).into()],
        None => vec![format!("{}x", value.as_str().unwrap_or_default()).into(), "a/b/c/d/e/f".into()],
    }
}

fn of_table(objects: &mut [Value], table: Table) -> impl Iterator<Item = &mut Value> {
    objects.iter_mut().filter_map(move |object| object.get_mut(table.name()))
}

fn recording(objects: &[Value]) -> Recording {
    let lines: Vec<String> = objects.iter().map(Value::to_string).collect();
    record(&lines)
}

/// Whether some change of the field in a single event changes the answer.
fn one_change_matters(query: &'static Query, objects: &[Value], table: Table, field: &str) -> bool {
    let whole = digest(query, &recording(objects));
    let mut changed = objects.to_vec();
    for index in 0..objects.len() {
        let Some(value) = objects[index].get(table.name()).map(|fields| &fields[field]) else { continue };
        for other in others(value) {
            changed[index][table.name()][field] = other;
            if digest(query, &recording(&changed)) != whole {
                return true;
            }
        }
        changed[index] = objects[index].clone();
    }
    false
}

/// Whether changing the field in every event of the table changes the answer.
fn all_changes_matter(query: &'static Query, objects: &[Value], table: Table, field: &str) -> bool {
    let whole = digest(query, &recording(objects));
    (0..2).any(|choice| {
        let mut changed = objects.to_vec();
        for fields in of_table(&mut changed, table) {
            fields[field] = others(&fields[field]).swap_remove(choice);
        }
        digest(query, &recording(&changed)) != whole
    })
}

#[test]
fn an_event_changed_changes_the_answer_of_the_queries_that_read_the_field() {
    let generator = generator();
    let lines = lines(&events(&generator, EVENTS), generator.texts());
    let objects: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    for query in ALL {
        for table in Table::ALL {
            let read = read(query, table);
            for field in table.fields() {
                let what = format!("{}: {}.{field}", query.name, table.name());
                if read.contains(field) {
                    assert!(one_change_matters(query, &objects, table, field), "{what} does not matter");
                } else {
                    assert!(!all_changes_matter(query, &objects, table, field), "{what} matters");
                }
            }
        }
    }
}
