//! What a person sees of an answer while a model writes it, on a terminal; and what a pipe gets.

use serde_json::{Value, json};

use super::{model, sandbox, two_steps};
use crate::support::model::{Act, Speaks, StandIn};

const RUN: [&str; 8] = ["run", "Two", "--var", "topic=tea", "--model", "writer", "--color", "never"];

/// The first step's answer, then half of the second one's, then all of it.
fn breaking_off(whole: &str) -> StandIn {
    let whole = whole.to_owned();
    StandIn::by(Speaks::OpenAi, move |number, _| match number {
        0 => Act::Answer("THE PLAN".to_owned()),
        1 => Act::Cut("HALF\nAN ANSWER".to_owned()),
        _ => Act::Answer(whole.clone()),
    })
}

fn settings(stand_in: &StandIn) -> String {
    model("openai-compatible", &stand_in.url, "")
}

#[test]
fn a_terminal_shows_the_final_text_as_it_comes_without_control_characters_and_marks_a_restart() {
    let whole = "Hot \u{1b}[31mtea";
    let stand_in = breaking_off(whole);
    let sandbox = sandbox(&settings(&stand_in), &two_steps(&json!({}), &json!({})));
    let (code, screen) = sandbox.typing(80, RUN, Some(""));
    assert_eq!(code, 0, "{screen}");
    let mark = "[the answer broke off, and begins anew]\nHot [31mtea\n";
    let (before, after) = screen.split_once(mark).unwrap_or_else(|| panic!("{screen:?}"));
    assert!(before.contains("HALF\n") && !before.contains("THE PLAN"), "{screen:?}");
    // It is there once, and what was done stands below it.
    assert!(!after.contains("Hot") && after.contains("write"), "{screen:?}");
    assert!(!screen.contains("\u{1b}[31m"), "{screen:?}");

    let stand_in = breaking_off(whole);
    let piped = self::sandbox(&settings(&stand_in), &two_steps(&json!({}), &json!({}))).run(RUN);
    assert_eq!((piped.code, piped.out.as_str()), (0, whole), "{}", piped.err);
}

#[test]
fn an_answer_with_a_contract_or_for_json_is_written_once() {
    let contract = json!({"contract": {"type": "object", "required": ["title"]}});
    let json_answer = "{\"title\": \"Tea\"}";
    for (second, more) in [(&contract, None), (&json!({}), Some("--json")), (&json!({}), Some("--steps"))] {
        let stand_in = breaking_off(json_answer);
        let sandbox = sandbox(&settings(&stand_in), &two_steps(&json!({}), second));
        let (code, screen) = sandbox.typing(80, RUN.into_iter().chain(more), Some(""));
        assert_eq!((code, screen.contains("HALF")), (0, false), "{more:?} {screen}");
    }
}

#[test]
fn a_model_that_stands_in_begins_anew() {
    let stand_in = StandIn::by(Speaks::OpenAi, |_, asked| {
        let name = asked.body["model"].as_str().unwrap_or_default().to_owned();
        if name == "m-1" { Act::Cut("HALF\nAN ANSWER".to_owned()) } else { Act::Answer("WHOLE".to_owned()) }
    });
    let other =
        format!("[models.other]\nprovider = \"openai-compatible\"\nmodel = \"m-2\"\nbase_url = \"{}\"\n", stand_in.url);
    let settings = format!("{}{other}", model("openai-compatible", &stand_in.url, "fallback = [\"other\"]"));
    let flow = two_steps(&json!({"model": false}), &Value::Object(serde_json::Map::new()));
    let (code, screen) = sandbox(&settings, &flow).typing(80, RUN, Some(""));
    assert_eq!((code, screen.matches("begins anew]").count()), (0, 3), "{screen}");
    assert!(screen.contains("begins anew]\nWHOLE\n"), "{screen:?}");
}
