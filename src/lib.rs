//! `flowy`: prompt flows from a GitHub repository, listed, shown, checked and executed.
//!
//! This page is the map; the modules stand in reading order, and `ARCHITECTURE.md` says which may
//! use which.
//!
//! ```text
//! GitHub / folder ──► source ──► catalog ──► validate ──► plan ──► run ──► report ──► mcp | cli
//! ```

pub mod names;

pub mod discover;
pub mod tokens;

pub mod clock;
pub mod config;
