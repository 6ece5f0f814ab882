//! Guided executions: what a log says, and a plan's stored form.

mod asking;
mod log;
mod record;
mod store;
mod tools;
