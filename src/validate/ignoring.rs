//! `x-flowy-ignore`: findings that a flow's author does not want to be told, each rule with the reason.
//!
//! A suppression changes what a check reports, never what executes: findings are sifted where they are
//! shown, after everything was decided. What stops a whole flow and what nobody can see is always told.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::finding::of_file;
use super::rules::{self, useless_ignore};
use super::{Drafts, Finding, REGISTRY, Reach, Rule, Severity};
use crate::document::{Document, Place, Pointer, Position, Span};
use crate::model::wire::locator;
use crate::model::{Flow, Shape};
use crate::names::{CatalogPath, did_you_mean, nearest, quoted, words};

/// The key under which a flow or a node names the rules to be suppressed: `{"rule": "reason"}`.
pub const IGNORE_KEY: &str = "x-flowy-ignore";

/// A finding that is not reported, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppressed {
    /// What was found.
    pub finding: Finding,
    /// Who suppressed it.
    pub by: SuppressedBy,
    /// The reason that was given.
    pub reason: String,
}

words! {
    /// Where a suppression stands.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum SuppressedBy {
        /// In the flow's own file.
        Flow = "flow",
        /// In the catalog's `flowy.toml`.
        Settings = "settings",
        /// In the catalog's baseline.
        Baseline = "baseline",
    }
}

/// Which kinds of findings a check can have: an entry is called unused only where its rule was looked at.
#[derive(Debug, Clone, Copy)]
pub struct LookedAt {
    /// Whether the flow was checked together with the catalog around it.
    pub references: bool,
    /// Whether all flows of the catalog are known.
    pub whole: bool,
    /// Whether the operator's external tools are known.
    pub tools: bool,
}

impl LookedAt {
    fn covers(self, rule: &str) -> bool {
        self.references
            && (self.whole || !rules::OF_WHOLE.contains(&rule))
            && (self.tools || !rules::OF_TOOLS.contains(&rule))
    }
}

impl Finding {
    /// Whether it may be left unsaid: what stops a whole flow and invisible characters may not.
    pub fn suppressible(&self) -> bool {
        self.reach != Reach::Flow && may_be_named(self.rule)
    }
}

#[cfg(feature = "internals")]
impl Rule {
    /// Whether some of what it finds may be left unsaid.
    pub fn suppressible(&self) -> bool {
        let reaches = self.also.iter().map(|also| also.reach).chain([self.reach]);
        may_be_named(self.id) && reaches.into_iter().any(|reach| reach != Reach::Flow)
    }
}

/// Whether findings of a rule can be suppressed at all.
fn may_be_named(rule: &str) -> bool {
    ![rules::hidden_text::RULE.id, useless_ignore::RULE.id].contains(&rule)
}

/// One entry of `x-flowy-ignore`.
struct Entry<'d> {
    at: Pointer,
    /// The node it is on, with its pointer; none for an entry of the flow.
    node: Option<(&'d str, Pointer)>,
    rule: &'d str,
    reason: Option<&'d str>,
}

impl Entry<'_> {
    fn covers(&self, finding: &Finding, flow: &Flow) -> bool {
        let here = |node: &str, at: &Pointer| {
            let within = |rest: &str| rest.is_empty() || rest.starts_with('/');
            finding.node.as_deref() == Some(node)
                || finding.file == flow.file
                    && finding.place.pointer.as_str().strip_prefix(at.as_str()).is_some_and(within)
        };
        self.rule == finding.rule && self.node.as_ref().is_none_or(|(node, at)| here(node, at))
    }
}

