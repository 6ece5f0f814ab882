//! How things read: findings, plans, executions and errors, as JSON for programs and clients, and
//! as text for people.
//!
//! [`wire`] holds every result shape; MCP, `--json` and the fixtures share them. [`human`] writes
//! for a terminal, [`draw`] makes pictures and pages of graphs, [`timeline`] a page of a guided execution,
//! [`script`] what a prompt says to a model, [`ci`] what services around a repository read,
//! [`rules`] the page of each rule. Nothing here decides anything, and nothing writes
//! anywhere but into the writer it is given.

#![warn(clippy::wildcard_enum_match_arm)]

pub mod ci;
pub mod draw;
pub mod files;
pub mod human;
mod markup;
pub mod rules;
pub mod script;
pub mod timeline;
pub mod wire;
