//! Personas: role texts that a model takes on for a step, as `personas/*.md` hold them.
//!
//! A file is Markdown with an optional front matter of `name` and `description`. Other keys are left
//! alone; what could change how the text around it is shown is refused.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::document::{Duplicate, Position, Span, Tree, TreeKind, Yaml, YamlProblem};
use crate::model::wire::{Holds, Wrong, wrong};
use crate::names::{CatalogPath, hidden, legible, unprintable};

/// One role text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Persona {
    /// The name it goes by: the front matter's, else the file's stem.
    pub name: String,
    /// The file it stands in.
    pub file: CatalogPath,
    /// What it is for.
    pub description: Option<String>,
    /// The text, without front matter and with plain line ends.
    pub text: Arc<str>,
}

/// Why a file is no persona.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PersonaError {
    /// It is not text.
    #[error("byte {at} is not UTF-8")]
    NotUtf8 {
        /// The first such byte, from 0.
        at: usize,
    },
    /// It holds a character that changes how the text around it is shown.
    #[error("line {line} holds a control or bidirectional character (U+{:04X})", u32::from(*character))]
    Unprintable {
        /// The line, from 1.
        line: usize,
        /// The character.
        character: char,
    },
    /// It holds lines of an unfinished merge, stands in a fence, or has its front matter elsewhere than at its
    /// beginning.
    #[error("{message}")]
    Misplaced {
        /// The line, from 1.
        line: usize,
        /// The fact.
        message: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// There is no text.
    #[error("there is no text after the front matter")]
    Empty,
    /// The front matter begins and does not end.
    #[error("the front matter that begins with --- has no closing ---")]
    Unclosed,
}

impl PersonaError {
    /// The line in which it stands, from 1; none where it is the file as a whole.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Unprintable { line, .. } | Self::Misplaced { line, .. } => Some(*line),
            Self::NotUtf8 { .. } | Self::Empty | Self::Unclosed => None,
        }
    }

    /// What to do about it, where that is not said of all of them.
    pub fn hint(&self) -> Option<&'static str> {
        if let Self::Misplaced { hint, .. } = self { Some(hint) } else { None }
    }
}

/// What the front matter of a persona holds. Places count bytes of the text.
#[derive(Debug)]
pub struct PersonaFront {
    /// The file's text, with plain line ends and without hidden characters.
    pub text: String,
    /// Why it is no YAML, where it is none: then its lines are read one by one.
    pub problem: Option<YamlProblem>,
    /// Its keys, and where they stand.
    pub keys: Vec<(String, Span)>,
    /// Keys that stand twice.
    pub duplicates: Vec<Duplicate>,
    /// The hidden characters of the file.
    pub hidden: String,
}

impl PersonaFront {
    /// The keys that are read.
    pub const KEYS: [&str; 2] = KEYS;
}

/// The keys of the front matter that are read.
const KEYS: [&str; 2] = ["name", "description"];

impl Persona {
    /// Reads a file.
    ///
    /// # Errors
    /// When it is not UTF-8, holds control or bidirectional characters, or says nothing.
    pub fn read(file: CatalogPath, bytes: &[u8]) -> Result<Self, PersonaError> {
        Self::read_noting(file, bytes).map(|(persona, _)| persona)
    }

    /// The same, and what its front matter holds.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_noting(file: CatalogPath, bytes: &[u8]) -> Result<(Self, PersonaFront), PersonaError> {
        let text = std::str::from_utf8(bytes).map_err(|error| PersonaError::NotUtf8 { at: error.valid_up_to() })?;
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text).replace("\r\n", "\n");
        let hidden = hidden(&text).into_iter().filter_map(|range| text.get(range)).collect();
        let text = legible(&text);
        for (number, line) in text.split('\n').enumerate() {
            if let Some(character) = line.chars().find(|c| *c != '\t' && unprintable(*c)) {
                return Err(PersonaError::Unprintable { line: number + 1, character });
            }
        }
        let opening = after_opening(&text);
        let holds = Holds { keys: &KEYS, own: &[], steps: false, stem: file.stem() };
        if let Some(Wrong::Front(problem) | Wrong::Around(problem)) = wrong(&text, opening.is_some(), &holds) {
            let line = Position::of(&text, problem.span.start).line;
            return Err(PersonaError::Misplaced { line, message: problem.message, hint: problem.hint });
        }
        let (front, body) = match opening {
            Some(rest) => split_front(rest).ok_or(PersonaError::Unclosed)?,
            None => ("", &*text),
        };
        let body = body.trim();
        if body.is_empty() {
            return Err(PersonaError::Empty);
        }
        let begin = front.as_ptr().addr().saturating_sub(text.as_ptr().addr());
        let range = if front.is_empty() { 0..0 } else { begin..begin + front.len() };
        let (mut front_members, mut duplicates, mut problem) = (Vec::new(), Vec::new(), None);
        match Yaml::read(&text, range.clone()).map(|yaml| (yaml.tree, yaml.duplicates)) {
            Ok((Some(Tree { kind: TreeKind::Map(members), .. }), repeated)) => {
                (front_members, duplicates) = (members, repeated);
            }
            Ok((None, _)) => {}
            Ok((Some(Tree { span, .. }), _)) => {
                let message = "the front matter is no mapping of keys to values".to_owned();
                problem = Some(YamlProblem { message, hint: "write lines of `key: value`", span });
            }
            Err(found) => problem = Some(found),
        }
        let value = |key: &str| {
            if problem.is_some() {
                return front_value(front, key);
            }
            let tree = &front_members.iter().rev().find(|member| member.key == key)?.tree;
            // Where a text is expected, the written characters count.
            let written = text.get(tree.span.start..tree.span.end).unwrap_or_default();
            let value = tree.as_text().map_or(written, str::trim).to_owned();
            (!value.is_empty() && matches!(tree.kind, TreeKind::Scalar(..))).then_some(value)
        };
        let name = value("name").unwrap_or_else(|| file.stem().to_owned());
        let persona = Self { name, description: value("description"), text: Arc::from(body), file };
        let keys = front_members.into_iter().map(|member| (member.key, member.at)).collect();
        Ok((persona, PersonaFront { text: text.into_owned(), problem, keys, duplicates, hidden }))
    }
}

