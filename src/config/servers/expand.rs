//! `${VAR}` and `${VAR:-default}` in a text. What the text is for is not known here.

use std::ffi::OsStr;

/// A text with its variables filled in.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    pub(super) text: String,
    /// What was filled in from the environment, by name.
    pub(super) used: Vec<(String, String)>,
}

/// Why a text can't be filled in.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfilled {
    Unset(String),
    NotUnicode(String),
    NoName,
}

/// Fills in a text, once: what is inserted is not looked at again.
///
/// A variable that is set to nothing is nothing, and has its default where one is written.
pub(super) fn expand<'e>(text: &str, variable: impl Fn(&str) -> Option<&'e OsStr>) -> Result<Expanded, Unfilled> {
    let mut out = Expanded::default();
    let mut rest = text;
    while let Some((before, begun)) = rest.split_once("${") {
        out.text.push_str(before);
        let Some((inside, after)) = begun.split_once('}') else { return Err(Unfilled::NoName) };
        rest = after;
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        // A default is a text as it stands: none that would be filled in itself.
        if !is_name(name) || default.is_some_and(|default| default.contains("${")) {
            return Err(Unfilled::NoName);
        }
        match (variable(name).map(OsStr::to_str), default) {
            (Some(None), _) => return Err(Unfilled::NotUnicode(name.to_owned())),
            (Some(Some("")) | None, Some(default)) => out.text.push_str(default),
            (Some(Some(value)), _) => {
                out.text.push_str(value);
                out.used.push((name.to_owned(), value.to_owned()));
            }
            (None, None) => return Err(Unfilled::Unset(name.to_owned())),
        }
    }
    out.text.push_str(rest);
    Ok(out)
}

/// The names of the variables in a text that have no default there.
pub(super) fn without_default(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some((inside, after)) = rest.split_once("${").and_then(|(_, begun)| begun.split_once('}')) {
        names.extend(Some(inside).filter(|name| is_name(name)).map(str::to_owned));
        rest = after;
    }
    names
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Result<String, Unfilled> {
        let variable = |name: &str| match name {
            "A" => Some(OsStr::new("${B}")),
            "EMPTY" => Some(OsStr::new("")),
            _ => None,
        };
        expand(text, variable).map(|expanded| expanded.text)
    }

    #[test]
    fn a_variable_is_filled_in_once_and_a_default_stands_in() {
        for (text, due) in [
            ("", ""),
            ("plain $A {A} $", "plain $A {A} $"),
            ("<${A}>", "<${B}>"),
            ("${EMPTY}|${EMPTY:-e}|${GONE:-a b:-c}|${GONE:-}", "|e|a b:-c|"),
            ("é${A}é", "é${B}é"),
        ] {
            assert_eq!(filled(text).as_deref(), Ok(due), "{text}");
        }
    }

    #[test]
    fn what_has_no_default_is_named_without_looking_it_up() {
        assert_eq!(without_default("${A} ${B:-b} $C ${D}${1X} ${A"), ["A", "D"]);
    }

    #[test]
    fn what_is_not_set_or_no_name_is_told() {
        assert_eq!(filled("${GONE}"), Err(Unfilled::Unset("GONE".to_owned())));
        for text in ["${", "${}", "${1X}", "${input:key}", "${A B}", "${A", "${GONE:-${A}}"] {
            assert_eq!(filled(text), Err(Unfilled::NoName), "{text}");
        }
    }
}
