//! A Flink that a test has started: the program on it, and what its REST interface says.

use std::fs::{self, File};
use std::net::TcpListener;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::{Place, Ran};

/// Slots of the one TaskManager: three answers at a time with parallelism 2.
pub(crate) const SLOTS: usize = 6;
/// What a test waits for takes two minutes on a quiet machine of two cores, and several on a busy one.
const LIMIT: Duration = Duration::from_secs(600);

/// The cluster that is up; tests with another version stop it.
static SHARED: Mutex<Option<Cluster>> = Mutex::new(None);

/// A Flink of that version, which stays up until a test wants another one. Whoever holds it has it alone.
pub(crate) fn flink(version: &'static str) -> Shared {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if shared.as_ref().is_none_or(|cluster| cluster.version != version) {
        // In this order, so that the memory of one is free before that of the other is taken.
        *shared = None;
        *shared = Some(Cluster::up(version));
        // SAFETY: the function may be called at any time, and does not unwind.
        unsafe { libc::atexit(stop_at_exit) };
    }
    Shared(shared)
}

/// Nothing else ends what a static holds.
extern "C" fn stop_at_exit() {
    let stopped = std::panic::catch_unwind(|| {
        *SHARED.lock().unwrap_or_else(PoisonError::into_inner) = None;
    });
    drop(stopped);
}

/// The shared cluster, held by one test.
pub(crate) struct Shared(MutexGuard<'static, Option<Cluster>>);

impl std::ops::Deref for Shared {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        self.0.as_ref().unwrap()
    }
}

/// A Flink that was started with `nexmark flink up`.
pub(crate) struct Cluster {
    version: &'static str,
    port: u16,
    /// Where it has its files.
    state: Place,
}

impl Cluster {
    fn up(version: &'static str) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let cluster = Self { version, port, state: Place::new() };
        let up =
            cluster.flink(&["up", "--version", version, "--slots", &SLOTS.to_string(), "--memory", "4GiB"]);
        let said = format!("Flink {version} with {SLOTS} slots at {} is up\n", cluster.address());
        assert_eq!(up.data(), said, "{up:?}");
        cluster
    }

