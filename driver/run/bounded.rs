//! Waits that end: with what was awaited, at a deadline, or by an interrupt.

use std::future::Future;
use std::time::Instant;

use super::Interrupt;

/// How a wait ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wait<T> {
    /// With what was awaited.
    Done(T),
    /// At the deadline; what was awaited is dropped.
    Late,
    /// By an interrupt; what was awaited is dropped.
    Interrupted,
}

/// Waits for a future until a moment at the latest.
pub(super) async fn until<T>(
    deadline: Instant,
    interrupt: &mut Interrupt,
    future: impl Future<Output = T>,
) -> Wait<T> {
    tokio::select! {
        biased;
        () = interrupt.wait() => Wait::Interrupted,
        output = future => Wait::Done(output),
        () = tokio::time::sleep_until(deadline.into()) => Wait::Late,
    }
}
