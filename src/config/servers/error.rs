//! What is wrong with a servers file: the fact with its place, and a hint.
//!
//! Values may be secrets, so no fault has a field for one.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::document::Position;
use crate::names::quoted;

/// The most hints that one error gives.
const MOST_HINTS: usize = 3;

/// Why a servers file can't be used: everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServersError {
    /// Which file.
    pub file: PathBuf,
    /// What is wrong in it, in the order of the file; at least one thing.
    pub mistakes: Vec<ServersMistake>,
}

/// One thing that is wrong with a servers file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServersMistake {
    /// Where in the file.
    pub position: Option<Position>,
    /// What is wrong there.
    pub fault: ServersFault,
}

/// A place in a file, as editors read it.
pub(super) struct ServersFilePlace<'a> {
    pub(super) file: &'a Path,
    pub(super) position: Option<Position>,
}

impl fmt::Display for ServersFilePlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        match self.position {
            Some(Position { line, column }) => write!(f, ":{line}:{column}"),
            None => Ok(()),
        }
    }
}

/// One sentence for each mistake, with its place, in one line.
impl fmt::Display for ServersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, mistake) in self.mistakes.iter().enumerate() {
            let between = if number == 0 { "" } else { "; " };
            write!(f, "{between}{}", self.sentence(mistake))?;
        }
        Ok(())
    }
}

impl std::error::Error for ServersError {}

impl ServersError {
    /// One mistake.
    pub(super) fn of(file: &Path, position: Option<Position>, fault: ServersFault) -> Self {
        Self { file: file.to_owned(), mistakes: vec![ServersMistake { position, fault }] }
    }

    /// All mistakes, in the order of the file.
    pub(super) fn all(file: &Path, mut mistakes: Vec<ServersMistake>) -> Self {
        mistakes.sort_by_key(|mistake| mistake.position.map(|at| (at.line, at.column)));
        Self { file: file.to_owned(), mistakes }
    }

    /// A mistake with its place.
    pub fn sentence(&self, mistake: &ServersMistake) -> String {
        format!("{}: {}", ServersFilePlace { file: &self.file, position: mistake.position }, mistake.fault)
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let mut hints: Vec<String> = Vec::new();
        for hint in self.mistakes.iter().filter_map(|mistake| mistake.fault.hint()) {
            if hints.len() < MOST_HINTS && !hints.contains(&hint) {
                hints.push(hint);
            }
        }
        (!hints.is_empty()).then(|| hints.join("; "))
    }
}

/// Every word for a fault, with what it means.
#[cfg(feature = "internals")]
pub const SERVERS_FAULTS: [(&str, &str); 19] = [
    ("unreadable", "The servers file can't be read."),
    ("not-json", "It is not JSON."),
    ("no-servers", "It has no object mcpServers."),
    ("not-an-object", "mcpServers is something else than an object."),
    ("repeated-alias", "An alias stands twice."),
    ("repeated-key", "A key stands twice."),
    ("bad-alias", "An alias is empty or too long, or has a colon, blanks around it or control characters in it."),
    ("not-an-entry", "A server is something else than an object."),
    ("no-transport", "A server has neither command nor url."),
    ("two-transports", "A server has both command and url."),
    ("type-without-key", "A server's type asks for a key that is not there: command for stdio, url for http."),
    ("old-transport", "A server is of type sse, which is no longer spoken."),
    ("wrong-kind", "A value is of the wrong kind, such as a number where a text is due."),
    ("bad-value", "A value breaks a rule of its key, such as a time that is too long."),
    ("unset-variable", "A server needs a variable that is not set."),
    ("unusable-variable", "A server needs a variable whose value is not Unicode text; otherwise as unset-variable."),
    ("bad-variable", "There is ${…} without the name of a variable in it."),
    (
        "bad-url",
        "An address has no scheme, another one than http and https, no host, a port that is none, or a fragment.",
    ),
    ("bad-pattern", "A pattern in allow can be the name of no tool."),
];

