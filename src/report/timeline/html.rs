//! What every part of the page is written with: texts made harmless, times, steps by their labels.

use std::fmt::{self, Display, Write as _};

use chrono::{DateTime, SecondsFormat, Utc};

use crate::names::unprintable;
use crate::run::Guided;

/// A text, shown as it is: nothing in it is markup, and nothing hides or turns the text around it.
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
                c if unprintable(c) => f.write_char('\u{FFFD}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

pub(super) fn time(at: DateTime<Utc>) -> String {
    let machine = at.to_rfc3339_opts(SecondsFormat::Millis, true);
    format!("<time datetime=\"{machine}\">{}</time>", at.format("%Y-%m-%d %H:%M:%S UTC"))
}

pub(super) fn label(guided: &Guided, step: usize) -> &str {
    guided.run().plan().step(step).map_or("", |step| step.label.as_str())
}

/// The tool that a step calls.
pub(super) fn call_of(guided: &Guided, step: usize) -> String {
    guided.run().plan().called(step)
}
