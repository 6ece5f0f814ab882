//! Tables that keep to a width without breaking what people copy.
//!
//! A name, a number or a date stays whole; lists break between their items, prose between words.
//! Where there is too little room, prose shrinks first, then columns that can be spared are left
//! out, from the last to the first, and where even that is not enough each row becomes a block of
//! lines. What the rows are about is not known here.

use std::borrow::Cow;
use std::fmt::Write as _;

use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width, presets};

use super::{FAINT, Look, NAME, safe_block};
use crate::names::grouped;

/// The blanks between two columns.
const BETWEEN: usize = 2;
/// How many rows of a flow's inputs or placeholders are shown.
const MOST_ROWS: usize = 200;
/// A word of so many characters is broken before it is laid into lines.
const LONGEST_WORD: usize = 1_000;
/// Prose in a narrower column is a ladder.
const NARROWEST_PROSE: usize = 16;

/// What may be done to a column's texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Breaking {
    /// Nothing: a name, a number, a date.
    Never,
    /// Lines end between two words, and each word stays whole: names with commas between them.
    BetweenWords,
    /// The same, but a word that is longer than the column is broken.
    Prose,
}

/// One column: its heading, and what may be done to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    heading: &'static str,
    breaking: Breaking,
    spare: bool,
}

/// A column whose texts are never broken.
pub(super) const fn whole(heading: &'static str) -> Column {
    Column { heading, breaking: Breaking::Never, spare: false }
}

/// A column of words, each of which stays whole.
pub(super) const fn words(heading: &'static str) -> Column {
    Column { heading, breaking: Breaking::BetweenWords, spare: false }
}

/// A column of sentences.
pub(super) const fn prose(heading: &'static str) -> Column {
    Column { heading, breaking: Breaking::Prose, spare: false }
}

impl Column {
    /// A column that may be left out where there is no room for it.
    pub(super) const fn spare(mut self) -> Self {
        self.spare = true;
        self
    }
}

/// Columns under headings, no wider than there is room; without any headings, rows alone.
pub(super) fn table(columns: &[Column], rows: &[Vec<String>], indent: usize, look: Look) -> String {
    let room = look.columns().saturating_sub(indent);
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    let (most, least) = (widest(columns, rows, false), widest(columns, rows, true));
    loop {
        let chosen: Vec<(Column, usize, usize)> = shown
            .iter()
            .filter_map(|place| Some((*columns.get(*place)?, *most.get(*place)?, *least.get(*place)?)))
            .collect();
        if let Some(widths) = fitting(&chosen, room) {
            return drawn(columns, rows, &shown, &widths, indent, look);
        }
        match shown.iter().rposition(|place| columns.get(*place).is_some_and(|column| column.spare)) {
            Some(at) => drop(shown.remove(at)),
            None => return blocks(columns, rows, indent, look),
        }
    }
}

/// Facts behind their names, without those that say nothing.
pub(super) fn facts(rows: Vec<(&str, String)>, indent: usize, look: Look) -> String {
    let rows = rows.into_iter().filter(|(_, fact)| !fact.is_empty());
    let rows: Vec<_> = rows.map(|(name, fact)| vec![name.to_owned(), fact]).collect();
    table(&[whole(""), prose("")], &rows, indent, look)
}

/// The same of the first rows of very many, and how many more there are: nobody reads them all.
pub(super) fn table_of_many(
    columns: &[Column],
    rows: impl IntoIterator<Item = Vec<String>>,
    indent: usize,
    look: Look,
) -> String {
    let mut rows = rows.into_iter();
    let shown: Vec<Vec<String>> = rows.by_ref().take(MOST_ROWS).collect();
    let more = rows.count();
    let mut text = table(columns, &shown, indent, look);
    if more > 0 {
        let line = format!("… and {} more; --json has them all", grouped(more));
        let _ = writeln!(text, "{}{}", " ".repeat(indent), look.paint(FAINT, &line));
    }
    text
}

