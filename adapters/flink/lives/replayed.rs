//! Every life that a job can have, and every way in which a cluster can fail to answer.

use std::time::{Duration, Instant};

use nexmark_driver::engine::{Engine as _, Output};
use nexmark_driver::result::{RunResult, State};
use nexmark_driver::run::RunRequest;
use nexmark_queries::answer::Digest;
use serde_json::json;
use tempfile::NamedTempFile;
use wiremock::{MockServer, ResponseTemplate};

use super::mock::{EVENTS, JOB, SOURCE, accumulators, as_recorded, calls, json_reply, late, refusal, tell};
use super::{ending, events, request, run, settings, soon};
use crate::engine::Flink;
use crate::jar::LocalJar;
use crate::recorded::response;

/// Id of the recorded upload.
const UPLOADED: &str = "8242a388-6e78-4f49-ae04-78231c3fd3c1_nexmark-driver.jar";
const RUNS: &[&str] = &["INITIALIZING", "CREATED", "RUNNING", "RUNNING", "FINISHED"];

/// An engine that talks to a server.
fn flink_at(address: &str, changes: &[&str]) -> (Flink, NamedTempFile) {
    let address = format!("address={address}");
    let changes: Vec<&str> =
        [address.as_str(), "deadline.reply=300ms"].into_iter().chain(changes.iter().copied()).collect();
    let (settings, jar) = settings(&changes);
    (Flink::new(&settings).unwrap(), jar)
}

/// As many events as were recorded, with deadlines and polls for a test.
fn recorded_events() -> RunRequest {
    RunRequest {
        deadlines: soon(Duration::from_secs(2)),
        poll_interval: Duration::from_millis(20),
        ..request(events(EVENTS))
    }
}

async fn live_as(server: &MockServer, request: &RunRequest) -> (RunResult, Vec<String>) {
    let (mut flink, _jar) = flink_at(&server.uri(), &[]);
    let (outcome, warnings) = run(&mut flink, request).await;
    (outcome.result, warnings)
}

async fn live(server: &MockServer) -> (RunResult, Vec<String>) {
    live_as(server, &recorded_events()).await
}

#[tokio::test]
async fn a_job_that_finishes_passes_and_leaves_nothing() {
    let server = tell(RUNS, as_recorded).await;
    let (result, warnings) = live(&server).await;
    assert_eq!((ending(&result), warnings), ("passed: ".to_owned(), Vec::new()));
    assert_eq!((result.events, result.rows_out, result.restarts), (Some(EVENTS), Some(399_034), 0));
    let engine = result.engine.unwrap();
    assert_eq!(engine.version, "2.3.0");
    for (key, value) in [
        ("state.backend.type", "rocksdb"),
        ("cluster.slots", "2"),
        ("job.parallelism", "2"),
        ("job.checkpoints.mode", "exactly_once"),
    ] {
        assert_eq!(engine.config.get(key).map(String::as_str), Some(value), "{key}");
    }
    for extra in [
        "source_busy_ms",
        "checkpoints_completed",
        "checkpoint_ms_max",
        "taskmanagers_gc_ms",
        "busy_ms_per_s_max",
    ] {
        assert!(result.extras.contains_key(extra), "{extra}: {:?}", result.extras);
    }
    assert_eq!(
        (result.state_bytes_max, result.samples.last().unwrap().watermark_ms),
        (Some(1_530_578), Some(1_436_918_400_000))
    );
    let calls = calls(&server).await;
    assert!(calls.contains(&format!("DELETE /jars/{UPLOADED}")), "{calls:?}");
    assert!(
        !calls.iter().any(|call| call.starts_with("PATCH")),
        "a finished job is not cancelled: {calls:?}"
    );
}

#[tokio::test]
async fn the_job_is_asked_for_with_everything_that_it_needs() {
    let server = tell(RUNS, as_recorded).await;
    live(&server).await;
    let requests = server.received_requests().await.unwrap();
    let upload = requests.iter().find(|request| request.url.path() == "/jars/upload").unwrap();
    let form = String::from_utf8_lossy(&upload.body);
    assert!(form.contains("name=\"jarfile\"; filename=\"nexmark-flink-") && form.contains("a jar"), "{form}");
    let run = requests.iter().find(|request| request.url.path().ends_with("/run")).unwrap();
    let body: serde_json::Value = serde_json::from_slice(&run.body).unwrap();
    assert_eq!((&body["parallelism"], &body["entryClass"]), (&json!(2), &json!("nexmark.job.Main")));
    assert_eq!(body["jobId"].as_str().map(str::len), Some(32));
    let config = &body["flinkConfiguration"];
    assert!(config["pipeline.name"].as_str().is_some_and(|name| name.contains("-q5-")), "{config}");
    assert_eq!(config["execution.checkpointing.interval"], "180000 ms");
    let arguments = body["programArgsList"].as_array().unwrap();
    assert!(arguments.contains(&json!(format!("events={EVENTS}"))));
    assert!(arguments.contains(&json!("table.exec.mini-batch.size=50000")));
}

