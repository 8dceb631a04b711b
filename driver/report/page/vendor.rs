//! The page for people outside: what came out, how it was measured, how fair it is, how to repeat it.

use maud::{Markup, html};

use super::{Content, Section, charts, tables};
use crate::report::compare::Side;
use crate::stats::{CONFIDENCE_PERCENT, RUNS_MIN};

/// Settings that weigh most between stream processors: what a key's name holds.
const WEIGHTY: [(&str, &[&str]); 6] = [
    ("mini-batch", &["mini-batch", "minibatch", "batch"]),
    ("checkpoints", &["checkpoint", "processing.guarantee", "exactly"]),
    ("state", &["state.", "rocksdb", "cache"]),
    ("object reuse", &["object-reuse"]),
    ("parallelism", &["parallelism", "workers", "slots", "threads"]),
    ("memory", &["memory", "heap"]),
];

pub(super) fn sections(content: &Content<'_>) -> Vec<Section> {
    vec![
        Section::new("summary", "Summary", tables::summary(content)),
        Section::new("method", "Method", method(content)),
        Section::new("per-core", "Throughput per core", charts::per_core(content)),
        Section::new("relative", format!("Relative to {}", content.page.baseline), charts::relative(content)),
        Section::new(
            "results",
            "Results",
            html! { (tables::medians(content)) (tables::comparisons(content)) },
        ),
        Section::new("spread", "Spread of repetitions", charts::spread(content)),
        Section::new("fairness", "Fairness", fairness(content)),
        Section::new("failures", "Runs that did not pass", tables::failures(content)),
        Section::new("repeat", "How to repeat it", repeat(content)),
    ]
}

fn method(content: &Content<'_>) -> Markup {
    let threshold = content.page.threshold * 100.0;
    html! {
        p { "Nexmark is a set of queries over one stream of events of an auction house: persons, auctions and bids. Every event is a function of
            a seed and its number, so all engines get the same stream to the byte, and their answers can be compared." }
        ul {
            li { b { "A run" } " is one job of one query, started afresh. Start-up, warm-up and clean-up are measured apart and enter no number here." }
            li { b { "Throughput" } " counts the events that the source generated, all three kinds together, as a difference of counters over the
                clock of the driver. No engine's own meter enters it." }
            li { b { "CPU time and memory" } " are the kernel's, of the processes or threads of the engine on every host, without those of the
                driver. Throughput per core is throughput / (CPU seconds / seconds)." }
            li { b { "Repetition:" } " each side ran each query several times, the sides in turn where the runs were made for the comparison. A
                number here is the median over runs; ± is the median absolute deviation, as a share of it." }
            li { b { "Verdicts" } " come from the ratio of the medians and its " (CONFIDENCE_PERCENT) " % interval, by the bootstrap over runs. A side
                is better or worse when that interval excludes 1 and the ratio is at least " (threshold) " % from 1, the same when the whole interval is
                within " (threshold) " %, and else inconclusive. Fewer than " (RUNS_MIN) " runs give no verdict. Two equal sides are called
                different in at most 5 of 100 comparisons; among many comparisons a few such errors are to be expected." }
            li { "Only runs that passed count. All others are listed with their reason." }
        }
    }
}

fn fairness(content: &Content<'_>) -> Markup {
    html! {
        p { "What a reader should know before taking a ratio for a property of an engine." }
        @for side in content.page.sides { (weighty(side)) (tables::deviations(side)) }
        (tables::differences(content))
        details { summary { "All settings of the engines" } (tables::engines(content)) }
    }
}

/// The settings of a side that weigh most; what an engine has no setting for is said.
fn weighty(side: &Side) -> Markup {
    let engines = tables::settings(side);
    let sinks: std::collections::BTreeSet<&str> =
        side.results.iter().map(|run| run.workload.output.as_str()).collect();
    let rows = WEIGHTY.iter().map(|(title, parts)| {
        let matching = engines.values().flatten().filter(|(key, _)| {
            let key = key.to_lowercase();
            parts.iter().any(|part| key.contains(part))
        });
        let told: Vec<String> = matching
            .map(|(key, values)| {
                format!("{key} = {}", values.iter().cloned().collect::<Vec<_>>().join(" | "))
            })
            .collect();
        let text =
            if told.is_empty() { "the engine told no such setting".to_owned() } else { told.join("; ") };
        (*title, text)
    });
    let sink =
        ("sink", format!("rows are handed over for: {}", sinks.into_iter().collect::<Vec<_>>().join(", ")));
    tables::pairs(&format!("What weighs most: {}", side.name), rows.chain([sink]))
}

fn repeat(content: &Content<'_>) -> Markup {
    html! {
        p { "The commands below, with the same version of nexmark on the same kind of machine; the seed and every option are in the result
            files. " code { "nexmark compare" } " then gives the tables above." }
        (tables::commands(content))
        (tables::environment(content))
    }
}
