//! Tests of the catalogue from outside: the golden files, the properties of the generator, the recorded form of
//! events, and what each query's answer depends on.

mod answers;
mod branches;
mod dependence;
mod generator;
mod golden;
mod recording;
mod streams;
