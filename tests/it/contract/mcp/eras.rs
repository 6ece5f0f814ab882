//! Both protocol eras, against the real program, and through a real client.

use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};

use crate::support::mcp::{Bench, FIXED_TOOLS, Program, handshake, in_both_eras, stateless};

const RUN: &str =
    r#"{"flowName": "Marketing_Strategy", "initialVariables": {"company": "T", "market": "AI", "budget": 1}}"#;

fn run() -> Value {
    serde_json::from_str(RUN).unwrap()
}

#[test]
fn handshake_clients_are_served() {
    for version in ["2025-06-18", "2025-11-25"] {
        let mut program = Program::serving(&[]);
        let hello = program.shake_hands(version);
        assert_eq!(hello["result"]["protocolVersion"], json!(version));
        assert_eq!(program.request(1, "ping", &json!({}))["result"], json!({}));
        let tools = program.request(2, "tools/list", &json!({}))["result"].clone();
        assert!(tools.get("_meta").is_none(), "the handshake said it");
        assert!(tools.get("resultType").is_none() && tools["tools"].as_array().unwrap().len() == FIXED_TOOLS.len());
        let done = program.request(3, "tools/call", &json!({"name": "flows_execute", "arguments": run()}));
        assert_eq!(done["result"]["structuredContent"]["status"], json!("success"), "{done}");
        program.close_input();
        assert_eq!(program.end().0, Some(0));
    }
}

#[test]
fn the_version_of_a_handshake_holds_whatever_a_later_one_asks_for() {
    for later in ["2026-07-28", "2099-01-01", "x", "2025-03-26"] {
        let mut program = Program::serving(&[]);
        program.shake_hands("2025-06-18");
        let hello = program.request(1, "initialize", &handshake(later));
        assert_eq!(hello["result"]["protocolVersion"], json!("2025-06-18"), "{hello}");
        assert_eq!(program.request(2, "ping", &json!({}))["result"], json!({}), "{later}");
        let tools = program.request(3, "tools/list", &json!({}))["result"].clone();
        assert!(tools.get("resultType").is_none() && tools["tools"].is_array(), "{later}: {tools}");
    }
}

#[test]
fn stateless_clients_are_served() {
    let mut program = Program::serving(&[]);
    let found = program.request(1, "server/discover", &json!({"_meta": stateless()}))["result"].clone();
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{found}");
    let tools = program.request(2, "tools/list", &json!({"_meta": stateless()}))["result"].clone();
    assert_eq!((&tools["resultType"], &tools["cacheScope"]), (&json!("complete"), &json!("public")));
    assert!(tools["ttlMs"].as_u64().unwrap() >= 60_000);
    let server = "io.modelcontextprotocol/serverInfo";
    for (id, method, params) in [
        (11, "tools/list", json!({})),
        (12, "resources/list", json!({})),
        (13, "resources/templates/list", json!({})),
        (14, "resources/read", json!({"uri": "flow://list"})),
        (15, "prompts/list", json!({})),
        (
            16,
            "prompts/get",
            json!({"name": "flow_Weekly_Status", "arguments": {"team": "T", "week": "W", "notes": "N"}}),
        ),
        (17, "tools/call", json!({"name": "flows_list", "arguments": {}})),
        (18, "tools/call", json!({"name": "flows_show", "arguments": {"name": "Nobody"}})),
        (19, "flows/list", json!({})),
        (20, "flows/execute", run()),
    ] {
        let mut params = params;
        params["_meta"] = stateless();
        let result = program.request(id, method, &params)["result"].clone();
        assert_eq!(result["_meta"][server]["version"], json!(env!("CARGO_PKG_VERSION")), "{method}: {result}");
    }
    let params = json!({"name": "flows_execute", "arguments": run(), "_meta": stateless()});
    let done = program.request(3, "tools/call", &params)["result"].clone();
    assert_eq!((&done["resultType"], &done["structuredContent"]["status"]), (&json!("complete"), &json!("success")));
    program.close_input();
    assert_eq!(program.end().0, Some(0));
}

#[test]
fn a_client_that_probes_and_falls_back_is_served() {
    let mut program = Program::serving(&[]);
    program.request(1, "server/discover", &json!({"_meta": stateless()}));
    assert_eq!(program.shake_hands("2025-11-25")["result"]["protocolVersion"], json!("2025-11-25"));
    program.close_input();
    assert_eq!(program.end().0, Some(0));
}

#[test]
fn a_request_before_the_handshake_is_told_to_initialize_and_ends_nothing() {
    let mut program = Program::serving(&[]);
    let half = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    for (id, method, params) in [
        (1, "tools/call", json!({"name": "flows_list", "arguments": {}})),
        (2, "tools/list", json!({})),
        (3, "flows/list", json!({})),
        (4, "tools/list", json!({"_meta": half})),
    ] {
        let error = program.request(id, method, &params)["error"].clone();
        assert_eq!(error["code"], json!(-32602), "{method}");
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with("send initialize first") && message.contains("clientCapabilities"), "{message}");
    }
    assert_eq!(program.shake_hands("2025-11-25")["result"]["protocolVersion"], json!("2025-11-25"));
    let tools = program.request(5, "tools/list", &json!({}))["result"]["tools"].clone();
    assert_eq!(tools.as_array().map(Vec::len), Some(FIXED_TOOLS.len()));
    program.close_input();
    assert_eq!(program.end().0, Some(0));
}

#[test]
fn rough_lines_and_early_notifications_end_nothing() {
    let mut program = Program::serving(&[("LOG_LEVEL", "trace")]);
    program.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    program.send(&json!({"jsonrpc": "2.0", "id": 9, "result": {}}));
    program.shake_hands("2025-11-25");
    program.send_bytes(b"{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\n");
    program.send_bytes(b"\xff\xfe\x00\n\n");
    program.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"params\":{\"x\":\"\xff\"}}\n");
    program.send_bytes("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\r\n".as_bytes());
    for _ in 0..3 {
        assert_eq!(program.receive()["error"]["code"], json!(-32700));
    }
    assert_eq!(program.receive()["id"], json!(3));
    // The last line counts without its line break, and is answered before the end.
    program.send_bytes(
        json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "flows_list"}})
            .to_string()
            .as_bytes(),
    );
    program.close_input();
    let (code, rest, errors) = program.end();
    assert_eq!((code, &rest[0]["id"], rest.len()), (Some(0), &json!(4), 1), "{rest:?}");
    assert!(errors.contains("answered"), "at the most talkative level logs are on stderr");
}

#[tokio::test]
async fn a_real_client_in_both_eras_gets_the_same_answers() {
    let answers = in_both_eras(&Bench::examples().app, CallToolRequestParams::new("flows_list")).await;
    let [first, second] = answers.map(|(tools, result)| (tools, result.structured_content.unwrap()));
    assert_eq!(first.0.as_array().unwrap().len(), FIXED_TOOLS.len());
    assert_eq!(first, second);
}
