//! External tools: how a flow names one, what is known of those that the operator configured, and
//! what a call gives back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::model::Contract;
use crate::names::nearest;

/// The longest pause between two tries of a call.
pub const LONGEST_BACKOFF: Duration = Duration::from_mins(1);
/// The most new tries of one call.
pub const MOST_RETRIES: u32 = 10;

/// An external tool as a flow names it: `alias:tool`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolAddress {
    /// The server's name in the operator's file.
    pub server: String,
    /// The tool's name there.
    pub tool: String,
}

/// A text that names no tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoAddress(pub &'static str);

impl ToolAddress {
    /// Reads `alias:tool`.
    ///
    /// # Errors
    /// When there is not exactly one colon, or nothing on one side of it.
    pub fn read(text: &str) -> Result<Self, NoAddress> {
        let mut parts = text.split(':');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(server), Some(tool), None) if !server.trim().is_empty() && !tool.trim().is_empty() => {
                Ok(Self { server: server.trim().to_owned(), tool: tool.trim().to_owned() })
            }
            (_, None, _) => Err(NoAddress("a call is alias:tool, and this has no colon")),
            (_, _, Some(_)) => Err(NoAddress("a call is alias:tool, and this has more than one colon")),
            _ => Err(NoAddress("a call is alias:tool, and one of the two is empty")),
        }
    }
}

impl std::fmt::Display for ToolAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.server, self.tool)
    }
}

/// One tool of a server, as the server lists it.
#[derive(Debug)]
pub struct KnownTool {
    /// Its name.
    pub name: String,
    /// What it is for, as the server says; untrusted text.
    pub description: Option<String>,
    /// The JSON Schema of its arguments, compiled when first asked for.
    pub input: Contract,
    /// Whether the operator allows flows to call it.
    pub allowed: bool,
    /// Annotated as changing nothing.
    pub read_only: bool,
    /// Annotated as safe to repeat.
    pub idempotent: bool,
}

/// How a server stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ServerStanding {
    /// Nobody asked it yet; what is known of it may come from an earlier process.
    #[default]
    Idle,
    /// It answers.
    Ready,
    /// It could not be reached, and why.
    Unavailable(String),
    /// The operator switched it off.
    Disabled,
}

/// What is known of one server.
#[derive(Debug, Clone, Default)]
pub struct KnownServer {
    /// How it stands.
    pub standing: ServerStanding,
    /// Its tools by name; none while its list was never read.
    pub tools: Option<BTreeMap<String, Arc<KnownTool>>>,
    /// Whether the operator allows only tools that are annotated as changing nothing.
    pub reads_only: bool,
    /// Whether the operator lets tools that change things have what models wrote.
    pub from_models: bool,
}

/// What is known of all external tools. The default knows of no server.
#[derive(Debug, Clone, Default)]
pub struct Toolbox {
    /// Servers by their name in the operator's file.
    pub servers: BTreeMap<String, KnownServer>,
    /// Changes whenever what is known of any tool does; how servers stand is not part of it.
    pub revision: u64,
    /// Why nothing is known of any server, where the operator's file can't be understood.
    pub unreadable: Option<String>,
}

/// What became of looking a tool up.
#[derive(Debug, Clone)]
pub enum ToolLookup<'a> {
    /// It is there, and allowed.
    Found(&'a Arc<KnownTool>),
    /// It is there, and the operator does not allow it.
    NotAllowed,
    /// The operator configured no server of that name; the nearest names there are.
    NoServer {
        /// The nearest names of servers.
        nearest: Vec<String>,
    },
    /// The server has no tool of that name; the nearest names that it has.
    NoTool {
        /// The nearest names of tools.
        nearest: Vec<String>,
    },
    /// The server is there, and its tools are not known yet.
    NotKnown,
    /// The operator switched the server off.
    Disabled,
}

impl Toolbox {
    /// One in which every server is there and none was asked, so that no call is looked up.
    pub fn unasked() -> Self {
        Self { unreadable: Some("nobody is asked".to_owned()), ..Self::default() }
    }

    /// Looks a tool up.
    pub fn find(&self, address: &ToolAddress) -> ToolLookup<'_> {
        let near = |names: Vec<&str>, name: &str| nearest(name, names, 3).into_iter().map(str::to_owned).collect();
        let Some(server) = self.servers.get(&address.server) else {
            if self.unreadable.is_some() {
                return ToolLookup::NotKnown;
            }
            return ToolLookup::NoServer {
                nearest: near(self.servers.keys().map(String::as_str).collect(), &address.server),
            };
        };
        if server.standing == ServerStanding::Disabled {
            return ToolLookup::Disabled;
        }
        let Some(tools) = &server.tools else { return ToolLookup::NotKnown };
        match tools.get(&address.tool) {
            Some(tool) if tool.allowed => ToolLookup::Found(tool),
            Some(_) => ToolLookup::NotAllowed,
            None => ToolLookup::NoTool { nearest: near(tools.keys().map(String::as_str).collect(), &address.tool) },
        }
    }

    /// Whether a server's tools may have what models wrote, also where they change things.
    pub fn takes_from_models(&self, address: &ToolAddress) -> bool {
        self.servers.get(&address.server).is_some_and(|server| server.from_models)
    }

    /// Whether any tool that may be called may also change things.
    pub fn may_change_things(&self) -> bool {
        self.servers.values().any(|server| server.standing != ServerStanding::Disabled && !server.reads_only)
    }

    /// Why a server can't be used now, where that is known.
    pub fn trouble(&self, server: &str) -> Option<&str> {
        let Some(server) = self.servers.get(server) else { return self.unreadable.as_deref() };
        match &server.standing {
            ServerStanding::Unavailable(why) => Some(why),
            ServerStanding::Disabled => Some("the operator switched it off"),
            ServerStanding::Idle | ServerStanding::Ready => None,
        }
    }
}

/// A file that a tool gave: an image, a sound, a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFile {
    /// Its media type, such as `image/png`.
    pub media_type: String,
    /// What the tool calls it.
    pub name: Option<String>,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
}

/// Something that a tool points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolLink {
    /// Where; never fetched here.
    pub uri: String,
    /// What the tool calls it.
    pub name: Option<String>,
    /// Its media type, where it is said.
    pub media_type: Option<String>,
}

/// What a tool answered, in one shape whatever blocks it came in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolAnswer {
    /// Its texts, joined with line breaks.
    pub text: Option<String>,
    /// Its images, sounds and embedded documents.
    pub files: Vec<ToolFile>,
    /// The text read as JSON, where the whole text is an object or a list.
    pub json: Option<Value>,
    /// What the tool gave as structured content.
    pub structured: Option<Value>,
    /// What it points to.
    pub links: Vec<ToolLink>,
    /// Whether the tool itself calls this an error.
    pub is_error: bool,
    /// What else it gave and can't be handed on, each in words.
    pub left_out: Vec<String>,
}

/// A call of an external tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The id of the step that calls it.
    pub step: String,
    /// Which.
    pub address: ToolAddress,
    /// With which arguments.
    pub arguments: Map<String, Value>,
    /// The longest it may take; none for what the operator set.
    pub timeout: Option<Duration>,
    /// Whether the arguments hold what one of the operator's models wrote.
    pub generated: bool,
    /// Whether a person wants it to be made now: a server that could not be reached is tried at once.
    pub insist: bool,
}
