//! Plans and runs of small flows, in process: what every value, order and ending comes to.

mod bounds;
mod calls;
mod driving;
mod endings;
mod flat;
mod hostile;
pub(crate) mod laws;
mod names;
mod nesting;
mod order;
mod script;
mod shapes;
mod sources;
mod values;
