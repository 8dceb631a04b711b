//! Tests of the engine from outside: its answers beside the oracles' on random streams, what they depend on, late rows, the
//! life of a job, and the size of its state.

mod answers;
mod golden;
mod harness;
mod life;
mod random;
mod rows_late;
mod state;

// Tests of the catalogue that look at answers, here at the engine's.
#[path = "../../../../queries/tests/catalogue/branches.rs"]
mod branches;
#[path = "../../../../queries/tests/catalogue/dependence.rs"]
mod dependence;
#[expect(dead_code, reason = "the catalogue's own tests use all of it")]
#[path = "../../../../queries/tests/catalogue/streams.rs"]
mod streams;
