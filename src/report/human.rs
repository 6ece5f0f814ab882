//! Text for people: listings, flows, executions, findings and errors.
//!
//! Everything comes back as text; who prints it, and where, is not known here. What came from a
//! catalog is stripped of characters that could change how a terminal behaves.

mod changes;
mod comparing;
mod convert;
mod difference;
mod doctor;
mod execution;
mod files;
mod findings;
mod flow;
mod guided;
mod guiding;
mod listing;
mod missing;
mod models;
mod new;
mod rows;
mod rules;
mod servers;
mod setup;
mod table;
mod testing;
mod usage;

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use chrono::{DateTime, Utc};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::app::Error;
use crate::names::{counted as count, few, grouped, unprintable};
use crate::run::{Guided, Refusal};

pub use changes::{differences, laid_out, mended, to_be_mended};
pub use convert::conversion;
pub use difference::difference;
pub use doctor::doctor;
pub use execution::{StepTexts, Told, Wish, execution, rehearsal, step_line, succeeded, under_way};
pub(in crate::report) use execution::{answered, came, money};
pub use files::{GivenFile, about_file, files_notes, given_files};
pub use findings::{checkup, checkup_lines, passed_over};
pub use flow::shown;
pub(in crate::report) use flow::{input, to_run};
pub use guided::{asking, executions, executions_notes, guided, pruned, tallies};
pub use guiding::{given, guided_end, open_step, step_in_full};
pub use listing::{exposed, listing, listing_notes, no_match, origin_notes};
pub use missing::missing;
pub use models::{model_trial, models, models_notes};
pub use new::{before_questions, created, question, question_again};
pub use rules::{rule, rules};
pub use servers::{server_tools, server_tools_notes, servers, servers_notes};
pub use setup::client_setup;
pub use testing::{mismatches, test_report};
pub use usage::{stats, stats_notes};

use rows::{Cell, rows, with_below};
use table::{facts, prose, table, table_of_many, whole, words, wrapped};

/// What a stream can show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Look {
    /// Whether colour is wanted.
    pub color: bool,
    /// Whether a person reads it.
    pub terminal: bool,
    /// How many columns there are, where that is known.
    pub width: Option<usize>,
}

/// How wide a text becomes where nobody says.
const USUAL_WIDTH: usize = 100;
/// Longer lines are hard to read, however wide the terminal.
const WIDEST: usize = 140;

/// What takes less time than this took none, for a person.
const NOTICED: Duration = Duration::from_millis(10);

const HEADING: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const NAME: Style = AnsiColor::Cyan.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
const DOUBTFUL: Style = AnsiColor::Yellow.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default();
const HELP: Style = AnsiColor::Cyan.on_default().bold();

impl Look {
    fn paint(self, style: Style, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    fn columns(self) -> usize {
        self.width.unwrap_or(USUAL_WIDTH).min(WIDEST)
    }
}

/// Untrusted text of many lines made safe for a terminal: line breaks and tabs stay, everything
/// else that could move the cursor, colour or reorder text is dropped.
pub fn safe_block(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !unprintable(*c)).collect()
}

/// An error: the code, the fact, and what to do.
pub fn error(error: &Error, look: Look) -> String {
    let code = format!("error[{}]", error.code.word());
    let head = format!("{}{}", look.paint(BAD, &code), look.paint(HEADING, ":"));
    let mut text = hanging(&head, &format!(" {}", safe_block(&error.message)), 2, look);
    match (error.refusal.as_deref(), &error.next_step) {
        (Some(Refusal::Misfit(unfit)), _) => {
            let samples = unfit.iter().map(|one| missing::words_for(&one.name, &one.sample).join(" "));
            let lists = "`flowy show NAME` lists the types and the choices; what fits looks like";
            text.push_str(&hint(&format!("{lists} {}", few(samples)), look));
        }
        (_, Some(step)) => text.push_str(&hint(step.for_commands(), look)),
        (_, None) => {}
    }
    text
}

/// Something to know that is no error.
pub fn warning(message: &str, look: Look) -> String {
    hanging(&look.paint(DOUBTFUL, "warning:"), &format!(" {}", safe_block(message)), 2, look)
}

/// An error that keeps nothing else from being done, what follows from it, and what to do.
pub fn passing(error: &Error, so: &str, look: Look) -> String {
    let mut text = warning(&format!("{}; {so}", error.message), look);
    if let Some(step) = &error.next_step {
        text.push_str(&hint(step.for_commands(), look));
    }
    text
}

/// A line beside the point.
fn faint(text: &str, look: Look) -> String {
    look.paint(FAINT, text) + "\n"
}

fn hint(text: &str, look: Look) -> String {
    let head = format!("  {}", look.paint(HELP, "hint:"));
    hanging(&head, safe_block(&format!(" {text}")).trim_end(), 8, look)
}

/// A beginning and the text behind it, on a terminal in lines that fit: a line that goes on is
/// indented. A text of several lines keeps them.
fn hanging(head: &str, text: &str, indent: usize, look: Look) -> String {
    if !look.terminal || text.contains('\n') {
        return format!("{head}{text}\n");
    }
    let room = look.columns();
    let lines = folded(text, room.saturating_sub(bare(head).width()), room.saturating_sub(indent));
    format!("{head}{}\n", lines.join(&format!("\n{}", " ".repeat(indent))))
}

