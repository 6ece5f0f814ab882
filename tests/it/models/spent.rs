//! What models took, by model, flow and day; and stored answers that are deleted.

use serde_json::{Value, json};

use super::{model, run, sandbox, two_steps};
use crate::support::model::{Act, Speaks, StandIn};

fn stats(sandbox: &crate::support::program::Sandbox) -> Value {
    let said = sandbox.run(["stats", "--json"]);
    serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{said:?}"))
}

#[test]
fn what_models_took_is_counted_by_model_flow_and_day_also_where_an_execution_fails() {
    let stand_in = StandIn::by(Speaks::OpenAi, |number, asked| {
        if number == 3 {
            Act::Ended("cut".to_owned(), "length", 7)
        } else {
            Act::Answer(format!("<{}>", asked.prompt()))
        }
    });
    let prices = "price_in = 1.0\nprice_out = 2.0";
    let sandbox = sandbox(&model("openai-compatible", &stand_in.url, prices), &two_steps(&json!({}), &json!({})));
    assert_eq!(run(&sandbox, &["--model", "writer"]).0["status"], "success");
    assert_eq!(run(&sandbox, &["--model", "writer"]).0["code"], "LIMIT_EXCEEDED");
    let stats = stats(&sandbox);
    let [writer] = stats["models"].as_array().unwrap().as_slice() else { panic!("{stats}") };
    assert_eq!((&writer["model"], &writer["flow"], &writer["answers"]), (&json!("writer"), &json!("Two"), &json!(4)));
    let (input, output) = (writer["inputTokens"].as_f64().unwrap(), writer["outputTokens"].as_f64().unwrap());
    assert_eq!((input, output), (28.0, 48.0), "{writer}");
    assert!((writer["cost"].as_f64().unwrap() - (input + 2.0 * output) / 1e6).abs() < 1e-9, "{writer}");
    let [day] = writer["byDay"].as_array().unwrap().as_slice() else { panic!("{writer}") };
    assert_eq!((&day["answers"], &day["inputTokens"]), (&json!(4), &json!(28)));
    let told = sandbox.run(["stats"]);
    assert!(told.out.contains("writer") && told.out.contains("Models of"), "{}", told.out);
}

#[test]
fn stored_answers_are_deleted_on_demand_and_nothing_of_them_stays_on_the_disk() {
    let stand_in = StandIn::doing(Speaks::OpenAi, vec![Act::Answer("a secret heron".to_owned())]);
    let flow = two_steps(&json!({}), &json!({"model": false}));
    let sandbox = sandbox(&model("openai-compatible", &stand_in.url, "temperature = 0"), &flow);
    run(&sandbox, &["--model", "writer", "--no-usage"]);
    let book = sandbox.home().join(".local/state/flowy");
    let holds = || {
        let files = std::fs::read_dir(&book).unwrap().map(|entry| entry.unwrap().path());
        let models = files.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("models.db"));
        models.map(|path| std::fs::read(path).unwrap()).any(|bytes| String::from_utf8_lossy(&bytes).contains("heron"))
    };
    assert!(holds());
    let rehearsed = sandbox.run(["executions", "prune", "--answers", "--dry-run", "--json"]).json();
    assert_eq!((&rehearsed["answers"], &rehearsed["pruned"]), (&json!(1), &json!(0)));
    assert!(holds());
    let kept = sandbox.run(["executions", "prune", "--answers", "--older-than", "1", "--json"]).json();
    assert_eq!(kept["answers"], 0, "it is of today");
    let pruned = sandbox.run(["executions", "prune", "--answers", "--json"]).json();
    assert_eq!((&pruned["answers"], &pruned["executions"]), (&json!(1), &json!([])));
    assert!(!holds());
    run(&sandbox, &["--model", "writer", "--no-usage"]);
    assert_eq!(stand_in.asked().len(), 2, "it is asked for again");
    let listed = sandbox.run(["executions", "list", "--json"]).json();
    assert_eq!(listed["total"], 2, "the executions stay");
}
