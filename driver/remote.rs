//! The hosts of a run: reached over SSH or local, a collector started on each, its samples brought to the driver's clock. What
//! is made on a host is removed from it.

mod address;
mod binary;
pub mod check;
mod clock;
mod error;
mod fleet;
mod follow;
mod host;
mod list;
mod local;
mod quote;
mod ssh;
mod start;

pub use address::Address;
pub use binary::{Binary, BinaryError};
pub use error::{HostError, Step};
pub(crate) use fleet::{Fleet, STALE};
pub use host::{Finished, Host, Input, Output, Process, ProcessEnd};
pub(crate) use list::HOST;
pub use list::{HostList, ListError, ListedHost};
pub use local::Local;
pub use quote::quoted;
pub use ssh::{Ssh, SshFiles};
pub use start::{Collector, Station};
