//! `missing-name`: the flow has no name of its own.

use crate::model::Shape;
use crate::model::wire::UnreadKind;
use crate::validate::{Check, Drafts, FlowSubject, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "missing-name",
    summary: "A flow has a name by which it can be requested.",
    ..Rule::warning(Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let meta = if subject.flow.shape == Shape::Export { "meta" } else { "metadata" };
    for unread in subject.unread.iter().filter(|unread| unread.what == UnreadKind::MissingName) {
        drafts.find(unread.place.clone(), unread.message.clone()).hint(if subject.in_markdown() {
            "write `name: …` into the front matter, with 1 to 200 characters and no slashes".to_owned()
        } else {
            format!("write \"{meta}\": {{\"name\": \"…\"}}, with 1 to 200 characters and no slashes")
        });
    }
}
