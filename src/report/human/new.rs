//! What was begun, and questions at a terminal.

use std::fmt::Write as _;

use super::missing::command;
use super::{FAINT, Look, NAME, hint};
use crate::app::{Created, MissingInput};
use crate::model::text_or_json;
use crate::names::{few, shell_word, shown};

/// What helps before values are asked for one by one.
pub fn before_questions(sets: &[String], look: Look) -> String {
    let sets: Vec<String> = sets.iter().map(|set| format!("--set {}", shell_word(set))).collect();
    let instead = if sets.is_empty() { String::new() } else { format!("; {} gives some of the values", few(sets)) };
    hint(&format!("an answer is one line; --var-file NAME=FILE takes a file{instead}"), look)
}

/// The files that were written, and what to do next.
pub fn created(created: &Created, quiet: bool, look: Look) -> String {
    let mut text = if quiet || !look.terminal { String::new() } else { "Wrote:\n".to_owned() };
    for file in &created.files {
        let _ = writeln!(text, "{}", shown(&created.folder.join(file).display().to_string(), 300));
    }
    if quiet {
        return text;
    }
    for file in &created.left {
        let place = shown(&created.folder.join(file).display().to_string(), 300);
        let _ = writeln!(text, "{}", look.paint(FAINT, &format!("{place} is there already, and stays as it is")));
    }
    let folder = created.folder.to_str().filter(|folder| !folder.is_empty());
    let source = folder.map(|folder| format!(" --source {}", shell_word(folder))).unwrap_or_default();
    let values = created.inputs.iter().cloned().collect();
    let _ = writeln!(text, "\nNext, edit the texts, and try them:");
    let _ = writeln!(text, "  {}", command("run", &created.flow, &[], (&values, folder)));
    let _ = writeln!(text, "  flowy test {}{source}", shell_word(&created.flow));
    text
}

/// What a person is asked for.
pub fn question(input: &MissingInput, look: Look) -> String {
    let about = input.description.as_deref().map(|about| format!(" ({})", shown(about, 200))).unwrap_or_default();
    let mut kinds = Vec::new();
    if !input.choices.is_empty() {
        kinds.push(format!("one of {}", few(input.choices.iter().map(|choice| shown(&text_or_json(choice), 60)))));
    } else if input.kind() != "string" {
        kinds.push(input.kind().to_owned());
    }
    let kinds = kinds.first().map(|kind| look.paint(FAINT, &format!(" [{kind}]"))).unwrap_or_default();
    format!("{}{about}{kinds}: ", look.paint(NAME, &shown(&input.name, 100)))
}

/// The same once more, where the answer can't be used.
pub fn question_again(input: &MissingInput, look: Look) -> String {
    let wanted = match (input.choices.is_empty(), input.kind()) {
        (false, _) => "it has to be one of these values",
        (true, "number") => "it has to be a number",
        (true, "integer") => "it has to be a whole number",
        (true, "boolean") => "it has to be true or false",
        (true, "array") => "it has to be a list in JSON, such as [\"a\", \"b\"]",
        (true, "object") => "it has to be an object in JSON, such as {\"a\": 1}",
        (true, _) => "a value is needed; Ctrl-D ends without one",
    };
    format!("  {wanted}\n{}", question(input, look))
}
