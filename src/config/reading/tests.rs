//! Each rule by what it takes, what it refuses, and what its error does not show.

use super::super::error::Origin;
use super::*;

fn given(text: &str) -> GivenSetting<'_> {
    GivenSetting::of(text, Place { setting: "IT".to_owned(), origin: Origin::Variable })
}

#[test]
fn a_time_and_a_size_may_have_a_unit() {
    for (text, unit, value) in [
        ("15m", SettingUnit::Milliseconds, 900_000),
        ("1.5 h", SettingUnit::Milliseconds, 5_400_000),
        ("90 Seconds", SettingUnit::Milliseconds, 90_000),
        ("1MB", SettingUnit::Bytes, 1 << 20),
        ("100 KiB", SettingUnit::Bytes, 100 << 10),
    ] {
        assert_eq!(number::<u64>(given(text), unit, 0..=u64::MAX).unwrap(), value, "{text}");
        let error = number::<u64>(given(text), unit, 0..=10).unwrap_err();
        assert!(matches!(error, SettingsError::OutOfRange { .. }), "{error}");
    }
    for (text, unit, hint) in [
        ("15 parsecs", SettingUnit::Milliseconds, "write a whole number of milliseconds, or a time with its unit: 15m"),
        ("900,000", SettingUnit::Milliseconds, "write a whole number of milliseconds, or a time with its unit: 15m"),
        ("-1", SettingUnit::Bytes, "write a whole number of bytes, or a size with its unit: 1MB"),
        ("1.é", SettingUnit::Bytes, "write a whole number of bytes, or a size with its unit: 1MB"),
        ("3 times", SettingUnit::Tries, "write digits only, in tries"),
        ("１５", SettingUnit::Days, "write digits only, in days"),
    ] {
        let error = number::<u64>(given(text), unit, 0..=u64::MAX).unwrap_err();
        assert!(error.to_string().starts_with("IT "), "{error}");
        assert_eq!(error.hint().unwrap(), hint, "{text}");
    }
}

#[test]
fn a_number_keeps_its_bounds() {
    assert_eq!(number::<u32>(given("10"), SettingUnit::Tries, 1..=10).unwrap(), 10);
    assert_eq!(milliseconds(given("0"), 0..=5).unwrap(), Duration::ZERO);
    for text in ["0", "11", "99999999999999999999999999"] {
        let error = number::<u32>(given(text), SettingUnit::Tries, 1..=10).unwrap_err();
        assert!(matches!(error, SettingsError::OutOfRange { least: 1, most: 10, .. }), "{text}");
    }
}

#[test]
fn a_token_that_was_copied_badly_is_refused_without_being_shown() {
    for (text, why) in [
        ("ghp_secret\nsecret", "it has a line break in it"),
        ("ghp_secret\r\n", "it has a line break in it"),
        (" ghp_secret", "it has blanks in it"),
        ("Bearer ghp_secret", "it has blanks in it"),
        ("\"ghp_secret\"", "it has quotation marks in it"),
        ("ghp_secret\u{200B}", "it has characters that no token has"),
        ("ghp_secret\u{0}", "it has characters that no token has"),
    ] {
        let error = token(given(text)).unwrap_err();
        assert_eq!(error.to_string(), format!("IT in the environment is not a token: {why}"));
        assert!(!format!("{error:?}{:?}", error.hint()).contains("secret"), "{error:?}");
    }
    assert_eq!(token(given("github_pat_1A_b")).unwrap().expose(), "github_pat_1A_b");
}

#[test]
fn a_ref_loses_what_actions_puts_before_it() {
    for (text, short) in [
        ("refs/heads/feature/new-tone", "feature/new-tone"),
        ("refs/tags/v1.0", "v1.0"),
        ("main", "main"),
        ("refs/pull/7/merge", "refs/pull/7/merge"),
    ] {
        assert_eq!(git_ref(given(text)).unwrap().as_str(), short);
    }
    assert!(matches!(git_ref(given("a..b")).unwrap_err(), SettingsError::BadSpelling { .. }));
    assert!(git_ref(given("refs/heads/")).is_err());
}

