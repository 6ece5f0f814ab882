//! Names that every client takes, for flows and templates of any name.
//!
//! Clients take letters, digits, `_` and `-` of ASCII, at most 64 of them; one name that is
//! different, and some drop all. A name that is fine as it is stays as it is. For prompts, of those
//! that become alike by what is replaced, each gets a suffix made of its own name ([`slugs`]). A
//! tool's name must not depend on what else is in the catalog, so there the name alone decides
//! ([`alone`]), and whoever asks refuses what is alike.

use std::collections::{HashMap, HashSet};

/// The most characters.
const LONGEST: usize = 64;
/// The characters of a suffix, with its `_`.
const SUFFIX: usize = 9;

/// One slug for each name, all different: `prefix` and the name as far as it can be kept.
pub(super) fn slugs<'n>(names: impl IntoIterator<Item = (&'static str, &'n str)>) -> Vec<String> {
    let kept: Vec<(&str, &str, String)> =
        names.into_iter().map(|(prefix, name)| (prefix, name, kept(prefix, name))).collect();
    let mut count: HashMap<&str, usize> = HashMap::with_capacity(kept.len());
    for (_, _, slug) in &kept {
        *count.entry(slug).or_default() += 1;
    }
    let whole = |prefix: &str, name: &str, slug: &str| slug.strip_prefix(prefix) == Some(name);
    let mut taken: HashSet<String> =
        kept.iter().filter(|(prefix, name, slug)| whole(prefix, name, slug)).map(|(_, _, slug)| slug.clone()).collect();
    let mut made = Vec::with_capacity(kept.len());
    let mut seen: HashSet<&str> = HashSet::new();
    for (prefix, name, slug) in &kept {
        if whole(prefix, name, slug) && seen.insert(slug) {
            made.push(slug.clone());
            continue;
        }
        let alone = slug.len() > prefix.len() && count.get(slug.as_str()) == Some(&1);
        let mut chosen = if alone { slug.clone() } else { with_suffix(prefix, name, slug, 0, LONGEST) };
        let mut round = 1;
        while !taken.insert(chosen.clone()) {
            chosen = with_suffix(prefix, name, slug, round, LONGEST);
            round += 1;
        }
        made.push(chosen);
    }
    made
}

/// A slug of at most `longest` characters that the name alone decides. Blanks and signs become `_`;
/// where more than that is lost (letters that are not ASCII, or what is too long), a suffix made of
/// the whole name keeps it apart from others.
pub(super) fn alone(name: &str, longest: usize) -> String {
    let slug = replaced(name);
    let lost = slug.is_empty() || slug.len() > longest || name.chars().any(|c| !c.is_ascii() && c.is_alphanumeric());
    if lost { with_suffix("", name, &slug, 0, longest) } else { slug }
}

fn fine(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Prefix and name, with everything that is not taken replaced, cut.
fn kept(prefix: &str, name: &str) -> String {
    let whole = replaced(name);
    if whole == name && prefix.len() + name.len() <= LONGEST {
        return format!("{prefix}{name}");
    }
    let mut slug = format!("{prefix}{}", whole.trim_matches('_'));
    slug.truncate(LONGEST);
    slug
}

/// The name, with everything that is not taken replaced.
fn replaced(name: &str) -> String {
    if name.chars().all(fine) {
        return name.to_owned();
    }
    let mut out = String::new();
    for c in name.chars() {
        if fine(c) {
            out.push(c);
        } else if !out.ends_with('_') {
            out.push('_');
        }
    }
    out.trim_matches('_').to_owned()
}

fn with_suffix(prefix: &str, name: &str, slug: &str, round: u32, longest: usize) -> String {
    let mut short = slug.to_owned();
    short.truncate(longest.saturating_sub(SUFFIX));
    let joint = if short.len() == prefix.len() { "" } else { "_" };
    format!("{short}{joint}{:08x}", mark(name, round))
}

/// FNV-1a, 32 bits: the same on every machine and in every version.
fn mark(name: &str, round: u32) -> u32 {
    name.bytes()
        .chain(round.to_le_bytes().into_iter().filter(|_| round > 0))
        .fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(names: &[&str]) -> Vec<String> {
        slugs(names.iter().map(|name| ("flow_", *name)))
    }

    #[test]
    fn a_name_that_is_fine_stays_and_one_that_is_not_is_kept_as_far_as_it_goes() {
        assert_eq!(of(&["Plan_A-1", "Mail & Report (v2)"]), ["flow_Plan_A-1", "flow_Mail_Report_v2"]);
    }

    #[test]
    fn names_that_become_alike_each_get_a_suffix_of_their_own() {
        let three = of(&["C D", "C# D", "C_D"]);
        assert_eq!(three[2], "flow_C_D", "the one that needs no change keeps its name");
        assert!(three[0].starts_with("flow_C_D_") && three[1].starts_with("flow_C_D_") && three[0] != three[1]);
        assert_eq!(of(&["C_D", "C# D"])[1], three[1], "whatever else is there");
    }

    #[test]
    fn a_name_without_a_letter_that_is_taken_is_still_a_name() {
        let made = of(&["港の週報", "마케팅"]);
        assert!(made.iter().all(|slug| slug.len() == "flow_".len() + 8) && made[0] != made[1], "{made:?}");
    }

    #[test]
    fn alone_a_name_decides_and_what_is_lost_is_marked() {
        assert_eq!(alone("Plan_A-1", 40), "Plan_A-1");
        assert_eq!(alone("Mail & Report (v2)", 40), "Mail_Report_v2");
        assert_eq!(alone("C# D", 40), alone("C D", 40), "signs alone keep nothing apart");
        let long = ["x".repeat(41), format!("{}y", "x".repeat(40))].map(|name| alone(&name, 40));
        assert!(long.iter().all(|slug| slug.len() == 40 && slug.starts_with("xxx")) && long[0] != long[1]);
        let weekly = ["마케팅 v2", "기획 v2", "港"].map(|name| alone(name, 40));
        assert!(weekly[0].starts_with("v2_") && weekly[0] != weekly[1], "{weekly:?}");
        assert_eq!(weekly[2].len(), 8);
    }

    proptest! {
        #[test]
        fn alone_a_slug_fits_whatever_the_name(name in "\\PC{1,80}") {
            let slug = alone(&name, 40);
            prop_assert!((1..=40).contains(&slug.len()));
            prop_assert!(slug.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')));
        }

        #[test]
        fn slugs_are_distinct_and_fit(names in proptest::collection::vec("[a-c _#é港-]{1,80}", 0..12)) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let made = of(&names);
            let distinct: HashSet<&String> = made.iter().collect();
            prop_assert_eq!(distinct.len(), names.len());
            for slug in &made {
                prop_assert!(slug.len() <= LONGEST);
                prop_assert!(slug.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')));
            }
        }
    }
}
