//! A host's clocks. The monotonic one orders samples and is compared with the driver's; the wall clock is for people.

use std::time::{SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

/// The monotonic clock, ns.
pub fn monotonic_ns() -> u64 {
    ns(ClockId::Monotonic)
}

/// Time since boot, ns: the clock in which the kernel tells when a process started.
pub fn since_boot_ns() -> u64 {
    ns(ClockId::Boottime)
}

/// The wall clock, ns since the epoch.
pub fn wall_ns() -> i64 {
    // A clock before 1970 is not set.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

fn ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    // Neither clock is ever negative.
    let (seconds, ns) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    seconds.unwrap_or_default().saturating_mul(1_000_000_000).saturating_add(ns.unwrap_or_default())
}

/// The clocks of a host at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Clocks {
    /// Number of the request that asked for them.
    pub request: u64,
    /// The monotonic clock.
    pub monotonic_ns: u64,
    /// The wall clock, since the epoch.
    pub wall_ns: i64,
}

impl Clocks {
    /// The clocks now.
    pub fn read(request: u64) -> Self {
        Self { request, monotonic_ns: monotonic_ns(), wall_ns: wall_ns() }
    }
}
