//! Costs over samples that are made up.

use nexmark_collector::machine::{DiskCounters, MachineCounters, NetworkCounters};

use super::*;
use crate::result::NetworkTraffic;

const SECOND: Duration = Duration::from_secs(1);

/// A process with that many user ticks, of 100 in a second.
fn process(pid: u32, start_ticks: u64, user_ticks: u64) -> ProcessCounters {
    ProcessCounters {
        pid,
        start_ticks,
        role: "workers".to_owned(),
        user_ticks,
        rss_bytes: 1_000,
        ..ProcessCounters::default()
    }
}

fn sample(host: &str, boot_ticks: u64, processes: &[ProcessCounters]) -> Sample {
    Sample {
        host: host.to_owned(),
        ticks_per_second: 100,
        boot_ticks,
        processes: processes.to_vec(),
        ..Sample::default()
    }
}

fn expectation(hosts: &[&str]) -> Expectation {
    let host = |host: &&str| ((*host).to_owned(), ExpectedHost { stale: 3 * SECOND, roles: Vec::new() });
    Expectation {
        hosts: hosts.iter().map(host).collect(),
        roles: vec!["workers".to_owned()],
        after_end: AfterEnd::Idle,
    }
}

/// Costs over samples a second apart, the first of which is the base.
fn costs_of(samples: Vec<Sample>) -> Costs {
    let mut recorder = Recorder::default();
    let to = SECOND * u32::try_from(samples.len() - 1).unwrap();
    for (sample, second) in samples.into_iter().zip(0..) {
        recorder.add(SECOND * second, sample);
    }
    recorder.open(Duration::ZERO);
    recorder.costs(&expectation(&["a"]), Duration::ZERO, to).unwrap()
}

#[test]
fn cpu_is_the_difference_since_the_base() {
    let costs = costs_of(vec![
        sample("a", 1_000, &[process(1, 10, 500)]),
        sample("a", 1_100, &[process(1, 10, 550)]),
        sample("a", 1_200, &[process(1, 10, 650)]),
    ]);
    assert_eq!(costs.cpu_seconds, Some(1.5));
    assert_eq!(costs.rss_bytes_max, Some(1_000));
    assert_eq!(costs.roles["workers"].cpu_seconds_user, Some(1.5));
}

#[test]
fn a_process_that_started_since_counts_whole_and_one_that_ended_counts_to_its_last_sample() {
    let costs = costs_of(vec![
        sample("a", 1_000, &[process(1, 10, 500)]),
        sample("a", 1_100, &[process(1, 10, 550), process(2, 1_050, 40)]),
        sample("a", 1_200, &[process(2, 1_050, 60)]),
    ]);
    assert_eq!(costs.cpu_seconds, Some(1.1));
    assert_eq!(costs.roles["workers"].processes_max, 2);
    assert_eq!(costs.rss_bytes_max, Some(2_000));
}

#[test]
fn a_restarted_process_with_the_same_id_counts_anew() {
    let costs = costs_of(vec![
        sample("a", 1_000, &[process(1, 10, 500)]),
        sample("a", 1_100, &[process(1, 1_050, 20)]),
        sample("a", 1_200, &[process(1, 1_050, 30)]),
    ]);
    assert_eq!(costs.cpu_seconds, Some(0.3));
    assert_eq!(costs.roles["workers"].counters_dropped, 0);
}

#[test]
fn an_old_process_that_is_found_late_counts_from_there() {
    let costs = costs_of(vec![
        sample("a", 1_000, &[]),
        sample("a", 1_100, &[process(1, 10, 9_000)]),
        sample("a", 1_200, &[process(1, 10, 9_050)]),
    ]);
    assert_eq!(costs.cpu_seconds, Some(0.5));
}

#[test]
fn a_counter_that_goes_back_is_dropped() {
    let costs = costs_of(vec![
        sample("a", 1_000, &[process(1, 10, 500)]),
        sample("a", 1_100, &[process(1, 10, 400)]),
        sample("a", 1_200, &[process(1, 10, 450)]),
    ]);
    assert_eq!(costs.cpu_seconds, Some(0.5));
    assert_eq!(costs.roles["workers"].counters_dropped, 1);
}

#[test]
fn threads_count_in_nanoseconds_and_share_memory() {
    let thread = |pid, role: &str, cpu_ns| ProcessCounters {
        thread_of: Some(7),
        role: role.to_owned(),
        cpu_ns: Some(cpu_ns),
        ..process(pid, 10, 0)
    };
    let both = |ns| [thread(8, "workers", ns), thread(9, "sources", ns), thread(7, DRIVER_ROLE, ns)];
    let costs = costs_of(vec![sample("a", 1_000, &both(5_000_000)), sample("a", 1_001, &both(9_000_000))]);
    assert!((costs.cpu_seconds.unwrap() - 0.008).abs() < 1e-9, "{costs:?}");
    assert_eq!(costs.rss_bytes_max, Some(1_000));
    assert!((costs.roles[DRIVER_ROLE].cpu_seconds.unwrap() - 0.004).abs() < 1e-9, "{costs:?}");
}

