//! The servers file: which external MCP servers flows may call, as the operator wrote it down.
//!
//! It has the shape that other MCP clients use (`mcpServers`), with keys of our own for what flows
//! may call and how long that may take. It is the operator's and never comes from a catalog: it
//! holds commands. How a server is started or spoken to is not known here.
//!
//! | file | what is in it |
//! |---|---|
//! | `entry` | one server, key by key |
//! | `values` | one value, by its kind |
//! | `expand` | `${VAR}` and `${VAR:-default}` |
//! | `needs` | which variables an entry can't do without |
//! | `allow` | which tools may be called |
//! | `error` | what is wrong with the file, never showing a value |

mod allow;
mod entry;
mod error;
mod expand;
mod needs;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use serde_json::Value;

pub use self::allow::{Allow, Pattern, READ_ONLY, fits};
#[cfg(feature = "internals")]
pub use self::error::SERVERS_FAULTS;
pub use self::error::{ServersError, ServersFault, ServersMistake};

use super::Settings;
use super::environment::Environment;
use super::error::system_says;
use super::folders::Folders;
use super::secret::Secret;
use crate::document::{Document, Locator, Part, Place, Pointer};
use crate::files::read_named;
use crate::names::{CatalogPath, NameError, nearest, unprintable};

/// The name of the servers file.
pub const SERVERS_FILE: &str = "flowy.servers.json";

/// Where the servers file is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServersPlace {
    /// The file.
    pub path: PathBuf,
    /// Whether somebody named it; one that nobody named need not be there.
    pub named: bool,
}

impl ServersPlace {
    /// Where the settings say, else beside the user's own settings; `None` without a user's folder.
    pub fn of(settings: &Settings, environment: &Environment) -> Option<Self> {
        match &settings.servers {
            Some(path) => Some(Self { path: path.clone(), named: true }),
            None => {
                Folders::of(environment).config.map(|folder| Self { path: folder.join(SERVERS_FILE), named: false })
            }
        }
    }
}

/// The external servers that are configured.
#[derive(Debug, Clone, Default)]
pub struct ServersFile {
    /// By alias, the name that flows call them by.
    pub servers: BTreeMap<String, ServerSpec>,
    /// Servers whose entries can't be understood, by alias: nobody is connected to them.
    pub broken: BTreeMap<String, BrokenEntry>,
    /// Why nothing is known of any server, where nobody named the file and it can't be understood.
    pub unreadable: Option<ServersError>,
    /// What is doubtful in the file and keeps nothing from being used, each with its place.
    pub notices: Vec<ServersNotice>,
}

/// An entry that can't be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenEntry {
    /// What is wrong with it.
    pub why: ServersError,
    /// Whether the operator switched it off, so that nobody misses it.
    pub disabled: bool,
    /// The kind that it seems to be, as a servers file spells it in `type`.
    pub transport: &'static str,
}

/// Something doubtful about one server of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServersNotice {
    /// The server.
    pub alias: String,
    /// The fact, with its place before it.
    pub told: String,
}

/// One server: how to reach it, and what flows may do with it.
#[derive(Clone)]
pub struct ServerSpec {
    /// How to reach it.
    pub transport: Transport,
    /// Which of its tools flows may call.
    pub allow: Allow,
    /// Where that stands, as `file:line:column`; none where no names of tools are allowed.
    pub allow_at: Option<String>,
    /// The longest that one call may take (30 s).
    pub timeout: Duration,
    /// The longest that connecting and reading its list may take (10 s).
    pub connect_timeout: Duration,
    /// After how long without a call it is stopped (5 min).
    pub idle_stop: Duration,
    /// The largest answer, in bytes as they arrive (4 MiB).
    pub max_result_bytes: usize,
    /// Whether tools that change things may be handed what a model of the operator wrote (false).
    pub from_models: bool,
    /// How many calls it gets at once (4).
    pub max_parallel: usize,
    /// Whether the operator switched it off.
    pub disabled: bool,
    /// The variables it needs that the environment does not have: it is never connected to.
    pub unset: Option<ServersError>,
    /// How the connection begins.
    pub era: Era,
    /// What tells it from others and holds no secret: a program with its arguments, or an address,
    /// with variables as they are written, not as they are filled in.
    pub identity: String,
    /// What must not appear in any message about it.
    pub secrets: Vec<Secret>,
}

/// How a server is reached.
#[derive(Clone)]
pub enum Transport {
    /// A program, spoken to over its standard input and output.
    Stdio(Program),
    /// An address, spoken to over streamable HTTP.
    Http(Endpoint),
}

