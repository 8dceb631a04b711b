//! Hosts behind a real SSH server: how they are reached and refused, what is collected on them, and that nothing stays there.

mod burner;
mod check;
mod collector;
mod connect;
mod namespaces;
mod runs;
mod sshd;
