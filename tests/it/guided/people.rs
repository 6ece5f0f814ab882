//! Questions to a person, and their answers.

use serde_json::{Value, json};

use super::{begin, begun, begun_on_bench, bench, complete, completing, entries, output, status, until};

fn asking(answer: &Value, questions: &[&str]) -> Value {
    json!({"executionId": answer["executionId"], "stepToken": answer["stepToken"], "reason": "The plan leaves it open.",
           "questions": questions, "context": {"seen": "the plan"}})
}

#[tokio::test]
async fn nothing_advances_while_a_person_is_awaited() {
    let (mut session, begun) = begun().await;
    let code = complete(&mut session, &begun).await;
    let asked = session.ok("flows_escalate", asking(&code, &["Which database?", "Since when?"])).await;
    assert_eq!((&asked["state"], &asked["status"]), (&json!("awaiting_human"), &json!("pending_human_input")));
    assert_eq!(asked["questions"], json!(["Which database?", "Since when?"]));
    assert_eq!(asked["resumeWith"], "flows_resume");
    let message = asked["message"].as_str().unwrap();
    assert!(message.contains("The plan leaves it open.") && message.contains("Since when?"), "{message}");
    // The same question again is the same question; nothing else is taken in.
    assert_eq!(session.ok("flows_escalate", asking(&code, &["Which database?", "Since when?"])).await, asked);
    let kept = entries(&mut session, &begun).await;
    for (tool, request) in
        [("flows_complete_step", completing(&code, output("code"))), ("flows_escalate", asking(&code, &["And who?"]))]
    {
        let refused = session.failed(tool, request).await;
        assert_eq!(
            (&refused["code"], &refused["details"]["escalationId"]),
            (&json!("AWAITING_HUMAN"), &asked["escalationId"])
        );
        assert!(refused["nextStep"].as_str().unwrap().contains("flows_resume"));
    }
    assert_eq!(entries(&mut session, &begun).await, kept);
    let told = status(&mut session, &begun, &[]).await;
    assert_eq!((&told["state"], told.get("stepToken")), (&json!("awaiting_human"), None));
    assert_eq!(told["escalation"]["questions"], asked["questions"]);
    let listed = session.ok("flows_status", json!({"state": ["awaiting_human"]})).await;
    assert_eq!(listed["total"], json!(1));
}

#[tokio::test]
async fn an_answer_after_a_restart_goes_on_with_the_same_step() {
    let (bench, mut session, begun) = begun_on_bench().await;
    let code = complete(&mut session, &begun).await;
    let asked = session.ok("flows_escalate", asking(&code, &["Which database?"])).await;
    session.shut().await;
    session.end().await;
    // Nothing expires while a person is awaited.
    bench.clock.advance(std::time::Duration::from_hours(24 * 400));
    let mut session = bench.again().session().await;
    let told = status(&mut session, &begun, &[]).await;
    let answering = json!({"executionId": begun["executionId"], "escalationId": told["escalationId"], "answers": {"database": "SQLite"}});
    let resumed = session.ok("flows_resume", answering.clone()).await;
    assert_eq!(
        (&resumed["step"]["id"], &resumed["step"]["attempt"]),
        (&json!("code"), &json!(1)),
        "no output was refused"
    );
    assert_eq!(resumed["escalationId"], asked["escalationId"]);
    assert_ne!(resumed["stepToken"], code["stepToken"]);
    let answers = &resumed["step"]["context"]["answers"];
    assert_eq!(
        (&answers[0]["answers"], &answers[0]["questions"]),
        (&json!({"database": "SQLite"}), &json!(["Which database?"]))
    );
    assert_eq!(session.ok("flows_resume", answering).await, resumed);
    let refused = session.failed("flows_complete_step", completing(&code, output("code"))).await;
    assert_eq!(refused["code"], "INVALID_STEP_TOKEN");
    assert_eq!(complete(&mut session, &resumed).await["stepCompleted"], "code");
    // The answers belong to the record.
    let told = status(&mut session, &begun, &["steps"]).await;
    assert_eq!(told["steps"][1]["answers"][0]["answers"], json!({"database": "SQLite"}));
}

