//! What an answer is, whoever gives it.

use serde_json::{Value, json};

use super::{model, run, sandbox, two_steps};
use crate::support::model::{Act, Speaks, StandIn};

const SHAPES: [(&str, Speaks, &str); 5] = [
    ("anthropic", Speaks::Anthropic, "/v1/messages"),
    ("openai", Speaks::OpenAi, "/chat/completions"),
    ("openai-compatible", Speaks::OpenAi, "/chat/completions"),
    ("gemini", Speaks::Gemini, "/models/m-1:streamGenerateContent?alt=sse"),
    ("ollama", Speaks::Ollama, "/api/chat"),
];

#[test]
fn a_step_is_handed_the_answer_to_the_one_before_it_by_every_provider() {
    for (provider, speaks, path) in SHAPES {
        let stand_in = StandIn::echoing(speaks);
        let settings = model(provider, &stand_in.url, "key_env = \"MY_KEY\"\nprice_in = 2.0\nprice_out = 0.5");
        let flow = two_steps(&json!({"persona": "editor"}), &json!({}));
        let sandbox = sandbox(&settings, &flow).file("personas/editor.md", "You edit.").variable("MY_KEY", "k-123456");
        let (answer, said) = run(&sandbox, &["--model", "writer"]);
        assert_eq!(said.code, 0, "{provider}: {said:?}");
        assert_eq!(answer["finalResult"], "<Write by: <Plan tea.>>", "{provider}");
        let step = &answer["intermediateResults"][0];
        assert_eq!(step["kind"], "generated");
        let length = u64::try_from("<Plan tea.>".len()).unwrap();
        let cached = if provider == "ollama" { 0 } else { 2 };
        assert_eq!(step["generated"]["model"], "writer");
        assert_eq!(step["generated"]["finish"], "stop");
        assert_eq!(step["generated"]["attempts"], 1);
        assert_eq!(step["generated"]["inputTokens"], 7, "{provider}");
        assert_eq!(step["generated"]["outputTokens"], length, "{provider}");
        assert_eq!(step["generated"]["cachedTokens"], cached, "{provider}");
        assert_eq!(answer["usage"]["inputTokens"], 14);
        let second = u64::try_from("<Write by: <Plan tea.>>".len()).unwrap();
        assert_eq!(answer["usage"]["cost"], json!({"millionths": 28 + length / 2 + second / 2, "currency": "USD"}));
        let asked = stand_in.asked();
        assert_eq!(asked.len(), 2);
        assert_eq!((asked[0].path.as_str(), asked[0].prompt().as_str()), (path, "Plan tea."));
        assert_eq!(asked[0].system(), "You edit.", "{provider}");
        assert_eq!(asked[1].system(), "", "{provider}");
        let key = ["x-api-key", "authorization", "x-goog-api-key"].iter().find_map(|name| asked[0].header(name));
        assert_eq!(key.unwrap().trim_start_matches("Bearer "), "k-123456");
        assert!(!asked[0].body.to_string().contains("temperature"), "it is sent only where it is set");
    }
}

#[test]
fn without_a_model_a_step_stays_a_text() {
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    let settings = model("openai-compatible", &stand_in.url, "");
    for (settings, more) in [
        (settings.clone(), &[][..]),
        (settings.clone(), &["--model", "none"]),
        (format!("default_model = \"writer\"\n{settings}"), &["--model", "none"]),
        (format!("default_model = \"writer\"\n{settings}"), &["--model", "writer=none"]),
        (String::new(), &[]),
    ] {
        let (answer, _) = run(&sandbox(&settings, &two_steps(&json!({}), &json!({}))), more);
        assert_eq!(answer["finalResult"], "Write by: Plan tea.");
        assert_eq!(answer["intermediateResults"][0]["kind"], "rendered");
        assert!(answer.get("usage").is_none());
    }
    assert!(stand_in.asked().is_empty());
}

#[test]
fn a_node_says_who_answers_it_and_lowers_limits() {
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    let settings = format!("default_model = \"writer\"\n{}", model("openai", &stand_in.url, "temperature = 1"));
    let use_of = json!({"model": {"use": "writer", "temperature": 0.25, "maxOutputTokens": 50}});
    let (answer, said) = run(&sandbox(&settings, &two_steps(&use_of, &json!({"model": false}))), &[]);
    assert_eq!(answer["finalResult"], "Write by: <Plan tea.>", "{said:?}");
    let asked = stand_in.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!((&asked[0].body["temperature"], &asked[0].body["max_completion_tokens"]), (&json!(0.25), &json!(50)));
    // The operator's limits are never raised.
    let more = json!({"model": {"maxOutputTokens": 50_000}});
    run(&sandbox(&settings, &two_steps(&more, &json!({"model": false}))), &[]);
    let asked = stand_in.asked();
    assert_eq!((&asked[1].body["temperature"], &asked[1].body["max_completion_tokens"]), (&json!(1.0), &json!(4096)));
}