#[test]
fn only_the_measured_phase_counts() {
    let mut recorder = Recorder::default();
    for (second, ticks) in [(0, 0), (1, 100), (2, 250), (3, 300)] {
        let sample = sample("a", 1_000 + u64::from(second) * 100, &[process(1, 10, ticks)]);
        recorder.add(SECOND * second, sample);
    }
    recorder.open(SECOND + SECOND / 20);
    let costs = recorder.costs(&expectation(&["a"]), SECOND + SECOND / 20, SECOND * 3).unwrap();
    assert_eq!(costs.cpu_seconds, Some(2.0));
    assert_eq!(recorder.cpu_seconds_so_far(), Some(3.0));
}

#[test]
fn the_base_is_the_reading_nearest_to_the_begin() {
    let mut recorder = Recorder::default();
    // Building took 60 ticks before the first event at 0.1 s.
    for (ms, ticks) in [(0, 0), (101, 60), (200, 70), (400, 90)] {
        let boot_ticks = 1_000 + ms / 10;
        recorder.add(Duration::from_millis(ms), sample("a", boot_ticks, &[process(1, 1_001, ticks)]));
    }
    let (from, to) = (Duration::from_millis(100), Duration::from_millis(400));
    recorder.open(from);
    let costs = recorder.costs(&expectation(&["a"]), from, to).unwrap();
    assert_eq!((costs.cpu_seconds, costs.too_coarse), (Some(0.3), false));
}

#[test]
fn a_phase_that_is_too_short_for_its_readings_has_no_cpu() {
    let mut recorder = Recorder::default();
    for (ms, ticks) in [(0, 0), (101, 60), (110, 61)] {
        recorder.add(Duration::from_millis(ms), sample("a", 1_000, &[process(1, 1_001, ticks)]));
    }
    let from = Duration::from_millis(100);
    recorder.open(from);
    let costs = |to| recorder.costs(&expectation(&["a"]), from, Duration::from_millis(to)).unwrap();
    let short = costs(103);
    assert_eq!((short.cpu_seconds, short.too_coarse), (None, true));
    assert_eq!((short.roles["workers"].cpu_seconds, short.rss_bytes_max), (None, Some(1_000)));
    let unfinished = costs(150);
    assert!(unfinished.too_coarse, "the last reading lies 40 ms before the end");
}

#[test]
fn a_missing_or_stale_host_makes_the_total_unknown() {
    let mut recorder = Recorder::default();
    recorder.add(Duration::ZERO, sample("a", 0, &[process(1, 0, 0)]));
    recorder.add(Duration::ZERO, sample("b", 0, &[process(1, 0, 0)]));
    recorder.open(Duration::ZERO);
    for second in 1..10 {
        recorder.add(SECOND * second, sample("a", 0, &[process(1, 0, 10)]));
    }
    let costs = |hosts: &[&str]| recorder.costs(&expectation(hosts), Duration::ZERO, SECOND * 9).unwrap();
    assert_eq!(costs(&["a"]).cpu_seconds, Some(0.1));
    let stale = costs(&["a", "b"]);
    assert_eq!((stale.cpu_seconds, stale.rss_bytes_max), (None, None));
    assert_eq!(stale.hosts_missing, ["b"]);
    assert_eq!(stale.roles["workers"].cpu_seconds, None);
    assert_eq!(costs(&["a", "c"]).hosts_missing, ["c"]);
}

#[test]
fn a_role_that_was_never_seen_makes_the_total_unknown() {
    let costs = costs_of(vec![sample("a", 0, &[]), sample("a", 100, &[])]);
    assert_eq!((costs.cpu_seconds, costs.roles_missing), (None, vec!["workers".to_owned()]));
}

#[test]
fn what_follows_the_end_of_a_phase_does_not_count() {
    let mut recorder = Recorder::default();
    for (ms, ticks) in
        [(0, 0), (2_500, 250), (5_000, 500), (7_500, 750), (9_900, 1_000), (10_600, 1_100), (11_600, 1_200)]
    {
        recorder.add(Duration::from_millis(ms), sample("a", 1_000, &[process(1, 10, ticks)]));
    }
    recorder.open(Duration::ZERO);
    let cpu = |after_end| {
        let expectation = Expectation { after_end, ..expectation(&["a"]) };
        recorder.costs(&expectation, Duration::ZERO, SECOND * 10).unwrap().cpu_seconds
    };
    assert_eq!(cpu(AfterEnd::GoesOn), Some(10.0), "the reading nearest to the end");
    assert_eq!(cpu(AfterEnd::Idle), Some(11.0), "the first reading after the end");
}