impl Transport {
    /// The kind in one word, as a servers file spells it in `type`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(_) => "http",
        }
    }
}

/// A program that is a server.
#[derive(Clone, PartialEq, Eq)]
pub struct Program {
    /// A name that is looked up in `PATH`, or an absolute path.
    pub command: OsString,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment: what every child gets, and what the entry adds.
    pub env: BTreeMap<OsString, OsString>,
    /// The folder it is started in.
    pub cwd: PathBuf,
}

/// An address that is a server.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The whole address; it may hold a secret.
    pub url: String,
    /// Headers of every request.
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

/// How a connection begins: by which generation of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// With `initialize`, as up to 2025-11-25.
    Initialize,
    /// With `server/discover`, as from 2026-07-28 on.
    Discover,
    /// By asking, and going back to `initialize` where that is not understood.
    Auto,
}

/// The program's name and what surrounds it; arguments and values may be secret.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("command", &self.command)
            .field("args", &format_args!("{} left out", self.args.len()))
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("cwd", &self.cwd)
            .finish()
    }
}

/// Scheme and host alone; the rest may be secret.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("url", &format_args!("{}/…", origin(&self.url)))
            .field("headers", &self.headers.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .finish()
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio(program) => program.fmt(f),
            Self::Http(endpoint) => endpoint.fmt(f),
        }
    }
}

impl fmt::Debug for ServerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerSpec")
            .field("transport", &self.transport)
            .field("allow", &self.allow)
            .field("timeout", &self.timeout)
            .field("disabled", &self.disabled)
            .field("era", &self.era)
            .finish_non_exhaustive()
    }
}

/// Scheme, host and port of an address, without what stands before an `@`.
fn origin(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return String::new() };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}")
}

impl ServersFile {
    /// Reads the file; one that nobody named and that is not there configures nothing. Of one that nobody
    /// named and that can't be understood, that is kept: what calls no tool has nothing to do with it.
    ///
    /// What another client understands and we don't is left aside and noticed.
    ///
    /// # Errors
    /// When a file that somebody named can't be read, is not JSON or has no servers in it.
    pub fn load(place: &ServersPlace, environment: &Environment) -> Result<Self, ServersError> {
        Self::load_named(place, environment).or_else(|error| {
            if place.named { Err(error) } else { Ok(Self { unreadable: Some(error), ..Self::default() }) }
        })
    }

