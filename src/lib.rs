//! `flowy`: prompt flows from a GitHub repository, listed, shown, checked and executed.
//!
//! This page is the map; the modules stand in reading order, and `ARCHITECTURE.md` says which may
//! use which.
//!
//! ```text
//! GitHub / folder ──► source ──► catalog ──► validate ──► plan ──► run ──► report ──► mcp | cli
//! ```
//!
//! **What semantic versioning covers.** The program: its commands and exit codes, its MCP tools, the
//! shapes of its answers, settings and files. The library is how the program is built and offers
//! [`main`] alone; the feature `internals` opens the rooms to this repository's tests and benches,
//! and anything reached through it may change in any release.

#![cfg_attr(
    not(feature = "internals"),
    allow(unused_imports, reason = "the fronts of rooms hand on what only tests and benches name, too")
)]

mod code;
mod names;
mod next_step;

mod document;
mod model;

mod graph;
mod render;
mod validate;

mod plan;
mod run;

mod discover;
mod tokens;

mod clock;
mod config;
mod files;
mod lock;

mod cache;
mod web;

mod rpc;

mod source;
mod store;

mod execute;
mod generate;
mod guide;
mod provider;

mod guard;
mod upstream;

mod catalog;

mod app;
mod report;

mod lsp;
mod mcp;

mod cli;

/// The program: reads the arguments of this process and answers with its exit code.
pub fn main() -> std::process::ExitCode {
    guard::main().unwrap_or_else(cli::main)
}

/// The rooms, opened to this repository's tests and benches.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals {
    macro_rules! open {
        ($($room:ident)*) => { $(pub mod $room { pub use crate::$room::*; })* };
    }
    open!(code names next_step document model graph render validate plan run discover tokens clock config files cache web rpc source store execute generate guide provider guard upstream catalog app report lsp mcp cli);
}
