//! The statements of one run: those of its query and the sources that it uses, with names that no other run has.

use nexmark_queries::Query;
use nexmark_queries::ksqldb::SOURCES;

/// What a statement makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Stream,
    Table,
}

/// A statement that makes a stream or table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Statement {
    /// Whole text, with its semicolon.
    pub(crate) text: String,
    pub(crate) kind: Kind,
    /// Name of the stream or table, as the server keeps it: in capitals.
    pub(crate) name: String,
    /// Its topic.
    pub(crate) topic: String,
    /// Whether it begins a query that runs until it is terminated.
    pub(crate) runs: bool,
}

/// The statements of a run, in the order in which they are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) statements: Vec<Statement>,
    /// Whether windows show their result only when time has passed their end.
    pub(crate) emits_final: bool,
    /// Whether it joins streams that lie up to a day apart and no further.
    pub(crate) looks_back_a_day: bool,
    /// Whether it reads the side table.
    pub(crate) reads_side_table: bool,
}

impl Script {
    /// Statements of a query with `prefix` before every name. Rows may be `grace_ms` late.
    pub(crate) fn new(query: &Query, prefix: &str, grace_ms: u64) -> Self {
        let text = query.ksqldb.sql;
        let sources = statements(SOURCES).filter(|source| uses(text, source));
        let all = sources.chain(statements(text));
        let filled = all.map(|statement| fill(&statement, prefix, grace_ms));
        Self {
            statements: filled.filter_map(|text| Statement::read(&text)).collect(),
            emits_final: text.contains("EMIT FINAL"),
            looks_back_a_day: text.contains(", 1 DAY)"),
            reads_side_table: text.contains("${run}side_input"),
        }
    }

    /// The statement whose stream or table is the answer.
    pub(crate) fn sink(&self) -> Option<&Statement> {
        self.statements.last()
    }
}

impl Statement {
    fn read(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace().skip(1);
        let kind = match words.next()? {
            "STREAM" => Kind::Stream,
            "TABLE" => Kind::Table,
            _ => return None,
        };
        let name = words.next()?.to_uppercase();
        let topic = text.split("KAFKA_TOPIC='").nth(1)?.split('\'').next()?.to_owned();
        let runs = text.contains(" AS\nSELECT");
        Some(Self { text: text.to_owned(), kind, name, topic, runs })
    }
}

/// Splits text at semicolons and leaves out comments. No text of ours has a semicolon or a comment sign within quotes.
fn statements(text: &str) -> impl Iterator<Item = String> {
    let code = text.lines().filter(|line| !line.starts_with("--"));
    let code = code.collect::<Vec<_>>().join("\n");
    let parts: Vec<String> = code.split(';').map(str::trim).map(str::to_owned).collect();
    parts.into_iter().filter(|part| !part.is_empty()).map(|part| part + ";")
}

/// Whether a query's text names what a statement of the sources makes.
fn uses(text: &str, source: &str) -> bool {
    let Some(name) = source.split_whitespace().nth(2) else { return false };
    let mut after = text.split(name).skip(1);
    after.any(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_'))
}

fn fill(text: &str, prefix: &str, grace_ms: u64) -> String {
    let grace = match (grace_ms / 1000, grace_ms % 1000) {
        (seconds, 0) => format!("{seconds} SECONDS"),
        _ => format!("{grace_ms} MILLISECONDS"),
    };
    text.replace("${run}", prefix).replace("${grace}", &grace)
}

#[cfg(test)]
mod tests {
    use nexmark_queries::{ALL, find};

    use super::*;

    #[test]
    fn a_script_makes_the_sources_that_its_query_uses() {
        let script = Script::new(find("q3").unwrap(), "run_7_", 4000);
        let made: Vec<(&str, &str, bool)> = script
            .statements
            .iter()
            .map(|statement| (statement.name.as_str(), statement.topic.as_str(), statement.runs))
            .collect();
        assert_eq!(
            made,
            [
                ("RUN_7_PERSON_T", "run_7_person", false),
                ("RUN_7_AUCTION_T", "run_7_auction", false),
                ("RUN_7_Q3", "run_7_q3", true)
            ]
        );
        assert!(!script.emits_final && !script.looks_back_a_day && !script.reads_side_table);
        assert!(Script::new(find("q13").unwrap(), "r_", 4000).reads_side_table);
    }

    #[test]
    fn grace_is_the_watermark_delay() {
        let text = |grace| Script::new(find("q11").unwrap(), "r_", grace).sink().unwrap().text.clone();
        assert!(text(4000).contains("GRACE PERIOD 4 SECONDS)"), "{}", text(4000));
        assert!(text(2500).contains("GRACE PERIOD 2500 MILLISECONDS)"), "{}", text(2500));
    }

    #[test]
    fn every_query_ends_with_a_sink_of_its_name_and_leaves_no_variable() {
        for query in ALL {
            let script = Script::new(query, "run_7_", 4000);
            let sink = script.sink().unwrap();
            assert_eq!(sink.topic, format!("run_7_{}", query.name));
            assert!(sink.runs, "{}", sink.text);
            for statement in &script.statements {
                assert!(!statement.text.contains('$'), "{}", statement.text);
                assert!(statement.topic.starts_with("run_7_") && statement.name.starts_with("RUN_7_"));
            }
            assert_eq!(query.ksqldb.columns.len(), query.columns.len(), "{}", query.name);
        }
    }
}
