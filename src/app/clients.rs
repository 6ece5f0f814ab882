//! Putting this program into a client's configuration: Claude Desktop's and Claude Code's; for any
//! other client, the entry that most of them understand.
//!
//! A client starts the program in another folder and with another environment, so what was set here
//! is written out as absolute paths and flags; the token is not, because such files get copied,
//! synchronised and committed. Claude Code's file is a team's: it gets no path of this machine.

mod merging;
mod placing;

use std::io;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde_json::json;

use self::merging::{ClientEntry, MARK, Merged, merged};
use self::placing::Placed;
use crate::config::{Audience, CONFIG_FILE, Environment, Folders, Platform, ServersFile, ServersPlace, Settings};
use crate::names::quoted;

pub use self::merging::MergeError;

/// The name under which the program stands in a client's list of servers, unless another is given.
pub const SERVER: &str = "flowy";

/// A program that can start this one as an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// The desktop application; one file for each user.
    ClaudeDesktop,
    /// The command line tool; `.mcp.json` in the project's folder.
    ClaudeCode,
    /// Any other, whose file is not known.
    Other,
}

impl Client {
    /// The clients whose file is known, by what is typed.
    pub const KNOWN: [(Self, &'static str); 2] =
        [(Self::ClaudeDesktop, "claude-desktop"), (Self::ClaudeCode, "claude-code")];

    /// The client of this name.
    pub fn named(word: &str) -> Self {
        Self::KNOWN
            .iter()
            .find(|(_, known)| known.eq_ignore_ascii_case(word))
            .map_or(Self::Other, |(client, _)| *client)
    }

    /// Who reads its file.
    const fn audience(self) -> Audience {
        match self {
            Self::ClaudeDesktop | Self::Other => Audience::User,
            Self::ClaudeCode => Audience::Team,
        }
    }

    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Other => "the client",
        }
    }

    /// The file it reads its servers from; none where that is not known.
    ///
    /// Sources: "Connect to local MCP servers" in the MCP documentation, and Claude Code's
    /// documentation of project scope. The build from Windows' store has its own roaming folder.
    ///
    /// # Errors
    /// `NoUserFolder` when the file would be in a user's folder and there is none.
    pub fn file(self, environment: &Environment) -> Result<Option<PathBuf>, ClientError> {
        const FILE: &str = "claude_desktop_config.json";
        const STORE: &str = "Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude";
        match self {
            Self::Other => Ok(None),
            Self::ClaudeCode => Ok(Some(environment.current_folder().join(".mcp.json"))),
            Self::ClaudeDesktop => {
                let usual = environment.programs_folder().map(|folder| folder.join("Claude"));
                let store = environment.packages_folder().map(|folder| folder.join(STORE));
                let there = |folder: &Option<PathBuf>| folder.as_ref().is_some_and(|folder| folder.is_dir());
                let folder = if there(&store) && !there(&usual) { store } else { usual };
                match folder {
                    Some(folder) => Ok(Some(folder.join(FILE))),
                    None => Err(ClientError::NoUserFolder { client: self.name() }),
                }
            }
        }
    }
}

/// What is asked for: the client, and what it is to start.
#[derive(Debug, Clone, Copy)]
pub struct ClientRequest<'a> {
    /// Whose configuration.
    pub client: Client,
    /// The name under which the entry stands.
    pub server: &'a str,
    /// Whether an entry of that name may be overwritten although something of it would be lost.
    pub replace: bool,
    /// This program, by its absolute path.
    pub program: &'a Path,
    /// The settings in force, which the client's program is to have too.
    pub settings: &'a Settings,
    /// Where the user's and the current folder are.
    pub environment: &'a Environment,
}

/// What was done to the client's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Nothing: the entry was only asked for.
    Shown,
    /// It was not there and is now.
    Created,
    /// The entry was put into it.
    Merged {
        /// The file as it was before; none for a file that a team shares, whose history has it.
        backup: Option<PathBuf>,
    },
    /// The entry was already there; nothing was written.
    Unchanged,
}

/// What to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSetup {
    /// Whose configuration.
    pub client: Client,
    /// The client's file, where that is known.
    pub file: Option<PathBuf>,
    /// The entry as it stands in an otherwise empty file: JSON, indented by two blanks.
    pub snippet: String,
    /// What was done.
    pub change: Change,
    /// What to do next, a sentence each, in this order.
    pub next: Vec<String>,
}