#[tokio::test]
async fn a_person_may_be_asked_again_and_again() {
    let (mut session, begun) = begun().await;
    let mut open = complete(&mut session, &begun).await;
    for round in 1..=3 {
        let asked = session.ok("flows_escalate", asking(&open, &["More?"])).await;
        let answering = json!({"executionId": begun["executionId"], "escalationId": asked["escalationId"], "humanInput": format!("answer {round}")});
        open = session.ok("flows_resume", answering).await;
        assert_eq!(open["step"]["context"]["answers"].as_array().unwrap().len(), round);
    }
    assert_eq!(open["step"]["attempt"], json!(1));
    let docs = until(&mut session, open, "docs").await;
    assert_eq!(docs["step"]["context"]["answers"], json!([]), "answers belong to the step that asked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_answers_at_once_one_counts() {
    let bench = bench();
    let (mut one, mut two) = (bench.session().await, bench.again().session().await);
    let begun = begin(&mut one).await;
    let asked = one.ok("flows_escalate", asking(&begun, &["Which?"])).await;
    let answer = |answers: &str| json!({"executionId": begun["executionId"], "escalationId": asked["escalationId"], "answers": answers});
    let (first, second) =
        tokio::join!(one.call("flows_resume", answer("this")), two.call("flows_resume", answer("that")));
    assert_ne!(first["isError"], second["isError"], "{first} {second}");
    let lost = if first["isError"] == json!(true) { first } else { second };
    assert_eq!(lost["structuredContent"]["code"], "ESCALATION_NOT_FOUND");
}

#[tokio::test]
async fn questions_and_answers_that_say_nothing_are_refused() {
    let (mut session, begun) = begun().await;
    let mut wordless = asking(&begun, &["Which?"]);
    wordless["reason"] = json!("  ");
    let many: Vec<String> = (0..21).map(|number| format!("{number}?")).collect();
    let mut long = asking(&begun, &["Which?"]);
    long["context"] = json!("x".repeat(200_000));
    for (request, code) in [
        (wordless, "INVALID_REQUEST"),
        (asking(&begun, &[]), "INVALID_REQUEST"),
        (asking(&begun, &[" "]), "INVALID_REQUEST"),
        (asking(&begun, &many.iter().map(String::as_str).collect::<Vec<_>>()), "INVALID_REQUEST"),
        (long, "LIMIT_EXCEEDED"),
    ] {
        let refused = session.failed("flows_escalate", request).await;
        assert_eq!(refused["code"], code, "{refused}");
    }
    let nobody = json!({"executionId": begun["executionId"], "answers": "yes"});
    assert_eq!(session.failed("flows_resume", nobody).await["code"], "ESCALATION_NOT_FOUND");
    // Where nobody is asked, nobody's answers are wanted.
    let bare = session.failed("flows_resume", json!({"executionId": begun["executionId"]})).await;
    assert_eq!((&bare["code"], &bare["message"]), (&json!("ESCALATION_NOT_FOUND"), &json!("no person is awaited")));
    assert!(bare["nextStep"].as_str().unwrap().contains("flows_status"), "{bare}");
    let result = json!({"executionId": begun["executionId"], "nodeId": "result"});
    assert!(session.failed("flows_status", result).await["message"].as_str().unwrap().contains("no result yet"));
    let open = json!({"executionId": begun["executionId"], "nodeId": begun["step"]["id"]});
    assert_eq!(session.ok("flows_status", open).await["isPrompt"], json!(true));
    let asked = session.ok("flows_escalate", asking(&begun, &["Which?"])).await;
    for answers in [
        json!({}),
        json!(" "),
        Value::Null,
        json!({"Which?": ""}),
        json!({"Which?": null}),
        json!(["", null]),
        json!({"x": {}}),
        json!({"Which?": "\u{200b}"}),
        json!("null"),
        json!("{\"Which?\": \" \"}"),
    ] {
        let request =
            json!({"executionId": begun["executionId"], "escalationId": asked["escalationId"], "answers": answers});
        assert_eq!(session.failed("flows_resume", request).await["code"], "INVALID_REQUEST");
    }
    let foreign = json!({"executionId": begun["executionId"], "escalationId": "esc_0", "answers": "yes"});
    let refused = session.failed("flows_resume", foreign).await;
    assert!(refused["nextStep"].as_str().unwrap().contains(asked["escalationId"].as_str().unwrap()), "{refused}");
    assert_eq!(status(&mut session, &begun, &[]).await["state"], "awaiting_human");
}

#[tokio::test]
async fn a_question_that_nobody_will_answer_can_be_cancelled() {
    let (mut session, begun) = begun().await;
    let asked = session.ok("flows_escalate", asking(&begun, &["Which?"])).await;
    let cancelled = session.ok("flows_cancel", json!({"executionId": begun["executionId"]})).await;
    assert_eq!(cancelled["state"], "cancelled");
    for escalation in [asked["escalationId"].clone(), Value::Null] {
        let late = json!({"executionId": begun["executionId"], "escalationId": escalation, "answers": "this"});
        let refused = session.failed("flows_resume", late).await;
        assert_eq!(refused["code"], "CANCELLED", "{refused}");
        assert!(refused["nextStep"].as_str().unwrap().contains("flows_begin"), "{refused}");
    }
}

#[tokio::test]
async fn the_end_of_an_id_names_an_execution_in_every_tool_and_several_are_named() {
    let (mut session, begun) = begun().await;
    let id = begun["executionId"].as_str().unwrap();
    let end = &id[id.len() - 6..];
    for named in [end.to_owned(), format!("…{end}"), id[id.len() - 10..].to_owned()] {
        assert_eq!(
            session.ok("flows_status", json!({"executionId": named})).await["executionId"],
            json!(id),
            "{named}"
        );
    }
    let asked = json!({"executionId": end, "stepToken": begun["stepToken"], "reason": "r", "questions": ["Red?"]});
    session.ok("flows_escalate", asked).await;
    let resumed = session.ok("flows_resume", json!({"executionId": end, "answers": "red"})).await;
    let mut closing = completing(&resumed, output("design"));
    closing["executionId"] = json!(format!("...{end}"));
    assert_eq!(session.ok("flows_complete_step", closing).await["stepCompleted"], "design");
    let short = session.failed("flows_status", json!({"executionId": &end[1..]})).await;
    assert_eq!(short["code"], "EXECUTION_NOT_FOUND", "five characters are too few");
    assert_eq!(session.ok("flows_cancel", json!({"executionId": end})).await["cancelled"], json!(true));
}

#[tokio::test]
async fn a_list_of_executions_says_what_is_asked_and_what_comes_next() {
    let mut session = bench().session().await;
    let empty = session.ok("flows_status", json!({})).await;
    assert!(empty["nextStep"].as_str().unwrap().contains("flows_begin"), "{empty}");
    let begun = begin(&mut session).await;
    let open = session.ok("flows_status", json!({})).await;
    assert!(open["nextStep"].as_str().unwrap().contains("stepToken"), "{open}");
    let asked = session.ok("flows_escalate", asking(&begun, &["Red?", "Round?"])).await;
    let waiting = session.ok("flows_status", json!({})).await;
    assert!(waiting["nextStep"].as_str().unwrap().contains("flows_resume"), "{waiting}");
    let question = &waiting["executions"][0]["escalation"];
    assert_eq!(
        (&question["escalationId"], &question["questions"]),
        (&asked["escalationId"], &json!(["Red?", "Round?"]))
    );
    // A search that finds nothing may mean what was begun.
    let none = session.ok("flows_list", json!({"query": "go on with what was begun yesterday"})).await;
    assert_eq!(none["noMatch"], json!(true), "{none}");
    assert!(none["nextStep"].as_str().unwrap().starts_with("1 execution is open"), "{none}");
}

#[tokio::test]
async fn questions_that_the_answers_leave_open_are_named_as_are_names_that_nobody_asked_for() {
    for (answers, open, unasked) in [
        (json!({"Red?": "yes"}), json!(["Round?"]), Value::Null),
        (json!({"2": "yes"}), json!(["Red?"]), Value::Null),
        (json!(["yes"]), json!(["Round?"]), Value::Null),
        (json!({"red": "yes", "round": "no"}), Value::Null, Value::Null),
        (json!({"colour": "red", "form": "round"}), Value::Null, json!(["colour", "form"])),
        (json!({"red": "yes", "Rund?": "no"}), Value::Null, json!(["Rund?"])),
        (json!("red and round"), Value::Null, Value::Null),
    ] {
        let (mut session, begun) = begun().await;
        session.ok("flows_escalate", asking(&begun, &["Red?", "Round?"])).await;
        let resume = json!({"executionId": begun["executionId"], "answers": answers});
        let resumed = session.ok("flows_resume", resume).await;
        assert_eq!(resumed["unanswered"], open, "{answers}");
        assert_eq!(resumed["unasked"], unasked, "{answers}");
        let next = resumed["nextStep"].as_str().unwrap();
        assert_eq!(next.contains("unanswered"), !open.is_null(), "{resumed}");
        assert_eq!(next.contains("nobody asked"), !unasked.is_null(), "{resumed}");
        assert_eq!(next.contains("did you mean \"Round?\"?"), unasked == json!(["Rund?"]), "{resumed}");
    }
}

#[tokio::test]
async fn what_is_asked_of_an_execution_that_has_ended_is_answered_by_that() {
    let (mut session, begun) = begun().await;
    let last = until(&mut session, begun, "sum").await;
    let done = complete(&mut session, &last).await;
    assert_eq!(done["state"], "completed");
    let again = completing(&last, json!("something else"));
    let resume = json!({"executionId": last["executionId"], "answers": "go on"});
    for (tool, arguments, code) in
        [("flows_complete_step", again, "STEP_ALREADY_COMPLETED"), ("flows_resume", resume, "ESCALATION_NOT_FOUND")]
    {
        let refused = session.failed(tool, arguments).await;
        assert_eq!(refused["code"], code);
        assert!(refused["message"].as_str().unwrap().ends_with("the execution is completed"), "{refused}");
        assert!(!refused["nextStep"].as_str().unwrap().contains("open step"), "{refused}");
    }
}