#[tokio::test]
async fn a_jar_that_is_there_is_used_and_stays() {
    let (_, jar) = settings(&[]);
    let name = LocalJar::find(jar.path().to_str().unwrap()).unwrap().name;
    let jars = json!({ "address": "", "files": [{ "id": format!("1_{name}"), "name": name, "uploaded": 0, "entry": [] }] });
    let server = tell(RUNS, move |call, _| (call == "GET /jars").then(|| json_reply(&jars))).await;
    let (result, _) = live(&server).await;
    assert_eq!(ending(&result), "passed: ");
    let calls = calls(&server).await;
    assert!(!calls.iter().any(|call| call.starts_with("DELETE") || call.contains("upload")), "{calls:?}");
    assert!(calls.contains(&format!("POST /jars/1_{name}/run")), "{calls:?}");
    // Somebody removes it between the two.
    let jars = json!({ "files": [{ "id": format!("1_{name}"), "name": name }] });
    let gone = format!("POST /jars/1_{name}/run");
    let server = tell(RUNS, move |call, _| match call {
        "GET /jars" => Some(json_reply(&jars)),
        call if call == gone => Some(refusal(500, "error-unknown-jar")),
        _ => None,
    })
    .await;
    let (result, _) = live(&server).await;
    assert_eq!(ending(&result), "passed: ");
    assert!(self::calls(&server).await.contains(&"POST /jars/upload".to_owned()));
}

#[tokio::test]
async fn a_failed_job_tells_its_root_exception() {
    let server = tell(&["RUNNING", "RUNNING", "FAILING", "FAILED"], as_recorded).await;
    let (result, _) = live(&server).await;
    assert_eq!(ending(&result), "failed: java.lang.ArithmeticException: / by zero");
    let server = tell(&["RUNNING", "FAILED"], |call, _| {
        call.ends_with("/exceptions").then(|| json_reply(&response("no-slots-exceptions")))
    })
    .await;
    let (result, _) = live(&server).await;
    assert!(
        ending(&result).starts_with("failed: ") && ending(&result).contains("NoResourceAvailableException"),
        "{result:?}"
    );
}

#[tokio::test]
async fn the_reason_of_a_failure_may_come_late() {
    let server = tell(&["RUNNING", "FAILED"], |call, before| {
        let early = call.ends_with("/exceptions") && before < 3;
        early.then(|| json_reply(&response("job-exceptions-none")))
    })
    .await;
    let (result, _) = live(&server).await;
    assert_eq!(ending(&result), "failed: java.lang.ArithmeticException: / by zero");
}

#[tokio::test]
async fn restarts_are_counted_and_are_no_end() {
    let states = &["RUNNING", "RESTARTING", "RESTARTING", "RUNNING", "RESTARTING", "RUNNING", "FINISHED"];
    let server = tell(states, as_recorded).await;
    let (result, _) = live(&server).await;
    assert_eq!((ending(&result), result.restarts), ("passed: ".to_owned(), 2));
    // Restarts between two polls are seen by Flink alone.
    let server = tell(RUNS, |call, _| {
        let metrics = json!([{ "id": "numRestarts", "value": "5" }]);
        (call == format!("GET /jobs/{JOB}/metrics")).then(|| json_reply(&metrics))
    })
    .await;
    assert_eq!(live(&server).await.0.restarts, 5);
}

#[tokio::test]
async fn what_is_no_success_is_none() {
    for (states, text) in [
        (
            &["RUNNING", "CANCELLING", "CANCELED"],
            "cancelled: someone else cancelled job fdfa6c87716f56451d00bacd3836c862",
        ),
        (
            &["RUNNING", "RUNNING", "SUSPENDED"],
            "failed: Flink suspended job fdfa6c87716f56451d00bacd3836c862",
        ),
        (&["INITIALIZING"; 3], "timed-out: no first event within 2s: the job is starting"),
        (
            &["RUNNING", "RESTARTING", "RESTARTING"],
            "timed-out: no movement of events, rows or watermark for 2s: the job is restarting",
        ),
        (&["RUNNING", "RUNNING", "DREAMING"], "timed-out: no movement"),
    ] {
        let server = tell(states, as_recorded).await;
        let (result, _) = live(&server).await;
        assert!(ending(&result).starts_with(text), "{states:?}: {}", ending(&result));
        let cancels = calls(&server).await.iter().filter(|call| call.starts_with("PATCH")).count();
        let is_left = !matches!(states.last(), Some(&"CANCELED"));
        assert_eq!(cancels > 0, is_left, "{states:?}");
    }
}

