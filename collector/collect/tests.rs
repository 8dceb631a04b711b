//! A collection over a pair of sockets, as over a connection.

use std::io::{BufRead as _, BufReader};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use super::*;
use crate::sample::Sample;

struct Session {
    requests: UnixStream,
    lines: BufReader<UnixStream>,
    thread: JoinHandle<io::Result<()>>,
}

fn start(collection: Collection) -> Session {
    let (requests, input) = UnixStream::pair().unwrap();
    let (lines, output) = UnixStream::pair().unwrap();
    for socket in [&requests, &lines] {
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    }
    let thread = thread::spawn(move || collection.run(input, output));
    Session { requests, lines: BufReader::new(lines), thread }
}

impl Session {
    fn line(&mut self) -> Line {
        let mut line = Vec::new();
        self.lines.read_until(b'\n', &mut line).unwrap();
        Line::parse(&line).unwrap()
    }

    fn sample(&mut self) -> Sample {
        match self.line() {
            Line::Sample(sample) => *sample,
            Line::Clock(clocks) => panic!("{clocks:?}"),
        }
    }

    fn ends(self) {
        let start = Instant::now();
        while !self.thread.is_finished() {
            assert!(start.elapsed() < Duration::from_secs(10), "the collection goes on");
            thread::sleep(Duration::from_millis(5));
        }
        self.thread.join().unwrap().unwrap();
    }
}

fn slow() -> Collection {
    Collection { interval: Duration::from_secs(600), ..Collection::default() }
}

#[test]
fn the_first_sample_comes_at_once_and_others_when_asked() {
    let mut session = start(slow());
    let first = session.sample();
    assert_eq!((first.request, first.host.as_str()), (None, crate::arguments::own_name().as_str()));
    session.requests.write_all(b"sam").unwrap();
    session.requests.write_all(b"ple 7\nclock 8\nnonsense\nsample 9\n").unwrap();
    let asked = session.sample();
    assert_eq!(asked.request, Some(7));
    assert!(asked.monotonic_ns > first.monotonic_ns);
    let Line::Clock(clocks) = session.line() else { panic!("no clocks") };
    assert!(clocks.request == 8 && clocks.monotonic_ns >= asked.monotonic_ns, "{clocks:?}");
    assert!((clocks.wall_ns / 1_000_000 - asked.wall_ms).abs() < 10_000, "{clocks:?}");
    assert_eq!(session.sample().request, Some(9));
}

#[test]
fn samples_come_at_their_interval() {
    let mut session = start(Collection { interval: Duration::from_millis(50), ..Collection::default() });
    let times: Vec<u64> = (0..5).map(|_| session.sample().monotonic_ns).collect();
    let took = Duration::from_nanos(times[4] - times[0]);
    assert!(took >= Duration::from_millis(150) && took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn it_ends_with_either_side_of_the_connection() {
    let mut session = start(slow());
    session.sample();
    session.requests.shutdown(std::net::Shutdown::Write).unwrap();
    session.ends();

    let mut session = start(slow());
    session.sample();
    let Session { requests, lines, thread } = session;
    drop(lines);
    let (lines, _other) = UnixStream::pair().unwrap();
    Session { requests, lines: BufReader::new(lines), thread }.ends();
}

#[test]
fn what_was_copied_is_removed_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let made = directory.path().join("made");
    let other = directory.path().join("other");
    fs::create_dir(&made).unwrap();
    fs::write(made.join("program"), b"x").unwrap();
    fs::create_dir(&other).unwrap();
    fs::write(other.join("theirs"), b"x").unwrap();
    let remove = vec![made.join("program"), made.clone(), other.clone()];
    let mut session = start(Collection { remove, ..slow() });
    session.sample();
    assert!(!made.exists() && other.join("theirs").exists());
}
