//! The servers file: what is read, what is refused, and that no value is ever shown.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::*;

fn environment() -> Environment {
    Environment::of([
        ("HOME", "/home/kim"),
        ("PATH", "/bin"),
        ("LC_ALL", "C"),
        ("XDG_CONFIG_HOME", "/c"),
        ("GITHUB_PAT", "ghp_of_the_user"),
        ("KEY", "s3cr3t-key"),
        ("SHORT", "x"),
    ])
}

fn parse(text: &str) -> Result<ServersFile, ServersError> {
    ServersFile::parse(Path::new("/etc/flowy/flowy.servers.json"), text.as_bytes(), &environment())
}

fn entry(text: &str) -> Result<ServerSpec, ServersError> {
    let mut file = parse(&format!("{{\"mcpServers\": {{\n  \"web\": {text}\n}}}}"))?;
    file.servers.remove("web").ok_or_else(|| file.broken.remove("web").expect("one server").why)
}

/// What is wrong with a file, or with entries of it.
fn troubles(text: &str) -> ServersError {
    parse(text).map_or_else(|error| error, |file| file.troubles().expect(text))
}

fn program(text: &str) -> Program {
    match entry(text).expect("a server").transport {
        Transport::Stdio(program) => program,
        Transport::Http(endpoint) => panic!("{endpoint:?}"),
    }
}

fn endpoint(text: &str) -> Endpoint {
    match entry(text).expect("a server").transport {
        Transport::Http(endpoint) => endpoint,
        Transport::Stdio(program) => panic!("{program:?}"),
    }
}