/// Takes out of a flow's findings what its file suppresses; what remains includes what is wrong with the
/// suppressions themselves.
pub fn sift(
    flow: &Flow,
    document: &Document,
    findings: Vec<Finding>,
    looked_at: LookedAt,
) -> (Vec<Finding>, Vec<Suppressed>) {
    let (entries, misshapen) = entries(flow, document);
    if entries.is_empty() && misshapen.is_empty() {
        return (findings, Vec::new());
    }
    let (mut kept, mut suppressed) = (Vec::new(), Vec::new());
    let (mut used, mut in_vain) = (BTreeSet::new(), BTreeSet::new());
    for finding in findings {
        let covering = entries.iter().position(|entry| entry.covers(&finding, flow));
        match covering.and_then(|number| Some((number, entries.get(number)?.reason))) {
            Some((number, Some(reason))) if finding.suppressible() => {
                used.insert(number);
                suppressed.push(Suppressed { finding, by: SuppressedBy::Flow, reason: reason.to_owned() });
            }
            Some((number, _)) => {
                in_vain.insert(number);
                kept.push(finding);
            }
            None => kept.push(finding),
        }
    }
    let locator = locator(&flow.file, &document.text);
    let mut drafts = Drafts::new(&flow.file, &document.text, &locator);
    drafts.under(&useless_ignore::RULE);
    for at in misshapen {
        let (what, how) = if flow.shape == Shape::Markdown {
            ("no mapping of rules to reasons", "write it as `{ rule: reason }`")
        } else {
            ("not an object of rules and reasons", "write it as {\"rule\": \"reason\"}")
        };
        drafts.find(Place::value(at), format!("`{IGNORE_KEY}` is {what}")).hint(how);
    }
    for (number, entry) in entries.iter().enumerate().filter(|(number, _)| !used.contains(number)) {
        let Some((message, hint)) = fault(entry, in_vain.contains(&number), looked_at) else { continue };
        let draft = drafts.find(Place::key(entry.at.clone()), message);
        let known = REGISTRY.iter().any(|rule| rule.id == entry.rule);
        let draft = if known { draft } else { draft.did_you_mean(entry.rule, REGISTRY.iter().map(|rule| rule.id)) };
        let draft = draft.hint(hint);
        if let Some((node, _)) = &entry.node {
            draft.node(node);
        }
    }
    let mut found = drafts.finish();
    for finding in &mut found {
        finding.flow = Some(flow.name.to_string());
    }
    kept.extend(found);
    (kept, suppressed)
}

/// What is wrong with an entry that suppresses nothing, and what to do.
fn fault(entry: &Entry<'_>, in_vain: bool, looked_at: LookedAt) -> Option<(String, &'static str)> {
    const REMOVE: &str = "remove the entry";
    let rule = quoted(entry.rule);
    if !REGISTRY.iter().any(|rule| rule.id == entry.rule) {
        return Some((format!("no rule is called {rule}"), "`flowy explain` lists the rules"));
    }
    if !may_be_named(entry.rule) {
        return Some((format!("findings of the rule {rule} can't be suppressed"), REMOVE));
    }
    if entry.reason.is_none() {
        return Some((format!("the rule {rule} is suppressed without a reason"), "write the reason as a text"));
    }
    if in_vain {
        let message = format!("what the rule {rule} finds here stops the whole flow, and can't be suppressed");
        return Some((message, "fix what it finds, and remove the entry"));
    }
    let unused = looked_at.covers(entry.rule);
    unused.then(|| (format!("the rule {rule} finds nothing here"), REMOVE))
}

/// The entries of a flow, and the places of what is no object.
fn entries<'d>(flow: &'d Flow, document: &'d Document) -> (Vec<Entry<'d>>, Vec<Pointer>) {
    let mut places: Vec<(Pointer, Option<(&str, Pointer)>)> = Vec::new();
    for (number, node) in flow.nodes.iter().enumerate() {
        let at = flow.node_pointer(number);
        for within in [at.clone(), at.key("data")] {
            places.push((within.key(IGNORE_KEY), Some((node.id.as_str(), at.clone()))));
        }
    }
    // An entry of a node is nearer than one of the flow.
    places.extend([flow.base.clone(), flow.meta()].map(|at| (at.key(IGNORE_KEY), None)));
    let (mut entries, mut misshapen) = (Vec::new(), Vec::new());
    if !document.text.contains(IGNORE_KEY) {
        return (entries, misshapen);
    }
    for (at, node) in places {
        match document.value.pointer(at.as_str()) {
            None => {}
            Some(Value::Object(rules)) => entries.extend(rules.iter().map(|(rule, reason)| Entry {
                at: at.key(rule),
                node: node.clone(),
                rule,
                reason: reason.as_str().map(str::trim).filter(|reason| !reason.is_empty()),
            })),
            Some(_) => misshapen.push(at),
        }
    }
    (entries, misshapen)
}

/// An entry of a catalog's settings that suppresses nothing.
pub fn useless_setting(file: CatalogPath, text: &str, span: Span, rule: &str) -> Finding {
    let known = REGISTRY.iter().any(|known| known.id == rule);
    let message: Cow<'_, str> = match known {
        false => format!("no rule is called {}", quoted(rule)).into(),
        true if !may_be_named(rule) => format!("findings of the rule {} can't be suppressed", quoted(rule)).into(),
        true => format!("the rule {} finds nothing that could be suppressed", quoted(rule)).into(),
    };
    let near = if known { Vec::new() } else { nearest(rule, REGISTRY.iter().map(|rule| rule.id), 1) };
    let hint = did_you_mean(near).unwrap_or_else(|| "remove the entry".to_owned());
    let found = of_file(&useless_ignore::RULE, file, message.into_owned(), hint);
    Finding { span, position: Position::of(text, span.start), text: text.into(), severity: Severity::Warning, ..found }
}
