//! What a rule noticed, and where: drafts that can't be made without a place, resolved once.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use crate::code::{Code, WarningCode};
use crate::document::{Edit, Locator, Note, Place, Pointer, Position, Span, SyntaxKind, SyntaxProblem};
use crate::model::wire::{can_change, is_markdown, locator, parse};
use crate::model::{Template, Unusable};
use crate::names::{CatalogPath, Comparisons, did_you_mean, grouped, printable, quoted, words};
use crate::validate::{Fix, Mending, Rule};

words! {
    /// How bad a finding is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Severity {
        /// Must be fixed: `flowy validate` exits 1.
        Error = "error",
        /// Probably not what was meant.
        Warning = "warning",
        /// Good to know.
        Info = "info",
    }
}

words! {
    /// What a finding keeps from running.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Reach {
        /// Nothing of the flow runs.
        Flow = "flow",
        /// That step fails when it is reached; the rest runs.
        Step = "step",
        /// Nothing.
        None = "none",
    }
}

/// The id of a rule there is.
pub type RuleId = &'static str;

/// What a rule noticed.
///
/// As it is stored it is without the file's text and without its cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule's id, for example `dangling-edge`.
    #[serde(deserialize_with = "known_rule")]
    pub rule: RuleId,
    /// How bad it is.
    pub severity: Severity,
    /// What it keeps from running.
    pub reach: Reach,
    /// What callers are told where it is an error.
    pub code: Code,
    /// What callers of an execution are told where it keeps nothing from running, but changes how the flow runs.
    pub warning: Option<WarningCode>,
    /// The file.
    pub file: CatalogPath,
    /// The files that have to be fixed, where that is not (only) the file itself.
    pub files: Vec<String>,
    /// The text of the file, for showing the lines around.
    #[serde(skip)]
    pub text: Arc<str>,
    /// Where, symbolically.
    pub place: Place,
    /// Where, in bytes.
    pub span: Span,
    /// Where, in line and column.
    pub position: Position,
    /// The fact.
    pub message: String,
    /// What to do about it.
    pub hints: Vec<String>,
    /// Other places in the same file that belong to it.
    pub related: Vec<Related>,
    /// What is wrong in another file, of which this is a consequence.
    #[serde(skip)]
    pub cause: Option<Arc<Finding>>,
    /// The node it is about.
    pub node: Option<String>,
    /// The flow it is about.
    pub flow: Option<String>,
    /// The nodes of a ring in order, without the closing repeat (rule `cycle` only).
    pub ring: Vec<String>,
    /// How it goes away, where that can be told.
    pub fix: Option<Fix>,
    /// The name by which a file is asked for that isn't there.
    #[serde(skip)]
    pub asked: Option<String>,
}

impl Finding {
    /// What a rule says unless it says otherwise, at the beginning of a file.
    fn of(rule: &Rule, file: CatalogPath, text: Arc<str>, message: String) -> Self {
        Self {
            rule: rule.id,
            severity: rule.severity,
            reach: rule.reach,
            code: rule.code,
            warning: rule.warning,
            file,
            files: Vec::new(),
            text,
            place: Place::default(),
            span: Span::default(),
            position: Position { line: 1, column: 1 },
            message: printable(message),
            hints: Vec::new(),
            related: Vec::new(),
            cause: None,
            node: None,
            flow: None,
            ring: Vec::new(),
            fix: None,
            asked: None,
        }
    }

    /// The same as an error of that reach.
    pub(super) fn error(self, reach: Reach) -> Self {
        Self { severity: Severity::Error, reach, ..self }
    }

    /// The file as one that can't be used.
    pub fn as_unusable(&self) -> Unusable {
        Unusable {
            file: self.file.to_string(),
            code: self.code,
            message: self.message.clone(),
            at: Some(self.position),
            hints: self.hints.clone(),
        }
    }

    /// Whether it is about what the operator's servers offer: it is seen only where these are looked at,
    /// and may have to be fixed there.
    pub fn concerns_servers(&self) -> bool {
        super::rules::OF_TOOLS.contains(&self.rule)
    }
}

fn known_rule<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    let id = String::deserialize(deserializer)?;
    let rule = super::rules::REGISTRY.iter().find(|rule| rule.id == id);
    rule.map(|rule| rule.id).ok_or_else(|| serde::de::Error::custom(format!("{id:?} is no rule")))
}

