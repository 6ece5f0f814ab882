//! `duplicate-edge`: editors drop one of two edges with one id.

use std::collections::{BTreeSet, HashMap};

use crate::document::{Edit, Place};
use crate::names::quoted;
use crate::validate::tidying::free_id;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "duplicate-edge",
    summary: "No two edges have the same id.",
    ..Rule::error(Reach::Flow, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut ids: BTreeSet<String> = subject.flow.edges.iter().filter_map(|edge| edge.id.clone()).collect();
    for (number, edge) in subject.flow.edges.iter().enumerate() {
        let Some(id) = edge.id.as_deref() else { continue };
        let Some(earlier) = first.get(id).copied() else {
            first.insert(id, number);
            continue;
        };
        let place = |number: usize| Place::value(subject.flow.edge_pointer(number).key("id"));
        let other = free_id(&edge.from, &edge.to, &ids);
        drafts
            .find(
                place(number),
                format!("edge id {} is used twice ({} → {})", quoted(id), quoted(&edge.from), quoted(&edge.to)),
            )
            .related(&place(earlier), "first used here")
            .hint("give one of the two another id, or leave the id out")
            .safe_fix(format!("call it {}", quoted(&other)), Edit::Set(place(number).pointer, other.clone().into()));
        ids.insert(other);
    }
}
