//! Steps by their labels and tools.

use crate::run::Guided;

pub(super) fn label(guided: &Guided, step: usize) -> &str {
    guided.run().plan().step(step).map_or("", |step| step.label.as_str())
}

/// The tool that a step calls.
pub(super) fn call_of(guided: &Guided, step: usize) -> String {
    guided.run().plan().called(step)
}
