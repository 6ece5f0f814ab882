//! One editor: what it can do, which files it holds, and what it is answered.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use gen_lsp_types::{
    CodeActionKind, CodeActionParams, CodeActionResponse, CompletionParams, DefinitionParams,
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, DocumentDiagnosticParams, DocumentFormattingParams, HoverParams, PrepareRenameParams,
    ReferenceParams, RenameParams, TextDocumentContentChangeEvent, TextDocumentPositionParams, TextEdit, Uri,
};
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::places::{Encoding, Lines, path_of};
use super::shapes::Shaper;
use crate::app::{Error, Troubles, Workbench};

/// One editor.
pub(super) struct Session {
    workbench: Workbench,
    /// Sends a message; an editor that is gone hears nothing, and that it is gone is seen where it is read.
    send: Box<dyn Fn(Message)>,
    encoding: Encoding,
    can: Abilities,
    /// The files that it holds: its address and version of each, and the text as it has it.
    open: HashMap<PathBuf, OpenFile>,
    uris: HashMap<PathBuf, Uri>,
    /// Whether something changed since it was told what is wrong.
    stale: bool,
    /// What it was told of catalogs that can't be read.
    told: BTreeSet<String>,
    /// How many requests were sent.
    sent: i32,
}

struct OpenFile {
    version: i32,
    text: String,
}

/// What the editor can do.
struct Abilities {
    /// It asks for what is wrong, instead of being told.
    pulls: bool,
    /// It can be told to ask again.
    refreshes: bool,
    /// It says which files change on the disk.
    watches: bool,
}

/// A question that is not answered: the code and the message.
type Refused = (ErrorCode, String);

impl Session {
    pub(super) fn new(workbench: Workbench, send: Box<dyn Fn(Message)>, params: &Value) -> Self {
        let can = |pointer: &str| params.pointer(&format!("/capabilities/{pointer}"));
        let is = |pointer: &str| can(pointer).and_then(Value::as_bool) == Some(true);
        let offered = can("general/positionEncodings").and_then(Value::as_array);
        let offered: Vec<&str> = offered.into_iter().flatten().filter_map(Value::as_str).collect();
        Self {
            workbench,
            send,
            encoding: Encoding::among(&offered),
            can: Abilities {
                pulls: can("textDocument/diagnostic").is_some_and(Value::is_object),
                refreshes: is("workspace/diagnostics/refreshSupport"),
                watches: is("workspace/didChangeWatchedFiles/dynamicRegistration"),
            },
            open: HashMap::new(),
            uris: HashMap::new(),
            stale: false,
            told: BTreeSet::new(),
            sent: 0,
        }
    }

    /// What this server can do.
    pub(super) fn introduction(&self) -> Value {
        json!({
            "capabilities": {
                "positionEncoding": self.encoding.kind(),
                "textDocumentSync": {"openClose": true, "change": 2, "save": true},
                "hoverProvider": true,
                "definitionProvider": true,
                "referencesProvider": true,
                "completionProvider": {"triggerCharacters": ["{", ".", "\""]},
                "codeActionProvider": {"codeActionKinds": ["quickfix", "source.fixAll"]},
                "renameProvider": {"prepareProvider": true},
                "documentFormattingProvider": true,
                "diagnosticProvider": {"identifier": "flowy", "interFileDependencies": true, "workspaceDiagnostics": false},
            },
            "serverInfo": {"name": "flowy", "version": env!("CARGO_PKG_VERSION")},
        })
    }

    /// Asks to be told of files that change on the disk.
    pub(super) fn begin(&mut self) {
        if self.can.watches {
            let watchers = [json!({"globPattern": "**/*.{json,md}"}), json!({"globPattern": "**/flowy.toml"})];
            let registration = json!({
                "id": "files",
                "method": "workspace/didChangeWatchedFiles",
                "registerOptions": {"watchers": watchers},
            });
            self.ask("client/registerCapability", json!({"registrations": [registration]}));
        }
    }

    fn ask(&mut self, method: &str, params: Value) {
        self.sent += 1;
        self.send(Request::new(RequestId::from(self.sent), method.to_owned(), params).into());
    }

    fn send(&self, message: Message) {
        (self.send)(message);
    }

    /// Tells what is wrong in every open file, where that may have changed.
    pub(super) fn publish(&mut self) {
        if !std::mem::take(&mut self.stale) {
            return;
        }
        if self.can.pulls {
            return;
        }
        let shaper = self.shaper();
        for path in self.workbench.open_files() {
            // What is no flow any more has no findings any more.
            let troubles = self.workbench.troubles(path).unwrap_or_default();
            let params = json!({
                "uri": shaper.uri(path),
                "version": self.open.get(path).map(|file| file.version),
                "diagnostics": shaper.diagnostics(path, &troubles),
            });
            self.send(Notification::new("textDocument/publishDiagnostics".to_owned(), params).into());
        }
    }

