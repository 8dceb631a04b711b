//! Collectors of this machine, whole and damaged ones.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use nexmark_collector::watch::Target;

use super::*;
use crate::remote::{Binary, Collector, Local};

/// Starts what a shell makes of a script, in which `collect` is the collector with its arguments; `None` where none was built.
async fn start(script: &str, roles: Vec<Watch>) -> Option<Result<Follower, HostError>> {
    let Ok(binary) = Binary::embedded() else { return None };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("collector");
    fs::write(&path, binary.bytes()).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    let script = script.replace("collect", &format!("{} \"$@\"", path.display()));
    let collector = Collector::There(["sh", "-c", &script, "sh"].map(str::to_owned).to_vec());
    let station = Station { host: Arc::new(Local), roles, collector, local: true };
    Some(Follower::start(station, Vec::new()).await)
}

#[tokio::test]
async fn what_a_shell_prints_before_is_passed_over() {
    let Some(follower) = start("echo Welcome; echo '{'; exec collect", Vec::new()).await else { return };
    let follower = follower.unwrap();
    let first = follower.take();
    assert_eq!((first.len(), first[0].1.host.as_str()), (1, "localhost"));
    assert!(now().saturating_duration_since(first[0].0) < FIRST, "its time is the driver's");
    follower.ask(7);
    follower.settle(8, FIRST).await;
    let asked: Vec<_> = follower.take().into_iter().filter_map(|(_at, sample)| sample.request).collect();
    assert_eq!(asked, [7, 8]);
    let clock = follower.clock().unwrap();
    assert!(clock.wall_seconds.abs() <= clock.error_seconds + 0.001, "{clock:?}");
    assert_eq!(follower.silence(FIRST), None);
    follower.stop().await;
}

#[tokio::test]
async fn a_collector_that_does_not_start_gives_its_own_words() {
    for (script, words) in [
        ("echo no memory >&2; exit 3", "its collector does not work: no memory"),
        ("exit 3", "its collector does not work: it ended with exit code 3"),
        ("exec collect --none", "\"--none\" lacks its value"),
    ] {
        let Some(started) = start(script, Vec::new()).await else { return };
        let error = started.unwrap_err();
        assert!(error.step == Step::Start && error.message.contains(words), "{error}");
    }
    let group = Watch { role: "all".to_owned(), target: Target::Cgroup("/no/such/group".into()) };
    let Some(started) = start("exec collect", vec![group]).await else { return };
    let error = started.unwrap_err().to_string();
    assert!(
        error.contains("host localhost: ") && error.contains("control group /no/such/group: No such file"),
        "{error}"
    );
}

#[tokio::test]
async fn a_collector_that_ends_or_goes_mad_is_silent() {
    for (script, words) in [
        ("collect & sleep 1; kill $!; wait; echo gone >&2; exit 1", "gone"),
        ("collect & sleep 1; kill $!; echo nonsense; sleep 3", "it wrote what is no sample"),
    ] {
        let Some(follower) =
            start(&format!("exec 3<&0; {}", script.replace("collect &", "collect <&3 &")), Vec::new()).await
        else {
            return;
        };
        let follower = follower.unwrap();
        let start = Instant::now();
        let why = loop {
            if let Some(why) = follower.silence(Duration::from_secs(60)) {
                break why;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "{script}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        assert!(why.contains(words), "{why}");
        follower.stop().await;
    }
}
