//! What reading a file noticed in it, though it could be read.

use super::Span;

/// Something that reading noticed in a file that is read all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What kind of thing.
    pub kind: NoteKind,
    /// Where.
    pub span: Span,
    /// The fact.
    pub message: String,
    /// What to do about it.
    pub hint: String,
    /// The step it is about.
    pub step: Option<String>,
    /// Whether that step can't be done.
    pub stops: bool,
}

/// The kinds of [`Note`]s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteKind {
    /// Something in a front matter reads otherwise than it looks.
    FrontMatter,
    /// Something stands where nobody reads it.
    Misspelt,
    /// A step's id can't be read by name.
    OddId,
    /// A heading begins no step, and something in the file names that step.
    LostStep,
    /// A block that is never closed hides a step.
    UnclosedFence,
    /// A comment in a text, which a page does not show.
    Comment,
    /// Hidden characters: how many, and what the tag characters among them spell.
    Hidden {
        /// How many.
        count: usize,
        /// What the tag characters among them spell.
        spelt: String,
    },
}

impl Note {
    /// One that is about no step.
    pub fn new(kind: NoteKind, span: Span, message: String, hint: String) -> Self {
        Self { kind, span, message, hint, step: None, stops: false }
    }

    /// The same about a step.
    #[must_use]
    pub fn of_step(self, id: &str) -> Self {
        Self { step: Some(id.to_owned()), ..self }
    }

    /// The same about a step that can't be done for it.
    #[must_use]
    pub fn stops_step(self, id: &str) -> Self {
        Self { stops: true, ..self.of_step(id) }
    }
}
