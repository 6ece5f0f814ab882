//! How this program is set up: whether it is on the `PATH`, and whether the configurations of MCP clients
//! start this one.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Check, Standing};
use crate::app::clients::Client;
use crate::config::{Environment, Platform, system_says};
use crate::names::quoted;

/// The name of the program's file.
const PROGRAM: &str = if cfg!(windows) { "flowy.exe" } else { "flowy" };
/// Where programs that are started from a desktop find others, as a rule: shells add to it.
const DESKTOP: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
/// The same on macOS.
const DESKTOP_MACOS: [&str; 4] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/// The program on the `PATH`, and every client whose file is known.
pub(super) fn checks(environment: &Environment, running: Option<&Path>) -> Vec<Check> {
    let (on_path, check) = on_path(environment, running);
    let clients = Client::KNOWN.iter().map(|(client, word)| {
        let found = of_client(*client, word, environment, running, on_path.as_deref());
        Check { about: if matches!(client, Client::ClaudeDesktop) { "Claude Desktop" } else { "Claude Code" }, ..found }
    });
    std::iter::once(check).chain(clients).collect()
}

fn found_in<'f>(mut folders: impl Iterator<Item = &'f Path>) -> Option<PathBuf> {
    folders.find_map(|folder| Some(folder.join(PROGRAM)).filter(|file| file.is_file()))
}

/// Where programs from the desktop look.
fn desktop_folders(environment: &Environment) -> Vec<PathBuf> {
    match environment.platform() {
        Platform::Unix => DESKTOP.map(PathBuf::from).to_vec(),
        Platform::MacOs => DESKTOP_MACOS.map(PathBuf::from).to_vec(),
        Platform::Windows => environment.program_folders(),
    }
}

fn on_path(environment: &Environment, running: Option<&Path>) -> (Option<PathBuf>, Check) {
    let folders = environment.program_folders();
    let found = found_in(folders.iter().map(PathBuf::as_path));
    let check = match &found {
        None => Check::of("PATH", Standing::Note, "flowy is not on it: a project's .mcp.json does not find it")
            .fix("`cargo install --path .` in a checkout puts it there, or add its folder to PATH"),
        Some(path) => {
            let place = path.display();
            let desktop = desktop_folders(environment);
            let there = found_in(desktop.iter().map(PathBuf::as_path)).is_some();
            let desktop = if there { "" } else { "; desktop programs don't find it there, and need its whole path" };
            let other = running.is_some_and(|running| !same(running, path));
            let check =
                Check::of("PATH", if other { Standing::Note } else { Standing::Good }, format!("{place}{desktop}"));
            if other {
                check.fix("this is another program than the one that runs now: install it anew, or take one away")
            } else {
                check
            }
        }
    };
    (found, check)
}

/// Whether two paths lead to the same program.
fn same(a: &Path, b: &Path) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b || fs::read(a).ok().zip(fs::read(b).ok()).is_some_and(|(a, b)| a == b),
        _ => a == b,
    }
}

fn of_client(
    client: Client,
    word: &str,
    environment: &Environment,
    running: Option<&Path>,
    on_path: Option<&Path>,
) -> Check {
    let check = |standing, found: String| Check::of("client", standing, found);
    let write = format!("`flowy config {word} --write` writes the entry");
    let Ok(Some(file)) = client.file(environment) else {
        return check(Standing::Unknown, "its configuration is not known".to_owned());
    };
    let name = file.display();
    let text = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return check(Standing::Absent, format!("not set up ({name} is not there)"));
        }
        Err(error) => return check(Standing::Wrong, format!("{name} can't be read: {}", system_says(&error))),
    };
    let value: Value = match serde_json::from_slice(&text) {
        Ok(value) => value,
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            return check(
                Standing::Wrong,
                format!("{name}:{line}:{column}: it is not valid JSON, so no server is started"),
            )
            .fix("mend the JSON there");
        }
    };
    let servers = value.get("mcpServers").and_then(Value::as_object);
    let ours = |name: &str, entry: &Value| {
        let command = entry.get("command").and_then(Value::as_str).unwrap_or_default();
        let stem = Path::new(command).file_stem().and_then(|stem| stem.to_str());
        stem == Some("flowy") || name == "flowy"
    };
    let entries: Vec<(&String, &Value)> =
        servers.into_iter().flatten().filter(|(name, entry)| ours(name, entry)).collect();
    if entries.is_empty() {
        return check(Standing::Note, format!("{name} has no entry that starts flowy")).fix(write);
    }
    let mut good = Vec::new();
    for (server, entry) in entries {
        let Some(command) = entry.get("command").and_then(Value::as_str) else {
            good.push(format!("{} is reached by an address", quoted(server)));
            continue;
        };
        let path = Path::new(command);
        let desktop = matches!(client, Client::ClaudeDesktop);
        let starts = if path.is_absolute() {
            Some(path.to_owned()).filter(|path| path.is_file())
        } else if desktop {
            let folders = desktop_folders(environment);
            found_in(folders.iter().map(PathBuf::as_path))
        } else {
            on_path.map(Path::to_owned)
        };
        let Some(starts) = starts else {
            let why =
                if path.is_absolute() { "which is not there" } else { "which is not found where the client looks" };
            return check(Standing::Wrong, format!("{name}: {} starts {}, {why}", quoted(server), quoted(command)))
                .fix(if desktop || path.is_absolute() { write } else { "put flowy on your PATH".to_owned() });
        };
        if running.is_some_and(|running| !same(running, &starts)) {
            return check(
                Standing::Note,
                format!("{name}: {} starts {}, another program than this one", quoted(server), starts.display()),
            )
            .fix(format!("if that is an older one, {write}"));
        }
        good.push(format!("{} starts this program", quoted(server)));
    }
    check(Standing::Good, format!("{name}: {}", good.join(", ")))
}
