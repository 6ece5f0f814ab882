//! Limits, failures and models that stand in.

use serde_json::{Value, json};

use super::{model, run, sandbox, two_steps};
use crate::support::model::{Act, Speaks, StandIn};

fn refusal(status: u16, message: &str) -> Act {
    Act::Refuse(status, vec![], json!({"error": {"message": message}}))
}

fn only_first() -> String {
    two_steps(&json!({}), &json!({"model": false}))
}

#[test]
fn every_failure_has_its_code_and_the_providers_words() {
    for (act, code, calls) in [
        (refusal(401, "bad \u{1b}[31mkey"), "MODEL_UNAUTHORIZED", 1),
        (refusal(403, "this key may not do that"), "MODEL_UNAUTHORIZED", 1),
        (refusal(403, "your country is not served"), "MODEL_ERROR", 1),
        (refusal(404, "page not found"), "MODEL_ERROR", 1),
        (refusal(404, "no such model"), "MODEL_NOT_FOUND", 1),
        (refusal(400, "temperature is odd"), "MODEL_ERROR", 1),
        (refusal(422, "what"), "MODEL_ERROR", 1),
        (refusal(413, "large"), "CONTEXT_TOO_LONG", 1),
        (refusal(400, "maximum context length is 8"), "CONTEXT_TOO_LONG", 1),
        (refusal(429, "insufficient_quota"), "MODEL_NO_QUOTA", 1),
        (
            Act::Refuse(400, vec![], json!({"error": {"message": "no", "code": "content_filter"}})),
            "CONTENT_FILTERED",
            1,
        ),
        (Act::Ended("x".to_owned(), "filter", 7), "CONTENT_FILTERED", 1),
        (refusal(500, "boom"), "MODEL_ERROR", 3),
        (refusal(503, "boom"), "MODEL_ERROR", 3),
        // It says when it is there again; that is no limit, and not waited for for ever.
        (
            Act::Refuse(503, vec![("retry-after-ms", "5".to_owned())], json!({"error": {"message": "back soon"}})),
            "MODEL_ERROR",
            3,
        ),
        (Act::Cut("half".to_owned()), "MODEL_ERROR", 3),
        (Act::Answer(String::new()), "MODEL_ERROR", 1),
    ] {
        let stand_in = StandIn::doing(Speaks::OpenAi, vec![act.clone()]);
        let settings = model("openai-compatible", &stand_in.url, "");
        let (answer, said) = run(&sandbox(&settings, &only_first()), &["--model", "writer"]);
        assert_eq!((said.code, answer["code"].as_str()), (1, Some(code)), "{act:?}: {answer}");
        assert_eq!(stand_in.asked().len(), calls, "{act:?}");
        assert!(!said.out.contains('\u{1b}'));
        if let Act::Refuse(_, _, body) = &act {
            assert!(answer.get("usage").is_none(), "no answer came: {answer}");
            let words = body["error"]["message"].as_str().unwrap().replace('\u{1b}', "");
            assert!(answer["message"].as_str().unwrap().contains(&words), "{answer}");
        }
        assert!(answer["nextStep"].is_string());
    }
}

#[test]
fn a_limit_is_waited_for_and_is_no_attempt() {
    for (speaks, provider, status) in [
        (Speaks::OpenAi, "openai-compatible", 429),
        (Speaks::Anthropic, "anthropic", 529),
        (Speaks::Anthropic, "anthropic", 429),
        (Speaks::Gemini, "gemini", 429),
    ] {
        let limited =
            || Act::Refuse(status, vec![("retry-after-ms", "5".to_owned())], json!({"error": {"message": "slow"}}));
        let acts = vec![limited(), limited(), limited(), limited(), Act::Answer("at last".to_owned())];
        let stand_in = StandIn::doing(speaks, acts);
        let settings = model(provider, &stand_in.url, "");
        let (answer, said) = run(&sandbox(&settings, &only_first()), &["--model", "writer"]);
        assert_eq!(answer["finalResult"], "Write by: at last", "{said:?}");
        assert_eq!(answer["intermediateResults"][0]["generated"]["attempts"], 1);
        assert_eq!(stand_in.asked().len(), 5);
    }
}

