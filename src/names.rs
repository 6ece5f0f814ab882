//! Spelling rules of every name and id, checked once, when a value is made.
//!
//! A name that exists has passed its check, so no other room checks again. This room knows
//! nothing of files, flows or networks; it only knows how things may be spelt, and it owns the
//! two texts helpers everybody needs for names: the nearest spelling ("did you mean") and the
//! safe form in which untrusted text is shown.

mod alike;
mod few;
mod legible;
mod nearest;
mod words;

use std::borrow::Borrow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

pub use alike::{folded, same_file};
pub use few::{Few, MOST_NAMED, counted, few, grouped};
pub use legible::{hidden, invisible, legible, spelt_in_tags, unseen};
pub use nearest::{Comparisons, did_you_mean, nearest, nearly_same};
pub(crate) use words::{text_type, words};

/// Longest name of a flow or template, in characters.
pub const LONGEST_NAME: usize = 200;
/// Longest node id, in characters.
pub const LONGEST_NODE_ID: usize = 50;

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} {shown} is not allowed: {why}")]
pub struct NameError {
    /// What was to be named, for example `flow name`.
    pub what: &'static str,
    /// The offending text, already made safe to show.
    pub shown: String,
    /// The rule it breaks.
    pub why: &'static str,
}

impl NameError {
    fn new(what: &'static str, text: &str, why: &'static str) -> Self {
        Self { what, shown: quoted(text), why }
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $check:expr) => {
        text_type! {
            $(#[$doc])*
            #[derive(Serialize, Deserialize)]
            #[serde(try_from = "String")]
            $name
        }

        #[allow(dead_code, reason = "each kind of name can do the same")]
        impl $name {
            /// Checks the spelling and keeps the text.
            ///
            /// # Errors
            /// When the text breaks a spelling rule of this kind of name.
            pub fn new(text: &str) -> Result<Self, NameError> {
                let check: fn(&str) -> Result<(), &'static str> = $check;
                match check(text) {
                    Ok(()) => Ok(Self(Arc::from(text))),
                    Err(why) => Err(NameError::new($what, text, why)),
                }
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        // Compared and hashed as its text is, so that a map finds it by one.
        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                Self::new(&text)
            }
        }
    };
}

name!(
    /// The name by which a flow or a template is asked for: 1–200 characters of any script.
    ///
    /// It is looked up in a map and never becomes a path; that `/`, `\` and `..` are refused all
    /// the same is so that a name can be shown, logged and put into a URI without a second look.
    ItemName, "name", item_name
);
name!(
    /// A node's id within its flow: 1–50 characters, no control, bidirectional or invisible ones.
    NodeId, "node id", node_id
);
name!(
    /// A variable's name: Unicode `XID_Continue` characters and `-`, in NFC.
    VariableName, "variable name", variable_name
);
name!(
    /// A full git object id: 40 lower-case hexadecimal digits. Commits and blobs alike.
    ObjectId, "git object id", object_id
);
name!(
    /// A branch, a tag or a commit, as git spells them (`git check-ref-format`).
    RefName, "ref", ref_name
);
name!(
    /// A path inside a catalog: relative, `/`-separated, without `.`, `..`, empty or hidden tricks.
    CatalogPath, "path", catalog_path
);

impl VariableName {
    /// The same name in NFC, which is how names are compared.
    ///
    /// # Errors
    /// When the text is not a variable name.
    pub fn normal(text: &str) -> Result<Self, NameError> {
        if text.is_ascii() { Self::new(text) } else { Self::new(&nfc(text)) }
    }
}

/// A file's name without folders and without its extension; `.flow.md` is one.
pub fn file_stem(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    let long = file.len().checked_sub(FLOW_ENDING.len()).filter(|at| *at > 0);
    match long.and_then(|at| file.split_at_checked(at)) {
        Some((stem, ending)) if ending.eq_ignore_ascii_case(FLOW_ENDING) => stem,
        _ => file.rsplit_once('.').map_or(file, |(stem, _)| stem),
    }
}

/// How the name of a flow in Markdown ends.
pub const FLOW_ENDING: &str = ".flow.md";

impl CatalogPath {
    /// The path of a file within the folder of its catalog; none where it lies elsewhere, or its path can't be one.
    pub fn below(root: &Path, file: &Path) -> Option<Self> {
        Self::new(&file.strip_prefix(root).ok()?.to_str()?.replace('\\', "/")).ok()
    }

    /// The file's name without folders and without its extension.
    pub fn stem(&self) -> &str {
        file_stem(&self.0)
    }

