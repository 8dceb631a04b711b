//! Events as lines of JSON: written by `generate`, read by `answer --input`. A line is one object with one key, the
//! table: `{"bid":{"auction":1000,…}}`. The same fields can be written as CSV, a file for each table.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::event::{Auction, Bid, Channel, Event, Person, ShortText, Text, Texts, TextsFull, Url};

/// A table of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names of the tables")]
pub enum Table {
    Person,
    Auction,
    Bid,
}

impl Table {
    /// Every table.
    pub const ALL: [Self; 3] = [Self::Person, Self::Auction, Self::Bid];

    /// Table of an event.
    pub fn of(event: &Event) -> Self {
        match event {
            Event::Person(_) => Self::Person,
            Event::Auction(_) => Self::Auction,
            Event::Bid(_) => Self::Bid,
        }
    }

    /// Name, as in the key of a line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Auction => "auction",
            Self::Bid => "bid",
        }
    }

    /// Names of the fields, in the order in which they are written.
    pub fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Person => {
                &["id", "name", "emailAddress", "creditCard", "city", "state", "dateTime", "extra"]
            }
            Self::Auction => &[
                "id",
                "itemName",
                "description",
                "initialBid",
                "reserve",
                "dateTime",
                "expires",
                "seller",
                "category",
                "extra",
            ],
            Self::Bid => &["auction", "bidder", "price", "channel", "url", "dateTime", "extra"],
        }
    }
}

/// Value of a field.
#[derive(Clone, Copy)]
enum Value<'a> {
    Integer(i64),
    Text(&'a str),
}

/// Hands over the values of an event in the order of [`Table::fields`].
#[inline(always)]
fn values(event: &Event, texts: &Texts, mut take: impl FnMut(Value<'_>)) {
    use Value::{Integer, Text};
    match event {
        Event::Person(person) => {
            take(Integer(person.id));
            take(Text(texts.get(person.name)));
            take(Text(person.email_address.get(texts)));
            take(Text(person.credit_card.get(texts)));
            take(Text(texts.get(person.city)));
            take(Text(texts.get(person.state)));
            take(Integer(person.date_time));
            take(Text(texts.get(person.extra)));
        }
        Event::Auction(auction) => {
            take(Integer(auction.id));
            take(Text(texts.get(auction.item_name)));
            take(Text(texts.get(auction.description)));
            take(Integer(auction.initial_bid));
            take(Integer(auction.reserve));
            take(Integer(auction.date_time));
            take(Integer(auction.expires));
            take(Integer(auction.seller));
            take(Integer(auction.category));
            take(Text(texts.get(auction.extra)));
        }
        Event::Bid(bid) => {
            take(Integer(bid.auction));
            take(Integer(bid.bidder));
            take(Integer(bid.price));
            take(Text(texts.channel(bid.channel)));
            take(Text(texts.url(bid.url)));
            take(Integer(bid.date_time));
            take(Text(texts.get(bid.extra)));
        }
    }
}

/// Appends an event as a line of JSON.
pub fn write(event: &Event, texts: &Texts, out: &mut String) {
    let table = Table::of(event);
    out.push_str("{\"");
    out.push_str(table.name());
    out.push_str("\":");
    write_object(event, texts, table.fields(), out);
    out.push_str("}\n");
}

/// Appends an event as a JSON object whose fields have other names, in the order of [`Table::fields`]. A field whose name is
/// empty is left out.
pub fn write_object(event: &Event, texts: &Texts, names: &[&str], out: &mut String) {
    let mut names = names.iter();
    let mut before = "{\"";
    values(event, texts, |value| {
        let Some(name) = names.next().filter(|name| !name.is_empty()) else { return };
        out.push_str(before);
        out.push_str(name);
        out.push_str("\":");
        match value {
            Value::Integer(value) => push_integer(value, out),
            Value::Text(value) => push_json_text(value, out),
        }
        before = ",\"";
    });
    out.push('}');
}

/// Appends the header line of a table's CSV file.
pub fn csv_header(table: Table, out: &mut String) {
    out.push_str(&table.fields().join(","));
    out.push('\n');
}

/// Appends an event as a row of its table's CSV file, quoted by RFC 4180 where a text needs it. Lines end with a line
/// feed alone, as other tools on the same machines write them.
pub fn csv_row(event: &Event, texts: &Texts, out: &mut String) {
    let mut first = true;
    values(event, texts, |value| {
        if !first {
            out.push(',');
        }
        first = false;
        match value {
            Value::Integer(value) => push_integer(value, out),
            Value::Text(value) => push_csv_text(value, out),
        }
    });
    out.push('\n');
}

fn push_integer(value: i64, out: &mut String) {
    // 19 digits of 2^63 and a sign.
    let mut text = [0u8; 20];
    let mut at = text.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        text[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        at -= 1;
        text[at] = b'-';
    }
    out.push_str(std::str::from_utf8(&text[at..]).unwrap_or_default());
}

fn push_json_text(text: &str, out: &mut String) {
    out.push('"');
    // Generated text needs no escape, so it is copied whole.
    let plain =
        text.bytes().fold(true, |plain, byte| plain & (byte >= 0x20) & (byte != b'"') & (byte != b'\\'));
    if plain {
        out.push_str(text);
    } else {
        for character in text.chars() {
            push_json_character(character, out);
        }
    }
    out.push('"');
}

fn push_json_character(character: char, out: &mut String) {
    match character {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\0'..='\u{1f}' => {
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            let code = character as usize;
            out.push_str("\\u00");
            out.push(char::from(DIGITS[code >> 4]));
            out.push(char::from(DIGITS[code & 15]));
        }
        _ => out.push(character),
    }
}

