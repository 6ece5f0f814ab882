//! Putting this program into a client's configuration: Claude Desktop's and Claude Code's.
//!
//! The entry holds absolute paths and arguments only. A client starts the program in another
//! folder and with another environment, so what was set here is written out as flags; the token
//! is not, because such files get copied, synchronised and committed.

mod merging;
mod placing;

use std::io;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde_json::json;

use self::merging::{MergeError, Merged, merged};
use self::placing::Placed;
use crate::config::{CONFIG_FILE, Environment, Folders, Platform, ServersFile, ServersPlace, Settings};
use crate::names::quoted;

/// The name under which the program stands in a client's list of servers.
pub const SERVER: &str = "flowy";

/// A program that can start this one as an MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// The desktop application; one file for each user.
    ClaudeDesktop,
    /// The command line tool; `.mcp.json` in the project's folder.
    ClaudeCode,
}

impl Client {
    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
        }
    }

    /// The file it reads its servers from.
    ///
    /// Sources: "Connect to local MCP servers" in the MCP documentation, and Claude Code's
    /// documentation of project scope. The build from Windows' store has its own roaming folder.
    ///
    /// # Errors
    /// `NoUserFolder` when the file would be in a user's folder and there is none.
    pub fn file(self, environment: &Environment) -> Result<PathBuf, ClientError> {
        const FILE: &str = "claude_desktop_config.json";
        const STORE: &str = "Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude";
        match self {
            Self::ClaudeCode => Ok(environment.current_folder().join(".mcp.json")),
            Self::ClaudeDesktop => {
                let usual = environment.programs_folder().map(|folder| folder.join("Claude"));
                let store = environment.packages_folder().map(|folder| folder.join(STORE));
                let there = |folder: &Option<PathBuf>| folder.as_ref().is_some_and(|folder| folder.is_dir());
                let folder = if there(&store) && !there(&usual) { store } else { usual };
                folder.map(|folder| folder.join(FILE)).ok_or(ClientError::NoUserFolder { client: self.name() })
            }
        }
    }
}

/// What is asked for: the client, and what it is to start.
#[derive(Debug, Clone, Copy)]
pub struct ClientRequest<'a> {
    /// Whose configuration.
    pub client: Client,
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
        /// The file as it was before.
        backup: PathBuf,
    },
    /// The entry was already there; nothing was written.
    Unchanged,
}

/// What to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSetup {
    /// Whose configuration.
    pub client: Client,
    /// The client's file.
    pub file: PathBuf,
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
            Self::Content { .. } => Some("the file was left alone; mend it, or add the entry by hand"),
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
    let whole = json!({ "mcpServers": { SERVER: { "command": command, "args": arguments } } });
    let next = vec![format!("Put this into {}, or let flowy do it with --write.", file.display())];
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
    let (command, arguments) = entry(request)?;
    let failed = |verb| {
        let file = shown.file.clone();
        move |cause| ClientError::File { file, verb, cause }
    };
    let place = Placed::at(&shown.file).map_err(failed("read"))?;
    let old = place.text().map_err(failed("read"))?;
    let change = match merged(old.as_deref().unwrap_or_default(), SERVER, &command, &arguments) {
        Err(fault) => return Err(ClientError::Content { file: shown.file, fault }),
        Ok(Merged::Same) => Change::Unchanged,
        Ok(Merged::Changed(text)) => match place.replace(&text, now).map_err(failed("written"))? {
            Some(backup) => Change::Merged { backup },
            None => Change::Created,
        },
    };
    let first = match (&change, request.client) {
        (Change::Unchanged, _) => None,
        (_, Client::ClaudeDesktop) => Some(
            "Quit Claude Desktop completely and start it again: it reads this file only when it starts.".to_owned(),
        ),
        (_, Client::ClaudeCode) => Some(format!(
            "Start Claude Code in {} and approve the server {SERVER} when it asks; /mcp shows whether it runs.",
            request.environment.current_folder().display()
        )),
    };
    let next = first.into_iter().chain(notes(request)).collect();
    Ok(ClientSetup { change, next, ..shown })
}

/// The command and its arguments.
fn entry(request: ClientRequest<'_>) -> Result<(String, Vec<String>), ClientError> {
    if !request.program.is_absolute() {
        return Err(ClientError::NotAbsolute { path: request.program.to_owned() });
    }
    let command = unicode(request.program)?;
    let mut arguments = vec!["serve".to_owned()];
    if let Some(source) = source(request)? {
        arguments.extend(["--source".to_owned(), source.argument]);
    }
    arguments.extend(request.settings.passed_on(request.environment).arguments);
    Ok((command, arguments))
}

fn unicode(path: &Path) -> Result<String, ClientError> {
    path.to_str().map(str::to_owned).ok_or_else(|| ClientError::NotUnicode { path: path.to_owned() })
}

/// The source as it must be written for a program that starts elsewhere.
struct Source {
    argument: String,
    /// A folder or the examples: no token is ever asked for.
    is_local: bool,
}

fn source(request: ClientRequest<'_>) -> Result<Option<Source>, ClientError> {
    let here = request.environment.current_folder();
    let Some(given) = request.settings.source.as_deref() else {
        // What `serve` would have taken here, it would not find there.
        let folder = here.join("flows").is_dir().then(|| unicode(here)).transpose()?;
        return Ok(folder.map(|argument| Source { argument, is_local: true }));
    };
    if given.contains("://") || given.starts_with("git@") {
        return Ok(Some(Source { argument: given.to_owned(), is_local: false }));
    }
    if super::names_examples(given, here) {
        return Ok(Some(Source { argument: given.to_owned(), is_local: true }));
    }
    let folder = request.environment.resolved(given, here);
    if folder.is_dir() {
        return Ok(Some(Source { argument: unicode(&folder)?, is_local: true }));
    }
    if given.starts_with(['.', '/', '~', '\\']) || Path::new(given).is_absolute() {
        return Err(ClientError::NoSuchFolder { shown: quoted(given) });
    }
    Ok(Some(Source { argument: given.to_owned(), is_local: false }))
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
        Ok(Some(Source { is_local: false, .. })) => notes.push(format!(
            "A public repository needs no token. For a private one, put the line token = \"…\" into {own_file}{}; it is \
             not written into the client's file.",
            if request.environment.platform() == Platform::Windows { "" } else { ", readable by you alone (chmod 600)" }
        )),
        Ok(Some(Source { is_local: true, .. })) | Err(_) => {}
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
    let left = request.settings.passed_on(request.environment).left;
    if !left.is_empty() {
        notes.push(format!("No flag carries these settings, put them into {own_file}: {}.", left.join(", ")));
    }
    notes
}

#[cfg(test)]
mod tests;
