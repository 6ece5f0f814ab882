//! How results look on a terminal.

use crate::support::program::Sandbox;

/// Every command that shows something, each on the examples.
const SHOWN: [&[&str]; 22] = [
    &["list"],
    &["list", "--mode", "hot"],
    &["list", "--mode", "categories"],
    &["list", "--mode", "summaries"],
    &["list", "--mode", "full", "--name", "Launch_Brief"],
    &["list", "--mode", "detailed"],
    &["list", "--query", "an outage", "--explain"],
    &["list", "--kind", "templates"],
    &["show", "Marketing_Strategy"],
    &["show", "Feature_Development", "--full"],
    &["run", "Marketing_Strategy", "--var", "company=T", "--var", "market=AI", "--var", "budget=1"],
    &["run", "Marketing_Strategy", "--dry-run", "--var", "company=T", "--var", "market=AI", "--var", "budget=1"],
    &["run", "Marketing_Strategy", "--dry-run"],
    &["run", "Marketing_Strategy"],
    &["run", "Gone"],
    &["validate", "--source", "examples"],
    &["graph", "Launch_Brief"],
    &["schema", "Launch_Brief"],
    &["stats"],
    &["executions", "list"],
    &["servers", "list"],
    &["config", "claude-desktop"],
];

/// Texts with the marks of colours taken out, and whether what is left shows any of them.
fn colours(screen: &str) -> (String, bool) {
    let mut plain = String::new();
    let mut rest = screen;
    while let Some((before, mark)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let end = mark.find(|c: char| c.is_ascii_alphabetic()).expect("a mark ends");
        rest = &mark[end + 1..];
    }
    plain.push_str(rest);
    let shows = ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m", "[36m"].iter().any(|mark| plain.contains(mark));
    (plain, shows)
}

#[test]
fn colours_are_seen_and_never_read() {
    let mut coloured = 0;
    for line in SHOWN {
        let screen = Sandbox::new().on_terminal(80, line);
        let (plain, shows) = colours(&screen);
        assert!(!plain.trim().is_empty(), "{line:?}");
        assert!(!shows, "{line:?}: {plain}");
        coloured += usize::from(screen.contains("\u{1b}["));
    }
    assert!(coloured >= 15, "{coloured} screens have colours");
}

#[test]
fn what_a_flow_says_reaches_the_terminal_without_its_control_characters() {
    let evil = r#"{"metadata":{"name":"Evil","version":"1.0.0","description":"\u001b[31mred"},
"nodes":[{"id":"say","type":"template","data":{"label":"\u001b[31mSay","template":"\u001b[31mHello \u202e {who}","variables":["who"]}}],
"edges":[]}"#;
    let catalog = Sandbox::new().file("flows/Evil.json", evil);
    for line in [
        vec!["run", "Evil", "--var", "who=\u{1b}[31mme"],
        vec!["run", "Evil", "--dry-run", "--var", "who=\u{1b}[31mme"],
        vec!["run", "Evil", "--dry-run"],
        vec!["show", "Evil", "--full"],
        vec!["list"],
        vec!["graph", "Evil"],
        vec!["validate"],
    ] {
        let screen = catalog.on_terminal(80, &line);
        assert!(!screen.contains("\u{1b}[31m") || line[0] == "validate", "{line:?}: {screen}");
        assert!(!screen.contains('\u{202e}'), "{line:?}: {screen}");
    }
}
