//! External MCP servers: real ones, over both transports.

mod addresses;
mod calls;
mod checked;
mod commands;
mod figures;
mod limits;
mod lists;
mod lives;
mod odd;
mod operating;
mod story;
mod streams;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use flowy::internals::clock::{Clock, ManualClock, SystemClock};
use flowy::internals::config::{Environment, ServersFile};
use flowy::internals::execute::{OnToolProgress, ToolFailure, Tools as _};
use flowy::internals::model::{ToolAddress, ToolAnswer, ToolCall};
use flowy::internals::upstream::{Registry, Surroundings};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::support::peer::{entry, notes_of};

/// How long servers get to end at the end of a test.
const ENDING: Duration = Duration::from_secs(5);

/// Folders of a test's own, and what its peers noted.
struct Ground {
    root: TempDir,
}

impl Ground {
    fn new() -> Self {
        Self { root: TempDir::new().unwrap() }
    }

    fn notes(&self) -> PathBuf {
        self.root.path().join("notes")
    }

    fn folder(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    /// What a peer noted that begins with these words.
    fn noted(&self, words: &str) -> Vec<String> {
        notes_of(&self.notes(), words)
    }

    /// The entry of a peer of this kind, with more keys.
    fn peer(&self, kind: &str, more: Value) -> Value {
        with(entry(kind, &self.notes()), more)
    }

    /// Folders, and a registry of one plain peer called `p`.
    fn with_peer() -> (Self, Registry) {
        let ground = Self::new();
        let registry = ground.registry(&json!({"p": ground.peer("", json!({}))}));
        (ground, registry)
    }

    /// A registry of these servers, below a guard, by the system's clock.
    fn registry(&self, servers: &Value) -> Registry {
        self.registry_by(servers, SystemClock::shared(), Some(PathBuf::from(env!("CARGO_BIN_EXE_flowy"))))
    }

    fn registry_by(&self, servers: &Value, clock: Arc<dyn Clock>, guard: Option<PathBuf>) -> Registry {
        let file = servers_file(&self.folder().join("flowy.servers.json"), servers);
        Registry::new(file, Surroundings { guard, cache: Some(self.root.path().join("cache")), web_fault: None, clock })
    }
}

/// An entry with more keys.
fn with(mut entry: Value, more: Value) -> Value {
    let Value::Object(more) = more else { return entry };
    for (key, value) in more {
        entry[key] = value;
    }
    entry
}

fn servers_file(path: &Path, servers: &Value) -> ServersFile {
    let text = json!({"mcpServers": servers}).to_string();
    ServersFile::parse(path, text.as_bytes(), &Environment::of_process()).unwrap()
}

/// A clock that stands until it is moved.
fn manual() -> Arc<ManualClock> {
    ManualClock::at("2026-11-28T12:00:00Z".parse().unwrap())
}

fn call_of(call: &str, arguments: Value) -> ToolCall {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    ToolCall {
        step: "call".to_owned(),
        address: ToolAddress::read(call).unwrap(),
        arguments,
        timeout: None,
        generated: false,
        insist: false,
    }
}

async fn call(registry: &Registry, call: &str, arguments: Value) -> Result<ToolAnswer, ToolFailure> {
    registry.call(call_of(call, arguments), None).await
}

async fn echo(registry: &Registry, alias: &str) -> Result<ToolAnswer, ToolFailure> {
    call(registry, &format!("{alias}:echo"), json!({"text": "hi"})).await
}

/// The text of an answer.
fn text(answer: &Result<ToolAnswer, ToolFailure>) -> &str {
    answer.as_ref().unwrap().text.as_deref().unwrap()
}

/// Code and message of a failure.
fn failed(answer: Result<ToolAnswer, ToolFailure>) -> (&'static str, String) {
    let failure = answer.unwrap_err();
    (failure.code.word(), failure.message)
}

/// Hands progress on to a channel.
fn progress() -> (OnToolProgress, tokio::sync::mpsc::UnboundedReceiver<flowy::internals::execute::ToolProgress>) {
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    (Arc::new(move |told| drop(sender.send(told))), receiver)
}

fn no_arguments() -> Value {
    Value::Object(Map::new())
}