#[test]
fn an_entry_as_other_clients_have_it_is_read_with_our_defaults() {
    let spec = entry(r#"{"type": "stdio", "command": "npx", "args": ["-y", "server"], "autoApprove": []}"#).unwrap();
    assert_eq!((spec.timeout, spec.connect_timeout), (Duration::from_secs(30), Duration::from_secs(10)));
    assert_eq!((spec.idle_stop, spec.max_result_bytes, spec.max_parallel), (Duration::from_mins(5), 4 << 20, 4));
    assert_eq!((spec.disabled, spec.era, spec.allow), (false, Era::Initialize, Allow::default()));
    let remote = entry(r#"{"url": "https://example.com/mcp"}"#).unwrap();
    assert_eq!((remote.era, remote.transport.word()), (Era::Auto, "http"));
}

#[test]
fn our_own_keys_are_read() {
    let spec = entry(
        r#"{"command": "x", "allow": ["get_*", "readOnly"], "timeout": 2.5, "connectTimeout": "500ms", "idleStop": "2m",
            "maxResultBytes": "1MiB", "maxParallel": 1, "disabled": true, "era": "auto"}"#,
    )
    .unwrap();
    assert_eq!((spec.timeout, spec.connect_timeout), (Duration::from_millis(2_500), Duration::from_millis(500)));
    assert_eq!((spec.idle_stop, spec.max_result_bytes), (Duration::from_mins(2), 1 << 20));
    assert_eq!((spec.max_parallel, spec.disabled, spec.era), (1, true, Era::Auto));
    assert!(spec.allow.allows("get_x", false) && spec.allow.allows("y", true) && !spec.allow.allows("y", false));
    assert!(entry(r#"{"command": "x", "allow": "readOnly"}"#).unwrap().allow.read_only);
}

#[test]
fn a_child_gets_a_few_variables_and_its_own_and_no_token() {
    let program = program(r#"{"command": "x", "env": {"API_KEY": "${KEY}", "PORT": 8080, "HOME": "/elsewhere"}}"#);
    let names: Vec<&str> = program.env.keys().filter_map(|name| name.to_str()).collect();
    assert_eq!(names, ["API_KEY", "HOME", "LC_ALL", "PATH", "PORT", "XDG_CONFIG_HOME"]);
    let value = |name: &str| program.env.get(OsStr::new(name)).and_then(|value| value.to_str());
    assert_eq!(
        (value("API_KEY"), value("PORT"), value("HOME")),
        (Some("s3cr3t-key"), Some("8080"), Some("/elsewhere"))
    );
}

#[test]
fn relative_paths_are_relative_to_the_servers_file() {
    let folder = Path::new("/etc/flowy");
    assert_eq!(program(r#"{"command": "x"}"#).cwd, folder);
    assert_eq!(program(r#"{"command": "x", "cwd": "../work"}"#).cwd, Path::new("/etc/work"));
    assert_eq!(program(r#"{"command": "x", "cwd": "~/work"}"#).cwd, Path::new("/home/kim/work"));
    let command = |text: &str| PathBuf::from(program(text).command);
    assert_eq!(command(r#"{"command": "npx"}"#), Path::new("npx"));
    assert_eq!(command(r#"{"command": "./bin/server"}"#), folder.join("bin/server"));
    assert_eq!(command(r#"{"command": "bin/server", "cwd": "/srv"}"#), Path::new("/srv/bin/server"));
}

#[test]
fn variables_are_filled_in_where_a_value_may_stand() {
    let filled = program(r#"{"command": "${SHORT}", "args": ["--key=${KEY}", "${GONE:-none}"], "cwd": "/${SHORT}"}"#);
    assert_eq!((filled.command.to_str(), filled.cwd.as_path()), (Some("x"), Path::new("/x")));
    assert_eq!(filled.args, ["--key=s3cr3t-key", "none"]);
    let remote =
        endpoint(r#"{"url": "https://${HOST:-h}/mcp?k=${KEY}", "headers": {"Authorization": "Bearer ${KEY}"}}"#);
    assert_eq!(remote.url, "https://h/mcp?k=s3cr3t-key");
    assert_eq!(remote.headers[0].1.to_str().unwrap(), "Bearer s3cr3t-key");
}

#[test]
fn a_variable_that_is_not_set_names_its_key_and_shows_nothing() {
    for (text, key) in [
        (r#"{"command": "${GONE}"}"#, "command"),
        (r#"{"command": "x", "args": ["a", "${GONE}"]}"#, "args[1]"),
        (r#"{"command": "x", "env": {"A": "${KEY} ${GONE}"}}"#, "env.A"),
        (r#"{"command": "x", "cwd": "${GONE}"}"#, "cwd"),
        (r#"{"url": "https://${GONE}/"}"#, "url"),
        (r#"{"url": "https://h/", "headers": {"X-Key": "${KEY}${GONE}"}}"#, "headers.X-Key"),
    ] {
        let error = entry(text).unwrap().unset.expect("what is not set");
        let due = format!("{key} of the server \"web\" needs GONE, which is not set in the environment");
        assert!(error.to_string().ends_with(&due), "{error}");
        assert!(!format!("{error} {error:?}").contains("s3cr3t"), "{error:?}");
        assert!(error.hint().unwrap().contains("${GONE:-default}"));
        // What is switched off need not be set up.
        let off = text.replacen('{', "{\"disabled\": true, ", 1);
        let off = entry(&off).unwrap();
        assert!(off.disabled && off.unset.is_none());
    }
}

#[test]
fn what_is_not_set_stops_one_server_and_all_of_it_is_told() {
    let text = r#"{"mcpServers": {
  "web": {"command": "x", "env": {"A": "${GONE}", "B": "${KEY}"}, "args": ["${MISSING}"]},
  "far": {"url": "${ADDRESS}/mcp", "headers": {"X": "${TOKEN}"}},
  "fine": {"command": "x"}
}}"#;
    let file = parse(text).unwrap();
    assert!(file.servers["fine"].unset.is_none() && file.servers.len() == 3 && file.notices.is_empty());
    let places: Vec<String> = file.troubles().unwrap().to_string().split("; ").map(str::to_owned).collect();
    let due = |at: &str, what: &str| {
        format!("/etc/flowy/flowy.servers.json:{at}: {what}, which is not set in the environment")
    };
    assert_eq!(
        places,
        [
            due("2:35", "env.A of the server \"web\" needs GONE"),
            due("2:76", "args[0] of the server \"web\" needs MISSING"),
            due("3:11", "url of the server \"far\" needs ADDRESS"),
            due("3:48", "headers.X of the server \"far\" needs TOKEN"),
        ]
    );
    // What is wrong besides is wrong in the file.
    assert!(entry(r#"{"command": "${GONE}", "timeout": 0}"#).is_err());
}

#[test]
fn of_two_transports_one_that_is_null_or_empty_is_absent() {
    for (text, word) in [
        (r#"{"command": "x", "url": null}"#, "stdio"),
        (r#"{"command": "x", "url": ""}"#, "stdio"),
        (r#"{"command": null, "url": "https://h/"}"#, "http"),
        (r#"{"command": "", "url": "https://h/"}"#, "http"),
    ] {
        assert_eq!(entry(text).unwrap().transport.word(), word, "{text}");
    }
    for text in [r#"{"command": "x", "url": "https://h/"}"#, r#"{"command": null, "url": null}"#, r#"{"url": ""}"#] {
        assert!(entry(text).is_err(), "{text}");
    }
}

#[test]
fn an_entry_that_can_not_be_understood_is_the_trouble_of_its_server_alone() {
    for bad in [
        r#"{"type": "sse", "url": "https://h/sse"}"#,
        r#"{"args": ["x.py"]}"#,
        r#""oops""#,
        r#"{"command": "x", "env": {"T": "${input:token}"}}"#,
        r#"{"command": "x", "args": [5]}"#,
        r#"{"command": "x", "command": "y"}"#,
        r#"{"command": "x", "allow": ["[a]"]}"#,
    ] {
        let file = parse(&format!(
            r#"{{"mcpServers": {{"fine": {{"command": "x"}}, "bad": {bad}, "a:b": {{"command": "x"}}}}}}"#
        ))
        .unwrap();
        assert_eq!(file.servers.keys().collect::<Vec<_>>(), ["fine"], "{bad}");
        assert_eq!(file.broken.keys().collect::<Vec<_>>(), ["a:b", "bad"], "{bad}");
        assert_eq!(file.troubles().unwrap().mistakes.len(), 2, "{bad}");
        // What is switched off is missed by nobody, and what is wrong with it is still said.
        let Some(rest) = bad.strip_prefix('{') else { continue };
        let file = parse(&format!(r#"{{"mcpServers": {{"bad": {{"disabled": true, {rest}}}}}"#)).unwrap();
        assert!(file.troubles().is_none());
        assert!(file.broken.get("bad").is_none_or(|entry| entry.disabled && file.notices.len() == 1), "{bad}");
    }
}

#[test]
fn all_mistakes_are_told_in_the_order_of_the_file_each_with_its_word() {
    let text = "{\"mcpServers\": {\n\"a:b\": {\"command\": \"x\"},\n\"c\": {\"url\": \"h/mcp\", \"timeout\": 0, \"era\": 7},\n\"d\": {},\n\"d\": {\"command\": \"x\"}}}";
    let error = troubles(text);
    let told: Vec<(usize, &str)> =
        error.mistakes.iter().map(|mistake| (mistake.position.unwrap().line, mistake.fault.word())).collect();
    assert_eq!(told, [(2, "bad-alias"), (3, "bad-url"), (3, "bad-value"), (3, "wrong-kind"), (5, "repeated-alias")]);
    assert_eq!(error.hint().unwrap().matches("; ").count(), 2, "{:?}", error.hint());
}

#[test]
fn what_is_doubtful_has_its_place_and_the_nearest_key() {
    let file = parse("{\"mcpServers\": {\n \"web\": {\"command\": \"x\",\n  \"alow\": []},\n \"far\": {\"url\": \"http://h/\", \"headers\": {\"X\": \"y\"}}}}").unwrap();
    let told: Vec<(&str, &str)> =
        file.notices.iter().map(|notice| (notice.alias.as_str(), notice.told.as_str())).collect();
    assert_eq!(
        told,
        [
            (
                "web",
                "/etc/flowy/flowy.servers.json:3:3: the key \"alow\" of the server \"web\" is not known here; did you mean allow?"
            ),
            (
                "far",
                "/etc/flowy/flowy.servers.json:4:30: the headers of the server \"far\" are sent without encryption"
            ),
        ]
    );
}

#[test]
fn what_servers_need_is_named_and_nothing_that_has_a_default_or_is_always_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(SERVERS_FILE);
    std::fs::write(
        &path,
        r#"{"mcpServers": {"a": {"command": "${HOME}/x", "args": ["${B}", "${C:-c}"], "env": {"T": "${A}"}, "other": "${X}"},
            "off": {"command": "${D}", "disabled": true}, "far": {"url": "https://${E}", "headers": {"H": "k ${A}"}}}}"#,
    )
    .unwrap();
    assert_eq!(ServersFile::needs(&path).into_iter().collect::<Vec<_>>(), ["A", "B", "E"]);
    assert!(ServersFile::needs(&folder.path().join("none")).is_empty());
}

#[test]
fn every_fault_has_a_sentence_of_its_own_with_its_place() {
    let one = |text: &str| format!("{{\"mcpServers\": {{\"web\": {text}}}}}");
    for (text, due) in [
        ("", "1:1: the servers file is not JSON: the file is empty".to_owned()),
        ("{\"mcpServers\": {},}", "1:18: the servers file is not JSON: a comma with nothing after it".to_owned()),
        ("{\"servers\": {}}", " the servers file has no object mcpServers in it".to_owned()),
        ("{\"mcpServers\": []}", "1:2: mcpServers is not an object of servers by their alias".to_owned()),
        ("{\"mcpServers\": {\"a\": {\"command\": \"x\"},\n \"a\": {}}}", "2:2: the alias \"a\" stands twice".to_owned()),
        (&one("{\"command\": \"x\", \"command\": \"y\"}"), "the key \"command\" stands twice".to_owned()),
        ("{\"mcpServers\": {\"a:b\": {}}}", "1:17: the alias \"a:b\" has a colon in it, and a call is alias:tool".to_owned()),
        ("{\"mcpServers\": {\"\": {}}}", "the alias \"\" is empty".to_owned()),
        ("{\"mcpServers\": {\"a\\u202E\": {}}}", "has control or bidirectional characters in it".to_owned()),
        ("{\"mcpServers\": {\" a\": {}}}", "begins or ends with a blank".to_owned()),
        (&one("7"), "the server \"web\" is not an object".to_owned()),
        (&one("{}"), "the server \"web\" has neither command nor url".to_owned()),
        (&one("{\"command\": \"\"}"), "command of the server \"web\" is empty".to_owned()),
        (&one("{\"command\": \"x\", \"url\": \"https://h\"}"), "the server \"web\" has both command and url".to_owned()),
        (&one("{\"type\": \"http\", \"command\": \"x\"}"), "is of type http and has no url".to_owned()),
        (&one("{\"type\": \"stdio\", \"url\": \"https://h\"}"), "is of type stdio and has no command".to_owned()),
        (&one("{\"type\": \"sse\", \"url\": \"https://h\"}"), "is of type sse, the transport of 2024 that is not spoken here".to_owned()),
        (&one("{\"type\": \"ws\", \"url\": \"https://h\"}"), "type of the server \"web\" is none of stdio, http and streamable-http".to_owned()),
        (&one("{\"url\": \"example.com/mcp\"}"), "url of the server \"web\" is not an address: it has no scheme (https:// or http://)".to_owned()),
        (&one("{\"url\": \"ftp://example.com\"}"), "it is neither http:// nor https://".to_owned()),
        (&one("{\"url\": \"https://\"}"), "is not an address".to_owned()),
        (&one("{\"url\": \"\"}"), "it is empty".to_owned()),
        (&one("{\"url\": \"http://127.0.0.1:99999/mcp\"}"), "its port is no number from 1 to 65535".to_owned()),
        (&one("{\"url\": \"http://u:p@[::1]:0/mcp\"}"), "its port is no number from 1 to 65535".to_owned()),
        (&one("{\"command\": 7}"), "command of the server \"web\" is a number, but a text is due".to_owned()),
        (&one("{\"command\": \"x\", \"args\": \"-y\"}"), "args of the server \"web\" is a text, but a list of texts is due".to_owned()),
        (&one("{\"command\": \"x\", \"args\": [1]}"), "args[0] of the server \"web\" is a number, but a text is due".to_owned()),
        (&one("{\"command\": \"x\", \"env\": {\"A\": []}}"), "env.A of the server \"web\" is a list, but a text is due".to_owned()),
        (&one("{\"url\": \"https://h\", \"headers\": {\"a b\": \"c\"}}"), "headers.a b of the server \"web\" is not the name of a header".to_owned()),
        (&one("{\"url\": \"https://h\", \"headers\": {\"Accept\": \"c\"}}"), "is a header that the protocol sets itself".to_owned()),
        (&one("{\"url\": \"https://h\", \"headers\": {\"X\": \"c\\u0007\"}}"), "holds a character that no header can have".to_owned()),
        (&one("{\"command\": \"x\", \"allow\": [\"[a]\"]}"), "allow of the server \"web\" holds \"[a]\", which has a sign in it that no tool's name has; only * and ? are special".to_owned()),
        (&one("{\"command\": \"x\", \"allow\": {}}"), "allow of the server \"web\" is an object, but a list of tools, or readOnly is due".to_owned()),
        (&one("{\"command\": \"x\", \"timeout\": 60000}"), "timeout of the server \"web\" is 60000 seconds, but it goes up to 3600 seconds".to_owned()),
        (&one("{\"command\": \"x\", \"timeout\": 0}"), "timeout of the server \"web\" is no time from 0.001 to 3600 seconds".to_owned()),
        (&one("{\"command\": \"x\", \"timeout\": \"soon\"}"), "is no time from".to_owned()),
        (&one("{\"command\": \"x\", \"maxParallel\": 0}"), "maxParallel of the server \"web\" is no whole number from 1 to 100 calls".to_owned()),
        (&one("{\"command\": \"x\", \"disabled\": \"no\"}"), "disabled of the server \"web\" is a text, but true or false is due".to_owned()),
        (&one("{\"command\": \"x\", \"era\": \"new\"}"), "era of the server \"web\" is none of initialize, discover and auto".to_owned()),
        (&one("{\"command\": \"${x y}\"}"), "command of the server \"web\" has ${…} in it without the name of a variable".to_owned()),
    ] {
        let error = troubles(text);
        let word = error.mistakes[0].fault.word();
        assert!(SERVERS_FAULTS.iter().any(|(known, _)| *known == word), "{word}");
        let error = error.to_string();
        assert!(error.starts_with("/etc/flowy/flowy.servers.json:") && error.contains(&due), "{text}\n{error}");
    }
    assert!(entry("{\"url\": \"http://[::1]/mcp\"}").is_ok() && entry("{\"url\": \"https://u:p@h:8443\"}").is_ok());
    let meant = entry("{\"command\": \"x\", \"timeout\": 60000}").unwrap_err();
    assert_eq!(meant.hint().unwrap(), "write \"60000ms\" if milliseconds are meant");
    assert_eq!(parse("{\"mcpservers\": {}}").unwrap_err().hint().unwrap(), "call \"mcpservers\" mcpServers");
}

#[test]
fn no_secret_shows_in_debug_and_all_of_them_are_known() {
    let text = r#"{"command": "x", "args": ["--key", "${KEY}", "--home", "${HOME}/files"], "env": {"TOKEN": "literal-token"}}"#;
    let local = entry(text).unwrap();
    let remote = entry(
        r#"{"url": "https://u:literal-token@h:8/s3cr3t?${KEY}", "headers": {"Authorization": "Bearer literal-token"}}"#,
    )
    .unwrap();
    let shown = format!("{local:?} {remote:?} {:?}", parse("{\"mcpServers\": {}}"));
    assert!(!shown.contains("s3cr3t") && !shown.contains("literal"), "{shown}");
    assert!(shown.contains("https://h:8/…") && shown.contains("TOKEN"), "{shown}");
    let known = |spec: &ServerSpec| spec.secrets.iter().map(|secret| secret.expose().to_owned()).collect::<Vec<_>>();
    assert_eq!(known(&local), ["s3cr3t-key", "literal-token"]);
    assert_eq!(known(&remote), ["s3cr3t-key", "Bearer literal-token", "literal-token"]);
    assert!(!local.identity.contains("s3cr3t") && !local.identity.contains("literal"), "{}", local.identity);
}

#[test]
fn a_file_that_nobody_named_need_not_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(SERVERS_FILE);
    let place = |named| ServersPlace { path: path.clone(), named };
    assert!(ServersFile::load(&place(false), &environment()).unwrap().servers.is_empty());
    let error = ServersFile::load(&place(true), &environment()).unwrap_err();
    assert!(error.to_string().ends_with("the servers file cannot be read: it does not exist"), "{error}");
    std::fs::write(&path, "{").unwrap();
    // One that nobody named stops nothing: what is wrong with it is said where a server is needed.
    let broken = ServersFile::load(&place(false), &environment()).unwrap();
    assert!(broken.unreadable.is_some() && broken.servers.is_empty());
    assert!(ServersFile::load(&place(true), &environment()).is_err());
}
