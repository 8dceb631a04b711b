//! Flink as the driver sees it.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use nexmark_driver::config::Settings;
use nexmark_driver::engine::{
    Checkup, Description, Engine, EngineError, Finding, Input, Job, JobState, Output, Progress, Support,
};
use nexmark_queries::Query;
use nexmark_queries::answer::Row;
use serde_json::json;

use crate::cluster::Cluster;
use crate::flink_config::{FlinkConfig, as_url};
use crate::http::Http;
use crate::jar::{self, ClusterJar, LocalJar};
use crate::job::{Expected, Following, renew};
use crate::moment::now;
use crate::replies::{Started, Status};
use crate::rest::Rest;
use crate::transport::{Body, Transport};
use crate::{answer, check, program, support};

/// The jar's entry point.
const MAIN: &str = "nexmark.job.Main";
/// Time between two looks whether a cancelled job is gone.
const LOOK: Duration = Duration::from_millis(100);
/// How long a job is looked for whose submission was not answered.
const APPEARS_WITHIN: Duration = Duration::from_secs(5);

/// A Flink session cluster.
pub(crate) struct Flink {
    settings: Settings,
    config: FlinkConfig,
    rest: Rest,
    version: Option<String>,
    jar: Option<ClusterJar>,
    /// Jobs of this run that may have to be cancelled.
    jobs: Vec<Submitted>,
    run: Option<Run>,
    /// Where the files of this run are.
    directory: Option<String>,
}

/// A job that was asked for.
struct Submitted {
    id: String,
    /// Whether Flink has said that it took the job.
    is_known: bool,
}

/// What goes on.
struct Run {
    job: Job,
    following: Following,
    /// How the query's job ended, while a second one reads the answer back.
    ended: Option<Progress>,
}

impl Flink {
    /// Reads and checks the settings; reaches no network.
    pub(crate) fn new(settings: &Settings) -> Result<Self, EngineError> {
        Self::over(settings, Arc::new(Http::new(settings)?))
    }

    /// An engine whose requests travel otherwise.
    pub(crate) fn over(settings: &Settings, transport: Arc<dyn Transport>) -> Result<Self, EngineError> {
        Ok(Self {
            config: FlinkConfig::new(settings)?,
            rest: Rest::new(transport, settings.duration("deadline.reply")),
            settings: settings.clone(),
            version: None,
            jar: None,
            jobs: Vec::new(),
            run: None,
            directory: None,
        })
    }

    /// Directory below which a run makes its own for files; `None` where it is not known what all TaskManagers share.
    fn files_dir(&self) -> Option<String> {
        match self.settings.text("files.dir") {
            "" => support::is_this_machine(self.rest.address())
                .then(|| std::env::temp_dir().to_string_lossy().into_owned()),
            directory => Some(directory.to_owned()),
        }
    }

    /// Submits a job under an id of our choice, so that it is known whatever becomes of the reply.
    async fn start(
        &mut self,
        name: &str,
        workers: usize,
        arguments: Vec<String>,
    ) -> Result<String, EngineError> {
        let local = LocalJar::find(self.settings.text("jar"))?;
        let limit = self.settings.duration("deadline.submit");
        let jar = match self.jar.take() {
            Some(jar) => jar,
            None => local.provide(&self.rest, limit).await?,
        };
        let id = new_id();
        let mut config = self.config.job.clone();
        config.insert("pipeline.name".to_owned(), name.to_owned());
        let body = json!({
            "entryClass": MAIN,
            "programArgsList": arguments,
            "parallelism": workers,
            "jobId": id,
            "flinkConfiguration": config,
        });
        self.jar = Some(jar.clone());
        self.jobs.push(Submitted { id: id.clone(), is_known: false });
        let mut started = self.run_jar(&jar, &body, limit).await;
        // Whoever uploaded the same jar before may have removed it since it was found.
        if !jar.is_ours && started.as_ref().is_err_and(|error| error.to_string().contains("does not exist")) {
            let own = local.upload(&self.rest, limit).await?;
            self.jar = Some(own.clone());
            started = self.run_jar(&own, &body, limit).await;
        }
        match started {
            Ok(started) => {
                // What Flink says counts.
                self.jobs.pop();
                self.jobs.push(Submitted { id: started.jobid.clone(), is_known: true });
                Ok(started.jobid)
            }
            Err(error) => {
                if error.is_without_effect() {
                    self.jobs.pop();
                }
                Err(error.into())
            }
        }
    }

