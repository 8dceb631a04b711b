//! What goes over the wire between a collector and its reader: lines of JSON one way, one word and a number the other.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::clock::Clocks;
use crate::sample::Sample;

/// A line of a collector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// A sample, at its time or on request.
    Sample(Box<Sample>),
    /// The clocks, on request.
    Clock(Clocks),
}

impl Line {
    /// Reads a line.
    ///
    /// # Errors
    /// It is none of a collector.
    pub fn parse(text: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text)
    }

    /// The line with its end.
    ///
    /// # Errors
    /// None that is known: every field has a form in JSON.
    pub fn bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut bytes = serde_json::to_vec(self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// What a reader may ask a collector for, a line each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// A sample now.
    Sample(u64),
    /// The clocks now.
    Clock(u64),
}

impl Request {
    /// Reads a request; `None` if it is none.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (word, number) = std::str::from_utf8(text).ok()?.trim_end().split_once(' ')?;
        let number = number.parse().ok()?;
        match word {
            "sample" => Some(Self::Sample(number)),
            "clock" => Some(Self::Clock(number)),
            _ => None,
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sample(number) => writeln!(f, "sample {number}"),
            Self::Clock(number) => writeln!(f, "clock {number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sample::ProcessCounters;

    fn process() -> impl Strategy<Value = ProcessCounters> {
        let some = any::<Option<u64>>;
        ((any::<u32>(), any::<Option<u32>>(), any::<u64>(), any::<String>()), (some(), some(), some()))
            .prop_map(|((pid, thread_of, number, text), (one, two, three))| ProcessCounters {
                pid,
                thread_of,
                start_ticks: number,
                role: text.clone(),
                command: text,
                user_ticks: number,
                system_ticks: number / 2,
                cpu_ns: one,
                threads: number,
                rss_bytes: number,
                rss_bytes_peak: two,
                read_bytes: three,
                write_bytes: one,
                context_switches: two,
            })
    }

    proptest! {
        #[test]
        fn samples_survive_the_wire(
            processes in proptest::collection::vec(process(), 0..4),
            host in any::<String>(),
            numbers in any::<(u64, i64, u64, Option<u64>)>(),
        ) {
            let (monotonic_ns, wall_ms, ticks, request) = numbers;
            let sample = Sample {
                host, request, monotonic_ns, wall_ms, boot_ticks: ticks, processes, ..Sample::default()
            };
            let line = Line::Sample(Box::new(sample));
            let bytes = line.bytes().unwrap();
            prop_assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 1);
            prop_assert_eq!(Line::parse(&bytes).unwrap(), line);
        }

        #[test]
        fn garbage_is_refused_without_a_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(Line::parse(&text).is_err());
            let _ = Request::parse(&text);
        }

        #[test]
        fn a_line_that_is_cut_is_refused(length in 0usize..100_000) {
            let line = Line::Sample(Box::default()).bytes().unwrap();
            let cut = length % (line.len() - 1);
            prop_assert!(Line::parse(&line[..cut]).is_err());
        }

        #[test]
        fn requests_survive_the_wire(number in any::<u64>()) {
            for request in [Request::Sample(number), Request::Clock(number)] {
                prop_assert_eq!(Request::parse(request.to_string().as_bytes()), Some(request));
            }
        }
    }
}
