//! The texts of prompts of other programs, with their placeholders as ours.

use crate::model::Syntax;
use crate::names::{quoted, variable_char};
use crate::render::placeholders;

/// A text whose placeholders are ours.
#[derive(Default)]
pub(in crate::app::convert) struct Filled {
    pub(super) text: String,
    /// The names that it reads, in order.
    pub(super) names: Vec<String>,
    /// What stays as it is, and where.
    pub(super) lost: Vec<String>,
}

impl Filled {
    fn read(&mut self, name: &str, path: &str) {
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
        self.text.push('{');
        self.text.push_str(name);
        self.text.push_str(path);
        self.text.push('}');
    }

    fn keep(&mut self, line: usize, what: &str, written: &str) {
        self.lost.push(format!("line {line}: {what} {}, left in the text", quoted(written)));
    }
}

/// The text of a slash command or of a skill: `$ARGUMENTS`, `$1`, and names that its front matter declares. In a
/// skill, a number behind `$` within a fence is code.
pub(super) fn claude(body: &str, first: usize, named: &[String], skill: bool) -> Filled {
    let mut filled = Filled::default();
    let taken: Vec<String> = placeholders(body, Syntax::Single).into_iter().map(|group| group.name).collect();
    // A name that the text holds in braces already is text there.
    let free = |wanted: &str| {
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        std::iter::once(wanted.to_owned()).chain(numbered).find(|name| !taken.contains(name)).unwrap_or_default()
    };
    let mut fenced = false;
    for (number, line) in body.split_inclusive('\n').enumerate() {
        let at = first + number;
        let marks = line.trim_start();
        if marks.starts_with("```") || marks.starts_with("~~~") {
            if !fenced && marks.trim_start_matches(['`', '~']).starts_with('!') {
                filled.keep(at, "a block of commands that the client runs:", marks.trim_end());
            }
            fenced = !fenced;
        }
        let mut rest = line;
        let mut before = ' ';
        while let Some(c) = rest.chars().next() {
            let opens = before.is_whitespace() || matches!(before, '(' | '"' | '\'');
            let taken = match c {
                '\\' => escaped(rest, named),
                '$' => argument(rest, named, skill && fenced),
                '!' if opens && !fenced => {
                    if let Some(command) = command(rest) {
                        filled.keep(at, "a command that the client runs:", command);
                    }
                    None
                }
                '@' if opens && !fenced => {
                    if let Some(path) = included(rest) {
                        filled.keep(at, "a file that the client reads in:", path);
                    }
                    None
                }
                _ => None,
            };
            let length = match taken {
                Some(Taken::Text(length)) => {
                    filled.text.push_str(rest.get(1..length).unwrap_or_default());
                    length
                }
                Some(Taken::Name(name, length)) => {
                    filled.read(&free(&name), "");
                    length
                }
                Some(Taken::Foreign(length)) => {
                    let written = rest.get(..length).unwrap_or_default();
                    filled.keep(at, "a value that the client fills in:", written);
                    filled.text.push_str(written);
                    length
                }
                None => {
                    filled.text.push(c);
                    c.len_utf8()
                }
            };
            before = rest.get(..length).and_then(|taken| taken.chars().next_back()).unwrap_or(' ');
            rest = rest.get(length..).unwrap_or_default();
        }
    }
    filled
}

/// What stands at a place of a text, and how many bytes it takes.
enum Taken {
    /// Text, but for the first character.
    Text(usize),
    Name(String, usize),
    /// Something that only the other program can fill in.
    Foreign(usize),
}

/// `\$`, where without the backslash there would be a placeholder.
fn escaped(rest: &str, named: &[String]) -> Option<Taken> {
    let dollar = rest.get(1..).filter(|rest| rest.starts_with('$'))?;
    argument(dollar, named, false).map(|_| Taken::Text(2))
}

fn argument(rest: &str, named: &[String], code: bool) -> Option<Taken> {
    let after = rest.get(1..)?;
    let word: String = after.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-')).collect();
    if let Some(tail) = after.strip_prefix("ARGUMENTS")
        && !tail.starts_with(|c: char| c.is_alphanumeric() || c == '_')
    {
        if let Some((number, _)) = tail.strip_prefix('[').and_then(|tail| tail.split_once(']'))
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            return Some(Taken::Name(format!("argument_{number}"), "$ARGUMENTS[]".len() + number.len()));
        }
        return Some(Taken::Name("arguments".to_owned(), "$ARGUMENTS".len()));
    }
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 && digits < 3 && !code {
        // An amount of money is none.
        let tail = after.get(digits..).unwrap_or_default();
        let amount = tail.strip_prefix(['.', ',']).is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_digit()));
        let number = after.get(..digits)?;
        return (!amount).then(|| Taken::Name(format!("argument_{number}"), 1 + digits));
    }
    if let Some(name) = named.iter().find(|name| **name == word) {
        return Some(Taken::Name(name.clone(), 1 + name.len()));
    }
    if after.starts_with("{CLAUDE_") {
        return after.find('}').map(|end| Taken::Foreign(end + 2));
    }
    None
}

/// A command between backticks behind an exclamation mark.
fn command(rest: &str) -> Option<&str> {
    let inside = rest.get(1..)?.strip_prefix('`')?;
    let end = inside.find(['`', '\n'])?;
    inside.get(end..)?.starts_with('`').then(|| rest.get(..end + 3)).flatten()
}

