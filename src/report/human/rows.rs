//! Rows of short, coloured texts, one line each: one column gives way where there is little room,
//! and others are left out before that column says nothing.
//!
//! For tables with headings and for texts that may take several lines there is `table`.

use std::fmt::Write as _;

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use super::{Look, cut_to};

/// The blanks between two columns.
const BETWEEN: usize = 2;
/// A column that gives way keeps at least so many columns.
const LEAST: usize = 16;

/// One text of a row, and how it looks.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self::painted(text, Style::new())
    }

    pub(super) fn painted(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }

    fn width(&self) -> usize {
        self.text.width()
    }
}

/// Rows under each other. The column `elastic` gives way; `spare` are left out in this order where it
/// would become too narrow.
pub(super) fn rows(rows: &[Vec<Cell>], elastic: usize, spare: &[usize], look: Look) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |place: usize| rows.iter().filter_map(|row| row.get(place)).map(Cell::width).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..columns).map(widest).collect();
    let mut shown: Vec<usize> =
        (0..columns).filter(|place| widths.get(*place).is_some_and(|width| *width > 0)).collect();
    let others = |shown: &[usize], widths: &[usize]| {
        let others = shown.iter().filter(|place| **place != elastic).filter_map(|place| widths.get(*place));
        others.sum::<usize>() + BETWEEN * shown.len().saturating_sub(1)
    };
    let wanted = widths.get(elastic).copied().unwrap_or(0);
    for place in spare {
        if others(&shown, &widths) + wanted.min(LEAST) > look.columns() {
            shown.retain(|other| other != place);
        }
    }
    let room = look.columns().saturating_sub(others(&shown, &widths));
    if let Some(width) = widths.get_mut(elastic) {
        *width = wanted.min(room);
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        let mut blanks = 0;
        for (place, cell) in shown.iter().filter_map(|place| Some((*place, row.get(*place)?))) {
            let width = widths.get(place).copied().unwrap_or(0);
            let kept = cut_to(&cell.text, width);
            // Blanks are written when something follows them, so that no line ends with any.
            if !kept.is_empty() {
                let _ = write!(line, "{}{}", " ".repeat(blanks), look.paint(cell.style, &kept));
                blanks = 0;
            }
            blanks += width.saturating_sub(kept.width()) + BETWEEN;
        }
        let _ = writeln!(text, "{line}");
    }
    text
}

/// Rows of which each has a text below it, which may be empty.
pub(super) fn with_below(rows: &str, below: impl IntoIterator<Item = String>) -> String {
    rows.lines().zip(below).map(|(row, below)| [row, "\n", &below].concat()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(width: usize) -> String {
        let row =
            |name: &str, about: &str| vec![name, about, "3 min ago", "40b705"].into_iter().map(Cell::plain).collect();
        let look = Look { width: Some(width), terminal: true, ..Look::default() };
        rows(&[row("Release_Check", "Check release 2.5 before noon"), row("A", "")], 1, &[2], look)
    }

    #[test]
    fn a_wide_character_takes_two_columns() {
        let row = |about: &str| ["Tea", about, "now"].into_iter().map(Cell::plain).collect();
        let look = Look { width: Some(30), terminal: true, ..Look::default() };
        let text = rows(&[row("週報を書く前に港の記録を読んで要約する"), row("Plain")], 1, &[], look);
        assert_eq!(text, "Tea  週報を書く前に港の…   now\nTea  Plain                 now\n");
    }

    #[test]
    fn one_column_gives_way_and_then_spare_ones_go() {
        assert_eq!(at(80).lines().next(), Some("Release_Check  Check release 2.5 before noon  3 min ago  40b705"));
        assert_eq!(at(54).lines().next(), Some("Release_Check  Check release 2.5…    3 min ago  40b705"));
        assert_eq!(at(44).lines().next(), Some("Release_Check  Check release 2.5…     40b705"));
        for width in 30..100 {
            let text = at(width);
            assert!(
                text.lines().all(|line| line.chars().count() <= width && line.ends_with("40b705")),
                "{width}\n{text}"
            );
        }
    }
}
