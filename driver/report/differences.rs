//! In what two sides differ besides their numbers: another workload, other answers, settings, machines.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::queries;
use crate::result::RunResult;

/// Queries whose answer is not a function of the events, so that no two runs need agree.
const ANSWERS_OF_THE_CLOCK: [&str; 1] = ["q12"];
/// Parts of the workload that a user may want to compare.
const TUNABLE: [&str; 2] = ["workload.workers", "workload.memory_budget_bytes"];
/// How events get to an engine that does not make them: ahead of the query or while it runs. The two measure different things.
const FEED: &str = "engine.config.feed";
/// Which engine ran.
const ENGINE: &str = "engine.name";
/// What is not known or not said.
const ABSENT: &str = "n/a";

/// One thing that is not the same in all runs of two sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What, as in the result file: `workload.events`.
    pub what: String,
    /// Values of the base, sorted.
    pub base: Vec<String>,
    /// Values of the other side, sorted.
    pub other: Vec<String>,
    /// The queries it holds for.
    pub queries: Vec<String>,
    /// Whether it makes a comparison meaningless.
    pub serious: bool,
}

/// Whether it is tolerable, so that the serious come first; what; and the values of both sides.
type Told = (bool, String, Vec<String>, Vec<String>);

/// The values of each thing, over runs.
type Values = BTreeMap<String, BTreeSet<String>>;

/// Everything in which the runs of two sides differ, the serious first. Runs of one side may differ, too.
pub(super) fn differences(base: &[&RunResult], other: &[&RunResult]) -> Vec<Difference> {
    let mut merged: BTreeMap<Told, Vec<String>> = BTreeMap::new();
    let in_base: BTreeSet<&str> = queries(base.iter().copied()).into_iter().collect();
    for query in queries(other.iter().copied()).into_iter().filter(|query| in_base.contains(query)) {
        let (base, other) = (values(base, query), values(other, query));
        // The settings of one engine say nothing beside those of another.
        let one_engine = base.get(ENGINE) == other.get(ENGINE);
        let told = |what: &str| one_engine || what == ENGINE || !what.starts_with("engine.");
        for what in base.keys().chain(other.keys()).filter(|what| told(what)).collect::<BTreeSet<_>>() {
            let absent = BTreeSet::from([ABSENT.to_owned()]);
            let (base, other) = (base.get(what).unwrap_or(&absent), other.get(what).unwrap_or(&absent));
            if base.union(other).count() > 1 {
                let list = |values: &BTreeSet<String>| values.iter().cloned().collect();
                let fed_otherwise = what == FEED && !base.union(other).any(|value| value == ABSENT);
                let serious = fed_otherwise || is_serious(what);
                let key = (!serious, what.clone(), list(base), list(other));
                merged.entry(key).or_default().push(query.to_owned());
            }
        }
    }
    let difference = |((tolerable, what, base, other), queries): (Told, Vec<String>)| {
        let serious = !tolerable;
        Difference { what, base, other, queries, serious }
    };
    merged.into_iter().map(difference).filter(is_told).collect()
}

fn is_serious(what: &str) -> bool {
    let asked = what.starts_with("workload.") || what.starts_with("options.") || what == "seed";
    (asked && !TUNABLE.contains(&what)) || what == "answer"
}

/// An answer that was not taken, or that the clock decides, contradicts none.
fn is_told(difference: &Difference) -> bool {
    let taken: BTreeSet<_> =
        difference.base.iter().chain(&difference.other).filter(|value| *value != ABSENT).collect();
    difference.what != "answer" || taken.len() > 1
}

fn values(results: &[&RunResult], query: &str) -> Values {
    let mut values = Values::new();
    let results: Vec<_> = results.iter().filter(|result| result.query == query).collect();
    for result in &results {
        let mut add = |what: &str, value: String| {
            values.entry(what.to_owned()).or_default().insert(value);
        };
        for (name, section) in
            [("workload", to_value(&result.workload)), ("environment", to_value(&result.environment))]
        {
            for (key, value) in section.as_object().into_iter().flatten() {
                add(&format!("{name}.{key}"), text(value));
            }
        }
        add("seed", result.seed.map_or_else(|| ABSENT.to_owned(), |seed| seed.to_string()));
        for (name, value) in &result.options {
            add(&format!("options.{name}"), value.to_string());
        }
        if !result.deviations.is_empty() {
            add("deviations", result.deviations.join("; "));
        }
        if !ANSWERS_OF_THE_CLOCK.contains(&query) {
            add("answer", result.answer.map_or_else(|| ABSENT.to_owned(), |answer| answer.to_string()));
        }
        let Some(engine) = &result.engine else { continue };
        add(ENGINE, engine.name.clone());
        add("engine.version", engine.version.clone());
        for (key, value) in &engine.config {
            add(&format!("engine.config.{key}"), value.clone());
        }
    }
    values
}