fn push_csv_text(text: &str, out: &mut String) {
    if text.contains([',', '"', '\r', '\n']) {
        out.push('"');
        out.push_str(&text.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(text);
    }
}

/// Events that were read from a file, in order of arrival.
#[derive(Debug)]
pub struct Recording {
    /// The events.
    pub events: Vec<Event>,
    /// The text that they refer to.
    pub texts: Arc<Texts>,
}

/// Reads a recording line by line. Texts may be anything, numbers and times any 64-bit integer; everything else is
/// strict, since a misspelt field that is passed over gives an answer to another question.
#[derive(Debug, Default)]
pub struct Recorder {
    events: Vec<Event>,
    texts: Texts,
    // A stream has few channels and URLs and many bids.
    channels: HashMap<String, Channel>,
    urls: HashMap<String, Url>,
}

impl Recorder {
    /// Begins a recording.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one line; a blank one is passed over. `number` is that of the line in its file, for messages.
    ///
    /// # Errors
    /// The line is not exactly one event of a known table, or the text is over 4 GiB. The recording is then as before.
    pub fn push_line(&mut self, number: u64, line: &str) -> Result<(), LineError> {
        if line.trim().is_empty() {
            return Ok(());
        }
        let event = self.read(line).map_err(|problem| LineError { line: number, problem })?;
        self.events.push(event);
        Ok(())
    }

    /// Ends the recording.
    pub fn finish(self) -> Recording {
        Recording { events: self.events, texts: Arc::new(self.texts) }
    }

    fn read(&mut self, line: &str) -> Result<Event, Problem> {
        let json = serde_json::from_str(line).map_err(|error| Problem::not_json(&error))?;
        let (table, object) = table_of(json)?;
        let mut fields = Fields::new(table, object)?;
        let fields = &mut fields;
        Ok(match table {
            Table::Person => Event::Person(self.person(fields)?),
            Table::Auction => Event::Auction(self.auction(fields)?),
            Table::Bid => Event::Bid(self.bid(fields)?),
        })
    }

    fn person(&mut self, fields: &mut Fields<'_>) -> Result<Person, Problem> {
        fields.check(&["id", "dateTime"])?;
        Ok(Person {
            id: fields.integer("id")?,
            name: self.text(fields, "name")?,
            email_address: self.short_text(fields, "emailAddress")?,
            credit_card: self.short_text(fields, "creditCard")?,
            city: self.text(fields, "city")?,
            state: self.text(fields, "state")?,
            date_time: fields.integer("dateTime")?,
            extra: self.text(fields, "extra")?,
        })
    }

    fn auction(&mut self, fields: &mut Fields<'_>) -> Result<Auction, Problem> {
        fields.check(&["id", "initialBid", "reserve", "dateTime", "expires", "seller", "category"])?;
        Ok(Auction {
            id: fields.integer("id")?,
            item_name: self.text(fields, "itemName")?,
            description: self.text(fields, "description")?,
            initial_bid: fields.integer("initialBid")?,
            reserve: fields.integer("reserve")?,
            date_time: fields.integer("dateTime")?,
            expires: fields.integer("expires")?,
            seller: fields.integer("seller")?,
            category: fields.integer("category")?,
            extra: self.text(fields, "extra")?,
        })
    }

    fn bid(&mut self, fields: &mut Fields<'_>) -> Result<Bid, Problem> {
        fields.check(&["auction", "bidder", "price", "dateTime"])?;
        let channel = fields.text("channel")?;
        let channel = intern(&mut self.channels, &channel, |name| self.texts.push_channel(name))?;
        let url = fields.text("url")?;
        let url = intern(&mut self.urls, &url, |url| self.texts.push_url(url))?;
        Ok(Bid {
            auction: fields.integer("auction")?,
            bidder: fields.integer("bidder")?,
            price: fields.integer("price")?,
            date_time: fields.integer("dateTime")?,
            channel,
            url,
            extra: self.text(fields, "extra")?,
        })
    }

    fn text(&mut self, fields: &mut Fields<'_>, name: &'static str) -> Result<Text, Problem> {
        Ok(self.texts.push(&fields.text(name)?)?)
    }

    fn short_text(&mut self, fields: &mut Fields<'_>, name: &'static str) -> Result<ShortText, Problem> {
        Ok(self.texts.push_short(&fields.text(name)?)?)
    }
}

fn intern<T: Copy>(
    known: &mut HashMap<String, T>,
    text: &str,
    push: impl FnOnce(&str) -> Result<T, TextsFull>,
) -> Result<T, Problem> {
    if let Some(number) = known.get(text) {
        return Ok(*number);
    }
    let number = push(text)?;
    known.insert(text.to_owned(), number);
    Ok(number)
}

/// A line that is no event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct LineError {
    /// Number of the line.
    pub line: u64,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Not JSON.
    #[error("not JSON: {message} at column {column}")]
    Json {
        /// What the parser expected.
        message: String,
        /// Where, counted from 1.
        column: usize,
    },
    /// Not an object with one key.
    #[error("{found}, expected an object with exactly one of the keys \"person\", \"auction\" and \"bid\"")]
    Table {
        /// What stands there.
        found: String,
    },
    /// The table's value is not an object.
    #[error("{table} is {found}, expected an object with its fields")]
    Object {
        /// Name of the table.
        table: &'static str,
        /// What stands there.
        found: String,
    },
    /// A field that the table does not have.
    #[error("{table} has no field {field:?}, its fields are {}", allowed.join(", "))]
    Unknown {
        /// Name of the table.
        table: &'static str,
        /// Name of the field.
        field: String,
        /// The table's fields.
        allowed: &'static [&'static str],
    },
    /// A field is missing.
    #[error("{table}.{field} is missing, expected {allowed}")]
    Missing {
        /// Name of the table.
        table: &'static str,
        /// Name of the field.
        field: &'static str,
        /// What it may hold.
        allowed: &'static str,
    },
    /// A field stands there twice.
    #[error("{table}.{field} is given twice, expected once")]
    Twice {
        /// Name of the table.
        table: &'static str,
        /// Name of the field.
        field: &'static str,
    },
    /// A field holds something else than it may.
    #[error("{table}.{field} is {found}, expected {allowed}")]
    Field {
        /// Name of the table.
        table: &'static str,
        /// Name of the field.
        field: &'static str,
        /// What stands there.
        found: String,
        /// What it may hold.
        allowed: &'static str,
    },
    /// The text of all lines is too long.
    #[error(transparent)]
    Full(#[from] TextsFull),
}

