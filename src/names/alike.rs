//! Names that differ in nothing that a person would tell them apart by.

use super::nfc;

/// A name in the form in which names are alike: composed, without case, and with blanks, `-` and `_` as one.
pub fn folded(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for c in nfc(name).chars() {
        match c {
            '-' | '_' => folded.push('_'),
            c if c.is_whitespace() => folded.push('_'),
            c if c.is_ascii() => folded.push(c.to_ascii_lowercase()),
            // By way of capitals, as `ß` and the two forms of sigma want it.
            c => folded.extend(c.to_uppercase().flat_map(char::to_lowercase)),
        }
    }
    if folded.is_ascii() { folded } else { nfc(&folded) }
}

/// A path in the form in which file systems that ignore case and normal form take two for one.
pub fn same_file(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    let lower: String = nfc(path).chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
    nfc(&lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_normal_form_and_what_stands_between_words_do_not_tell_names_apart() {
        for (one, other) in [
            ("Release Notes", "release_notes"),
            ("cold email", "Cold-Email"),
            ("Re\u{301}sume\u{301}", "R\u{E9}sum\u{E9}"),
            ("STRASSE", "stra\u{DF}e"),
            ("\u{39F}\u{394}\u{39F}\u{3A3}", "\u{3BF}\u{3B4}\u{3BF}\u{3C2}"),
        ] {
            assert_eq!(folded(one), folded(other), "{one} {other}");
        }
        for (one, other) in [("Tea", "Teas"), ("A B", "AB"), ("Resume", "R\u{E9}sum\u{E9}")] {
            assert_ne!(folded(one), folded(other), "{one} {other}");
        }
        assert_eq!(same_file("flows/Tea.json"), same_file("Flows/tea.json"));
        assert_ne!(same_file("flows/A B.json"), same_file("flows/A_B.json"));
    }
}
