//! Precedence, the predecessor's names, GitHub Actions, and the table held against the loader.

use std::collections::BTreeSet;
use std::time::Duration;

use super::super::environment::SURROUNDINGS;
use super::super::passing::Audience;
use super::super::setting::{Concern, Fallback};
use super::*;

const NONE: [(&str, &str); 0] = [];

fn load(variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    Settings::load(&Flags::default(), &Environment::of(variables.iter().copied()))
}

/// A folder with a `flowy.toml` in it.
fn folder_with(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(CONFIG_FILE), text).unwrap();
    folder
}

/// A value that is not the default, for each setting.
fn sample(row: &SettingRow) -> &'static str {
    match row.key.unwrap() {
        "source" => "acme/flows",
        "ref" => "v2",
        "token" => "ghp_0123456789",
        "api_url" => "https://ghe.example.com/api/v3",
        "log_level" => "debug",
        "server_name" => "ours",
        "expose" => "marked",
        "expose_list" => "Weekly_Status",
        "expose_prefix" => "run_",
        "lenient" | "allow_any_commit" | "no_usage" | "only_exposed" | "prompt_templates" => "true",
        "cache_dir" | "state_dir" => "/elsewhere",
        "currency" => "EUR",
        "servers" => "/elsewhere/servers.json",
        "execution_timeout_ms"
        | "cache_ttl_ms"
        | "max_file_size_bytes"
        | "fetch_deadline_ms"
        | "request_timeout_ms" => "7000",
        "retry_attempts"
        | "max_concurrent_requests"
        | "max_prompts"
        | "max_exposed"
        | "executions_kept"
        | "executions_kept_days" => "7",
        other => panic!("give {other} a sample"),
    }
}

#[test]
fn every_row_is_really_read_by_flag_variable_and_key() {
    let nothing = load(&[]).unwrap();
    for row in SETTINGS.iter().filter(|row| !row.is(&rows::CONFIG) && !row.is(&rows::DEFAULT_MODEL)) {
        let (key, value) = (row.key.unwrap(), sample(row));
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join("flowy");
        std::fs::create_dir(&own).unwrap();
        std::fs::write(own.join(CONFIG_FILE), format!("{key} = '{value}'")).unwrap();
        let by_key = Settings::load(&Flags::default(), &Environment::of([("XDG_CONFIG_HOME", home.path())])).unwrap();
        assert_ne!(by_key, nothing, "{key}");
        // Where a token was given is remembered; that differs.
        let by_key = Settings { token_place: None, ..by_key };
        assert!(!row.variables.is_empty(), "{key}");
        for variable in row.variables {
            let by_variable = Settings { token_place: None, ..load(&[(variable, value)]).unwrap() };
            assert_eq!(by_variable, by_key, "{variable}");
        }
        if let Some(flag) = row.flag {
            let flags = Flags::default().with(flag, value);
            assert_eq!(Settings::load(&flags, &Environment::of(NONE)).unwrap(), by_key, "{flag}");
        }
        // One row sets one thing.
        let text = format!("{by_key:?}");
        let changed = format!("{nothing:?}").split(", ").zip(text.split(", ")).filter(|(a, b)| a != b).count();
        assert_eq!(changed, 1, "{key} changes more than itself");
    }
}

#[test]
fn a_default_model_that_is_not_configured_is_refused_also_where_none_is() {
    for (text, fine) in [
        ("default_model = 'writer'", false),
        ("default_model = 'writer'\n[models.other]\nprovider = 'ollama'\nmodel = 'm'", false),
        ("default_model = 'writer'\n[models.writer]\nprovider = 'ollama'\nmodel = 'm'", true),
    ] {
        let folder = folder_with(text);
        let flags = Flags::default().with("--config", folder.path().join(CONFIG_FILE).display().to_string());
        let settings = Settings::load(&flags, &Environment::of(NONE));
        assert_eq!(settings.is_ok(), fine, "{text}: {settings:?}");
    }
}

