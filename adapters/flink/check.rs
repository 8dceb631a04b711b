//! What `check` finds out about a cluster.

use std::time::Duration;

use nexmark_driver::config::Settings;
use nexmark_driver::engine::{Checkup, EngineError, Finding, Leftovers, Suitability::*, Target, Watch};
use nexmark_driver::metrics::sampler::Sampler;

use crate::cluster::Cluster;
use crate::jar::{self, LocalJar};
use crate::rest::Rest;
use crate::support::is_this_machine;

/// Role of the TaskManagers.
const WORKERS: &str = "workers";
/// Role of the JobManager.
const COORDINATOR: &str = "coordinator";
/// Metrics older than this make a short run in rate mode coarse.
const METRICS_AGE_MAX: Duration = Duration::from_secs(2);

/// Looks at a cluster; starts nothing in it.
pub(crate) async fn check(
    rest: &Rest,
    settings: &Settings,
    checkup: Checkup,
) -> Result<Vec<Finding>, EngineError> {
    let cluster = Cluster::read(rest).await?;
    let mut findings = vec![
        version(&cluster, rest.address()),
        slots(&cluster, checkup.workers),
        uploads(&cluster),
        local_jar(settings),
        checkpoints(&cluster, settings),
        metrics(&cluster),
        other_jobs(&cluster),
    ];
    findings.extend(watched(&cluster, settings, rest.address()));
    findings.push(leftovers(rest, checkup.leftovers).await?);
    Ok(findings)
}

/// What is watched for its costs.
pub(crate) fn watches(settings: &Settings) -> Vec<Watch> {
    let roles = [(WORKERS, "watch.taskmanager"), (COORDINATOR, "watch.jobmanager")];
    let named = roles.into_iter().filter(|(_, key)| !settings.text(key).is_empty());
    named
        .map(|(role, key)| Watch {
            role: role.to_owned(),
            target: Target::CommandLine(settings.text(key).to_owned()),
        })
        .collect()
}

fn version(cluster: &Cluster, address: &str) -> Finding {
    let version = &cluster.version;
    let is_known = version.starts_with("1.20") || version.starts_with("2.");
    let text = format!("Flink {version} at {address}");
    match is_known {
        true => Finding::new("version", Good, text),
        false => Finding::new("version", Doubtful, text + ", the adapter is made for 1.20 and 2.x"),
    }
}

fn slots(cluster: &Cluster, wanted: usize) -> Finding {
    let (total, free) = (cluster.overview.slots_total, cluster.overview.slots_available);
    let wanted = wanted as u64;
    let text = format!("{free} of {total} slots are free, {wanted} are wanted");
    let (verdict, more) = match () {
        () if total < wanted => (
            Bad,
            "; run with fewer --workers, or add TaskManagers (unless the cluster starts them on demand)",
        ),
        () if free < wanted => (Bad, "; other jobs have the rest"),
        () if total > wanted => (Good, "; the others stay idle"),
        () => (Good, ""),
    };
    Finding::new("slots", verdict, text + more)
}

fn uploads(cluster: &Cluster) -> Finding {
    match cluster.takes_jars {
        true => Finding::new("uploads", Good, "the cluster takes jars"),
        false => Finding::new(
            "uploads",
            Bad,
            "the cluster takes no jars: set web.submit.enable: true in its configuration",
        ),
    }
}

fn local_jar(settings: &Settings) -> Finding {
    match LocalJar::find(settings.text("jar")) {
        Ok(jar) => Finding::new("jar", Good, format!("{} ({})", jar.path.display(), jar.name)),
        Err(error) => Finding::new("jar", Bad, error.message),
    }
}

