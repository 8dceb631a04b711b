//! Lives of a fake engine.