/// How wide each column is at most, or, of words alone, at least. What a character takes on a
/// terminal is known to the crate that draws.
fn widest(columns: &[Column], rows: &[Vec<String>], of_words: bool) -> Vec<usize> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    // A heading may have several lines.
    for (place, column) in columns.iter().enumerate() {
        for word in column.heading.split(' ') {
            table.add_row((0..columns.len()).map(|other| if other == place { word } else { "" }));
        }
    }
    for row in rows {
        table.add_row(columns.iter().zip(row).map(|(column, text)| {
            if of_words && column.breaking != Breaking::Never {
                text.replace(char::is_whitespace, "\n")
            } else {
                text.clone()
            }
        }));
    }
    let widths = table.column_max_content_widths();
    columns
        .iter()
        .enumerate()
        .map(|(place, column)| {
            let width = widths.get(place).copied().map_or(1, usize::from);
            let heading = column.heading.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
            match column.breaking {
                Breaking::Prose if of_words => width.min(NARROWEST_PROSE).max(heading),
                _ if of_words => width,
                // A heading of several words has one line where there is room for it.
                Breaking::Never | Breaking::BetweenWords | Breaking::Prose => width.max(column.heading.chars().count()),
            }
        })
        .collect()
}

/// The columns' widths, where they have room: at least what each needs, and what is left goes to the
/// narrowest first. Prose counts as half as wide as it is, for it has the most to say.
fn fitting(chosen: &[(Column, usize, usize)], room: usize) -> Option<Vec<usize>> {
    // Prose that is short need not be as wide as prose that isn't.
    let least = |(column, most, least): &(Column, usize, usize)| match column.breaking {
        Breaking::Never | Breaking::BetweenWords => *least,
        Breaking::Prose => (*most).min(NARROWEST_PROSE).max(*least),
    };
    let mut widths: Vec<usize> = chosen.iter().map(least).collect();
    let gaps = BETWEEN * chosen.len().saturating_sub(1);
    let mut left = room.checked_sub(gaps + widths.iter().sum::<usize>())?;
    while left > 0 {
        let growing = widths.iter_mut().zip(chosen).filter(|(width, (_, most, _))| **width < *most);
        let claims = |width: usize, column: &Column| if column.breaking == Breaking::Prose { width / 2 } else { width };
        let Some((width, _)) = growing.min_by_key(|(width, (column, ..))| claims(**width, column)) else { break };
        *width += 1;
        left -= 1;
    }
    Some(widths)
}

fn drawn(
    columns: &[Column],
    rows: &[Vec<String>],
    shown: &[usize],
    widths: &[usize],
    indent: usize,
    look: Look,
) -> String {
    let lay = |rows: Vec<Vec<String>>| {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::MAX);
        table.add_rows(rows);
        for (column, width) in table.column_iter_mut().zip(widths) {
            column.set_padding((0, u16::try_from(BETWEEN).unwrap_or(0)));
            let width = Width::Fixed(u16::try_from(width + BETWEEN).unwrap_or(u16::MAX));
            column.set_constraint(ColumnConstraint::Absolute(width));
        }
        table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()
    };
    let margin = " ".repeat(indent);
    let mut text = String::new();
    let headings: Vec<String> =
        shown.iter().filter_map(|place| columns.get(*place)).map(|column| column.heading.to_uppercase()).collect();
    if headings.iter().any(|heading| !heading.is_empty()) {
        for line in lay(vec![headings]) {
            let _ = writeln!(text, "{margin}{}", look.paint(FAINT, &line));
        }
    }
    let cell = |text: &String| of_shorter_words(text).into_owned();
    let rows = rows.iter().map(|row| shown.iter().map(|place| row.get(*place).map(cell).unwrap_or_default()).collect());
    let rows: Vec<Vec<String>> = rows.collect();
    if !rows.is_empty() {
        for line in lay(rows) {
            let _ = writeln!(text, "{}", format!("{margin}{line}").trim_end());
        }
    }
    text
}

/// A text in which a word that fills many lines is several: the time that the crate which draws takes for a word
/// grows with the square of its length.
fn of_shorter_words(text: &str) -> Cow<'_, str> {
    if text.split(char::is_whitespace).all(|word| word.len() <= LONGEST_WORD) {
        return Cow::Borrowed(text);
    }
    let (mut broken, mut since) = (String::with_capacity(text.len() + text.len() / LONGEST_WORD), 0);
    for c in text.chars() {
        since = if c.is_whitespace() { 0 } else { since + 1 };
        if since > LONGEST_WORD {
            broken.push(' ');
            since = 1;
        }
        broken.push(c);
    }
    Cow::Owned(broken)
}

