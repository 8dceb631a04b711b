//! Statements of a run as the recordings have them: without the prefix of the run, and without what says no more than the
//! defaults do.

/// A statement with what matters of it, in one line of small letters.
pub(super) fn normal(text: &str, prefix: &str) -> String {
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    text = text.replace(&prefix.to_lowercase(), "");
    text = text.replace("( ", "(").replace(" )", ")").trim_end_matches(';').to_owned();
    // The recorded statement of q23 has three columns less.
    for more in
        ["b.auction as auction, b.price,", "b.date_time as bid_date_time, b.extra", "a.id as auction_id, "]
    {
        if text.contains(" ${run}q23") || text.contains("stream q23 ") {
            text = text.replace(
                more,
                match more {
                    "b.auction as auction, b.price," => "b.price,",
                    "b.date_time as bid_date_time, b.extra" => "b.extra",
                    _ => "",
                },
            );
        }
    }
    let (head, rest) = match text.split_once(" with (") {
        Some((head, rest)) => match rest.split_once(')') {
            Some((properties, rest)) => (format!("{head} with [{}]", essential(properties)), rest.to_owned()),
            None => (text.clone(), String::new()),
        },
        None => match text.split_once(" as select ") {
            Some((head, rest)) => (format!("{head} with []"), format!(" as select {rest}")),
            None => (text.clone(), String::new()),
        },
    };
    head + &rest
}

/// Properties other than the topic and what follows from the defaults.
fn essential(properties: &str) -> String {
    let mut kept: Vec<&str> = properties
        .split(", ")
        .filter(|property| {
            let name = property.split('=').next().unwrap_or_default();
            !matches!(name, "kafka_topic" | "value_format" | "partitions" | "replicas")
        })
        .collect();
    kept.sort_unstable();
    kept.join(", ")
}

/// What the name of a made thing begins with: everything before one that the recordings know.
pub(super) fn prefix(name: &str) -> &str {
    // The random number of a run ends its prefix: `nexmark_date_time_query_random_`.
    let mut underscores = name.match_indices('_').map(|(at, _)| at + 1);
    underscores.nth(4).map_or("", |end| &name[..end])
}
