//! Logs with steps that a model answers, as versions of the store have them: each is read as it was meant, and can be
//! gone on with.

use std::fs;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::guided::{complete, text, until};
use super::model;
use crate::guided::storage::statements;
use crate::support::home::{Home, ok, settled};
use crate::support::model::{Act, Speaks, StandIn};
use crate::support::program::repository;

/// Version 4 knows no waits, and keeps no warnings of guided steps.
const FIXTURES: [(&str, bool); 2] = [("tests/fixtures/store/v4.sql", false), ("tests/fixtures/store/v5.sql", true)];

fn catalog() -> [(&'static str, String); 2] {
    let flow = |name: &str, nodes: &[Value]| {
        let ids: Vec<&Value> = nodes.iter().map(|node| &node["id"]).collect();
        let edges: Vec<Value> = ids.windows(2).map(|two| json!({"source": two[0], "target": two[1]})).collect();
        json!({"metadata": {"name": name, "version": "1.0.0"}, "nodes": nodes, "edges": edges}).to_string()
    };
    let own = json!({"model": {"use": "writer", "onLength": "keep"}});
    let act = json!({"call": "peer:touch", "args": {"text": "{{ draft_result }}"}});
    let asks = [
        text("draft", "Draft.", &own),
        json!({"id": "act", "type": "tool", "data": act}),
        text("end", "Told {act_result}", &json!({})),
    ];
    let later = [text("late", "Later.", &own), text("end", "Then {late_result}", &json!({"model": false}))];
    [("flows/Asks.json", flow("Asks", &asks)), ("flows/Later.json", flow("Later", &later))]
}

/// A home whose operator has a model at this address.
fn home(catalog: impl IntoIterator<Item = (&'static str, String)>, stand_in: &StandIn) -> Home {
    let home = Home::of(catalog, true);
    let folder = home.root.path().join(".config/flowy");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("flowy.toml"), model("openai-compatible", &stand_in.url, "")).unwrap();
    home
}

/// One guided execution in which a person is asked about a call, a guided one and a direct one whose process was killed
/// while a limit was waited for.
fn lived() -> String {
    let stand_in = StandIn::by(Speaks::OpenAi, |_, asked| match asked.prompt().as_str() {
        "Draft." => Act::Ended("half an answer".to_owned(), "length", 7),
        _ => Act::Refuse(429, vec![("retry-after", "1800".to_owned())], json!({"error": {"message": "slow"}})),
    });
    let home = home(catalog(), &stand_in);
    let mut program = home.serve();
    let asked = ok(&mut program, "flows_begin", &json!({"flowName": "Asks"}));
    assert_eq!(asked["state"], "awaiting_human", "{asked}");
    program.ask(9, "tools/call", &json!({"name": "flows_begin", "arguments": {"flowName": "Later"}}));
    until(|| stand_in.asked().len() == 2);
    program.kill();
    // By a process of its own: the limit that the other one met is not its own.
    let mut program = home.serve();
    ok(&mut program, "flows_execute", &json!({"flowName": "Later", "waitSeconds": 0}));
    until(|| stand_in.asked().len() == 3);
    let file = home.root.path().join(".local/state/flowy/flowy.db");
    // What is under way gets to the disk.
    std::thread::park_timeout(std::time::Duration::from_millis(500));
    program.kill();
    statements(&file)
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a fixture is made once, when who starts the test says so")]
fn executions_with_model_steps_of_every_version_go_on() {
    for (fixture, newest) in FIXTURES {
        let fixture = repository().join(fixture);
        if std::env::var_os("MAKE_STORE_FIXTURE").is_some() && !fixture.exists() {
            fs::write(&fixture, lived()).unwrap();
        }
        let stand_in = StandIn::echoing(Speaks::OpenAi);
        let home = home([("flows/Else.json", "{}".to_owned())], &stand_in);
        let state = home.root.path().join(".local/state/flowy");
        fs::create_dir_all(&state).unwrap();
        let file = Connection::open(state.join("flowy.db")).unwrap();
        file.execute_batch(&fs::read_to_string(&fixture).unwrap()).unwrap();
        drop(file);
        let mut program = home.serve();
        let listed = ok(&mut program, "flows_status", &json!({}))["executions"].as_array().unwrap().clone();
        let [direct, waits, asks] = [0, 1, 2].map(|place: usize| listed[place].clone());
        let states = [&direct["state"], &waits["state"], &asks["state"]];
        assert_eq!(states, ["interrupted", if newest { "waiting" } else { "running" }, "awaiting_human"], "{listed:?}");
        assert_eq!([&direct, &waits].map(|one| one["resumesAt"].is_string()), [newest; 2]);

        let one = |execution: &Value| json!({"executionId": execution["executionId"]});
        let asked = ok(&mut program, "flows_status", &one(&asks));
        assert_eq!(asked["escalation"]["context"]["arguments"], json!({"text": "half an answer"}));
        let draft = &asked["autoSteps"][0];
        assert_eq!((&draft["generated"]["model"], &draft["generated"]["finish"]), (&json!("writer"), &json!("length")));
        assert_eq!(draft["warnings"][0]["code"] == "ANSWER_CUT_OFF", newest, "{draft}");
        let mut answers = one(&asks);
        answers["answers"] = json!({"decision": "call"});
        let open = ok(&mut program, "flows_resume", &answers);
        assert_eq!((&open["step"]["prompt"], home.noted("touch").len()), (&json!("Told touched"), 1));
        assert_eq!(complete(&mut program, &open, "MINE")["state"], "completed");

        let open = settled(|| ok(&mut program, "flows_status", &one(&waits)));
        assert_eq!(
            (&open["step"]["prompt"], open["autoSteps"][0]["again"] == true),
            (&json!("Then <Later.>"), !newest)
        );
        let done = ok(&mut program, "flows_resume", &one(&direct));
        assert_eq!(done["finalResult"], "Then <Later.>");
        assert_eq!(done["warnings"].as_array().unwrap().is_empty(), newest, "{done}");
        assert_eq!(stand_in.asked().len(), 2);
    }
}
