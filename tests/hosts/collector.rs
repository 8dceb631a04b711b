//! The program that is copied to hosts, on its own.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nexmark_collector::line::Line;
use nexmark_collector::sample::Sample;
use nexmark_driver::remote::Binary;
use tempfile::TempDir;

use super::burner::{Burner, has_burner, program};
use super::sshd::{available, eventually, permitted};

/// The program in a directory of its own.
fn unpacked() -> Option<(TempDir, PathBuf)> {
    let binary = Binary::embedded();
    if !available("the collector's target (rustup target add)", binary.is_ok()) {
        return None;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("nexmark-collector");
    fs::write(&path, binary.unwrap().bytes()).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    Some((directory, path))
}

/// A collector that is read.
struct Collecting {
    child: Child,
    lines: Option<std::io::Lines<BufReader<std::process::ChildStdout>>>,
}

impl Collecting {
    fn new(program: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines: Some(lines) }
    }

    fn sample(&mut self) -> Sample {
        match Line::parse(self.lines.as_mut().unwrap().next().unwrap().unwrap().as_bytes()).unwrap() {
            Line::Sample(sample) => *sample,
            Line::Clock(clocks) => panic!("{clocks:?}"),
        }
    }

    /// CPU seconds that the collector itself has spent, to a clock tick.
    fn spent(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
    }
}

impl Drop for Collecting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_needs_nothing_of_a_host_but_its_kernel() {
    let Some((directory, path)) = unpacked() else { return };
    assert!(fs::metadata(&path).unwrap().len() < 1_000_000);
    // An empty root directory: no library, no shell, no /proc.
    let started = Command::new("chroot")
        .arg(directory.path())
        .args(["/nexmark-collector", "--version"])
        .output()
        .unwrap();
    if !permitted("the right to chroot", started.status.success()) {
        return;
    }
    assert_eq!(
        String::from_utf8_lossy(&started.stdout),
        format!("nexmark-collector {}\n", env!("CARGO_PKG_VERSION"))
    );
    let blind = Command::new("chroot")
        .arg(directory.path())
        .args(["/nexmark-collector", "--watch", "a=command:b"])
        .output()
        .unwrap();
    assert_eq!(blind.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&blind.stderr).contains("cannot collect: No such file"), "{blind:?}");
}

#[test]
fn it_ends_with_its_reader_or_its_parent() {
    let Some((_directory, path)) = unpacked() else { return };
    let mut read = Collecting::new(&path, &[]);
    read.sample();
    drop(read.lines.take());
    eventually("it ends when nobody reads", || read.child.try_wait().unwrap().is_some());

    let mut asked = Collecting::new(&path, &[]);
    asked.sample();
    drop(asked.child.stdin.take());
    eventually("it ends when nobody asks", || asked.child.try_wait().unwrap().is_some());

    let mut silent = Collecting::new(&path, &["--silence-ms-max", "300"]);
    silent.sample();
    eventually("it ends when nothing was asked for long", || silent.child.try_wait().unwrap().is_some());

    // Its parent goes, and all streams stay open.
    let mark = "collector-without-parent-7151";
    let shell = format!("{} --host {mark} < /dev/null > /dev/null & sleep 0.3", path.display());
    assert!(Command::new("sh").arg("-c").arg(shell).status().unwrap().success());
    eventually("it ends when its parent goes", || {
        !super::sshd::processes().iter().any(|(_, command)| command.contains(mark))
    });
}

#[test]
fn two_threads_of_five_seconds_are_ten_cpu_seconds() {
    let Some((_directory, path)) = unpacked() else { return };
    if !has_burner() {
        return;
    }
    let mark = "burns-ten-seconds-6161";
    let mut collecting =
        Collecting::new(&path, &["--watch", &format!("workers=command:{mark}"), "--interval-ms", "200"]);
    assert!(collecting.sample().processes.is_empty());
    let burner = Burner::new(mark, 2, 5.0);
    let start = Instant::now();
    let mut last = 0.0;
    while start.elapsed() < Duration::from_secs(120) {
        let sample = collecting.sample();
        let Some(process) = sample.processes.first() else { continue };
        let now = (process.user_ticks + process.system_ticks) as f64 / sample.ticks_per_second as f64;
        if now > 9.8 && now == last && burner.spent() == now {
            break;
        }
        last = now;
    }
    assert!((last - 10.0).abs() <= 0.2, "{last} CPU seconds");
}

