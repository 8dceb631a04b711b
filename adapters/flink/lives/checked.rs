//! `check` against a server, and how requests look that go through a proxy or need credentials.

use nexmark_driver::engine::{Checkup, Engine as _, Finding, Leftovers, Suitability};
use serde_json::json;

use super::mock::{as_recorded, calls, json_reply, tell};
use super::settings;
use crate::engine::Flink;

const CHECKUP: Checkup = Checkup { workers: 2, leftovers: Leftovers::Named };

fn of<'a>(findings: &'a [Finding], subject: &str) -> &'a Finding {
    findings.iter().find(|finding| finding.subject == subject).unwrap()
}

#[tokio::test]
async fn a_cluster_that_is_ready_is_told_so() {
    let server = tell(&["RUNNING"], as_recorded).await;
    let (settings, _jar) = settings(&[&format!("address={}", server.uri())]);
    let findings = Flink::new(&settings).unwrap().check(CHECKUP).await.unwrap();
    assert!(of(&findings, "version").text.starts_with("Flink 2.3.0 at http://"));
    assert_eq!(of(&findings, "slots").text, "2 of 2 slots are free, 2 are wanted");
    for subject in ["version", "slots", "uploads", "jar", "checkpoints", "leftovers"] {
        assert_eq!(of(&findings, subject).verdict, Suitability::Good, "{subject}");
    }
    let calls = calls(&server).await;
    assert!(calls.iter().all(|call| call.starts_with("GET ")), "{calls:?}");
}

#[tokio::test]
async fn processes_here_that_are_not_the_cluster_s_are_told() {
    let server = tell(&["RUNNING"], as_recorded).await;
    let mut child = std::process::Command::new("sleep").arg("59.2718").spawn().unwrap();
    let (settings, _jar) = settings(&[
        &format!("address={}", server.uri()),
        "watch.taskmanager=sleep 59.2718",
        "watch.jobmanager=no process has this",
    ]);
    let findings = Flink::new(&settings).unwrap().check(CHECKUP).await.unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(of(&findings, "workers").verdict, Suitability::Good, "{findings:?}");
    let coordinator = of(&findings, "coordinator");
    assert_eq!(coordinator.verdict, Suitability::Doubtful);
    assert!(coordinator.text.contains("0 run on this machine, the cluster has 1"), "{findings:?}");
}

#[tokio::test]
async fn leftovers_are_named_and_removed_on_demand() {
    let jars = json!({ "files": [
        { "id": "1_nexmark-flink-00.jar", "name": "nexmark-flink-00.jar" },
        { "id": "2_other.jar", "name": "other.jar" },
    ]});
    let server = tell(&["RUNNING"], move |call, _| (call == "GET /jars").then(|| json_reply(&jars))).await;
    let (settings, _jar) = settings(&[&format!("address={}", server.uri())]);
    let mut flink = Flink::new(&settings).unwrap();
    let findings = flink.check(CHECKUP).await.unwrap();
    assert!(of(&findings, "leftovers").text.starts_with("nexmark-flink-00.jar; "), "{findings:?}");
    let clean = Checkup { leftovers: Leftovers::Removed, ..CHECKUP };
    let findings = flink.check(clean).await.unwrap();
    assert_eq!(of(&findings, "leftovers").text, "removed nexmark-flink-00.jar");
    let deleted: Vec<_> =
        calls(&server).await.into_iter().filter(|call| call.starts_with("DELETE")).collect();
    assert_eq!(deleted, ["DELETE /jars/1_nexmark-flink-00.jar"]);
}

#[tokio::test]
async fn headers_credentials_and_a_base_path_are_sent() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = tell(&["RUNNING"], as_recorded).await;
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), "Bearer abc\n").unwrap();
    std::fs::set_permissions(secret.path(), std::fs::Permissions::from_mode(0o600)).unwrap();
    let (settings, _jar) = settings(&[
        &format!("address={}/base/", server.uri()),
        "headers=X-Tenant: a, b; X-Other: c",
        &format!("credentials.file={}", secret.path().display()),
    ]);
    let error = Flink::new(&settings).unwrap().describe().await.unwrap_err();
    assert!(error.message.contains("/base/config: status 404: Unable to load"), "{error}");
    assert!(!error.message.contains("abc"), "{error}");
    let requests = server.received_requests().await.unwrap();
    let header = |name: &str| requests[0].headers.get(name).and_then(|value| value.to_str().ok());
    assert_eq!(
        (header("x-tenant"), header("x-other"), header("authorization")),
        (Some("a, b"), Some("c"), Some("Bearer abc"))
    );
}

#[test]
fn settings_that_cannot_be_are_refused_before_anything_is_sent() {
    for (change, reason) in [
        ("headers=X-Tenant", "no colon"),
        ("headers=X Tenant: a", "allowed is \"Name: value\""),
        ("headers=Authorization: Bearer x", "NEXMARK_FLINK_CREDENTIALS"),
        ("ca.file=/no/such.pem", "cannot read ca.file /no/such.pem"),
        ("credentials.file=/no/such", "cannot read the credentials in /no/such"),
        ("address=localhost:8081", "allowed is http://"),
    ] {
        let (settings, _jar) = settings(&[change]);
        let message = Flink::new(&settings).err().unwrap().message;
        assert!(message.contains(reason), "{change}: {message}");
    }
}
