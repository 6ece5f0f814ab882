//! Tokens: kept from being shown, and masked wherever a text might hold one.
//!
//! This file does not know where a token comes from or what it opens.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// What stands where a token stood.
pub const REDACTED: &str = "[redacted]";

/// The beginnings of GitHub's tokens: personal (classic), OAuth, app user, app installation,
/// refresh, and fine-grained personal.
///
/// Source: GitHub's documentation, "About authentication to GitHub", token formats.
const BEGINNINGS: [&str; 6] = ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"];

/// Fewer characters than this after a beginning are the name of a format, not a token.
const SHORTEST_REST: usize = 6;

/// Shorter spellings than this would mask parts of ordinary words.
const SHORTEST_SPELLING: usize = 6;

/// A text that must never be shown: a token.
#[derive(Clone)]
pub struct Secret {
    text: String,
    /// How else it may be written, made once: texts are searched for all of them.
    spellings: Arc<[String]>,
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Secret {}

/// What kind of token of GitHub's a secret is, by its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A personal one whose permissions and repositories are chosen one by one.
    FineGrained,
    /// A personal one with scopes, each for all repositories.
    Classic,
    /// An app's, for as long as an hour.
    App,
    /// Of a sign-in through an app, such as GitHub's own command line.
    SignIn,
    /// None that is known.
    Other,
}

impl TokenKind {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::FineGrained => "a fine-grained token",
            Self::Classic => "a classic token",
            Self::App => "an app's token",
            Self::SignIn => "a token of a sign-in",
            Self::Other => "a token",
        }
    }
}

impl Secret {
    /// What kind of token it is.
    pub fn kind(&self) -> TokenKind {
        let begins = |word: &str| self.text.starts_with(word);
        if begins("github_pat_") {
            TokenKind::FineGrained
        } else if begins("ghp_") {
            TokenKind::Classic
        } else if begins("ghs_") {
            TokenKind::App
        } else if begins("gho_") || begins("ghu_") {
            TokenKind::SignIn
        } else {
            TokenKind::Other
        }
    }

    /// Wraps a secret text.
    pub fn new(text: String) -> Self {
        let spellings = spellings(&text);
        Self { text, spellings }
    }

    /// The secret itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.text
    }
}

/// A secret as programs hand it on: escaped for an address or for JSON, and what is the same in every
/// text of base64 that holds it, whatever stands before and behind it.
fn spellings(text: &str) -> Arc<[String]> {
    let mut all: Vec<String> = Vec::new();
    let mut add = |spelling: &str| {
        if spelling.len() >= SHORTEST_SPELLING && spelling != text && all.iter().all(|known| known != spelling) {
            all.push(spelling.to_owned());
        }
    };
    add(&utf8_percent_encode(text, NON_ALPHANUMERIC).to_string());
    let json = serde_json::Value::from(text).to_string();
    add(json.trim_matches('"'));
    for before in 0..3 {
        let padded: Vec<u8> = std::iter::repeat_n(0, before).chain(text.bytes()).collect();
        // Characters that hold bits of what stands around are not the secret's.
        let (first, last) = ((before * 8).div_ceil(6), padded.len() * 8 / 6);
        for encoded in [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)] {
            add(encoded.get(first..last).unwrap_or_default());
        }
    }
    all.into()
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// The text with every token masked: the given secrets, and whatever is spelt like a GitHub token.
///
/// Secrets are masked wherever they occur, so old tokens (40 hexadecimal digits, which look like
/// any commit) are masked when they are the configured one and commits stay readable.
pub fn redact<'t>(text: &'t str, secrets: &[Secret]) -> Cow<'t, str> {
    let mut text = Cow::Borrowed(text);
    let spelt = secrets.iter().flat_map(|secret| secret.spellings.iter().map(String::as_str));
    let mut known: Vec<&str> =
        secrets.iter().map(Secret::expose).chain(spelt).filter(|secret| !secret.is_empty()).collect();
    // The longest first: a secret may be the beginning of another one.
    known.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
    for secret in known {
        if text.contains(secret) {
            text = Cow::Owned(text.replace(secret, REDACTED));
        }
    }
    match spelt_like_tokens_masked(&text) {
        Some(masked) => Cow::Owned(masked),
        None => text,
    }
}

