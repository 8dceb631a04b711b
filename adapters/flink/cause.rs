//! What lies at the root of Flink's long stack traces: the last `Caused by`, without the exceptions that only wrap others.

use serde::Deserialize;

use crate::replies::{ExceptionEntry, Exceptions};

/// Exceptions that only wrap others.
const WRAPPERS: [&str; 4] = [
    "java.util.concurrent.CompletionException: ",
    "java.util.concurrent.ExecutionException: ",
    "org.apache.flink.runtime.rest.handler.RestHandlerException: ",
    "org.apache.flink.util.SerializedThrowable: ",
];
/// Lines of one message that are kept; the rest lists what might have been meant.
const LINES_MAX: usize = 6;
/// Characters of a reply that is not Flink's, such as a page of a proxy.
const FOREIGN_MAX: usize = 200;

#[derive(Deserialize)]
struct Errors {
    errors: Vec<String>,
}

/// The message of a reply that is no success.
pub(crate) fn of_reply(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    match serde_json::from_slice::<Errors>(body) {
        Ok(errors) => of_errors(&errors.errors),
        Err(_foreign) => foreign(&text),
    }
}

fn foreign(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(FOREIGN_MAX) {
        _ if words.is_empty() => "without a message".to_owned(),
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// The last error is the one with a trace.
fn of_errors(errors: &[String]) -> String {
    let text = errors.iter().rfind(|error| !error.trim().is_empty());
    text.map_or_else(|| "without a message".to_owned(), |text| of_trace(text))
}

/// The root of a stack trace.
pub(crate) fn of_trace(trace: &str) -> String {
    let trace = trace.trim_start_matches("<Exception on server side:").trim_start();
    let root = trace.rsplit("Caused by: ").next().unwrap_or(trace);
    let lines =
        root.lines().take_while(|line| !is_frame(line)).map(str::trim).filter(|line| !line.is_empty());
    let message = lines.take(LINES_MAX).collect::<Vec<_>>().join(" ");
    let mut message = message.as_str();
    while let Some(inner) = WRAPPERS.iter().find_map(|wrapper| message.strip_prefix(wrapper)) {
        message = inner;
    }
    message.to_owned()
}

fn is_frame(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("at ") || line.starts_with("... ") || line.starts_with("End of exception")
}

/// Why a job failed: the root of its last exception; `None` while Flink does not tell.
pub(crate) fn of_job(exceptions: &Exceptions) -> Option<String> {
    let last = exceptions.history.entries.first()?;
    let inner = last.concurrent.first().filter(|_| !last.trace.contains("Caused by: "));
    Some(of_entry(inner.unwrap_or(last)))
}

fn of_entry(entry: &ExceptionEntry) -> String {
    let root = of_trace(&entry.trace);
    let root = if root.is_empty() { entry.name.clone() } else { root };
    match entry.task.as_deref().filter(|task| !task.is_empty()) {
        Some(task) => format!("{root} (in {task})"),
        None => root,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded;

    #[track_caller]
    fn assert_root(file: &str, message: &str) {
        assert_eq!(of_reply(recorded::response(file).to_string().as_bytes()), message, "{file}");
    }

    #[test]
    fn roots_of_recorded_errors() {
        assert_root(
            "error-bad-sql",
            "org.apache.calcite.runtime.CalciteException: Non-query expression encountered in illegal context",
        );
        assert_root(
            "error-unknown-jar",
            "Jar file /var/lib/flink/web/flink-web-upload/nope.jar does not exist",
        );
        assert_root("error-unknown-path", "Unable to load requested file /nope.");
        assert_root(
            "error-malformed-jobid",
            "org.apache.flink.runtime.rest.handler.HandlerRequestException: Cannot resolve path parameter (jobid) from \
             value \"xyz\".",
        );
    }

    #[test]
    fn roots_of_recorded_failures() {
        let root = |file: &str| of_job(&recorded::read(file)).unwrap();
        assert_eq!(root("failing-job-exceptions"), "java.lang.ArithmeticException: / by zero");
        let no_slots = root("no-slots-exceptions");
        assert!(
            no_slots
                .contains("NoResourceAvailableException: Could not acquire the minimum required resources.")
                && !no_slots.contains("CompletionException"),
            "{no_slots}"
        );
        assert_eq!(of_job(&recorded::read("job-exceptions-none")), None);
    }

    #[test]
    fn what_is_not_from_flink_is_shortened() {
        assert_eq!(of_reply(b""), "without a message");
        let page = format!("<html>\n  <h1>502</h1> {}", "é".repeat(500));
        let message = of_reply(page.as_bytes());
        assert!(message.starts_with("<html> <h1>502</h1> é") && message.chars().count() == 201, "{message}");
    }
}
