//! The embedded engine as the driver sees it.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use nexmark_driver::config::Settings;
use nexmark_driver::engine::{
    Description, Engine, EngineError, Job, JobState, Progress, Support, Target, Watch,
};
use nexmark_queries::Query;
use nexmark_queries::answer::{Digest, Row};
use nexmark_queries::operators::{Counters, time};

use crate::cluster::{Cluster, Shared, THREAD_NAME};
use crate::feed::Feed;
use crate::files::RunDirectory;

/// The embedded engine.
pub(crate) struct Native {
    settings: Settings,
    cluster: Option<Cluster>,
}

impl Native {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { settings: settings.clone(), cluster: None }
    }

    fn cluster(&self) -> Result<&Cluster, EngineError> {
        self.cluster.as_ref().ok_or_else(|| EngineError::new("no job was submitted"))
    }
}

#[async_trait]
impl Engine for Native {
    async fn describe(&mut self) -> Result<Description, EngineError> {
        let config = self.settings.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Ok(Description {
            name: crate::FACTORY.name.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            config,
            watches: vec![Watch {
                role: "workers".to_owned(),
                target: Target::OwnThreads(THREAD_NAME.to_owned()),
            }],
        })
    }

    fn support(&self, _query: &Query) -> Support {
        Support::Supported
    }

    async fn submit(&mut self, job: &Job) -> Result<(), EngineError> {
        self.stop().await?;
        let feed = Feed::new(job, self.settings.count("block.events"))?;
        let blocks_ahead = usize::try_from(self.settings.count("blocks.ahead")).unwrap_or(usize::MAX);
        let shared = Shared::new(job, feed, blocks_ahead);
        let keep = self.settings.switch("files.keep");
        let directory = RunDirectory::new(job, self.settings.text("files.dir"), keep);
        let pinning = self.settings.switch("pinning");
        let cluster = Cluster::start(job, shared, directory, pinning)?;
        self.cluster = Some(cluster);
        Ok(())
    }

    async fn poll(&mut self) -> Result<Progress, EngineError> {
        Ok(progress(&self.cluster()?.shared))
    }

    async fn changed(&mut self, limit: Duration) {
        match &self.cluster {
            // Out of time is as good as a change.
            Some(cluster) => drop(tokio::time::timeout(limit, cluster.shared.changed.notified()).await),
            None => tokio::time::sleep(limit).await,
        }
    }

    async fn rows(&mut self) -> Result<Vec<Row>, EngineError> {
        let cluster = self.cluster()?;
        if cluster.shared.ended().is_none() {
            return Err(EngineError::new("the job has not finished"));
        }
        let gathered = std::mem::take(
            &mut *cluster.gathered.lock().map_err(|_poisoned| EngineError::new("a worker panicked"))?,
        );
        fold(gathered)
    }

    fn kept_files(&self) -> Option<PathBuf> {
        self.cluster.as_ref()?.directory.kept()
    }

    async fn stop(&mut self) -> Result<(), EngineError> {
        let Some(mut cluster) = self.cluster.take() else { return Ok(()) };
        tokio::task::spawn_blocking(move || cluster.stop())
            .await
            .map_err(|error| EngineError::new(format!("cannot wait for the workers: {error}")))?
    }
}

/// The final table behind additions and retractions.
fn fold(changes: Vec<(Row, i64)>) -> Result<Vec<Row>, EngineError> {
    let mut counts = HashMap::<Row, i64>::new();
    for (row, difference) in changes {
        *counts.entry(row).or_default() += difference;
    }
    let mut rows = Vec::new();
    for (row, count) in counts {
        let copies = usize::try_from(count).map_err(|_negative| {
            EngineError::new(format!("row {row:?} was taken back without being added"))
        })?;
        rows.extend(std::iter::repeat_n(row, copies));
    }
    Ok(rows)
}

fn progress(shared: &Shared) -> Progress {
    // The state is read before the counters, so that the counters of a finished job are its last ones.
    let (failure, ended, started) = (shared.failure(), shared.ended(), shared.started());
    let state = match (failure, ended, started) {
        (Some(message), ..) => JobState::Failed(message),
        (None, Some(_), _) => JobState::Finished,
        (None, None, Some(_)) => JobState::Running,
        (None, None, None) => JobState::Starting,
    };
    let sum =
        |counter: fn(&Counters) -> u64| shared.counters.iter().map(|counters| counter(counters)).sum::<u64>();
    let watermark =
        shared.counters.iter().map(|counters| counters.watermark_ms.load(Ordering::Relaxed)).min();
    let digest =
        shared.counters.iter().map(|counters| counters.digest()).fold(Digest::default(), |a, b| a + b);
    Progress {
        at: ended.unwrap_or_else(Instant::now),
        events_in: Some(sum(|counters| counters.events_in.load(Ordering::Relaxed))),
        first_event_at: started,
        warmup_ended_at: shared.warmup_ended(),
        rows_out: Some(sum(|counters| counters.rows_out.load(Ordering::Relaxed))),
        prepared: None,
        waits_for: None,
        restarts: 0,
        watermark_ms: watermark.filter(|watermark| *watermark != time::NEVER),
        late_rows: Some(sum(|counters| counters.late_rows.load(Ordering::Relaxed))),
        state_bytes: Some(shared.state_bytes()),
        behind_events: started.and_then(|started| shared.feed.behind(started.elapsed())),
        events_per_s_reported: None,
        answer: shared.takes_digest.then_some(digest),
        extras: BTreeMap::new(),
        state,
    }
}
