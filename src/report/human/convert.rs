//! What became of files that were converted.

use std::fmt::Write as _;

use super::{Look, hanging};
use crate::app::Conversion;
use crate::names::{counted, quoted, shown};

/// One line for each file, what it lacks below it, and what is left to do.
pub fn conversion(conversion: &Conversion, quiet: bool, look: Look) -> String {
    let mut text = String::new();
    for part in &conversion.parts {
        let to =
            conversion.out.as_ref().map_or_else(|| part.to.clone(), |out| out.join(&part.to).display().to_string());
        let _ = writeln!(text, "{} → {}", shown(&part.from, 300), shown(&to, 300));
        if quiet {
            continue;
        }
        if let Some(name) = &part.renamed {
            let _ = writeln!(text, "  renamed: {} can't be the name of a file, or is taken", quoted(name));
        }
        for lost in &part.lost {
            text.push_str(&hanging("  left out:", &format!(" {}", shown(lost, 300)), 4, look));
        }
    }
    if quiet {
        return text;
    }
    for broken in &conversion.broken {
        let _ = writeln!(text, "no longer finds what it names: {}", shown(broken, 300));
    }
    for left in &conversion.left {
        let _ = writeln!(text, "named, but not converted: {}", shown(left, 300));
    }
    let written = counted(conversion.parts.len(), "file", "files");
    let removed = match conversion.removed.len() {
        0 => String::new(),
        number => format!(", removed {}", counted(number, "source", "sources")),
    };
    let _ = writeln!(text, "\nwrote {written}{removed}");
    text
}