#[test]
fn an_api_address_is_https_or_this_machine() {
    for (text, kept) in [
        ("https://api.github.com", "https://api.github.com"),
        ("https://ghe.example.com/api/v3/", "https://ghe.example.com/api/v3"),
        ("http://127.0.0.1:8080//", "http://127.0.0.1:8080"),
        ("http://localhost:1", "http://localhost:1"),
        ("http://[::1]:1/x", "http://[::1]:1/x"),
    ] {
        assert_eq!(api_url(given(text)).unwrap(), kept);
    }
    for text in [
        "http://ghe.example.com/api/v3",
        "http://127.0.0.1.evil.example",
        "http://localhost.evil.example",
        "http://169.254.169.254/latest",
        "ftp://ghe.example.com",
        "ghe.example.com",
        "/api/v3",
        "https://",
        "https://github.com",
        "https://ghe.example.com/?x=1",
        "https://ghe.example.com/#x",
        "https://ghe. example.com",
    ] {
        let error = api_url(given(text)).unwrap_err();
        assert!(matches!(error, SettingsError::BadAddress { .. }), "{text}: {error:?}");
        assert!(error.hint().is_some());
    }
}

#[test]
fn a_password_in_an_address_is_refused_without_being_shown() {
    let in_api = api_url(given("https://kim:secret@ghe.example.com")).unwrap_err();
    let in_source = source(given("https://secret@github.com/acme/flows")).unwrap_err();
    let in_ssh = source(given("ssh://kim:secret@github.com/acme/flows")).unwrap_err();
    let in_slug = source(given("ghp_secretsecret@github.com/acme/flows")).unwrap_err();
    for error in [in_api, in_source, in_ssh, in_slug] {
        assert!(matches!(error, SettingsError::CredentialInside { .. }), "{error:?}");
        assert!(!format!("{error:?} {error}").contains("secret"));
    }
    for text in
        ["kim:secret@github.com/acme/flows", "kim:sec/ret@github.com/a/b", "secret@github.com/a/b", "kim:secret@/tmp"]
    {
        assert!(matches!(source(given(text)), Err(SettingsError::CredentialInside { .. })), "{text}");
    }
    for fine in [
        "acme/flows@v1",
        "git@github.com:acme/flows.git",
        "ssh://git@github.com/acme/flows",
        "https://github.com/acme/flows/tree/a@b",
        "./flows",
        "kim@home/flows",
        "v1@2.0/flows",
        r"C:\work@home\flows",
        "git@github.com:acme/flows@v1",
    ] {
        assert_eq!(source(given(fine)).unwrap(), fine);
    }
    assert!(source(given("acme/\u{202E}flows")).is_err());
}

#[test]
fn a_token_in_the_wrong_setting_is_not_shown() {
    let text = "ghp_0123456789abcdef";
    let errors = [
        number::<u64>(given(text), SettingUnit::Bytes, 0..=1).unwrap_err(),
        log_level(given(text)).unwrap_err(),
        switch(given(text)).unwrap_err(),
        git_ref(given("ghp_0123456789abcdef..")).unwrap_err(),
        api_url(given(text)).unwrap_err(),
        source(given(text)).unwrap_err(),
    ];
    for error in errors {
        assert!(!format!("{error} {error:?} {:?}", error.hint()).contains("ghp_"), "{error}");
    }
}

#[test]
fn words_are_read_in_any_case_and_unknown_ones_are_refused() {
    assert_eq!(log_level(given("INFO")).unwrap(), "info");
    assert_eq!(log_level(given("warning")).unwrap(), "warn");
    assert!(switch(given("Yes")).unwrap() && !switch(given("0")).unwrap());
    assert_eq!(
        log_level(given("loud")).unwrap_err().to_string(),
        "IT in the environment is \"loud\", which is not one of: error, warn, info, debug, trace"
    );
    assert!(switch(given("maybe")).is_err());
    assert!(server_name(given("a\u{7}")).is_err() && server_name(given(&"x".repeat(65))).is_err());
}