/// Another place that belongs to a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Related {
    /// Where, in bytes.
    pub span: Span,
    /// Where, in line and column.
    pub position: Position,
    /// What stands there.
    pub label: String,
}

/// Collects what the rules find in one file, and resolves places as it goes.
pub struct Drafts<'a> {
    file: &'a CatalogPath,
    text: &'a Arc<str>,
    locator: &'a Locator<'a>,
    rule: &'static Rule,
    found: Vec<Finding>,
    /// Findings in templates' files, whose places are resolved at the end: each file is read once,
    /// however many findings there are in it.
    elsewhere: Vec<usize>,
    /// What may still be compared for "did you mean".
    comparisons: Comparisons,
    /// How many findings of the rule are kept, apart from those that are kept for what they stop.
    of_rule: usize,
    /// What the errors of the rule stop that are kept.
    stopped: HashSet<(Reach, String)>,
    /// The last finding of the rule that is not listed, and how many there are.
    unlisted: Option<(Finding, usize)>,
}

/// How many findings of one rule are listed for a flow. A file of a megabyte may give reason for a hundred thousand.
pub const MOST_OF_A_RULE: usize = 1_000;

impl<'a> Drafts<'a> {
    /// For a file with this text.
    pub fn new(file: &'a CatalogPath, text: &'a Arc<str>, locator: &'a Locator<'a>) -> Self {
        Self {
            file,
            text,
            locator,
            // Whoever looks says so, by `under`.
            rule: &super::rules::syntax::RULE,
            found: Vec::new(),
            elsewhere: Vec::new(),
            comparisons: Comparisons::default(),
            of_rule: 0,
            stopped: HashSet::new(),
            unlisted: None,
        }
    }

    /// What is found from now on is found by this rule.
    pub(super) fn under(&mut self, rule: &'static Rule) {
        self.end_rule();
        self.rule = rule;
    }

    /// Takes the last finding of the rule back where there are too many, now that it is worded.
    fn limit(&mut self) {
        let last = self.found.len().wrapping_sub(1);
        if self.of_rule == 0 {
            return;
        }
        // The first error is kept for each step, flow and test, so that what must not run does not.
        let is_first = self.found.last().and_then(stopped).is_some_and(|stops| self.stopped.insert(stops));
        if self.of_rule <= MOST_OF_A_RULE {
            return;
        }
        if is_first {
            self.of_rule -= 1;
            return;
        }
        let Some(mut finding) = self.found.pop() else { return };
        if self.elsewhere.last() == Some(&last) {
            self.elsewhere.pop();
            // Its place is in another file, which is not read for what is not listed.
            (finding.file, finding.text) = (self.file.clone(), self.text.clone());
            finding.place = Place::default();
        }
        self.of_rule -= 1;
        self.unlisted = Some(match self.unlisted.take() {
            None => (finding, 1),
            Some((before, count)) => {
                let worse = (before.severity, before.reach) < (finding.severity, finding.reach);
                (if worse { before } else { finding }, count + 1)
            }
        });
    }

    /// Says how many findings of the rule are not listed.
    fn end_rule(&mut self) {
        self.limit();
        self.of_rule = 0;
        self.stopped.clear();
        if let Some((last, count)) = self.unlisted.take() {
            let message = format!("{} more findings of this rule are not listed", grouped(count));
            let hints = vec!["repair what is listed, and check again".to_owned()];
            self.found.push(Finding { message, hints, related: Vec::new(), node: None, ring: Vec::new(), ..last });
        }
    }