/// Notes whose lines keep to a terminal's width: a line that is longer goes on in lines that are indented.
pub fn fitted(text: &str, look: Look) -> String {
    if !look.terminal {
        return text.to_owned();
    }
    let room = look.columns();
    let fit = |line: &str| {
        let indent = 2 + line.chars().take_while(|c| *c == ' ').count();
        folded(line, room, room.saturating_sub(indent)).join(&format!("\n{}", " ".repeat(indent)))
    };
    let lines: Vec<String> = text.split('\n').map(fit).collect();
    lines.join("\n")
}

/// A text in lines of whole words: the first has so many columns, the others so many.
fn folded(text: &str, first: usize, others: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut left = first;
    for word in text.split_inclusive(' ') {
        let width = bare(word).width();
        let full = bare(word.trim_end()).width() > left;
        if full && lines.last().is_some_and(|line| !line.trim().is_empty()) {
            lines.push(String::new());
            left = others;
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(word);
        }
        left = left.saturating_sub(width);
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// A text without the marks of its colours.
fn bare(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.filter_map(|part| part.split_once('m')).fold(first, |bare, (_, rest)| bare + rest)
}

/// A text in one line that keeps to so many columns: cut at the end of a word where there is one.
fn cut_to(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut taken = 0;
    let fits = |c: &char| {
        taken += c.width().unwrap_or(0);
        taken < columns
    };
    let mut kept: String = text.chars().take_while(fits).collect();
    let in_a_word = !text.chars().nth(kept.chars().count()).is_some_and(char::is_whitespace);
    // A word that fills half of the room, or all of it, is cut.
    if let Some(end) = kept.trim_end().rfind(' ').filter(|end| in_a_word && *end > kept.len() / 2) {
        kept.truncate(end);
    }
    format!("{}…", kept.trim_end().trim_end_matches(['.', ',', ';', ':']))
}

/// How long ago something was, in seconds, as people say it.
fn age(seconds: u64) -> String {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    match seconds {
        0..120 => count(number(seconds), "second", "seconds"),
        120..7_200 => count(number(seconds / 60), "minute", "minutes"),
        7_200..172_800 => count(number(seconds / 3_600), "hour", "hours"),
        _ => count(number(seconds / 86_400), "day", "days"),
    }
}

/// How many steps of an execution ended how: the same words wherever they are counted.
pub(in crate::report) fn counted(guided: &Guided) -> String {
    let (counts, left_are) = (guided.counts(), if guided.cancelled().is_some() { "not done" } else { "to go" });
    let skipped = counts.skipped + counts.omitted;
    let failed = counts.ended.saturating_sub(counts.done + skipped);
    let left = counts.steps.saturating_sub(counts.ended);
    let parts = [(counts.done, "done"), (failed, "failed"), (skipped, "skipped"), (left, left_are)];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}"));
    parts.collect::<Vec<_>>().join(" · ")
}

/// How long ago a moment is, in short.
fn ago(moment: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let seconds = u64::try_from((now - moment).num_seconds()).unwrap_or(0);
    match seconds {
        0..60 => "just now".to_owned(),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

/// A time as people say it: fractions of milliseconds, milliseconds, seconds.
pub(in crate::report) fn time(time: std::time::Duration) -> String {
    let millis = time.as_secs_f64() * 1000.0;
    if millis < 10.0 {
        format!("{millis:.2} ms")
    } else if millis < 1000.0 {
        format!("{millis:.0} ms")
    } else {
        format!("{:.1} s", millis / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Code;

    #[test]
    fn an_error_speaks_of_commands_and_not_of_tools() {
        let told = error(
            &Error::not_found(Code::FlowNotFound, "flow", "Marketing", &["Marketing_Strategy".to_owned()]),
            Look::default(),
        );
        assert_eq!(
            told,
            "error[FLOW_NOT_FOUND]: there is no flow \"Marketing\"\n  hint: did you mean \"Marketing_Strategy\"? `flowy list` shows all names\n"
        );
    }

    #[test]
    fn notes_keep_to_a_terminals_width_and_colours_take_no_room() {
        let look = Look { terminal: true, color: true, width: Some(20) };
        let note = format!("{}\n    one two three four five", look.paint(FAINT, "13 flows from acme/flows at 1f3d"));
        let told = fitted(&note, look);
        let lines: Vec<String> = told.lines().map(bare).collect();
        assert_eq!(lines, ["13 flows from", "  acme/flows at 1f3d", "    one two three", "      four five"]);
        assert_eq!(fitted(&note, Look::default()), note);
    }

    #[test]
    fn a_block_keeps_its_lines_and_loses_what_moves_the_cursor() {
        assert_eq!(safe_block("a\tb\n\u{1b}[31mred\u{202e}\r"), "a\tb\n[31mred");
    }

    #[test]
    fn numbers_and_times_read_naturally() {
        assert_eq!([grouped(7), grouped(1_234), grouped(1_234_567)], ["7", "1,234", "1,234,567"]);
        let of = |micros| time(std::time::Duration::from_micros(micros));
        assert_eq!([of(310), of(45_400), of(2_340_000)], ["0.31 ms", "45 ms", "2.3 s"]);
    }
}
