//! Which tools of a server flows may call: nothing, unless the operator says so.

use crate::names::unprintable;

/// The word for every tool that is annotated as changing nothing.
pub const READ_ONLY: &str = "readOnly";
/// The longest pattern, in characters.
const LONGEST: usize = 200;

/// What may be called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allow {
    /// Whether every tool that is annotated as changing nothing is allowed. The annotation is the
    /// server's own word.
    pub read_only: bool,
    /// Names of tools, with `*` and `?`.
    pub patterns: Vec<Pattern>,
}

impl Allow {
    /// Whether none but such tools are, if any.
    pub fn reads_only(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether a tool may be called.
    pub fn allows(&self, tool: &str, read_only: bool) -> bool {
        (self.read_only && read_only) || self.patterns.iter().any(|pattern| pattern.fits(tool))
    }
}

/// A tool's name in which `*` stands for any characters and `?` for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// Checks the spelling and keeps the text.
    ///
    /// # Errors
    /// When no tool's name could fit.
    pub fn new(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            Err("is empty")
        } else if text.contains(':') {
            Err("has a colon in it; tools are named here without their server")
        } else if text.contains(['[', ']', '{', '}', '!', '\\']) {
            Err("has a sign in it that no tool's name has; only * and ? are special")
        } else if text.chars().any(|c| c.is_whitespace() || unprintable(c)) {
            Err("has a blank or a control character in it")
        } else if text.chars().count() > LONGEST {
            Err("is longer than 200 characters")
        } else {
            Ok(Self(text.to_owned()))
        }
    }

    /// The pattern as it is written.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether it is the word for every tool that changes nothing, nearly: it is not, and names a tool.
    pub fn is_nearly_read_only(&self) -> bool {
        let letters: String = self.0.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
        let plain = letters.strip_suffix("hint").or_else(|| letters.strip_suffix("tools")).unwrap_or(&letters);
        plain == "readonly"
    }

    /// Whether a name fits.
    pub fn fits(&self, name: &str) -> bool {
        fits(&self.0, name)
    }
}

/// Whether a name fits a pattern, in which `*` stands for any characters and `?` for one. In time that grows
/// with the two lengths, whatever the pattern.
pub fn fits(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut seen) = (0, 0);
    // Where to go on when a star has to take one more character.
    let mut back: Option<(usize, usize)> = None;
    while let Some(c) = name.get(seen) {
        match pattern.get(at) {
            Some('*') => {
                back = Some((at, seen));
                at += 1;
            }
            Some(p) if *p == '?' || p == c => {
                at += 1;
                seen += 1;
            }
            _ => match back {
                Some((star, taken)) => {
                    back = Some((star, taken + 1));
                    at = star + 1;
                    seen = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_fit_as_in_a_shell() {
        for (pattern, name, fits) in [
            ("navigate", "navigate", true),
            ("navigate", "navigate2", false),
            ("*", "", true),
            ("*", "anything", true),
            ("browser_*", "browser_click", true),
            ("browser_*", "browser", false),
            ("*_requests", "network_requests", true),
            ("a*b*c", "aXbXbYc", true),
            ("a*b*c", "aXbXbY", false),
            ("get_?", "get_x", true),
            ("get_?", "get_", false),
            ("???", "éüß", true),
            ("Get", "get", false),
        ] {
            assert_eq!(Pattern::new(pattern).expect("a pattern").fits(name), fits, "{pattern} {name}");
        }
        let hostile = Pattern::new(&"a*".repeat(90)).expect("a pattern");
        assert!(!hostile.fits(&"a".repeat(5_000).replace("aaaaaaaaaa", "aaaaaaaaab").repeat(3).replace('a', "b")));
    }

    #[test]
    fn nothing_is_allowed_unless_it_is_named_or_changes_nothing() {
        let none = Allow::default();
        assert!(!none.allows("read", true) && !none.allows("write", false));
        let reading = Allow { read_only: true, patterns: vec![Pattern::new("write_note").expect("a pattern")] };
        assert!(reading.allows("read", true) && reading.allows("write_note", false));
        assert!(!reading.allows("write", false));
    }

    #[test]
    fn what_fits_no_name_is_refused() {
        for text in ["", "a b", "a:b", "[a]", "{a,b}", "a\u{202E}", "a\\", &"x".repeat(201)] {
            assert!(Pattern::new(text).is_err(), "{text:?}");
        }
    }
}
