//! Models are the operator's: what his file may say, and what nobody else's may.

use serde_json::json;

use super::{model, run, sandbox, two_steps};
use crate::support::model::{Act, Speaks, StandIn};
use crate::support::program::Sandbox;

#[test]
fn a_file_that_came_with_a_catalog_can_not_name_a_model() {
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    let flow = two_steps(&json!({}), &json!({}));
    for text in [
        format!(
            "[models.evil]\nprovider = \"openai-compatible\"\nmodel = \"x\"\nbase_url = \"{}\"\nkey_env = \"MY_KEY\"",
            stand_in.url
        ),
        "default_model = \"evil\"".to_owned(),
        "currency = \"EUR\"".to_owned(),
        "execution_timeout_ms = 600000".to_owned(),
        "models.evil.price_in = 1".to_owned(),
    ] {
        let sandbox =
            Sandbox::new().file("flows/Two.json", &flow).file("flowy.toml", &text).variable("MY_KEY", "k-123");
        let said = sandbox.run(["run", "Two", "--var", "topic=tea"]);
        assert_eq!(said.code, 2, "{text}: {said:?}");
        assert!(said.err.contains(".config/flowy/flowy.toml"), "{}", said.err);
        assert!(stand_in.asked().is_empty());
    }
}

#[test]
fn every_key_that_can_not_be_used_is_told_with_its_place() {
    let fine = "provider = \"ollama\"\nmodel = \"m\"\n";
    let cases = [
        ("provider = \"olama\"\nmodel = \"m\"", 2),
        ("model = \"m\"", 1),
        ("provider = \"ollama\"", 1),
        ("provider = \"openai-compatible\"\nmodel = \"m\"", 1),
        ("provider = \"anthropic\"\nmodel = \"m\"", 1),
        (&format!("{fine}base_url = \"http://models.example.com\""), 4),
        (&format!("{fine}base_url = \"http://8.8.8.8\""), 4),
        (&format!("{fine}base_url = \"https://me:pw@models.example.com\""), 4),
        (&format!("{fine}base_url = \"https://models.example.com?key=1\""), 4),
        (&format!("{fine}base_url = \"ftp://models.example.com\""), 4),
        (&format!("{fine}key = \"k\""), 4),
        (&format!("{fine}key_env = \"A\"\nkey_file = \"b\""), 5),
        (&format!("{fine}key_env = \"sk-this-is-a-key\""), 4),
        (&format!("{fine}temperature = 3"), 4),
        (&format!("{fine}max_output_tokens = 0"), 4),
        (&format!("{fine}parallel = \"4\""), 4),
        (&format!("{fine}price_in = -1"), 4),
        (&format!("{fine}fallback = [\"nobody\"]"), 4),
        (&format!("{fine}fallback = [\"writer\"]"), 4),
        (&format!("{fine}answers = \"always\""), 4),
    ];
    for (text, line) in cases {
        let sandbox = sandbox(&format!("[models.writer]\n{text}\n"), &two_steps(&json!({}), &json!({})));
        let said = sandbox.run(["list"]);
        assert_eq!(said.code, 2, "{text}: {said:?}");
        let one_line = said.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(one_line.contains(&format!("flowy.toml:{line}")), "{text}: {}", said.err);
        for secret in ["me:pw", "sk-this-is-a-key"] {
            assert!(!said.err.contains(secret), "{}", said.err);
        }
    }
    let unknown = "default_model = \"writr\"\n[models.writer]\nprovider = \"ollama\"\nmodel = \"m\"\n";
    let said = sandbox(unknown, &two_steps(&json!({}), &json!({}))).run(["list"]);
    assert!(said.code == 2 && said.err.contains("writer"), "{said:?}");
}

#[test]
fn addresses_of_this_machine_and_of_private_networks_need_no_key_and_may_be_http() {
    for url in [
        "http://127.0.0.1:1",
        "http://localhost:1",
        "http://[::1]:1",
        "http://10.1.2.3",
        "http://192.168.0.9:8",
        "https://10.1.2.3",
    ] {
        let settings = model("openai-compatible", url, "");
        let said = sandbox(&settings, &two_steps(&json!({}), &json!({}))).run(["list"]);
        assert_eq!(said.code, 0, "{url}: {said:?}");
    }
}