    fn shaper(&self) -> Shaper<'_> {
        Shaper { workbench: &self.workbench, encoding: self.encoding, uris: &self.uris }
    }

    pub(super) async fn notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match method.as_str() {
            "textDocument/didOpen" => {
                let Some(DidOpenTextDocumentParams { text_document: opened }) = read(params) else { return };
                let Some(path) = path_of(&opened.uri) else { return };
                self.uris.insert(path.clone(), opened.uri);
                self.workbench.open(&path, &opened.text);
                self.open.insert(path.clone(), OpenFile { version: opened.version, text: opened.text });
                self.read_around(&path).await;
            }
            "textDocument/didChange" => {
                let Some(changed) = read::<DidChangeTextDocumentParams>(params) else { return };
                let Some(path) = path_of(&changed.text_document.text_document_identifier.uri) else { return };
                let Some(file) = self.open.get_mut(&path) else { return };
                file.version = changed.text_document.version;
                for change in changed.content_changes {
                    apply(&mut file.text, change, self.encoding);
                }
                self.workbench.open(&path, &file.text);
                self.read_around(&path).await;
            }
            "textDocument/didClose" => {
                let Some(DidCloseTextDocumentParams { text_document: closed }) = read(params) else { return };
                let Some(path) = path_of(&closed.uri) else { return };
                self.open.remove(&path);
                self.workbench.close(&path);
                self.uris.remove(&path);
                if !self.can.pulls {
                    let params = json!({"uri": closed.uri, "diagnostics": []});
                    self.send(Notification::new("textDocument/publishDiagnostics".to_owned(), params).into());
                }
            }
            "textDocument/didSave" => {
                let Some(DidSaveTextDocumentParams { text_document: saved, .. }) = read(params) else { return };
                // Who does not say what changes on the disk has what changed looked for at every save.
                if !self.can.watches
                    && let Some(folder) = path_of(&saved.uri).and_then(|path| path.parent().map(Path::to_owned))
                {
                    self.changed_on_disk(&[folder]).await;
                }
            }
            "workspace/didChangeWatchedFiles" => {
                let Some(DidChangeWatchedFilesParams { changes }) = read(params) else { return };
                let paths: Vec<PathBuf> = changes.iter().filter_map(|change| path_of(&change.uri)).collect();
                self.changed_on_disk(&paths).await;
            }
            _ => return,
        }
        self.stale = true;
    }

    async fn changed_on_disk(&mut self, paths: &[PathBuf]) {
        self.workbench.changed_on_disk(paths);
        let open: Vec<PathBuf> = self.workbench.open_files().map(Path::to_owned).collect();
        for path in open {
            self.read_around(&path).await;
        }
        if self.can.pulls && self.can.refreshes {
            self.ask("workspace/diagnostic/refresh", Value::Null);
        }
    }

    /// Reads the catalog around a file; why it can't be read is told once.
    async fn read_around(&mut self, path: &Path) {
        if let Err(error) = self.workbench.read_around(path).await
            && self.told.insert(error.message.clone())
        {
            let params = json!({"type": 1, "message": format!("flowy: {}", error.message)});
            self.send(Notification::new("window/showMessage".to_owned(), params).into());
        }
    }

    pub(super) async fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        let answer = self.answer(&method, params).await;
        let response = match answer {
            Ok(result) => Response::new_ok(id, result),
            Err((code, message)) => Response::new_err(id, code as i32, message),
        };
        self.send(response.into());
    }

    async fn answer(&mut self, method: &str, params: Value) -> Result<Value, Refused> {
        let shaper = self.shaper();
        match method {
            "textDocument/hover" => {
                let HoverParams { text_document_position_params: at, .. } = asked(params)?;
                let Some((path, offset)) = self.byte(&at) else { return Ok(Value::Null) };
                let Some(found) = self.workbench.explained(&path, offset) else { return Ok(Value::Null) };
                let text = shaper.text(&path);
                let range = Lines::of(&text, self.encoding).range(&found.bytes);
                Ok(json!({"contents": {"kind": "markdown", "value": found.markdown}, "range": range}))
            }
            "textDocument/definition" => {
                let DefinitionParams { text_document_position_params: at, .. } = asked(params)?;
                let Some((path, offset)) = self.byte(&at) else { return Ok(Value::Null) };
                let spots = self.workbench.definitions(&path, offset);
                written(&spots.iter().map(|spot| shaper.location(spot)).collect::<Vec<_>>())
            }
            "textDocument/references" => {
                let ReferenceParams { text_document_position_params: at, context, .. } = asked(params)?;
                let Some((path, offset)) = self.byte(&at) else { return Ok(Value::Null) };
                let spots = self.workbench.references(&path, offset, context.include_declaration);
                written(&spots.iter().map(|spot| shaper.location(spot)).collect::<Vec<_>>())
            }
            "textDocument/completion" => {
                let CompletionParams { text_document_position_params: at, .. } = asked(params)?;
                let Some((path, offset)) = self.byte(&at) else { return Ok(Value::Null) };
                let text = shaper.text(&path);
                let lines = Lines::of(&text, self.encoding);
                let offers = self.workbench.offers(&path, offset).into_iter();
                written(&offers.map(|offer| Shaper::completion(&lines, offer)).collect::<Vec<_>>())
            }
            "textDocument/codeAction" => self.actions(&asked(params)?),
            "textDocument/prepareRename" => {
                let PrepareRenameParams { text_document_position_params: at, .. } = asked(params)?;
                let Some((path, offset)) = self.byte(&at) else { return Ok(Value::Null) };
                let bytes = self.workbench.renamable(&path, offset).map_err(|error| failed(&error))?;
                let text = shaper.text(&path);
                let range = Lines::of(&text, self.encoding).range(&bytes);
                Ok(json!({"range": range, "placeholder": text.get(bytes).unwrap_or_default()}))
            }
            "textDocument/rename" => {
                let RenameParams { new_name, text_document_position_params: at, .. } = asked(params)?;
                let Some((path, offset)) = self.byte(&at) else { return Ok(Value::Null) };
                let changes = self.workbench.renamed(&path, offset, &new_name).map_err(|error| failed(&error))?;
                written(&shaper.edit(&changes))
            }
            "textDocument/formatting" => {
                let DocumentFormattingParams { text_document, .. } = asked(params)?;
                let Some(path) = path_of(&text_document.uri) else { return Ok(Value::Null) };
                let after = self.workbench.laid_out(&path).map_err(|error| failed(&error))?;
                let edits: Vec<TextEdit> = after.into_iter().map(|after| shaper.whole(&path, after)).collect();
                written(&edits)
            }
            "textDocument/diagnostic" => {
                let DocumentDiagnosticParams { text_document, .. } = asked(params)?;
                let path = path_of(&text_document.uri);
                if let Some(path) = &path {
                    self.read_around(path).await;
                }
                let troubles = path.as_ref().and_then(|path| self.workbench.troubles(path));
                let items = match (&path, troubles) {
                    (Some(path), Some(troubles)) => self.shaper().diagnostics(path, &troubles),
                    _ => self.shaper().diagnostics(Path::new(""), &Troubles::default()),
                };
                Ok(json!({"kind": "full", "items": items}))
            }
            _ => Err((ErrorCode::MethodNotFound, format!("there is no method {method}"))),
        }
    }

    fn actions(&self, params: &CodeActionParams) -> Result<Value, Refused> {
        let Some(path) = path_of(&params.text_document.uri) else { return Ok(Value::Null) };
        let shaper = self.shaper();
        let text = shaper.text(&path);
        let bytes = Lines::of(&text, self.encoding).bytes(params.range);
        let wanted = |kind: &CodeActionKind| {
            let kind = String::from(kind.clone());
            let below = |only: &CodeActionKind| {
                let only = String::from(only.clone());
                only.is_empty() || kind == only || kind.strip_prefix(&only).is_some_and(|rest| rest.starts_with('.'))
            };
            params.context.only.as_ref().is_none_or(|only| only.iter().any(below))
        };
        let mut actions: Vec<CodeActionResponse> = Vec::new();
        if wanted(&CodeActionKind::QuickFix) {
            let fixes = self.workbench.quick_fixes(&path).into_iter();
            let near = fixes.filter(|fix| fix.finding.span.start <= bytes.end && bytes.start <= fix.finding.span.end);
            actions.extend(near.map(|fix| CodeActionResponse::CodeAction(shaper.quick_fix(&path, &fix))));
        }
        if wanted(&CodeActionKind::SourceFixAll)
            && let Some(after) = self.workbench.mended(&path)
        {
            actions.push(CodeActionResponse::CodeAction(shaper.fix_all(&path, after)));
        }
        written(&actions)
    }

    /// The file and the byte of a position.
    fn byte(&self, at: &TextDocumentPositionParams) -> Option<(PathBuf, usize)> {
        let path = path_of(&at.text_document.uri)?;
        let text = self.workbench.text(&path)?;
        let offset = Lines::of(&text, self.encoding).offset(at.position);
        Some((path, offset))
    }
}

/// A change as the editor tells it, done to the text that it has.
fn apply(text: &mut String, change: TextDocumentContentChangeEvent, encoding: Encoding) {
    match change {
        TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => *text = whole.text,
        TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
            let bytes = Lines::of(text, encoding).bytes(part.range);
            text.replace_range(bytes, &part.text);
        }
    }
}

/// What a notification says; one that can't be understood says nothing.
fn read<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}

fn asked<T: DeserializeOwned>(params: Value) -> Result<T, Refused> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

fn written<T: serde::Serialize>(answer: &T) -> Result<Value, Refused> {
    serde_json::to_value(answer).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}

fn failed(error: &Error) -> Refused {
    let next = error.next_step.as_ref().map(|next| format!(": {}", next.for_commands())).unwrap_or_default();
    (ErrorCode::RequestFailed, format!("{}{next}", error.message))
}
