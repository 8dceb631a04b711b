//! A Flink of one's own on this machine, for a first look and for tests: a JobManager and a TaskManager that listen on
//! loopback only, found by the port of their REST interface. Only what was started here is ever stopped.

mod configuration;
mod distribution;
mod java;
mod record;

use std::fs;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use nexmark_driver::local::{self, LocalError, Place, Tried as _, port, process, remove_all};
use serde_json::Value;

use configuration::{HOST, LOGGING, Shape};
use distribution::Distribution;
use java::Java;

pub use distribution::DEFAULT_VERSION;
pub use nexmark_driver::local::Life;
pub use record::Record;

/// Port of the REST interface when nothing is said, Flink's own and that of `engine.flink.address`.
pub const DEFAULT_PORT: u16 = 8081;
/// As in the command and in paths.
const NAME: &str = "flink";

/// A busy machine takes 10 s.
const READY_LIMIT: Duration = Duration::from_secs(120);
const READY_POLL: Duration = Duration::from_millis(200);
/// A process that answers at all answers at once.
const REPLY_LIMIT: Duration = Duration::from_secs(2);
/// Memory of the TaskManager when nothing is said.
const MEMORY_BYTES: u64 = 4 << 30;
/// Slots of one TaskManager.
const SLOTS_MAX: usize = 1024;

/// What a process of Flink does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Takes jobs, and tells about them over REST.
    JobManager,
    /// Runs the tasks.
    TaskManager,
}

impl Role {
    /// Both, in the order of their start.
    pub const ALL: [Self; 2] = [Self::JobManager, Self::TaskManager];

    /// As in the names of files, and for the reader.
    pub fn name(self) -> &'static str {
        match self {
            Self::JobManager => "jobmanager",
            Self::TaskManager => "taskmanager",
        }
    }
}

/// What is asked for; what is not said is taken as it runs, or by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Release of Flink.
    pub version: Option<String>,
    /// Task slots, by default the number of cores.
    pub slots: Option<usize>,
    /// Memory of the TaskManager's process, bytes.
    pub memory_bytes: Option<u64>,
}

/// What [`Local::up`] had to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Began {
    /// It ran already.
    Nothing,
    /// The TaskManager had died and was started anew.
    TaskManager,
    /// Both processes.
    Everything,
}

/// How a local Flink fares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// What was started; `None` where nothing was.
    pub record: Option<Record>,
    /// What has become of the processes.
    pub lives: [(Role, Life); 2],
    /// Free slots and all, as the JobManager counts them; `None` where it does not answer.
    pub slots: Option<(u64, u64)>,
}

impl Status {
    /// Whether the JobManager runs.
    pub fn takes_jobs(&self) -> bool {
        self.lives.iter().any(|(role, life)| *role == Role::JobManager && matches!(life, Life::Runs(_)))
    }

    /// Whether both processes run.
    pub fn runs(&self) -> bool {
        self.lives.iter().all(|(_, life)| matches!(life, Life::Runs(_)))
    }
}

/// The local Flink of a port.
#[derive(Clone, Debug)]
pub struct Local {
    place: Place,
}

impl Local {
    /// The one whose REST interface has that port, whether it runs or not. It has its files below the user's directory for
    /// state, distributions below the one for caches; `FLINK_HOME` names another distribution.
    ///
    /// # Errors
    /// The user has no home directory.
    pub fn new(port: u16) -> Result<Self, LocalError> {
        Ok(Self { place: Place::new(NAME, port)? })
    }

    /// Port of the REST interface.
    pub fn port(&self) -> u16 {
        self.place.port
    }

    /// Address of the REST interface.
    pub fn address(&self) -> String {
        format!("http://{HOST}:{}", self.place.port)
    }

    /// The file to which a process writes its log.
    pub fn log(&self, role: Role) -> PathBuf {
        self.place.directory.join("log").join(format!("{}.log", role.name()))
    }