    /// The folders between the first one and the file, for example `sales` of `flows/sales/a.json`.
    pub fn folder(&self) -> Option<&str> {
        let (folders, _file) = self.0.rsplit_once('/')?;
        folders.split_once('/').map(|(_, rest)| rest)
    }
}

/// A repository on GitHub: `owner/name`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RepoSlug {
    /// User or organisation.
    pub owner: String,
    /// Repository, without `.git`.
    pub repo: String,
}

impl RepoSlug {
    /// Both halves, checked against what GitHub allows: letters, digits, `-`, `_` and `.`.
    ///
    /// # Errors
    /// When a half is empty, too long, or holds another character.
    pub fn new(owner: &str, repo: &str) -> Result<Self, NameError> {
        let fine = |text: &str| {
            !text.is_empty()
                && text.len() <= 100
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
                && !text.bytes().all(|b| b == b'.')
        };
        for half in [owner, repo] {
            if !fine(half) {
                return Err(NameError::new(
                    "repository",
                    &format!("{owner}/{repo}"),
                    "a repository is owner/name, of letters, digits, -, _ and .",
                ));
            }
        }
        Ok(Self { owner: owner.to_owned(), repo: repo.to_owned() })
    }
}

impl fmt::Display for RepoSlug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.repo)
    }
}

fn item_name(text: &str) -> Result<(), &'static str> {
    let length = text.chars().count();
    if length == 0 {
        Err("it is empty")
    } else if length > LONGEST_NAME {
        Err("it is longer than 200 characters")
    } else if text.contains(['/', '\\']) {
        Err("it holds a slash; a name is not a path")
    } else if text.contains("..") {
        Err("it holds two dots in a row; a name is not a path")
    } else if text.chars().any(unprintable) {
        Err("it holds control, bidirectional or invisible characters")
    } else if text.trim().is_empty() {
        Err("it is blank")
    } else {
        Ok(())
    }
}

fn node_id(text: &str) -> Result<(), &'static str> {
    if text.trim().is_empty() {
        Err("it is empty")
    } else if text.chars().count() > LONGEST_NODE_ID {
        Err("it is longer than 50 characters")
    } else if text.chars().any(unprintable) {
        Err("it holds control, bidirectional or invisible characters")
    } else {
        Ok(())
    }
}

fn variable_name(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        Err("it is empty")
    } else if text.chars().count() > LONGEST_NAME {
        Err("it is longer than 200 characters")
    } else if !text.chars().all(variable_char) {
        Err("a variable is spelt with letters and digits of any script, _ and -")
    } else {
        Ok(())
    }
}

fn object_id(text: &str) -> Result<(), &'static str> {
    if text.len() == 40 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        Ok(())
    } else {
        Err("an object id is 40 lower-case hexadecimal digits")
    }
}

fn ref_name(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        Err("it is empty")
    } else if text.len() > 250 {
        Err("it is longer than 250 bytes")
    } else if text.starts_with(['-', '/', '.'])
        || text.ends_with(['/', '.'])
        || text.rsplit_once('.').is_some_and(|(_, end)| end == "lock")
    {
        Err("it begins or ends with a character that git does not allow there")
    } else if text.contains("..") || text.contains("//") || text.contains("/.") || text.contains("@{") || text == "@" {
        Err("it holds a sequence that git does not allow in a ref")
    } else if text.chars().any(|c| unprintable(c) || " ~^:?*[\\".contains(c)) {
        Err("it holds a character that git does not allow in a ref")
    } else {
        Ok(())
    }
}

fn catalog_path(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        Err("it is empty")
    } else if text.len() > 1024 {
        Err("it is longer than 1,024 bytes")
    } else if text.chars().any(|c| unprintable(c) || c == '\\') {
        Err("it holds control, bidirectional or invisible characters, or a backslash")
    } else if text.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
        Err("it is not a plain relative path")
    } else {
        Ok(())
    }
}

/// Whether a character may be part of a variable's name (`XID_Continue` and `-`).
pub fn variable_char(c: char) -> bool {
    c == '-' || unicode_ident::is_xid_continue(c)
}

/// A text in Unicode normalisation form C.
pub fn nfc(text: &str) -> String {
    if text.is_ascii() { text.to_owned() } else { text.nfc().collect() }
}

