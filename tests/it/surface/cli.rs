//! Commands, flags, help and exit codes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use flowy::internals::cli::Cli;
use flowy::internals::config::{Audience, Environment, Flags, SETTINGS, Settings};

use crate::support::program::Sandbox;

const COMMANDS: [&str; 20] = [
    "list",
    "show",
    "run",
    "guide",
    "validate",
    "new",
    "init",
    "test",
    "diff",
    "explain",
    "fmt",
    "graph",
    "schema",
    "serve",
    "executions",
    "servers",
    "stats",
    "config",
    "doctor",
    "completions",
];

#[test]
fn without_arguments_the_program_shows_its_help() {
    let said = Sandbox::new().run::<_, &str>([]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    insta::assert_snapshot!("help", said.out);
    assert_eq!(Sandbox::new().run(["--help"]).code, 0);
}

#[test]
fn every_command_has_help_that_ends_with_an_example() {
    for command in COMMANDS {
        let said = Sandbox::new().run([command, "--help"]);
        assert_eq!(said.code, 0, "{command}: {}", said.err);
        assert!(said.out.contains("Example"), "{command}");
        // The options of every command are in the first one's snapshot, and are not repeated.
        let shared =
            ["\nCatalog:\n", "\nOutput:\n", "\nSettings:\n"].iter().filter_map(|heading| said.out.find(heading));
        let (own, _) = said.out.split_at(shared.min().unwrap_or(said.out.len()));
        let examples = said.out.split("\nExample").nth(1).unwrap_or_default();
        insta::assert_snapshot!(format!("help-{command}"), format!("{own}\nExample{examples}"));
    }
}

#[test]
fn the_options_that_commands_share() {
    let said = Sandbox::new().run(["config", "--help"]);
    insta::assert_snapshot!("help-options", said.out.split("\nCatalog:\n").nth(1).unwrap());
}

/// The flags that a help page lists.
fn listed_flags(page: &str) -> BTreeSet<String> {
    let option = |line: &str| line.trim_start().starts_with('-');
    let words = page.lines().filter(|line| option(line)).flat_map(str::split_whitespace);
    words.filter_map(|word| word.strip_prefix("--")).map(str::to_owned).collect()
}

#[test]
fn a_help_page_is_short_and_lists_no_flag_that_its_command_ignores() {
    const CATALOG: &[&str] = &["source", "ref", "lenient", "refresh"];
    const GITHUB: &[&str] = &["api-url", "cache-ttl-ms", "retry-attempts", "allow-any-commit"];
    const EXPOSING: &[&str] = &["expose", "expose-list", "expose-prefix", "only-exposed"];
    let not_the_catalog: Vec<&str> = [CATALOG, GITHUB, EXPOSING].concat();
    let checking: Vec<&str> = [EXPOSING, &["no-usage", "state-dir"]].concat();
    let drawing: Vec<&str> = [checking.as_slice(), &["servers"]].concat();
    let everything: Vec<&str> = SETTINGS
        .iter()
        .filter_map(|row| row.flag)
        .map(|flag| flag.trim_start_matches('-'))
        .chain(["json", "quiet", "color", "refresh"])
        .collect();
    for (line, ignored) in [
        ("list", EXPOSING.to_vec()),
        ("show", checking.clone()),
        ("run", EXPOSING.to_vec()),
        ("validate", checking.clone()),
        ("graph", checking.clone()),
        ("schema", [drawing.as_slice(), &["json"]].concat()),
        ("serve", vec!["json", "quiet", "color", "refresh"]),
        ("executions", [not_the_catalog.as_slice(), &["servers", "cache-dir", "no-usage"]].concat()),
        ("executions show", [not_the_catalog.as_slice(), &["servers", "cache-dir", "no-usage"]].concat()),
        ("executions export", vec!["json", "source"]),
        ("servers list", [not_the_catalog.as_slice(), &["state-dir", "no-usage"]].concat()),
        ("servers tools", not_the_catalog),
        ("stats", [&CATALOG[1..], GITHUB, EXPOSING, &["servers", "cache-dir"]].concat()),
        ("config", vec!["refresh"]),
        ("completions", everything),
    ] {
        let words = || line.split(' ');
        let whole = Sandbox::new().run(words().chain(["--help"])).out;
        let short = Sandbox::new().run(words().chain(["-h"])).out;
        let listed = listed_flags(&whole);
        assert!(listed_flags(&short).is_subset(&listed), "{line}");
        for flag in ignored {
            assert!(!listed.contains(flag), "{line} lists --{flag}");
        }
        assert!(whole.lines().count() <= 75, "{line}: {}", whole.lines().count());
    }
}

#[test]
fn the_examples_of_a_page_that_nobody_asked_for_can_be_copied() {
    for command in ["executions", "servers", "models"] {
        let said = Sandbox::new().run([command]);
        assert!(said.code == 2 && said.err.contains("Usage:") && !said.err.contains('\u{a0}'), "{}", said.err);
    }
}

#[test]
fn every_setting_with_a_flag_is_accepted_before_and_after_a_command() {
    for row in SETTINGS {
        let Some(flag) = row.flag else { continue };
        let given: Vec<&str> = if row.value.is_none() { vec![flag] } else { vec![flag, "1"] };
        let before: Vec<&str> = given.iter().copied().chain(["serve"]).collect();
        let after: Vec<&str> = ["serve"].into_iter().chain(given.iter().copied()).collect();
        for line in [before, after] {
            let parsed = <Cli as clap::Parser>::try_parse_from(std::iter::once("flowy").chain(line.iter().copied()));
            assert!(parsed.is_ok(), "{line:?}: {}", parsed.err().unwrap());
        }
    }
}

#[test]
fn what_is_passed_on_to_a_client_is_understood_behind_serve() {
    let nothing: [(&str, &str); 0] = [];
    let environment = Environment::of(nothing);
    let given = [
        ("--ref", "v2"),
        ("--api-url", "https://github.example.com/api/v3"),
        ("--cache-ttl-ms", "60000"),
        ("--max-file-size-bytes", "2000"),
        ("--retry-attempts", "2"),
        ("--expose", "marked"),
        ("--expose-list", "Weekly_Status,*"),
        ("--expose-prefix", "none"),
        ("--only-exposed", "true"),
        ("--log-level", "debug"),
        ("--lenient", "true"),
        ("--allow-any-commit", "true"),
        ("--no-usage", "true"),
        ("--cache-dir", "/c"),
        ("--state-dir", "/s"),
    ];
    let flags = given.iter().fold(Flags::default(), |flags, (flag, text)| flags.with(flag, *text));
    let settings = Settings::load(&flags, &environment).unwrap();
    let passed = settings.passed_on(&environment, Audience::User).arguments;
    assert_eq!(passed.iter().filter(|word| word.starts_with("--")).count(), 15);
    let both = ["--expose-list", "*", "--expose-prefix", "none"];
    assert!(passed.windows(both.len()).any(|words| *words == both), "{passed:?}");
    let line = ["flowy", "serve"].into_iter().map(str::to_owned).chain(passed);
    assert!(<Cli as clap::Parser>::try_parse_from(line).is_ok());
}

#[test]
fn what_is_not_understood_exits_2_and_suggests() {
    let said = Sandbox::new().run(["lst"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("'list'"), "{}", said.err);
    let said = Sandbox::new().run(["list", "--tags", "x"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("'--tag'"), "{}", said.err);
    let mut told = String::new();
    for line in [
        vec!["list", "--mode", "wide"],
        vec!["list", "--cache-ttl-ms", "soon"],
        vec!["list", "--limit", "0"],
        vec!["list", "--limit", "5000"],
        vec!["list", "--cursor", "zzz"],
        vec!["list", "--source", "no such folder/"],
        vec!["run", "Marketing_Strategy", "--var", "company"],
        vec!["run", "Marketing_Strategy", "--var", "a=1", "--var", "a=2"],
        vec!["run", "Marketing_Strategy", "--var-json", "a={"],
        vec!["run", "Marketing_Strategy", "--vars", "gone.json"],
        vec!["run", "Marketing_Strategy", "--var-json", r#"a={"b": 1, "b": 2}"#],
        vec!["run", "Marketing_Strategy", "--vars", "-", "--var-file", "a=-"],
        vec!["validate", "gone.json"],
    ] {
        let said = Sandbox::new().stdin("{}").run(&line);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{line:?}: {}", said.err);
        let _ = write!(told, "$ flowy {}\n{}\n", line.join(" "), said.err);
    }
    insta::assert_snapshot!("not-understood", told);
}

#[test]
fn a_key_that_stands_twice_among_values_is_refused_at_its_place() {
    let values = "{\n  \"company\": \"a\",\n  \"company\": \"b\"\n}";
    let sandbox = Sandbox::new().file("values.json", values).stdin(values);
    for (file, shown) in [("values.json", "values.json"), ("-", "-")] {
        let said = sandbox.run(["run", "Marketing_Strategy", "--vars", file, "--dry-run"]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
        insta::assert_snapshot!(format!("given-twice-{}", if shown == "-" { "stdin" } else { "file" }), said.err);
    }
}

#[test]
fn an_empty_flag_is_refused_and_an_empty_variable_is_not_set() {
    for flag in SETTINGS.iter().filter(|row| row.value.is_some()).filter_map(|row| row.flag) {
        let said = Sandbox::new().run(["list", flag, ""]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{flag}: {}", said.err);
        assert!(said.err.contains(&format!("{flag} is empty")), "{flag}: {}", said.err);
    }
    for line in [
        ["list", "--query"].as_slice(),
        &["list", "--tag"],
        &["list", "--category"],
        &["list", "--complexity"],
        &["list", "--name"],
        &["list", "--cursor"],
        &["run", "Weekly_Status", "--vars"],
        &["run", "Weekly_Status", "--set"],
        &["run", "Weekly_Status", "--result"],
        &["run", "Weekly_Status", "--files"],
        &["stats", "--flow"],
        &["executions", "list", "--flow"],
        &["executions", "cancel", "ID", "--reason"],
    ] {
        let said = Sandbox::new().run(line.iter().chain(&[""]));
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{line:?}: {}", said.err);
        let flag = line.iter().rfind(|word| word.starts_with("--")).unwrap();
        assert!(said.err.contains(flag), "{line:?}: {}", said.err);
    }
    assert_eq!(Sandbox::new().variable("GITHUB_REPO_URL", "").variable("GITHUB_REF", " ").run(["list"]).code, 0);
}

/// The commands of a line as a shell reads it, up to where output is written; quotation marks hold words
/// together.
fn words_of(line: &str) -> Vec<Vec<String>> {
    let (mut commands, mut word, mut quoted) = (vec![Vec::new()], None::<String>, false);
    for c in line.chars().chain([' ']) {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => commands.last_mut().unwrap().extend(word.take()),
            '|' if !quoted => commands.push(Vec::new()),
            '>' if !quoted => break,
            c => word.get_or_insert_default().push(c),
        }
    }
    commands
}

/// The examples of a command and of those below it.
fn examples(command: &clap::Command) -> Vec<String> {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let own = help.lines().filter(|line| line.starts_with("  ") && line.contains("flowy ")).map(str::to_owned);
    own.chain(command.get_subcommands().flat_map(examples)).collect()
}

#[test]
fn every_example_in_a_help_text_is_understood_and_names_one_flow_and_its_inputs() {
    let lines = examples(&<Cli as clap::CommandFactory>::command());
    assert!(lines.len() > 20, "{lines:?}");
    let mut named = 0;
    for line in &lines {
        let commands = words_of(line);
        for words in commands.iter().filter(|words| words.first().is_some_and(|word| word == "flowy")) {
            let parsed = <Cli as clap::Parser>::try_parse_from(words);
            assert!(parsed.is_ok(), "{line}: {}", parsed.err().unwrap());
            let name = match words[1].as_str() {
                "run" | "guide" if words[2].starts_with("--") => continue,
                "run" | "guide" | "show" | "graph" | "schema" => words[2].as_str(),
                "stats" => match words.iter().position(|word| word == "--flow") {
                    Some(at) => words[at + 1].as_str(),
                    None => continue,
                },
                _ => continue,
            };
            named += 1;
            let said = Sandbox::new().run(["schema", name]);
            assert_eq!(said.code, 0, "{line}: {}", said.err);
            let inputs = said.json();
            let values =
                words.windows(2).filter(|pair| ["--var", "--var-file", "--var-json"].contains(&pair[0].as_str()));
            for (input, _) in values.filter_map(|pair| pair[1].split_once('=')) {
                assert!(inputs["properties"].get(input).is_some(), "{line}: {input} in {inputs}");
            }
        }
    }
    assert!(named >= 7, "{named}");
}

#[test]
fn a_catalog_that_cannot_be_reached_exits_3() {
    // Nothing listens on port 1 of this machine.
    let line = ["list", "--source", "acme/flows", "--api-url", "http://127.0.0.1:1", "--retry-attempts", "1"];
    let said = Sandbox::new().run(line);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.starts_with("error[NETWORK_ERROR]: "), "{}", said.err);
    let said = Sandbox::new().run(line.into_iter().chain(["--json"]));
    assert_eq!((said.code, said.json()["code"].as_str()), (3, Some("NETWORK_ERROR")));
}

#[test]
fn a_setting_that_is_wrong_is_named_and_a_token_never_shown() {
    let token = "ghp_0123456789 abcdefghijABCDEFGHIJ01234";
    let said = Sandbox::new().variable("GITHUB_PAT", token).run(["list"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("GITHUB_PAT") && !said.err.contains("0123456789"), "{}", said.err);
}

#[test]
fn completions_name_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let said = Sandbox::new().run(["completions", shell]);
        assert_eq!(said.code, 0);
        for command in COMMANDS {
            assert!(said.out.contains(command), "{shell}: {command}");
        }
    }
}

#[test]
fn a_help_page_lists_the_flags_that_its_text_speaks_of_and_breaks_no_example() {
    for command in COMMANDS {
        let page = Sandbox::new().run([command, "--help"]).out;
        let narrow = Sandbox::new().on_terminal(60, [command, "--help"]).replace('\r', "");
        let (about, rest) = page.split_once("\nUsage: ").unwrap_or(("", &page));
        let examples = rest.split_once("\nExample").map(|(_, examples)| examples).unwrap_or_default();
        for line in examples.lines().filter(|line| line.starts_with("  ")) {
            assert!(narrow.contains(&format!("\n{line}\n")), "{command}: {line}\n{narrow}");
        }
        // What stands between backticks may be another command.
        let own = about.split('`').step_by(2).flat_map(str::split_whitespace);
        let of_it = |line: &&str| line.trim_start().starts_with(&format!("flowy {command} -"));
        let flags = own.chain(examples.lines().filter(of_it).flat_map(str::split_whitespace));
        for flag in flags.filter_map(|word| word.split(['=', ',', '.', ';', ')', ':']).next()?.strip_prefix("--")) {
            assert!(listed_flags(&page).contains(flag), "{command} does not list --{flag}\n{page}");
        }
    }
}

#[test]
#[cfg(unix)]
fn few_open_files_are_an_error_and_no_panic() {
    let home = tempfile::tempdir().unwrap();
    for limit in ["7", "8"] {
        let said = std::process::Command::new("/bin/sh")
            .args(["-c", "ulimit -n \"$1\"; exec \"$0\" list --source examples", env!("CARGO_BIN_EXE_flowy"), limit])
            .env_clear()
            .env("HOME", home.path())
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&said.stderr);
        assert_eq!(said.status.code(), Some(1), "{limit}: {err}");
        assert!(err.contains("Too many open files") && !err.contains("panicked"), "{limit}: {err}");
    }
}
