//! Halves of characters in JSON: what is left of an emoji where a program cut a text in its middle.

const HIGH: std::ops::RangeInclusive<u16> = 0xD800..=0xDBFF;
const LOW: std::ops::RangeInclusive<u16> = 0xDC00..=0xDFFF;

/// The JSON with `\ufffd` for every escaped half of a surrogate pair whose other half is missing;
/// `None` where none is. The grammar of JSON allows such halves, and strict readers refuse them.
pub fn halves_replaced(json: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = json;
    let mut replaced = false;
    // Outside of texts JSON has no backslash.
    while let Some((before, escape)) = rest.split_once('\\') {
        out.push_str(before);
        let unit = unit_of(escape);
        let whole = match unit {
            Some(unit) if HIGH.contains(&unit) => {
                let second = escape.get(5..).and_then(|after| after.strip_prefix('\\')).and_then(unit_of);
                second.is_some_and(|unit| LOW.contains(&unit)).then_some(11)
            }
            Some(unit) if LOW.contains(&unit) => None,
            Some(_) => Some(5),
            None => Some(escape.chars().next().map_or(0, char::len_utf8)),
        };
        let (kept, after) = escape.split_at(whole.unwrap_or(5));
        if whole.is_some() {
            out.push('\\');
            out.push_str(kept);
        } else {
            out.push_str("\\ufffd");
            replaced = true;
        }
        rest = after;
    }
    out.push_str(rest);
    replaced.then_some(out)
}

/// The code unit of an escape, without its backslash.
fn unit_of(escape: &str) -> Option<u16> {
    let digits = escape.strip_prefix('u')?.get(..4)?;
    if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) { u16::from_str_radix(digits, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_become_the_replacement_character_and_everything_else_stays() {
        for (json, due) in [
            (r#""cut \ud83d here""#, Some(r#""cut \ufffd here""#)),
            (r#""\uDE00""#, Some(r#""\ufffd""#)),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (r#""\ud83d\n""#, Some(r#""\ufffd\n""#)),
            (r#""\ud83d\ude00 é \u00e9 \n \" \\""#, None),
            (r#""\\ud83d""#, None),
            (r#""\\\ud83d""#, Some(r#""\\\ufffd""#)),
            (r#""\u+123 \ud8""#, None),
            ("\"ends in \\", None),
            ("", None),
        ] {
            assert_eq!(halves_replaced(json).as_deref(), due, "{json}");
        }
    }
}