#[test]
fn a_limit_beyond_the_deadline_is_told_at_once_with_its_time() {
    let far = Act::Refuse(429, vec![("retry-after", "7200".to_owned())], json!({"error": {"message": "slow"}}));
    let stand_in = StandIn::doing(Speaks::OpenAi, vec![Act::Answer("plan".to_owned()), far]);
    let settings = model("openai-compatible", &stand_in.url, "");
    let (answer, _) = run(&sandbox(&settings, &two_steps(&json!({}), &json!({}))), &["--model", "writer"]);
    assert_eq!((&answer["code"], &answer["status"]), (&json!("MODEL_RATE_LIMITED"), &json!("partial")));
    assert_eq!(answer["partialResults"][0]["output"], "plan");
    assert_eq!(stand_in.asked().len(), 2);
}

#[test]
fn a_broken_stream_is_begun_anew_and_never_spliced() {
    let acts = vec![Act::Cut("first half, ".to_owned()), Act::Answer("the whole".to_owned())];
    for (speaks, provider) in [
        (Speaks::OpenAi, "openai-compatible"),
        (Speaks::Anthropic, "anthropic"),
        (Speaks::Gemini, "gemini"),
        (Speaks::Ollama, "ollama"),
    ] {
        let stand_in = StandIn::doing(speaks, acts.clone());
        let settings = model(provider, &stand_in.url, "");
        let (answer, said) = run(&sandbox(&settings, &only_first()), &["--model", "writer"]);
        assert_eq!(answer["finalResult"], "Write by: the whole", "{provider}: {said:?}");
        assert_eq!(answer["intermediateResults"][0]["generated"]["attempts"], 2);
    }
}

