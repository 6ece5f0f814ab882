//! One entry put into a JSON text, with everything else in it left as it is written.
//!
//! Knows the shape `{"mcpServers": {NAME: {"command", "args"}}}` and nothing of files.

use super::SERVER;
use crate::document::STRICT;
use crate::names::quoted;
use crate::source::slug::parse;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, parse_to_ast};
use serde::de::IgnoredAny;

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Merged {
    /// The entry is there already.
    Same,
    /// The text with the entry in it.
    Changed(String),
}

/// Why an entry cannot be put into a text. Reads on from the file's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// Not JSON, by the strict rules that the clients read by.
    #[error(":{line}:{column}: not valid JSON: {why}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// What the parser says.
        why: String,
    },
    /// Something other than an object where an object is due.
    #[error(": {what} is not an object")]
    NotAnObject {
        /// The file's content, or the path of keys to the value.
        what: String,
    },
    /// The entry is there already, and something of it would be lost.
    #[error(": {what} is already there and {does}")]
    Another {
        /// The path of keys to the entry.
        what: String,
        /// What it starts or serves, or which options it has, made safe to show.
        does: String,
    },
    /// The name is taken by a server that is reached by an address.
    #[error(": {what} is already there and is a server with an address, not a program")]
    Taken {
        /// The path of keys to the entry.
        what: String,
    },
}

/// The byte-order mark that some editors put first. Clients don't read a file that begins with it:
/// one of them takes it for empty and overwrites it.
pub(super) const MARK: char = '\u{FEFF}';

/// The option that names a catalog.
const SOURCE: &str = "--source";
/// The API that `owner/repo` is at, where the entry names no other.
const API: &str = "https://api.github.com";

/// An entry: what a client starts.
#[derive(Debug)]
pub(super) struct ClientEntry<'a> {
    /// The name under which it stands.
    pub(super) server: &'a str,
    pub(super) command: &'a str,
    pub(super) arguments: &'a [String],
}

/// Sets `command` and `args` of one server; an empty text counts as an empty object. A byte-order
/// mark is removed. `replace` allows an entry to be overwritten that starts another program, serves
/// another catalog or has options that the new one lacks.
///
/// # Errors
/// When the text is not JSON or not shaped as a client's configuration, or the entry is another's.
pub(super) fn merged(text: &str, entry: &ClientEntry<'_>, replace: bool) -> Result<Merged, MergeError> {
    let ClientEntry { server, command, arguments } = *entry;
    let (marked, text) = text.strip_prefix(MARK).map_or((false, text), |rest| (true, rest));
    let root = strictly_read(text)?;
    let top = match root.value() {
        None => root.object_value_or_set(),
        value => object(value, "its content")?,
    };
    let servers = match last(&top, "mcpServers") {
        None => top.object_value_or_set("mcpServers"),
        Some(property) => object(property.value(), "mcpServers")?,
    };
    let path = format!("mcpServers.{server}");
    match last(&servers, server) {
        None => {
            let entry = vec![
                ("command".to_owned(), CstInputValue::String(command.to_owned())),
                ("args".to_owned(), list(arguments)),
            ];
            servers.append(server, CstInputValue::Object(entry));
        }
        Some(property) => {
            let entry = object(property.value(), &path)?;
            if last(&entry, "url").is_some() {
                return Err(MergeError::Taken { what: path });
            }
            let there = list_of(&entry, "args");
            if text_of(&entry, "command").as_deref() == Some(command) && there.as_deref() == Some(arguments) {
                return Ok(if marked { Merged::Changed(root.to_string()) } else { Merged::Same });
            }
            if let Some(does) = at_stake(&entry, command, arguments).filter(|_| !replace) {
                return Err(MergeError::Another { what: path, does });
            }
            put(&entry, "command", CstInputValue::String(command.to_owned()));
            put(&entry, "args", list(arguments));
        }
    }
    Ok(Merged::Changed(root.to_string()))
}

