//! How wide a text is, without the font that it will be shown in: estimated by script, for a
//! sans-serif font on the wide side.

use unicode_width::UnicodeWidthChar as _;

/// How much wider letters are in bold.
const BOLD: f64 = 1.15;

/// How a text is set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Type {
    /// The size of the font, in pixels.
    pub(super) size: f64,
    pub(super) bold: bool,
}

impl Type {
    /// The width of a text in pixels.
    pub(super) fn width(self, text: &str) -> f64 {
        text.chars().map(|c| self.letter(c)).sum()
    }

    fn letter(self, c: char) -> f64 {
        let wide = if self.bold { BOLD } else { 1.0 };
        let ems = match c.width() {
            None | Some(0) => 0.0,
            // Full-width letters fill their square in bold as well.
            Some(2..) => return 1.05 * self.size,
            Some(1) => match c {
                'i' | 'j' | 'l' | '|' | '\'' | '.' | ',' | ':' | ';' | '!' | 'I' => 0.31,
                'f' | 'r' | 't' | ' ' | '-' | '(' | ')' | '[' | ']' | '/' | '\\' | '"' | '·' => 0.38,
                'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 0.9,
                'A'..='Z' => 0.69,
                'a'..='z' | '0'..='9' | '_' => 0.58,
                c if c.is_uppercase() => 0.74,
                _ => 0.63,
            },
        };
        ems * self.size * wide
    }

    /// A text in at most so many lines, none wider than `longest` pixels; what doesn't fit ends in `…`.
    pub(super) fn lines(self, text: &str, longest: f64, most: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() && lines.len() < most {
            let end = self.fitting(rest, longest);
            let last = lines.len() + 1 == most && end < rest.len();
            if last {
                lines.push(self.cut(rest, longest));
                break;
            }
            let (line, left) = rest.split_at(end);
            lines.push(line.trim_end().to_owned());
            rest = left.trim_start();
        }
        lines
    }

    /// How much of a text fits into a line, in bytes: up to a blank, else to a place within a word where it
    /// may be broken, if there is one.
    fn fitting(self, text: &str, longest: f64) -> usize {
        let (mut width, mut blank, mut good, mut before) = (0.0, None, None, ' ');
        for (at, c) in text.char_indices() {
            if at > 0 && c == ' ' {
                blank = Some(at);
            }
            if at > 0 && (matches!(before, '_' | '-' | '/' | ',') || c.width() == Some(2)) {
                good = Some(at);
            }
            width += self.letter(c);
            if width > longest && c.width() != Some(0) && c != ' ' {
                return blank.or(good).unwrap_or(if at == 0 { c.len_utf8() } else { at });
            }
            before = c;
        }
        text.len()
    }

    /// The beginning of a text with `…` behind it.
    pub(super) fn cut(self, text: &str, longest: f64) -> String {
        if self.width(text) <= longest {
            return text.to_owned();
        }
        let room = longest - self.letter('…');
        let mut width = 0.0;
        let end = text.char_indices().find_map(|(at, c)| {
            width += self.letter(c);
            (width > room && c.width() != Some(0)).then_some(at)
        });
        format!("{}…", text.get(..end.unwrap_or(text.len())).unwrap_or_default().trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Type = Type { size: 10.0, bold: false };

    #[test]
    fn full_width_letters_are_twice_as_wide_and_marks_have_no_width() {
        assert!(PLAIN.width("日本語") > 1.6 * PLAIN.width("abc"));
        assert!((PLAIN.width("e\u{301}") - PLAIN.width("e")).abs() < f64::EPSILON);
        assert!(Type { bold: true, ..PLAIN }.width("abc") > PLAIN.width("abc"));
    }

    #[test]
    fn lines_break_where_words_end_and_the_last_says_that_there_is_more() {
        assert_eq!(PLAIN.lines("one two three", 40.0, 3), ["one two", "three"]);
        assert_eq!(PLAIN.lines("one two three four", 40.0, 2), ["one two", "three…"].map(str::to_owned));
        assert_eq!(PLAIN.lines("Brand_Positioning", 60.0, 2), ["Brand_", "Positioning"]);
        assert_eq!(PLAIN.lines("日本語日本語", 32.0, 2), ["日本語", "日本語"]);
        assert_eq!(PLAIN.lines("unbreakable", 20.0, 9).concat(), "unbreakable");
        assert!(PLAIN.lines("  ", 20.0, 2).is_empty());
    }

    #[test]
    fn no_line_is_wider_than_it_may_be() {
        for text in ["a b c d e f g h", "WWWWWWWW", "混在 of scripts 混在", "x"] {
            for line in PLAIN.lines(text, 24.0, 3) {
                assert!(PLAIN.width(&line) <= 24.0, "{line}");
            }
        }
    }
}
