//! Steps that call external tools: what is sent, what becomes of the answer, and what a failure does.

#![allow(clippy::needless_pass_by_value, reason = "`json!` makes a value, and tests read better without `&`")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flowy::internals::code::Code;
use flowy::internals::execute::{Calling, OnToolProgress, Options, Rendered, ToolFailure, Tools, Workers};
use flowy::internals::model::{ToolAnswer, ToolCall, ToolFile, ToolLink, Toolbox};
use flowy::internals::run::{State, Status};
use serde_json::{Value, json};

use crate::support::drawing::{Drawing, flow};
use crate::support::walking::{Walked, given, walk_with};

type Answer = Result<ToolAnswer, ToolFailure>;

/// Answers calls from a list, in the order in which they come, and remembers them.
#[derive(Default)]
struct Listed {
    answers: Mutex<VecDeque<Answer>>,
    calls: Mutex<Vec<ToolCall>>,
}

impl Listed {
    fn of(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self { answers: Mutex::new(answers.into_iter().collect()), ..Self::default() }
    }

    /// The arguments of every call so far.
    fn sent(&self) -> Vec<Value> {
        self.calls.lock().unwrap().iter().map(|call| Value::Object(call.arguments.clone())).collect()
    }
}

impl Tools for Listed {
    fn toolbox(&self) -> Arc<Toolbox> {
        Arc::default()
    }

    fn call(&self, call: ToolCall, _progress: Option<OnToolProgress>) -> Calling<'_> {
        self.calls.lock().unwrap().push(call);
        let answer = self.answers.lock().unwrap().pop_front().expect("no more calls");
        Box::pin(async move { answer })
    }
}

#[allow(clippy::unnecessary_wraps, reason = "one of a list in which others are failures")]
fn said(text: &str) -> Answer {
    Ok(ToolAnswer { text: Some(text.to_owned()), ..ToolAnswer::default() })
}

fn failed(code: Code, message: &str) -> Answer {
    Err(ToolFailure { code, message: message.to_owned(), sent: 1, needs_word: false, in_doubt: false })
}

fn run(drawing: &Drawing, values: Value, tools: &Listed) -> Walked {
    let workers =
        Workers { texts: &Rendered, tools: Some(tools), known: None, execution: "x_1", told: None, keeper: None };
    walk_with(drawing.plan(), given(&values), &Options::default(), workers).unwrap()
}

#[test]
fn arguments_take_values_with_their_types_and_the_answer_is_read_by_its_name_and_fields() {
    let tools = Listed::of([Ok(ToolAnswer {
        text: Some("{\"rows\": [{\"id\": 7}]}".to_owned()),
        json: Some(json!({"rows": [{"id": 7}]})),
        structured: Some(json!({"title": "T"})),
        ..ToolAnswer::default()
    })]);
    let drawing = flow()
        .input("in", json!(["url", {"key": "deep", "value": true}]))
        .tool("get-it", json!({
            "call": "web:get",
            "args": {"url": "{{ url }}", "deep": "{{ deep }}", "note": "of {{ url }}", "n": "{{ n | 3 }}", "fix": [1, "{x}"]},
        }))
        .text("say", "{getit_result} {getit_result.json.rows.0.id} {getit_result.title} {getit_result.rows.0.id}")
        .edges("in > get-it > say");
    assert_eq!(drawing.required(), ["url"]);
    let walked = run(&drawing, json!({"url": "http://a"}), &tools);
    assert_eq!(
        tools.sent(),
        [json!({"url": "http://a", "deep": true, "note": "of http://a", "n": 3, "fix": [1, "{x}"]})]
    );
    assert_eq!(walked.text("say"), "{\"rows\": [{\"id\": 7}]} 7 T 7");
    assert_eq!((walked.status(), walked.executed.calls, walked.executed.retries), (Status::Success, 1, 0));
}

