//! An editor: a client of the Language Server Protocol that drives the spawned program.

#![allow(clippy::needless_pass_by_value, reason = "`json!` makes a value, and tests read better without `&`")]

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};

use serde_json::{Value, json};

use crate::support::program::Sandbox;

/// One editor with the program that serves it.
pub(crate) struct Editor {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Where it stands.
    pub(crate) sandbox: Sandbox,
    /// What came while something else was waited for.
    waiting: VecDeque<Value>,
    sent: i64,
    version: i64,
    /// What the program said it can do.
    pub(crate) capabilities: Value,
}

impl Editor {
    /// One that counts UTF-16 and is told of findings.
    pub(crate) fn new(sandbox: Sandbox) -> Self {
        Self::able_to(sandbox, &json!({}))
    }

    /// One with these capabilities.
    pub(crate) fn able_to(sandbox: Sandbox, capabilities: &Value) -> Self {
        let mut child = sandbox.command(["lsp"]).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let (waiting, capabilities_told) = (VecDeque::new(), Value::Null);
        let mut editor =
            Self { child, input, output, sandbox, waiting, sent: 0, version: 0, capabilities: capabilities_told };
        let params = json!({"processId": null, "rootUri": null, "capabilities": capabilities});
        editor.capabilities = editor.ask("initialize", params)["capabilities"].clone();
        editor.tell("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.input.flush().unwrap();
    }

    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request, and returns the whole answer.
    pub(crate) fn answer(&mut self, method: &str, params: Value) -> Value {
        self.sent += 1;
        let id = self.sent;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.wait_for(|message| message["id"] == id && message.get("method").is_none())
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The next message of that kind, whatever comes before it.
    pub(crate) fn wait_for(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.waiting.iter().position(&wanted) {
            return self.waiting.remove(at).unwrap();
        }
        loop {
            let message = self.read();
            if wanted(&message) {
                return message;
            }
            self.waiting.push_back(message);
        }
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the program is gone");
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("Content-Length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    pub(crate) fn uri(&self, file: &str) -> String {
        if file.starts_with("untitled:") {
            return file.to_owned();
        }
        format!("file://{}", self.sandbox.here().join(file).display())
    }

    /// Opens a file with a text, which need not be the one on the disk.
    pub(crate) fn open(&mut self, file: &str, text: &str) {
        let language = if file.ends_with("md") { "markdown" } else { "json" };
        let document = json!({"uri": self.uri(file), "languageId": language, "version": 1, "text": text});
        self.version = 1;
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// Changes a whole text.
    pub(crate) fn change(&mut self, file: &str, text: &str) {
        self.edit(file, json!({"text": text}));
    }

    /// Changes as the protocol has them.
    pub(crate) fn edit(&mut self, file: &str, change: Value) {
        self.version += 1;
        let document = json!({"uri": self.uri(file), "version": self.version});
        self.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": [change]}));
    }

    /// What the program tells of a file at the version that was sent last: its diagnostics.
    pub(crate) fn told(&mut self, file: &str) -> Vec<Value> {
        let (uri, version) = (self.uri(file), self.version);
        let told = self.wait_for(|message| {
            let params = &message["params"];
            message["method"] == "textDocument/publishDiagnostics"
                && params["uri"] == uri.as_str()
                && params["version"] == version
        });
        told["params"]["diagnostics"].as_array().unwrap().clone()
    }

    /// Asks about a place in a file.
    pub(crate) fn at(&mut self, method: &str, file: &str, position: &Value) -> Value {
        let params = json!({"textDocument": {"uri": self.uri(file)}, "position": position});
        self.ask(method, params)
    }

    /// Ends as editors do, and returns the exit code.
    pub(crate) fn end(mut self) -> i32 {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        drop(self.input);
        self.child.wait().unwrap().code().unwrap()
    }
}

/// The position of the first byte of some words in a text, so many bytes further, in units of UTF-16.
pub(crate) fn position(text: &str, words: &str, further: usize) -> Value {
    let offset = text.find(words).unwrap_or_else(|| panic!("{words} is not in {text}")) + further;
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    json!({"line": before.matches('\n').count(), "character": before[start..].encode_utf16().count()})
}

/// A text after the changes of one file.
pub(crate) fn changed(text: &str, edits: &[Value]) -> String {
    let offset = |position: &Value| {
        let number = |key: &str| usize::try_from(position[key].as_u64().unwrap()).unwrap();
        let start: usize = text.split_inclusive('\n').take(number("line")).map(str::len).sum();
        let mut units = 0;
        let in_line = text[start..].char_indices().find(|(_, c)| {
            let found = units == number("character");
            units += c.len_utf16();
            found
        });
        in_line.map_or(text.len(), |(at, _)| start + at)
    };
    let mut ranges: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|edit| (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]), edit["newText"].as_str().unwrap()))
        .collect();
    ranges.sort_unstable();
    let mut text = text.to_owned();
    for (start, end, new) in ranges.into_iter().rev() {
        text.replace_range(start..end, new);
    }
    text
}