/// As JSON; what has no such form has no values.
fn to_value(section: &impl Serialize) -> Value {
    serde_json::to_value(section).unwrap_or_default()
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => ABSENT.to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use nexmark_queries::answer::Digest;

    use super::*;
    use crate::fake::result;

    fn between(base: &[RunResult], other: &[RunResult]) -> Vec<(String, String, String, bool)> {
        let differences = differences(&base.iter().collect::<Vec<_>>(), &other.iter().collect::<Vec<_>>());
        differences
            .into_iter()
            .map(|one| (one.what, one.base.join("|"), one.other.join("|"), one.serious))
            .collect()
    }

    fn row(what: &str, base: &str, other: &str, serious: bool) -> (String, String, String, bool) {
        (what.to_owned(), base.to_owned(), other.to_owned(), serious)
    }

    #[test]
    fn equal_sides_do_not_differ() {
        assert_eq!(between(&[result("q0", 5.0)], &[result("q0", 5.0)]), []);
        assert_eq!(between(&[result("q0", 5.0)], &[result("q1", 9.0)]), [], "no query in common");
    }

    #[test]
    fn workloads_are_serious_and_settings_are_not() {
        let base = [result("q0", 5.0), result("q1", 5.0)];
        let mut other = base.clone();
        for run in &mut other {
            run.seed = Some(2);
            run.options.insert("event.rate".to_owned(), 7);
            run.workload.workers = 9;
            run.environment.hosts = vec!["a".to_owned(), "b".to_owned()];
            run.engine.as_mut().unwrap().config.insert("buffer".to_owned(), "4k".to_owned());
        }
        other[1].workload.events = Some(1);
        assert_eq!(
            between(&base, &other),
            [
                row("options.event.rate", &base[0].options["event.rate"].to_string(), "7", true),
                row("seed", "1", "2", true),
                row("workload.events", "50", "1", true),
                row("engine.config.buffer", "n/a", "4k", false),
                row("environment.hosts", "", "a, b", false),
                row("workload.workers", "1", "9", false),
            ]
        );
        let all = differences(&base.iter().collect::<Vec<_>>(), &other.iter().collect::<Vec<_>>());
        assert_eq!((all[1].queries.len(), &all[2].queries[..]), (2, &["q1".to_owned()][..]));
    }

    #[test]
    fn ways_to_feed_are_never_compared() {
        let with = |feed: &str| {
            let mut run = result("q0", 5.0);
            run.engine.as_mut().unwrap().config.insert("feed".to_owned(), feed.to_owned());
            run
        };
        let found = between(&[with("prefilled")], &[with("live")]);
        assert_eq!(found, [row("engine.config.feed", "prefilled", "live", true)]);
        // An engine that makes its events has no such thing.
        let found = between(&[with("prefilled")], &[result("q0", 5.0)]);
        assert_eq!(found, [row("engine.config.feed", "prefilled", "n/a", false)]);
    }

    #[test]
    fn settings_of_two_engines_are_not_set_against_each_other() {
        let mut other = [result("q0", 5.0)];
        let engine = other[0].engine.as_mut().unwrap();
        (engine.name, engine.version) = ("flink".to_owned(), "2".to_owned());
        engine.config.insert("buffer".to_owned(), "4k".to_owned());
        assert_eq!(between(&[result("q0", 5.0)], &other), [row("engine.name", "fake", "flink", false)]);
    }

    #[test]
    fn runs_of_one_side_may_differ_too() {
        let mut base = [result("q0", 5.0), result("q0", 5.0)];
        base[0].workload.output = "digest".to_owned();
        assert_eq!(
            between(&base, &[result("q0", 5.0)]),
            [row("workload.output", "count|digest", "count", true)]
        );
    }

    #[test]
    fn answers_contradict_each_other_where_they_were_taken() {
        let with = |query: &str, sum: Option<u64>| RunResult {
            answer: sum.map(|sum| Digest { rows: 1, sum }),
            ..result(query, 5.0)
        };
        assert_eq!(between(&[with("q0", Some(1))], &[with("q0", None)]), []);
        assert_eq!(between(&[with("q12", Some(1))], &[with("q12", Some(2))]), []);
        let found = between(&[with("q0", Some(1)), with("q0", None)], &[with("q0", Some(2))]);
        assert_eq!(found.len(), 1);
        assert!(found[0].0 == "answer" && found[0].3, "{found:?}");
    }
}
