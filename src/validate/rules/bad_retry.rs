//! `bad-retry`: how a failed call is tried again, in a way that is not done so.

use serde_json::Value;

use super::misspelt_field::nodes;
use crate::document::Place;
use crate::model::{LONGEST_BACKOFF, MOST_RETRIES};
use crate::names::quoted;
use crate::validate::{Check, Drafts, FileSubject, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "bad-retry",
    summary: "A `retry` holds `times`, at most 10, and `backoffMs`, at most 60,000, and nothing else.",
    ..Rule::warning(Check::File(check))
};

const FIELDS: [&str; 2] = ["times", "backoffMs"];

fn check(subject: &FileSubject<'_>, drafts: &mut Drafts<'_>) {
    for node in nodes(subject).filter(|node| node.kind == "tool") {
        let Some(retry) = node.data.and_then(|data| data.get("retry")).and_then(Value::as_object) else { continue };
        let (id, pointer) = (node.id, node.at.key("data").key("retry"));
        for key in retry.keys().filter(|key| !FIELDS.contains(&key.as_str())) {
            let message = format!(
                "{}: the field {} of `retry` is unknown, and flowy ignores it",
                subject.called(id),
                quoted(key)
            );
            drafts
                .find(Place::key(pointer.key(key)), message)
                .node(id)
                .did_you_mean(key, FIELDS)
                .hint("its fields are `times` and `backoffMs`");
        }
        let longest = u64::try_from(LONGEST_BACKOFF.as_millis()).unwrap_or(u64::MAX);
        let limits = [
            ("times", u64::from(MOST_RETRIES), "a failed call is tried again at most 10 times"),
            ("backoffMs", longest, "no pause is longer than a minute"),
        ];
        for (key, most, law) in limits {
            #[allow(clippy::cast_precision_loss, reason = "limits are small")]
            let over = retry.get(key).and_then(Value::as_f64).is_some_and(|number| number > most as f64);
            if over {
                let given = retry.get(key).map(ToString::to_string).unwrap_or_default();
                let message = format!("{}: `retry.{key}` is {given}, and {law}", subject.called(id));
                drafts.find(Place::value(pointer.key(key)), message).node(id).hint(format!("write {most} or less"));
            }
        }
    }
}
