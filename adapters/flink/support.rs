//! Which queries Flink runs, and how truly.

use nexmark_driver::engine::Support;
use nexmark_queries::Query;

/// What a deviation begins with in the head of a query's statements.
const DEVIATION: &str = "-- Deviation: ";

/// Whether Flink runs the query; `version` is known once the cluster was asked.
pub(crate) fn of(query: &Query, mini_batch: bool, version: Option<&str>) -> Support {
    let Some(statements) = query.flink_sql.first() else {
        return Support::Unsupported("Flink's SQL cannot say it".to_owned());
    };
    let known_fault =
        query.name == "q9" && !mini_batch && version.is_none_or(|version| version.starts_with("2.3"));
    if known_fault {
        return Support::Deviates(
            "Flink 2.3 answers it wrongly without mini-batches (FLINK-40368)".to_owned(),
        );
    }
    deviation(statements).map_or(Support::Supported, Support::Deviates)
}

/// The deviation that the head of the statements tells.
fn deviation(statements: &str) -> Option<String> {
    let mut lines = statements.lines().skip_while(|line| !line.starts_with(DEVIATION));
    let first = lines.next()?.strip_prefix(DEVIATION)?;
    let more = lines.map_while(|line| line.strip_prefix("-- "));
    Some(std::iter::once(first).chain(more).collect::<Vec<_>>().join(" "))
}

/// Whether an address is one of this machine.
pub(crate) fn is_this_machine(address: &str) -> bool {
    let url = reqwest::Url::parse(address);
    let host = url.as_ref().ok().and_then(|url| url.host_str()).unwrap_or_default();
    let ip = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn support(query: &str, mini_batch: bool, version: Option<&str>) -> Support {
        of(nexmark_queries::find(query).unwrap(), mini_batch, version)
    }

    #[test]
    fn every_query_runs_and_q6_says_how_it_deviates() {
        for query in nexmark_queries::ALL {
            match of(query, true, None) {
                Support::Supported => assert_ne!(query.name, "q6"),
                Support::Deviates(text) => {
                    assert_eq!(query.name, "q6");
                    assert!(text.starts_with("Flink's SQL has no average"), "{text}");
                    assert!(text.ends_with("once the watermark has passed its end."), "{text}");
                }
                Support::Unsupported(reason) => panic!("{}: {reason}", query.name),
            }
        }
    }

    #[test]
    fn the_known_fault_of_q9_is_told_where_it_is() {
        assert_eq!(support("q9", true, Some("2.3.0")), Support::Supported);
        assert_eq!(support("q9", false, Some("1.20.5")), Support::Supported);
        for version in [Some("2.3.0"), None] {
            assert!(
                matches!(support("q9", false, version), Support::Deviates(text) if text.contains("FLINK-40368"))
            );
        }
        assert_eq!(support("q8", false, None), Support::Supported);
    }

    #[test]
    fn addresses_of_this_machine_are_known() {
        for (address, is_this) in [
            ("http://localhost:8081", true),
            ("http://127.0.0.1:8081/flink", true),
            ("https://[::1]:8081", true),
            ("http://flink.example.org", false),
            ("http://10.0.0.1:8081", false),
        ] {
            assert_eq!(is_this_machine(address), is_this, "{address}");
        }
    }
}
