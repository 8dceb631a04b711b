//! ksqlDB as the driver sees it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use nexmark_driver::config::Settings;
use nexmark_driver::engine::{
    Checkup, Description, Engine, EngineError, Finding, Job, Progress, Support, Target, Watch,
};
use nexmark_driver::pace::Schedule;
use nexmark_queries::Query;
use nexmark_queries::answer::Row;
use tokio::task::JoinHandle;

use crate::checkup;
use crate::feed::FeedProgress;
use crate::kafka::{self, Kafka};
use crate::leftovers::{Owner, remove, run_prefix};
use crate::life::Life;
use crate::script::Script;
use crate::server::Server;
use crate::settings::{Feeding, Options};
use crate::status::Shared;

/// Longest wait for a feed that was told to stop.
const FEED_STOP_LIMIT: Duration = Duration::from_secs(10);
const FEED_STOP_POLL: Duration = Duration::from_millis(20);

/// Makes the connection to Kafka; the tests have another one.
type Connect = Box<dyn Fn(&Options) -> Result<Arc<dyn Kafka>, EngineError> + Send + Sync>;

/// A ksqlDB server and its Kafka.
pub(crate) struct Ksqldb {
    options: Options,
    connect: Connect,
    kafka: Option<Arc<dyn Kafka>>,
    running: Option<Running>,
}

/// The job that goes on, or what is left of it.
struct Running {
    shared: Arc<Shared>,
    feed: Arc<FeedProgress>,
    life: JoinHandle<()>,
    prefix: String,
}

impl Ksqldb {
    pub(crate) fn new(settings: &Settings) -> Result<Self, EngineError> {
        Self::with(settings, Box::new(|options| kafka::connect(&options.kafka)))
    }

    pub(crate) fn with(settings: &Settings, connect: Connect) -> Result<Self, EngineError> {
        let options = Options::new(settings)?;
        // What is wrong with the URL or the certificates is known before anything starts.
        Server::new(&options.url, options.access.clone(), options.properties.clone())?;
        Ok(Self { options, connect, kafka: None, running: None })
    }

    fn server(&self) -> Result<Server, EngineError> {
        Server::new(&self.options.url, self.options.access.clone(), self.options.properties.clone())
    }

    fn kafka(&mut self) -> Result<Arc<dyn Kafka>, EngineError> {
        if let Some(kafka) = &self.kafka {
            return Ok(Arc::clone(kafka));
        }
        let kafka = (self.connect)(&self.options)?;
        self.kafka = Some(Arc::clone(&kafka));
        Ok(kafka)
    }

    fn watches(&self) -> Vec<Watch> {
        let watch = |role: &str, text: &str| Watch {
            role: role.to_owned(),
            target: Target::CommandLine(text.to_owned()),
        };
        vec![watch("workers", &self.options.server_process), watch("broker", &self.options.broker_process)]
    }

    /// How the events of a job get into Kafka.
    fn feeding(&self, job: &Job) -> Result<Feeding, EngineError> {
        let paced = job.schedule != Schedule::Unlimited || job.events.is_none();
        match self.options.feeding {
            None => Ok(if paced { Feeding::Live } else { Feeding::Prefilled }),
            Some(Feeding::Prefilled) if paced => Err(EngineError::new(
                "feed is prefilled, which takes a number of events (mode events); mode rate takes live or auto",
            )),
            Some(feeding) => Ok(feeding),
        }
    }

    fn running(&self) -> Result<&Running, EngineError> {
        self.running.as_ref().ok_or_else(|| EngineError::new("no job was submitted"))
    }
}

#[async_trait]
impl Engine for Ksqldb {
    async fn describe(&mut self) -> Result<Description, EngineError> {
        // Without a client of Kafka nothing can be run, however well the server is.
        self.kafka()?;
        let server = self.server()?;
        let info = server.info().await?;
        let properties = server.properties().await?;
        let streams = properties.into_iter().filter(|(name, _)| name.starts_with("ksql.streams."));
        let mut config: BTreeMap<String, String> = streams.collect();
        let Options { partitions, replication, .. } = &self.options;
        config.insert("url".to_owned(), self.options.url.clone());
        config.insert("kafka.cluster".to_owned(), info.kafka_cluster_id);
        config.insert("service.id".to_owned(), info.ksql_service_id);
        config.insert("partitions".to_owned(), partitions.to_string());
        config.insert("replication".to_owned(), replication.to_string());
        config.insert("feed.compression".to_owned(), self.options.kafka.compression.clone());
        Ok(Description {
            name: crate::FACTORY.name.to_owned(),
            version: info.version,
            config,
            watches: self.watches(),
        })
    }