    /// Its version.
    pub(crate) fn version(&self) -> &'static str {
        self.version
    }

    /// Address of its REST interface.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// `nexmark flink` on it.
    pub(crate) fn flink(&self, arguments: &[&str]) -> Ran {
        let mut command = self.state.command(&["flink"]);
        command.args(arguments).args(["--port", &self.port.to_string()]);
        command.env("XDG_STATE_HOME", self.state.path("state")).env_remove("FLINK_HOME");
        // Jobs of a second end before code is compiled for speed. Each brings classes of its own: what the JVM then reserves
        // for compiled code is full after some seventy jobs, and a TaskManager without room for more ends itself.
        command.env("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m");
        Ran::of(&command.output().unwrap())
    }

    /// The program in that place, with this as its engine, not yet started.
    pub(crate) fn command(&self, place: &Place, arguments: &[&str]) -> Command {
        let mut command = place.command(&["--engine", "flink", "--set"]);
        command.arg(format!("engine.flink.address={}", self.address())).args(arguments);
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, place: &Place, arguments: &[&str]) -> Ran {
        Background::start(place, &mut self.command(place, arguments)).end()
    }

    /// Id of the process of the TaskManager.
    pub(crate) fn task_manager(&self) -> i32 {
        let file = self.state.path("state/nexmark/flink").join(self.port.to_string()).join("taskmanager.pid");
        fs::read_to_string(file).unwrap().split(' ').next().unwrap().parse().unwrap()
    }

    /// What the REST interface says under that path.
    pub(crate) fn get(&self, path: &str) -> Value {
        ureq::get(self.address() + path).call().unwrap().body_mut().read_json().unwrap()
    }

    /// CPU time of the TaskManagers, as Flink was last told.
    pub(crate) fn cpu_time(&self) -> Value {
        self.get("/taskmanagers/metrics?get=Status.JVM.CPU.Time&agg=sum")
    }

    /// Asks for a job to be cancelled, as anybody may.
    pub(crate) fn cancel(&self, job: &str) {
        ureq::patch(format!("{}/jobs/{job}", self.address())).send_empty().unwrap();
    }

    /// Removes a jar.
    pub(crate) fn remove_jar(&self, id: &str) {
        ureq::delete(format!("{}/jars/{id}", self.address())).call().unwrap();
    }

    /// Uploads the jar under that name, as anybody may, and gives its id.
    pub(crate) fn upload(&self, name: &str) -> String {
        let jar =
            fs::read(crate::program::root().join("adapters/flink/java/target/nexmark-flink.jar")).unwrap();
        let head = format!(
            "--part\r\nContent-Disposition: form-data; name=\"jarfile\"; filename=\"{name}\"\r\n\
             Content-Type: application/x-java-archive\r\n\r\n"
        );
        let body = [head.as_bytes(), &jar, b"\r\n--part--\r\n"].concat();
        let request = ureq::post(self.address() + "/jars/upload");
        let mut reply = request.content_type("multipart/form-data; boundary=part").send(body).unwrap();
        let reply: Value = reply.body_mut().read_json().unwrap();
        reply["filename"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
    }

    /// Starts a job of a jar, as anybody may, and gives its id.
    pub(crate) fn start(&self, jar: &str, job: &Value) -> String {
        let mut reply = ureq::post(format!("{}/jars/{jar}/run", self.address())).send_json(job).unwrap();
        let reply: Value = reply.body_mut().read_json().unwrap();
        reply["jobid"].as_str().unwrap().to_owned()
    }

    /// Ids of the jobs that have not ended.
    pub(crate) fn jobs(&self) -> Vec<String> {
        let overview = self.get("/jobs/overview");
        let jobs = overview["jobs"].as_array().unwrap().iter();
        let live =
            jobs.filter(|job| !["FINISHED", "CANCELED", "FAILED"].contains(&job["state"].as_str().unwrap()));
        live.map(|job| job["jid"].as_str().unwrap().to_owned()).collect()
    }

    /// Ids of the jars, sorted.
    pub(crate) fn jars(&self) -> Vec<String> {
        let jars = self.get("/jars");
        let jars = jars["files"].as_array().unwrap().iter();
        let mut jars: Vec<String> = jars.map(|jar| jar["id"].as_str().unwrap().to_owned()).collect();
        jars.sort();
        jars
    }

    /// Waits until exactly one job runs all its tasks beside those in `others`, and gives its id.
    pub(crate) fn running_job(&self, others: &[String]) -> String {
        let mut job = String::new();
        until("a job runs", || {
            let overview = self.get("/jobs/overview");
            let jobs = overview["jobs"].as_array().unwrap().iter();
            let mut jobs = jobs.filter(|job| job["state"] == "RUNNING");
            let found = jobs.find(|job| {
                let tasks = &job["tasks"];
                tasks["running"] == tasks["total"] && !others.iter().any(|other| job["jid"] == **other)
            });
            job = found.map(|job| job["jid"].as_str().unwrap().to_owned()).unwrap_or_default();
            !job.is_empty()
        });
        job
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let down = self.flink(&["down"]);
        // A second panic would hide the first.
        assert!(down.code == Some(0) || std::thread::panicking(), "{down:?}");
    }
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LIMIT, "not within {LIMIT:?}: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The program while a test goes on. What it prints goes to files, so that it never waits for a reader.
pub(crate) struct Background {
    pub(crate) child: Child,
    /// Begin of the names of the files.
    name: String,
    files: std::path::PathBuf,
}

impl Background {
    pub(crate) fn start(place: &Place, command: &mut Command) -> Self {
        let name = format!("printed-{:?}", std::thread::current().id());
        let file = |end: &str| File::create(place.path(&format!("{name}{end}"))).unwrap();
        let child = command.stdout(file(".out")).stderr(file(".err")).spawn().unwrap();
        Self { child, name, files: place.path("") }
    }

    /// Waits for the end, which must come in time.
    pub(crate) fn end(mut self) -> Ran {
        let start = Instant::now();
        let code = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status.code(),
                None if start.elapsed() > LIMIT => {
                    self.child.kill().unwrap();
                    self.child.wait().unwrap();
                    break None;
                }
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let printed = |end: &str| fs::read_to_string(self.files.join(format!("{}{end}", self.name))).unwrap();
        Ran { code, stdout: printed(".out"), stderr: printed(".err") }
    }
}