    /// Starts what does not run, and returns when all slots are there.
    ///
    /// # Errors
    /// A program is missing, the port is taken, another Flink than asked for runs already, or it does not come up in time; then
    /// what was started is stopped again.
    pub async fn up(&self, request: &Request) -> Result<(Record, Began), LocalError> {
        let _lock = local::lock(&self.place.directory)?;
        let running = record::read(&self.place.directory)?.filter(|_| self.is_alive(Role::JobManager));
        let (record, began) = match running {
            Some(record) => {
                self.compare(&record, request)?;
                if self.is_alive(Role::TaskManager) {
                    (record, Began::Nothing)
                } else {
                    (record, Began::TaskManager)
                }
            }
            None => (self.prepare(request).await?, Began::Everything),
        };
        match self.start(record, began).await {
            Ok(record) => Ok((record, began)),
            Err(error) => {
                let directory = &self.place.directory;
                match began {
                    Began::Nothing => {}
                    Began::TaskManager => drop(process::stop(directory, Role::TaskManager.name())?),
                    Began::Everything => drop(self.clear()?),
                }
                Err(error)
            }
        }
    }

    /// Stops what runs, and removes all but the logs. Says what had become of each process.
    ///
    /// # Errors
    /// A process does not end, or a file cannot be removed.
    pub fn down(&self) -> Result<[(Role, Life); 2], LocalError> {
        if !self.place.directory.exists() {
            return Ok(Role::ALL.map(|role| (role, Life::Absent)));
        }
        let _lock = local::lock(&self.place.directory)?;
        self.clear()
    }

    /// How it fares.
    ///
    /// # Errors
    /// A file of it cannot be read.
    pub async fn status(&self) -> Result<Status, LocalError> {
        let life =
            |role: Role| Ok::<_, LocalError>((role, process::life(&self.place.directory, role.name())?));
        let lives = [life(Role::JobManager)?, life(Role::TaskManager)?];
        let slots = if matches!(lives[0].1, Life::Runs(_)) { self.slots().await } else { None };
        let record = record::read(&self.place.directory)?
            .filter(|_| lives.iter().any(|(_, life)| *life != Life::Absent));
        Ok(Status { record, lives, slots })
    }

    fn is_alive(&self, role: Role) -> bool {
        matches!(process::life(&self.place.directory, role.name()), Ok(Life::Runs(_)))
    }

    /// Whether what runs is what is asked for.
    fn compare(&self, record: &Record, request: &Request) -> Result<(), LocalError> {
        let bytes = |bytes: u64| format!("{bytes} bytes");
        let pairs = [
            ("version", record.version.clone(), request.version.clone()),
            ("slots", record.slots.to_string(), request.slots.map(|slots| slots.to_string())),
            ("memory", bytes(record.memory_bytes), request.memory_bytes.map(bytes)),
        ];
        for (name, running, asked) in pairs {
            if let Some(asked) = asked.filter(|asked| *asked != running) {
                return Err(LocalError::RunsOtherwise {
                    server: NAME,
                    port: self.place.port,
                    name,
                    running,
                    asked,
                });
            }
        }
        Ok(())
    }

    /// Stops the TaskManager before the JobManager, so that it does not miss it.
    fn clear(&self) -> Result<[(Role, Life); 2], LocalError> {
        let task_manager = process::stop(&self.place.directory, Role::TaskManager.name())?;
        let job_manager = process::stop(&self.place.directory, Role::JobManager.name())?;
        for name in ["conf", "data"] {
            remove_all(&self.place.directory.join(name))?;
        }
        record::remove(&self.place.directory)?;
        Ok([(Role::JobManager, job_manager), (Role::TaskManager, task_manager)])
    }