#[test]
fn the_settings_file_can_be_named_by_flag_and_by_variable() {
    let folder = folder_with("source = 'acme/named'\ncache_dir = 'kept/here'");
    let file = folder.path().join(CONFIG_FILE);
    let flags = Flags::default().with("--config", file.display().to_string());
    let by_flag = Settings::load(&flags, &Environment::of(NONE)).unwrap();
    assert_eq!(by_flag.source.as_deref(), Some("acme/named"));
    assert_eq!(by_flag.cache_dir, folder.path().join("kept/here"), "relative to the file it stands in");
    assert_eq!(Settings::load(&Flags::default(), &Environment::of([("FLOWY_CONFIG", &file)])).unwrap(), by_flag);

    let relative = Flags::default().with("--config", CONFIG_FILE);
    let there = Environment::of(NONE).in_folder(folder.path());
    assert_eq!(Settings::load(&relative, &there).unwrap(), by_flag);

    let missing = Flags::default().with("--config", "/no/such/file.toml");
    let error = Settings::load(&missing, &Environment::of(NONE)).unwrap_err();
    assert!(matches!(&error, SettingsError::Unreadable { file, .. } if file == Path::new("/no/such/file.toml")));
}

#[test]
fn no_variable_is_read_that_the_tables_do_not_name() {
    for platform in [super::super::Platform::Unix, super::super::Platform::MacOs, super::super::Platform::Windows] {
        let environment = Environment::of([("GITHUB_ACTIONS", "true"), ("GITHUB_REF", "refs/heads/x")]).on(platform);
        Settings::load(&Flags::default(), &environment).unwrap();
        let named: BTreeSet<&str> = SETTINGS
            .iter()
            .flat_map(|row| row.variables.iter().copied())
            .chain(SURROUNDINGS.iter().map(|(name, _)| *name))
            .collect();
        let asked = environment.asked();
        let unnamed: Vec<&String> = asked.iter().filter(|name| !named.contains(name.as_str())).collect();
        assert!(unnamed.is_empty(), "{unnamed:?}");
        for row in SETTINGS {
            assert!(row.variables.iter().all(|name| asked.contains(*name)), "{row:?}");
        }
    }
}

#[test]
fn every_default_of_the_table_is_read_and_written_as_it_stands() {
    let environment = Environment::of(NONE);
    let settings = load(&[]).unwrap();
    for row in SETTINGS {
        assert!(!row.default.words().is_empty() && !row.meaning.is_empty(), "{row:?}");
        if let Fallback::Value(text) = row.default {
            row.fall_back(&mut Settings::default(), &environment).unwrap();
            assert_eq!((row.written)(&settings).as_deref(), Some(text), "{row:?}");
        }
    }
    assert_eq!((settings.max_file_size, settings.cache_ttl), (1_048_576, Duration::from_mins(15)));
}

#[test]
fn a_token_of_the_environment_says_which_one_it_hides() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("flowy")).unwrap();
    let file = home.path().join("flowy").join(CONFIG_FILE);
    std::fs::write(&file, "token = 'ghp_ofthefile'").unwrap();
    let environment = |more: &[(&'static str, &str)]| {
        let config = ("XDG_CONFIG_HOME", home.path().to_str().unwrap());
        Environment::of(std::iter::once(config).chain(more.iter().copied()))
    };
    let hiding = Settings::load(&Flags::default(), &environment(&[("GH_TOKEN", "ghp_ofthevariable")])).unwrap();
    assert_eq!(hiding.hidden_token.unwrap().to_string(), format!("token in {}:1", file.display()));
    assert_eq!(Settings::load(&Flags::default(), &environment(&[])).unwrap().hidden_token, None);
}

#[test]
fn a_flag_goes_before_the_environment_and_that_before_the_files() {
    let project = folder_with("source = 'acme/project'\nref = 'project'\nlog_level = 'warn'");
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("flowy")).unwrap();
    let own = "source = 'acme/own'\nref = 'own'\nlog_level = 'error'\nretry_attempts = 5\ntoken = 'ghp_mine'";
    std::fs::write(home.path().join("flowy").join(CONFIG_FILE), own).unwrap();
    let environment = Environment::of([
        ("XDG_CONFIG_HOME", home.path().as_os_str()),
        ("GITHUB_REPO_URL", "acme/environment".as_ref()),
        ("GITHUB_REF", "environment".as_ref()),
    ])
    .in_folder(project.path());
    let flags = Flags::default().with("--source", "acme/flag");
    let settings = Settings::load(&flags, &environment).unwrap();
    assert_eq!(settings.source.as_deref(), Some("acme/flag"));
    assert_eq!(settings.git_ref.unwrap().as_str(), "environment");
    assert_eq!(settings.log_level, "warn");
    assert_eq!(settings.retry_attempts, 5);
    assert_eq!(settings.token.unwrap().expose(), "ghp_mine");
}

