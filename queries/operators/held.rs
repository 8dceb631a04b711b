//! The right of an operator with state to emit rows later.

use timely::dataflow::operators::{Capability, InputCapability};
use timely::progress::frontier::AntichainRef;

use super::Time;

/// The earliest capability of some inputs. Held while there is state, or until all that has arrived is taken in: Moving it along with the frontier tells those downstream
/// how far the operator is, which the source's back-pressure relies on.
#[derive(Debug, Default)]
pub struct Held {
    capability: Option<Capability<Time>>,
}

impl Held {
    /// Holds the capability of some input, unless an earlier one is held.
    pub fn retain(&mut self, input: &InputCapability<Time>) {
        let earlier = match (&self.capability, input.least()) {
            (Some(held), Some(time)) => held.time() <= time,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if !earlier {
            self.capability = input.retain_least(0);
        }
    }

    /// The capability to emit with; `None` before any input.
    pub fn get(&self) -> Option<&Capability<Time>> {
        self.capability.as_ref()
    }

    /// The capability to emit with, which is let go.
    pub fn take(&mut self) -> Option<Capability<Time>> {
        self.capability.take()
    }

    /// Follows the frontier, after everything up to it was emitted. Lets go when the input has ended or when there is no
    /// state that could emit.
    pub fn advance(&mut self, frontier: AntichainRef<'_, Time>, state: bool) {
        match (frontier.first(), &mut self.capability) {
            (Some(time), Some(held)) if state => {
                if time > held.time() {
                    held.downgrade(time);
                }
            }
            _ => self.capability = None,
        }
    }
}
