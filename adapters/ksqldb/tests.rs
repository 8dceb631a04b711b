//! The engine against a recorded ksqlDB: every query, and every way in which a run can go wrong.

use std::time::Duration;

use nexmark_driver::engine::{
    Checkup, Engine as _, Finding, Job, JobState, Leftovers, Output, Progress, Suitability, Support,
};
use nexmark_driver::listener::Silent;
use nexmark_driver::pace::Schedule;
use nexmark_driver::result::{Discard, RunResult, State};
use nexmark_driver::run::{self, Interrupt, Place, RunRequest, Workload};
use nexmark_queries::ALL;
use nexmark_queries::answer::Digest;
use nexmark_queries::ndjson::Table;

use crate::feed::Topics;
use crate::recording::{EVENTS, Recording};
use crate::world::{Fate, Stage, job};

/// Longest wait in a test.
const LIMIT: Duration = Duration::from_secs(60);
const PREFIX: &str = "nexmark_20261130_021509_q0_ab12cd_";

/// Polls until the job is over.
async fn end(stage: &mut Stage) -> Progress {
    let over = async {
        loop {
            let progress = stage.engine.poll().await.unwrap();
            if !matches!(progress.state, JobState::Starting | JobState::Running) {
                return progress;
            }
            stage.engine.changed(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LIMIT, over).await.expect("the job did not end")
}

async fn finished(query: &'static str, fate: Fate, output: Output) -> (Stage, Progress) {
    let mut stage = Stage::new(query, fate, &[]).await;
    stage.engine.submit(&job(query, output)).await.unwrap();
    let progress = end(&mut stage).await;
    (stage, progress)
}

fn failure(progress: &Progress) -> &str {
    match &progress.state {
        JobState::Failed(message) => message,
        other => panic!("{other:?}"),
    }
}

/// Answer of the records that a real server wrote, which another test compares with the golden ones.
fn recorded(query: &str) -> usize {
    Recording::read(query).records().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_query_runs_to_its_end_and_leaves_nothing() {
    // One after the other they would wait for half a minute.
    let mut runs = tokio::task::JoinSet::new();
    for query in ALL {
        let output = if query.name == "q23" { Output::Count } else { Output::Rows };
        runs.spawn(async move {
            let (mut stage, progress) = finished(query.name, Fate::Well, output).await;
            assert_eq!(progress.state, JobState::Finished, "{}", query.name);
            assert_eq!(progress.events_in, Some(6_000), "{}", query.name);
            assert_eq!(progress.rows_out, Some(recorded(query.name) as u64), "{}", query.name);
            if output == Output::Rows {
                let rows = stage.engine.rows().await.unwrap();
                assert_eq!(progress.answer, Some(Digest::of(&rows)), "{}", query.name);
            }
            {
                let world = stage.world.lock();
                let topics = Topics::new(&PREFIX.replace("q0", query.name));
                assert_eq!(world.count(&topics.of(Table::Person)), 120);
                assert_eq!(world.count(&topics.of(Table::Auction)), 360);
                assert!(world.count(&topics.of(Table::Bid)) >= 5_520);
                let dropped: Vec<&String> = world
                    .topics
                    .iter()
                    .filter(|(name, topic)| name.starts_with("nexmark") && !topic.kept_for_ever)
                    .map(|(name, _)| name)
                    .collect();
                assert!(dropped.is_empty(), "{dropped:?}");
            }
            stage.engine.stop().await.unwrap();
            stage.engine.stop().await.unwrap();
            assert!(stage.world.lock().left().is_empty(), "{}: {:?}", query.name, stage.world.lock().left());
        });
    }
    while let Some(ran) = runs.join_next().await {
        ran.unwrap();
    }
}

/// A run as the driver makes it.
async fn driven(query: &'static str) -> (Stage, RunResult) {
    let mut stage = Stage::new(query, Fate::Well, &[]).await;
    let Job { input, query, .. } = job(query, Output::Digest);
    let workload = Workload::Events { events: EVENTS, warmup_events: 0 };
    let request = RunRequest { output: Output::Digest, ..RunRequest::new(query, input, workload) };
    let mut interrupt = Interrupt::never();
    let (mut keep, mut listener) = (Discard, Silent);
    let run = run::run(&mut stage.engine, &request, Place::ALONE, &mut keep, &mut listener, &mut interrupt);
    let outcome = tokio::time::timeout(LIMIT, run).await.expect("the run did not end");
    (stage, outcome.result)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_measured_to_its_last_event_and_not_longer() {
    let (stage, result) = driven("q5").await;
    assert_eq!((result.state, result.message), (State::Passed, None));
    assert_eq!(result.events, Some(EVENTS));
    assert_eq!(result.answer.unwrap().to_string(), "34 762c1232617ef8fe");
    // Three records past the end take five seconds, which are no part of what is measured.
    let (measured, wall) = (result.seconds.unwrap(), result.phases.wall_seconds);
    assert!(measured < 3.0 && wall > measured + 4.5, "{measured} s measured of {wall} s");
    assert_eq!(result.engine.unwrap().config["feed"], "prefilled");
    assert!(
        result.notes.iter().any(|note| note.starts_with("feed prefilled: Kafka took ")),
        "{:?}",
        result.notes
    );
    assert_eq!(result.deviations, ["of auctions that tie at most 100 are kept"]);
    assert!(stage.world.lock().left().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_that_are_not_done_at_once_are_waited_for() {
    let (mut stage, progress) = finished("q4", Fate::SlowStatements, Output::Digest).await;
    assert_eq!(progress.state, JobState::Finished);
    stage.engine.stop().await.unwrap();
    assert!(stage.world.lock().left().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_fails_with_success_of_http_is_told_with_its_root_cause() {
    let (mut stage, progress) = finished("q4", Fate::StatementFails, Output::Count).await;
    let message = failure(&progress);
    assert!(message.contains("ERROR: java.lang.Exception: no disk"), "{message}");
    assert!(message.contains("CREATE TABLE nexmark_20261130_021509_q4_ab12cd_q4 WITH"), "{message}");
    assert!(message.contains(&stage.server.uri()), "{message}");
    stage.engine.stop().await.unwrap();
    assert!(stage.world.lock().left().is_empty(), "{:?}", stage.world.lock().left());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_fails_is_a_failure_with_its_error() {
    let (_stage, progress) = finished("q0", Fate::QueryFails, Output::Count).await;
    let message = failure(&progress);
    assert!(
        message.contains("CSAS_NEXMARK_20261130_021509_Q0_AB12CD_Q0_") && message.contains("disk full"),
        "{message}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_somebody_else_ends_is_cancelled() {
    let (mut stage, progress) = finished("q0", Fate::Terminated, Output::Count).await;
    assert!(matches!(&progress.state, JobState::Cancelled(text) if text.contains("somebody else has ended")));
    stage.engine.stop().await.unwrap();
    assert!(stage.world.lock().left().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_stands_still_is_running_and_tells_what_it_waits_for() {
    let mut stage = Stage::new("q0", Fate::Stalls, &[]).await;
    stage.engine.submit(&job("q0", Output::Count)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(4)).await;
    let progress = stage.engine.poll().await.unwrap();
    assert_eq!(progress.state, JobState::Running);
    assert_eq!(progress.events_in, Some(3_000));
    assert_eq!(progress.extras["lag_records"], 2_760.0);
    let waits_for = progress.waits_for.unwrap();
    assert!(waits_for.starts_with(&format!("2760 records of topic {PREFIX}bid/0 in group")), "{waits_for}");
    stage.engine.stop().await.unwrap();
    assert!(stage.world.lock().left().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn events_that_kafka_does_not_acknowledge_fail_the_job() {
    let (mut stage, progress) = finished("q0", Fate::FeedFails, Output::Count).await;
    assert!(failure(&progress).contains("acknowledged 3000 of 6000"), "{}", failure(&progress));
    assert_eq!(progress.events_in, None);
    assert!(stage.world.lock().statements.iter().all(|statement| !statement.starts_with("CREATE")));
    stage.engine.stop().await.unwrap();
    assert!(stage.world.lock().left().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_gone_at_the_end_leaves_a_list() {
    let (mut stage, _progress) = finished("q0", Fate::ServerGone, Output::Count).await;
    let error = stage.engine.stop().await.unwrap_err().to_string();
    assert!(error.contains("HTTP 502") && error.contains(&format!("begins with {PREFIX}")), "{error}");
    // What Kafka has goes all the same.
    assert!(stage.world.lock().topics.is_empty() && stage.world.lock().groups.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_feed_follows_its_schedule() {
    let mut stage = Stage::new("q0", Fate::Well, &[("feed", "live")]).await;
    let mut live = job("q0", Output::Digest);
    live.schedule = Schedule::Constant(4_000.0);
    stage.engine.submit(&live).await.unwrap();
    tokio::time::sleep(Duration::from_millis(900)).await;
    let halfway = stage.engine.poll().await.unwrap();
    assert_eq!(halfway.state, JobState::Running);
    assert!(halfway.events_in.unwrap() < 5_000, "{:?}", halfway.events_in);
    let progress = end(&mut stage).await;
    assert_eq!(progress.state, JobState::Finished);
    assert_eq!(progress.events_in, Some(6_000));
    assert!(progress.first_event_at.is_some());
    assert_eq!(stage.engine.job_config().await.unwrap()["feed"], "live");
    stage.engine.stop().await.unwrap();
    assert!(stage.world.lock().left().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn prefilled_takes_a_number_of_events() {
    let mut stage = Stage::new("q0", Fate::Well, &[("feed", "prefilled")]).await;
    let mut endless = job("q0", Output::Count);
    endless.events = None;
    let error = stage.engine.submit(&endless).await.unwrap_err().to_string();
    assert!(error.contains("feed is prefilled") && error.contains("live or auto"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_that_look_back_a_day_refuse_longer_streams() {
    let mut stage = Stage::new("q20", Fate::Well, &[]).await;
    let mut long = job("q20", Output::Count);
    let nexmark_driver::engine::Input::Generated(options) = &mut long.input else { panic!() };
    options.set("event.rate", "1").unwrap();
    long.events = Some(90_000);
    stage.engine.submit(&long).await.unwrap();
    let progress = end(&mut stage).await;
    assert!(failure(&progress).contains("q20 look back 24 h"), "{}", failure(&progress));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_is_told_the_properties_of_a_query() {
    let (stage, _progress) = finished("q13", Fate::Well, Output::Count).await;
    let world = stage.world.lock();
    assert_eq!(world.properties["auto.offset.reset"], "earliest");
    assert_eq!(world.properties["num.stream.threads"], "1");
    assert_eq!(world.properties["max.task.idle.ms"], "1000");
    assert_eq!(world.count("nexmark_20261130_021509_q13_ab12cd_side_input"), 10_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_property_is_refused_in_the_words_of_the_server() {
    let mut stage = Stage::new("q0", Fate::Well, &[("properties", "no.such=1")]).await;
    let error = stage.engine.describe().await.unwrap_err().to_string();
    assert!(
        error.contains("property: 'no.such' (error 50000)") && error.contains("SHOW PROPERTIES"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_engine_describes_itself_as_the_server_does() {
    let mut stage = Stage::new("q0", Fate::Well, &[("partitions", "3")]).await;
    let description = stage.engine.describe().await.unwrap();
    assert_eq!(description.name, "ksqldb");
    assert_eq!(description.version, "${project.version}");
    assert_eq!(description.config["service.id"], "nx_");
    assert_eq!(description.config["ksql.streams.num.stream.threads"], "1");
    assert_eq!(
        description.watches.iter().map(|watch| watch.role.as_str()).collect::<Vec<_>>(),
        ["workers", "broker"]
    );
    let support = |name| stage.engine.support(nexmark_queries::find(name).unwrap());
    assert_eq!(support("q0"), Support::Supported);
    assert!(
        matches!(support("q7"), Support::Deviates(text) if text.contains("20") && text.contains("several partitions"))
    );
}

fn finding<'a>(findings: &'a [Finding], subject: &str) -> &'a Finding {
    findings
        .iter()
        .find(|finding| finding.subject == subject)
        .unwrap_or_else(|| panic!("{subject}: {findings:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_up_finds_leftovers_and_removes_them() {
    let mut stage = Stage::new("q5", Fate::Well, &[]).await;
    let checkup = |leftovers| Checkup { workers: 1, leftovers };
    let clean = stage.engine.check(checkup(Leftovers::Named)).await.unwrap();
    assert!(clean.iter().all(|finding| finding.verdict == Suitability::Good), "{clean:?}");
    assert!(finding(&clean, "server").text.contains("service id nx_"));
    assert!(finding(&clean, "kafka").text.contains("memory:1"));
    // A run that nobody stopped.
    stage.engine.submit(&job("q5", Output::Count)).await.unwrap();
    end(&mut stage).await;
    let named = stage.engine.check(checkup(Leftovers::Named)).await.unwrap();
    let left = finding(&named, "leftovers");
    assert_eq!(left.verdict, Suitability::Doubtful);
    assert!(
        left.text.contains("query CTAS_NEXMARK_") && left.text.contains("--clean removes them"),
        "{}",
        left.text
    );
    let removed = stage.engine.check(checkup(Leftovers::Removed)).await.unwrap();
    assert!(finding(&removed, "leftovers").text.starts_with("removed query"), "{removed:?}");
    assert!(stage.world.lock().left().is_empty());
    let narrow = stage.engine.check(Checkup { workers: 2, leftovers: Leftovers::Named }).await.unwrap();
    assert_eq!(finding(&narrow, "partitions").verdict, Suitability::Doubtful);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_there_is_named() {
    let mut stage = Stage::new("q0", Fate::Well, &[("url", "http://127.0.0.1:1")]).await;
    let error = stage.engine.describe().await.unwrap_err().to_string();
    assert!(error.contains("http://127.0.0.1:1/") && error.contains("GET /info"), "{error}");
    let findings = stage.engine.check(Checkup { workers: 1, leftovers: Leftovers::Named }).await.unwrap();
    assert_eq!(finding(&findings, "server").verdict, Suitability::Bad);
    assert_eq!(finding(&findings, "kafka").verdict, Suitability::Good);
}