#[test]
fn an_empty_value_is_not_set_and_the_next_one_counts() {
    let settings = load(&[
        ("GITHUB_PAT", ""),
        ("GITHUB_TOKEN", " \n"),
        ("GH_TOKEN", "gho_0123456789"),
        ("CACHE_TTL_MS", "  "),
        ("GITHUB_REPO_URL", ""),
    ])
    .unwrap();
    assert_eq!(settings.token.unwrap().expose(), "gho_0123456789");
    assert_eq!(settings.cache_ttl, Duration::from_mins(15));
    assert_eq!(settings.source, None);
}

#[test]
fn an_empty_flag_is_refused_with_what_to_write_and_no_other_value_takes_its_place() {
    for text in ["", "  "] {
        let flags = Flags::default().with("--source", text);
        let error = Settings::load(&flags, &Environment::of([("GITHUB_REPO_URL", "a/b")])).unwrap_err();
        assert_eq!(error.to_string(), "the flag --source is empty");
        let hint = error.hint().unwrap();
        assert!(hint.contains("--source"), "{hint}");
    }
}

#[test]
fn an_unfilled_placeholder_is_named_for_every_setting_and_never_used() {
    for row in SETTINGS {
        for variable in row.variables {
            for value in ["${SOMETHING}", " ${user_config.token} ", "ghp_x${Y:-}", "$SOMETHING", "%SOMETHING%"] {
                let error = load(&[(variable, value)]).unwrap_err();
                assert_eq!(
                    error.to_string(),
                    format!("{variable} in the environment is a placeholder that was never filled in")
                );
                assert!(error.hint().unwrap().contains(variable));
            }
        }
    }
    assert_eq!(load(&[("GITHUB_REPO_URL", "./$5 or 50% {off}")]).unwrap().source.as_deref(), Some("./$5 or 50% {off}"));
}

#[test]
fn what_a_flag_hides_is_not_judged() {
    let flags = Flags::default().with("--cache-ttl-ms", "5");
    let settings = Settings::load(&flags, &Environment::of([("CACHE_TTL_MS", "15 parsecs")])).unwrap();
    assert_eq!(settings.cache_ttl, Duration::from_millis(5));
}

#[test]
fn an_error_says_where_the_value_came_from() {
    let flags = Flags::default().with("--retry-attempts", "11");
    let error = Settings::load(&flags, &Environment::of(NONE)).unwrap_err();
    assert_eq!(error.to_string(), "the flag --retry-attempts is 11, but it goes from 1 to 10 tries");
    let folder = folder_with("\nretry_attempts = 0");
    let there = Environment::of(NONE).in_folder(folder.path());
    let error = Settings::load(&Flags::default(), &there).unwrap_err();
    let file = folder.path().join(CONFIG_FILE);
    assert_eq!(
        error.to_string(),
        format!("retry_attempts in {}:2 is 0, but it goes from 1 to 10 tries", file.display())
    );
    assert_eq!(error.hint().unwrap(), "every try counts: 1 is one try and no repeat");
}

#[test]
fn under_github_actions_the_workflows_own_ref_is_not_ours() {
    let actions = |repo: &str, git_ref: &str| {
        load(&[
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_REPO_URL", repo),
            ("GITHUB_REF", git_ref),
            ("GITHUB_TOKEN", "ghs_0123456789"),
        ])
        .unwrap()
    };
    assert_eq!(actions("", "refs/heads/main").git_ref, None);
    assert_eq!(actions("acme/flows", "refs/heads/main").git_ref.unwrap().as_str(), "main");
    assert_eq!(actions("acme/flows", "refs/pull/7/merge").git_ref, None);
    assert_eq!(actions("", "x").token.unwrap().expose(), "ghs_0123456789");

    let elsewhere = load(&[("GITHUB_REF", "refs/pull/7/merge")]).unwrap();
    assert_eq!(elsewhere.git_ref.unwrap().as_str(), "refs/pull/7/merge");
    let flags = Flags::default().with("--ref", "mine");
    let environment = Environment::of([("GITHUB_ACTIONS", "true"), ("GITHUB_REF", "refs/heads/main")]);
    assert_eq!(Settings::load(&flags, &environment).unwrap().git_ref.unwrap().as_str(), "mine");
}