#[test]
fn samples_of_hosts_may_arrive_out_of_order() {
    let mut recorder = Recorder::default();
    for second in 0..200u32 {
        let ticks = u64::from(second) * 10;
        recorder.add(SECOND * second, sample("a", 1_000, &[process(1, 10, ticks)]));
        if let Some(earlier) = second.checked_sub(2) {
            let ticks = u64::from(earlier) * 20;
            recorder.add(SECOND * earlier, sample("b", 1_000, &[process(1, 10, ticks)]));
        }
        if second == 5 {
            recorder.open(SECOND * 2);
        }
    }
    let costs = recorder.costs(&expectation(&["a", "b"]), SECOND * 2, SECOND * 190).unwrap();
    assert_eq!(costs.cpu_seconds, Some(188.0 * 0.3));
    assert_eq!(costs.hosts["a"].roles["workers"].cpu_seconds, Some(18.8));
    assert_eq!(costs.hosts["b"].roles["workers"].cores, Some(0.2));
    assert_eq!(costs.rss_bytes_max, Some(2_000));
}

#[test]
fn a_process_that_two_hosts_show_counts_once() {
    let shown = |host: &str, ticks| Sample {
        process_space: "boot pid:[1]".to_owned(),
        ..sample(host, 1_000, &[process(1, 10, ticks)])
    };
    let costs = costs_of_hosts(vec![shown("a", 0), shown("b", 0), shown("a", 100), shown("b", 100)]);
    assert_eq!((costs.cpu_seconds, costs.rss_bytes_max), (Some(1.0), Some(1_000)));
    let foreign = |host: &str, ticks| Sample { process_space: host.to_owned(), ..shown(host, ticks) };
    let costs = costs_of_hosts(vec![foreign("a", 0), foreign("b", 0), foreign("a", 100), foreign("b", 100)]);
    assert_eq!((costs.cpu_seconds, costs.rss_bytes_max), (Some(2.0), Some(2_000)));
}

/// Costs over two rounds of samples of two hosts, a second apart.
fn costs_of_hosts(samples: Vec<Sample>) -> Costs {
    let mut recorder = Recorder::default();
    for (sample, number) in samples.into_iter().zip(0..) {
        recorder.add(SECOND * (number / 2), sample);
    }
    recorder.open(Duration::ZERO);
    recorder.costs(&expectation(&["a", "b"]), Duration::ZERO, SECOND).unwrap()
}

#[test]
fn a_role_that_a_host_lacks_is_named_with_it() {
    let mut recorder = Recorder::default();
    recorder.add(Duration::ZERO, sample("a", 0, &[process(1, 0, 0)]));
    recorder.add(Duration::ZERO, sample("b", 0, &[]));
    recorder.add(SECOND, sample("a", 0, &[process(1, 0, 10)]));
    recorder.add(SECOND, sample("b", 0, &[]));
    recorder.open(Duration::ZERO);
    let mut expectation = expectation(&["a", "b"]);
    let costs = recorder.costs(&expectation, Duration::ZERO, SECOND).unwrap();
    assert_eq!((costs.cpu_seconds, costs.roles_missing.len()), (Some(0.1), 0));
    expectation.hosts.get_mut("b").unwrap().roles.push("workers".to_owned());
    let costs = recorder.costs(&expectation, Duration::ZERO, SECOND).unwrap();
    assert_eq!((costs.cpu_seconds, costs.roles_missing), (None, vec!["workers on b".to_owned()]));
}

#[test]
fn a_machine_is_told_as_a_whole() {
    let machine = |busy_ticks, bytes, available| MachineCounters {
        cores: 4,
        busy_ticks,
        memory_bytes: 100,
        memory_bytes_available: Some(available),
        networks: [("eth0".to_owned(), NetworkCounters { received_bytes: bytes, sent_bytes: 2 * bytes })]
            .into(),
        disks: [("sda".to_owned(), DiskCounters { read_bytes: 0, written_bytes: bytes })].into(),
        ..MachineCounters::default()
    };
    let with = |machine, ticks| Sample { machine: Some(machine), ..sample("a", 0, &[process(1, 0, ticks)]) };
    let costs = costs_of(vec![
        with(machine(100, 10, 90), 0),
        with(machine(200, 20, 40), 5),
        with(machine(350, 50, 80), 10),
    ]);
    let host = &costs.hosts["a"];
    assert_eq!((host.cpu_seconds, host.cores, host.memory_bytes_used_max), (Some(2.5), Some(4), Some(60)));
    let traffic = NetworkTraffic { received_bytes: 40, sent_bytes: 80 };
    assert_eq!((host.networks["eth0"], host.disk_written_bytes), (traffic, Some(40)));
}