/// Rows as blocks: the first cell, and below it the others behind their headings.
fn blocks(columns: &[Column], rows: &[Vec<String>], indent: usize, look: Look) -> String {
    let margin = " ".repeat(indent);
    let mut text = String::new();
    for row in rows {
        let mut cells = columns.iter().zip(row).filter(|(_, cell)| !cell.trim().is_empty());
        let Some((first, name)) = cells.next() else { continue };
        if first.heading.is_empty() {
            // What has no headings is short of its own, and reads as a line.
            let rest: Vec<&str> = cells.map(|(_, cell)| cell.as_str()).collect();
            let _ = writeln!(text, "{margin}{name} {}", rest.join(" "));
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "{margin}{}", look.paint(NAME, name));
        for (column, cell) in cells {
            text.push_str(&wrapped(&format!("{}: {cell}", column.heading), indent + 2, look));
        }
    }
    text
}

/// A text in lines that fit; a word that is longer than a line keeps its line and is broken there.
pub(super) fn wrapped(text: &str, indent: usize, look: Look) -> String {
    let width = look.columns().saturating_sub(indent).max(1);
    drawn(&[prose("")], &[vec![safe_block(text)]], &[0], &[width], indent, look)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 4] = [whole("name"), prose("what it is for").spare(), words("needs"), whole("average")];

    fn rows() -> Vec<Vec<String>> {
        let row = |name: &str, needs: &str| {
            let about = "Plans a campaign for a company and its market, step by step, with a budget.".to_owned();
            vec![name.to_owned(), about, needs.to_owned(), "12.5 ms".to_owned()]
        };
        vec![row("Marketing_Strategy", "company, market, budget"), row("Support_Reply", "customer_message, tone?")]
    }

    fn at(width: usize, indent: usize) -> String {
        table(&COLUMNS, &rows(), indent, Look { width: Some(width), terminal: true, ..Look::default() })
    }

    #[test]
    fn no_name_and_no_heading_is_broken_at_any_width_and_no_line_is_too_long() {
        for width in 24..=140 {
            let text = at(width, 2);
            for name in ["Marketing_Strategy", "Support_Reply", "customer_message", "12.5 ms"] {
                assert!(text.contains(name), "{width}: {name}\n{text}");
            }
            assert!(text.to_lowercase().contains("average"), "{width}\n{text}");
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}\n{text}");
        }
    }

    #[test]
    fn what_can_be_spared_is_left_out_before_rows_become_blocks() {
        assert!(at(100, 0).contains("WHAT IT IS FOR") && at(80, 0).contains("WHAT IT IS FOR"));
        let narrow = at(60, 0);
        assert!(narrow.starts_with("NAME") && !narrow.contains("WHAT IT IS FOR") && !narrow.contains("Plans"));
        assert_eq!(narrow.lines().count(), 3, "{narrow}");
        let block = at(40, 0);
        assert!(block.starts_with("Marketing_Strategy\n  what it is for: Plans a campaign"), "{block}");
        assert!(block.contains("\n  needs: customer_message, tone?\n  average: 12.5 ms\n"), "{block}");
    }

    #[test]
    fn a_word_of_many_lines_is_several_before_it_is_laid_out_and_keeps_its_letters() {
        let text = format!("a {} b", "x".repeat(5_500));
        let broken = of_shorter_words(&text);
        assert!(broken.split(' ').all(|word| word.len() <= LONGEST_WORD), "{}", broken.len());
        assert_eq!(broken.replace(' ', ""), text.replace(' ', ""));
        assert!(matches!(of_shorter_words("short words"), Cow::Borrowed(_)));
    }

    #[test]
    fn of_very_many_rows_the_first_are_shown_and_the_others_counted() {
        let rows = (0..1_234).map(|number| vec![format!("v{number}"), "x".to_owned()]);
        let text = table_of_many(&[whole("name"), prose("what for")], rows, 2, Look::default());
        assert_eq!(text.lines().count(), 202);
        assert!(text.ends_with("  … and 1,034 more; --json has them all\n"), "{text}");
    }

    #[test]
    fn a_wide_character_takes_two_columns() {
        let look = Look { width: Some(40), ..Look::default() };
        let rows = [vec!["港の週報".to_owned(), "word ".repeat(30)]];
        let text = table(&[whole("name"), prose("what for")], &rows, 2, look);
        assert!(text.lines().count() > 3 && text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert!(text.contains("\n  港の週報  word "), "{text}");
    }

    #[test]
    fn rows_without_headings_keep_their_first_cell_whole() {
        let look = Look { width: Some(30), ..Look::default() };
        let rows = [vec!["category".to_owned(), "about harbours and ships and tides".to_owned()]];
        let text = table(&[whole(""), prose("")], &rows, 2, look);
        assert_eq!(text, "  category  about harbours and\n            ships and tides\n");
    }
}