#[test]
fn a_name_that_no_model_has_fails_its_step_with_the_nearest_one() {
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    let settings = model("openai-compatible", &stand_in.url, "");
    let flow = two_steps(&json!({"model": "writr"}), &json!({}));
    let (answer, said) = run(&sandbox(&settings, &flow), &[]);
    assert_eq!((said.code, &answer["code"]), (1, &json!("MODEL_NOT_FOUND")));
    assert!(answer["message"].as_str().unwrap().contains("\"writer\""), "{answer}");
    assert_eq!(answer["skipped"][0]["nodeId"], "write");
    // Without any model nothing is wrong with that.
    let (answer, _) = run(&sandbox("", &flow), &[]);
    assert_eq!(answer["finalResult"], "Write by: Plan tea.");
    // What the caller names must be there.
    for (settings, model) in [(settings.as_str(), "writr"), (settings.as_str(), "writer=x"), ("", "writer")] {
        let (answer, said) = run(&sandbox(settings, &flow), &["--model", model]);
        assert_eq!((said.code, &answer["code"]), (1, &json!("MODEL_NOT_FOUND")), "{model}");
        assert!(answer["failedAt"].is_null());
    }
}

#[test]
fn a_contract_is_part_of_the_request_and_later_steps_read_its_fields() {
    let schema = json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]});
    for (provider, speaks, _) in SHAPES {
        let stand_in = StandIn::by(speaks, |_, asked| {
            let text = if asked.prompt().starts_with("Plan") { r#"{"title": "Tea"}"# } else { "done" };
            Act::Answer(text.to_owned())
        });
        let flow = two_steps(&json!({"contract": schema}), &json!({"template": "Write {plan_result.title}"}));
        let settings = model(provider, &stand_in.url, "");
        let (answer, said) = run(&sandbox(&settings, &flow), &["--model", "writer"]);
        assert_eq!(said.code, 0, "{provider}: {said:?}");
        assert_eq!(answer["intermediateResults"][0]["output"], json!({"title": "Tea"}));
        let asked = stand_in.asked();
        assert_eq!(asked[1].prompt(), "Write Tea");
        let sent = match provider {
            "anthropic" => asked[0].body.pointer("/output_config/format/schema"),
            "gemini" => asked[0].body.pointer("/generationConfig/responseJsonSchema"),
            "ollama" => asked[0].body.pointer("/format"),
            _ => asked[0].body.pointer("/response_format/json_schema/schema"),
        };
        assert_eq!(sent, Some(&schema), "{provider}");
        assert_eq!(asked[0].system(), "", "{provider}: the schema is not in the prompt as well");
    }
}

#[test]
fn where_a_response_format_is_refused_less_is_asked_for_and_that_is_remembered() {
    let schema = json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]});
    let stand_in = StandIn::by(Speaks::OpenAi, |_, asked| match asked.body.pointer("/response_format/type") {
        Some(_) => Act::Refuse(400, vec![], json!({"error": {"message": "response_format is not supported"}})),
        None => Act::Answer("Sure:\n```json\n{\"title\": \"T\"}\n```".to_owned()),
    });
    let flow = two_steps(&json!({"contract": schema}), &json!({"contract": schema}));
    let settings = model("openai-compatible", &stand_in.url, "");
    let (answer, said) = run(&sandbox(&settings, &flow), &["--model", "writer"]);
    assert_eq!(answer["finalResult"], json!({"title": "T"}), "{said:?}");
    let asked = stand_in.asked();
    let formats: Vec<_> = asked.iter().map(|asked| asked.body.pointer("/response_format/type").cloned()).collect();
    assert_eq!(formats, [Some(json!("json_schema")), Some(json!("json_object")), None, None]);
    assert!(!asked[0].system().contains("\"title\"") && asked[1].system().contains("\"title\""));
}