/// The path of a file behind an at sign.
fn included(rest: &str) -> Option<&str> {
    let usual = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '~' | '\\' | '$');
    let path = rest.get(1..)?;
    let path = path.get(..path.find(|c| !usual(c)).unwrap_or(path.len()))?.trim_end_matches('.');
    (path.contains(['/', '.']) && path.len() > 2).then(|| rest.get(..=path.len())).flatten()
}

/// The text of a file of Prompty: Jinja's placeholders, and the texts of several roles as one.
pub(super) fn prompty(body: &str, first: usize) -> Filled {
    let mut filled = Filled::default();
    let (body, roles) = joined(body);
    if roles.len() > 1 {
        filled.lost.push(format!("the roles {}: their texts are one text", roles.join(", ")));
    }
    let bound = bound_by_loops(&body);
    let line_of = |at: usize| first + body.get(..at).unwrap_or_default().matches('\n').count();
    let mut at = 0;
    while let Some(found) = body.get(at..).and_then(|rest| rest.find(['{', '!'])) {
        let start = at + found;
        filled.text.push_str(body.get(at..start).unwrap_or_default());
        let rest = body.get(start..).unwrap_or_default();
        let mark = rest.get(..2).unwrap_or_default();
        let close = match mark {
            "{{" => "}}",
            "{%" => "%}",
            "{#" => "#}",
            _ => "",
        };
        let end = if close.is_empty() { None } else { rest.find(close).map(|end| end + 2) };
        let Some(end) = end else {
            if mark == "![" {
                let line = rest.lines().next().unwrap_or_default();
                if line.contains("](") {
                    filled.keep(line_of(start), "a picture", line);
                }
            }
            let length = rest.chars().next().map_or(1, char::len_utf8);
            filled.text.push_str(rest.get(..length).unwrap_or_default());
            at = start + length;
            continue;
        };
        let written = rest.get(..end).unwrap_or_default();
        let inside = written.get(2..end - 2).unwrap_or_default().trim_matches('-').trim();
        match mark {
            "{{" => value(&mut filled, inside, written, line_of(start), &bound),
            "{%" => {
                filled.keep(line_of(start), "a statement", written);
                filled.text.push_str(written);
            }
            // A comment is no part of what is sent.
            _ => {}
        }
        at = start + end;
    }
    filled.text.push_str(body.get(at..).unwrap_or_default());
    let caught = filled.names.iter().filter_map(|name| {
        let group = format!("{{{name}}}");
        let alone = |at: &usize| !body.get(..*at).unwrap_or_default().ends_with('{');
        let at = body.match_indices(&group).map(|(at, _)| at).find(alone)?;
        Some(format!("line {}: {} was text and is a placeholder now: rename that input", line_of(at), quoted(&group)))
    });
    let caught: Vec<String> = caught.collect();
    filled.lost.extend(caught);
    if roles.len() > 1 {
        // Where a line that named a role stood between empty lines.
        while filled.text.contains("\n\n\n") {
            filled.text = filled.text.replace("\n\n\n", "\n\n");
        }
    }
    filled
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(variable_char)
}

/// The names that loops give.
fn bound_by_loops(body: &str) -> Vec<&str> {
    let loops = body.split("{%").skip(1).filter_map(|statement| {
        let statement = statement.trim_start_matches('-').trim_start().strip_prefix("for ")?;
        statement.split_once(" in ").map(|(names, _)| names)
    });
    loops.flat_map(|names| names.split(',')).map(str::trim).chain(["loop"]).collect()
}

/// A value of Jinja: a name, perhaps with a path and filters.
fn value(filled: &mut Filled, inside: &str, written: &str, line: usize, bound: &[&str]) {
    let (path, filters) = inside.split_once('|').map_or((inside, None), |(path, rest)| (path.trim(), Some(rest)));
    let (name, rest) = path.find('.').map_or((path, ""), |dot| path.split_at(dot));
    let steps = rest.split('.').skip(1).all(is_name);
    let expression = !is_name(name) || !steps || name.starts_with(|c: char| c.is_ascii_digit());
    if expression || bound.contains(&name) {
        filled.keep(line, if expression { "an expression" } else { "a value of a loop" }, written);
        filled.text.push_str(written);
        return;
    }
    if let Some(filters) = filters {
        filled.lost.push(format!("line {line}: the filter {}", quoted(filters.trim())));
    }
    filled.read(name, rest);
}

/// A text without the lines that name a role, and these roles. A line that goes becomes an empty one, so that
/// lines keep their numbers.
fn joined(body: &str) -> (String, Vec<String>) {
    let (mut text, mut roles) = (String::with_capacity(body.len()), Vec::new());
    for line in body.split_inclusive('\n') {
        let role = line.trim().trim_start_matches('#').trim().strip_suffix(':').map(|role| role.trim_matches('*'));
        match role.filter(|role| matches!(*role, "system" | "user" | "assistant" | "developer" | "tool")) {
            Some(role) => {
                if !roles.iter().any(|known| known == role) {
                    roles.push(role.to_owned());
                }
                text.push('\n');
            }
            None => text.push_str(line),
        }
    }
    (text, roles)
}