#[tokio::test]
async fn only_our_job_is_touched() {
    let server = tell(&["RUNNING"], as_recorded).await;
    let (result, _) = live(&server).await;
    assert_eq!(result.state, State::TimedOut);
    let calls = calls(&server).await;
    assert!(calls.contains(&format!("PATCH /jobs/{JOB}")), "{calls:?}");
    let foreign = |call: &&String| call.contains("/jobs/") && !call.contains(JOB);
    assert_eq!(calls.iter().find(foreign), None);
    let deleted: Vec<_> = calls.iter().filter(|call| call.starts_with("DELETE")).collect();
    assert_eq!(deleted, [&format!("DELETE /jars/{UPLOADED}")], "only what was uploaded");
}

#[tokio::test]
async fn a_job_whose_vertices_come_late_is_followed() {
    let server = tell(RUNS, |call, before| {
        let early = call == format!("GET /jobs/{JOB}") && before == 0;
        early.then(|| {
            let mut details = response("job-detail");
            details["vertices"] = json!([]);
            details["plan"] = json!({});
            json_reply(&details)
        })
    })
    .await;
    assert_eq!(ending(&live(&server).await.0), "passed: ");
}

#[tokio::test]
async fn all_sources_are_counted() {
    // The join becomes a second source.
    let server = tell(RUNS, |call, _| {
        (call == format!("GET /jobs/{JOB}")).then(|| {
            let mut details = response("job-finished-after-stop");
            details["vertices"][3]["metrics"]["read-records"] = json!(20);
            let second = details["vertices"][3]["id"].clone();
            for node in details["plan"]["nodes"].as_array_mut().unwrap() {
                if node["id"] == second {
                    node.as_object_mut().unwrap().remove("inputs");
                }
            }
            json_reply(&details)
        })
    })
    .await;
    let two = RunRequest { workload: events(EVENTS + 20), ..recorded_events() };
    let (result, _) = live_as(&server, &two).await;
    assert_eq!((ending(&result), result.events), ("passed: ".to_owned(), Some(EVENTS + 20)));
}

#[tokio::test]
async fn a_total_that_is_not_what_was_asked_for_is_invalid() {
    let server = tell(RUNS, as_recorded).await;
    for (asked, text) in [(EVENTS / 2, "twice as many"), (EVENTS + 1, "asked for were 1481181")] {
        let request = RunRequest { workload: events(asked), ..recorded_events() };
        let (result, _) = live_as(&server, &request).await;
        assert_eq!(result.state, State::Invalid);
        assert!(ending(&result).contains(text), "{}", ending(&result));
    }
}

#[tokio::test]
async fn metrics_may_be_empty_at_first_and_have_any_name() {
    let list = format!("GET /jobs/{JOB}/vertices/{SOURCE}/subtasks/metrics");
    let names =
        ["numRecordsIn", "Source__a b,c[7].numRecordsOutPerSecond", "Source__a b[12].numRecordsOutPerSecond"];
    let states = ["RUNNING"; 12].into_iter().chain(["FINISHED"]).collect::<Vec<_>>();
    let server = tell(&states, move |call, before| match before {
        _ if call != list => None,
        0..3 => Some(json_reply(&json!([]))),
        3 => Some(json_reply(&names.iter().map(|name| json!({ "id": name })).collect())),
        _ => None,
    })
    .await;
    let (result, warnings) = live(&server).await;
    assert_eq!((ending(&result), warnings), ("passed: ".to_owned(), Vec::new()));
    let requests = server.received_requests().await.unwrap();
    let of_source = requests.iter().filter(|request| request.url.path().contains(SOURCE));
    let asked = of_source.filter_map(|request| request.url.query()).find(|query| query.contains("get="));
    let expected = "get=numRecordsIn,Source__a%20b%5B12%5D.numRecordsOutPerSecond&agg=sum,min,max";
    assert_eq!(asked, Some(expected), "encoded, and without the name that holds a comma");
    assert!(
        result.samples.iter().any(|sample| sample.events_per_s_reported == Some(14_234.8)),
        "{:?}",
        result.samples
    );
}