/// Why a client's configuration was left as it was.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The user has no folder that the client's file could be in.
    #[error("there is no user's folder to look for {client}'s configuration in")]
    NoUserFolder {
        /// Which client.
        client: &'static str,
    },
    /// A client starts programs in a folder of its own choice.
    #[error("the program's path {} is not absolute", path.display())]
    NotAbsolute {
        /// The path.
        path: PathBuf,
    },
    /// Clients drop every tool of a server whose name they don't like.
    #[error("a server can't be called {shown}")]
    BadName {
        /// The name, made safe to show.
        shown: String,
    },
    /// Nobody knows where that client keeps its settings.
    #[error("the file in which this client keeps its servers is not known")]
    UnknownFile,
    /// A team's file can't name a folder of one machine.
    #[error("the folder {} is not inside this project, so a file that a team shares can't name it", folder.display())]
    OutsideProject {
        /// The folder.
        folder: PathBuf,
    },
    /// JSON is Unicode.
    #[error("the path {} is not Unicode text, so a JSON file cannot hold it", path.display())]
    NotUnicode {
        /// The path.
        path: PathBuf,
    },
    /// The source is spelt as a folder and is none.
    #[error("there is no folder {shown} to serve flows from")]
    NoSuchFolder {
        /// The source, made safe to show.
        shown: String,
    },
    /// The client's file could not be read or written.
    #[error("{} could not be {verb}: {}", file.display(), crate::config::system_says(cause))]
    File {
        /// Which file.
        file: PathBuf,
        /// `read` or `written`.
        verb: &'static str,
        /// What the system says.
        cause: io::Error,
    },
    /// The client's file is not what the client itself would accept.
    #[error("{}{fault}", file.display())]
    Content {
        /// Which file.
        file: PathBuf,
        /// What is wrong, with its place.
        fault: MergeError,
    },
}

impl ClientError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Content { fault: MergeError::Another { .. }, .. } => {
                Some("the file was left alone; --name NAME adds a second entry beside it, --replace overwrites it")
            }
            Self::Content { .. } => Some("the file was left alone; fix it, or add the entry by hand"),
            Self::BadName { .. } => Some("use 1 to 64 letters, digits, _ and -"),
            Self::UnknownFile => Some("leave --write out, and put the entry into the client's settings by hand"),
            Self::OutsideProject { .. } => Some(
                "name a repository (owner/repo) or a folder inside the project; for yourself alone, `claude mcp add --scope \
                 local NAME -- flowy serve --source FOLDER` keeps the path out of the project",
            ),
            Self::NoUserFolder { .. } => Some("set HOME (on Windows: APPDATA)"),
            Self::NoSuchFolder { .. } => Some("name a folder that is there, or owner/repo"),
            Self::NotAbsolute { .. } | Self::NotUnicode { .. } | Self::File { .. } => None,
        }
    }
}

/// The entry for a client and where it belongs; writes nothing.
///
/// # Errors
/// When there is no such place, or the entry would not work from there.
pub fn show_entry(request: ClientRequest<'_>) -> Result<ClientSetup, ClientError> {
    let file = request.client.file(request.environment)?;
    let (command, arguments) = entry(request)?;
    let whole = json!({ "mcpServers": { request.server: { "command": command, "args": arguments } } });
    let next = vec![match &file {
        Some(file) => format!("Put this into {}, or let flowy do it with --write.", file.display()),
        None => {
            "Put this where the client keeps its MCP servers. Most clients read this form; some call the outer key \
                 `servers`, or ask for command and arguments one by one."
                .to_owned()
        }
    }];
    Ok(ClientSetup {
        client: request.client,
        file,
        snippet: format!("{whole:#}"),
        change: Change::Shown,
        next: next.into_iter().chain(notes(request)).collect(),
    })
}

/// Puts the entry into the client's file and keeps everything else in it; `now` names the backup.
///
/// A second time it changes nothing. What an existing entry has besides `command` and `args`
/// (an `env`, say) stays.
///
/// # Errors
/// As [`show_entry`]; and when the file cannot be read or written, or is not valid JSON, in which
/// case it is left as it was.
pub fn write_entry(request: ClientRequest<'_>, now: DateTime<Utc>) -> Result<ClientSetup, ClientError> {
    let shown = show_entry(request)?;
    let Some(file) = shown.file.clone() else { return Err(ClientError::UnknownFile) };
    let (command, arguments) = entry(request)?;
    let failed = |verb| {
        let file = file.clone();
        move |cause| ClientError::File { file, verb, cause }
    };
    let place = Placed::at(&file).map_err(failed("read"))?;
    let old = place.text().map_err(failed("read"))?;
    let marked = old.as_ref().is_some_and(|text| text.starts_with(MARK));
    let entry = ClientEntry { server: request.server, command: &command, arguments: &arguments };
    let change = match merged(old.as_deref().unwrap_or_default(), &entry, request.replace) {
        Err(fault) => return Err(ClientError::Content { file, fault }),
        Ok(Merged::Same) => Change::Unchanged,
        Ok(Merged::Changed(text)) => {
            let was_there = place.is_there();
            let keep = request.client.audience() == Audience::User;
            let backup = place.replace(&text, keep, now).map_err(failed("written"))?;
            if was_there { Change::Merged { backup } } else { Change::Created }
        }
    };
    let first = match (&change, request.client) {
        (Change::Unchanged, _) | (_, Client::Other) => None,
        (_, Client::ClaudeDesktop) => Some(
            "Quit Claude Desktop completely and start it again: it reads this file only when it starts.".to_owned(),
        ),
        (_, Client::ClaudeCode) => Some(format!(
            "Start Claude Code in {} and approve the server {} when it asks; /mcp shows whether it runs. Everybody who \
             opens this folder needs flowy on their PATH.",
            request.environment.current_folder().display(),
            request.server
        )),
    };
    let unmarked = marked
        .then(|| "The file began with a byte-order mark, which the client can't read; it was taken out.".to_owned());
    let next = unmarked.into_iter().chain(first).chain(notes(request)).collect();
    Ok(ClientSetup { change, next, ..shown })
}

