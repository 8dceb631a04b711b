//! What is asked: the event stream, the Nexmark queries and their answers. No clock of its own, no I/O, no engine.

pub mod answer;
pub mod block;
pub mod event;
pub mod generator;
pub mod ksqldb;
pub mod ndjson;
pub mod operators;
mod oracle;
pub mod query;
pub mod source;

pub use query::Query;

macro_rules! queries {
    ($($name:ident)*) => {
        $(pub mod $name;)*

        /// Every query, in the order of their numbers.
        pub static ALL: &[&Query] = &[$(&$name::QUERY),*];
    };
}

queries! { q0 q1 q2 q3 q4 q5 q6 q7 q8 q9 q10 q11 q12 q13 q14 q15 q16 q17 q18 q19 q20 q21 q22 q23 }

/// The query of that name.
pub fn find(name: &str) -> Option<&'static Query> {
    ALL.iter().copied().find(|query| query.name == name)
}

/// The known name that is most alike to a mistyped one; `None` where none is near.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
