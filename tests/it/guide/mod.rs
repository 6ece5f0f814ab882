//! Guided executions: what a log says, and a plan's stored form.

mod log;
mod record;
