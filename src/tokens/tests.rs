//! The estimate held against the tokenizer itself, and the table against the vocabulary.

use tiktoken_rs::o200k_base_singleton;

use super::samples::{ODD, SAMPLES};
use super::vocabulary::{BUCKETS, Hash, LONGEST, other, table};
use super::*;

fn truth(text: &str) -> usize {
    o200k_base_singleton().encode_ordinary(text).len()
}

fn ratio(text: &str) -> f64 {
    f64::from(u32::try_from(estimate(text)).unwrap()) / f64::from(u32::try_from(truth(text)).unwrap())
}

/// All texts that are out of the band, each with its ratio.
fn outside<'a>(texts: impl IntoIterator<Item = (&'a str, String)>, band: std::ops::RangeInclusive<f64>) -> Vec<String> {
    let ratios = texts.into_iter().map(|(name, text)| (name, ratio(&text), text));
    ratios
        .filter(|(_, ratio, _)| !band.contains(ratio))
        .map(|(name, ratio, text)| format!("{name} {ratio:.3} {text}"))
        .collect()
}

#[test]
fn prose_code_and_data_in_every_script_are_never_below_and_at_most_15_per_cent_above() {
    for (name, text) in SAMPLES {
        assert!(truth(text) >= 60, "{name} is too short to say much");
    }
    let texts = SAMPLES.iter().map(|(name, text)| (*name, (*text).to_owned()));
    assert_eq!(outside(texts, 1.0..=1.15), Vec::<String>::new());
}

#[test]
fn texts_as_json_strings_keep_the_band() {
    let texts = SAMPLES.iter().map(|(name, text)| {
        let entry = serde_json::json!({"name": name, "description": text, "tags": ["a", "b"], "inputSummary": "No inputs required"});
        (*name, entry.to_string())
    });
    assert_eq!(outside(texts, 1.0..=1.15), Vec::<String>::new());
}

#[test]
fn scripts_mixed_in_one_text_keep_the_band() {
    let pairs = SAMPLES.iter().zip(SAMPLES.iter().skip(7)).map(|((name, a), (_, b))| {
        let mixed: Vec<&str> = a.split_inclusive(' ').zip(b.split_inclusive(' ')).flat_map(|(a, b)| [a, b]).collect();
        (*name, mixed.concat())
    });
    let pairs: Vec<_> = pairs.filter(|(_, text)| text.chars().count() > 150).collect();
    assert!(pairs.len() > 20);
    assert_eq!(outside(pairs, 1.0..=1.15), Vec::<String>::new());
}

#[test]
fn short_excerpts_stray_seldom_and_little() {
    let mut all = 0;
    let mut strays = Vec::new();
    for (name, text) in SAMPLES {
        let chars: Vec<char> = text.chars().collect();
        for excerpt in chars.chunks(100).map(|chunk| chunk.iter().collect::<String>()) {
            if truth(&excerpt) < 20 {
                continue;
            }
            all += 1;
            let ratio = ratio(&excerpt);
            assert!((0.9..=1.25).contains(&ratio), "{name} {ratio:.3} {excerpt}");
            if !(1.0..=1.15).contains(&ratio) {
                strays.push(format!("{name} {ratio:.3}"));
            }
        }
    }
    assert!(all > 100 && strays.len() * 20 <= all, "{} of {all}: {strays:?}", strays.len());
}

#[test]
fn odd_texts_are_not_far_off() {
    let texts = ODD.iter().map(|(name, text)| (*name, (*text).to_owned()));
    assert_eq!(outside(texts, 0.8..=1.25), Vec::<String>::new());
}

#[test]
fn nothing_is_nothing_and_something_is_something() {
    assert_eq!(estimate(""), 0);
    for text in [" ", "\n", "a", "\u{301}", "日", "🙂", "'", "\u{0}"] {
        assert!(estimate(text) >= 1, "{text:?}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_estimated_without_a_panic_and_within_its_length(text in "\\PC{0,200}") {
        let estimate = estimate(&text);
        proptest::prop_assert!(estimate <= text.len() + text.len().div_ceil(8) + 2);
    }

    #[test]
    fn pieces_put_together_are_the_text(text in "[ a-zA-Z0-9'\"\\n\\r\\t/äßЖж日本ไทย한🙂.,]{0,60}") {
        let mut rest = text.as_str();
        let mut whole = String::new();
        while !rest.is_empty() {
            let (piece, after) = pieces::first(rest);
            proptest::prop_assert!(!piece.is_empty());
            whole.push_str(piece);
            rest = after;
        }
        proptest::prop_assert_eq!(whole, text);
    }
}

/// Makes the table from the vocabulary: every token of two bytes and more, in the order of their ranks, so that equal
/// vocabularies give equal bytes.
fn made_table() -> Vec<u8> {
    let tokenizer = o200k_base_singleton();
    let mut buckets = vec![[0u16; 4]; BUCKETS];
    let mut turn = 0usize;
    for rank in 0..199_998 {
        let token = tokenizer.decode_bytes(&[rank]).unwrap();
        if !(2..=LONGEST).contains(&token.len()) {
            continue;
        }
        let (mut bucket, mut kept) = token.iter().fold(Hash::NEW, |hash, byte| hash.with(*byte)).place();
        if [bucket, other(bucket, kept)].iter().any(|&at| buckets[at].contains(&kept)) {
            continue;
        }
        let mut placed = false;
        for _ in 0..500 {
            let second = other(bucket, kept);
            let free = |at: usize| buckets[at].iter().position(|&place| place == 0).map(|place| (at, place));
            if let Some((at, place)) = free(bucket).or_else(|| free(second)) {
                buckets[at][place] = kept;
                placed = true;
                break;
            }
            // Both buckets are full: one of their fingerprints makes room and moves to its other bucket.
            turn += 1;
            let at = if turn & 4 == 0 { bucket } else { second };
            std::mem::swap(&mut buckets[at][turn % 4], &mut kept);
            bucket = other(at, kept);
        }
        assert!(placed, "the table is too small");
    }
    buckets.iter().flatten().flat_map(|kept| kept.to_le_bytes()).collect()
}

#[test]
fn the_table_is_made_from_the_published_vocabulary() {
    let made = made_table();
    if made != table() {
        let place = std::env::temp_dir().join("o200k.bin");
        std::fs::write(&place, &made).unwrap();
        panic!("src/tokens/o200k.bin is not what the vocabulary gives; the right one is {}", place.display());
    }
}

#[test]
fn a_text_that_is_no_token_is_seldom_taken_for_one() {
    let mut taken = 0;
    for number in 0..10_000u32 {
        // No token is made of such bytes: 0xFF never stands in UTF-8.
        let mut bytes = number.to_le_bytes().to_vec();
        bytes.push(0xFF);
        taken += usize::from(vocabulary::tokens(&bytes, usize::MAX) == 1);
    }
    assert!(taken < 10, "{taken}");
}
