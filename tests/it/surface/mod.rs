//! The surface: every tool, command and table, as a snapshot.

mod tools;