/// The command and its arguments.
fn entry(request: ClientRequest<'_>) -> Result<(String, Vec<String>), ClientError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !(1..=64).contains(&request.server.len()) || !request.server.chars().all(plain) {
        return Err(ClientError::BadName { shown: quoted(request.server) });
    }
    let audience = request.client.audience();
    let command = match audience {
        Audience::Team => SERVER.to_owned(),
        Audience::User if !request.program.is_absolute() => {
            return Err(ClientError::NotAbsolute { path: request.program.to_owned() });
        }
        Audience::User => unicode(request.program)?,
    };
    let mut arguments = vec!["serve".to_owned()];
    if let Some(source) = source(request)? {
        arguments.extend(["--source".to_owned(), source.argument]);
    }
    arguments.extend(request.settings.passed_on(request.environment, audience).arguments);
    Ok((command, arguments))
}

/// A folder as the client's file names it: from the project's folder in a team's file, in which
/// Claude Code starts the program.
fn named(request: ClientRequest<'_>, folder: &Path) -> Result<String, ClientError> {
    if request.client.audience() == Audience::User {
        return unicode(folder);
    }
    match folder.strip_prefix(request.environment.current_folder()) {
        Ok(inside) if inside.as_os_str().is_empty() => Ok(".".to_owned()),
        Ok(inside) => Ok(format!("./{}", unicode(inside)?.replace('\\', "/"))),
        Err(_) => Err(ClientError::OutsideProject { folder: folder.to_owned() }),
    }
}

fn unicode(path: &Path) -> Result<String, ClientError> {
    path.to_str().map(str::to_owned).ok_or_else(|| ClientError::NotUnicode { path: path.to_owned() })
}

/// The source as it must be written for a program that starts elsewhere.
struct EntrySource {
    argument: String,
    /// A folder or the examples: no token is ever asked for.
    is_local: bool,
}

fn source(request: ClientRequest<'_>) -> Result<Option<EntrySource>, ClientError> {
    let here = request.environment.current_folder();
    let Some(given) = request.settings.source.as_deref() else {
        // What `serve` would have taken here, it would not find there.
        let folder = super::has_flows(here).then(|| named(request, here)).transpose()?;
        return Ok(folder.map(|argument| EntrySource { argument, is_local: true }));
    };
    if given.contains("://") || given.starts_with("git@") {
        return Ok(Some(EntrySource { argument: given.to_owned(), is_local: false }));
    }
    if super::names_examples(given, here) {
        return Ok(Some(EntrySource { argument: given.to_owned(), is_local: true }));
    }
    let folder = request.environment.resolved(given, here);
    if folder.is_dir() {
        return Ok(Some(EntrySource { argument: named(request, &folder)?, is_local: true }));
    }
    if given.starts_with(['.', '/', '~', '\\']) || Path::new(given).is_absolute() {
        return Err(ClientError::NoSuchFolder { shown: quoted(given) });
    }
    Ok(Some(EntrySource { argument: given.to_owned(), is_local: false }))
}

/// What the entry leaves to the user.
fn notes(request: ClientRequest<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let own_file = Folders::of(request.environment).config.map_or_else(
        || format!("the {CONFIG_FILE} named by --config"),
        |folder| folder.join(CONFIG_FILE).display().to_string(),
    );
    match source(request) {
        Ok(None) => notes.push(
            "No catalog was named, so the built-in examples will be served; name yours with --source owner/repo."
                .to_owned(),
        ),
        Ok(Some(EntrySource { is_local: false, .. })) => notes.push(format!(
            "A public repository needs no token. For a private one, put the line token = \"…\" into {own_file}{}; it is \
             not written into the client's file.",
            if request.environment.platform() == Platform::Windows { "" } else { ", readable by you alone (chmod 600)" }
        )),
        Ok(Some(EntrySource { is_local: true, .. })) | Err(_) => {}
    }
    if let Some(place) = ServersPlace::of(request.settings, request.environment) {
        let needs: Vec<String> = ServersFile::needs(&place.path).into_iter().collect();
        if !needs.is_empty() {
            notes.push(format!(
                "The servers file {} needs {}. {} starts flowy with few variables, so name them with their values in `env` of \
                 this entry; what stands there stays when flowy writes the entry again.",
                place.path.display(),
                needs.join(", "),
                request.client.name()
            ));
        }
    }
    let left = request.settings.passed_on(request.environment, request.client.audience()).left;
    if !left.is_empty() {
        notes.push(format!("The entry can't hold these settings; put them into {own_file}: {}.", left.join(", ")));
    }
    notes
}

#[cfg(test)]
mod tests;