#[tokio::test]
async fn a_job_that_is_unknown_or_a_cluster_that_is_not_ready_is_waited_for() {
    let status = format!("GET /jobs/{JOB}/status");
    let server = tell(RUNS, move |call, before| match before {
        0..4 if call == status => Some(refusal(404, "error-unknown-job")),
        0..2 if call == "GET /config" => Some(ResponseTemplate::new(503).set_body_string("no leader")),
        0..1 if call == "GET /jars" => {
            Some(ResponseTemplate::new(200).set_body_string("{\"files\": [{\"id\":"))
        }
        _ => None,
    })
    .await;
    let (result, warnings) = live(&server).await;
    assert_eq!(ending(&result), "passed: ");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains(&format!("/jobs/{JOB}/status: status 404: ")), "{warnings:?}");
}

#[tokio::test]
async fn a_job_that_is_lost_is_a_failure() {
    let status = format!("GET /jobs/{JOB}/status");
    let server = tell(&["RUNNING"], move |call, before| {
        (call == status && before > 2).then(|| refusal(404, "error-unknown-job"))
    })
    .await;
    let request = RunRequest { deadlines: soon(Duration::from_secs(20)), ..recorded_events() };
    let (result, _) = live_as(&server, &request).await;
    assert!(
        ending(&result).starts_with(&format!("failed: Flink does not know job {JOB} any more")),
        "{}",
        ending(&result)
    );
    assert!(!result.notes.iter().any(|note| note.contains("clean-up failed")), "{:?}", result.notes);
}

#[tokio::test]
async fn a_cluster_that_does_not_answer_is_named() {
    let (mut flink, _jar) = flink_at("http://127.0.0.1:9", &[]);
    let (outcome, _) = run(&mut flink, &recorded_events()).await;
    let refused = ending(&outcome.result);
    assert!(refused.starts_with("failed: GET http://127.0.0.1:9/config: no reply: "), "{refused}");
    assert!(refused.to_lowercase().contains("refused"), "{refused}");
    let slow = |call: &'static str, from: usize| {
        move |asked: &str, before: usize| {
            let is_slow = asked.ends_with(call) && before >= from;
            is_slow.then(|| late(json_reply(&json!({ "status": "RUNNING" })), Duration::from_secs(3)))
        }
    };
    let server = tell(RUNS, slow("/config", 0)).await;
    let text = ending(&live(&server).await.0);
    assert!(text.contains("/config: no reply: not answered in full within 300ms"), "{text}");
    let server = tell(&["RUNNING"], slow("/status", 3)).await;
    let text = ending(&live(&server).await.0);
    assert!(
        text.starts_with("timed-out: no movement") && text.contains("the last poll failed: GET"),
        "{text}"
    );
    let server = tell(&["RUNNING"], |call, before| {
        (call.ends_with("/status") && before > 2)
            .then(|| ResponseTemplate::new(200).set_body_string("{\"status\": \"RUN"))
    })
    .await;
    let text = ending(&live(&server).await.0);
    assert!(
        text.starts_with("timed-out: no movement") && text.contains("the reply is damaged: EOF"),
        "{text}"
    );
}

#[tokio::test]
async fn a_job_that_flink_refuses_tells_why_and_leaves_no_jar() {
    let server = tell(RUNS, |call, _| call.ends_with("/run").then(|| refusal(400, "error-bad-sql"))).await;
    let (result, _) = live(&server).await;
    let text = ending(&result);
    assert!(text.starts_with("failed: POST http://") && text.contains("/run: status 400: "), "{text}");
    assert!(
        text.ends_with("CalciteException: Non-query expression encountered in illegal context"),
        "{text}"
    );
    let calls = calls(&server).await;
    assert!(calls.iter().any(|call| call.starts_with("DELETE /jars/")), "{calls:?}");
    assert!(!calls.iter().any(|call| call.starts_with("PATCH")), "no job came of it: {calls:?}");
}

