//! The MCP server: nine tools, flows that are tools, prompts and resources over stdio, for handshake clients and for
//! 2026-07-28 clients alike.
//!
//! A tool's file in `tools/` holds what a model sees of it: name, description, arguments. Everything
//! it does is a function of app, and everything it answers is a shape of report; this room turns
//! calls into requests, checks and repairs arguments, and keeps one call from harming another. It
//! knows neither flows nor GitHub.

mod aliases;
mod arguments;
mod asking;
mod backlog;
mod changes;
mod completion;
mod definition;
mod exposed;
mod failure;
mod identity;
mod introduction;
mod lines;
mod log;
mod outbox;
mod parameter;
mod progress;
mod prompts;
mod reading;
mod reply;
mod resources;
#[cfg(feature = "internals")]
mod rows;
mod serve;
mod server;
mod target;
mod tools;
mod unknown;

pub use log::{log_to_file, start_logging};
pub use reading::{ReadLine, read as read_line};
pub use resources::{RESOURCES, ResourceRow};
#[cfg(feature = "internals")]
pub use rows::{ArgumentRow, ToolRow, tool_rows};
pub use serve::{End, ServeError, serve_on, serve_stdio};

/// The longest that clients may keep a list or a resource, in milliseconds.
const TTL_AT_MOST_MS: u64 = 3_600_000;