/// What would be lost of an entry that is overwritten: its program, its catalog, or options of it.
fn at_stake(entry: &CstObject, command: &str, arguments: &[String]) -> Option<String> {
    let theirs = text_of(entry, "command").filter(|theirs| ![program(command), SERVER].contains(&program(theirs)));
    if let Some(theirs) = theirs {
        return Some(format!("starts {}", quoted(&theirs)));
    }
    let there = list_of(entry, "args").unwrap_or_default();
    let (had, has) = (options(&there), options(arguments));
    let value = |options: &[(&str, &str)], name| {
        options.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    let env = || text_of(&last(entry, "env")?.value()?.as_object()?, "GITHUB_REPO_URL");
    let serves = value(&had, SOURCE).or_else(env);
    let api = value(&has, "--api-url").unwrap_or_else(|| API.to_owned());
    let same = |a: &str, b: &str| a == b || matches!((parse(a, &api), parse(b, &api)), (Ok(a), Ok(b)) if a == b);
    if let Some(serves) = serves.filter(|serves| value(&has, SOURCE).is_none_or(|source| !same(serves, &source))) {
        return Some(format!("serves {}", quoted(&serves)));
    }
    let lost: Vec<String> =
        had.iter().filter(|option| option.0 != SOURCE && !has.contains(option)).map(|(name, _)| quoted(name)).collect();
    (!lost.is_empty()).then(|| format!("has options that the new entry lacks or changes: {}", lost.join(", ")))
}

/// A program's name without its folder and ending.
fn program(command: &str) -> &str {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Arguments as options with their values, `--name value` and `--name=value` alike.
fn options(arguments: &[String]) -> Vec<(&str, &str)> {
    let mut options: Vec<(&str, &str)> = Vec::new();
    for word in arguments {
        match (word.split_once('='), options.last_mut()) {
            (Some(option), _) if word.starts_with('-') => options.push(option),
            (_, Some((name, value))) if name.starts_with('-') && value.is_empty() && !word.starts_with('-') => {
                *value = word;
            }
            _ => options.push((word, "")),
        }
    }
    options
}

/// Reads a text that the clients would read too.
fn strictly_read(text: &str) -> Result<CstRootNode, MergeError> {
    let refused = |error: ParseError| MergeError::Syntax {
        line: error.line_display(),
        column: error.column_display(),
        why: error.kind().to_string(),
    };
    // The tree keeps comments whatever the options say; only the plain parser refuses them.
    parse_to_ast(text, &CollectOptions::default(), &STRICT).map_err(refused)?;
    if !text.trim().is_empty() {
        // And neither of them minds a bare tab in a string or a blank that is not JSON's.
        serde_json::from_str::<IgnoredAny>(text).map_err(|error| MergeError::Syntax {
            line: error.line(),
            column: error.column().max(1),
            why: error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
        })?;
    }
    CstRootNode::parse(text, &STRICT).map_err(refused)
}

fn object(value: Option<CstNode>, what: &str) -> Result<CstObject, MergeError> {
    value.and_then(|value| value.as_object()).ok_or_else(|| MergeError::NotAnObject { what: what.to_owned() })
}

/// The property that counts: of two with one name the clients take the last.
fn last(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    object.properties().into_iter().rfind(|property| property.decoded_name().as_deref() == Some(name))
}

fn put(object: &CstObject, name: &str, value: CstInputValue) {
    match last(object, name) {
        Some(property) => property.set_value(value),
        None => {
            object.append(name, value);
        }
    }
}

fn list(texts: &[String]) -> CstInputValue {
    CstInputValue::Array(texts.iter().cloned().map(CstInputValue::String).collect())
}

fn text_of(object: &CstObject, name: &str) -> Option<String> {
    last(object, name)?.value()?.as_string_lit()?.decoded_value().ok()
}

fn list_of(object: &CstObject, name: &str) -> Option<Vec<String>> {
    let elements = last(object, name)?.value()?.as_array()?.elements();
    elements.into_iter().map(|element| element.as_string_lit()?.decoded_value().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_into(text: &str) -> Result<Merged, MergeError> {
        put_over(text, false)
    }

    fn put_over(text: &str, replace: bool) -> Result<Merged, MergeError> {
        let arguments = ["serve", "--source", "acme/flows"].map(str::to_owned);
        merged(text, &ClientEntry { server: "flowy", command: "/bin/flowy", arguments: &arguments }, replace)
    }

    fn changed(text: &str) -> String {
        match put_into(text) {
            Ok(Merged::Changed(text)) => {
                let value: serde_json::Value = serde_json::from_str(&text).expect("still JSON");
                assert_eq!(value["mcpServers"]["flowy"]["command"], "/bin/flowy", "{text}");
                assert_eq!(value["mcpServers"]["flowy"]["args"][2], "acme/flows", "{text}");
                assert_eq!(put_into(&text), Ok(Merged::Same), "a second time changes nothing");
                text
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn everything_else_stays_as_it_is_written() {
        let before = "{\n    \"globalShortcut\": \"Ctrl+\\u0041\",\n    \"numbers\": [1.0, 1e3,   123456789012345678901],\n    \"mcpServers\": {\n        \"zeta\": {\"command\": \"z\",  \"args\": []},\n        \"alpha\": { \"command\": \"a\" }\n    },\n    \"z\": null\n}\n";
        let after = changed(before);
        let expected = before.replace(
            "\"alpha\": { \"command\": \"a\" }\n",
            "\"alpha\": { \"command\": \"a\" },\n        \"flowy\": {\n            \"command\": \"/bin/flowy\",\n            \"args\": [\"serve\", \"--source\", \"acme/flows\"]\n        }\n",
        );
        assert_eq!(after, expected);
    }

    #[test]
    fn an_entry_that_is_there_keeps_its_place_and_its_other_keys() {
        let before = "{\"mcpServers\":{\"flowy\":{\"env\":{\"GITHUB_PAT\":\"x\"},\"command\":\"/old/flowy\",\"args\":[\"serve\"]},\"b\":{}},\"c\":1}";
        let expected = before
            .replace("/old/flowy", "/bin/flowy")
            .replace("[\"serve\"]", "[\"serve\", \"--source\", \"acme/flows\"]");
        assert_eq!(changed(before), expected);
    }

    #[test]
    fn tabs_and_carriage_returns_stay_and_a_byte_order_mark_goes() {
        let after = changed("\u{FEFF}{\r\n\t\"a\": 1\r\n}\r\n");
        assert!(after.starts_with("{\r\n\t\"a\": 1,\r\n\t\"mcpServers\": {\r\n\t\t\"flowy\": {\r\n"), "{after:?}");
        assert!(after.ends_with("}\r\n") && !after.replace("\r\n", "").contains(['\r', '\n']), "{after:?}");
        // Also where the entry is there already: the client can't read it as long as the mark is.
        assert_eq!(put_into(&format!("{MARK}{after}")), Ok(Merged::Changed(after)));
    }

    #[test]
    fn an_entry_of_which_something_would_be_lost_is_only_overwritten_on_demand() {
        for (entry, does) in [
            (r#"{"command":"/old/flowy","args":["serve","--source","acme/others"]}"#, r#"serves "acme/others""#),
            (r#"{"command":"flowy","args":["serve","--source=acme/others"]}"#, r#"serves "acme/others""#),
            (r#"{"command":"flowy","args":["serve","--source","acme/flows@v1"]}"#, r#"serves "acme/flows@v1""#),
            (
                r#"{"command":"flowy","env":{"GITHUB_REPO_URL":"https://github.com/b/c"}}"#,
                r#"serves "https://github.com/b/c""#,
            ),
            (r#"{"command":"docker","args":["run","-i","myflowy"]}"#, r#"starts "docker""#),
            (r#"{"command":"node","args":["old.js"]}"#, r#"starts "node""#),
            (
                r#"{"command":"flowy","args":["serve","--source","acme/flows","--expose=marked","--ref","v1","--warm"]}"#,
                r#"has options that the new entry lacks or changes: "--expose", "--ref", "--warm""#,
            ),
        ] {
            let before = format!(r#"{{"mcpServers":{{"flowy":{entry}}}}}"#);
            let refused = MergeError::Another { what: "mcpServers.flowy".to_owned(), does: does.to_owned() };
            assert_eq!(put_into(&before), Err(refused));
            assert!(matches!(put_over(&before, true), Ok(Merged::Changed(text)) if text.contains("acme/flows")));
        }
        for source in ["--source=acme/flows", r#"--source","https://github.com/acme/flows.git"#] {
            changed(&format!(
                r#"{{"mcpServers":{{"flowy":{{"command":"C:\\p\\flowy.exe","args":["serve","{source}"]}}}}}}"#
            ));
        }
    }

    #[test]
    fn an_empty_text_and_an_empty_object_get_the_list_of_servers() {
        for text in ["", " \n", "{}", "{ }", "{\"mcpServers\":{}}", "{\n}\n"] {
            changed(text);
        }
        assert_eq!(
            changed(""),
            "{\n  \"mcpServers\": {\n    \"flowy\": {\n      \"command\": \"/bin/flowy\",\n      \"args\": [\"serve\", \"--source\", \"acme/flows\"]\n    }\n  }\n}\n"
        );
    }

    #[test]
    fn of_two_properties_with_one_name_the_last_one_counts() {
        changed("{\"mcpServers\": {\"a\": {}}, \"mcpServers\": {\"flowy\": {\"command\": \"flowy\"}, \"flowy\": {}}}");
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_place() {
        for (text, line, column) in [
            ("{\n  \"a\": 1,\n}", 2, 9),
            ("{\n  // mine\n}", 2, 3),
            ("{\"é\": 1 \"b\": 2}", 1, 8),
            ("{'a': 1}", 1, 2),
            ("{", 1, 1),
            ("{} {}", 1, 4),
            ("{\"a\": 01}", 1, 8),
            ("{\"a\": \"x\ny\"}", 1, 8),
            ("{\"a\": \"x\ty\"}", 1, 8),
            ("{\"a\": \u{a0}1}", 1, 7),
        ] {
            match put_into(text) {
                Err(MergeError::Syntax { line: l, column: c, .. }) => assert_eq!((l, c), (line, column), "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        assert!(matches!(put_into(&"[".repeat(100_000)), Err(MergeError::Syntax { .. })));
    }

    #[test]
    fn what_is_not_an_object_is_refused_by_name() {
        for (text, what) in [
            ("[]", "its content"),
            ("{\"mcpServers\": []}", "mcpServers"),
            ("{\"mcpServers\": {\"flowy\": \"x\"}}", "mcpServers.flowy"),
        ] {
            assert_eq!(put_into(text), Err(MergeError::NotAnObject { what: what.to_owned() }));
        }
        let remote = put_into("{\"mcpServers\": {\"flowy\": {\"url\": \"https://x\"}}}");
        assert_eq!(remote, Err(MergeError::Taken { what: "mcpServers.flowy".to_owned() }));
    }
}
