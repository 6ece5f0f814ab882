//! The use cases on real folders: what is written, what is kept, and what is left alone.

use std::fs;

use chrono::TimeZone as _;

use super::*;
use crate::config::Flags;

struct Desk {
    home: tempfile::TempDir,
    variables: Vec<(String, String)>,
    flags: Flags,
    server: &'static str,
    replace: bool,
}

impl Desk {
    /// A user's empty folder on Linux, and a source.
    fn with_source(source: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let variables = vec![("HOME".to_owned(), home.path().display().to_string())];
        let flags = if source.is_empty() { Flags::default() } else { Flags::default().with("--source", source) };
        Self { home, variables, flags, server: "flowy", replace: false }
    }

    fn and(mut self, variable: &str, value: &str) -> Self {
        self.variables.push((variable.to_owned(), value.to_owned()));
        self
    }

    fn environment(&self) -> Environment {
        Environment::of(self.variables.clone()).in_folder(self.home.path())
    }

    fn desktop_file(&self) -> PathBuf {
        self.home.path().join(".config/Claude/claude_desktop_config.json")
    }

    fn holding(self, text: &str) -> Self {
        fs::create_dir_all(self.desktop_file().parent().unwrap()).unwrap();
        fs::write(self.desktop_file(), text).unwrap();
        self
    }