#[test]
fn a_key_is_read_from_a_file_that_is_its_owners_alone() {
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    let settings = model("openai-compatible", &stand_in.url, "key_file = \"key\"");
    let sandbox = sandbox(&settings, &two_steps(&json!({}), &json!({"model": false})));
    let file = sandbox.home().join(".config/flowy/key");
    let (answer, _) = run(&sandbox, &["--model", "writer"]);
    assert_eq!(answer["code"], "MODEL_UNAUTHORIZED", "{answer}");
    std::fs::write(&file, "k-from-a-file\n").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let (answer, _) = run(&sandbox, &["--model", "writer"]);
        assert_eq!(answer["code"], "MODEL_UNAUTHORIZED");
        assert!(answer["message"].as_str().unwrap().contains("chmod 600"));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let (answer, _) = run(&sandbox, &["--model", "writer"]);
    assert_eq!(answer["finalResult"], "Write by: <Plan tea.>");
    assert_eq!(stand_in.asked()[0].header("authorization"), Some("Bearer k-from-a-file"));
}

#[test]
fn a_key_is_nowhere_but_in_the_request() {
    const KEY: &str = "key-S3cr3t-0123456789";
    // A server that shows the key in everything it says.
    let words = format!("the key {KEY} is wrong");
    let refusal = json!({"error": {"message": words, "type": "invalid_request_error"}});
    for act in [
        Act::Refuse(401, vec![("x-debug", KEY.to_owned())], refusal.clone()),
        Act::Refuse(500, vec![], refusal),
        Act::Raw(format!("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/{KEY}\r\ncontent-length: 0\r\n\r\n")),
        Act::Raw(format!("{KEY} is no HTTP\r\n\r\n")),
    ] {
        let stand_in = StandIn::doing(Speaks::OpenAi, vec![act]);
        let settings = model("openai-compatible", &stand_in.url, "key_env = \"MY_KEY\"");
        let sandbox = sandbox(&settings, &two_steps(&json!({}), &json!({})))
            .variable("MY_KEY", KEY)
            .variable("LOG_LEVEL", "trace");
        for arguments in [
            &["run", "Two", "--var", "topic=tea", "--model", "writer", "--json"][..],
            &["run", "Two", "--var", "topic=tea", "--model", "writer"],
        ] {
            let said = sandbox.run(arguments);
            assert_eq!(said.code, 1);
            assert!(!said.out.contains(KEY) && !said.err.contains(KEY), "{said:?}");
        }
        assert_eq!(stand_in.asked()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        for file in walk(&sandbox.home()) {
            let bytes = std::fs::read(&file).unwrap();
            let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
            assert!(!found, "{}", file.display());
        }
    }
}

#[test]
fn each_model_is_sent_its_own_key_and_no_other() {
    let (first, second) = (StandIn::echoing(Speaks::OpenAi), StandIn::echoing(Speaks::Anthropic));
    let settings = format!(
        "{}[models.second]\nprovider = \"anthropic\"\nmodel = \"m-2\"\nbase_url = \"{}\"\nkey_env = \"ITS_KEY\"\n",
        model("openai-compatible", &first.url, "key_env = \"MY_KEY\""),
        second.url
    );
    let sandbox = sandbox(&settings, &two_steps(&json!({"model": "writer"}), &json!({"model": "second"})))
        .variable("MY_KEY", "key-one")
        .variable("ITS_KEY", "key-two");
    let (answer, said) = run(&sandbox, &[]);
    assert_eq!(answer["status"], "success", "{said:?}");
    let sent = |stand_in: &StandIn| {
        let asked = stand_in.asked();
        let [asked] = asked.as_slice() else { panic!("{asked:?}") };
        ["authorization", "x-api-key"].map(|name| asked.header(name).map(str::to_owned))
    };
    assert_eq!(sent(&first), [Some("Bearer key-one".to_owned()), None]);
    assert_eq!(sent(&second), [None, Some("key-two".to_owned())]);
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
    }
    found
}
