//! Results as one HTML page that needs nothing beside it: no network, no other file. What the charts
//! compare stands in tables, too; without scripts those remain.

mod charts;
mod tables;
mod vendor;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::compare::{Comparison, Side};
use super::history::{History, Series};
use super::metric::Metric;
use super::{METRICS, queries};
use crate::result::RunResult;

const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");
const CHART_STYLE: &str = include_str!("page/uplot/uPlot.min.css");
const CHART_SCRIPT: &str = include_str!("page/uplot/uPlot.iife.min.js");

/// Nothing may be fetched, whatever a text in a result holds.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// For whom a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Those who measure: everything there is.
    Team,
    /// Those who look at results over time, and at nothing else.
    Watchers,
    /// People outside: the summary first, how it was measured, how fair it is, and how to repeat it.
    Vendor,
}

/// What goes into a page.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// Title of the document.
    pub title: String,
    /// For whom it is.
    pub audience: Audience,
    /// Runs under their names.
    pub sides: &'a [Side],
    /// Name of the side that the others are measured by; one of `sides`.
    pub baseline: &'a str,
    /// Smallest effect that matters, as a share.
    pub threshold: f64,
    /// Results over time, where there are several days or versions.
    pub history: Option<&'a History>,
    /// The command that made the page.
    pub command: String,
    /// When it was made, RFC 3339.
    pub created_at: String,
}

/// Everything that the sections show.
struct Content<'a> {
    page: &'a Page<'a>,
    comparisons: Vec<Comparison>,
    queries: Vec<&'a str>,
}

impl Page<'_> {
    /// The document.
    pub fn html(&self) -> String {
        let base = self.sides.iter().find(|side| side.name == self.baseline);
        let others = self.sides.iter().filter(|side| side.name != self.baseline);
        let metrics: Vec<&'static Metric> = METRICS.iter().collect();
        let compare =
            |base| others.map(|other| Comparison::new(base, other, &metrics, self.threshold)).collect();
        let content = Content {
            page: self,
            comparisons: base.map(compare).unwrap_or_default(),
            queries: queries(self.results()),
        };
        self.document(&content).into_string()
    }

    fn results(&self) -> impl Iterator<Item = &RunResult> {
        self.sides.iter().flat_map(|side| &side.results)
    }

    fn document(&self, content: &Content<'_>) -> Markup {
        let sections: Vec<Section> = match self.audience {
            Audience::Team => team(content),
            Audience::Watchers => vec![
                Section::new("history", "History", tables::history(content)),
                Section::new("environment", "Environment", tables::environment(content)),
            ],
            Audience::Vendor => vendor::sections(content),
        };
        let sections: Vec<Section> =
            sections.into_iter().filter(|section| !section.body.0.is_empty()).collect();
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    title { (self.title) }
                    style { (PreEscaped(CHART_STYLE)) (PreEscaped(STYLE)) }
                }
                body {
                    a.skip href="#content" { "Skip to the content" }
                    header {
                        h1 { (self.title) }
                        p { (self.about()) }
                        nav aria-label="Sections" {
                            ul {
                                @for section in &sections {
                                    li { a href={ "#" (section.id) } { (section.title) } }
                                }
                            }
                        }
                    }
                    main id="content" {
                        @for section in &sections {
                            section id=(section.id) aria-labelledby={ (section.id) "-title" } {
                                h2 id={ (section.id) "-title" } { (section.title) }
                                (section.body)
                            }
                        }
                    }
                    footer {
                        p { "Made by nexmark " (env!("CARGO_PKG_VERSION")) " on " (self.created_at) " with " code { (self.command) } "." }
                        p { "Charts by uPlot 1.6.32, MIT licence, © Leon Sorokin." }
                    }
                    script type="application/json" id="data" { (PreEscaped(charts::data(content))) }
                    script { (PreEscaped(CHART_SCRIPT)) }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
    }

    fn about(&self) -> String {
        let runs = self.results().count();
        let mut days: Vec<&str> = self.results().filter_map(|result| result.started_at.get(..10)).collect();
        days.sort_unstable();
        let days = match (days.first(), days.last()) {
            (Some(first), Some(last)) if first != last => format!("from {first} to {last}"),
            (Some(day), _) => format!("of {day}"),
            _ => String::new(),
        };
        let sides: Vec<&str> = self.sides.iter().map(|side| side.name.as_str()).collect();
        format!("{runs} runs {days}: {}", sides.join(", "))
    }
}

impl<'a> Content<'a> {
    /// The series over time. One point is a history to those alone who asked for nothing else.
    fn series(&self) -> Vec<&'a Series> {
        let points_min = if self.page.audience == Audience::Watchers { 1 } else { 2 };
        let series = self.page.history.into_iter().flat_map(|history| &history.series);
        series.filter(|series| series.points.len() >= points_min).collect()
    }
}