#[test]
fn a_name_with_parentheses_and_a_newline_is_watched() {
    let Some((directory, path)) = unpacked() else { return };
    if !has_burner() {
        return;
    }
    let strange = directory.path().join(") (\nx");
    fs::copy(program().unwrap(), &strange).unwrap();
    let mark = "strange-name-5151";
    let _burner = Burner::named(&strange, mark, 1, 0.3);
    let mut collecting =
        Collecting::new(&path, &["--watch", &format!("workers=command:{mark}"), "--interval-ms", "50"]);
    eventually("its CPU time is seen", || {
        let sample = collecting.sample();
        sample.processes.first().is_some_and(|process| {
            process.command.contains(") (\nx")
                && process.user_ticks + process.system_ticks >= 25
                && process.threads >= 1
        })
    });
}

#[test]
fn it_costs_less_than_a_hundredth_of_a_core() {
    let Some((_directory, path)) = unpacked() else { return };
    let sleepers: Vec<Child> = (0..500).map(|_| Command::new("sleep").arg("92.5").spawn().unwrap()).collect();
    let mut collecting =
        Collecting::new(&path, &["--watch", "workers=command:no such process 4141", "--interval-ms", "100"]);
    collecting.sample();
    let (before, start) = (collecting.spent(), Instant::now());
    // Ten samples a second, so that a clock tick is small against what they cost.
    let mut samples = 0;
    while start.elapsed() < Duration::from_secs(5) {
        collecting.sample();
        samples += 1;
    }
    let cost = (collecting.spent() - before) / f64::from(samples);
    for mut sleeper in sleepers {
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }
    println!(
        "{:.2} ms of CPU time a sample, with {} processes",
        cost * 1e3,
        super::sshd::processes().len() + 500
    );
    assert!(cost < 0.01, "{cost} CPU seconds a sample");
}

#[test]
fn a_control_group_is_watched() {
    let Some((_directory, path)) = unpacked() else { return };
    let roots = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];
    let root = roots.iter().find(|root| Path::new(root).join("cgroup.controllers").exists());
    let group = root.map(|root| Path::new(root).join(format!("nexmark-test-{}", std::process::id())));
    let made = group.as_ref().is_some_and(|group| fs::create_dir(group).is_ok());
    if !permitted("the right to make a control group", made) {
        return;
    }
    let group = group.unwrap();
    let mut member = Command::new("sleep").arg("93.5").spawn().unwrap();
    let joined = fs::write(group.join("cgroup.procs"), member.id().to_string());
    let watch = format!("all=cgroup:{}", group.display());
    let sample = Collecting::new(&path, &["--watch", &watch]).sample();
    member.kill().unwrap();
    member.wait().unwrap();
    eventually("the group is removed", || fs::remove_dir(&group).is_ok());
    joined.unwrap();
    assert_eq!(sample.processes.iter().map(|process| process.pid).collect::<Vec<_>>(), [member.id()]);
}

#[test]
fn the_command_collects_as_well() {
    let mark = "watched-by-command-3131";
    let mut sleeper =
        Command::new("sh").args(["-c", "sleep 94.5 # watched-by-command-3131; :"]).spawn().unwrap();
    thread::sleep(Duration::from_millis(100));
    let watch = format!("workers=command:{mark}");
    let arguments = ["collect", "--watch", &watch, "--host", "here", "--interval-ms", "50"];
    let mut collecting = Collecting::new(Path::new(env!("CARGO_BIN_EXE_nexmark")), &arguments);
    let sample = collecting.sample();
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    assert_eq!(sample.host, "here");
    assert_eq!(sample.processes.iter().map(|process| process.pid).collect::<Vec<_>>(), [sleeper.id()]);
    assert!(sample.machine.unwrap().cores > 0);
}
