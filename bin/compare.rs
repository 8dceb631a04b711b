//! `compare`: two sides, from files, directories or labels. `bench` ends here, too.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};
use nexmark_driver::report::{Audience, Comparison, Difference, METRICS, Metric, Page, Side};
use nexmark_driver::result::{Detail, Gathered, Library, RunResult};

use crate::args::{CompareArguments, JudgeArguments, ReportFormat};
use crate::comparison;
use crate::printer;
use crate::run::{NOT_PASSED, command_line};

/// Compares two sides.
pub(crate) fn command(arguments: &CompareArguments) -> Result<ExitCode> {
    let judge = Judge::new(&arguments.judge)?;
    let detail = match arguments.judge.format {
        ReportFormat::Html => Detail::Whole,
        _ => Detail::WithoutSamples,
    };
    let mut library = Library::new(&arguments.results, detail);
    let mut side = |name: &String| {
        let results = told(library.find(name)?);
        Ok::<_, anyhow::Error>(Side { name: name.clone(), results })
    };
    judge.judge(&[side(&arguments.base)?, side(&arguments.other)?])
}

/// The results; what was skipped is told.
pub(crate) fn told(found: Gathered) -> Vec<RunResult> {
    for reason in &found.skipped {
        printer::warning(format!("skipped: {reason}"));
    }
    found.results
}

/// How two sides are judged and shown.
pub(crate) struct Judge<'a> {
    arguments: &'a JudgeArguments,
    threshold: f64,
    fail_above: f64,
    metrics: Vec<&'static Metric>,
}

impl<'a> Judge<'a> {
    /// Reads the arguments.
    pub(crate) fn new(arguments: &'a JudgeArguments) -> Result<Self> {
        let threshold = percentage("--threshold", &arguments.threshold)?;
        let fail_above = arguments.fail_above.as_ref().map(|text| percentage("--fail-above", text));
        Ok(Self {
            arguments,
            threshold,
            fail_above: fail_above.transpose()?.unwrap_or(threshold),
            metrics: metrics(&arguments.metric)?,
        })
    }

    /// Smallest effect that matters, as a share.
    pub(crate) fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Compares the second side with the first, prints it, and says how the command ends.
    pub(crate) fn judge(&self, sides: &[Side; 2]) -> Result<ExitCode> {
        let [base, other] = sides;
        let comparison = Comparison::new(base, other, &self.metrics, self.threshold);
        if comparison.queries.iter().all(|query| query.base_passed == 0 || query.other_passed == 0) {
            bail!("{} and {} have no query in common that passed on both", base.name, other.name);
        }
        if !self.arguments.force {
            refuse_serious(&comparison)?;
        }
        let text = match self.arguments.format {
            ReportFormat::Table => comparison::table(&comparison),
            ReportFormat::Markdown => comparison::markdown(&comparison),
            ReportFormat::Csv => comparison::csv(&comparison),
            ReportFormat::Json => serde_json::to_string_pretty(&comparison)?,
            ReportFormat::Html => self.page(sides),
        };
        write(&text, self.arguments.output.as_deref())?;
        let losses = comparison.losses(self.fail_above);
        comparison::losses(&losses, &base.name, &other.name).iter().for_each(printer::note);
        Ok(if losses.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(NOT_PASSED) })
    }

    fn page(&self, sides: &[Side; 2]) -> String {
        let [base, other] = sides;
        let page = Page {
            title: format!("{} against {}", other.name, base.name),
            audience: Audience::Team,
            sides,
            baseline: &base.name,
            threshold: self.threshold,
            history: None,
            command: command_line(),
            created_at: created_at(),
        };
        page.html()
    }
}

/// Other workloads and other answers make a comparison meaningless.
fn refuse_serious(comparison: &Comparison) -> Result<()> {
    let told = |difference: &Difference| {
        let [base, other] = [&difference.base, &difference.other].map(|values| values.join(" | "));
        format!("{} is {base} and {other} ({})", difference.what, comparison.queries_of(difference))
    };
    let serious: Vec<String> = comparison.serious().map(told).collect();
    if serious.is_empty() {
        return Ok(());
    }
    let (base, other) = (&comparison.base.name, &comparison.other.name);
    bail!("cannot compare {base} and {other}: {}; --force compares all the same", serious.join("; "))
}

/// Metrics of these names, or all.
pub(crate) fn metrics(names: &[String]) -> Result<Vec<&'static Metric>> {
    if names.is_empty() {
        return Ok(METRICS.iter().collect());
    }
    names.iter().map(|name| metric(name)).collect()
}

/// The metric of a name.
pub(crate) fn metric(name: &str) -> Result<&'static Metric> {
    Metric::find(name).ok_or_else(|| {
        let known: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        let near = nexmark_queries::nearest(name, known.iter().copied());
        let hint = near.map(|near| format!(", did you mean {near:?}?")).unwrap_or_default();
        anyhow!("unknown metric {name:?}, known are {}{hint}", known.join(", "))
    })
}

/// Reads a percentage, as a share.
pub(crate) fn percentage(flag: &str, text: &str) -> Result<f64> {
    let percent = text.strip_suffix('%').and_then(|number| number.trim_end().parse::<f64>().ok());
    match percent.filter(|percent| (0.0..=1000.0).contains(percent)) {
        Some(percent) => Ok(percent / 100.0),
        None => bail!("{flag} is {text:?}, allowed is a percentage such as 5% or 2.5%, from 0% to 1000%"),
    }
}

/// Writes a text into a file, or prints it.
pub(crate) fn write(text: &str, output: Option<&Path>) -> Result<()> {
    match output {
        Some(path) if path.as_os_str() != "-" => {
            std::fs::write(path, format!("{text}\n"))
                .with_context(|| format!("cannot write --output {}", path.display()))?;
            printer::note(format!("written to {}", path.display()));
            Ok(())
        }
        _ => Ok(printer::data(text)?),
    }
}

/// Now, for a document.
pub(crate) fn created_at() -> String {
    format!("{:.0}", jiff::Timestamp::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_need_their_sign() {
        assert_eq!(percentage("--threshold", "2.5%").unwrap(), 0.025);
        assert_eq!(percentage("--threshold", "10 %").unwrap(), 0.1);
        for bad in ["5", "0.05", "-5%", "x%", "%", "NaN%", "1e9%"] {
            let error = percentage("--threshold", bad).unwrap_err().to_string();
            assert!(error.contains(&format!("--threshold is {bad:?}, allowed is")), "{error}");
        }
    }

    #[test]
    fn metrics_are_known_by_name() {
        assert_eq!(metrics(&[]).unwrap().len(), METRICS.len());
        let error = metrics(&["cpu_second".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("did you mean \"cpu_seconds\"?"), "{error}");
    }
}
