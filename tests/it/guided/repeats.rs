//! The same call twice, lost replies, calls at once, and tokens that are not good.

use serde_json::{Value, json};

use super::{begin, begun, begun_on_bench, bench, complete, completing, entries, output, status, until};

/// A reply without what only a process that has not told it yet adds: the rules, and the persona whole.
fn log_alone(mut reply: Value) -> Value {
    if let Some(fields) = reply.as_object_mut() {
        fields.shift_remove("rules");
    }
    if let Some(persona) = reply.pointer_mut("/step/persona").and_then(Value::as_object_mut) {
        persona.shift_remove("instructions");
    }
    reply
}

#[tokio::test]
async fn the_same_call_again_gets_the_reply_it_got() {
    let (bench, mut session, begun) = begun_on_bench().await;
    let first = complete(&mut session, &begun).await;
    let kept = entries(&mut session, &begun).await;
    // In this process and another, with the keys in another order, and long after.
    bench.clock.advance(std::time::Duration::from_hours(1));
    let mut other = bench.again().session().await;
    let turned = json!({"result": "THE PLAN", "summary": "A plan."});
    assert_eq!(
        log_alone(session.ok("flows_complete_step", completing(&begun, output("design"))).await),
        log_alone(first.clone())
    );
    assert_eq!(
        log_alone(other.ok("flows_complete_step", completing(&begun, turned.clone())).await),
        log_alone(first.clone())
    );
    assert_eq!(
        log_alone(other.ok("flows_complete_step", completing(&begun, json!(turned.to_string()))).await),
        log_alone(first.clone())
    );
    assert_eq!(entries(&mut session, &begun).await, kept);
    // Still, when the execution has gone on.
    let later = until(&mut other, first.clone(), "fix").await;
    assert_eq!(
        log_alone(session.ok("flows_complete_step", completing(&begun, output("design"))).await),
        log_alone(first.clone())
    );
    assert_eq!(status(&mut session, &begun, &[]).await["stepToken"], later["stepToken"]);
}

#[tokio::test]
async fn another_output_for_a_completed_step_is_refused() {
    let (mut session, begun) = begun().await;
    let first = complete(&mut session, &begun).await;
    let refused = session.failed("flows_complete_step", completing(&begun, json!({"summary": "Else."}))).await;
    assert_eq!((&refused["code"], &refused["details"]["nodeId"]), (&json!("STEP_ALREADY_COMPLETED"), &json!("design")));
    let mut failing = completing(&begun, output("design"));
    failing["outcome"] = json!("failed");
    assert_eq!(session.failed("flows_complete_step", failing).await["code"], "STEP_ALREADY_COMPLETED");
    assert_eq!(status(&mut session, &begun, &[]).await["step"]["id"], first["step"]["id"]);
}

