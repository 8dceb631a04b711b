//! What ksqlDB needs of a query: its statements, and where the columns of the answer are in the records of their last sink.

/// Statements that make streams, tables and topics for every kind of event, and for the side table. `${run}` stands before
/// every name.
pub const SOURCES: &str = include_str!("source/ksqldb.sql");

/// A query in the words of ksqlDB.
#[derive(Clone, Copy, Debug)]
pub struct Ksqldb {
    /// Statements over those of [`SOURCES`]. The last one makes the sink: a stream of rows, or a table that a later record of a
    /// key changes. `${run}` stands before every name, `${grace}` is how late a row may be, as in `4 SECONDS`.
    pub sql: &'static str,
    /// Where each answer column is in a record of the sink, in the order of the answer columns.
    pub columns: &'static [Column],
    /// Field of the value that holds the rows of a record: an array of structs, or one struct. `None`: a record is a row.
    pub elements: Option<&'static str>,
    /// How the answer differs from the query's page.
    pub deviation: Option<&'static str>,
}

/// Where a column of an answer is in a record of the sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The key in format KAFKA: 8 bytes of an integer, after which a windowed key has more, or a text.
    Key,
    /// The time in the key, and so many ms.
    KeyPlus(i64),
    /// The part of the key's text before the last of these characters.
    KeyBefore(char),
    /// The part of the key's text after the last of these characters.
    KeyAfter(char),
    /// The key in format JSON, as a single value.
    JsonKey,
    /// A field of a key in format JSON.
    KeyField(&'static str),
    /// A field of the value.
    Field(&'static str),
    /// A time in a field of the value, and so many ms.
    FieldPlus(&'static str, i64),
    /// A field of an element.
    Element(&'static str),
    /// Place of the element, from 1.
    Rank,
    /// The sink does not have it.
    Null,
}