#[test]
fn arguments_are_of_the_type_that_their_input_is_declared_to_have() {
    let tools = Listed::of([said("4"), said("done")]);
    let args =
        json!({"n": "{{ n }}", "yes": "{{ yes }}", "code": "{{ code }}", "free": "{{ free }}", "note": "n is {{ n }}"});
    let drawing = flow()
        .inputs(json!({"n": {"type": "number"}, "yes": {"type": "boolean"}, "code": {"type": "string"}}))
        .input("in", json!(["n", "yes", "code", "free"]))
        .tool("a", json!({"call": "web:get", "args": args}))
        .tool("b", json!({"call": "web:get", "args": {"of": "{{ a_result }}"}}))
        .edges("in > a > b");
    let values = json!({"n": "4.50", "yes": "true", "code": 7, "free": "8"});
    assert_eq!(run(&drawing, values, &tools).status(), Status::Success);
    let first = &tools.sent()[0];
    // Digits stay as they were given, and where nothing is declared nothing is guessed.
    assert_eq!(first.to_string(), r#"{"n":4.50,"yes":true,"code":"7","free":"8","note":"n is 4.50"}"#);
    assert_eq!(tools.sent()[1], json!({"of": "4"}), "an output has no declared type");
}

#[test]
fn what_set_names_is_given_to_later_steps_with_its_type() {
    let tools = Listed::of([
        Ok(ToolAnswer { structured: Some(json!({"page": {"n": 4, "title": "T"}})), ..ToolAnswer::default() }),
        said("done"),
    ]);
    let drawing = flow()
        .tool("a", json!({"call": "web:open", "set": {"page": "page.n", "title": "structuredContent.page.title"}}))
        .tool("b", json!({"call": "web:close", "args": {"page": "{{ page }}"}}))
        .text("c", "{title}: {b_result}")
        .edges("a > b > c");
    let walked = run(&drawing, json!({"page": "ignored"}), &tools);
    assert_eq!(tools.sent(), [json!({}), json!({"page": 4})]);
    assert_eq!(walked.text("c"), "T: done");
    assert!(walked.warnings().contains(&"IGNORED_VARIABLE -".to_owned()), "{:?}", walked.warnings());
}

#[test]
fn files_become_addresses_that_later_steps_can_name() {
    let file = ToolFile { media_type: "image/png".to_owned(), name: None, bytes: Arc::from(*b"png") };
    let link = ToolLink { uri: "https://a/b".to_owned(), name: Some("b".to_owned()), media_type: None };
    let tools = Listed::of([Ok(ToolAnswer { files: vec![file], links: vec![link], ..ToolAnswer::default() })]);
    let drawing = flow().tool("shot 1", json!({"call": "browser:shot"})).text("say", "see {got} and {link}").mapped(
        "shot 1",
        "say",
        json!({"got": "result.files.0.uri", "link": "result.links.0.uri"}),
    );
    let walked = run(&drawing, json!({}), &tools);
    assert_eq!(walked.text("say"), "see execution://x_1/shot%201/files/1 and https://a/b");
    assert_eq!(walked.text("shot 1"), "image/png: execution://x_1/shot%201/files/1\nhttps://a/b");
    let State::Done { output, .. } = walked.state("shot 1") else { panic!("done") };
    assert_eq!(&*output.files[0].bytes, b"png");
}

#[test]
fn a_step_is_left_out_with_its_readers_where_what_it_requires_is_not_there() {
    for (values, sent) in [
        (json!({}), 0),
        (json!({"page": ""}), 0),
        (json!({"page": 0}), 0),
        (json!({"page": false}), 0),
        (json!({"page": "0"}), 0),
        (json!({"page": "x"}), 1),
        (json!({"page": [1]}), 1),
    ] {
        let tools = Listed::of([said("got")]);
        let drawing = flow()
            .tool("a", json!({"call": "web:get", "args": {"page": "{{ page }}"}, "requires": ["page"]}))
            .text("b", "reads {a_result}")
            .text("c", "reads nothing")
            .edges("a > b, a > c");
        assert_eq!(drawing.required(), Vec::<String>::new());
        let walked = run(&drawing, values.clone(), &tools);
        assert_eq!((tools.sent().len(), walked.status()), (sent, Status::Success), "{values}");
        assert_eq!(walked.text("c"), "reads nothing");
        assert_eq!(matches!(walked.state("b"), State::Omitted { .. }), sent == 0, "{values}");
    }
}

#[test]
fn an_answer_that_is_an_error_fails_the_step_and_keeps_its_words() {
    let tools = Listed::of([Ok(ToolAnswer {
        text: Some("no such page\nsee the log".to_owned()),
        is_error: true,
        ..ToolAnswer::default()
    })]);
    let drawing =
        flow().text("a", "x").tool("b", json!({"call": "web:get"})).text("c", "{b_result}").edges("a > b > c");
    let walked = run(&drawing, json!({}), &tools);
    assert_eq!(walked.error("b"), "TOOL_ERROR: web:get (step 2 of 3): no such page\nsee the log");
    assert_eq!((walked.because("c"), walked.status()), ("b", Status::Partial));
}

#[test]
fn a_flow_goes_on_after_a_failure_where_the_node_says_so() {
    let tools = Listed::of([failed(Code::ToolUnavailable, "web:get: nobody is there")]);
    let drawing = flow()
        .tool("a", json!({"call": "web:get", "onError": "continue"}))
        .text("b", "{a_result} ({a_result.error.code})")
        .edges("a > b");
    let walked = run(&drawing, json!({}), &tools);
    assert_eq!(walked.status(), Status::Success);
    assert_eq!(walked.text("b"), "web:get (step 1 of 2): nobody is there (TOOL_UNAVAILABLE)");
    assert_eq!(walked.warnings(), ["WENT_ON a"]);
}

#[test]
fn a_call_is_tried_again_as_often_as_the_node_says_unless_that_is_no_use() {
    let drawing = |times: u32| {
        flow().tool(
            "a",
            json!({"call": "web:get", "retry": {"times": times, "backoffMs": 1}, "timeoutMs": 70, "delayMs": 1}),
        )
    };
    let tools = Listed::of([failed(Code::Timeout, "late"), failed(Code::ToolError, "bad"), said("good")]);
    let walked = run(&drawing(2), json!({}), &tools);
    assert_eq!((walked.text("a"), walked.executed.calls, walked.executed.retries), ("good", 3, 2));
    assert_eq!(tools.calls.lock().unwrap()[0].timeout, Some(Duration::from_millis(70)));

    let tools = Listed::of([failed(Code::Timeout, "late"), failed(Code::Timeout, "late")]);
    let walked = run(&drawing(1), json!({}), &tools);
    assert_eq!(walked.error("a"), "TIMEOUT: web:get (step 1 of 1, after 2 tries): late");

    for code in [Code::ToolNotFound, Code::ToolNotAllowed, Code::InvalidRequest, Code::LimitExceeded] {
        let tools = Listed::of([failed(code, "no")]);
        let walked = run(&drawing(3), json!({}), &tools);
        assert_eq!(walked.error("a"), format!("{code}: web:get (step 1 of 1): no"));
    }
}

#[test]
fn a_path_that_leads_nowhere_fails_the_step_that_reads_it_unless_there_is_a_default() {
    let answer = || Ok(ToolAnswer { structured: Some(json!({"a": 1})), ..ToolAnswer::default() });
    let drawing = |args: Value| {
        flow().tool("a", json!({"call": "web:get"})).tool("b", json!({"call": "web:put", "args": args})).edges("a > b")
    };
    let tools = Listed::of([answer()]);
    let walked = run(&drawing(json!({"x": "{{ a_result.gone }}"})), json!({}), &tools);
    assert_eq!(
        walked.error("b"),
        "EXECUTION_ERROR: {a_result.gone}: step \"a\" has nothing at gone; it has structuredContent, a"
    );
    let tools = Listed::of([answer(), said("fine")]);
    let walked = run(&drawing(json!({"x": "{{ a_result.gone | 5 }}", "y": "{{ a_result.a }}"})), json!({}), &tools);
    assert_eq!((walked.text("b"), tools.sent()[1].clone()), ("fine", json!({"x": 5, "y": 1})));
}

#[test]
fn what_a_tool_gives_counts_towards_the_limits() {
    let file = |bytes: usize| ToolFile {
        media_type: "application/octet-stream".to_owned(),
        name: None,
        bytes: Arc::from(vec![0; bytes]),
    };
    let tools = Listed::of([Ok(ToolAnswer { files: vec![file(17 << 20)], ..ToolAnswer::default() })]);
    let walked = run(&flow().tool("a", json!({"call": "web:get"})), json!({}), &tools);
    assert!(walked.error("a").starts_with("LIMIT_EXCEEDED: "), "{}", walked.error("a"));
}

#[test]
fn a_rehearsal_calls_nothing_and_leaves_what_would_be_read() {
    let drawing = flow()
        .input("in", json!(["url"]))
        .tool("a", json!({"call": "web:get", "args": {"url": "{{ url }}"}}))
        .text("b", "see {a_result} and {a_result.title}")
        .edges("in > a > b");
    let walked =
        walk_with(drawing.plan(), given(&json!({"url": "u"})), &Options::default(), Workers::of_texts(&Rendered))
            .unwrap();
    assert_eq!(walked.text("b"), "see {a_result} and {a_result.title}");
    assert_eq!(walked.warnings(), Vec::<String>::new());
    assert_eq!(walked.executed.calls, 0);
}

#[test]
fn a_path_that_leads_nowhere_is_told_with_its_step_and_the_fields_there_are() {
    let files = || ToolFile { media_type: "image/png".to_owned(), name: None, bytes: Arc::from(*b"png") };
    let many: serde_json::Map<String, Value> = (0..12).map(|n| (format!("field{n:02}"), json!(n))).collect();
    let answer = || {
        Ok(ToolAnswer {
            text: Some("t".to_owned()),
            files: vec![files()],
            structured: Some(json!({"page": {"n": 4}, "many": many.clone(), "none": []})),
            ..ToolAnswer::default()
        })
    };
    let has = "it has text, files, structuredContent, page, many, none";
    for (data, text, due) in [
        (json!({}), "{logo_result.file.0.uri}", format!("{{logo_result.file.0.uri}}: step \"logo\" has nothing at file.0.uri; {has}")),
        (json!({}), "{logo_result.files.7.uri}", "{logo_result.files.7.uri}: step \"logo\" has nothing at files.7.uri; files is a list of 1 item, counted from 0".to_owned()),
        (json!({}), "{logo_result.structuredContent.none.0}", "{logo_result.structuredContent.none.0}: step \"logo\" has nothing at structuredContent.none.0; structuredContent.none is an empty list".to_owned()),
        (json!({"bad": "page.m.x"}), "{bad}", format!("{{bad}}: step \"logo\" has nothing at page.m.x; {has}")),
        (json!({"bad": "structuredContent.page.m"}), "{bad}", "{bad}: step \"logo\" has nothing at structuredContent.page.m; structuredContent.page has n".to_owned()),
        (json!({"bad": "structuredContent.many.x"}), "{bad}", "{bad}: step \"logo\" has nothing at structuredContent.many.x; structuredContent.many has field00, field01, field02, field03, field04, field05, field06, field07 and 4 more".to_owned()),
    ] {
        let drawing = flow().tool("logo", json!({"call": "web:get", "set": data})).text("digest", text).edges("logo > digest");
        let walked = run(&drawing, json!({}), &Listed::of([answer()]));
        assert_eq!(walked.error("digest"), format!("EXECUTION_ERROR: {due}"));
    }
    let drawing = flow().input("in", json!(["rows"])).text("say", "{rows.0.id}").edges("in > say");
    let walked = run(&drawing, json!({"rows": [{"name": "n"}]}), &Listed::default());
    assert_eq!(walked.error("say"), "EXECUTION_ERROR: {rows.0.id}: \"rows\" has nothing at 0.id; 0 has name");
}
