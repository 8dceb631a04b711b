//! Metrics over REST. Flink answers nothing at all where one of the asked-for names is unknown to it, and the list of names
//! of a new job is empty at first; so names are listed before values are asked for.

use crate::replies::{Aggregate, Metric, MetricName};
use crate::rest::{Rest, RestError, encoded};

/// Metrics of one vertex over its subtasks, or of all TaskManagers.
#[derive(Clone, Debug)]
pub(crate) struct Aggregated {
    path: String,
    /// Names to ask for; empty while they are not known.
    names: Vec<String>,
}

impl Aggregated {
    /// The metrics of that path.
    pub(crate) fn new(path: String) -> Self {
        Self { path, names: Vec::new() }
    }

    /// The values of the wanted ones that Flink has.
    pub(crate) async fn read(
        &mut self,
        rest: &Rest,
        is_wanted: fn(&str) -> bool,
    ) -> Result<Vec<Aggregate>, RestError> {
        if self.names.is_empty() {
            let known: Vec<MetricName> = rest.get(&self.path).await?;
            // A comma within a name would be read as one between two.
            let wanted = known.into_iter().filter(|name| is_wanted(&name.id) && !name.id.contains(','));
            self.names = wanted.map(|name| name.id).collect();
        }
        if self.names.is_empty() {
            return Ok(Vec::new());
        }
        let path = format!("{}?get={}&agg=sum,min,max", self.path, joined(&self.names));
        let values: Vec<Aggregate> = rest.get(&path).await?;
        if values.is_empty() {
            self.names.clear();
        }
        Ok(values)
    }
}

/// Values of one thing that is no aggregate; those that Flink does not have are left out.
pub(crate) async fn single(rest: &Rest, path: &str, names: &[&str]) -> Result<Vec<Metric>, RestError> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    rest.get(&format!("{path}?get={}", joined(&names))).await
}

fn joined(names: &[String]) -> String {
    names.iter().map(|name| encoded(name)).collect::<Vec<_>>().join(",")
}

/// What a metric of a vertex tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    /// Events that the subtasks have read; of a source, generated.
    EventsIn,
    /// Flink's own rate of a source.
    EventsPerSecond,
    /// Watermark behind the source.
    Watermark,
    /// Changes that reached the sink.
    RowsOut,
    /// Rows that came after the watermark.
    LateRows,
    /// Share of time that a subtask works, in thousandths.
    Busy,
    /// Share of time that a subtask waits for those behind it, in thousandths.
    BackPressured,
}

impl Figure {
    /// What the metric of that name tells; operators carry a number that grows with each job.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let (operator, metric) = name.rsplit_once('.').unwrap_or(("", name));
        match metric {
            "numRecordsIn" if operator.is_empty() => Some(Self::EventsIn),
            "busyTimeMsPerSecond" if operator.is_empty() => Some(Self::Busy),
            "backPressuredTimeMsPerSecond" if operator.is_empty() => Some(Self::BackPressured),
            "numRecordsOutPerSecond" if operator.starts_with("Source_") => Some(Self::EventsPerSecond),
            "currentOutputWatermark" if operator.starts_with("WatermarkAssigner") => Some(Self::Watermark),
            "records" if operator.ends_with("nexmark-sink.nexmark") => Some(Self::RowsOut),
            "numLateRecordsDropped" | "leftNumLateRecordsDropped" | "rightNumLateRecordsDropped" => {
                (!operator.is_empty()).then_some(Self::LateRows)
            }
            _ => None,
        }
    }

    /// Whether a name tells anything.
    pub(crate) fn is_told_by(name: &str) -> bool {
        Self::of(name).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded;

    #[test]
    fn figures_are_found_whatever_their_operators_number() {
        for (name, figure) in [
            ("numRecordsIn", Some(Figure::EventsIn)),
            ("Source__nexmark[1234].numRecordsOutPerSecond", Some(Figure::EventsPerSecond)),
            ("WatermarkAssigner[3].currentOutputWatermark", Some(Figure::Watermark)),
            ("nexmark-sink.nexmark.records", Some(Figure::RowsOut)),
            ("WindowJoin[59].leftNumLateRecordsDropped", Some(Figure::LateRows)),
            ("Calc[2].numRecordsIn", None),
            ("numRecordsOutPerSecond", None),
            ("Calc[2].currentOutputWatermark", None),
            ("nexmark-sink.numRecordsIn", None),
            ("", None),
        ] {
            assert_eq!(Figure::of(name), figure, "{name}");
        }
    }

    #[test]
    fn a_recorded_list_holds_each_figure_of_a_source_once() {
        let names: Vec<MetricName> = recorded::read("subtasks-metrics-list");
        let of = |figure| names.iter().filter(|name| Figure::of(&name.id) == Some(figure)).count();
        let figures = [Figure::EventsIn, Figure::EventsPerSecond, Figure::Watermark, Figure::Busy];
        assert_eq!(figures.map(of), [1; 4]);
    }
}