/// A part of the page; one without a body is left out.
struct Section {
    id: &'static str,
    title: String,
    body: Markup,
}

impl Section {
    fn new(id: &'static str, title: impl Into<String>, body: Markup) -> Self {
        Self { id, title: title.into(), body }
    }
}

fn team(content: &Content<'_>) -> Vec<Section> {
    vec![
        Section::new("summary", "Summary", tables::summary(content)),
        Section::new("per-core", "Throughput per core", charts::per_core(content)),
        Section::new("runs", "All queries", tables::medians(content)),
        Section::new("relative", format!("Relative to {}", content.page.baseline), charts::relative(content)),
        Section::new("comparison", "Comparison", tables::comparisons(content)),
        Section::new("spread", "Spread of repetitions", charts::spread(content)),
        Section::new("time", "Over time", charts::over_time(content)),
        Section::new("history", "History", tables::history(content)),
        Section::new("failures", "Runs that did not pass", tables::failures(content)),
        Section::new("differences", "Differences between the sides", tables::differences(content)),
        Section::new("engines", "Engines and settings", tables::engines(content)),
        Section::new("environment", "Environment", tables::environment(content)),
        Section::new("commands", "Commands", tables::commands(content)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::result;
    use crate::result::State;

    const EVIL: &str = "</script><script>alert('x')</script><img src=x onerror=alert(1)>&\"";

    fn sides() -> Vec<Side> {
        let runs = |name: &str, level: f64| {
            let queries = ["q0", "q5", "q10"];
            let runs = queries.iter().flat_map(|query| {
                (0..5_u32).map(move |repeat| result(query, level * (1.0 + f64::from(repeat) / 100.0)))
            });
            let workload = result("q0", 1.0).workload;
            let results = runs.map(|run| RunResult { workload: workload.clone(), ..run }).collect();
            Side { name: name.to_owned(), results }
        };
        vec![runs("old", 1e6), runs("new", 1.3e6)]
    }

    fn page(sides: &[Side], audience: Audience) -> String {
        let page = Page {
            title: "Results".to_owned(),
            audience,
            sides,
            baseline: &sides[0].name,
            threshold: 0.05,
            history: None,
            command: "nexmark report".to_owned(),
            created_at: "2026-01-01T00:00:00Z".to_owned(),
        };
        page.html()
    }

    #[test]
    fn text_of_results_is_escaped_everywhere() {
        let mut sides = sides();
        sides[1].name = EVIL.to_owned();
        for run in &mut sides[1].results[..1] {
            (run.state, run.message) = (State::Failed, Some(EVIL.to_owned()));
            run.query = EVIL.to_owned();
            run.command = EVIL.to_owned();
            run.notes = vec![EVIL.to_owned()];
            run.deviations = vec![EVIL.to_owned()];
            run.environment.cpu_model = Some(EVIL.to_owned());
            run.workload.shape = EVIL.to_owned();
            let engine = run.engine.as_mut().unwrap();
            (engine.name, engine.version) = (EVIL.to_owned(), EVIL.to_owned());
            engine.config.insert(EVIL.to_owned(), EVIL.to_owned());
        }
        for audience in [Audience::Team, Audience::Vendor] {
            let html = page(&sides, audience);
            assert!(!html.contains("<script>alert") && !html.contains("<img"), "not escaped");
            assert_eq!(html.matches("</script>").count(), 3, "a text ends a script");
            assert!(html.contains("&lt;/script&gt;&lt;script&gt;alert("), "the text is there");
        }
    }

    #[test]
    fn nothing_is_fetched() {
        let html = page(&sides(), Audience::Team);
        for part in ["src=\"", "<link", "@import", "url("] {
            assert!(!html.contains(part), "{part}");
        }
        assert!(html.contains("default-src 'none'"));
    }

    #[test]
    fn both_audiences_get_intervals_and_verdicts() {
        for audience in [Audience::Team, Audience::Vendor] {
            let html = page(&sides(), audience);
            for part in ["1.30", "better", "95 %", "fake 1.2.3", "q10"] {
                assert!(html.contains(part), "{audience:?} lacks {part}");
            }
        }
        let vendor = page(&sides(), Audience::Vendor);
        let order = ["id=\"summary\"", "id=\"method\"", "id=\"results\"", "id=\"fairness\"", "id=\"repeat\""];
        let places: Vec<_> =
            order.iter().map(|id| vendor.find(id).unwrap_or_else(|| panic!("no {id}"))).collect();
        assert!(places.is_sorted(), "{places:?}");
    }

    #[test]
    fn one_side_and_none_are_shown_without_a_comparison() {
        let sides = sides();
        let html = page(&sides[..1], Audience::Team);
        assert!(html.contains("id=\"runs\"") && !html.contains("id=\"comparison\""));
    }
}