const AN_INTEGER: &str = "a whole number from -9223372036854775808 to 9223372036854775807";
const A_TEXT: &str = "a string";

impl Problem {
    fn not_json(error: &serde_json::Error) -> Self {
        // The parser counts lines too, within the one that it was given.
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        Self::Json { message, column: error.column() }
    }
}

/// The only table of a line, with its fields.
fn table_of(json: Json<'_>) -> Result<(Table, Json<'_>), Problem> {
    let Json::Object(mut entries) = json else {
        return Err(Problem::Table { found: format!("the line is {json}") });
    };
    let Some((key, object)) = entries.pop() else {
        return Err(Problem::Table { found: "the object is empty".to_owned() });
    };
    if !entries.is_empty() {
        let found = format!("the object has {} keys", entries.len() + 1);
        return Err(Problem::Table { found });
    }
    let table = Table::ALL.into_iter().find(|table| table.name() == key);
    let table = table.ok_or_else(|| Problem::Table { found: format!("the key is {key:?}") })?;
    Ok((table, object))
}

/// The fields of one line, each once.
struct Fields<'a> {
    table: Table,
    values: HashMap<&'static str, Json<'a>>,
}

impl<'a> Fields<'a> {
    fn new(table: Table, object: Json<'a>) -> Result<Self, Problem> {
        let Json::Object(entries) = object else {
            return Err(Problem::Object { table: table.name(), found: object.to_string() });
        };
        let mut values = HashMap::with_capacity(entries.len());
        for (key, value) in entries {
            let field = table.fields().iter().copied().find(|field| *field == key);
            let field = field.ok_or_else(|| Problem::Unknown {
                table: table.name(),
                field: key.clone().into_owned(),
                allowed: table.fields(),
            })?;
            if values.insert(field, value).is_some() {
                return Err(Problem::Twice { table: table.name(), field });
            }
        }
        Ok(Self { table, values })
    }