/// `None` when there is nothing to mask, which is nearly always.
fn spelt_like_tokens_masked(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    let mut masked = false;
    while let Some(at) = rest.find('g') {
        let (before, here) = rest.split_at(at);
        out.push_str(before);
        if let Some(length) = token_length(here) {
            out.push_str(REDACTED);
            rest = here.get(length..).unwrap_or_default();
            masked = true;
        } else {
            let (first, after) = here.split_at(1);
            out.push_str(first);
            rest = after;
        }
    }
    out.push_str(rest);
    masked.then_some(out)
}

/// How many bytes of a token the text begins with.
fn token_length(text: &str) -> Option<usize> {
    let beginning = BEGINNINGS.iter().find(|beginning| text.starts_with(**beginning))?.len();
    // Installation tokens may be signed ones with dots and dashes in them; a full stop that ends
    // a sentence is given back.
    let rest = text.get(beginning..)?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))).unwrap_or(rest.len());
    let length = rest.get(..end)?.trim_end_matches(['.', '-']).len();
    (length >= SHORTEST_REST).then_some(beginning + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret {
        Secret::new(text.to_owned())
    }

    #[test]
    fn a_secret_shows_itself_in_no_format() {
        let token = secret("ghp_0123456789abcdef");
        assert_eq!(format!("{token:?} {token} {:?}", Some(&token)), "Secret(…) [redacted] Some(Secret(…))");
        assert_eq!(token.expose(), "ghp_0123456789abcdef");
    }

    #[test]
    fn a_secret_is_masked_however_it_is_written_for_another_program() {
        let secrets = [secret("s3cr3t/key\"é~1")];
        for around in ["", "a", "ab", "user:", "x-access-token:"] {
            for behind in ["", "b", "bc"] {
                let text = format!("{around}{}{behind}", secrets[0].expose());
                for encoded in [STANDARD_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
                    let masked = redact(&encoded, &secrets).into_owned();
                    assert!(masked.contains(REDACTED), "{text}: {masked}");
                }
            }
        }
        for text in ["?key=s3cr3t%2Fkey%22%C3%A9%7E1&x", r#"{"key":"s3cr3t/key\"é~1"}"#] {
            assert!(redact(text, &secrets).contains(REDACTED), "{text}");
        }
    }

    #[test]
    fn every_form_of_github_token_is_masked_anywhere() {
        for token in [
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
            "gho_16C7e42F292c6912E7710c838347Ae178B4a",
            "ghu_16C7e42F292c6912E7710c838347Ae178B4a",
            "ghs_16C7e42F292c6912E7710c838347Ae178B4a",
            "ghs_12345_eyJhbGciOi.eyJpc3Mi-Oi.c2lnbmF0dXJl",
            "ghr_16C7e42F292c6912E7710c838347Ae178B4a",
            "github_pat_11ABCDEFG0123456789_abcdefghijklmnopqrstuvwxyz",
        ] {
            let text = format!("{token} x{token}: \"Bearer {token}\", https://{token}@github.com. Ends in {token}.");
            let masked = redact(&text, &[]);
            assert_eq!(
                masked,
                "[redacted] x[redacted]: \"Bearer [redacted]\", https://[redacted]@github.com. Ends in [redacted]."
            );
        }
    }

    #[test]
    fn an_old_token_is_masked_when_it_is_the_configured_one_and_a_commit_is_not() {
        let old = "0123456789abcdef0123456789abcdef01234567";
        let commit = "89abcdef0123456789abcdef0123456789abcdef";
        let text = format!("{old} at {commit}");
        assert_eq!(redact(&text, &[secret(old)]), format!("[redacted] at {commit}"));
        assert_eq!(redact(&text, &[]), text);
    }

    #[test]
    fn of_two_secrets_one_inside_the_other_nothing_is_left() {
        assert_eq!(redact("abcdefgh abcd", &[secret("abcd"), secret("abcdefgh")]), "[redacted] [redacted]");
        assert_eq!(redact("plain", &[secret("")]), "plain");
    }

    #[test]
    fn a_text_without_tokens_is_handed_back_as_it_is() {
        for text in ["", "tokens begin with ghp_ or github_pat_", "enough light, ghosts: ghp_ab", "gh", "é gh🙂"] {
            assert!(matches!(redact(text, &[]), Cow::Borrowed(same) if same == text), "{text}");
        }
    }
}
