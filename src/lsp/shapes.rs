//! What is answered, in the protocol's shapes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gen_lsp_types::{
    Code, CodeAction, CodeActionKind, CompletionItem, CompletionItemKind, CompletionItemTextEdit, Diagnostic,
    DiagnosticRelatedInformation, DiagnosticSeverity, Location, Message, Range, TextEdit, Uri, WorkspaceEdit,
};

use super::places::{Encoding, Lines, uri_of};
use crate::app::{Error, Finding, Offer, OfferKind, QuickFix, Replacement, Severity, Spot, Troubles, Workbench};
use crate::names::{capital, shown};

/// Who says it.
const SOURCE: &str = "flowy";
/// The longest line beside something that is offered, in characters.
const LONGEST_DETAIL: usize = 120;

/// Gives answers their shape, with the addresses by which the editor knows its files.
pub(super) struct Shaper<'a> {
    pub(super) workbench: &'a Workbench,
    pub(super) encoding: Encoding,
    pub(super) uris: &'a HashMap<PathBuf, Uri>,
}

impl Shaper<'_> {
    pub(super) fn uri(&self, path: &Path) -> Uri {
        self.uris.get(path).cloned().unwrap_or_else(|| uri_of(path))
    }

    pub(super) fn text(&self, path: &Path) -> Arc<str> {
        self.workbench.text(path).unwrap_or_default()
    }

    /// What is wrong in a file.
    pub(super) fn diagnostics(&self, path: &Path, troubles: &Troubles) -> Vec<Diagnostic> {
        let text = troubles.findings.first().map_or_else(|| self.text(path), |finding| finding.text.clone());
        let lines = Lines::of(&text, self.encoding);
        let mut all: Vec<Diagnostic> =
            troubles.findings.iter().map(|finding| self.diagnostic(path, finding, &lines)).collect();
        all.extend(troubles.unchecked.as_ref().map(unchecked));
        all
    }

    fn diagnostic(&self, path: &Path, finding: &Finding, lines: &Lines<'_>) -> Diagnostic {
        let related = finding.related.iter().map(|related| DiagnosticRelatedInformation {
            location: Location { uri: self.uri(path), range: lines.range(&(related.span.start..related.span.end)) },
            message: related.label.clone(),
        });
        let hints = finding.hints.iter().map(|hint| format!("\nhelp: {hint}"));
        let message: String = std::iter::once(finding.message.clone()).chain(hints).collect();
        let related: Vec<DiagnosticRelatedInformation> = related.collect();
        Diagnostic {
            range: lines.range(&(finding.span.start..finding.span.end)),
            severity: Some(match finding.severity {
                Severity::Error => DiagnosticSeverity::Error,
                Severity::Warning => DiagnosticSeverity::Warning,
                Severity::Info => DiagnosticSeverity::Information,
            }),
            code: Some(Code::String(finding.rule.to_owned())),
            code_description: None,
            source: Some(SOURCE.to_owned()),
            message: Message::String(message),
            tags: None,
            related_information: (!related.is_empty()).then_some(related),
            data: None,
        }
    }

    pub(super) fn location(&self, spot: &Spot) -> Location {
        let text = self.text(&spot.path);
        let range = Lines::of(&text, self.encoding).range(&(spot.span.start..spot.span.end));
        Location { uri: self.uri(&spot.path), range }
    }

    /// Changes of several files.
    pub(super) fn edit(&self, changes: &[Replacement]) -> WorkspaceEdit {
        let mut edits: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
        for change in changes {
            let text = self.text(&change.path);
            let range = Lines::of(&text, self.encoding).range(&change.bytes);
            edits.entry(self.uri(&change.path)).or_default().push(TextEdit { range, new_text: change.text.clone() });
        }
        WorkspaceEdit { changes: Some(edits), document_changes: None, change_annotations: None }
    }

    /// What makes findings go away, as far as they lie in a range; all of them without one.
    pub(super) fn quick_fix(&self, path: &Path, fix: &QuickFix) -> CodeAction {
        let lines = Lines::of(&fix.finding.text, self.encoding);
        let range = lines.range(&fix.change.bytes);
        let edits = HashMap::from([(self.uri(path), vec![TextEdit { range, new_text: fix.change.text.clone() }])]);
        CodeAction {
            kind: Some(CodeActionKind::QuickFix),
            diagnostics: Some(vec![self.diagnostic(path, &fix.finding, &lines)]),
            is_preferred: Some(fix.safe),
            edit: Some(WorkspaceEdit { changes: Some(edits), document_changes: None, change_annotations: None }),
            ..named(capital(&fix.what))
        }
    }

    /// Everything that can be fixed safely, at once.
    pub(super) fn fix_all(&self, path: &Path, after: String) -> CodeAction {
        let edits = HashMap::from([(self.uri(path), vec![self.whole(path, after)])]);
        CodeAction {
            kind: Some(CodeActionKind::SourceFixAll),
            edit: Some(WorkspaceEdit { changes: Some(edits), document_changes: None, change_annotations: None }),
            ..named("Fix everything that flowy can fix safely".to_owned())
        }
    }

    /// Another text in the place of a whole file.
    pub(super) fn whole(&self, path: &Path, after: String) -> TextEdit {
        let text = self.text(path);
        TextEdit { range: Lines::of(&text, self.encoding).range(&(0..text.len())), new_text: after }
    }

    pub(super) fn completion(lines: &Lines<'_>, offer: Offer) -> CompletionItem {
        let kind = match offer.kind {
            OfferKind::File => CompletionItemKind::File,
            OfferKind::Flow => CompletionItemKind::Module,
            OfferKind::Node => CompletionItemKind::Reference,
            OfferKind::Variable => CompletionItemKind::Variable,
            OfferKind::Field => CompletionItemKind::Field,
        };
        let edit = TextEdit { range: lines.range(&offer.bytes), new_text: offer.label.clone() };
        CompletionItem {
            kind: Some(kind),
            detail: Some(shown(&offer.detail, LONGEST_DETAIL)).filter(|detail| !detail.is_empty()),
            text_edit: Some(CompletionItemTextEdit::TextEdit(edit)),
            label: offer.label,
            ..CompletionItem::default()
        }
    }
}

/// A file that could not be checked, said at its beginning.
fn unchecked(error: &Error) -> Diagnostic {
    let next = error.next_step.as_ref().map(|next| format!("\nhelp: {}", next.for_commands())).unwrap_or_default();
    Diagnostic {
        range: Range::default(),
        severity: Some(DiagnosticSeverity::Error),
        code: Some(Code::String(error.code.word().to_owned())),
        code_description: None,
        source: Some(SOURCE.to_owned()),
        message: Message::String(format!("{}{next}", error.message)),
        tags: None,
        related_information: None,
        data: None,
    }
}

fn named(title: String) -> CodeAction {
    CodeAction {
        title,
        kind: None,
        diagnostics: None,
        is_preferred: None,
        disabled: None,
        edit: None,
        command: None,
        data: None,
        tags: None,
    }
}
