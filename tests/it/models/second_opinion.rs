//! What others hold for the shapes of providers: two stand-ins from Python's registry, one of which breaks on demand and
//! judges how its client took that.
//!
//! They are installed below `target` when `.ci/long` runs; where that can't be done, these tests fail and say so.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::{model, run, sandbox, two_steps};

/// What is installed, by the names and versions of Python's registry.
const PACKAGES: [&str; 2] = ["llmock==0.2.2", "fakellm==0.3.5"];

/// Where the programs are; they are installed once.
fn installed() -> &'static Path {
    static PLACE: OnceLock<PathBuf> = OnceLock::new();
    PLACE.get_or_init(|| {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stand-ins");
        let there = |name: &str| place.join("bin").join(name).exists();
        if !there("llmock") || !there("fakellm") {
            let does = |program: &Path, arguments: &[&str]| {
                let done = Command::new(program).args(arguments).stdout(Stdio::null()).status();
                assert!(done.is_ok_and(|status| status.success()), "the stand-ins {PACKAGES:?} can't be installed");
            };
            does(Path::new("python3"), &["-m", "venv", place.to_str().unwrap()]);
            does(&place.join("bin/pip"), &[&["install", "--quiet"][..], &PACKAGES].concat());
        }
        place
    })
}

/// A stand-in that runs. Letting go of it ends it.
struct Running {
    child: Child,
    at: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    fn start(name: &str, arguments: &[&str]) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
        let mut command = Command::new(installed().join("bin").join(name));
        command.arg("serve").args(["--port", &port]).args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        let running = Self { child: command.spawn().unwrap(), at: format!("127.0.0.1:{port}") };
        for _ in 0..4_000 {
            if TcpStream::connect(&running.at).is_ok() {
                return running;
            }
            std::thread::park_timeout(std::time::Duration::from_millis(5));
        }
        panic!("{name} does not listen");
    }

    /// What it answers to a request of its own.
    fn ask(&self, path: &str, body: Option<&Value>) -> Value {
        let mut stream = TcpStream::connect(&self.at).unwrap();
        let (method, body) = body.map_or(("GET", String::new()), |body| ("POST", body.to_string()));
        let at = &self.at;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 20"), "{answer}");
        serde_json::from_str(body).unwrap()
    }

    /// The providers whose shapes it speaks, with the addresses below its own.
    fn providers(&self) -> [(&'static str, String); 5] {
        let places = [
            ("openai", "/v1"),
            ("openai-compatible", "/groq/openai/v1"),
            ("anthropic", "/anthropic"),
            ("gemini", "/gemini/v1beta"),
            ("mistral", "/mistral/v1"),
        ];
        places.map(|(provider, place)| (provider, format!("http://{}{place}", self.at)))
    }
}

/// Executes a flow with a step for the model, and one that holds its answer.
fn answered(provider: &str, url: &str, first: &Value, more: &str) -> Value {
    let settings = model(provider, url, &format!("{more}\nkey_env = \"MODEL_KEY\""));
    let sandbox = sandbox(&settings, &two_steps(first, &json!({"model": false}))).variable("MODEL_KEY", "a-key");
    run(&sandbox, &["--model", "writer"]).0
}

#[test]
#[ignore = "long: .ci/long runs it"]
fn every_fault_on_demand_is_taken_as_it_should_be_and_the_judge_finds_no_error() {
    let judge = Running::start("llmock", &[]);
    let fail = |status: u16, more: Value| {
        let mut fault = json!({"type": "fail", "status": status});
        fault.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fault
    };
    let stream = |kind: &str| json!({"type": "stream_fault", "kind": kind, "after_chunks": 2});
    let once = || json!({});
    // The code, or none where an answer comes, and how many calls are made.
    let cases: Vec<(Value, Option<&str>, usize)> = vec![
        (json!({"type": "slow_first_token", "seconds": 0.2}), None, 1),
        (fail(429, json!({"retry_after": 1, "times": 2})), None, 3),
        (fail(429, once()), None, 2),
        (fail(529, once()), None, 2),
        (fail(500, json!({"times": 2})), None, 3),
        (fail(503, once()), None, 2),
        (fail(504, once()), None, 2),
        (fail(408, once()), None, 2),
        (fail(503, json!({"times": null, "retry_after": 1})), Some("MODEL_ERROR"), 3),
        (fail(400, once()), Some("MODEL_ERROR"), 1),
        (fail(401, once()), Some("MODEL_UNAUTHORIZED"), 1),
        (fail(402, once()), Some("MODEL_NO_QUOTA"), 1),
        (fail(403, once()), Some("MODEL_UNAUTHORIZED"), 1),
        (fail(404, once()), Some("MODEL_NOT_FOUND"), 1),
        (fail(413, once()), Some("CONTEXT_TOO_LONG"), 1),
        (fail(422, once()), Some("MODEL_ERROR"), 1),
        (stream("disconnect"), None, 2),
        (stream("truncate"), None, 2),
        (stream("malformed"), None, 2),
        (stream("stall"), Some("TIMEOUT"), 1),
    ];
    for (provider, url) in judge.providers() {
        for (fault, code, calls) in &cases {
            judge.ask("/_llmock/reset", Some(&json!({})));
            judge.ask("/_llmock/scenario", Some(&json!({"behaviors": [fault]})));
            let answer = answered(provider, &url, &json!({}), "timeout_ms = 2000");
            assert_eq!(answer["code"].as_str(), *code, "{provider} {fault}: {answer}");
            assert_eq!(judge.ask("/_llmock/requests", None)["count"], *calls, "{provider} {fault}: {answer}");
            let verdict = judge.ask("/_llmock/verdict", None);
            // It warns by appearances, too: pauses that came out alike, and an end of trying.
            assert_eq!(verdict["errors"], 0, "{provider} {fault}: {verdict}");
        }
    }
}