    async fn run_jar(
        &self,
        jar: &ClusterJar,
        body: &serde_json::Value,
        limit: Duration,
    ) -> Result<Started, crate::rest::RestError> {
        let path = format!("/jars/{}/run", crate::rest::encoded(&jar.id));
        self.rest.post(&path, Body::Json(body.clone()), limit).await
    }

    /// Starts the job that reads the answer back, where the query has one; `None` where it has none.
    async fn start_answer(&mut self) -> Result<Option<Following>, EngineError> {
        let (Some(run), Some(directory)) = (&self.run, &self.directory) else { return Ok(None) };
        if run.job.output == Output::Count {
            return Ok(None);
        }
        let Some(arguments) = program::of_answer(&run.job, &self.config, directory) else { return Ok(None) };
        let (name, workers) = (format!("{}-answer", run.job.name), run.job.workers);
        let asked = now();
        let id = self.start(&name, workers, arguments).await?;
        let expected = Expected { answer: true, end_delay: Duration::ZERO };
        Ok(Some(Following::new(self.rest.clone(), id, asked, expected)))
    }

    /// The query's job is over; its answer may have to be read back first.
    async fn main_ended(&mut self, progress: Progress) -> Result<Progress, EngineError> {
        match self.start_answer().await {
            Ok(None) => Ok(progress),
            Ok(Some(following)) => {
                let running = Progress { state: JobState::Running, ..progress.clone() };
                if let Some(run) = &mut self.run {
                    (run.following, run.ended) = (following, Some(progress));
                }
                Ok(running)
            }
            Err(error) => Ok(Progress {
                state: JobState::Failed(format!("cannot start the job that reads the answer back: {error}")),
                ..progress
            }),
        }
    }

