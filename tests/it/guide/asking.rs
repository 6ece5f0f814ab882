//! How long a person is waited for.

use std::sync::Arc;
use std::time::Duration;

use flowy::internals::guide::{Answering, Asked, Asker, Guide, Order, PATIENCE, Question};
use flowy::internals::run::ExecutionId;
use flowy::internals::store::Store;
use serde_json::json;

use crate::support::drawing::flow;
use crate::support::tools::soon;
use crate::support::walking::{clock, given};

/// Somebody who asks and hears nothing.
struct Unheard;

impl Asker for Unheard {
    fn ask<'a>(&'a self, _: &'a Asked) -> Answering<'a> {
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
        source: String::new(),
    };
    let id = ExecutionId::named("x");
    let begun = guide.begin(order, &|| ExecutionId::named("x")).await.unwrap();
    let question = Question {
        ticket: begun.guided.handed().unwrap().ticket.clone(),
        reason: "r".to_owned(),
        questions: vec!["q".to_owned()],
        context: None,
    };
    assert!(guide.escalate(&id, &question, Some(Arc::new(Unheard))).await.unwrap().asked().is_some());
    assert!(guide.story(&id).await.unwrap().guided.handed().unwrap().asks.is_some());
}

/// Somebody who asks, and whose person takes until they are told to go on.
struct Slow(Arc<tokio::sync::Notify>);

impl Asker for Slow {
    fn ask<'a>(&'a self, asked: &'a Asked) -> Answering<'a> {
        Box::pin(async move {
            self.0.notified().await;
            Ok(json!({"about": format!("{} {}", asked.flow, asked.step)}))
        })
    }
}

#[tokio::test]
async fn an_answer_that_comes_after_the_call_has_ended_counts() {
    let folder = tempfile::tempdir().unwrap();
    let guide = Guide::new(Store::at(folder.path()), clock()).patient(Duration::ZERO);
    let plan = flow().text("a", "A.").plan();
    let order =
        Order { plan, given: given(&json!({})), task: None, git_ref: None, commit: None, source: String::new() };
    let id = ExecutionId::named("x");
    let begun = guide.begin(order, &|| ExecutionId::named("x")).await.unwrap();
    let question = Question {
        ticket: begun.guided.handed().unwrap().ticket.clone(),
        reason: "r".to_owned(),
        questions: vec!["q".to_owned()],
        context: None,
    };
    let go = Arc::new(tokio::sync::Notify::new());
    assert!(guide.escalate(&id, &question, Some(Arc::new(Slow(go.clone())))).await.unwrap().asked().is_some());
    go.notify_one();
    soon(async {
        while guide.story(&id).await.unwrap().guided.asked().is_some() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let guided = guide.story(&id).await.unwrap().guided;
    assert!(guided.escalations()[0].answer.is_some() && guided.handed().is_some());
}