#[test]
#[ignore = "long: .ci/long runs it"]
fn texts_and_contracts_come_as_they_are_sent() {
    let judge = Running::start("llmock", &[]);
    let text = "Ünï\u{2028} \"quoted\"\n\n\\n lines 😀 {topic} {{ topic }}";
    let contract = json!({"contract": {
        "type": "object",
        "required": ["title", "n", "tags"],
        "properties": {"title": {"type": "string"}, "n": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}},
    }});
    for (provider, url) in judge.providers() {
        judge.ask("/_llmock/scenario", Some(&json!({"behaviors": [{"type": "reply", "text": text}]})));
        let answer = answered(provider, &url, &json!({}), "");
        assert_eq!(answer["finalResult"], format!("Write by: {text}"), "{provider}: {answer}");
        let usage = &answer["usage"];
        assert!(usage["inputTokens"].as_u64().unwrap() > 0 && usage["outputTokens"].as_u64().unwrap() > 0, "{usage}");
        // The one of Anthropic's shape knows no response formats, and answers with prose whatever is asked.
        let answer = answered(provider, &url, &contract, "");
        let code = (provider == "anthropic").then_some("CONTRACT_VIOLATION");
        assert_eq!(answer["code"].as_str(), code, "{provider}: {answer}");
        if code.is_none() {
            assert_eq!(answer["intermediateResults"][0]["output"]["title"], "mock-title", "{provider}: {answer}");
        }
    }
}

#[test]
#[ignore = "long: .ci/long runs it"]
fn a_quota_by_the_minute_is_kept_to() {
    let judge = Running::start("llmock", &["--rpm", "30"]);
    let nodes: Vec<Value> = (0..34)
        .map(|number| json!({"id": format!("s{number}"), "type": "template", "data": {"template": format!("{{topic}} {number}")}}))
        .collect();
    let flow = json!({"metadata": {"name": "Two", "version": "1.0.0"}, "nodes": nodes, "edges": []}).to_string();
    for (provider, url) in judge.providers() {
        judge.ask("/_llmock/reset", Some(&json!({})));
        let settings = model(provider, &url, "parallel = 8\nkey_env = \"MODEL_KEY\"");
        let sandbox = sandbox(&settings, &flow).variable("MODEL_KEY", provider);
        let (answer, said) = run(&sandbox, &["--model", "writer"]);
        assert_eq!(answer["counts"]["steps"], 34, "{provider}: {said:?}");
        let verdict = judge.ask("/_llmock/verdict", None);
        assert_eq!(verdict["errors"], 0, "{provider}: {verdict}");
    }
}

#[test]
#[ignore = "long: .ci/long runs it"]
fn the_other_one_is_understood_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let rules = json!({"version": 1, "rules": [
        {"name": "tool", "when": {"messages_contain": "call"}, "respond": {"tool_calls": [{"name": "search", "arguments": {"q": "x"}}]}},
        {"name": "data", "when": {"messages_contain": "data"}, "respond": {"content": "Here you are:\n```json\n{\"n\": 7}\n```"}},
        {"name": "text", "respond": {"content": "a plan of  two  blanks\nand a line"}},
    ]});
    // JSON is YAML.
    let file = folder.path().join("rules.yaml");
    std::fs::write(&file, rules.to_string()).unwrap();
    let other = Running::start("fakellm", &["--config", file.to_str().unwrap()]);
    for (provider, place) in [("openai-compatible", "/v1"), ("openai", "/v1"), ("mistral", "/v1"), ("anthropic", "")] {
        let url = format!("http://{}{place}", other.at);
        let answer = answered(provider, &url, &json!({}), "");
        assert_eq!(answer["finalResult"], "Write by: a plan of  two  blanks\nand a line", "{provider}: {answer}");
        // It counts nothing in OpenAI's shape: then the estimate stands.
        let usage = &answer["usage"];
        assert!(usage["inputTokens"].as_u64().unwrap() > 0 && usage["outputTokens"].as_u64().unwrap() > 0, "{usage}");
        let data = json!({"template": "data", "contract": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}});
        let answer = answered(provider, &url, &data, "");
        assert_eq!(answer["intermediateResults"][0]["output"], json!({"n": 7}), "{provider}: {answer}");
        // A model that calls a tool which nobody offered gives no answer.
        let answer = answered(provider, &url, &json!({"template": "call"}), "");
        assert_eq!(answer["code"], "MODEL_ERROR", "{provider}: {answer}");
    }
}
