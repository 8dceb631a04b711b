//! What a user should know before the first run: whether server and Kafka are there, fit together, and are clean.

use std::sync::Arc;

use nexmark_driver::engine::{Checkup, EngineError, Finding, Leftovers as Wish, Suitability, Watch};

use crate::kafka::Kafka;
use crate::leftovers::{Leftovers, Owner, blocking, remove};
use crate::server::Server;
use crate::settings::Options;

/// Names of leftovers that are told.
const TOLD: usize = 5;

/// Looks at everything, whatever else is wrong.
pub(crate) async fn findings(
    server: &mut Server,
    kafka: Result<Arc<dyn Kafka>, EngineError>,
    options: &Options,
    checkup: Checkup,
    watches: &[Watch],
) -> Vec<Finding> {
    let mut findings = of_server(server).await;
    let kafka = match kafka {
        Ok(kafka) => {
            findings.extend(of_kafka(&kafka, &options.prefix).await);
            findings.push(leftovers(server, &kafka, options, checkup.leftovers).await);
            Some(kafka)
        }
        Err(error) => {
            findings.push(Finding::new("kafka", Suitability::Bad, error.message));
            None
        }
    };
    if let (Some(kafka), Ok(info)) = (kafka, server.info().await) {
        findings.push(same_cluster(&kafka, &info.kafka_cluster_id).await);
    }
    let partitions = options.partitions as usize;
    findings.push(match partitions >= checkup.workers {
        true => Finding::new("partitions", Suitability::Good, format!("{partitions}")),
        false => Finding::new(
            "partitions",
            Suitability::Doubtful,
            format!(
                "{partitions}, and {} workers: a query reads a partition with one of them",
                checkup.workers
            ),
        ),
    });
    findings.extend(watches.iter().map(|watch| {
        Finding::new(format!("costs of {}", watch.role), Suitability::Good, watch.target.to_string())
    }));
    findings
}

async fn of_server(server: &Server) -> Vec<Finding> {
    let mut findings = Vec::new();
    match server.info().await {
        Ok(info) => {
            let text = format!("{} at {}, service id {}", info.version, server.url(), info.ksql_service_id);
            findings.push(Finding::new("server", Suitability::Good, text));
            // Absent before 0.20.
            if let Some(status) = info.server_status.filter(|status| status != "RUNNING") {
                findings.push(Finding::new("server", Suitability::Bad, format!("its status is {status}")));
            }
        }
        Err(error) => return vec![Finding::new("server", Suitability::Bad, error.message)],
    }
    findings.push(match server.illness().await {
        Ok(None) => Finding::new("health", Suitability::Good, "the server calls itself healthy"),
        Ok(Some(illness)) => Finding::new("health", Suitability::Bad, illness),
        Err(error) => Finding::new("health", Suitability::Bad, error.message),
    });
    match server.properties().await {
        Ok(properties) => findings.extend(of_properties(&properties)),
        Err(error) => findings.push(Finding::new("properties", Suitability::Bad, error.message)),
    }
    findings
}

/// Properties of the server that stand in the way.
fn of_properties(properties: &[(String, String)]) -> Vec<Finding> {
    let value =
        |name: &str| properties.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str());
    let mut findings = Vec::new();
    if value("ksql.suppress.enabled") == Some("false") {
        let text = "ksql.suppress.enabled is false, so that EMIT FINAL is refused: q5, q7 and q11 cannot run";
        findings.push(Finding::new("properties", Suitability::Doubtful, text));
    }
    if value("ksql.runtime.feature.shared.enabled") == Some("true") {
        let text =
            "ksql.runtime.feature.shared.enabled is true, so that the properties of a query are refused";
        findings.push(Finding::new("properties", Suitability::Bad, text));
    }
    if let Some(denied) = value("ksql.properties.overrides.denylist").filter(|denied| !denied.is_empty()) {
        let text = format!("ksql.properties.overrides.denylist is {denied}: these cannot be set for a query");
        findings.push(Finding::new("properties", Suitability::Doubtful, text));
    }
    findings
}

async fn of_kafka(kafka: &Arc<dyn Kafka>, prefix: &str) -> Vec<Finding> {
    let reached = match blocking(kafka, |kafka| kafka.describe()).await {
        Ok(text) => Finding::new("kafka", Suitability::Good, text),
        Err(error) => return vec![Finding::new("kafka", Suitability::Bad, error.message)],
    };
    let id = format!("{prefix}-check");
    let transactions = match blocking(kafka, move |kafka| kafka.check_transactions(&id)).await {
        Ok(()) => Finding::new(
            "transactions",
            Suitability::Good,
            "allowed, as ksqlDB needs them for its statements",
        ),
        Err(error) => Finding::new("transactions", Suitability::Bad, error.message),
    };
    vec![reached, transactions]
}

/// Whether both sides mean the same Kafka.
async fn same_cluster(kafka: &Arc<dyn Kafka>, id: &str) -> Finding {
    match blocking(kafka, |kafka| kafka.describe()).await {
        Ok(text) if text.contains(id) => {
            Finding::new("cluster", Suitability::Good, "the server has the same Kafka")
        }
        Ok(text) => {
            Finding::new("cluster", Suitability::Bad, format!("the server's Kafka is {id}, this is {text}"))
        }
        Err(error) => Finding::new("cluster", Suitability::Bad, error.message),
    }
}

async fn leftovers(server: &mut Server, kafka: &Arc<dyn Kafka>, options: &Options, wish: Wish) -> Finding {
    let owner = Owner::Prefix(options.prefix.clone());
    let names = match Leftovers::find(server, kafka, &owner).await {
        Ok(found) => found.names(),
        Err(error) => return Finding::new("leftovers", Suitability::Doubtful, error.message),
    };
    if names.is_empty() {
        return Finding::new(
            "leftovers",
            Suitability::Good,
            format!("none of runs with prefix {}", options.prefix),
        );
    }
    let mut text = names.iter().take(TOLD).cloned().collect::<Vec<_>>().join(", ");
    if let Some(more) = names.len().checked_sub(TOLD).filter(|more| *more > 0) {
        text += &format!(" and {more} more");
    }
    match wish {
        Wish::Named => {
            Finding::new("leftovers", Suitability::Doubtful, format!("{text}; --clean removes them"))
        }
        Wish::Removed => match remove(server, kafka, &owner).await {
            Ok(()) => Finding::new("leftovers", Suitability::Good, format!("removed {text}")),
            Err(error) => Finding::new("leftovers", Suitability::Bad, error.message),
        },
    }
}