/// What follows the line of three hyphens that opens the front matter, where there is one. Nobody sees
/// empty lines before it, or blanks after the hyphens.
fn after_opening(text: &str) -> Option<&str> {
    let (first, rest) = text.trim_start().split_once('\n')?;
    (first.trim_end() == "---").then_some(rest)
}

/// The front matter and what follows it.
fn split_front(rest: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((rest.get(..at)?, rest.get(at + line.len()..)?));
        }
        at += line.len();
    }
    None
}

/// One text of the front matter: on its line, or indented below a `>` or `|`.
fn front_value(front: &str, key: &str) -> Option<String> {
    let mut lines = front.lines();
    let value = lines.find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix(':'))?.trim();
    let text = if value.starts_with(['>', '|']) {
        let indented: Vec<&str> =
            lines.take_while(|line| line.starts_with([' ', '\t']) || line.is_empty()).map(str::trim).collect();
        indented.join(" ").trim().to_owned()
    } else {
        let quoted = ['"', '\''].into_iter().find_map(|mark| value.strip_prefix(mark)?.strip_suffix(mark));
        quoted.unwrap_or(value).trim().to_owned()
    };
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Persona, PersonaError> {
        Persona::read(CatalogPath::new("personas/reviewer.md").expect("fine"), text.as_bytes())
    }

    #[test]
    fn the_front_matter_names_and_the_rest_is_the_role() {
        let persona = read("---\r\nname: \"Reviewer\"\r\ndescription: >\r\n  Finds what\r\n  is wrong.\r\ntags: [a]\r\n---\r\n\r\nYou review.\r\n").expect("fine");
        assert_eq!((persona.name.as_str(), &*persona.text), ("Reviewer", "You review."));
        assert_eq!(persona.description.as_deref(), Some("Finds what is wrong."));
    }

    #[test]
    fn blanks_around_the_opening_line_are_not_seen_and_change_nothing() {
        for text in [
            "--- \nname: Clerk\n---\t\nYou write.",
            "\n \n---\nname: Clerk\n---\nYou write.",
            "---\t \r\nname: Clerk\r\n---\r\nYou write.",
        ] {
            let persona = read(text).expect("fine");
            assert_eq!((persona.name.as_str(), &*persona.text), ("Clerk", "You write."), "{text:?}");
        }
        let rule = read("----\nYou write.").expect("fine");
        assert_eq!(&*rule.text, "----\nYou write.");
    }

    #[test]
    fn hidden_characters_are_not_part_of_the_role() {
        assert_eq!(&*read("You write.\u{E0061}\u{E0062}").expect("fine").text, "You write.");
    }

    #[test]
    fn without_front_matter_the_stem_is_the_name() {
        let persona = read("\u{FEFF}You review.\n\n---\nKindly.").expect("fine");
        assert_eq!((persona.name.as_str(), &*persona.text), ("reviewer", "You review.\n\n---\nKindly."));
        assert_eq!(persona.description, None);
    }

    #[test]
    fn what_moves_the_cursor_or_says_nothing_is_no_persona() {
        assert_eq!(read("You\nre\u{1b}[31mview"), Err(PersonaError::Unprintable { line: 2, character: '\u{1b}' }));
        assert_eq!(read("a\u{202E}b"), Err(PersonaError::Unprintable { line: 1, character: '\u{202E}' }));
        assert_eq!(read("---\nname: x\n---\n \n"), Err(PersonaError::Empty));
        assert_eq!(read("---\nname: x\nYou"), Err(PersonaError::Unclosed));
        let file = CatalogPath::new("personas/x.md").expect("fine");
        assert_eq!(Persona::read(file, b"a\xFF"), Err(PersonaError::NotUtf8 { at: 1 }));
        assert!(read("a\tb\n").is_ok());
    }
}
