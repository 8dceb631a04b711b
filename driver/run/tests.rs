//! Lives of a fake engine, and what a run makes of them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::*;
use crate::engine::{EngineError, JobState, Output, Progress, Support, Target, Watch};
use crate::fake::{self, Call, Fake, Heard, Kept, events, progress, reply, request, steady};
use crate::pace::Schedule;

const SECOND: Duration = Duration::from_secs(1);

/// A run's outcome with everything that it told on the way.
struct Ran {
    outcome: Outcome,
    heard: Heard,
    kept: Kept,
}

impl Ran {
    fn result(&self) -> &RunResult {
        &self.outcome.result
    }

    #[track_caller]
    fn assert(&self, state: State, message: &str) {
        let result = self.result();
        let text = result.message.as_deref().unwrap_or_default();
        assert_eq!(result.state, state, "{text}");
        assert!(text.contains(message), "{text:?} lacks {message:?}");
        assert_phases_add_up(result);
        assert_eq!(self.heard.finished, 1);
        assert_eq!(self.kept.results.last(), Some(result), "the last kept result is the outcome");
    }

    fn notes(&self) -> String {
        self.result().notes.join("\n")
    }
}

#[track_caller]
fn assert_phases_add_up(result: &RunResult) {
    let phases = result.phases;
    let sum = phases.submit_seconds
        + phases.starting_seconds
        + phases.warmup_seconds
        + phases.measured_seconds
        + phases.draining_seconds
        + phases.stop_seconds;
    assert!((sum - phases.wall_seconds).abs() < 1e-6, "{phases:?}");
}

async fn run_with(fake: Fake, request: &RunRequest) -> Ran {
    run_until(fake, request, &mut Interrupt::never()).await
}

async fn run_until(mut fake: Fake, request: &RunRequest, interrupt: &mut Interrupt) -> Ran {
    let mut heard = Heard::default();
    let mut kept = Kept { log: fake.log.clone(), ..Kept::default() };
    let outcome = run(&mut fake, request, Place::ALONE, &mut kept, &mut heard, interrupt).await;
    Ran { outcome, heard, kept }
}

fn rate(duration: Duration, warmup: Duration, schedule: Schedule) -> RunRequest {
    request(Workload::Rate { duration, warmup, schedule })
}

#[track_caller]
fn assert_near(value: Option<f64>, expected: f64, tolerance: f64) {
    assert!(value.is_some_and(|value| (value - expected).abs() <= tolerance), "{value:?}, not {expected}");
}

#[tokio::test(start_paused = true)]
async fn normal_life() {
    let ran = run_with(Fake::new(steady(1_000, 10_000)), &events(10_000)).await;
    ran.assert(State::Passed, "");
    let result = ran.result();
    assert_eq!(
        (result.events, result.events_total, result.rows_out),
        (Some(10_000), Some(10_000), Some(5_000))
    );
    // Ends are seen to a poll.
    assert_near(result.seconds, 10.0, 0.2);
    assert_near(result.events_per_s, 1_000.0, 20.0);
    assert_eq!(result.notes, Vec::<String>::new());
    assert_eq!(result.answer, None, "rows were only counted");
    assert_eq!(result.engine.as_ref().map(|engine| engine.version.as_str()), Some("1.2.3"));
    assert_eq!(ran.kept.log.all(), ["submit", "keep", "stop", "keep"], "kept before the clean-up");
    let phases = [Phase::Submit, Phase::Starting, Phase::Measured, Phase::Draining, Phase::Stopping];
    assert_eq!(ran.heard.phases, phases);
    assert!(ran.heard.shares.is_sorted() && ran.heard.shares.last() == Some(&1.0));
    assert!((10..=12).contains(&result.samples.len()), "{} samples", result.samples.len());
}

