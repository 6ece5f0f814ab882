//! The surface: every tool, command and table, as a snapshot.

mod cli;
mod cli_catalogs;
mod cli_output;
mod docs;
mod doctor;
mod facts;
mod pictures;
#[cfg(unix)]
mod rules;
mod sets;
mod terminal;
mod tools;