#[tokio::test]
async fn a_lost_reply_is_found_again_in_the_status_which_changes_nothing() {
    let (bench, mut session, begun) = begun_on_bench().await;
    let lost = complete(&mut session, &begun).await;
    let mut other = bench.again().session().await;
    let kept = entries(&mut other, &begun).await;
    let told = status(&mut other, &begun, &[]).await;
    assert_eq!((&told["stepToken"], &told["currentStep"]), (&lost["stepToken"], &json!("code")));
    // Whoever asks may be somebody new: the role comes whole.
    assert!(told["step"]["persona"]["instructions"].is_string());
    assert_eq!(entries(&mut other, &begun).await, kept);
    assert_eq!(complete(&mut other, &told).await["stepCompleted"], "code");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_calls_at_once_one_counts_and_equal_ones_get_its_reply() {
    let bench = bench();
    let (mut one, mut two) = (bench.session().await, bench.again().session().await);
    let mut answer = begin(&mut one).await;
    while let Some(step) = answer["step"]["id"].as_str().map(str::to_owned) {
        let asked = completing(&answer, output(&step));
        let (first, second) =
            tokio::join!(one.ok("flows_complete_step", asked.clone()), two.ok("flows_complete_step", asked));
        assert_eq!(log_alone(first.clone()), log_alone(second));
        answer = first;
    }
    assert_eq!(answer["finalResult"], "THE END");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_different_outputs_at_once_exactly_one_is_taken() {
    let bench = bench();
    let (mut one, mut two) = (bench.session().await, bench.again().session().await);
    for round in 0..10 {
        let begun = begin(&mut one).await;
        let mine = completing(&begun, json!({"summary": format!("mine {round}")}));
        let theirs = completing(&begun, json!({"summary": format!("theirs {round}")}));
        let (first, second) =
            tokio::join!(one.call("flows_complete_step", mine), two.call("flows_complete_step", theirs));
        let lost = if first["isError"] == json!(true) { &first } else { &second };
        assert_ne!(first["isError"], second["isError"], "{first} {second}");
        assert_eq!(lost["structuredContent"]["code"], "STEP_ALREADY_COMPLETED");
        assert_eq!(entries(&mut one, &begun).await, 4);
    }
}

#[tokio::test]
async fn tokens_that_are_not_the_open_steps_move_nothing() {
    let mut session = bench().session().await;
    let (begun, other) = (begin(&mut session).await, begin(&mut session).await);
    let kept = entries(&mut session, &begun).await;
    for token in
        [other["stepToken"].clone(), json!("step_0000000000000000"), json!("design"), json!("x".repeat(10_000))]
    {
        let asked = json!({"executionId": begun["executionId"], "stepToken": token, "output": output("design")});
        let refused = session.failed("flows_complete_step", asked).await;
        assert_eq!(refused["code"], "INVALID_STEP_TOKEN", "{refused}");
        assert!(refused["nextStep"].as_str().unwrap().contains("flows_status"));
        assert!(
            !refused.to_string().contains(begun["stepToken"].as_str().unwrap()),
            "a token must not be handed out so"
        );
    }
    let foreign = json!({"executionId": other["executionId"], "stepToken": begun["stepToken"], "reason": "r", "questions": ["q"]});
    assert_eq!(session.failed("flows_escalate", foreign).await["code"], "INVALID_STEP_TOKEN");
    assert_eq!(entries(&mut session, &begun).await, kept);
    let unknown = json!({"executionId": "Feature_1_none", "stepToken": begun["stepToken"], "output": "x"});
    assert_eq!(session.failed("flows_complete_step", unknown).await["code"], "EXECUTION_NOT_FOUND");
}

#[tokio::test]
async fn what_is_cancelled_stays_cancelled() {
    let (mut session, begun) = begun().await;
    let code = complete(&mut session, &begun).await;
    let asked = json!({"executionId": begun["executionId"], "reason": "Not needed any more."});
    let cancelled = session.ok("flows_cancel", asked.clone()).await;
    assert_eq!((&cancelled["state"], &cancelled["reason"]), (&json!("cancelled"), &json!("Not needed any more.")));
    // One of six steps is done, however it ended.
    assert_eq!((&cancelled["progress"], &cancelled["completedSteps"]), (&json!("16%"), &json!(["design"])));
    assert_eq!(session.ok("flows_cancel", asked.clone()).await, cancelled);
    let refused = session.failed("flows_complete_step", completing(&code, output("code"))).await;
    assert_eq!(refused["code"], "CANCELLED");
    // What was completed before is still told to whoever asks for that reply again.
    assert_eq!(session.ok("flows_complete_step", completing(&begun, output("design"))).await, code);
    let direct =
        session.ok("flows_execute", json!({"flowName": "Feature", "initialVariables": {"feature": "x"}})).await;
    let refused = session.failed("flows_cancel", json!({"executionId": direct["executionId"]})).await;
    assert_eq!(refused["code"], "INVALID_REQUEST");
}