#[test]
fn an_answer_that_does_not_meet_the_contract_is_asked_for_once_more() {
    let schema = json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]});
    let flow = two_steps(&json!({"contract": schema}), &json!({"model": false}));
    let echo = schema.to_string();
    for (first, second, code) in [
        (r#"{"title": 7}"#, r#"{"title": "T"}"#, 0),
        (echo.as_str(), r#"{"title": "T"}"#, 0),
        ("I can't say.", r#"{"title": "T"}"#, 0),
        (r#"{"title": 7}"#, r#"{"titel": "T"}"#, 1),
    ] {
        let stand_in = StandIn::doing(Speaks::OpenAi, vec![Act::Answer(first.into()), Act::Answer(second.into())]);
        let settings = model("openai-compatible", &stand_in.url, "");
        let (answer, said) = run(&sandbox(&settings, &flow), &["--model", "writer"]);
        assert_eq!(said.code, code, "{first}: {said:?}");
        let asked = stand_in.asked();
        assert_eq!(asked.len(), 2, "{first}");
        assert_eq!(asked[1].body["messages"][1], json!({"role": "assistant", "content": first}));
        assert!(asked[1].prompt().contains("- ") || asked[1].prompt().contains("output"), "{}", asked[1].prompt());
        if code == 1 {
            assert_eq!(answer["code"], "CONTRACT_VIOLATION");
            assert_eq!(answer["failures"][0]["generated"]["text"], second);
            assert_eq!(answer["failures"][0]["generated"]["attempts"], 2);
        }
    }
}

#[test]
fn fields_that_a_later_step_reads_are_asked_for_without_a_contract() {
    let stand_in = StandIn::by(Speaks::OpenAi, |_, asked| {
        let text = if asked.prompt().starts_with("Plan") { r#"{"hook": "H", "more": 1}"# } else { "done" };
        Act::Answer(text.to_owned())
    });
    let flow = two_steps(&json!({}), &json!({"template": "Write {plan_result.hook}"}));
    let settings = model("openai-compatible", &stand_in.url, "");
    let (answer, said) = run(&sandbox(&settings, &flow), &["--model", "writer"]);
    assert_eq!((&answer["status"], &answer["finalResult"]), (&json!("success"), &json!("done")), "{said:?}");
    let asked = stand_in.asked();
    assert_eq!(asked[0].body.pointer("/response_format/json_schema/schema/required"), Some(&json!(["hook"])));
    assert_eq!(asked[1].prompt(), "Write H");
}

#[test]
fn an_answer_is_inserted_once_and_never_expanded() {
    let stand_in = StandIn::by(Speaks::OpenAi, |number, _| {
        Act::Answer(if number == 0 { "{topic} \u{1b}[31m{{topic}}" } else { "ok" }.to_owned())
    });
    let settings = model("openai-compatible", &stand_in.url, "");
    run(&sandbox(&settings, &two_steps(&json!({}), &json!({}))), &["--model", "writer"]);
    assert_eq!(stand_in.asked()[1].prompt(), "Write by: {topic} \u{1b}[31m{{topic}}");
}

#[test]
fn an_answer_that_is_cut_off_fails_with_what_came_unless_the_node_keeps_it() {
    for (provider, speaks, _) in SHAPES {
        let stand_in = StandIn::doing(speaks, vec![Act::Ended("half an".to_owned(), "length", 9)]);
        let settings = model(provider, &stand_in.url, "");
        let flow = |length: &str| two_steps(&json!({"model": {"onLength": length}}), &json!({"model": false}));
        let (answer, _) = run(&sandbox(&settings, &flow("fail")), &["--model", "writer"]);
        assert_eq!(answer["code"], "LIMIT_EXCEEDED", "{provider}");
        assert_eq!(answer["failures"][0]["generated"]["text"], "half an");
        assert_eq!(answer["failures"][0]["generated"]["finish"], "length");
        assert!(answer["nextStep"].as_str().unwrap().contains("onLength"));
        let (answer, _) = run(&sandbox(&settings, &flow("keep")), &["--model", "writer"]);
        assert_eq!(answer["finalResult"], "Write by: half an", "{provider}");
        assert_eq!(answer["warnings"][0]["code"], "ANSWER_CUT_OFF");
    }
}

#[test]
fn a_prompt_that_the_server_cut_off_is_told() {
    let stand_in = StandIn::doing(Speaks::Ollama, vec![Act::Ended("ok".to_owned(), "stop", 20)]);
    let settings = model("ollama", &stand_in.url, "");
    let flow =
        two_steps(&json!({"template": format!("{} {{topic}}", "word ".repeat(2_000))}), &json!({"model": false}));
    let (answer, _) = run(&sandbox(&settings, &flow), &["--model", "writer"]);
    assert_eq!(answer["warnings"][0]["code"], "PROMPT_CUT_OFF");
    // The context that it is asked for holds the prompt and the longest answer.
    let context = stand_in.asked()[0].body.pointer("/options/num_ctx").unwrap().as_u64().unwrap();
    assert!((2_000 + 4_096..10_000).contains(&context), "{context}");
}

#[test]
fn a_rehearsal_asks_nobody_and_says_what_models_would_take() {
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    let settings = model("openai-compatible", &stand_in.url, "price_in = 1\nprice_out = 10\nmax_output_tokens = 100");
    let sandbox = sandbox(&settings, &two_steps(&json!({}), &json!({})));
    let (answer, _) = run(&sandbox, &["--model", "writer", "--dry-run"]);
    let steps = answer["intermediateResults"].as_array().unwrap();
    assert_eq!(steps[1]["output"], "Write by: {plan_result}", "the answer is not there yet");
    assert_eq!((&steps[0]["kind"], &steps[0]["model"]["name"]), (&json!("generated"), &json!("writer")));
    assert_eq!(steps[0]["model"]["maxOutputTokens"], 100);
    let input = steps[0]["model"]["inputTokens"].as_u64().unwrap();
    assert_eq!(steps[0]["model"]["maxCost"]["millionths"], input + 1_000);
    // What a step reads of another one's answer is as long as that may be.
    let second = &steps[1]["model"];
    assert!(second["inputTokens"].as_u64().unwrap() >= input + 90, "{second}");
    let most = &answer["mostUsage"];
    let cost = |one: &Value| one["maxCost"]["millionths"].as_u64().unwrap();
    assert_eq!((&most["steps"], &most["maxOutputTokens"]), (&json!(2), &json!(200)));
    assert_eq!(cost(most), cost(&steps[0]["model"]) + cost(second));
    assert!(stand_in.asked().is_empty());
    let said = sandbox.run(["run", "Two", "--var", "topic=tea", "--model", "writer", "--dry-run"]);
    assert!(said.out.contains("writer answers") && said.out.contains("0.0021 USD"), "{}", said.out);
}

#[test]
fn a_flow_is_shown_with_who_answers_its_steps_and_what_that_may_take() {
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    let writer = model("openai-compatible", &stand_in.url, "price_in = 1\nprice_out = 10\nmax_output_tokens = 100");
    let flow = two_steps(&json!({"model": "writer"}), &json!({"model": false}));
    let plain = sandbox("", &flow).run(["show", "Two", "--json"]).json();
    assert_eq!((plain["steps"][0].get("answeredBy"), plain.get("mostUsage")), (None, None));
    assert_eq!(plain["steps"][0]["model"], "writer", "what the file says is told without any model");
    for (flow, usual, answered) in [
        (&flow, "", &["plan"][..]),
        (&two_steps(&json!({}), &json!({})), "", &[]),
        (&two_steps(&json!({}), &json!({})), "default_model = \"writer\"\n", &["plan", "write"]),
        // Where a step fails because there is no such model, nothing after it is answered.
        (&two_steps(&json!({"model": "nobody"}), &json!({})), "default_model = \"writer\"\n", &[]),
    ] {
        let sandbox = sandbox(&format!("{usual}{writer}"), flow);
        let shown = sandbox.run(["show", "Two", "--json"]).json();
        let steps = shown["steps"].as_array().unwrap();
        let by: Vec<&str> = steps
            .iter()
            .filter(|step| step["answeredBy"]["name"] == "writer")
            .map(|step| step["id"].as_str().unwrap())
            .collect();
        assert_eq!(by, answered, "{shown}");
        let told = sandbox.run(["show", "Two"]).out;
        assert_eq!(told.contains("writer answers"), !answered.is_empty(), "{told}");
        if let [first, ..] = answered {
            let most = &shown["mostUsage"];
            assert_eq!(most["steps"], answered.len());
            assert_eq!(most["maxOutputTokens"], 100 * answered.len());
            // It is what a dry run gives, but for the values.
            let (dry, _) = run(&sandbox, &["--dry-run"]);
            let dry = dry["intermediateResults"].as_array().unwrap();
            let dry = dry.iter().find(|step| step["nodeId"] == *first).unwrap();
            let shown = steps.iter().find(|step| step["id"] == *first).unwrap();
            assert_eq!(shown["answeredBy"]["maxOutputTokens"], dry["model"]["maxOutputTokens"]);
        }
    }
    assert!(stand_in.asked().is_empty());
}
