//! `bad-version`: a version that tools can't compare.

use crate::document::Edit;
use crate::model::wire::UnreadKind;
use crate::validate::{Check, Drafts, FlowSubject, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "bad-version",
    summary: "A version follows semantic versioning (https://semver.org).",
    ..Rule::warning(Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for unread in subject.unread.iter().filter(|unread| unread.what == UnreadKind::BadVersion) {
        let draft = drafts.find(unread.place.clone(), unread.message.clone()).hint(subject.in_form(
            "write it as three numbers, for example \"1.0.0\"",
            "write it as three numbers, for example 1.0.0",
        ));
        if let Some(whole) = subject.flow.version.as_deref().and_then(whole) {
            draft.safe_fix(format!("write it as {whole}"), Edit::Set(unread.place.pointer.clone(), whole.into()));
        }
    }
}

/// A version of one to three numbers, as three.
fn whole(version: &str) -> Option<String> {
    let numbers: Vec<&str> = version.trim().trim_start_matches(['v', 'V']).split('.').collect();
    let number = |text: &&str| !text.is_empty() && text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    if numbers.len() > 3 || !numbers.iter().all(number) {
        return None;
    }
    let plain = |place: usize| match numbers.get(place).map(|text| text.trim_start_matches('0')) {
        None | Some("") => "0",
        Some(digits) => digits,
    };
    Some(format!("{}.{}.{}", plain(0), plain(1), plain(2)))
}