    /// Checks every field before any is taken, so that a bad line leaves nothing behind.
    fn check(&self, integers: &[&'static str]) -> Result<(), Problem> {
        for field in self.table.fields().iter().copied() {
            let allowed = if integers.contains(&field) { AN_INTEGER } else { A_TEXT };
            match (self.values.get(field), allowed) {
                (None, _) => return Err(Problem::Missing { table: self.table.name(), field, allowed }),
                (Some(Json::Integer(_)), AN_INTEGER) | (Some(Json::Text(_)), A_TEXT) => {}
                (Some(other), _) => return Err(self.unexpected(field, other, allowed)),
            }
        }
        Ok(())
    }

    fn integer(&mut self, field: &'static str) -> Result<i64, Problem> {
        match self.take(field, AN_INTEGER)? {
            Json::Integer(value) => Ok(value),
            other => Err(self.unexpected(field, &other, AN_INTEGER)),
        }
    }

    fn text(&mut self, field: &'static str) -> Result<Cow<'a, str>, Problem> {
        match self.take(field, A_TEXT)? {
            Json::Text(value) => Ok(value),
            other => Err(self.unexpected(field, &other, A_TEXT)),
        }
    }

    fn take(&mut self, field: &'static str, allowed: &'static str) -> Result<Json<'a>, Problem> {
        self.values.remove(field).ok_or(Problem::Missing { table: self.table.name(), field, allowed })
    }

    fn unexpected(&self, field: &'static str, found: &Json<'_>, allowed: &'static str) -> Problem {
        Problem::Field { table: self.table.name(), field, found: found.to_string(), allowed }
    }
}

/// JSON as far as events use it. Unlike `serde_json::Value` it keeps keys that stand there twice, and borrows.
enum Json<'a> {
    Integer(i64),
    /// A number that is no `i64`.
    Number(String),
    Text(Cow<'a, str>),
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
    Array,
    Boolean(bool),
    Null,
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "the number {value}"),
            Self::Number(value) => write!(f, "the number {value}"),
            Self::Text(value) => write!(f, "the string {value:?}"),
            Self::Object(_) => f.write_str("an object"),
            Self::Array => f.write_str("an array"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Null => f.write_str("null"),
        }
    }
}

impl<'de> Deserialize<'de> for Json<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Json::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(value).map_or_else(|_large| Json::Number(value.to_string()), Json::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Json::Number(format!("{value:?}")))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Json::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Json::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Json::Boolean(value))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Json::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Json::Array)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<Json<'de>, Json<'de>>()? {
            // Keys of JSON are strings.
            if let Json::Text(key) = key {
                entries.push((key, value));
            }
        }
        Ok(Json::Object(entries))
    }
}