#[tokio::test]
async fn a_submission_without_a_reply_is_looked_for_and_cancelled() {
    let server = tell(RUNS, |call, before| match call {
        call if call.ends_with("/run") => Some(late(json_reply(&json!({})), Duration::from_secs(3))),
        // The job of our own id is there, and goes when it is told to.
        call if call.ends_with("/status") => {
            Some(json_reply(&json!({ "status": if before < 3 { "RUNNING" } else { "CANCELED" } })))
        }
        call if call.starts_with("PATCH /jobs/") => Some(ResponseTemplate::new(202).set_body_json(json!({}))),
        _ => None,
    })
    .await;
    let (mut flink, _jar) = flink_at(&server.uri(), &["deadline.submit=300ms"]);
    let (outcome, _) = run(&mut flink, &recorded_events()).await;
    let text = ending(&outcome.result);
    assert!(
        text.starts_with("failed: POST ") && text.contains("not answered in full within 300ms"),
        "{text}"
    );
    let requests = server.received_requests().await.unwrap();
    let asked = requests.iter().find(|request| request.url.path().ends_with("/run")).unwrap();
    let body: serde_json::Value = serde_json::from_slice(&asked.body).unwrap();
    let cancel = format!("PATCH /jobs/{}", body["jobId"].as_str().unwrap());
    assert!(calls(&server).await.contains(&cancel), "{cancel}");
}

#[tokio::test]
async fn a_job_that_ends_before_the_first_poll_still_counts() {
    // Its source began 900 ms ago, and it ended 100 ms ago, when its submission was answered only after a second.
    let server = tell(&["FINISHED"], |call, _| {
        let aged = |name: &str, pointer: &str, age_ms: i64| {
            let mut reply = response(name);
            reply["now"] =
                json!(reply.pointer(pointer).and_then(serde_json::Value::as_i64).unwrap() + age_ms);
            Some(json_reply(&reply))
        };
        match call {
            call if call.ends_with("/run") => {
                Some(late(json_reply(&response("jar-run")), Duration::from_millis(1_000)))
            }
            call if call.ends_with("/subtasktimes") => {
                aged("vertex-subtasktimes", "/subtasks/1/timestamps/RUNNING", 900)
            }
            call if call == format!("GET /jobs/{JOB}") => {
                aged("job-finished-after-stop", "/timestamps/FINISHED", 100)
            }
            _ => None,
        }
    })
    .await;
    let (result, _) = live(&server).await;
    assert_eq!((ending(&result), result.events), ("passed: ".to_owned(), Some(EVENTS)));
    let seconds = result.seconds.unwrap();
    assert!((0.75..0.85).contains(&seconds), "{seconds} s, of 0.8");
    assert!(result.notes.iter().any(|note| note.starts_with("too short")), "{:?}", result.notes);
}

#[tokio::test]
async fn details_that_lag_behind_the_end_are_waited_for() {
    let server = tell(&["RUNNING", "FINISHED"], |call, before| {
        let is_old = call == format!("GET /jobs/{JOB}") && before < 5;
        is_old.then(|| json_reply(&response("job-detail")))
    })
    .await;
    let (result, _) = live(&server).await;
    assert_eq!((ending(&result), result.events), ("passed: ".to_owned(), Some(EVENTS)));
}

#[tokio::test]
async fn an_answer_comes_from_the_accumulators() {
    let server = tell(RUNS, as_recorded).await;
    let digest = RunRequest { output: Output::Digest, ..recorded_events() };
    let (result, _) = live_as(&server, &digest).await;
    assert_eq!(result.answer, Some(Digest { rows: 399_034, sum: u64::MAX }));
    let server = tell(RUNS, |call, _| {
        let mut left = accumulators();
        left["user-task-accumulators"] = json!([]);
        call.ends_with("/accumulators").then(|| json_reply(&left))
    })
    .await;
    let (result, _) = live_as(&server, &digest).await;
    assert_eq!(result.state, State::TimedOut);
    assert!(
        ending(&result).contains("no accumulator nexmark.rows")
            || ending(&result).contains("no accumulator nexmark.digest")
    );
}

#[tokio::test]
async fn what_flink_cannot_do_is_refused() {
    let server = tell(RUNS, as_recorded).await;
    let budget = RunRequest { memory_budget_bytes: Some(1), ..recorded_events() };
    let (result, _) = live_as(&server, &budget).await;
    assert!(
        ending(&result)
            .starts_with("failed: workload.memory-budget is 1, which has no effect on engine flink")
    );
    assert!(!calls(&server).await.iter().any(|call| call.contains("/run") || call.contains("upload")));
}

#[tokio::test]
async fn stop_is_bounded_by_the_job_and_may_be_called_twice() {
    let server = tell(&["RUNNING"], as_recorded).await;
    let (mut flink, _jar) = flink_at(&server.uri(), &[]);
    flink.stop().await.unwrap();
    assert!(calls(&server).await.is_empty(), "nothing was made");
    let begun = Instant::now();
    run(&mut flink, &recorded_events()).await;
    let made = calls(&server).await.len();
    flink.stop().await.unwrap();
    assert_eq!(calls(&server).await.len(), made, "everything is gone already");
    assert!(begun.elapsed() < Duration::from_secs(10));
}
