//! What servers say, made safe to repeat: no tokens of any form, no tricks with the terminal.

use crate::config::{Secret, redact};
use crate::names::shown;

/// The longest message that is repeated, in characters.
const LONGEST: usize = 300;
/// Runs of a token's letters from this length on count as a leak of it.
const PIECE: usize = 8;

const PREFIXES: [&str; 6] = ["github_pat_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"];

/// A server's text in one line, without control characters, and with everything that is or looks
/// like a token replaced.
pub(super) fn clean(text: &str, token: Option<&Secret>) -> String {
    let known = token.map(std::slice::from_ref).unwrap_or_default();
    shown(&without_tokens(&redact(text, known), token), LONGEST)
}

fn without_tokens(text: &str, token: Option<&Secret>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut word = String::new();
    let mut after_scheme = false;
    for c in text.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
            word.push(c);
            continue;
        }
        let scheme = word.eq_ignore_ascii_case("bearer") || word.eq_ignore_ascii_case("basic");
        if (after_scheme && word.len() >= PIECE) || is_token(&word, token) {
            out.push_str("[redacted]");
        } else {
            out.push_str(&word);
        }
        after_scheme = scheme || (after_scheme && word.is_empty());
        word.clear();
        out.push(c);
    }
    out.pop();
    out
}

fn is_token(word: &str, token: Option<&Secret>) -> bool {
    if word.len() < PIECE {
        return false;
    }
    let known = PREFIXES.iter().any(|prefix| word.contains(prefix));
    known
        || token.is_some_and(|token| {
            token.expose().contains(word) || (token.expose().len() >= PIECE && word.contains(token.expose()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_every_form_are_taken_out() {
        let token = Secret::new("abcDEF123_opaque-enterprise-token".to_owned());
        for leak in [
            "Bad credentials for ghp_AAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "github_pat_11AAAAAAA0abcdefghij_KLMNOPQRST: bad",
            "see https://x:ghs_0123456789abcdef@github.com/",
            "token abcDEF123_opaque-enterprise-token is bad",
            "cut: opaque-enterprise",
            "Authorization: Bearer eyJhbGciOi.x",
        ] {
            let safe = clean(leak, Some(&token));
            assert!(safe.contains("[redacted]"), "{safe}");
            for part in ["AAAAAAAA", "KLMNOPQRST", "0123456789abcdef", "opaque", "eyJhbGciOi"] {
                assert!(!safe.contains(part), "{safe}");
            }
        }
    }

    #[test]
    fn ordinary_words_stay() {
        let text = "No commit found for SHA: feature/new-tone (422)";
        assert_eq!(clean(text, Some(&Secret::new("ghp_zzzzzzzzzzzzzzzzzzzz".to_owned()))), text);
        assert_eq!(clean("a\u{1b}[31m\nb", None), "a[31m b");
    }
}