    /// Notes a finding: there is none without a place.
    pub fn find(&mut self, place: Place, message: impl Into<String>) -> Draft<'_> {
        let span = self.locator.span(&place);
        let (file, text) = (self.file.clone(), self.text.clone());
        self.push(file, text, place, span, message.into())
    }

    /// Notes a finding in a template's file.
    pub fn find_in(&mut self, template: &Template, place: Place, message: impl Into<String>) -> Draft<'_> {
        self.limit();
        self.elsewhere.push(self.found.len());
        self.push(template.file.clone(), template.file_text.clone(), place, Span::default(), message.into())
    }

    /// Notes a finding at bytes that are known already.
    pub fn find_at(&mut self, place: Place, span: Span, message: impl Into<String>) -> Draft<'_> {
        let (file, text) = (self.file.clone(), self.text.clone());
        self.push(file, text, place, span, message.into())
    }

    /// Notes what reading noticed.
    pub fn note(&mut self, note: &Note) -> Draft<'_> {
        let draft = self.find_at(Place::default(), note.span, note.message.clone()).hint(note.hint.clone());
        match &note.step {
            Some(id) => draft.node(id),
            None => draft,
        }
    }

    fn push(&mut self, file: CatalogPath, text: Arc<str>, place: Place, span: Span, message: String) -> Draft<'_> {
        self.limit();
        self.of_rule += 1;
        let position = self.locator.position(span.start);
        self.found.push(Finding { place, span, position, ..Finding::of(self.rule, file, text, message) });
        Draft { locator: self.locator, finding: self.found.last_mut(), comparisons: &self.comparisons }
    }

    pub(super) fn finish(mut self) -> Vec<Finding> {
        self.end_rule();
        let (mut found, mut elsewhere) = (self.found, self.elsewhere);
        let others: HashSet<usize> = elsewhere.iter().copied().collect();
        let own: Vec<usize> = (0..found.len()).filter(|number| !others.contains(number)).collect();
        keep_fixes(&mut found, &own, self.locator);
        elsewhere.sort_by(|a, b| found.get(*a).map(|f| &f.file).cmp(&found.get(*b).map(|f| &f.file)));
        let of_one_file = |a: &usize, b: &usize| found.get(*a).map(|f| &f.file) == found.get(*b).map(|f| &f.file);
        let files: Vec<Vec<usize>> = elsewhere.chunk_by(of_one_file).map(<[usize]>::to_vec).collect();
        for numbers in files {
            let first = numbers.first().and_then(|number| found.get(*number));
            let Some((file, text)) = first.map(|finding| (finding.file.clone(), finding.text.clone())) else {
                continue;
            };
            let locator = locator(&file, &text);
            for number in &numbers {
                if let Some(finding) = found.get_mut(*number) {
                    finding.span = locator.span(&finding.place);
                    finding.position = locator.position(finding.span.start);
                }
            }
            keep_fixes(&mut found, &numbers, &locator);
        }
        found
    }
}

/// What an error stops: a step, or a flow or a test of a file, which is the whole file where it holds one alone.
fn stopped(finding: &Finding) -> Option<(Reach, String)> {
    let stops = match finding.reach {
        Reach::None => return None,
        Reach::Step => finding.node.clone()?,
        Reach::Flow => {
            let mut steps = finding.place.pointer.steps();
            match steps.next() {
                Some(first) if first == "flows" => steps.next().unwrap_or_default(),
                first => first.filter(|first| first.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or_default(),
            }
        }
    };
    Some((finding.reach, stops))
}

/// Leaves of some findings in one file the fixes that can be made in its text: no other is promised. In JSON each can.
fn keep_fixes(found: &mut [Finding], numbers: &[usize], locator: &Locator<'_>) {
    let fixable = |number: &&usize| found.get(**number).is_some_and(|finding| finding.fix.is_some());
    let Some(first) = numbers.iter().find(fixable).and_then(|number| found.get(*number)) else { return };
    if !is_markdown(first.file.as_str()) {
        return;
    }
    let Ok(document) = parse(&first.file, first.text.as_bytes()) else { return };
    for number in numbers {
        if let Some(finding) = found.get_mut(*number) {
            finding.fix = finding.fix.take().filter(|fix| can_change(&document, locator, &fix.edit));
        }
    }
}

/// A finding that is being worded.
pub struct Draft<'d> {
    locator: &'d Locator<'d>,
    finding: Option<&'d mut Finding>,
    comparisons: &'d Comparisons,
}

