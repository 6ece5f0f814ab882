//! Servers that don't keep to the protocol: what they mean is used, and what can't be read is said at
//! once, with its beginning.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use super::{ENDING, Ground, call, echo, failed, manual, no_arguments, text, with};

/// A server of a few lines: `$1` is what it says to a call and `$2` to `tools/list`, each a format
/// with the request's id in it.
const SERVER: &str = r#"
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":[]},"serverInfo":{"name":"p","version":"1"}}}\n' "$id";;
    *'"tools/list"'*) printf "$2\n" "$id";;
    *'"tools/call"'*) printf "$1\n" "$id";;
  esac
done"#;

const TOOLS: &str = r#"{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}"#;

fn server(to_call: &str, to_list: &str) -> Value {
    json!({"command": "/bin/sh", "args": ["-c", SERVER, "sh", to_call, to_list], "allow": "*", "timeout": "60s"})
}

fn result(content: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":%s,"result":{{"content":[{content}]}}}}"#)
}

#[tokio::test]
async fn an_answer_that_can_not_be_read_ends_its_call_at_once_and_its_beginning_is_told() {
    for (to_call, words) in [
        (result(r#"{"type":"text","text":"mean"}],"n":[NaN"#), "it begins with"),
        (result(r#"{"type":"text","text":"cut off"#), "it begins with"),
        (
            r#"{"jsonrpc":"2.0","id":%s,"error":{"code":"E_INPUT","message":"too short"}}"#.to_owned(),
            "E_INPUT: too short",
        ),
        (r#"{"jsonrpc":"2.0","id":%s,"error":"too short"}"#.to_owned(), "too short"),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not understood"}}"#.to_owned(),
            "not understood",
        ),
        (r#"{"jsonrpc":"2.0","id":%s,"result":{"something":"else"}}"#.to_owned(), "no tool's result"),
    ] {
        let ground = Ground::new();
        let registry = ground.registry(&json!({"p": server(&to_call, TOOLS)}));
        let (code, message) = failed(echo(&registry, "p").await);
        assert_eq!(code, "TOOL_ERROR", "{message}");
        assert!(message.contains(words), "{message}");
        registry.shut_down(ENDING).await;
    }
}

#[tokio::test]
async fn what_is_meant_is_used_where_that_is_plain() {
    for (to_call, due) in [
        (result(r#"{"type":"text","text":"caf\\351"}"#).replace("\\\\", "\\"), "caf\u{FFFD}"),
        (result(r#"{"type":"text","text":"cut \\ud83d here"}"#), "cut \u{FFFD} here"),
        (result(r#"{"type":"text","text":"got","annotations":[]}],"_meta":[],"more":["#).replace(r#""more":[]"#, r#""more":[1]"#), "got"),
        ("{\\n  \"jsonrpc\": \"2.0\",\\n  \"id\": %s,\\n  \"result\": {\\n    \"content\": [{\"type\": \"text\", \"text\": \"spread {\"}]\\n  }\\n}".to_owned(), "spread {"),
        (r#"[{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"a batch"}]}}]"#.to_owned(), "a batch"),
        (r#"{"id":"%s","result":{"content":"bare"}}"#.to_owned(), "bare"),
        (r#"{"jsonrpc":"2.0","id":null,"result":{"content":"of nobody"}}"#.to_owned(), "of nobody"),
    ] {
        let ground = Ground::new();
        let registry = ground.registry(&json!({"p": server(&to_call, TOOLS)}));
        assert_eq!(text(&echo(&registry, "p").await), due, "{to_call}");
        registry.shut_down(ENDING).await;
    }
}

#[tokio::test]
async fn what_is_not_known_of_an_answer_is_named_and_the_rest_is_kept() {
    let ground = Ground::new();
    let content = r#"{"type":"chart","series":[1]},{"type":"text","text":"got"},{"type":"image","mimeType":"image/png","data":"no base64!"}"#;
    let registry = ground.registry(&json!({"p": server(&result(content), TOOLS)}));
    let answer = echo(&registry, "p").await.unwrap();
    assert_eq!((answer.text.as_deref(), answer.left_out.len()), (Some("got"), 2), "{answer:?}");
    assert!(answer.left_out[0].contains("\"chart\""), "{answer:?}");
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_text_is_kept_whatever_its_annotations_are() {
    for block in [
        r#"{"type":"text","text":"got","annotations":{"priority":"high"}}"#,
        r#"{"type":"text","text":"got","annotations":{"audience":"user","lastModified":5}}"#,
        r#"{"type":"text","text":"got","annotations":"x","_meta":"x"}"#,
        r#"{"type":"resource","resource":{"uri":"file:///a","_meta":[],"text":"got"}}"#,
    ] {
        let ground = Ground::new();
        let registry = ground.registry(&json!({"p": server(&result(block), TOOLS)}));
        let answer = echo(&registry, "p").await.unwrap();
        let noted = "its content number 1 is kept without its annotations and other details, which can't be read";
        assert_eq!((answer.text.as_deref(), answer.left_out), (Some("got"), vec![noted.to_owned()]), "{block}");
        registry.shut_down(ENDING).await;
    }
}

#[tokio::test]
async fn an_answer_that_is_a_question_is_told_as_that() {
    for result in
        [r#"{"resultType":"input_required"}"#, r#"{"resultType":"input_required","inputRequests":{},"content":[]}"#]
    {
        let ground = Ground::new();
        let to_call = format!(r#"{{"jsonrpc":"2.0","id":%s,"result":{result}}}"#);
        let registry = ground.registry(&json!({"p": server(&to_call, TOOLS)}));
        assert!(failed(echo(&registry, "p").await).1.contains("it asks for more input"));
        registry.shut_down(ENDING).await;
    }
}

#[tokio::test]
async fn characters_that_no_screen_shows_are_removed_from_an_answer_and_counted() {
    // The tag characters of "obey" as `printf` writes them: the file of servers may not hold them itself.
    let tag = |c: char| char::from_u32(0xE0000 + u32::from(c)).unwrap().to_string().into_bytes();
    let escaped: Vec<String> = "obey".chars().flat_map(tag).map(|byte| format!("\\{byte:03o}")).collect();
    let spelt = escaped.concat();
    let to_call = format!(
        r#"{{"jsonrpc":"2.0","id":%s,"result":{{"content":[{{"type":"text","text":"a{spelt}b"}}],"structuredContent":{{"k{spelt}":["{spelt}c"]}}}}}}"#
    );
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": server(&to_call, TOOLS)}));
    let answer = echo(&registry, "p").await.unwrap();
    assert_eq!((answer.text.as_deref(), answer.structured), (Some("ab"), Some(json!({"k": ["c"]}))));
    assert_eq!(answer.left_out, ["12 hidden characters removed"]);
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_tool_without_a_schema_is_named_and_takes_nobody_else_away() {
    let listed = TOOLS.replace(
        "]}}",
        r#",{"name":"bare"},{"name":"text","inputSchema":"{}"},{"name":5,"inputSchema":{}},{"name":"empty","inputSchema":[]}]}}"#,
    );
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": server(&result(r#"{"type":"text","text":"got"}"#), &listed)}));
    assert_eq!(text(&echo(&registry, "p").await), "got");
    assert_eq!(text(&call(&registry, "p:empty", no_arguments()).await), "got");
    let (code, message) = failed(call(&registry, "p:bare", no_arguments()).await);
    assert_eq!(
        (code, message.as_str()),
        ("TOOL_UNAVAILABLE", "p:bare: its server lists it, and it has no inputSchema")
    );
    let named: Vec<String> = registry.unusable_tools().into_iter().map(|(_, name, _)| name).collect();
    assert_eq!(named, ["5", "bare", "text"]);
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_call_that_takes_too_long_tells_what_came_instead_of_an_answer() {
    let ground = Ground::new();
    let mut stray = server("working on it", TOOLS);
    stray["timeout"] = "300ms".into();
    let registry = ground.registry(&json!({"p": stray}));
    let (code, message) = failed(echo(&registry, "p").await);
    assert_eq!(code, "TIMEOUT");
    assert!(message.contains("\"working on it\""), "{message}");
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn tools_of_one_page_stay_usable_if_the_next_page_fails() {
    let ground = Ground::new();
    let listed = TOOLS.replace(r#""tools""#, r#""nextCursor":"2","tools""#);
    let mut entry = server(&result(r#"{"type":"text","text":"got"}"#), &listed);
    let refusal = r#"{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Invalid cursor"}}\n"#;
    let to_list = r#"*'"tools/list"'*)"#;
    let second = format!(r#"*'"cursor":"2"'*) printf '{refusal}' "$id";;"#);
    entry["args"][1] = SERVER.replace(to_list, &format!("{second}\n    {to_list}")).into();
    let registry = ground.registry(&json!({"p": entry}));
    assert_eq!(text(&echo(&registry, "p").await), "got");
    let (code, message) = failed(call(&registry, "p:other", no_arguments()).await);
    assert_eq!(code, "TOOL_NOT_FOUND");
    assert!(
        message.ends_with("only a part of its list is known: it does not list its tools: Invalid cursor"),
        "{message}"
    );
    registry.shut_down(ENDING).await;
}

/// A server with sessions that forgets them all when it is told to.
#[derive(Clone)]
struct Forgetful {
    status: u16,
    /// What it says to a session that it does not know.
    reply: Value,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    known: BTreeSet<String>,
    made: usize,
}

impl Respond for Forgetful {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        let result = |result: Value| json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
        let mut state = self.state.lock().unwrap();
        let session = request.headers.get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
        let tool = |name: &str, reads: bool| json!({"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": reads}});
        match asked["method"].as_str().unwrap() {
            "initialize" => {
                state.made += 1;
                let session = format!("session-{}", state.made);
                state.known.insert(session.clone());
                let begun = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "p", "version": "1"}});
                ResponseTemplate::new(200).insert_header("mcp-session-id", session).set_body_json(result(begun))
            }
            _ if session.is_none_or(|session| !state.known.contains(&session)) => {
                let mut reply = self.reply.clone();
                if reply["id"] == "own" {
                    reply["id"] = asked["id"].clone();
                }
                ResponseTemplate::new(self.status).set_body_json(reply)
            }
            "tools/list" => ResponseTemplate::new(200)
                .set_body_json(result(json!({"tools": [tool("echo", true), tool("change", false)]}))),
            "tools/call" => ResponseTemplate::new(200)
                // Another id than the one that was asked under.
                .set_body_json(
                    json!({"jsonrpc": "2.0", "id": 4711, "result": {"content": [{"type": "text", "text": "hi"}]}}),
                ),
            _ => ResponseTemplate::new(202),
        }
    }
}

#[tokio::test]
async fn a_server_that_forgot_the_session_is_given_a_new_one_and_only_harmless_calls_are_made_again() {
    let error = json!({"code": -32000, "message": "No valid session"});
    for (status, reply) in [
        (400, json!({"jsonrpc": "2.0", "id": null, "error": error})),
        (400, json!({"jsonrpc": "2.0", "error": error})),
        (400, json!({"jsonrpc": "2.0", "id": "server-error", "error": error})),
        (400, json!({"jsonrpc": "2.0", "id": "own", "error": error})),
        (200, json!({"jsonrpc": "2.0", "id": null, "error": error})),
        (200, json!({"jsonrpc": "2.0", "error": error})),
    ] {
        let server = MockServer::start().await;
        let forgetful = Forgetful { status, reply: reply.clone(), state: Arc::default() };
        let forget = || forgetful.state.lock().unwrap().known.clear();
        Mock::given(method("POST")).respond_with(forgetful.clone()).mount(&server).await;
        Mock::given(method("GET")).respond_with(ResponseTemplate::new(405)).mount(&server).await;
        let ground = Ground::new();
        let registry =
            ground.registry_by(&json!({"p": {"url": server.uri(), "allow": "*", "era": "initialize"}}), manual(), None);
        assert_eq!(text(&echo(&registry, "p").await), "hi", "{status} {reply}");
        forget();
        assert_eq!(text(&echo(&registry, "p").await), "hi", "{status} {reply}");
        forget();
        let (code, message) = failed(call(&registry, "p:change", no_arguments()).await);
        assert_eq!(code, "TOOL_UNAVAILABLE");
        assert!(message.ends_with(": No valid session"), "{message}");
        assert_eq!(text(&call(&registry, "p:change", no_arguments()).await), "hi", "{status} {reply}");
        forget();
        registry.refresh("p").await.unwrap().unwrap();
        assert_eq!(forgetful.state.lock().unwrap().made, 4, "{status} {reply}");
        registry.shut_down(ENDING).await;
    }
}

#[tokio::test]
async fn too_many_requests_tells_how_long_to_wait() {
    let server = MockServer::start().await;
    let busy = ResponseTemplate::new(429).insert_header("retry-after", "42").set_body_string("slow down");
    Mock::given(method("POST")).respond_with(busy).mount(&server).await;
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": {"url": server.uri(), "allow": "*", "era": "initialize"}}));
    let (code, message) = failed(echo(&registry, "p").await);
    assert_eq!(code, "TOOL_UNAVAILABLE");
    assert!(message.contains("429") && message.contains("42 s"), "{message}");
}

type ToCall = Box<dyn Fn(&Value) -> ResponseTemplate + Send + Sync>;

/// A server whose answers to calls are these, and which begins with a session or without one.
pub(super) async fn answering(
    session: bool,
    to_call: impl Fn(&Value) -> ResponseTemplate + Send + Sync + 'static,
) -> MockServer {
    serving(session, 202, Box::new(to_call)).await
}

/// A server that answers every call, and notifications with this status.
pub(super) async fn refusing_notifications(status: u16) -> MockServer {
    let hi = |asked: &Value| {
        ResponseTemplate::new(200).set_body_json(
            json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": [{"type": "text", "text": "hi"}]}}),
        )
    };
    serving(true, status, Box::new(hi)).await
}

async fn serving(session: bool, to_notifications: u16, to_call: ToCall) -> MockServer {
    let server = MockServer::start().await;
    let answers = move |request: &Request| {
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        let result = |result: Value| {
            ResponseTemplate::new(200).set_body_json(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
        };
        let tool = json!({"name": "echo", "inputSchema": {}, "annotations": {"readOnlyHint": true}});
        let change = json!({"name": "change", "inputSchema": {}});
        match asked["method"].as_str().unwrap() {
            "initialize" => {
                let begun = result(json!({"protocolVersion": "2025-06-18", "capabilities": {},
                    "serverInfo": {"name": "p", "version": "1"}}));
                if session { begun.insert_header("mcp-session-id", "one") } else { begun }
            }
            "tools/list" => result(json!({"tools": [tool, change]})),
            "tools/call" => to_call(&asked),
            // Nothing that is not JSON-RPC answers the newer beginning well.
            "server/discover" => ResponseTemplate::new(500).set_body_string("not initialized"),
            _ => ResponseTemplate::new(to_notifications),
        }
    };
    Mock::given(method("POST")).respond_with(answers).mount(&server).await;
    Mock::given(method("GET")).respond_with(ResponseTemplate::new(405)).mount(&server).await;
    server
}

pub(super) async fn calls(server: &MockServer) -> usize {
    let requests = server.received_requests().await.unwrap();
    requests.iter().filter(|request| String::from_utf8_lossy(&request.body).contains("tools/call")).count()
}

#[tokio::test]
async fn what_comes_instead_of_an_answer_over_http_is_told_and_costs_one_call() {
    type Answer = fn(&Value) -> ResponseTemplate;
    let rows: [(Answer, &str, &str); 7] = [
        (
            |asked| {
                ResponseTemplate::new(400).set_body_json(json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32602, "message": "text too short"}}))
            },
            "TOOL_ERROR",
            ": text too short",
        ),
        (|_| ResponseTemplate::new(500).set_body_json(json!({"error": "disk full"})), "TOOL_ERROR", ": disk full"),
        (|_| ResponseTemplate::new(500).set_body_string("disk full"), "TOOL_UNAVAILABLE", "status 500: disk full"),
        (
            |_| ResponseTemplate::new(403).set_body_string("Invalid Host header"),
            "TOOL_UNAVAILABLE",
            "(403): Invalid Host header",
        ),
        (|_| ResponseTemplate::new(413), "TOOL_UNAVAILABLE", "it answers with status 413"),
        (|_| ResponseTemplate::new(202), "TOOL_ERROR", "gives no answer to it (status 202)"),
        (
            |_| ResponseTemplate::new(302).insert_header("location", "/login?next=s3cr3t"),
            "TOOL_UNAVAILABLE",
            "/login (status 302)",
        ),
    ];
    for session in [true, false] {
        for (to_call, code, words) in rows {
            let server = answering(session, to_call).await;
            let ground = Ground::new();
            let registry = ground.registry(&json!({"p": {"url": server.uri(), "allow": "*", "timeout": "20s"}}));
            let (told, message) = failed(echo(&registry, "p").await);
            assert_eq!((told, calls(&server).await), (code, 1), "{session}: {message}");
            assert!(message.ends_with(words), "{session}: {message}");
            registry.shut_down(ENDING).await;
        }
    }
}

#[tokio::test]
async fn an_answer_over_http_counts_however_it_is_wrapped() {
    type Wrapped = fn(String) -> ResponseTemplate;
    let wrapped: [Wrapped; 4] = [
        |answer| ResponseTemplate::new(200).set_body_raw(answer, "text/plain"),
        |answer| ResponseTemplate::new(200).set_body_bytes(answer),
        |answer| ResponseTemplate::new(200).set_body_raw(format!("data: [{answer}]\n\n"), "text/event-stream"),
        |answer| {
            ResponseTemplate::new(200).set_body_raw(format!("data: [DONE]\n\ndata: {answer}\n\n"), "text/event-stream")
        },
    ];
    for wrap in wrapped {
        let server = answering(false, move |asked| {
            wrap(
                json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": [{"type": "text", "text": "hi"}]}})
                    .to_string(),
            )
        })
        .await;
        let ground = Ground::new();
        let registry = ground.registry(&json!({"p": {"url": server.uri(), "allow": "*"}}));
        assert_eq!((text(&echo(&registry, "p").await), calls(&server).await), ("hi", 1));
        registry.shut_down(ENDING).await;
    }
}

#[tokio::test]
async fn the_reason_and_the_way_out_that_an_error_holds_are_told() {
    for (error, words) in [
        (
            r#"{"code":-32000,"message":"Internal","data":{"detail":"disk is full"}}"#,
            r#"Internal: {"detail":"disk is full"}"#,
        ),
        (r#"{"code":-32000,"message":"Internal","data":"disk is full"}"#, "Internal: disk is full"),
        (
            r#"{"code":-32042,"message":"URL elicitation required","data":{"elicitations":[{"mode":"url","elicitationId":"1","url":"https://x.example/auth?a=1","message":"Sign in at"}]}}"#,
            "URL elicitation required: Sign in at https://x.example/auth?a=1",
        ),
    ] {
        let ground = Ground::new();
        let to_call = format!(r#"{{"jsonrpc":"2.0","id":%s,"error":{error}}}"#);
        let registry = ground.registry(&json!({"p": server(&to_call, TOOLS)}));
        assert_eq!(failed(echo(&registry, "p").await), ("TOOL_ERROR", format!("p:echo: {words}")));
        registry.shut_down(ENDING).await;
    }
}

#[tokio::test]
async fn a_tool_that_is_a_task_is_not_called_and_a_task_that_is_begun_is_told() {
    let ground = Ground::new();
    let listed = TOOLS.replace(r#""inputSchema""#, r#""execution":{"taskSupport":"required"},"inputSchema""#);
    let registry = ground.registry(&json!({"p": server("never", &listed)}));
    let (code, message) = failed(echo(&registry, "p").await);
    assert_eq!(code, "TOOL_UNAVAILABLE");
    assert!(message.ends_with("it can only be called as a task, which flowy does not do"), "{message}");
    registry.shut_down(ENDING).await;
    let to_call = r#"{"jsonrpc":"2.0","id":%s,"result":{"task":{"taskId":"7","status":"working"}}}"#;
    let registry = ground.registry(&json!({"p": server(to_call, TOOLS)}));
    assert!(failed(echo(&registry, "p").await).1.contains("it began a task"));
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn an_answer_with_neither_a_result_nor_an_error_ends_its_call_and_one_without_content_is_noted() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": server(r#"{"jsonrpc":"2.0","id":%s}"#, TOOLS)}));
    assert_eq!(failed(echo(&registry, "p").await).0, "TOOL_ERROR");
    registry.shut_down(ENDING).await;
    for result in ["{}", r#"{"content":null}"#] {
        let to_call = format!(r#"{{"jsonrpc":"2.0","id":%s,"result":{result}}}"#);
        let registry = ground.registry(&json!({"p": server(&to_call, TOOLS)}));
        assert_eq!(echo(&registry, "p").await.unwrap().left_out, ["its answer has no content"]);
        registry.shut_down(ENDING).await;
    }
}

#[tokio::test]
async fn a_server_that_closes_its_output_or_waits_for_somebody_is_told_as_that() {
    let ground = Ground::new();
    let closing = server("\\n", TOOLS);
    let mut closing = with(closing, json!({"timeout": "60s"}));
    closing["args"][1] = SERVER.replace(r#"printf "$1\n" "$id""#, "exec 1>&-; sleep 60").into();
    let registry = ground.registry(&json!({"p": closing}));
    let (_, message) = failed(echo(&registry, "p").await);
    assert!(message.contains("it closed its output"), "{message}");
    registry.shut_down(ENDING).await;
    for (script, words) in [
        (
            "echo 'open https://x.example/auth' >&2; echo 'and wait' >&2; sleep 60",
            "it wrote \"open https://x.example/auth\"",
        ),
        ("printf 'Ok to proceed? (y) '; sleep 60", "what it writes is not the protocol: \"Ok to proceed? (y)\""),
        ("printf 'Ok to proceed? (y) '; exit 1", "it ended with code 1: Ok to proceed? (y)"),
    ] {
        let entry = json!({"command": "/bin/sh", "args": ["-c", script], "allow": "*", "connectTimeout": "2s"});
        let registry = ground.registry(&json!({"p": entry}));
        let (_, message) = failed(echo(&registry, "p").await);
        assert!(message.ends_with(words), "{message}");
        registry.shut_down(ENDING).await;
    }
}

#[tokio::test]
async fn what_a_tool_says_of_its_failure_repeats_no_secret() {
    for said in [
        r#""content":[{"type":"text","text":"no: s3cr3t-key"}],"isError":true"#,
        r#""content":[],"structuredContent":{"why":"s3cr3t-key"},"isError":true"#,
    ] {
        let ground = Ground::new();
        let mut entry = server(&format!(r#"{{"jsonrpc":"2.0","id":%s,"result":{{{said}}}}}"#), TOOLS);
        entry["env"] = json!({"API_KEY": "s3cr3t-key"});
        let registry = ground.registry(&json!({"p": entry}));
        let answer = echo(&registry, "p").await.unwrap();
        assert!(answer.is_error, "{answer:?}");
        assert!(answer.text.as_deref().is_some_and(|text| text.contains("[redacted]")), "{answer:?}");
        assert!(!format!("{answer:?}").contains("s3cr3t"), "{answer:?}");
        registry.shut_down(ENDING).await;
    }
}
