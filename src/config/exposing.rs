//! Which flows may be tools of their own: how the operator says it.
//!
//! These are the operator's words and never a repository's: what a flow asks for is not known here.

use std::fmt;

use super::error::SettingsError;
use super::reading::{GivenSetting, bad_spelling, not_a_choice};
use crate::names::{unprintable, words};

/// The longest prefix, in characters: with a name of 40 it stays below the 64 that clients take.
const LONGEST_PREFIX: usize = 16;
/// The word for no prefix at all: an empty setting counts as not set.
const NO_PREFIX: &str = "none";
/// How the names of the server's own tools begin.
const OWN: &str = "flows";

words! {
    /// Which flows are offered as tools of their own.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum Expose {
        /// None: the list of tools is the same for every catalog.
        #[default]
        None = "none",
        /// Those that ask for it (`expose: true`) and stand on the operator's list.
        Marked = "marked",
        /// All, or those of the list where there is one.
        All = "all",
    }
}

/// The operator's list of flows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExposeList {
    /// `*`: every flow.
    Every,
    /// These, by their exact names; in the order given.
    Named(Vec<String>),
}

impl Default for ExposeList {
    fn default() -> Self {
        Self::Named(Vec::new())
    }
}

impl ExposeList {
    /// The names on it; none where it stands for every flow.
    pub fn names(&self) -> &[String] {
        match self {
            Self::Every => &[],
            Self::Named(names) => names,
        }
    }
}

/// As it would be written.
impl fmt::Display for ExposeList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Every => f.write_str("*"),
            Self::Named(names) => f.write_str(&names.join(",")),
        }
    }
}

/// A prefix as it would be written.
pub(super) fn prefix_word(prefix: &str) -> &str {
    if prefix.is_empty() { NO_PREFIX } else { prefix }
}

/// Whether a name is the server's own, or would be taken for it: `flows`, or one that begins with
/// `flows_` or `flows-`, however it is cased.
pub fn reserved_tool_name(name: &str) -> bool {
    let plain = name.to_ascii_lowercase();
    plain.strip_prefix(OWN).is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '-']))
}

/// `none`, `marked` or `all`.
///
/// # Errors
/// `NotAChoice`.
pub(super) fn expose(given: GivenSetting<'_>) -> Result<Expose, SettingsError> {
    let word = given.text.to_ascii_lowercase();
    Expose::named(&word).ok_or_else(|| not_a_choice(given, &Expose::WORDS))
}

/// Names with commas between them, or `*`.
///
/// # Errors
/// `BadSpelling`.
pub(super) fn expose_list(given: GivenSetting<'_>) -> Result<ExposeList, SettingsError> {
    if given.text.chars().any(unprintable) {
        return Err(bad_spelling(given, "it holds control or bidirectional characters"));
    }
    let mut names: Vec<String> = Vec::new();
    for name in given.text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        if name == "*" {
            return Ok(ExposeList::Every);
        }
        if !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
    }
    Ok(ExposeList::Named(names))
}

/// What the names of such tools begin with; empty where the word is `none`.
///
/// # Errors
/// `BadSpelling`.
pub(super) fn expose_prefix(given: GivenSetting<'_>) -> Result<String, SettingsError> {
    let text = given.text;
    let why = if text == NO_PREFIX {
        return Ok(String::new());
    } else if text.len() > LONGEST_PREFIX {
        "it is longer than 16 characters"
    } else if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
        "it is spelt with letters and digits of ASCII, _ and -; none stands for no prefix"
    } else if reserved_tool_name(text) {
        "the names of the server's own tools begin like this"
    } else {
        return Ok(text.to_owned());
    };
    Err(bad_spelling(given, why))
}

#[cfg(test)]
mod tests {
    use super::super::error::{Origin, Place};
    use super::*;

    fn given(text: &str) -> GivenSetting<'_> {
        GivenSetting::of(text, Place { setting: "--expose".to_owned(), origin: Origin::Flag })
    }

    #[test]
    fn a_list_holds_each_name_once_and_a_star_is_every_flow() {
        let list = |text| expose_list(given(text)).unwrap();
        assert_eq!(list(" A , B b,,A"), ExposeList::Named(vec!["A".to_owned(), "B b".to_owned()]));
        assert_eq!(list("A, *"), ExposeList::Every);
        assert_eq!((list("A, B").to_string(), list("*").to_string()), ("A,B".to_owned(), "*".to_owned()));
        assert!(expose_list(given("A\u{202E}")).is_err());
    }

    #[test]
    fn a_prefix_is_short_plain_and_not_the_servers_own() {
        let prefix = |text| expose_prefix(given(text));
        for fine in ["flow_", "run-", "A", "flowsheet_", "0123456789abcdef"] {
            assert_eq!(prefix(fine).unwrap(), fine);
        }
        assert_eq!((prefix("none").unwrap().as_str(), prefix_word("")), ("", "none"));
        for bad in ["0123456789abcdefg", "a b", "é", "a/", "flows_", "FLOWS-x", "flows"] {
            assert!(matches!(prefix(bad), Err(SettingsError::BadSpelling { .. })), "{bad}");
        }
    }

    #[test]
    fn an_unknown_choice_names_those_there_are() {
        assert_eq!(expose(given("Marked")).unwrap(), Expose::Marked);
        let error = expose(given("some")).unwrap_err().to_string();
        assert!(["none", "marked", "all"].iter().all(|word| error.contains(word)), "{error}");
    }
}