    fn load_named(place: &ServersPlace, environment: &Environment) -> Result<Self, ServersError> {
        match read_named(&place.path, LARGEST) {
            Ok(bytes) => Self::parse(&place.path, &bytes, environment),
            Err(error) if !place.named && error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) if !place.named && error.kind() == std::io::ErrorKind::NotADirectory => Ok(Self::default()),
            Err(error) => {
                let fault = ServersFault::Unreadable { why: system_says(&error) };
                Err(ServersError::of(&place.path, None, fault))
            }
        }
    }

    /// Reads a file's bytes; relative paths in it are relative to the file's folder. What is wrong with
    /// an entry, and a variable that is not set, is the trouble of that one server.
    ///
    /// # Errors
    /// When it is not JSON or has no servers in it.
    pub fn parse(path: &Path, bytes: &[u8], environment: &Environment) -> Result<Self, ServersError> {
        let at = |position, fault| ServersError::of(path, position, fault);
        // Documents have a place in a catalog; this one has none, and its own name does.
        let unnamed = |error: NameError| at(None, ServersFault::Unreadable { why: error.to_string() });
        let document = Document::parse(CatalogPath::new(SERVERS_FILE).map_err(unnamed)?, bytes)
            .map_err(|problem| at(Some(problem.position), ServersFault::Syntax { why: problem.message }))?;
        let locator = Locator::new(&document.text);
        let key = |pointer: &Pointer| {
            let place = Place { pointer: pointer.clone(), part: Part::Key, within: None };
            Some(locator.position(locator.span(&place).start))
        };
        let entries = match document.value.get("mcpServers") {
            Some(Value::Object(entries)) => entries,
            Some(_) => {
                return Err(at(key(&Pointer::root().key("mcpServers")), ServersFault::NotAnObject));
            }
            None => {
                let keys = document.value.as_object().map(|object| object.keys().map(String::as_str).collect());
                let candidates: Vec<&str> = keys.unwrap_or_default();
                let nearest = nearest("mcpServers", candidates, 1).first().map(|&key| key.to_owned());
                return Err(at(None, ServersFault::NoServers { nearest }));
            }
        };
        let mut repeated: BTreeMap<String, Vec<ServersMistake>> = BTreeMap::new();
        for double in &document.duplicates {
            let steps: Vec<String> = double.pointer.steps().collect();
            let position = Some(locator.position(double.again.start));
            let (alias, fault) = match steps.as_slice() {
                [_, alias] => (alias.clone(), ServersFault::RepeatedAlias { alias: alias.clone() }),
                [_, alias, .., key] => (alias.clone(), ServersFault::RepeatedKey { key: key.clone() }),
                [key] => return Err(at(position, ServersFault::RepeatedKey { key: key.clone() })),
                [] => continue,
            };
            repeated.entry(alias).or_default().push(ServersMistake { position, fault });
        }
        let folder = path.parent().unwrap_or(path);
        let mut file = Self::default();
        for (alias, value) in entries {
            let pointer = Pointer::root().key("mcpServers").key(alias);
            let mut mistakes = repeated.remove(alias).unwrap_or_default();
            if let Some(why) = bad_alias(alias) {
                let fault = ServersFault::BadAlias { alias: alias.clone(), why };
                mistakes.push(ServersMistake { position: key(&pointer), fault });
            }
            let entry = |object| entry::ServerEntry { alias, folder, environment, object };
            let of_no_entry = || entry::EntryOutcome::of_no_entry(alias);
            let read = value.as_object().map_or_else(of_no_entry, |object| entry(object).read());
            let placed = |(below, fault): entry::Refused| {
                let below = below.unwrap_or_default();
                let place = Pointer::spelt(&format!("{}{}", pointer.as_str(), below.as_str()));
                ServersMistake { position: key(&place), fault }
            };
            mistakes.extend(read.faults.into_iter().map(placed));
            for (member, told) in read.notices {
                let place = error::ServersFilePlace { file: path, position: key(&pointer.key(&member)) };
                file.notices.push(ServersNotice { alias: alias.clone(), told: format!("{place}: {told}") });
            }
            let unset: Vec<ServersMistake> = read.unset.into_iter().map(placed).collect();
            match read.spec.filter(|_| mistakes.is_empty()) {
                Some(mut spec) => {
                    spec.unset = (!unset.is_empty()).then(|| ServersError { file: path.to_owned(), mistakes: unset });
                    if !spec.allow.patterns.is_empty() {
                        let place = error::ServersFilePlace { file: path, position: key(&pointer.key("allow")) };
                        spec.allow_at = Some(place.to_string());
                    }
                    file.servers.insert(alias.clone(), spec);
                }
                None => file.broken_entry(alias, value, ServersError::all(path, mistakes)),
            }
        }
        Ok(file)
    }

    fn broken_entry(&mut self, alias: &str, value: &Value, why: ServersError) {
        let disabled = value.get("disabled") == Some(&Value::Bool(true));
        if disabled {
            let told = why.to_string();
            self.notices.push(ServersNotice { alias: alias.to_owned(), told });
        }
        let transport = if value.get("url").is_some() { "http" } else { "stdio" };
        self.broken.insert(alias.to_owned(), BrokenEntry { why, disabled, transport });
    }

    /// Why servers that are switched on can't be used, as far as the file and the environment tell,
    /// in the order of the file.
    pub fn troubles(&self) -> Option<ServersError> {
        let unset = self.servers.values().filter_map(|spec| spec.unset.clone());
        let broken = self.broken.values().filter(|entry| !entry.disabled).map(|entry| entry.why.clone());
        let mut all = self.unreadable.iter().cloned().chain(unset).chain(broken);
        let first = all.next()?;
        let mistakes = first.mistakes.into_iter().chain(all.flat_map(|other| other.mistakes)).collect();
        Some(ServersError::all(&first.file, mistakes))
    }

    /// The variables without which servers of a file can't be used, sorted, whether they are set or
    /// not; none of a file that can't be read.
    pub fn needs(path: &Path) -> BTreeSet<String> {
        let document: Value =
            read_named(path, LARGEST).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let entries = document.get("mcpServers").and_then(Value::as_object).into_iter().flatten();
        entries.flat_map(|(_, entry)| needs::needed(entry)).collect()
    }
}

/// The largest file that is read, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;
/// The longest alias, in characters.
const LONGEST_ALIAS: usize = 64;

fn bad_alias(alias: &str) -> Option<&'static str> {
    if alias.trim().is_empty() {
        Some("is empty")
    } else if alias.contains(':') {
        Some("has a colon in it, and a call is alias:tool")
    } else if alias.chars().any(unprintable) {
        Some("has control or bidirectional characters in it")
    } else if alias.trim() != alias {
        Some("begins or ends with a blank")
    } else if alias.chars().count() > LONGEST_ALIAS {
        Some("is longer than 64 characters")
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
