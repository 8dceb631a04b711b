//! What the dataflows share.

use std::rc::Rc;

use timely::dataflow::StreamVec;

use crate::block::Block;

/// Logical time of the dataflows.
pub type Time = u128;

/// Blocks of events of one worker.
pub type Blocks<'scope> = StreamVec<'scope, Time, Rc<Block>>;

/// What a dataflow runs in.
#[derive(Debug)]
pub struct Environment;