#[cfg(unix)]
#[test]
fn a_value_that_is_not_unicode_is_named() {
    use std::os::unix::ffi::OsStringExt as _;
    let environment = Environment::of([("GITHUB_PAT", std::ffi::OsString::from_vec(vec![0xFF, 0xFE]))]);
    let error = Settings::load(&Flags::default(), &environment).unwrap_err();
    assert_eq!(error.to_string(), "GITHUB_PAT in the environment is not Unicode text");
}

#[test]
fn settings_passed_on_as_arguments_come_back_the_same() {
    let variables: Vec<(&str, &str)> = SETTINGS
        .iter()
        .filter(|row| row.flag.is_some() && row.key.is_some() && row.concern != Concern::Source)
        .map(|row| (row.variables[0], sample(row)))
        .collect();
    let environment = Environment::of(variables);
    let settings = Settings::load(&Flags::default(), &environment).unwrap();
    let passed = settings.passed_on(&environment, Audience::User);
    let mut flags = Flags::default();
    let mut arguments = passed.arguments.iter();
    while let Some(flag) = arguments.next() {
        let row = SETTINGS.iter().find(|row| row.flag == Some(flag)).unwrap();
        flags = flags.with(flag, if row.value.is_some() { arguments.next().unwrap() } else { "true" });
    }
    assert_eq!(Settings::load(&flags, &Environment::of(NONE)).unwrap(), settings);
    assert!(passed.left.is_empty());
}

#[test]
fn a_token_is_never_passed_on_and_what_has_no_flag_is_named() {
    let environment = Environment::of([("GITHUB_PAT", "ghp_0123456789"), ("MCP_SERVER_NAME", "ours")]);
    let passed = Settings::load(&Flags::default(), &environment).unwrap().passed_on(&environment, Audience::User);
    assert_eq!((passed.arguments, passed.left), (vec![], vec!["server_name"]));
}

#[test]
fn a_team_is_passed_no_path_of_this_machine() {
    let variables =
        [("FLOWY_CACHE_DIR", "/c"), ("FLOWY_STATE_DIR", "/s"), ("FLOWY_SERVERS", "/f"), ("GITHUB_REF", "v2")];
    let environment = Environment::of(variables);
    let passed = Settings::load(&Flags::default(), &environment).unwrap().passed_on(&environment, Audience::Team);
    assert_eq!(passed.arguments, ["--ref", "v2"]);
    assert_eq!(passed.left, ["cache_dir", "state_dir", "servers"]);
}

#[test]
fn the_servers_file_is_named_by_flag_or_variable_or_lies_beside_the_users_settings() {
    let place = |flags: &Flags, variables: &[(&str, &str)]| {
        let environment = Environment::of(variables.iter().copied()).in_folder("/here");
        crate::config::ServersPlace::of(&Settings::load(flags, &environment).unwrap(), &environment)
    };
    let usual = place(&Flags::default(), &[("HOME", "/home/kim")]).unwrap();
    assert_eq!((usual.path.to_str(), usual.named), (Some("/home/kim/.config/flowy/flowy.servers.json"), false));
    assert_eq!(place(&Flags::default(), &[("HOME", "")]), None);
    let variables = [("HOME", "/home/kim"), ("FLOWY_SERVERS", "~/s.json")];
    let named = place(&Flags::default(), &variables).unwrap();
    assert_eq!((named.path.to_str(), named.named), (Some("/home/kim/s.json"), true));
    let flags = Flags::default().with("--servers", "mine.json");
    assert_eq!(place(&flags, &variables).unwrap().path.to_str(), Some("/here/mine.json"));
}