/// What can be wrong with a servers file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServersFault {
    /// The file can't be read.
    #[error("the servers file cannot be read: {why}")]
    Unreadable {
        /// What the system says.
        why: String,
    },
    /// It is not JSON.
    #[error("the servers file is not JSON: {why}")]
    Syntax {
        /// What the parser says.
        why: String,
    },
    /// It lists no servers.
    #[error("the servers file has no object mcpServers in it")]
    NoServers {
        /// The key most like it.
        nearest: Option<String>,
    },
    /// `mcpServers` is something else.
    #[error("mcpServers is not an object of servers by their alias")]
    NotAnObject,
    /// An alias that stands twice: most programs would take the last, silently.
    #[error("the alias {} stands twice", quoted(alias))]
    RepeatedAlias {
        /// The alias.
        alias: String,
    },
    /// A key that stands twice.
    #[error("the key {} stands twice", quoted(key))]
    RepeatedKey {
        /// The key.
        key: String,
    },
    /// A text that can't be an alias.
    #[error("the alias {} {why}", quoted(alias))]
    BadAlias {
        /// The text.
        alias: String,
        /// The rule it breaks.
        why: &'static str,
    },
    /// An entry that is no object.
    #[error("the server {} is not an object", quoted(alias))]
    NotAnEntry {
        /// The server.
        alias: String,
    },
    /// Neither a program nor an address.
    #[error("the server {} has neither command nor url{}", quoted(alias), misspelt(meant.as_ref()))]
    NoTransport {
        /// The server.
        alias: String,
        /// A key that is spelt much like one of the two, and which.
        meant: Option<(String, &'static str)>,
    },
    /// Both a program and an address.
    #[error("the server {} has both command and url", quoted(alias))]
    BothTransports {
        /// The server.
        alias: String,
    },
    /// A `type` that asks for a key that is not there.
    #[error("the server {} is of type {kind} and has no {key}", quoted(alias))]
    TypeWithout {
        /// The server.
        alias: String,
        /// Its type.
        kind: &'static str,
        /// What that needs.
        key: &'static str,
    },
    /// The transport of 2024, which is no longer part of the protocol.
    #[error("the server {} is of type sse, the transport of 2024 that is not spoken here", quoted(alias))]
    Sse {
        /// The server.
        alias: String,
    },
    /// A value of the wrong kind.
    #[error("{key} of the server {} is {is}, but {due} is due", quoted(alias))]
    WrongKind {
        /// The server.
        alias: String,
        /// The key.
        key: String,
        /// What it is.
        is: &'static str,
        /// What it should be.
        due: &'static str,
    },
    /// A value that breaks a rule.
    #[error("{key} of the server {} {why}", quoted(alias))]
    BadValue {
        /// The server.
        alias: String,
        /// The key.
        key: String,
        /// The rule it breaks.
        why: String,
        /// What to write instead.
        write: Option<String>,
    },
    /// A variable that is not set.
    #[error("{key} of the server {} needs {variable}, which is not set in the environment", quoted(alias))]
    Unset {
        /// The server.
        alias: String,
        /// The key.
        key: String,
        /// The variable's name.
        variable: String,
    },
    /// A variable whose value is not Unicode.
    #[error("{key} of the server {} needs {variable}, whose value is not Unicode text", quoted(alias))]
    NotUnicode {
        /// The server.
        alias: String,
        /// The key.
        key: String,
        /// The variable's name.
        variable: String,
    },
    /// `${…}` around something that is no name of a variable.
    #[error("{key} of the server {} has ${{…}} in it without the name of a variable", quoted(alias))]
    NoVariable {
        /// The server.
        alias: String,
        /// The key.
        key: String,
    },
    /// An address that is none.
    #[error("url of the server {} is not an address: {why}", quoted(alias))]
    BadUrl {
        /// The server.
        alias: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A pattern that can't name a tool.
    #[error("allow of the server {} holds {}, which {why}", quoted(alias), quoted(pattern))]
    BadPattern {
        /// The server.
        alias: String,
        /// The pattern.
        pattern: String,
        /// The rule it breaks.
        why: &'static str,
    },
}

/// A key that may be meant for another.
fn misspelt(meant: Option<&(String, &'static str)>) -> String {
    meant.map_or_else(String::new, |(key, meant)| format!(", but {}: did you mean {meant}?", quoted(key)))
}

impl ServersFault {
    /// What it is, in one word for programs: one of [`SERVERS_FAULTS`].
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "unreadable",
            Self::Syntax { .. } => "not-json",
            Self::NoServers { .. } => "no-servers",
            Self::NotAnObject => "not-an-object",
            Self::RepeatedAlias { .. } => "repeated-alias",
            Self::RepeatedKey { .. } => "repeated-key",
            Self::BadAlias { .. } => "bad-alias",
            Self::NotAnEntry { .. } => "not-an-entry",
            Self::NoTransport { .. } => "no-transport",
            Self::BothTransports { .. } => "two-transports",
            Self::TypeWithout { .. } => "type-without-key",
            Self::Sse { .. } => "old-transport",
            Self::WrongKind { .. } => "wrong-kind",
            Self::BadValue { .. } => "bad-value",
            Self::Unset { .. } => "unset-variable",
            Self::NotUnicode { .. } => "unusable-variable",
            Self::NoVariable { .. } => "bad-variable",
            Self::BadUrl { .. } => "bad-url",
            Self::BadPattern { .. } => "bad-pattern",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unreadable { .. } => {
                Some(
                    "name a file that is there with --servers; without it, flowy.servers.json beside your flowy.toml is read where \
                     there is one"
                        .to_owned(),
                )
            }
            Self::NoServers { nearest: Some(nearest) } if nearest != "mcpServers" => {
                Some(format!("call {} mcpServers", quoted(nearest)))
            }
            Self::NoServers { .. } => Some(
                "write {\"mcpServers\": {\"alias\": {\"command\": \"…\"}}}; {\"mcpServers\": {}} for none".to_owned(),
            ),
            Self::NoTransport { .. } => {
                Some("give it a command (a program on this machine) or a url (http:// or https://)".to_owned())
            }
            Self::BothTransports { .. } => Some("keep one of the two".to_owned()),
            Self::RepeatedAlias { .. } => Some("give one of the two another alias".to_owned()),
            Self::BadAlias { .. } => Some("use letters, digits, - and _".to_owned()),
            Self::Sse { .. } => {
                Some("give the address of the server's streamable HTTP (often /mcp), and the type http".to_owned())
            }
            Self::BadValue { write: Some(write), .. } => Some(format!("write {write}")),
            Self::Unset { variable, .. } => Some(format!(
                "set {variable} where flowy is started (an MCP client passes on what `env` of its entry for flowy says), or write \
                 ${{{variable}:-default}}"
            )),
            Self::NoVariable { .. } => Some("write ${NAME} or ${NAME:-default}".to_owned()),
            Self::BadUrl { .. } => Some("write https://host/path, or http://127.0.0.1:8000/mcp".to_owned()),
            Self::BadPattern { .. } => {
                Some("write the name of a tool, with * for any characters and ? for one, or readOnly".to_owned())
            }
            _ => None,
        }
    }
}