#[test]
fn what_a_server_leaves_out_or_cuts_in_two_costs_no_answer() {
    let raw = |kind: &str, body: &str| {
        Act::Raw(format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        ))
    };
    let piece = |text: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let end = "data: [DONE]\n\n";
    let stream = |body: String| raw("text/event-stream", &body);
    for (act, due) in [
        (stream(format!("{}{}{end}", piece("cut \\ud83d"), piece("\\ude00 done"))), Ok("cut \u{FFFD}\u{FFFD} done")),
        (stream(format!("{}{end}", piece("no reason"))), Ok("no reason")),
        (raw("application/json", r#"{"choices":[{"message":{"content":"whole"},"finish_reason":null}]}"#), Ok("whole")),
        (raw("application/json", r#"{"hello":"world"}"#), Err("is base_url right?")),
        (raw("application/json", "{}"), Err("is base_url right?")),
        (stream("event: error\ndata: {\"message\":\"boom\"}\n\n".to_owned()), Err("boom")),
    ] {
        let stand_in = StandIn::doing(Speaks::OpenAi, vec![act]);
        let settings = model("openai-compatible", &stand_in.url, "");
        let (answer, said) = run(&sandbox(&settings, &only_first()), &["--model", "writer"]);
        match due {
            Ok(text) => {
                assert_eq!(answer["finalResult"], format!("Write by: {text}"), "{said:?}");
                assert_eq!(stand_in.asked().len(), 1);
            }
            Err(words) => assert!(answer["message"].as_str().unwrap().contains(words), "{answer}"),
        }
    }
}

#[test]
fn a_connection_that_is_lost_before_the_answer_begins_is_tried_again() {
    let stand_in = StandIn::doing(Speaks::OpenAi, vec![Act::Raw(String::new()), Act::Answer("the whole".to_owned())]);
    let settings = model("openai-compatible", &stand_in.url, "");
    let (answer, said) = run(&sandbox(&settings, &only_first()), &["--model", "writer"]);
    assert_eq!(answer["finalResult"], "Write by: the whole", "{said:?}");
    assert_eq!(answer["intermediateResults"][0]["generated"]["attempts"], 2);
}

#[test]
fn another_model_stands_in_after_what_may_pass_and_never_after_what_is_refused() {
    let second = StandIn::doing(Speaks::Ollama, vec![Act::Answer("by the second".to_owned())]);
    let far = Act::Refuse(429, vec![("retry-after", "7200".to_owned())], json!({"error": {"message": "slow"}}));
    for (act, stands_in) in [
        (far, true),
        (refusal(500, "boom"), true),
        (refusal(429, "insufficient_quota"), true),
        (refusal(400, "maximum context length is 8"), true),
        (refusal(401, "key"), false),
        (refusal(403, "no"), false),
        (refusal(404, "model"), false),
        (refusal(400, "odd"), false),
        (Act::Ended("x".to_owned(), "filter", 7), false),
    ] {
        let first = StandIn::doing(Speaks::OpenAi, vec![act.clone()]);
        let settings = format!(
            "{}[models.second]\nprovider = \"ollama\"\nmodel = \"m-2\"\nbase_url = \"{}\"\ncontext_tokens = 9000\n",
            model("openai-compatible", &first.url, "context_tokens = 8000\nfallback = [\"second\"]"),
            second.url
        );
        let (answer, said) = run(&sandbox(&settings, &only_first()), &["--model", "writer"]);
        if stands_in {
            assert_eq!(answer["finalResult"], "Write by: by the second", "{act:?}: {said:?}");
            let generated = &answer["intermediateResults"][0]["generated"];
            assert_eq!((&generated["model"], &generated["insteadOf"]), (&json!("second"), &json!("writer")));
        } else {
            assert_eq!(said.code, 1, "{act:?}");
        }
    }
    // Nobody listens there: that is a failure that may pass, too.
    let settings = format!(
        "{}[models.second]\nprovider = \"ollama\"\nmodel = \"m-2\"\nbase_url = \"{}\"\n",
        model("openai-compatible", "http://127.0.0.1:9", "fallback = [\"second\"]"),
        second.url
    );
    let (answer, said) = run(&sandbox(&settings, &only_first()), &["--model", "writer"]);
    assert_eq!(answer["finalResult"], "Write by: by the second", "{said:?}");
}

#[test]
fn a_flow_goes_on_after_a_failed_model_step_where_the_node_says_so() {
    let stand_in = StandIn::doing(Speaks::OpenAi, vec![refusal(401, "key"), Act::Answer("done".to_owned())]);
    let settings = model("openai-compatible", &stand_in.url, "");
    let flow = two_steps(&json!({"onError": "continue"}), &json!({"template": "Last: {plan_result.error.code}"}));
    let (answer, said) = run(&sandbox(&settings, &flow), &["--model", "writer"]);
    assert_eq!((said.code, &answer["finalResult"]), (0, &json!("done")), "{said:?}");
    assert_eq!(stand_in.asked()[1].prompt(), "Last: MODEL_UNAUTHORIZED");
    assert_eq!(answer["warnings"][0]["code"], "WENT_ON");
}

#[test]
fn a_call_that_takes_too_long_is_given_up() {
    let stand_in = StandIn::doing(Speaks::OpenAi, vec![Act::Hang]);
    let settings = model("openai-compatible", &stand_in.url, "timeout_ms = 1000");
    let (answer, _) = run(&sandbox(&settings, &only_first()), &["--model", "writer"]);
    assert_eq!(answer["code"], "TIMEOUT");
    assert_eq!(stand_in.asked().len(), 1);
}

#[test]
fn calls_side_by_side_keep_within_what_the_operator_allows_and_a_limit_halves_them() {
    let stand_in = StandIn::by(Speaks::OpenAi, |number, asked| match number {
        0..3 => Act::Refuse(429, vec![("retry-after-ms", "1".to_owned())], json!({"error": {"message": "slow"}})),
        _ => Act::Answer(asked.prompt()),
    });
    let settings = model("openai-compatible", &stand_in.url, "parallel = 3");
    let (answer, said) = run(&sandbox(&settings, &side_by_side(12)), &["--model", "writer"]);
    assert_eq!(answer["counts"]["steps"], 12, "{said:?}");
    assert!(stand_in.most_at_once() <= 3, "{}", stand_in.most_at_once());
    assert_eq!(stand_in.asked().len(), 15);
}

#[test]
fn a_call_that_may_take_more_than_the_budget_is_not_made() {
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    let settings = model("openai-compatible", &stand_in.url, "max_output_tokens = 500\nper_execution_tokens = 600");
    let (answer, _) = run(&sandbox(&settings, &two_steps(&json!({}), &json!({}))), &["--model", "writer"]);
    // What the first one took is far less than what was set aside for it.
    assert_eq!(answer["status"], "success", "{answer}");
    let settings = model("openai-compatible", &stand_in.url, "max_output_tokens = 500\nper_execution_tokens = 505");
    let (answer, _) = run(&sandbox(&settings, &two_steps(&json!({}), &json!({}))), &["--model", "writer"]);
    assert_eq!((&answer["code"], &answer["status"]), (&json!("BUDGET_EXCEEDED"), &json!("failed")), "{answer}");
    assert_eq!(stand_in.asked().len(), 2);
}

/// Steps that wait for nothing but the topic.
fn side_by_side(number: usize) -> String {
    let wide: Vec<Value> = (0..number)
        .map(|n| json!({"id": format!("s{n}"), "type": "template", "data": {"template": format!("{{topic}} {n}")}}))
        .collect();
    json!({"metadata": {"name": "Two", "version": "1.0.0"}, "nodes": wide, "edges": []}).to_string()
}

#[test]
fn steps_side_by_side_come_as_far_with_a_budget_as_one_after_the_other() {
    let answered = |parallel: usize, budget: &str| {
        let stand_in = StandIn::by(Speaks::OpenAi, |_, _| Act::Ended("fine".to_owned(), "stop", 90));
        let more = format!("max_output_tokens = 500\nparallel = {parallel}\n{budget}");
        let (answer, said) =
            run(&sandbox(&model("openai-compatible", &stand_in.url, &more), &side_by_side(6)), &["--model", "writer"]);
        let steps = answer["counts"].clone();
        (answer["status"].clone(), answer["code"].clone(), steps, stand_in.asked().len(), format!("{said:?}"))
    };
    for budget in ["per_execution_tokens = 1100", "per_day_tokens = 1100"] {
        // Six calls take less than that together, and each may take half of it.
        let (status, _, _, asked, said) = answered(6, budget);
        assert_eq!((status, asked), (json!("success"), 6), "{budget}: {said}");
    }
    // Where what is left is too little for all, as many are answered.
    let few = "per_execution_tokens = 700";
    let (alone, together) = (answered(1, few), answered(6, few));
    assert_eq!((&alone.1, &alone.2, alone.3), (&together.1, &together.2, together.3), "{alone:?} {together:?}");
    assert_eq!(alone.1, "BUDGET_EXCEEDED");
}

#[test]
fn prompt_and_answer_keep_within_the_context_together() {
    let words = |number: usize| json!({"template": format!("{} {{topic}}", "word ".repeat(number))});
    let first = |number| {
        let mut flow: Value = serde_json::from_str(&two_steps(&words(number), &json!({"model": false}))).unwrap();
        flow["metadata"]["name"] = json!("Two");
        flow.to_string()
    };
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    let settings = model("openai-compatible", &stand_in.url, "context_tokens = 3000");
    run(&sandbox(&settings, &first(1_000)), &["--model", "writer"]);
    let most = stand_in.asked()[0].body["max_tokens"].as_u64().unwrap();
    assert!((1_500..2_000).contains(&most), "{most}");
    // What ends there is no matter of max_output_tokens.
    for act in [Act::Ended("half".to_owned(), "length", 7), Act::Ended("half".to_owned(), "model_length", 7)] {
        let stand_in = StandIn::doing(Speaks::OpenAi, vec![act]);
        let settings = model("openai-compatible", &stand_in.url, "context_tokens = 3000");
        let (answer, _) = run(&sandbox(&settings, &first(1_000)), &["--model", "writer"]);
        assert_eq!(answer["code"], "CONTEXT_TOO_LONG", "{answer}");
        assert_eq!(answer["failures"][0]["generated"]["text"], "half");
    }
    // A model of which it is not known how much it takes stands in.
    let second = StandIn::echoing(Speaks::Ollama);
    let stand_in = StandIn::doing(Speaks::OpenAi, vec![refusal(400, "maximum context length is 8")]);
    let settings = format!(
        "{}[models.second]\nprovider = \"ollama\"\nmodel = \"m-2\"\nbase_url = \"{}\"\n",
        model("openai-compatible", &stand_in.url, "fallback = [\"second\"]"),
        second.url
    );
    let (answer, said) = run(&sandbox(&settings, &only_first()), &["--model", "writer"]);
    assert_eq!(answer["status"], "success", "{said:?}");
}

#[test]
fn an_address_that_is_no_model_is_told_as_such() {
    for act in [
        Act::Refuse(302, vec![("location", "http://127.0.0.1:9/".to_owned())], json!({})),
        Act::Raw("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\n<p/>".to_owned()),
    ] {
        let stand_in = StandIn::doing(Speaks::OpenAi, vec![act]);
        let settings = model("openai-compatible", &stand_in.url, "");
        let (answer, _) = run(&sandbox(&settings, &only_first()), &["--model", "writer"]);
        assert!(answer["message"].as_str().unwrap().contains("base_url"), "{answer}");
        assert_eq!(stand_in.asked().len(), 1);
    }
}

#[test]
fn what_is_read_of_a_failure_is_empty_where_the_model_answered() {
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    let text = "{plan_result} code {plan_result.error.code}, {plan_result.text}";
    let flow = two_steps(&json!({"onError": "continue"}), &json!({"template": text}));
    let sandbox = sandbox(&model("openai-compatible", &stand_in.url, ""), &flow);
    let (answer, said) = run(&sandbox, &["--model", "writer"]);
    assert_eq!((&answer["status"], &answer["warnings"]), (&json!("success"), &json!([])), "{said:?}");
    let asked = stand_in.asked();
    assert_eq!((asked.len(), asked[0].body.get("response_format")), (2, None));
    assert_eq!(asked[1].prompt(), "<Plan tea.> code , <Plan tea.>");
    assert_eq!(sandbox.run(["validate", "flows"]).code, 0);
    assert!(!sandbox.run(["validate", "flows"]).whole().contains("path-into-text"));
}

#[test]
fn where_a_limit_stops_the_rest_what_is_under_way_still_ends() {
    let far = Act::Refuse(429, vec![("retry-after", "7200".to_owned())], json!({"error": {"message": "slow"}}));
    let first = StandIn::doing(Speaks::OpenAi, vec![far]);
    let slowly = Act::Slowly("an answer".to_owned(), std::time::Duration::from_millis(150));
    let second = StandIn::doing(Speaks::Ollama, vec![slowly]);
    let node = |id: &str, model: &str| json!({"id": id, "type": "template", "data": {"template": format!("{id} {{topic}}"), "model": model}});
    let nodes = json!([node("limited", "writer"), node("slow", "second"), node("last", "second")]);
    let edges = json!([{"source": "limited", "target": "last"}]);
    let flow = json!({"metadata": {"name": "Two", "version": "1.0.0"}, "nodes": nodes, "edges": edges}).to_string();
    let settings = format!(
        "{}[models.second]\nprovider = \"ollama\"\nmodel = \"m-2\"\nbase_url = \"{}\"\n",
        model("openai-compatible", &first.url, ""),
        second.url
    );
    let sandbox = sandbox(&settings, &flow);
    let (answer, _) = run(&sandbox, &["--on-failure", "stop"]);
    assert_eq!((&answer["status"], &answer["partialResults"][0]["output"]), (&json!("partial"), &json!("an answer")));
    let failed: Vec<&Value> = answer["failures"].as_array().unwrap().iter().map(|failed| &failed["nodeId"]).collect();
    assert_eq!(failed, ["limited"], "{answer}");
    let shown = sandbox.run(["executions", "show", answer["executionId"].as_str().unwrap(), "--json"]);
    assert!(serde_json::from_str::<Value>(&shown.out).unwrap()["resumesAt"].is_string(), "{shown:?}");
}

#[test]
fn an_answer_in_chunks_is_read_without_what_the_model_thought() {
    let chunk = |content: &Value| format!("data: {}\n\n", json!({"choices": [{"delta": {"content": content}}]}));
    let body = format!(
        "{}{}data: {}\n\ndata: [DONE]\n\n",
        chunk(&json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}])),
        chunk(&json!([{"type": "text", "text": "an answer"}])),
        json!({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    );
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n", body.len());
    let stand_in = StandIn::doing(Speaks::OpenAi, vec![Act::Raw(head + &body)]);
    let (answer, said) = run(&sandbox(&model("mistral", &stand_in.url, ""), &only_first()), &["--model", "writer"]);
    assert_eq!(answer["finalResult"], "Write by: an answer", "{said:?}");
}

#[test]
fn a_name_that_nobody_has_can_not_be_replaced() {
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    let sandbox =
        sandbox(&model("openai-compatible", &stand_in.url, ""), &two_steps(&json!({"model": "quick"}), &json!({})));
    let (answer, said) = run(&sandbox, &["--model", "quik=writer"]);
    assert_eq!((said.code, &answer["code"]), (2, &json!("INVALID_REQUEST")));
    assert!(answer["nextStep"].as_str().unwrap().contains("quick"), "{answer}");
    assert_eq!(run(&sandbox, &["--model", "quick=writer"]).0["status"], "success");
}