/// State of more than some megabytes needs files.
fn checkpoints(cluster: &Cluster, settings: &Settings) -> Finding {
    let known = ["execution.checkpointing.dir", "state.checkpoints.dir"];
    let directory = known.iter().find_map(|key| cluster.settings.get(*key));
    let own = settings.text("checkpoint.dir");
    match (settings.duration("checkpoint.interval").is_zero(), own, directory) {
        (true, ..) => Finding::new("checkpoints", Doubtful, "none are taken: a job that fails begins anew"),
        (_, "", None) => Finding::new(
            "checkpoints",
            Doubtful,
            "kept in the JobManager's memory, which refuses more than 5 MB a task: set engine.flink.checkpoint.dir",
        ),
        (_, "", Some(directory)) => Finding::new("checkpoints", Good, format!("in {directory}")),
        (_, own, _) => Finding::new("checkpoints", Good, format!("in {own}")),
    }
}

/// Results of mode events do not depend on it; in mode rate a measured phase ends with the first count after its time.
fn metrics(cluster: &Cluster) -> Finding {
    let text = cluster.settings.get("metrics.fetcher.update-interval").map_or("10000", String::as_str);
    let plain = text.trim().parse().ok().map(Duration::from_millis);
    let age = plain.or_else(|| nexmark_driver::config::duration(&text.replace(' ', "")));
    match age {
        Some(age) if age <= METRICS_AGE_MAX => {
            Finding::new("metrics", Good, format!("counts are renewed every {age:?}"))
        }
        Some(age) => Finding::new(
            "metrics",
            Doubtful,
            format!(
                "counts are renewed every {age:?} only, by which a measured time of mode rate is longer than asked for: set \
                 metrics.fetcher.update-interval: 1000 in the cluster's configuration"
            ),
        ),
        None => Finding::new("metrics", Doubtful, format!("metrics.fetcher.update-interval is {text:?}")),
    }
}

fn other_jobs(cluster: &Cluster) -> Finding {
    match cluster.overview.jobs_running {
        0 => Finding::new("other jobs", Good, "none run"),
        jobs => Finding::new(
            "other jobs",
            Doubtful,
            format!("{jobs} run, whose costs cannot be told from a run's"),
        ),
    }
}

fn watched(cluster: &Cluster, settings: &Settings, address: &str) -> Vec<Finding> {
    let mut hosts: Vec<&str> = cluster.taskmanagers.iter().map(|one| host(&one.path, &one.id)).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let workers = match hosts.is_empty() {
        true => "no host: there is no TaskManager".to_owned(),
        false => hosts.join(", "),
    };
    let url = reqwest::Url::parse(address);
    let coordinator = url.as_ref().ok().and_then(|url| url.host_str()).unwrap_or_default();
    let found = |watch: Watch| {
        let is_worker = watch.role == WORKERS;
        let (on, expected) =
            if is_worker { (workers.as_str(), cluster.taskmanagers.len()) } else { (coordinator, 1) };
        let text = format!("{} on {on}", watch.target);
        let here = is_this_machine(address).then(|| running(settings, &watch.role)).flatten();
        match here {
            Some(running) if running != expected => Finding::new(
                watch.role,
                Doubtful,
                format!(
                    "{text}: {running} run on this machine, the cluster has {expected}; set engine.flink.watch to what only \
                     those of this cluster have in their command line"
                ),
            ),
            _ if cluster.taskmanagers.is_empty() => Finding::new(watch.role, Doubtful, text),
            _ => Finding::new(watch.role, Good, text),
        }
    };
    watches(settings).into_iter().map(found).collect()
}

/// How many processes of this machine would be watched under a role; `None` where that cannot be seen.
fn running(settings: &Settings, role: &str) -> Option<usize> {
    let sample = Sampler::new("here", watches(settings)).sample().ok()?;
    Some(sample.processes.iter().filter(|process| process.role == role).count())
}

