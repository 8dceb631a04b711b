//! A side of `bench`: NAME=ENGINE and what is set for it alone.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use nexmark_driver::config::{Config, EngineFactory};

use crate::args::{BenchArguments, Global};
use crate::{engines, run};

/// How a side is given.
const FORM: &str = "NAME=ENGINE[,config=FILE][,binary=PATH][,label=LABEL][,KEY=VALUE]...";

/// One side, ready to run.
#[derive(Debug)]
pub(crate) struct Side {
    /// As its user calls it.
    pub(crate) name: String,
    /// Label of its results.
    pub(crate) label: String,
    /// The engine.
    pub(crate) engine: &'static EngineFactory,
    /// Another build of this program that runs it.
    pub(crate) binary: Option<PathBuf>,
    /// All settings.
    pub(crate) config: Config,
    /// What another build is told on its command line to have the same settings.
    pub(crate) arguments: Vec<String>,
}

/// The two sides of a bench.
pub(crate) fn sides(global: &Global, arguments: &BenchArguments) -> Result<[Side; 2]> {
    let [base, other] = &arguments.side[..] else {
        bail!(
            "--side is given {} times, allowed is twice: the base, and the side that is judged",
            arguments.side.len()
        );
    };
    let sides = [side(base, global, arguments)?, side(other, global, arguments)?];
    if sides[0].name == sides[1].name {
        bail!("both sides are called {:?}, each needs a name of its own", sides[0].name);
    }
    if sides[0].label == sides[1].label {
        bail!("both sides have label {:?}, which would mix their results", sides[0].label);
    }
    Ok(sides)
}

fn side(text: &str, global: &Global, arguments: &BenchArguments) -> Result<Side> {
    let mut parts = text.split(',');
    let Some((name, engine)) =
        parts.next().unwrap_or_default().split_once('=').filter(|(name, _)| !name.is_empty())
    else {
        bail!("--side is {text:?}, allowed is {FORM}");
    };
    let (mut file, mut binary, mut label, mut sets) = (None, None, name.to_owned(), Vec::new());
    for part in parts {
        match part.split_once('=') {
            Some(("config", path)) => file = Some(PathBuf::from(path)),
            Some(("binary", path)) => binary = Some(PathBuf::from(path)),
            Some(("label", text)) => label = text.to_owned(),
            Some(_) => sets.push(part.to_owned()),
            None => bail!("--side is {text:?}, in which {part:?} is no KEY=VALUE; allowed is {FORM}"),
        }
    }
    if let Some(path) = binary.as_ref().filter(|path| !path.is_file()) {
        bail!("--side {name}: binary={} is no file", path.display());
    }
    let engine = engines::find(engine).with_context(|| format!("--side {name}"))?;
    let config = configure(global, arguments, &file, &sets).with_context(|| format!("--side {name}"))?;
    let arguments = child_arguments(global, arguments, &file, &sets, engine.name, &label);
    Ok(Side { name: name.to_owned(), label, engine, binary, config, arguments })
}

/// What a side says lies over what is said for both, and flags over everything.
fn configure(
    global: &Global,
    arguments: &BenchArguments,
    file: &Option<PathBuf>,
    sets: &[String],
) -> Result<Config> {
    let mut config = crate::config::load(global)?;
    if let Some(file) = file {
        if global.config.is_some() {
            bail!("it has a config of its own, and there is --config; allowed is one of the two");
        }
        config.apply_file(file)?;
    }
    for set in sets {
        config.apply_set(set)?;
    }
    run::apply(&mut config, &arguments.workload)?;
    Ok(config)
}

/// Arguments of `run` without the query and the place of the results.
fn child_arguments(
    global: &Global,
    arguments: &BenchArguments,
    file: &Option<PathBuf>,
    sets: &[String],
    engine: &str,
    label: &str,
) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    let mut tell = |flag: &str, value: &str| told.extend([flag.to_owned(), value.to_owned()]);
    tell("--engine", engine);
    tell("--label", label);
    if let Some(profile) = &global.profile {
        tell("--profile", profile);
    }
    if let Some(path) = file.as_ref().or(global.config.as_ref()) {
        tell("--config", &path.display().to_string());
    }
    global.set.iter().chain(sets).for_each(|set| tell("--set", set));
    arguments.workload.given().for_each(|(flag, _, value, _)| tell(flag, value));
    if let Some(path) = &arguments.hosts.hosts {
        tell("--hosts", &path.display().to_string());
    }
    if arguments.workload.digest {
        told.push("--digest".to_owned());
    }
    if arguments.hosts.keep_collector {
        told.push("--keep-collector".to_owned());
    }
    told
}
