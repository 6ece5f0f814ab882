//! A home that several programs share, one after the other or at the same time.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::mcp::Program;
use crate::support::peer::{entry, notes_of};

/// A home that several processes share, with a catalog and an external server.
pub(crate) struct Home {
    pub(crate) root: Arc<TempDir>,
}

impl Home {
    /// With these files in its catalog; and perhaps an external server.
    pub(crate) fn of<P: AsRef<str>>(files: impl IntoIterator<Item = (P, String)>, server: bool) -> Self {
        let root = Arc::new(tempfile::tempdir().unwrap());
        for (path, text) in files {
            let place = root.path().join("catalog").join(path.as_ref());
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, text).unwrap();
        }
        let home = Self { root };
        let peer = entry("steady", &home.notes());
        let servers = if server { json!({"mcpServers": {"peer": peer}}) } else { json!({"mcpServers": {}}) };
        std::fs::write(home.root.path().join("servers.json"), servers.to_string()).unwrap();
        home
    }

    pub(crate) fn notes(&self) -> PathBuf {
        self.root.path().join("notes")
    }

    /// What the external server noted that begins with these words.
    pub(crate) fn noted(&self, words: &str) -> Vec<String> {
        notes_of(&self.notes(), words)
    }

    /// Waits until the first call of `once` has begun.
    pub(crate) fn until_begun(&self) {
        for _ in 0..4_000 {
            if !self.noted("once began").is_empty() {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(5));
        }
        panic!("nothing was called");
    }

    /// The program, as a command of its own.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowy"));
        command.args(arguments).env_clear().env("HOME", self.root.path()).current_dir(self.root.path());
        command
    }

    /// What the program printed and its exit code; it knows the catalog and the external server.
    pub(crate) fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let at = |name: &str| self.root.path().join(name).to_str().unwrap().to_owned();
        let mut command = self.command(arguments);
        let output = command.args(["--source", &at("catalog"), "--servers", &at("servers.json")]).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    /// The program, serving the catalog.
    pub(crate) fn serve(&self) -> Program {
        let at = |name: &str| self.root.path().join(name).to_str().unwrap().to_owned();
        let arguments = ["--source", &at("catalog"), "--servers", &at("servers.json")];
        let mut program = Program::serving_at(self.root.clone(), &arguments, &[]);
        program.shake_hands("2025-11-25");
        program
    }
}

/// Calls a tool that must work.
pub(crate) fn ok(program: &mut Program, tool: &str, arguments: &Value) -> Value {
    let answer = program.request(1, "tools/call", &json!({"name": tool, "arguments": arguments}));
    assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
    answer["result"]["structuredContent"].clone()
}

/// The answer to what was asked before.
pub(crate) fn answer_to(program: &mut Program, id: i64) -> Value {
    loop {
        let message = program.receive();
        if message["id"] == json!(id) {
            return message;
        }
    }
}

/// Asks how an execution stands until no tool is called any more.
pub(crate) fn settled(mut status: impl FnMut() -> Value) -> Value {
    for _ in 0..4_000 {
        let status = status();
        if !status["toolStep"].is_object() || status["state"] == "awaiting_human" {
            return status;
        }
        // Not a wait for something to happen: only a pause between two questions.
        std::thread::park_timeout(Duration::from_millis(5));
    }
    panic!("the tool was called for ever");
}