    /// Cancels a job of ours and waits until it is gone.
    async fn end(&self, job: &Submitted) -> Result<(), EngineError> {
        let path = format!("/jobs/{}", job.id);
        let begun = now();
        let mut told = false;
        loop {
            match self.rest.get::<Status>(&format!("{path}/status")).await {
                Ok(status) if is_over(&status.status) => return Ok(()),
                Ok(_) if !told => {
                    match self.rest.patch(&format!("{path}?mode=cancel")).await {
                        // It ended by itself in between; the next look says so.
                        Err(error) if !error.is_not_found() && !is_conflict(&error) => {
                            return Err(error.into());
                        }
                        _ => told = true,
                    }
                    continue;
                }
                Ok(_) => {}
                Err(error) if error.is_not_found() => {
                    if job.is_known || now().saturating_duration_since(begun) >= APPEARS_WITHIN {
                        return Ok(());
                    }
                }
                Err(error) => return Err(error.into()),
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Removes the jar if this engine has uploaded it.
    async fn remove_jar(&mut self) -> Result<(), EngineError> {
        if let Some(jar) = self.jar.as_ref().filter(|jar| jar.is_ours) {
            jar::remove(&self.rest, &jar.id).await?;
        }
        self.jar = None;
        Ok(())
    }

    /// The directory of this run's files, if it is one of this machine.
    fn own_directory(&self) -> Option<&Path> {
        let directory = self.directory.as_deref()?;
        directory.strip_prefix("file://").map(Path::new)
    }

    fn remove_files(&mut self) -> Result<(), EngineError> {
        let keeps = self.settings.switch("files.keep");
        if let Some(directory) = self.own_directory().filter(|directory| !keeps && directory.exists()) {
            std::fs::remove_dir_all(directory).map_err(|error| {
                EngineError::new(format!("cannot remove {}: {error}", directory.display()))
            })?;
        }
        self.directory = None;
        Ok(())
    }
}

#[async_trait]
impl Engine for Flink {
    async fn describe(&mut self) -> Result<Description, EngineError> {
        let cluster = Cluster::read(&self.rest).await?;
        self.version = Some(cluster.version.clone());
        Ok(Description {
            name: crate::FACTORY.name.to_owned(),
            watches: check::watches(&self.settings),
            config: cluster.config(),
            version: cluster.version,
        })
    }

    fn support(&self, query: &Query) -> Support {
        if program::writes_files(query) && self.files_dir().is_none() {
            return Support::Unsupported(
                "it writes files: set engine.flink.files.dir to a directory, or an address of a file system, that all \
                 TaskManagers share"
                    .to_owned(),
            );
        }
        support::of(query, self.settings.switch("mini-batch.enabled"), self.version.as_deref())
    }

    async fn check(&mut self, checkup: Checkup) -> Result<Vec<Finding>, EngineError> {
        check::check(&self.rest, &self.settings, checkup).await
    }

    async fn submit(&mut self, job: &Job) -> Result<(), EngineError> {
        self.stop().await?;
        refuse(job)?;
        if program::writes_files(job.query) {
            let below = self.files_dir().unwrap_or_default();
            self.directory = Some(format!("{}/{}", as_url(below.trim_end_matches('/')), job.name));
        }
        renew(&self.rest).await;
        let arguments = program::of_query(job, &self.config, self.directory.as_deref());
        let asked = now();
        let id = self.start(&job.name, job.workers, arguments).await?;
        let expected = Expected {
            answer: job.output != Output::Count && self.directory.is_none(),
            end_delay: program::end_delay(job),
        };
        let following = Following::new(self.rest.clone(), id, asked, expected);
        self.run = Some(Run { job: job.clone(), following, ended: None });
        Ok(())
    }

    async fn poll(&mut self) -> Result<Progress, EngineError> {
        let run = self.run.as_mut().ok_or_else(|| EngineError::new("no job was submitted"))?;
        let progress = run.following.poll().await?;
        let Some(ended) = &run.ended else {
            return match progress.state {
                JobState::Finished => self.main_ended(progress).await,
                _ => Ok(progress),
            };
        };
        let Progress { state, rows_out, answer, .. } = progress;
        Ok(match state {
            JobState::Finished => Progress { rows_out, answer, ..ended.clone() },
            JobState::Failed(message) => {
                let message = format!("the job that reads the answer back failed: {message}");
                Progress { state: JobState::Failed(message), ..ended.clone() }
            }
            JobState::Cancelled(message) => Progress { state: JobState::Cancelled(message), ..ended.clone() },
            JobState::Starting | JobState::Running | JobState::Restarting => {
                Progress { state: JobState::Running, ..ended.clone() }
            }
        })
    }

    async fn rows(&mut self) -> Result<Vec<Row>, EngineError> {
        let run = self.run.as_ref().ok_or_else(|| EngineError::new("no job was submitted"))?;
        answer::rows(&run.following.accumulators().await?, run.job.query)
    }

    async fn job_config(&mut self) -> Result<BTreeMap<String, String>, EngineError> {
        if let Some(run) = &mut self.run {
            run.following.look_back().await;
        }
        let Some(job) = self.jobs.first().filter(|job| job.is_known) else { return Ok(BTreeMap::new()) };
        crate::cluster::job_config(&self.rest, &job.id).await
    }

    fn notes(&self) -> Vec<String> {
        self.run.iter().filter_map(|run| run.following.apart.clone()).collect()
    }

    fn kept_files(&self) -> Option<PathBuf> {
        let directory = self.directory.as_deref()?;
        match self.own_directory() {
            Some(path) if path.exists() => self.settings.switch("files.keep").then(|| path.to_owned()),
            // What is not reached from here cannot be removed from here.
            _ => Some(PathBuf::from(directory)),
        }
    }

    async fn stop(&mut self) -> Result<(), EngineError> {
        self.run = None;
        // A submitted job has its own copy of the jar, and may take its time to end.
        let removed = self.remove_jar().await;
        while let Some(job) = self.jobs.last() {
            self.end(job).await?;
            self.jobs.pop();
        }
        self.remove_files()?;
        removed
    }
}

/// What this engine cannot do is not done quietly otherwise.
fn refuse(job: &Job) -> Result<(), EngineError> {
    if let Input::Recorded(_) = job.input {
        return Err(EngineError::new(
            "engine flink reads no recorded events (--input): its source generates them inside Flink",
        ));
    }
    if let Some(bytes) = job.memory_budget_bytes {
        return Err(EngineError::new(format!(
            "workload.memory-budget is {bytes}, which has no effect on engine flink: its TaskManagers bound their own \
             memory; set it to 0"
        )));
    }
    Ok(())
}

fn is_over(status: &str) -> bool {
    matches!(status, "FINISHED" | "FAILED" | "CANCELED")
}

fn is_conflict(error: &crate::rest::RestError) -> bool {
    matches!(error.fault, crate::rest::Fault::Status(409, _))
}

/// 32 hexadecimal digits that no other job has.
fn new_id() -> String {
    let half = || RandomState::new().hash_one(Instant::now());
    format!("{:016x}{:016x}", half(), half())
}
