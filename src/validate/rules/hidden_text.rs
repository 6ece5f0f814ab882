//! `hidden-text`: characters that no reader of a file sees, and a model reads.

use serde_json::Value;

use crate::document::{NoteKind, Place, Pointer};
use crate::names::{CatalogPath, counted, quoted};
use crate::validate::finding::of_file;
use crate::validate::{Check, Drafts, FileSubject, Finding, Rule};

/// The rule. Such characters are not read, so that what it finds does nothing.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "hidden-text",
    summary: "No text contains characters that people can't see and models can read.",
    ..Rule::warning(Check::File(check))
};

fn check(subject: &FileSubject<'_>, drafts: &mut Drafts<'_>) {
    for hidden in &subject.document.hidden {
        drafts.find(hidden.place.clone(), message(hidden.count, &hidden.spelt)).hint(HINT);
    }
    for note in &subject.document.notes {
        match &note.kind {
            NoteKind::Hidden { count, spelt } => {
                drafts.find_at(Place::default(), note.span, message(*count, spelt)).hint(HINT);
            }
            NoteKind::Comment => {
                drafts.note(note);
            }
            _ => {}
        }
    }
    let written = &subject.document.text;
    if !written.is_ascii() || written.contains("\\u") {
        texts(&subject.document.value, &Pointer::root(), drafts);
    }
}

/// What stays in texts: characters that turn the writing direction, and those without width that no script needs
/// there.
fn texts(value: &Value, at: &Pointer, drafts: &mut Drafts<'_>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| texts(value, &at.key(key), drafts)),
        Value::Array(items) => items.iter().enumerate().for_each(|(place, item)| texts(item, &at.item(place), drafts)),
        Value::String(text) if !text.is_ascii() => {
            let rightward = text.chars().any(from_the_right);
            let turns = |(_, c): &(usize, char)| match c {
                '\u{202D}' | '\u{202E}' => true,
                // Texts in scripts from the right need them beside others.
                '\u{202A}' | '\u{202B}' | '\u{2066}'..='\u{2069}' => !rightward,
                _ => false,
            };
            let mut tell = |found: &[(usize, char)], words: &dyn Fn(usize, String) -> String| {
                let Some((start, c)) = found.first() else { return };
                let message = words(found.len(), format!("(U+{:04X})", u32::from(*c)));
                drafts.find(Place::within(at.clone(), *start..start + c.len_utf8()), message).hint(HINT);
            };
            tell(&text.char_indices().filter(turns).collect::<Vec<_>>(), &|count, code| {
                let characters = counted(count, "character turns", "characters turn");
                format!("{characters} the writing direction {code}, so that people read another text than a model")
            });
            tell(&without_width(text).collect::<Vec<_>>(), &|count, code| {
                let characters = counted(count, "character", "characters");
                format!("this text holds {characters} without width {code}, which people can't see and a model reads")
            });
        }
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
}

fn from_the_right(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
}

/// Characters without width between those of ASCII: no script and no emoji is there that could need them. Within a
/// placeholder they are told with it.
fn without_width(text: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    text.char_indices().filter(|(start, c)| {
        let (before, after) =
            (text.get(..*start).unwrap_or_default(), text.get(start + c.len_utf8()..).unwrap_or_default());
        let plain = |c: Option<char>| c.is_none_or(|c| c.is_ascii());
        matches!(c, '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}')
            && plain(before.chars().next_back())
            && plain(after.chars().next())
            && !within_braces(before)
    })
}

/// Whether a brace is open at the end of a text.
fn within_braces(before: &str) -> bool {
    before.chars().rev().take(LONGEST_PLACEHOLDER).find(|c| matches!(c, '{' | '}' | '\n')) == Some('{')
}

/// How far a placeholder's brace may be away, in characters.
const LONGEST_PLACEHOLDER: usize = 200;

const HINT: &str = "retype the text, or delete them";

/// The same of a file that is no flow and no template.
pub(super) fn told(path: &CatalogPath, count: usize, spelt: &str) -> Finding {
    of_file(&RULE, path.clone(), message(count, spelt), HINT.to_owned())
}

fn message(count: usize, spelt: &str) -> String {
    let characters = counted(count, "invisible character", "invisible characters");
    let spelt = if spelt.is_empty() {
        String::new()
    } else {
        format!(" that {} {}", if count == 1 { "spells" } else { "spell" }, quoted(spelt))
    };
    format!("this text holds {characters}{spelt}, which people can't see and flowy leaves out")
}