    /// Everything that is needed before a process can be started, in place of what earlier ones left.
    async fn prepare(&self, request: &Request) -> Result<Record, LocalError> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let slots = request.slots.unwrap_or_else(cores);
        if !(1..=SLOTS_MAX).contains(&slots) {
            return Err(LocalError::NotAllowed {
                name: "--slots",
                value: slots.to_string(),
                allowed: format!("a whole number from 1 to {SLOTS_MAX}"),
            });
        }
        self.clear()?;
        port::check_free(self.place.port)?;
        let distribution =
            Distribution::find(self.place.home.as_deref(), request.version.as_deref(), &self.place.cache)
                .await?;
        remove_all(&self.place.directory.join("log"))?;
        for name in ["conf", "data", "log"] {
            let path = self.place.directory.join(name);
            fs::create_dir_all(&path).tried_with("make", &path)?;
        }
        let memory_bytes = request.memory_bytes.unwrap_or(MEMORY_BYTES);
        let data = self.place.directory.join("data");
        let shape =
            Shape { port: self.place.port, rpc_port: port::free()?, slots, memory_bytes, data: &data };
        for (name, text) in [("config.yaml", shape.config().as_str()), ("log4j.properties", LOGGING)] {
            let path = self.place.directory.join("conf").join(name);
            fs::write(&path, text).tried_with("write", &path)?;
        }
        Ok(Record {
            version: distribution.version,
            home: distribution.home,
            slots,
            memory_bytes,
            task_managers: 0,
        })
    }

    async fn start(&self, mut record: Record, began: Began) -> Result<Record, LocalError> {
        let roles: &[Role] = match began {
            Began::Nothing => &[],
            Began::TaskManager => &[Role::TaskManager],
            Began::Everything => &Role::ALL,
        };
        if roles.contains(&Role::TaskManager) {
            record.task_managers += 1;
        }
        record::write(&self.place.directory, &record)?;
        let java = Java::new(&record, &self.place.directory);
        let mut children = Vec::new();
        for role in roles {
            children.push((*role, java.start(*role, &self.log(*role)).await?));
        }
        self.wait_until_ready(&record, children).await?;
        Ok(record)
    }

    async fn wait_until_ready(
        &self,
        record: &Record,
        mut children: Vec<(Role, Child)>,
    ) -> Result<(), LocalError> {
        let start = Instant::now();
        while start.elapsed() < READY_LIMIT {
            for (role, child) in &mut children {
                if let Some(status) = child.try_wait().tried(|| format!("wait for the {}", role.name()))? {
                    return Err(java::explain(*role, status, &self.log(*role)));
                }
            }
            if self.has_slots(record).await {
                return Ok(());
            }
            tokio::time::sleep(READY_POLL).await;
        }
        let log = self.log(Role::JobManager);
        let message =
            format!("it had not {} slots after {READY_LIMIT:?}; see {}", record.slots, log.display());
        Err(LocalError::failed(format!("Flink at {} is not ready", self.address()), message))
    }

    /// Whether the latest TaskManager has offered its slots. Those of one that has died are counted until the JobManager
    /// notices, and new slots may be taken at once, so that their number alone does not tell.
    async fn has_slots(&self, record: &Record) -> bool {
        let Some(reply) = self.get("/taskmanagers").await else { return false };
        let task_managers = reply["taskmanagers"].as_array().into_iter().flatten();
        let id = Value::from(record.task_manager());
        task_managers.into_iter().any(|found| {
            found["id"] == id && found["slotsNumber"].as_u64() == u64::try_from(record.slots).ok()
        })
    }

    async fn slots(&self) -> Option<(u64, u64)> {
        let overview = self.get("/overview").await?;
        Some((overview["slots-available"].as_u64()?, overview["slots-total"].as_u64()?))
    }

    /// What the REST interface answers; `None` as long as it does not.
    async fn get(&self, path: &str) -> Option<Value> {
        let client = crate::http::client().timeout(REPLY_LIMIT).build().ok()?;
        let reply = client.get(self.address() + path).send().await.ok()?;
        reply.error_for_status().ok()?.json().await.ok()
    }
}