    fn names_beside(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.desktop_file().parent().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn show(&self, client: Client) -> Result<ClientSetup, ClientError> {
        self.ask(client, show_entry)
    }

    fn write(&self, client: Client) -> Result<ClientSetup, ClientError> {
        self.ask(client, |request| write_entry(request, Utc.with_ymd_and_hms(2026, 11, 28, 9, 5, 3).unwrap()))
    }

    fn ask(
        &self,
        client: Client,
        then: impl Fn(ClientRequest<'_>) -> Result<ClientSetup, ClientError>,
    ) -> Result<ClientSetup, ClientError> {
        let environment = self.environment();
        let settings = Settings::load(&self.flags, &environment).unwrap();
        let program = program();
        let (server, replace) = (self.server, self.replace);
        then(ClientRequest {
            client,
            server,
            replace,
            program: &program,
            settings: &settings,
            environment: &environment,
        })
    }
}

fn program() -> PathBuf {
    PathBuf::from(if cfg!(windows) { r"C:\bin\flowy.exe" } else { "/opt/bin/flowy" })
}

fn arguments(setup: &ClientSetup) -> Vec<String> {
    let value: serde_json::Value = serde_json::from_str(&setup.snippet).unwrap();
    assert_eq!(value["mcpServers"]["flowy"]["command"], program().to_str().unwrap());
    value["mcpServers"]["flowy"]["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|argument| argument.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_desktops_file_is_where_each_platform_has_it() {
    let at = |environment: &Environment| {
        Client::ClaudeDesktop.file(environment).unwrap().unwrap().display().to_string().replace('\\', "/")
    };
    let linux = Environment::of([("HOME", "/home/kim")]);
    assert_eq!(at(&linux), "/home/kim/.config/Claude/claude_desktop_config.json");
    let macos = Environment::of([("HOME", "/Users/kim"), ("XDG_CONFIG_HOME", "/x")]).on(Platform::MacOs);
    assert_eq!(at(&macos), "/Users/kim/Library/Application Support/Claude/claude_desktop_config.json");
    let windows = Environment::of([("APPDATA", r"C:\Users\kim\AppData\Roaming")]).on(Platform::Windows);
    assert_eq!(at(&windows), "C:/Users/kim/AppData/Roaming/Claude/claude_desktop_config.json");
    let nobody = Environment::of([("HOME", "")]);
    assert!(matches!(Client::ClaudeDesktop.file(&nobody), Err(ClientError::NoUserFolder { .. })));
    let project = Environment::of([("HOME", "")]).in_folder("/project");
    assert_eq!(Client::ClaudeCode.file(&project).unwrap().unwrap(), Path::new("/project/.mcp.json"));
}

#[test]
fn on_windows_the_stores_folder_is_taken_when_only_that_is_there() {
    let user = tempfile::tempdir().unwrap();
    let [roaming, local] = ["AppData/Roaming", "AppData/Local"].map(|place| user.path().join(place));
    let environment = Environment::of([("APPDATA", &roaming), ("LOCALAPPDATA", &local)]).on(Platform::Windows);
    let store = local.join("Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude");
    let at = || Client::ClaudeDesktop.file(&environment).unwrap().unwrap();
    assert!(at().starts_with(&roaming), "neither is there");
    fs::create_dir_all(&store).unwrap();
    assert!(at().starts_with(&store));
    fs::create_dir_all(roaming.join("Claude")).unwrap();
    assert!(at().starts_with(&roaming));
}

#[test]
fn what_was_set_here_goes_into_the_arguments_and_the_token_does_not() {
    let desk = Desk::with_source("")
        .and("GITHUB_REPO_URL", "https://github.com/acme/flows")
        .and("GITHUB_PAT", "ghp_0123456789abcdef")
        .and("CACHE_TTL_MS", "60000")
        .and("FLOWY_LENIENT", "true")
        .and("MAX_CONCURRENT_REQUESTS", "3");
    let setup = desk.write(Client::ClaudeDesktop).unwrap();
    assert_eq!(
        arguments(&setup),
        ["serve", "--source", "https://github.com/acme/flows", "--cache-ttl-ms", "60000", "--lenient"]
    );
    let written = fs::read_to_string(desk.desktop_file()).unwrap();
    assert!(!format!("{setup:?}{written}").contains("ghp_"));
    assert!(setup.next[1].contains("token = ") && setup.next[1].contains(".config/flowy/flowy.toml"));
    assert!(setup.next[2].contains("max_concurrent_requests"), "{:?}", setup.next);
}

#[test]
fn a_folder_is_named_by_its_absolute_path() {
    for given in ["./mine", "mine", "~/mine", "mine/."] {
        let desk = Desk::with_source(given);
        fs::create_dir(desk.home.path().join("mine")).unwrap();
        let setup = desk.show(Client::ClaudeDesktop).unwrap();
        assert_eq!(arguments(&setup)[2], desk.home.path().join("mine").to_str().unwrap(), "{given}");
        assert_eq!(setup.next.len(), 1, "no word about tokens: {:?}", setup.next);
    }
    let missing = Desk::with_source("./nothing").show(Client::ClaudeCode);
    assert!(matches!(missing, Err(ClientError::NoSuchFolder { .. })), "{missing:?}");
}

#[test]
fn without_a_source_the_current_catalog_is_taken_else_the_examples_are_said() {
    let desk = Desk::with_source("");
    let examples = desk.show(Client::ClaudeDesktop).unwrap();
    assert_eq!(arguments(&examples), ["serve"]);
    assert!(examples.next[1].contains("built-in examples"), "{:?}", examples.next);
    fs::create_dir(desk.home.path().join("flows")).unwrap();
    let here = desk.show(Client::ClaudeDesktop).unwrap();
    assert_eq!(arguments(&here)[2], desk.home.path().to_str().unwrap());
}

#[test]
fn a_program_without_an_absolute_path_is_refused() {
    let environment = Environment::of([("HOME", "/home/kim")]);
    let settings = Settings::defaults(&environment);
    let request = ClientRequest {
        client: Client::ClaudeDesktop,
        server: SERVER,
        replace: false,
        program: Path::new("target/debug/flowy"),
        settings: &settings,
        environment: &environment,
    };
    assert!(matches!(show_entry(request), Err(ClientError::NotAbsolute { .. })));
}

#[test]
fn a_file_that_was_not_there_is_created_with_its_folder() {
    let desk = Desk::with_source("acme/flows");
    let setup = desk.write(Client::ClaudeDesktop).unwrap();
    assert_eq!(setup.change, Change::Created);
    let written: serde_json::Value = serde_json::from_slice(&fs::read(desk.desktop_file()).unwrap()).unwrap();
    assert_eq!(written, serde_json::from_str::<serde_json::Value>(&setup.snippet).unwrap());
    assert_eq!(desk.names_beside(), ["claude_desktop_config.json"]);
}

#[test]
fn two_backups_of_one_second_do_not_overwrite_each_other() {
    let mut desk = Desk::with_source("acme/flows").holding("{}");
    desk.write(Client::ClaudeDesktop).unwrap();
    desk.flags = desk.flags.with("--source", "acme/others");
    desk.replace = true;
    let Change::Merged { backup: Some(backup) } = desk.write(Client::ClaudeDesktop).unwrap().change else {
        panic!("not merged")
    };
    assert!(backup.display().to_string().ends_with("Z-2.bak"), "{backup:?}");
    assert_eq!(desk.names_beside().len(), 3);
}

#[test]
fn a_broken_file_is_refused_with_its_place_and_left_alone() {
    for (text, says) in [
        ("{\n  \"mcpServers\": {},\n}\n".as_bytes(), ":2:19: not valid JSON"),
        (b"{\"mcpServers\": []}".as_slice(), ": mcpServers is not an object"),
        (b"\xFF\xFE{\0}\0".as_slice(), "could not be read: it is not UTF-8 text"),
    ] {
        let desk = Desk::with_source("acme/flows").holding("");
        fs::write(desk.desktop_file(), text).unwrap();
        let error = desk.write(Client::ClaudeDesktop).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        assert!(error.to_string().contains("claude_desktop_config.json"), "{error}");
        assert_eq!(fs::read(desk.desktop_file()).unwrap(), text);
        assert_eq!(desk.names_beside(), ["claude_desktop_config.json"]);
    }
}

#[test]
fn a_folder_in_the_files_place_is_refused() {
    let desk = Desk::with_source("acme/flows");
    fs::create_dir_all(desk.desktop_file()).unwrap();
    let error = desk.write(Client::ClaudeDesktop).unwrap_err();
    assert!(matches!(error, ClientError::File { verb: "read", .. }), "{error:?}");
}

#[cfg(unix)]
#[test]
fn permissions_are_kept_by_the_file_and_its_backup() {
    use std::os::unix::fs::PermissionsExt as _;
    for mode in [0o600, 0o640, 0o644] {
        let desk = Desk::with_source("acme/flows").holding("{}");
        fs::set_permissions(desk.desktop_file(), fs::Permissions::from_mode(mode)).unwrap();
        let Change::Merged { backup: Some(backup) } = desk.write(Client::ClaudeDesktop).unwrap().change else {
            panic!("not merged")
        };
        for file in [desk.desktop_file(), backup] {
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, mode, "{file:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_stay_links() {
    let desk = Desk::with_source("acme/flows").holding("");
    let dotfiles = desk.home.path().join("dotfiles");
    fs::create_dir(&dotfiles).unwrap();
    let real = dotfiles.join("claude.json");
    for is_there in [false, true] {
        fs::remove_file(desk.desktop_file()).unwrap();
        if is_there {
            fs::write(&real, "{\"theme\": \"dark\"}").unwrap();
        }
        std::os::unix::fs::symlink("../../dotfiles/claude.json", desk.desktop_file()).unwrap();
        desk.write(Client::ClaudeDesktop).unwrap();
        assert!(fs::symlink_metadata(desk.desktop_file()).unwrap().is_symlink());
        let written = fs::read_to_string(&real).unwrap();
        assert!(written.contains("acme/flows") && written.contains("dark") == is_there, "{written}");
    }
    fs::remove_file(desk.desktop_file()).unwrap();
    std::os::unix::fs::symlink(desk.desktop_file(), desk.desktop_file()).unwrap();
    assert!(desk.write(Client::ClaudeDesktop).unwrap_err().to_string().contains("circle"));
}

#[test]
fn a_teams_file_gets_no_path_of_this_machine_and_no_copy_beside_it() {
    for (given, named) in [("", "."), ("./mine", "./mine"), ("~/mine/x", "./mine/x")] {
        let desk = Desk::with_source(given).and("FLOWY_CACHE_DIR", "/var/cache/mine");
        for folder in ["flows", "mine/x"] {
            fs::create_dir_all(desk.home.path().join(folder)).unwrap();
        }
        fs::write(desk.home.path().join(".mcp.json"), "{\"mcpServers\": {}}").unwrap();
        let setup = desk.write(Client::ClaudeCode).unwrap();
        assert_eq!(setup.change, Change::Merged { backup: None });
        let text = fs::read_to_string(desk.home.path().join(".mcp.json")).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let entry = &value["mcpServers"]["flowy"];
        assert_eq!(entry, &json!({"command": "flowy", "args": ["serve", "--source", named]}), "{given}");
        assert!(setup.next.iter().any(|step| step.contains("cache_dir")), "{:?}", setup.next);
        let names = fs::read_dir(desk.home.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.filter(|name| name.to_str().unwrap().starts_with(".mcp.json")).count(), 1);
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let refused = Desk::with_source(elsewhere.path().to_str().unwrap()).show(Client::ClaudeCode);
    assert!(matches!(refused, Err(ClientError::OutsideProject { .. })), "{refused:?}");
}

#[test]
fn another_catalog_goes_beside_the_first_by_a_name_of_its_own() {
    let mut desk = Desk::with_source("acme/flows");
    desk.write(Client::ClaudeDesktop).unwrap();
    desk.flags = desk.flags.with("--source", "acme/others");
    let refused = desk.write(Client::ClaudeDesktop).unwrap_err();
    assert!(matches!(&refused, ClientError::Content { fault: MergeError::Another { .. }, .. }), "{refused:?}");
    desk.server = "others";
    desk.write(Client::ClaudeDesktop).unwrap();
    let text = fs::read_to_string(desk.desktop_file()).unwrap();
    let servers: serde_json::Value = serde_json::from_str::<serde_json::Value>(&text).unwrap()["mcpServers"].take();
    let sources = ["flowy", "others"].map(|server| servers[server]["args"][2].clone());
    assert_eq!(sources, [json!("acme/flows"), json!("acme/others")]);
    desk.server = "my flows";
    assert!(matches!(desk.show(Client::ClaudeDesktop), Err(ClientError::BadName { .. })));
}

#[test]
fn a_byte_order_mark_goes_from_the_file_and_stays_in_the_copy() {
    let desk = Desk::with_source("acme/flows").holding("\u{FEFF}{\"mcpServers\": {}}");
    let setup = desk.write(Client::ClaudeDesktop).unwrap();
    let Change::Merged { backup: Some(backup) } = &setup.change else { panic!("{:?}", setup.change) };
    assert!(fs::read_to_string(backup).unwrap().starts_with('\u{FEFF}'));
    assert!(fs::read_to_string(desk.desktop_file()).unwrap().starts_with('{'));
    assert!(setup.next[0].contains("byte-order mark"), "{:?}", setup.next);
}

#[test]
fn claude_codes_file_is_the_projects_and_the_next_step_is_to_approve() {
    let desk = Desk::with_source("acme/flows");
    let setup = desk.write(Client::ClaudeCode).unwrap();
    assert_eq!(setup.file, Some(desk.home.path().join(".mcp.json")));
    assert_eq!(setup.change, Change::Created);
    assert!(setup.next[0].contains("Claude Code"), "{:?}", setup.next);
    let again = desk.write(Client::ClaudeCode).unwrap();
    assert_eq!(again.change, Change::Unchanged);
    // That nothing had to be changed is said by the change itself.
    assert_eq!(again.next, setup.next[1..]);
}
