//! An event as a record: its id or auction as the key, as ksqlDB's format KAFKA has it, and the other fields as JSON.

use nexmark_queries::event::{Event, Texts};
use nexmark_queries::ndjson::{self, Table};

/// Names of the fields in the values of records; those in keys have none.
fn names(table: Table) -> &'static [&'static str] {
    match table {
        Table::Person => &["", "name", "email_address", "credit_card", "city", "state", "date_time", "extra"],
        Table::Auction => &[
            "",
            "item_name",
            "description",
            "initial_bid",
            "reserve",
            "date_time",
            "expires",
            "seller",
            "category",
            "extra",
        ],
        Table::Bid => &["", "bidder", "price", "channel", "url", "date_time", "extra"],
    }
}

/// Key of an event's record.
pub(crate) fn key(event: &Event) -> [u8; 8] {
    match event {
        Event::Person(person) => person.id,
        Event::Auction(auction) => auction.id,
        Event::Bid(bid) => bid.auction,
    }
    .to_be_bytes()
}

/// Replaces a text by the value of an event's record.
pub(crate) fn value(event: &Event, texts: &Texts, out: &mut String) {
    out.clear();
    ndjson::write_object(event, texts, names(Table::of(event)), out);
}

#[cfg(test)]
mod tests {
    use nexmark_queries::generator::{Generator, Options};

    use super::*;

    #[test]
    fn records_hold_every_field_once() {
        let generator = Generator::new(Options::default()).unwrap();
        let mut text = String::new();
        for position in 0..50 {
            let event = generator.event(position);
            let table = Table::of(&event);
            value(&event, generator.texts(), &mut text);
            let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
            assert_eq!(object.len(), table.fields().len() - 1);
            assert_eq!(object["date_time"], event.date_time());
            let mut line = String::new();
            ndjson::write(&event, generator.texts(), &mut line);
            let line: serde_json::Value = serde_json::from_str(&line).unwrap();
            for (name, field) in names(table).iter().zip(table.fields()).skip(1) {
                assert_eq!(object[*name], line[table.name()][*field], "{name}");
                let snake = field.chars().map(|letter| {
                    if letter.is_ascii_uppercase() {
                        format!("_{}", letter.to_ascii_lowercase())
                    } else {
                        letter.into()
                    }
                });
                assert_eq!(*name, snake.collect::<String>());
            }
            let id = &line[table.name()][table.fields()[0]];
            assert_eq!(i64::from_be_bytes(key(&event)), *id);
        }
    }
}