#[tokio::test(start_paused = true)]
async fn an_embedded_engine_gives_exact_moments() {
    let begin = fake::now() + Duration::from_millis(50);
    let fake = Fake::new(move |elapsed| {
        let finished = elapsed > 2 * SECOND;
        let state = if finished { JobState::Finished } else { JobState::Running };
        let end = begin + Duration::from_millis(1_500);
        let at = if finished { end } else { fake::now() };
        let first_event_at = (elapsed > SECOND / 10).then_some(begin);
        Some(Ok(Progress { at, first_event_at, ..progress(state, if finished { 3_000 } else { 1_000 }) }))
    });
    let ran = run_with(fake, &events(3_000)).await;
    ran.assert(State::Passed, "");
    assert_near(ran.result().seconds, 1.5, 1e-9);
    assert_near(ran.result().events_per_s, 2_000.0, 1e-6);
    assert_near(Some(ran.result().phases.starting_seconds), 0.05, 1e-9);
    assert_near(Some(ran.result().phases.measured_seconds), 1.5, 1e-9);
}

#[tokio::test(start_paused = true)]
async fn start_up_enters_no_throughput() {
    let fake = Fake::new(|elapsed| match elapsed.checked_sub(50 * SECOND) {
        None => reply(JobState::Starting, 0),
        Some(running) => steady(1_000, 10_000)(running),
    });
    let ran = run_with(fake, &events(10_000)).await;
    ran.assert(State::Passed, "");
    assert_near(ran.result().events_per_s, 1_000.0, 30.0);
    assert_near(Some(ran.result().phases.starting_seconds), 50.0, 0.3);
}

#[tokio::test(start_paused = true)]
async fn a_start_has_a_deadline() {
    let ran = run_with(Fake::new(|_| reply(JobState::Starting, 0)), &events(10)).await;
    ran.assert(State::TimedOut, "no first event within 60s: the job is starting");
    assert_near(Some(ran.result().phases.starting_seconds), 60.0, 0.3);
    assert!(ran.kept.log.has("stop"));
}

#[tokio::test(start_paused = true)]
async fn a_stall_has_a_deadline_and_keeps_what_was_measured() {
    let fake =
        Fake::new(|elapsed| reply(JobState::Running, u64::try_from(elapsed.as_millis().min(5_000)).unwrap()));
    let ran = run_with(fake, &events(10_000)).await;
    ran.assert(State::TimedOut, "no movement of events, rows or watermark for 60s: the job is running, 5000");
    assert_eq!(ran.result().events, Some(5_000));
    assert_near(Some(ran.result().phases.wall_seconds), 65.0, 0.5);
}

#[tokio::test(start_paused = true)]
async fn no_poll_begins_at_a_deadline_and_fails() {
    let fake = Fake { poll: Call::Takes(SECOND / 50), ..Fake::new(|_| reply(JobState::Running, 10)) };
    let ran = run_with(fake, &events(20)).await;
    let message = "no movement of events, rows or watermark for 60s: the job is running, 10 events were generated, 20 were asked for";
    assert_eq!(ran.result().message.as_deref(), Some(message), "every poll was answered");
}

#[tokio::test(start_paused = true)]
async fn a_job_that_generated_everything_and_never_finishes_is_late() {
    let ran = run_with(Fake::new(|_| reply(JobState::Running, 10)), &events(10)).await;
    ran.assert(State::TimedOut, "10 events were generated, 10 were asked for");
}