/// Control, bidirectional and invisible characters: they change how the text around them is shown, or
/// are not shown at all.
pub fn unprintable(c: char) -> bool {
    c.is_control()
        || invisible(c)
        || matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

/// A text as it stands inside a JSON text, without the quotation marks around it.
pub fn inside_json(text: &str) -> String {
    // A text can always be written.
    let quoted = serde_json::to_string(text).unwrap_or_default();
    quoted.strip_prefix('"').and_then(|inside| inside.strip_suffix('"')).unwrap_or_default().to_owned()
}

/// Untrusted text made safe for one line of a message: unprintable characters are dropped
/// (line breaks and tabs become blanks) and no more than `longest` characters are kept.
pub fn shown(text: &str, longest: usize) -> String {
    let mut out = String::with_capacity(text.len().min(longest.saturating_mul(4)));
    let mut kept = 0;
    for c in text.chars() {
        let c = if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c };
        if unprintable(c) {
            continue;
        }
        if kept == longest {
            out.push('…');
            break;
        }
        out.push(c);
        kept += 1;
    }
    out
}

/// The same for a message that is made: names and labels of files may stand in it.
pub fn printable(message: String) -> String {
    if message.chars().any(unprintable) { shown(&message, usize::MAX) } else { message }
}

/// A word as a POSIX shell reads it back.
pub fn shell_word(text: &str) -> String {
    let text = shown(text, 300);
    let plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,…".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// A text's beginning of so many characters, with dots behind it where it is longer.
pub fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A text with a capital at its beginning.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}

/// Untrusted text in quotation marks, made safe, at most 80 characters of it.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", shown(text, 80))
}

/// What RFC 3986 leaves unencoded, section 2.3.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A name as one segment of an address, percent-encoded.
pub fn segment(text: &str) -> String {
    utf8_percent_encode(text, UNRESERVED).to_string()
}

/// The address of what a step of an execution gave.
pub fn step_address(execution: &str, step: &str) -> String {
    format!("execution://{}/{}", segment(execution), segment(step))
}

/// Whether a file in Markdown of that stem is about a repository, and so never a template.
pub fn is_about(stem: &str) -> bool {
    let about = ["readme", "changelog", "contributing", "license", "code_of_conduct", "agents", "claude"];
    about.iter().any(|other| stem.eq_ignore_ascii_case(other))
}

/// An id of a step that no placeholder can name: what stands in it, and the id without that.
pub fn unreadable_id(id: &str) -> Option<(String, String)> {
    let odd = id.chars().find(|c| !variable_char(*c))?;
    let what = if odd == ' ' { "a blank".to_owned() } else { quoted(&odd.to_string()) };
    let plain: String = id.trim().chars().map(|c| if variable_char(c) { c } else { '_' }).collect();
    Some((format!("{what} stands in the id {}, so that no text can read what this step gives", quoted(id)), plain))
}

/// A name in NFC with underscores read as blanks: `Brand_Plan` and `Brand Plan` are one.
pub fn spaced(name: &str) -> String {
    nfc(name).replace('_', " ")
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_any_script_with_signs_is_fine_and_a_path_is_not() {
        for fine in ["Marketing_Strategy", "Mail & Report (v2)", "C# + F#", "마케팅 전략", "a"] {
            assert!(ItemName::new(fine).is_ok(), "{fine}");
        }
        for bad in ["", " ", "../x", "a/b", "a\\b", "a..b", "a\u{202E}b", "a\nb", &"x".repeat(201)] {
            assert!(ItemName::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn refs_follow_git() {
        for fine in ["main", "feature/new-tone", "v1.2.3", "a#b", "release-é"] {
            assert!(RefName::new(fine).is_ok(), "{fine}");
        }
        for bad in ["", "-x", "a..b", "a b", "a~1", "x.lock", "a//b", "@", "a\\b", "/a", "a/"] {
            assert!(RefName::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_path_stays_inside() {
        assert!(CatalogPath::new("flows/sales/Q1 report.json").is_ok());
        for bad in ["", "/etc/passwd", "flows/../x", "./a", "a//b", "a\\b"] {
            assert!(CatalogPath::new(bad).is_err(), "{bad:?}");
        }
        let path = CatalogPath::new("flows/sales/eu/Q1.v2.json").expect("fine");
        assert_eq!((path.stem(), path.folder()), ("Q1.v2", Some("sales/eu")));
        assert_eq!(CatalogPath::new("flows/a.json").expect("fine").folder(), None);
    }

    #[test]
    fn names_are_compared_in_nfc() {
        let composed = VariableName::normal("caf\u{e9}").expect("fine");
        let decomposed = VariableName::normal("cafe\u{301}").expect("fine");
        assert_eq!(composed, decomposed);
    }

    #[test]
    fn shown_text_cannot_move_the_cursor() {
        assert_eq!(shown("a\u{1b}[31mb\u{202E}c\nd", 80), "a[31mbc d");
        assert_eq!(shown("abcdef", 3), "abc…");
        assert_eq!(shown("abc\u{7}", usize::MAX), "abc");
    }
}