/// The host of a TaskManager's address, as in `pekko.tcp://flink@10.0.0.7:46343/user/rpc/taskmanager_0`.
fn host<'a>(path: &'a str, id: &'a str) -> &'a str {
    let authority = path.split_once('@').map(|(_, rest)| rest.split('/').next().unwrap_or(rest));
    let host = authority.and_then(|authority| authority.rsplit_once(':')).map(|(host, _)| host);
    host.or_else(|| id.rsplit_once(':').map(|(host, _)| host)).unwrap_or(id)
}

async fn leftovers(rest: &Rest, what: Leftovers) -> Result<Finding, EngineError> {
    let jars = jar::all(rest).await?;
    let names = || jars.iter().map(|jar| jar.name.as_str()).collect::<Vec<_>>().join(", ");
    Ok(match what {
        _ if jars.is_empty() => Finding::new("leftovers", Good, "none"),
        Leftovers::Named => Finding::new(
            "leftovers",
            Good,
            format!("{}; the next run takes the one it needs, --clean removes them", names()),
        ),
        Leftovers::Removed => {
            for jar in &jars {
                jar::remove(rest, &jar.id).await?;
            }
            Finding::new("leftovers", Good, format!("removed {}", names()))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded;

    fn cluster() -> Cluster {
        let taskmanagers: crate::replies::TaskManagers = recorded::read("taskmanagers");
        let settings: Vec<crate::replies::Setting> = recorded::read("jobmanager-config");
        Cluster {
            version: "2.3.0".to_owned(),
            takes_jars: true,
            overview: recorded::read("overview"),
            taskmanagers: taskmanagers.taskmanagers,
            settings: settings.into_iter().map(|setting| (setting.key, setting.value)).collect(),
        }
    }

    fn settings() -> Settings {
        Settings::defaults(crate::FACTORY.keys)
    }

    #[test]
    fn slots_are_compared_with_what_is_wanted() {
        let mut cluster = cluster();
        let verdict = |cluster: &Cluster, wanted| slots(cluster, wanted).verdict;
        assert_eq!((verdict(&cluster, 2), verdict(&cluster, 1), verdict(&cluster, 3)), (Good, Good, Bad));
        cluster.overview.slots_available = 1;
        let taken = slots(&cluster, 2);
        assert_eq!(
            (taken.verdict, taken.text.as_str()),
            (Bad, "1 of 2 slots are free, 2 are wanted; other jobs have the rest")
        );
    }

    #[test]
    fn what_hinders_or_blurs_a_run_is_told() {
        let mut cluster = cluster();
        let verdicts = |cluster: &Cluster| {
            [
                version(cluster, ""),
                uploads(cluster),
                checkpoints(cluster, &settings()),
                metrics(cluster),
                other_jobs(cluster),
            ]
            .map(|finding| finding.verdict)
        };
        // The recorded cluster has the default interval of metrics.
        assert_eq!(verdicts(&cluster), [Good, Good, Good, Doubtful, Good]);
        cluster.settings.insert("metrics.fetcher.update-interval".to_owned(), "1 s".to_owned());
        assert_eq!(metrics(&cluster).text, "counts are renewed every 1s");
        cluster.version = "1.19.1".to_owned();
        cluster.takes_jars = false;
        cluster.overview.jobs_running = 3;
        cluster.settings.clear();
        assert_eq!(verdicts(&cluster), [Doubtful, Bad, Doubtful, Doubtful, Doubtful]);
    }

    #[test]
    fn watched_processes_are_told_with_their_hosts() {
        let found = watched(&cluster(), &settings(), "http://10.0.0.1:8081");
        assert_eq!(found.len(), 2);
        assert!(
            found[0].text.contains("TaskManagerRunner") && found[0].text.ends_with("on 127.0.0.1"),
            "{found:?}"
        );
        assert!(found[1].text.ends_with("on 10.0.0.1"), "{found:?}");
        assert_eq!(host("", "tm-1:4000-abc"), "tm-1");
        assert_eq!(host("pekko.tcp://flink@[::1]:4000/user/x", "a"), "[::1]");
    }
}