#[tokio::test(start_paused = true)]
async fn nothing_due_is_no_stall() {
    // Two minutes without an event in every four: twice the stall's deadline.
    let period = 240 * SECOND;
    let schedule = Schedule::Square { first: 100.0, next: 0.0, period };
    let offered = schedule.clone();
    let fake = Fake::new(move |elapsed| reply(JobState::Running, offered.events_due(elapsed)));
    let ran = run_with(fake, &rate(2 * period, Duration::ZERO, schedule)).await;
    ran.assert(State::Passed, "");
    assert_near(ran.result().events_per_s, 50.0, 0.5);
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_never_a_success() {
    let fake = Fake::new(|elapsed| match elapsed < 3 * SECOND {
        true => steady(1_000, 10_000)(elapsed),
        false => reply(JobState::Failed("out of memory in task 3".to_owned()), 3_000),
    });
    let ran = run_with(fake, &events(10_000)).await;
    ran.assert(State::Failed, "out of memory in task 3");
    assert_eq!(ran.result().events, Some(3_000));
    assert!(ran.kept.log.has("stop"));
}

#[tokio::test(start_paused = true)]
async fn a_restart_is_counted_and_waited_for() {
    let fake = Fake::new(|elapsed| {
        let restarts = u32::from(elapsed > 3 * SECOND);
        let restarting = (3..6).contains(&elapsed.as_secs());
        let answer = steady(1_000, 10_000)(elapsed)?;
        let state = |state| if restarting { JobState::Restarting } else { state };
        Some(answer.map(|progress| Progress { restarts, state: state(progress.state.clone()), ..progress }))
    });
    let ran = run_with(fake, &events(10_000)).await;
    ran.assert(State::Passed, "");
    assert_eq!(ran.result().restarts, 1);
    assert!(ran.notes().contains("restarted: 1 times"));
}

#[tokio::test(start_paused = true)]
async fn events_read_again_after_a_restart_are_no_throughput() {
    let fake = Fake::new(|elapsed| match elapsed.checked_sub(5 * SECOND) {
        None => steady(1_000, 10_000)(elapsed),
        Some(since) => steady(1_000, 10_000)(since),
    });
    let ran = run_with(fake, &events(10_000)).await;
    ran.assert(State::Passed, "");
    assert_eq!((ran.result().events, ran.result().counters_dropped), (Some(10_000), 1));
    assert_near(ran.result().seconds, 15.0, 0.3);
    assert!(ran.notes().contains("event counter went backwards: 1 times"));
}

#[tokio::test(start_paused = true)]
async fn cancelled_by_others_is_told_so() {
    let fake = Fake::new(|elapsed| match elapsed < SECOND {
        true => reply(JobState::Running, 5),
        false => reply(JobState::Cancelled(String::new()), 5),
    });
    run_with(fake, &events(10)).await.assert(State::Cancelled, "someone else cancelled the job");
}

#[tokio::test(start_paused = true)]
async fn a_counter_that_ends_at_twice_the_events_is_invalid() {
    let fake = Fake::new(|elapsed| match elapsed < 10 * SECOND {
        true => reply(JobState::Running, 500),
        false => reply(JobState::Finished, 2_000),
    });
    run_with(fake, &events(1_000)).await.assert(State::Invalid, "twice");
    let fake = Fake::new(|_| reply(JobState::Finished, 999));
    run_with(fake, &events(1_000)).await.assert(State::Invalid, "ended at 999 events, asked for were 1000");
    let untold = Progress { events_in: None, ..progress(JobState::Finished, 0) };
    let fake = Fake::new(move |_| Some(Ok(untold.clone())));
    run_with(fake, &events(1_000)).await.assert(State::Invalid, "does not tell how many events");
}

#[tokio::test(start_paused = true)]
async fn an_end_before_the_first_poll_still_counts() {
    let wait = Call::Takes(Duration::from_millis(20));
    let fake = Fake { poll: wait, ..Fake::new(|_| reply(JobState::Finished, 1_000)) };
    let mut request = events(1_000);
    request.output = Output::Digest;
    let ran = run_with(fake, &request).await;
    ran.assert(State::Passed, "");
    assert_eq!(ran.result().events, Some(1_000));
    assert_near(ran.result().seconds, 0.02, 0.001);
    assert_near(ran.result().events_per_s, 50_000.0, 2_500.0);
    assert!(ran.notes().contains("too short"), "{}", ran.notes());
    assert_eq!(ran.result().answer.map(|answer| answer.rows), Some(7));
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_hangs_is_bounded_and_loses_nothing() {
    let fake = Fake { stop: Call::Hangs, ..Fake::new(steady(1_000, 10_000)) };
    let ran = run_with(fake, &events(10_000)).await;
    ran.assert(State::Passed, "clean-up failed: the engine did not stop within 30s");
    assert_eq!(ran.kept.log.all(), ["submit", "keep", "stop", "keep"]);
    assert_eq!(ran.kept.results[0].events, Some(10_000));
    assert_near(Some(ran.result().phases.stop_seconds), 30.0, 0.1);
    assert_eq!(ran.heard.warnings.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_fails_is_told_beside_the_first_message() {
    let failing = Fake::new(|_| reply(JobState::Failed("boom".to_owned()), 1));
    let ran = run_with(Fake { stop: Call::Fails("job not found"), ..failing }, &events(10)).await;
    ran.assert(State::Failed, "boom");
    assert!(ran.notes().contains("clean-up failed: job not found"));
}

#[tokio::test(start_paused = true)]
async fn poll_errors_that_recover_are_warned_of_once() {
    let fake = Fake::new(|elapsed| match (2..20).contains(&elapsed.as_secs()) {
        true => Some(Err(EngineError::new("503 service unavailable"))),
        false => steady(1_000, 30_000)(elapsed),
    });
    let ran = run_with(fake, &events(30_000)).await;
    ran.assert(State::Passed, "");
    assert_eq!(ran.heard.warnings.len(), 1, "{:?}", ran.heard.warnings);
    assert!(ran.heard.warnings[0].contains("503"));
}

#[tokio::test(start_paused = true)]
async fn poll_errors_that_stay_end_the_run_with_their_text() {
    let fake = Fake::new(|elapsed| match elapsed < 2 * SECOND {
        true => steady(1_000, 30_000)(elapsed),
        false => Some(Err(EngineError::new("connection refused"))),
    });
    let ran = run_with(fake, &events(30_000)).await;
    ran.assert(State::TimedOut, "the last poll failed: connection refused");
    assert_near(Some(ran.result().phases.wall_seconds), 62.0, 0.5);
    assert_near(ran.result().events_per_s, 1_000.0, 1.0);
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_hangs_ends_at_the_deadline() {
    let fake = Fake::new(|elapsed| if elapsed < SECOND { steady(1_000, 30_000)(elapsed) } else { None });
    let ran = run_with(fake, &events(30_000)).await;
    ran.assert(State::TimedOut, "the last poll failed: not answered within 59.8 s");
    assert_near(Some(ran.result().phases.wall_seconds), 61.0, 0.5);
}

#[tokio::test(start_paused = true)]
async fn calls_before_the_first_poll_fail_and_hang_with_their_names() {
    let fake = |describe, submit| Fake { describe, submit, ..Fake::new(steady(1, 1)) };
    let refused = run_with(fake(Call::Works, Call::Fails("no slots")), &events(1)).await;
    refused.assert(State::Failed, "no slots");
    assert!(refused.kept.log.has("stop"), "what a failed submit left is removed");
    let hangs = run_with(fake(Call::Works, Call::Hangs), &events(1)).await;
    hangs.assert(State::TimedOut, "the engine did not accept the job within 60");
    let silent = run_with(fake(Call::Hangs, Call::Works), &events(1)).await;
    silent.assert(State::TimedOut, "the engine did not describe itself within 60");
    let absent = run_with(fake(Call::Fails("connection refused"), Call::Works), &events(1)).await;
    absent.assert(State::Failed, "connection refused");
    assert_eq!(absent.kept.log.all(), ["keep"], "nothing was started");
}

#[tokio::test(start_paused = true)]
async fn unsupported_starts_nothing_and_a_deviation_is_kept() {
    let support = Support::Unsupported("no session windows".to_owned());
    let ran = run_with(Fake { support, ..Fake::new(steady(1, 1)) }, &events(1)).await;
    ran.assert(State::Unsupported, "no session windows");
    assert_eq!(ran.kept.log.all(), ["keep"]);
    let support = Support::Deviates("processing time".to_owned());
    let ran = run_with(Fake { support, ..Fake::new(steady(1, 1)) }, &events(1)).await;
    ran.assert(State::Passed, "");
    assert_eq!(ran.result().deviations, ["processing time"]);
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_stops_the_engine_and_keeps_what_was_measured() {
    let (interrupter, mut interrupt) = Interrupter::new();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(4_100)).await;
        interrupter.interrupt();
    });
    let ran = run_until(Fake::new(steady(1_000, 10_000)), &events(10_000), &mut interrupt).await;
    ran.assert(State::Cancelled, "interrupted");
    assert_near(ran.result().events_per_s, 1_000.0, 1.0);
    assert_near(Some(ran.result().phases.wall_seconds), 4.1, 0.01);
    assert_eq!(ran.kept.log.all(), ["submit", "keep", "stop", "keep"]);
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_ends_any_wait() {
    let hang = || Fake::new(|_| None);
    let fakes = [Fake { describe: Call::Hangs, ..hang() }, Fake { submit: Call::Hangs, ..hang() }, hang()];
    for fake in fakes {
        let (interrupter, mut interrupt) = Interrupter::new();
        tokio::spawn(async move {
            tokio::time::sleep(SECOND).await;
            interrupter.interrupt();
        });
        let ran = run_until(fake, &events(1), &mut interrupt).await;
        ran.assert(State::Cancelled, "interrupted");
        assert_near(Some(ran.result().phases.wall_seconds), 1.0, 0.01);
    }
}

#[tokio::test(start_paused = true)]
async fn rate_mode_leaves_the_warm_up_out() {
    // Twice as fast until the warm-up is over.
    let fake = Fake::new(|elapsed| {
        let ms = u64::try_from(elapsed.as_millis()).unwrap();
        reply(JobState::Running, ms.min(10_000) * 2 + ms.saturating_sub(10_000))
    });
    let ran = run_with(fake, &rate(20 * SECOND, 10 * SECOND, Schedule::Constant(2_000.0))).await;
    ran.assert(State::Passed, "");
    let result = ran.result();
    assert_near(result.events_per_s, 1_000.0, 5.0);
    assert_near(result.seconds, 20.0, 0.01);
    assert_near(result.phases.warmup_seconds.into(), 10.0, 0.01);
    assert_near(result.events_per_s_offered, 2_000.0, 1e-6);
    assert_near(result.achieved_share, 0.5, 0.01);
    assert!(ran.notes().contains("fell behind: 50.0 % of the offered rate"), "{}", ran.notes());
    let phases = [Phase::Starting, Phase::Warmup, Phase::Measured];
    assert_eq!(ran.heard.phases[1..4], phases);
    assert!(ran.kept.log.has("stop"));
}

#[tokio::test(start_paused = true)]
async fn a_job_that_ends_in_rate_mode_failed() {
    let ran =
        run_with(Fake::new(steady(1_000, 5_000)), &rate(20 * SECOND, SECOND, Schedule::Unlimited)).await;
    ran.assert(State::Failed, "the job ended 5.0 s after its first event");
    let fake = Fake::new(|elapsed| match elapsed < 4 * SECOND {
        true => steady(1_000, 50_000)(elapsed),
        false => reply(JobState::Restarting, u64::try_from(elapsed.as_millis()).unwrap()),
    });
    let ran = run_with(fake, &rate(5 * SECOND, Duration::ZERO, Schedule::Unlimited)).await;
    ran.assert(State::Failed, "restarting when its measured time was over");
}

#[tokio::test(start_paused = true)]
async fn warm_up_events_are_left_out() {
    // Twice as fast for the 10 000 events of the warm-up.
    let fake = Fake::new(|elapsed| {
        let ms = u64::try_from(elapsed.as_millis()).unwrap();
        let count = ms.min(5_000) * 2 + ms.saturating_sub(5_000);
        if count >= 20_000 { reply(JobState::Finished, 20_000) } else { reply(JobState::Running, count) }
    });
    let workload = Workload::Events { events: 10_000, warmup_events: 10_000 };
    let ran = run_with(fake, &request(workload)).await;
    ran.assert(State::Passed, "");
    assert_near(ran.result().events_per_s, 1_000.0, 10.0);
    assert_eq!(ran.result().events_total, Some(20_000));
    assert_near(Some(ran.result().phases.warmup_seconds), 5.0, 0.3);
}

#[tokio::test(start_paused = true)]
async fn the_whole_run_may_have_a_deadline() {
    let mut request = events(1_000_000);
    request.deadlines.total = Some(7 * SECOND);
    let ran = run_with(Fake::new(steady(1_000, 1_000_000)), &request).await;
    ran.assert(State::TimedOut, "not over after 7s");
    assert_near(Some(ran.result().phases.wall_seconds), 7.0, 0.01);
}

#[tokio::test(start_paused = true)]
async fn the_configuration_of_the_job_is_kept_with_the_engine() {
    let fake = |job_config| Fake { job_config, ..Fake::new(steady(10, 10)) };
    let ran = run_with(fake(Call::Works), &events(10)).await;
    let config = |ran: &Ran| ran.result().engine.as_ref().unwrap().config.get("parallelism").cloned();
    assert_eq!(config(&ran).as_deref(), Some("2"));
    for (call, reason) in
        [(Call::Fails("404"), "unknown: 404"), (Call::Hangs, "unknown: no answer within 5s")]
    {
        let ran = run_with(fake(call), &events(10)).await;
        ran.assert(State::Passed, "");
        assert!(config(&ran).is_none() && ran.notes().contains(reason), "{}", ran.notes());
    }
}

#[tokio::test(start_paused = true)]
async fn counts_that_come_late_are_of_the_moment_that_they_tell() {
    // The engine renews its counts every 7 s, and says for when they hold.
    let polls = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&polls);
    let fake = Fake::new(move |elapsed| {
        counter.fetch_add(1, Ordering::Relaxed);
        let (now, ms) = (fake::now(), elapsed.as_millis() % 7_000);
        let age = Duration::from_millis(u64::try_from(ms).unwrap());
        let events = u64::try_from((elapsed - age).as_millis()).unwrap();
        Some(Ok(Progress { at: now - age, ..progress(JobState::Running, events) }))
    });
    let ran = run_with(fake, &rate(20 * SECOND, 10 * SECOND, Schedule::Unlimited)).await;
    ran.assert(State::Passed, "");
    assert_near(ran.result().events_per_s, 1_000.0, 1.0);
    let polls = polls.load(Ordering::Relaxed);
    assert!((100..250).contains(&polls), "{polls} polls in 35 s");
}

#[tokio::test(start_paused = true)]
async fn records_that_are_written_ahead_put_the_deadline_of_the_start_off() {
    // Three minutes of filling a topic, then a job of ten seconds whose answer takes two minutes to read.
    let script = |elapsed: Duration| {
        let prepared = Some(elapsed.as_secs());
        let (state, events_in) = match elapsed.as_secs() {
            0..180 => (JobState::Starting, None),
            180..310 => (JobState::Running, Some((elapsed.as_secs() - 180).min(10) * 1_000)),
            _ => (JobState::Finished, Some(10_000)),
        };
        Some(Ok(Progress { prepared, events_in, ..progress(state, 0) }))
    };
    let mut fake = Fake::new(script);
    fake.notes.push("the topic was full".to_owned());
    let ran = run_with(fake, &events(10_000)).await;
    ran.assert(State::Passed, "");
    assert_near(Some(ran.result().phases.starting_seconds), 180.0, 1.3);
    assert_eq!(ran.notes(), "the topic was full");
    // One that fills nothing is late as ever.
    let standing = |_| Some(Ok(Progress { prepared: Some(7), ..progress(JobState::Starting, 0) }));
    let ran = run_with(Fake::new(standing), &events(10)).await;
    ran.assert(State::TimedOut, "no first event within 60s: the job is starting");
}

#[tokio::test(start_paused = true)]
async fn what_the_job_waits_for_is_told_at_the_deadline() {
    let waits_for = || Some("slots: 0 of 2 are free".to_owned());
    let fake =
        Fake::new(move |_| Some(Ok(Progress { waits_for: waits_for(), ..progress(JobState::Starting, 0) })));
    let ran = run_with(fake, &events(10)).await;
    ran.assert(State::TimedOut, "no first event within 60s");
    ran.assert(State::TimedOut, "it waits for slots: 0 of 2 are free");
}

#[tokio::test(start_paused = true)]
async fn rows_are_fetched_before_the_clean_up() {
    let mut request = events(10);
    request.output = Output::Rows;
    let ran = run_with(Fake::new(steady(10, 10)), &request).await;
    ran.assert(State::Passed, "");
    assert_eq!(ran.outcome.rows.as_ref().map(Vec::len), Some(1));
    assert!(run_with(Fake::new(steady(10, 10)), &events(10)).await.outcome.rows.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_kept_is_told_and_the_engine_is_stopped() {
    let mut fake = Fake::new(steady(10, 10));
    let mut kept = Kept { log: fake.log.clone(), fails: true, ..Kept::default() };
    let (mut heard, mut never) = (Heard::default(), Interrupt::never());
    let outcome = run(&mut fake, &events(10), Place::ALONE, &mut kept, &mut heard, &mut never).await;
    assert_eq!(outcome.keep_error.as_deref(), Some("cannot write result r.json: disk full"));
    assert_eq!(heard.warnings.len(), 2);
    assert!(fake.log.has("stop"));
}

#[tokio::test(start_paused = true)]
async fn costs_are_unknown_unless_everything_watched_was_seen() {
    let ran = run_with(Fake::new(steady(1_000, 5_000)), &events(5_000)).await;
    let result = ran.result();
    assert_eq!((result.cpu_seconds, result.cores, result.rss_bytes_max), (None, None, None));
    assert!(result.resources.contains_key("driver"), "{:?}", result.resources);
    let watch =
        |prefix: &str| Watch { role: "workers".to_owned(), target: Target::OwnThreads(prefix.to_owned()) };
    let fake = Fake { watches: vec![watch("no-such-thread")], ..Fake::new(steady(1_000, 5_000)) };
    let ran = run_with(fake, &events(5_000)).await;
    assert_eq!(ran.result().cores, None);
    assert!(ran.notes().contains("no process or thread of workers was seen"), "{}", ran.notes());
    // An empty prefix claims every thread of this process.
    let fake = Fake { watches: vec![watch("")], ..Fake::new(steady(1_000, 5_000)) };
    let ran = run_with(fake, &events(5_000)).await;
    assert!(ran.result().cpu_seconds.is_some() && ran.result().rss_bytes_max > Some(0), "{:?}", ran.result());
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_tells_the_end_of_the_warm_up_is_measured_to_the_event() {
    // The warm-up ends, and all is over 3 ms later: between two polls.
    let boundary = fake::now() + 5 * SECOND + Duration::from_millis(50);
    let end = boundary + Duration::from_millis(3);
    let fake = Fake::new(move |elapsed| match fake::now() < end {
        true => steady(1_000, 100_000)(elapsed),
        false => Some(Ok(Progress {
            at: end,
            warmup_ended_at: Some(boundary),
            ..progress(JobState::Finished, 6_100)
        })),
    });
    let ran = run_with(fake, &request(Workload::Events { events: 100, warmup_events: 6_000 })).await;
    ran.assert(State::Passed, "");
    assert_eq!((ran.result().events, ran.result().events_total), (Some(100), Some(6_100)));
    assert_near(ran.result().seconds, 0.003, 1e-9);
    assert_near(Some(ran.result().phases.warmup_seconds), 5.05, 0.01);
}

#[tokio::test(start_paused = true)]
async fn a_measured_phase_that_nobody_saw_is_invalid() {
    // The counter reaches its end before the engine says that it has finished.
    let counted = Fake::new(|elapsed| match elapsed.as_secs() {
        0..5 => steady(1_000, 100_000)(elapsed),
        5 => reply(JobState::Running, 6_100),
        _ => reply(JobState::Finished, 6_100),
    });
    let unseen = Fake::new(|elapsed| match elapsed.as_secs() {
        0..5 => steady(1_000, 100_000)(elapsed),
        _ => reply(JobState::Finished, 6_100),
    });
    for fake in [counted, unseen] {
        let ran = run_with(fake, &request(Workload::Events { events: 100, warmup_events: 6_000 })).await;
        ran.assert(
            State::Invalid,
            "no event was counted in the measured phase: it was over before its begin",
        );
    }
    let idle = Fake::new(|_| reply(JobState::Running, 1));
    let ran = run_with(idle, &rate(SECOND, Duration::ZERO, Schedule::Constant(0.1))).await;
    ran.assert(State::Invalid, "no event was counted in the measured phase: none was due");
}
