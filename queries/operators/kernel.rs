//! A function from a block to rows, as an operator.

use timely::container::CapacityContainerBuilder;
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::Operator;

use super::{Blocks, Time};
use crate::block::Block;

/// Rows that `function` makes of each block, sent as one batch a block.
pub fn kernel<'scope, R: Clone + 'static>(
    blocks: Blocks<'scope>,
    name: &str,
    mut function: impl FnMut(&Block, &mut Vec<R>) + 'static,
) -> StreamVec<'scope, Time, R> {
    blocks.unary::<CapacityContainerBuilder<Vec<R>>, _, _, _>(Pipeline, name, |_capability, _info| {
        let mut rows = Vec::new();
        move |input, output| {
            input.for_each(|capability, blocks| {
                for block in blocks.drain(..) {
                    function(&block, &mut rows);
                    if !rows.is_empty() {
                        output.session(&capability).give_container(&mut rows);
                        rows.clear();
                    }
                }
            });
        }
    })
}
