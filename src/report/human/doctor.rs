//! What was looked at on this machine, for people: a line each, and what helps below it.

use std::fmt::Write as _;

use super::{BAD, DOUBTFUL, FAINT, GOOD, HELP, Look, NAME, count, hanging};
use crate::app::{Check, Standing};
use crate::names::shown;

/// The longest text in a line, in characters.
const LINE: usize = 500;
/// The width of what a line is about.
const ABOUT: usize = 15;

/// Everything that was looked at, and how many things are wrong.
pub fn doctor(checks: &[Check], look: Look) -> String {
    let mut text = String::new();
    for check in checks {
        let (mark, style) = match check.standing {
            Standing::Good => ("✓", GOOD),
            Standing::Absent => ("–", FAINT),
            Standing::Note => ("•", DOUBTFUL),
            Standing::Wrong => ("✗", BAD),
            Standing::Unknown => ("?", FAINT),
        };
        let about = format!("{:<ABOUT$}", check.about);
        let head = format!("{} {}", look.paint(style, mark), look.paint(NAME, &about));
        text.push_str(&hanging(&head, &format!(" {}", shown(&check.found, LINE)), ABOUT + 3, look));
        if let Some(fix) = &check.fix {
            let word = if check.standing == Standing::Wrong { "fix:" } else { "hint:" };
            let head = format!("{}{}", " ".repeat(ABOUT + 3), look.paint(HELP, word));
            text.push_str(&hanging(&head, &format!(" {}", shown(fix, LINE)), ABOUT + 4 + word.len(), look));
        }
    }
    let wrong = checks.iter().filter(|check| check.standing == Standing::Wrong).count();
    text.push('\n');
    if wrong == 0 {
        text.push_str("Nothing is wrong.\n");
    } else {
        let _ = writeln!(text, "{} wrong.", count(wrong, "thing is", "things are"));
    }
    text
}
