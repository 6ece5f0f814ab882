//! What pages and pictures are written with: texts made harmless, times, and how a page begins.

use std::fmt::{self, Display, Write as _};

use chrono::{DateTime, SecondsFormat, Utc};

use crate::names::unprintable;

/// A text longer than this is folded away, in characters.
const FOLDED: usize = 700;

/// How all pages look.
const STYLE: &str = include_str!("markup/page.css");

/// A text in HTML or XML, shown as it is: nothing in it is markup, and nothing hides or turns the text around it.
pub(super) struct HtmlText<'a>(pub(super) &'a str);

impl Display for HtmlText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' | '\t' => f.write_char(c)?,
                // XML knows no U+FFFE and U+FFFF.
                c if unprintable(c) || matches!(c, '\u{FFFE}' | '\u{FFFF}') => f.write_char('\u{FFFD}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A list of pieces of HTML: `ol` or `ul`.
pub(super) fn list(page: &mut String, tag: &str, items: impl IntoIterator<Item = impl Display>) {
    let _ = writeln!(page, "<{tag}>");
    for item in items {
        let _ = writeln!(page, "<li>{item}</li>");
    }
    let _ = writeln!(page, "</{tag}>");
}

/// The most backticks in a row.
pub(super) fn backticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A fence of Markdown around a text: of more backticks than it holds in a row.
pub(super) fn fence_of(text: &str) -> String {
    "`".repeat(backticks(text).max(2) + 1)
}

/// The beginning of a page that stands alone, up to its body: it loads nothing, and runs nothing but the script
/// whose hash `script` is.
pub(super) fn page(title: &str, style: &str, script: Option<&str>) -> String {
    let script = script.map(|hash| format!("; script-src 'sha256-{hash}'")).unwrap_or_default();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; img-src data:{script}\">\n<title>{}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n\
         <body>\n",
        HtmlText(title)
    )
}

/// A text that may be long: folded away where it is.
pub(super) fn long(page: &mut String, what: &str, text: &str) {
    let length = text.chars().count();
    if length > FOLDED {
        let _ = writeln!(
            page,
            "<details><summary>{} ({length} characters)</summary><div class=\"text\">{}</div></details>",
            HtmlText(what),
            HtmlText(text)
        );
    } else {
        let _ =
            writeln!(page, "<p class=\"what\">{}</p>\n<div class=\"text\">{}</div>", HtmlText(what), HtmlText(text));
    }
}

/// Whether a text is so long that a page folds it away.
pub(super) fn folded(text: &str) -> bool {
    text.chars().count() > FOLDED
}

pub(super) fn time(at: DateTime<Utc>) -> String {
    let machine = at.to_rfc3339_opts(SecondsFormat::Millis, true);
    format!("<time datetime=\"{machine}\">{}</time>", at.format("%Y-%m-%d %H:%M:%S UTC"))
}