#[allow(clippy::return_self_not_must_use, reason = "the draft is noted already; wording it further is optional")]
impl Draft<'_> {
    fn with(mut self, change: impl FnOnce(&mut Finding)) -> Self {
        if let Some(finding) = self.finding.as_deref_mut() {
            change(finding);
        }
        self
    }

    /// What to do about it.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        self.with(|finding| finding.hints.push(printable(hint.into())))
    }

    /// "Did you mean", where there is something alike.
    pub fn did_you_mean<'n>(self, word: &str, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.did_you_mean_or(word, names, || None)
    }

    /// "Did you mean", or what else helps where nothing is alike.
    pub fn did_you_mean_or<'n>(
        self,
        word: &str,
        names: impl IntoIterator<Item = &'n str>,
        otherwise: impl FnOnce() -> Option<String>,
    ) -> Self {
        let near = self.comparisons.nearest(word, names, 3);
        match did_you_mean(near).or_else(otherwise) {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }

    /// The same for a name that a file is asked for by; where one name alone is alike, that is what it may be
    /// changed into.
    pub fn names_file<'n>(self, word: &str, names: impl IntoIterator<Item = &'n str>, at: Pointer) -> Self {
        let near = self.comparisons.nearest(word, names, 3);
        let draft = self.with(|finding| finding.asked = Some(word.to_owned()));
        let draft = match did_you_mean(&near) {
            Some(hint) => draft.hint(hint),
            None => draft,
        };
        match near.as_slice() {
            [one] => draft.unsafe_fix(format!("write {}", quoted(one)), Edit::Set(at, (*one).into())),
            _ => draft,
        }
    }

    /// The node it is about.
    pub fn node(self, id: &str) -> Self {
        self.with(|finding| finding.node = Some(id.to_owned()))
    }

    /// Only a warning that keeps nothing from running.
    pub fn only_warn(self) -> Self {
        self.with(|finding| {
            finding.severity = Severity::Warning;
            finding.reach = Reach::None;
        })
    }

    /// An error of another reach than the rule's own.
    pub fn error(self, reach: Reach) -> Self {
        self.with(|finding| {
            finding.severity = Severity::Error;
            finding.reach = reach;
        })
    }

    /// What callers are told, where that is not what the rule says of all its errors.
    pub fn code(self, code: Code) -> Self {
        self.with(|finding| finding.code = code)
    }

    /// These files have to be fixed instead of the one it stands in, and how.
    pub fn mended_by(self, mending: &Mending) -> Self {
        self.with(|finding| {
            finding.files.clone_from(&mending.files);
            finding.hints.clone_from(&mending.hints);
        })
    }

    /// It comes of a file that can't be used: its code, and what helps against that.
    pub fn because_of(self, unusable: &Unusable) -> Self {
        let mending = Mending { files: vec![unusable.file.clone()], hints: unusable.hints.clone() };
        self.code(unusable.code).mended_by(&mending)
    }

    /// A change that keeps the meaning of the file and makes the finding go away.
    pub fn safe_fix(self, what: impl Into<String>, edit: Edit) -> Self {
        self.with(|finding| finding.fix = Some(Fix { edit, safe: true, what: what.into() }))
    }

    /// A change that makes the finding go away, and that somebody has to look at.
    pub fn unsafe_fix(self, what: impl Into<String>, edit: Edit) -> Self {
        self.with(|finding| finding.fix = Some(Fix { edit, safe: false, what: what.into() }))
    }

    /// The nodes of the ring it is about.
    pub fn ring(self, ids: Vec<String>) -> Self {
        self.with(|finding| finding.ring = ids)
    }

    /// Another place in the same file.
    pub fn related(self, place: &Place, label: impl Into<String>) -> Self {
        let span = self.locator.span(place);
        self.related_at(span, label)
    }

    /// Another place in the same file, in bytes.
    pub fn related_at(self, span: Span, label: impl Into<String>) -> Self {
        let position = self.locator.position(span.start);
        self.with(|finding| {
            finding.related.push(Related { span, position, label: printable(label.into()) });
        })
    }
}

/// A finding about a file as such, whose text is not looked at.
pub(super) fn of_file(rule: &Rule, file: CatalogPath, message: String, hint: String) -> Finding {
    Finding { hints: vec![hint], ..Finding::of(rule, file, Arc::from(""), message) }
}

/// A file that can't be read, as a finding.
pub(super) fn syntax(file: &CatalogPath, problem: &SyntaxProblem) -> Finding {
    let rule = match problem.kind {
        SyntaxKind::FrontMatter => &super::rules::front_matter::RULE,
        SyntaxKind::Json | SyntaxKind::Yaml => &super::rules::syntax::RULE,
    };
    Finding {
        span: problem.span,
        position: problem.position,
        hints: vec![problem.hint.unwrap_or("repair the JSON there").to_owned()],
        ..Finding::of(rule, file.clone(), problem.text.clone(), problem.message.clone())
    }
}
