//! How long a person is waited for.

use std::time::Duration;

use flowy::internals::guide::{Answering, Asker, Guide, Order, PATIENCE, Question};
use flowy::internals::run::{Escalation, ExecutionId};
use flowy::internals::store::Store;
use serde_json::json;

use crate::support::drawing::flow;
use crate::support::walking::{clock, given};

/// Somebody who asks and hears nothing.
struct Unheard;

impl Asker for Unheard {
    fn ask<'a>(&'a self, _: &'a Escalation) -> Answering<'a> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_person_who_does_not_answer_in_time_is_left_a_question() {
    // Some clients drop calls after a minute.
    assert!(PATIENCE <= Duration::from_secs(45));
    let folder = tempfile::tempdir().unwrap();
    let guide = Guide::new(Store::at(folder.path()), clock()).patient(Duration::ZERO);
    let order = Order {
        plan: flow().text("a", "A.").plan(),
        given: given(&json!({})),
        task: None,
        git_ref: None,
        commit: None,
    };
    let id = ExecutionId::named("x");
    let begun = guide.begin(order, &|| ExecutionId::named("x")).await.unwrap();
    let question = Question {
        ticket: begun.guided.handed().unwrap().ticket.clone(),
        reason: "r".to_owned(),
        questions: vec!["q".to_owned()],
        context: None,
    };
    assert!(guide.escalate(&id, &question, Some(&Unheard)).await.unwrap().asks());
    assert!(guide.story(&id).await.unwrap().guided.handed().unwrap().asks.is_some());
}
