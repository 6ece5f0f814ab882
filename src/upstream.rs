//! External MCP servers: hidden from clients, reached by flows alone.
//!
//! The operator configures them; a [`Registry`] knows what tools they have, keeps one connection to
//! each that is in use, and calls tools for whoever drives a run. Nothing is started before it is
//! needed, and a server that is slow or dead troubles nobody but its callers. What a flow is, and
//! what tools we offer ourselves, is not known here.
//!
//! | file | what is in it |
//! |---|---|
//! | `registry` | all servers: what is known of them, and the port that runs call tools through |
//! | `server` | one server: when to connect, when to wait, when to stop |
//! | `keeping` | one connection from its beginning to its end |
//! | `opening` | how a connection comes about: both transports, both generations of the protocol |
//! | `process` | a server that is a program |
//! | `message` | one message of a server's, with what is known to go wrong in it |
//! | `lines` | the streams of a program, line by line |
//! | `line` | HTTP requests to a server that is an address |
//! | `ears` | what a server says unasked: progress, changes, questions |
//! | `loose` | lists and answers that are not what the protocol says, read part by part |
//! | `tools` | a server's list of tools, read page by page |
//! | `kept` | lists on disk, so that a restart knows what was known |
//! | `calling` | one call, from arguments to answer |
//! | `answer` | an answer in one shape, whatever blocks it came in |
//! | `trouble` | what went wrong, in words that show no secret |
//! | `audit` | one line in the log for each call |

mod answer;
mod audit;
mod calling;
mod ears;
mod keeping;
mod kept;
mod line;
mod lines;
mod loose;
mod message;
mod opening;
mod posted;
mod process;
mod registry;
mod server;
mod tools;
mod trouble;

pub use self::registry::{Registry, ServerRow, Surroundings, UnfitPattern};
pub use self::trouble::Unreachable;

/// The target of log lines that say what whoever asked is told, too.
pub const TOLD: &str = "flowy::upstream::told";