    fn support(&self, query: &Query) -> Support {
        let mut deviations: Vec<String> = query.ksqldb.deviation.map(str::to_owned).into_iter().collect();
        // Only these group by something else than the key of their topic and close windows.
        if self.options.partitions > 1 && matches!(query.name, "q7" | "q11") {
            deviations.push(
                "with several partitions a bid is lost that comes later than the watermark delay behind one of another \
                 partition"
                    .to_owned(),
            );
        }
        if deviations.is_empty() { Support::Supported } else { Support::Deviates(deviations.join("; ")) }
    }

    async fn check(&mut self, checkup: Checkup) -> Result<Vec<Finding>, EngineError> {
        let mut server = self.server()?;
        let kafka = self.kafka();
        let watches = self.watches();
        Ok(checkup::findings(&mut server, kafka, &self.options, checkup, &watches).await)
    }

    async fn submit(&mut self, job: &Job) -> Result<(), EngineError> {
        self.stop().await?;
        let feeding = self.feeding(job)?;
        let prefix = run_prefix(&self.options.prefix, &job.name);
        let mut options = self.options.clone();
        let threads = serde_json::Value::from(job.workers.to_string());
        options.properties.entry("num.stream.threads").or_insert(threads);
        let script = Script::new(job.query, &prefix, job.watermark_delay_ms);
        if script.reads_side_table {
            // A task waits for the table as long as it has no record of it, so that no bid comes before its row.
            options.properties.entry("max.task.idle.ms").or_insert("1000".into());
        }
        let shared = Arc::new(Shared::new());
        let feed = Arc::new(FeedProgress::new());
        let life = Life {
            server: Server::new(&options.url, options.access.clone(), options.properties.clone())?,
            kafka: self.kafka()?,
            options,
            job: job.clone(),
            prefix: prefix.clone(),
            script,
            feeding,
            feed: Arc::clone(&feed),
            shared: Arc::clone(&shared),
        };
        let life = tokio::spawn(life.live());
        self.running = Some(Running { shared, feed, life, prefix });
        Ok(())
    }

    async fn poll(&mut self) -> Result<Progress, EngineError> {
        Ok(self.running()?.shared.progress())
    }

    async fn changed(&mut self, limit: Duration) {
        match &self.running {
            // Out of time is as good as a change.
            Some(running) => drop(tokio::time::timeout(limit, running.shared.changed.notified()).await),
            None => tokio::time::sleep(limit).await,
        }
    }

    async fn rows(&mut self) -> Result<Vec<Row>, EngineError> {
        let rows = self.running()?.shared.status().rows.take();
        rows.ok_or_else(|| {
            EngineError::new("the job has no rows: it has not finished, or they were not asked for")
        })
    }

    async fn job_config(&mut self) -> Result<BTreeMap<String, String>, EngineError> {
        Ok(self.running()?.shared.status().config.clone())
    }

    fn notes(&self) -> Vec<String> {
        let Some(running) = &self.running else { return Vec::new() };
        let status = running.shared.status();
        status.notes.iter().chain(&status.source_bound).cloned().collect()
    }

    async fn stop(&mut self) -> Result<(), EngineError> {
        let Some(Running { feed, life, prefix, .. }) = &mut self.running else { return Ok(()) };
        feed.stop.store(true, Ordering::Relaxed);
        life.abort();
        // What it still sends would make its topics again, where brokers do that by themselves.
        let deadline = Instant::now() + FEED_STOP_LIMIT;
        while feed.active.load(Ordering::Acquire) && Instant::now() < deadline {
            tokio::time::sleep(FEED_STOP_POLL).await;
        }
        let owner = Owner::Run(prefix.clone());
        let kafka = self.kafka()?;
        remove(&mut self.server()?, &kafka, &owner).await?;
        self.running = None;
        Ok(())
    }
}
