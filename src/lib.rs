//! `flowy`: prompt flows from a GitHub repository, listed, shown, checked and executed.
//!
//! This page is the map; the modules stand in reading order, and `ARCHITECTURE.md` says which may
//! use which.
//!
//! ```text
//! GitHub / folder ──► source ──► catalog ──► validate ──► plan ──► run ──► report ──► mcp | cli
//! ```

pub mod names;

pub mod document;
pub mod model;

pub mod graph;
pub mod render;
pub mod validate;

pub mod plan;
pub mod run;

pub mod discover;
pub mod tokens;

pub mod clock;
pub mod config;

pub mod cache;
pub mod web;

pub mod source;
pub mod store;

pub mod execute;
pub mod guide;

pub mod guard;
pub mod upstream;

pub mod catalog;

pub mod app;
pub mod report;

pub mod mcp;

pub mod cli;
