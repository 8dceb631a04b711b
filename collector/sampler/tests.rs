//! Which processes are found on this machine, and which never.

use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use super::*;

/// A process that ends with the test.
struct Running(Child);

impl Running {
    fn new(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }

    fn sleep(seconds: &str) -> Self {
        Self::new(Command::new("sleep").arg(seconds))
    }

    fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn sampler(watches: &[&str]) -> Sampler {
    Sampler::new("here", watches.iter().map(|text| text.parse().unwrap()).collect())
}

/// Ids of the processes of a role, as soon as there are so many: until a child has executed its program, it shows the
/// command line of this test.
#[track_caller]
fn found(sampler: &Sampler, role: &str, count: usize) -> Vec<u32> {
    let start = Instant::now();
    loop {
        let sample = sampler.sample().unwrap();
        let of_role = sample.processes.iter().filter(|process| process.role == role);
        let ids: Vec<u32> = of_role.map(|process| process.pid).collect();
        if ids.len() == count {
            return ids;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{role}: {sample:?}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn processes_are_found_by_command_line_and_id() {
    let (one, other) = (Running::sleep("61.4242"), Running::sleep("62.4343"));
    let id = format!("workers=pid:{}", other.id());
    let sampler = sampler(&["broker=command:sleep 61.4242", &id]);
    assert_eq!(
        (found(&sampler, "broker", 1), found(&sampler, "workers", 1)),
        (vec![one.id()], vec![other.id()])
    );
    let sample = sampler.sample().unwrap();
    assert_eq!(
        sample.processes.iter().find(|process| process.role == "broker").unwrap().command,
        "sleep 61.4242"
    );
    assert!(sample.process_space.contains(" pid:[") && sample.machine.is_some(), "{sample:?}");
    drop((one, other));
    assert!(sampler.sample().unwrap().processes.is_empty());
}

#[test]
fn a_restarted_process_is_another_one() {
    let sampler = sampler(&["workers=command:sleep 63.4545"]);
    let first = Running::sleep("63.4545");
    let before = found(&sampler, "workers", 1);
    drop(first);
    found(&sampler, "workers", 0);
    let _second = Running::sleep("63.4545");
    assert_ne!(found(&sampler, "workers", 1), before);
}

#[test]
fn a_name_may_hold_parentheses_and_a_newline() {
    let directory = tempfile::tempdir().unwrap();
    let name = directory.path().join("a) (\nb");
    fs::copy("/bin/sleep", &name).unwrap();
    let running = Running::new(Command::new(&name).arg("64.4646"));
    let sampler = sampler(&["workers=command:64.4646"]);
    assert_eq!(found(&sampler, "workers", 1), [running.id()]);
    let process = sampler.sample().unwrap().processes.remove(0);
    assert!(process.command.ends_with("a) (\nb 64.4646"), "{process:?}");
    assert!(process.start_ticks > 0 && process.threads == 1 && process.rss_bytes > 0, "{process:?}");
}

#[test]
fn own_programs_and_the_own_process_are_never_meant() {
    let mark = "65.4747";
    let _own = ["nexmark", "/opt/x/nexmark-collector"]
        .map(|name| Running::new(Command::new("sleep").arg0(name).arg(mark)));
    let other = Running::new(Command::new("sleep").arg0("nexmarker").arg(mark));
    let sampler = sampler(&["workers=command:65.4747"]);
    assert_eq!(found(&sampler, "workers", 1), [other.id()]);
    assert!(sampler.family.contains(&std::process::id()) && sampler.family.len() > 1, "{:?}", sampler.family);
}

#[test]
fn a_long_command_is_cut_in_its_middle() {
    let long = format!("java {} Main", "é".repeat(500));
    let cut = shortened(&long);
    assert!(cut.chars().count() < 260 && cut.starts_with("java é") && cut.ends_with("é Main"), "{cut}");
    assert_eq!(shortened("java Main"), "java Main");
}

#[test]
fn a_control_group_is_read_with_those_below_it() {
    let directory = tempfile::tempdir().unwrap();
    let (one, other) = (Running::sleep("66.1"), Running::sleep("66.2"));
    let below = directory.path().join("below");
    fs::create_dir(&below).unwrap();
    fs::write(directory.path().join("cgroup.procs"), format!("{}\n", one.id())).unwrap();
    fs::write(below.join("cgroup.procs"), format!("{}\n", other.id())).unwrap();
    let watch = format!("all=cgroup:{}", directory.path().display());
    let mut ids = [one.id(), other.id()];
    ids.sort_unstable();
    assert_eq!(found(&sampler(&[&watch]), "all", 2), ids);
    let error = sampler(&["all=cgroup:/no/such/group"]).sample().unwrap_err().to_string();
    assert!(error.contains("/no/such/group"), "{error}");
}
