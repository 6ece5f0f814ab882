//! What a page tells beside the picture: of the flow as a whole, and of each node what it reads, says
//! and gives, what was found, and how a run of it went.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::drawing::took;
use super::edges::numbers;
use super::ran::StepRan;
use super::{LONGEST_LABEL, NodeShape, Picture, ids};
use crate::app::in_sets;
use crate::model::{ModelWish, Node, NodeKind};
use crate::names::{counted, few, shown};
use crate::plan::{Input, Intent, Plan, Rendering, Source, Step, Work};
use crate::report::markup::{HtmlText, folded, list, long};
use crate::report::{human, wire};
use crate::validate::Finding;

/// The most findings that are not folded away.
const MOST_OPEN: usize = 5;

/// What is told of the flow when no node is chosen.
pub(super) fn overview(page: &mut String, picture: &Picture<'_>) {
    page.push_str("<article id=\"overview\">\n<h2>The flow</h2>\n");
    let version = picture.flow.version.as_deref().unwrap_or("1.0");
    let _ = writeln!(
        page,
        "<p class=\"kind\">{} · version {}</p>",
        HtmlText(picture.flow.file.as_str()),
        HtmlText(&shown(version, 40))
    );
    let names = ids(picture.flow, "");
    let teller = Teller::of(picture, &names);
    let link = |node: usize, label: &str| teller.link(node, label);
    if picture.plan.is_none() {
        page.push_str("<p>It can't be executed: errors reach the whole flow, so there is no order to show.</p>\n");
    }
    let (all, numbers): (Vec<&Finding>, _) = (picture.findings.iter().collect(), numbers(picture.flow));
    findings(page, &all, &|finding| {
        let place = *numbers.get(finding.node.as_deref()?)?;
        Some(link(place, picture.flow.nodes.get(place)?.caption()))
    });
    if let Some(plan) = picture.plan {
        let command = human::to_run(plan, None);
        let _ = writeln!(page, "<h3>Execute it</h3>\n<code class=\"command\">{}</code>", HtmlText(&command));
        inputs(page, plan, plan.inputs().iter());
        page.push_str(
            "<h3>Steps</h3>\n<p class=\"kind\">Choose a step here or in the picture to see what it reads. Steps of one \
             wave may run at the same time.</p>\n",
        );
        let steps = plan.steps().iter().map(|step| {
            let ran = picture.ran.and_then(|ran| ran.steps.get(&step.id)).map(|ran| format!(" {}", badge(ran)));
            link(step.node, &step.label) + &ran.unwrap_or_default()
        });
        list(page, "ol", steps);
        if !plan.results().is_empty() {
            page.push_str("<h3>Results</h3>\n");
            let results = plan.results().iter().map(|mark| {
                let from = mark.step.and_then(|step| plan.step(step));
                let from = from.map(|step| format!(" from {}", link(step.node, &step.label))).unwrap_or_default();
                link(mark.node, &mark.label) + &from
            });
            list(page, "ul", results);
        }
    }
    page.push_str("</article>\n");
}

/// How a step ended, with its time.
fn badge(ran: &StepRan) -> String {
    let time = ran.millis.map(|millis| format!(" · {}", took(millis))).unwrap_or_default();
    format!("<span class=\"badge {0}\">{0}{1}</span>", ran.state.word(), HtmlText(&time))
}

fn inputs<'i>(page: &mut String, plan: &Plan, inputs: impl Iterator<Item = &'i Input>) {
    let in_sets = in_sets(plan);
    let rows: Vec<String> = inputs
        .map(|input| {
            let row = human::input(input, in_sets.contains(&input.name));
            let [name, kind, needed, about] = row.each_ref().map(|cell| HtmlText(cell));
            format!("<tr><td><code>{name}</code></td><td>{kind}</td><td>{needed}</td><td>{about}</td></tr>\n")
        })
        .collect();
    if !rows.is_empty() {
        let _ = writeln!(
            page,
            "<h3>Inputs</h3>\n<table>\n<thead><tr><th>name</th><th>type</th><th>needed</th><th>what \
             for</th></tr></thead>\n<tbody>\n{}</tbody>\n</table>",
            rows.concat()
        );
    }
}

fn findings(page: &mut String, findings: &[&Finding], about: &dyn Fn(&Finding) -> Option<String>) {
    for (place, finding) in findings.iter().enumerate() {
        if place == MOST_OPEN {
            let left = counted(findings.len() - MOST_OPEN, "more finding", "more findings");
            let _ = writeln!(page, "<details><summary>{left}</summary>");
        }
        let mut hints = String::new();
        for hint in &finding.hints {
            let _ = write!(hints, "<br>{}", HtmlText(&shown(hint, 500)));
        }
        let about = about(finding).map(|link| format!(" – {link}")).unwrap_or_default();
        let _ = writeln!(
            page,
            "<p class=\"{0}\"><strong>{0}</strong> {1}{about}<br><code>{2}:{3}:{4}</code>{hints}</p>",
            finding.severity,
            HtmlText(&shown(&finding.message, 500)),
            HtmlText(finding.file.as_str()),
            finding.position.line,
            finding.position.column
        );
    }
    if findings.len() > MOST_OPEN {
        page.push_str("</details>\n");
    }
}

/// What is told of each node, and of the nodes of flows within where these are drawn.
pub(super) fn told(page: &mut String, picture: &Picture<'_>, prefix: &str, path: &str) {
    let names = ids(picture.flow, prefix);
    let teller = Teller::of(picture, &names);
    for (place, (node, id)) in picture.flow.nodes.iter().zip(&names).enumerate() {
        teller.node(page, (place, node), id, path);
        if let Some(inner) = picture.within(place) {
            let inner = Picture { ran: picture.ran, ..inner };
            told(page, &inner, &format!("{id}__"), &format!("{path}{}/", node.id));
        }
    }
}

struct Teller<'a> {
    picture: &'a Picture<'a>,
    /// The nodes' ids in the picture.
    names: &'a [String],
    /// The steps that nodes are, by their numbers.
    step_of: HashMap<usize, usize>,
    /// What was found in each node, by its number; of several of one id in the first.
    findings: HashMap<usize, Vec<&'a Finding>>,
    /// The steps that read each step's output, and those that wait for it without reading it.
    reads: BTreeMap<usize, BTreeSet<usize>>,
    waits: BTreeMap<usize, BTreeSet<usize>>,
}

impl<'a> Teller<'a> {
    /// Everything is worked out once: a flow may have a thousand nodes, and a million placeholders.
    fn of(picture: &'a Picture<'a>, names: &'a [String]) -> Self {
        let mut teller = Self {
            picture,
            names,
            step_of: HashMap::new(),
            findings: HashMap::new(),
            reads: BTreeMap::new(),
            waits: BTreeMap::new(),
        };
        let numbers = numbers(picture.flow);
        for finding in picture.findings.iter().filter(|finding| finding.file == picture.flow.file) {
            if let Some(node) = finding.node.as_deref().and_then(|node| numbers.get(node).copied()) {
                teller.findings.entry(node).or_default().push(finding);
            }
        }
        for (number, step) in picture.plan.iter().flat_map(|plan| plan.steps()).enumerate() {
            teller.step_of.insert(step.node, number);
            let mut read = BTreeSet::new();
            for slot in step.work.slots() {
                match &slot.source {
                    Source::Step { step, .. } => read.extend([*step]),
                    Source::Open(open) => read.extend(open.places().filter_map(|open| open.auto)),
                    Source::Passed(_) => {}
                }
            }
            for parent in step.parents.iter().filter(|parent| !read.contains(parent)) {
                teller.waits.entry(*parent).or_default().insert(number);
            }
            for giver in read {
                teller.reads.entry(giver).or_default().insert(number);
            }
        }
        teller
    }
}

impl Teller<'_> {
    fn link(&self, node: usize, label: &str) -> String {
        self.link_as(node, &shown(label, LONGEST_LABEL))
    }

    fn step_link(&self, plan: &Plan, step: usize) -> Option<String> {
        plan.step(step).map(|step| self.link(step.node, &step.label))
    }

    fn node(&self, page: &mut String, (place, node): (usize, &Node), id: &str, path: &str) {
        let plan = self.picture.plan;
        let step = self.step_of.get(&place).and_then(|number| Some((*number, plan?.step(*number)?)));
        let number = step.map(|(number, _)| format!("{}. ", number + 1)).unwrap_or_default();
        let kind = NodeShape::of(node).look().called;
        let wave = step.map(|(_, step)| format!(" · wave {}", step.wave + 1)).unwrap_or_default();
        let _ = writeln!(
            page,
            "<article id=\"s-{id}\">\n<p class=\"back\"><a href=\"#overview\">← the flow</a></p>\n<h2>{number}{}</h2>\n<p \
             class=\"kind\">{kind} <code>{}</code>{wave}</p>",
            HtmlText(&shown(node.caption(), 200)),
            HtmlText(&shown(&node.id, LONGEST_LABEL))
        );
        if let Some(description) = &node.description {
            let _ = writeln!(page, "<p>{}</p>", HtmlText(description));
        }
        let ran =
            self.picture.ran.filter(|_| node.runnable()).and_then(|ran| ran.steps.get(&format!("{path}{}", node.id)));
        if let Some(ran) = ran {
            run(page, ran);
        }
        findings(page, self.findings.get(&place).map(Vec::as_slice).unwrap_or_default(), &|_| None);
        match (step, plan) {
            (Some((number, step)), Some(plan)) => self.step(page, (number, step), plan, ran.is_some()),
            (None, Some(plan)) => self.still(page, (place, node), plan),
            (_, None) => {}
        }
        if let Some(output) = ran.and_then(|ran| ran.output.as_deref()) {
            page.push_str("<h3>What it gave</h3>\n");
            long(page, "Output", output);
        }
        page.push_str("</article>\n");
    }

    /// A node where nothing runs.
    fn still(&self, page: &mut String, (place, node): (usize, &Node), plan: &Plan) {
        if let NodeKind::Input(declared) = &node.kind {
            let names: HashSet<&str> = declared.variables.iter().map(|variable| variable.name.as_str()).collect();
            inputs(page, plan, plan.inputs().iter().filter(|input| names.contains(input.name.as_str())));
            let mut readers: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
            for input in plan.inputs().iter().filter(|input| names.contains(input.name.as_str())) {
                for step in &input.used_by {
                    readers.entry(*step).or_default().push(&input.name);
                }
            }
            if !readers.is_empty() {
                page.push_str("<h3>Read by</h3>\n");
                let readers = readers.into_iter().map(|(step, names)| {
                    let link = self.step_link(plan, step).unwrap_or_default();
                    format!("{link}: {}", HtmlText(&shown(&few(names), 300)))
                });
                list(page, "ul", readers);
            }
        }
        if let Some(mark) = plan.results().iter().find(|mark| mark.node == place) {
            let from = mark.step.and_then(|step| self.step_link(plan, step)).unwrap_or_default();
            let _ = writeln!(page, "<p>The output of {from}.</p>");
            let described = self.picture.flow.outputs.iter().find(|(label, _)| *label == mark.label);
            if let Some((_, text)) = described {
                let _ = writeln!(page, "<p>{}</p>", HtmlText(text));
            }
        }
    }

    /// What a step does; once it `ran`, that tells what became of it.
    fn step(&self, page: &mut String, (number, step): (usize, &Step), plan: &Plan, ran: bool) {
        let mut facts: Vec<(&str, String)> = Vec::new();
        match &step.work {
            Work::Render(rendering) => facts.extend(of_text(rendering)),
            Work::Call(call) => facts.push(("tool", call.address.to_string())),
            Work::Flow(linked) => {
                let steps = counted(linked.of.plan.steps().len(), "step", "steps");
                facts.push(("flow", format!("{} ({steps})", linked.of.plan.name())));
            }
            Work::Gather(gather) => facts.push(("flow", gather.flow.clone())),
            Work::Faulty { code, message, meant, .. } => {
                match meant {
                    Intent::Call(call) => facts.push(("tool", call.clone())),
                    Intent::Flow(flow) => facts.push(("flow", flow.clone())),
                    Intent::Text => {}
                }
                if !ran {
                    let _ = writeln!(
                        page,
                        "<p class=\"error\">fails when reached: <code>{}</code> {}</p>",
                        code.word(),
                        HtmlText(&shown(message, 500))
                    );
                }
            }
        }
        if !facts.is_empty() {
            page.push_str("<dl>\n");
            for (name, value) in facts {
                let _ = writeln!(page, "<dt>{name}</dt><dd>{}</dd>", HtmlText(&shown(&value, 200)));
            }
            page.push_str("</dl>\n");
        }
        self.reads(page, step, plan);
        match &step.work {
            Work::Render(rendering) => text(page, rendering),
            Work::Call(call) => json(page, "Arguments", call.arguments.written()),
            Work::Flow(linked) => json(page, "What the flow is given", linked.values.written()),
            Work::Gather(_) | Work::Faulty { .. } => {}
        }
        self.gives(page, number, plan);
    }

    fn reads(&self, page: &mut String, step: &Step, plan: &Plan) {
        let read = wire::reads(&step.work);
        if read.is_empty() {
            return;
        }
        let origins = wire::Origins::of(plan);
        page.push_str("<h3>Reads</h3>\n<table>\n<tbody>\n");
        for (spelt, slot) in read {
            let words = shown(&origins.from(slot), 300);
            let giver = match &slot.source {
                Source::Step { step, .. } => plan.step(*step),
                Source::Open(_) | Source::Passed(_) => None,
            };
            let words = match giver {
                Some(giver) => self.link_as(giver.node, &words),
                None => HtmlText(&words).to_string(),
            };
            let _ = writeln!(page, "<tr><td><code>{}</code></td><td>{words}</td></tr>", HtmlText(&shown(&spelt, 200)));
        }
        page.push_str("</tbody>\n</table>\n");
    }

    fn link_as(&self, node: usize, words: &str) -> String {
        let id = self.names.get(node).map(String::as_str).unwrap_or_default();
        format!("<a href=\"#s-{id}\">{}</a>", HtmlText(words))
    }

    /// Who reads the step's output, who waits for it without reading it, and which results it is.
    fn gives(&self, page: &mut String, number: usize, plan: &Plan) {
        let readers = self.reads.get(&number).into_iter().flatten();
        let mut lines: Vec<String> =
            readers.filter_map(|reader| Some(format!("read by {}", self.step_link(plan, *reader)?))).collect();
        let waiting = self.waits.get(&number).into_iter().flatten();
        lines.extend(waiting.filter_map(|step| Some(format!("{} waits for it", self.step_link(plan, *step)?))));
        let marks = plan.results().iter().filter(|mark| mark.step == Some(number));
        lines.extend(marks.map(|mark| format!("result {}", self.link(mark.node, &mark.label))));
        if plan.last() == Some(number) {
            lines.push("the final result".to_owned());
        }
        if !lines.is_empty() {
            page.push_str("<h3>Gives</h3>\n");
            list(page, "ul", lines);
        }
    }
}

/// How a step went.
fn run(page: &mut String, ran: &StepRan) {
    let model = ran.model.as_deref().map(|model| format!(" by {}", HtmlText(&shown(model, 100)))).unwrap_or_default();
    let _ = writeln!(page, "<p>{}{model}</p>", badge(ran));
    if let Some(why) = &ran.why {
        let class = if ran.state.word() == "failed" { "error" } else { "info" };
        let _ = writeln!(page, "<p class=\"{class}\">{}</p>", HtmlText(&shown(why, 1_000)));
    }
}

/// Of a step with a text: where that stands, and who answers it in which shape.
fn of_text(rendering: &Rendering) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(file) = &rendering.template_file {
        facts.push(("template", format!("{} ({file})", rendering.template_name)));
    }
    facts.extend(rendering.persona.iter().map(|persona| ("persona", persona.clone())));
    match &rendering.asks.wish {
        Some(ModelWish::Model(model)) => facts.extend(model.name.iter().map(|name| ("model", name.clone()))),
        Some(ModelWish::Nobody) => facts.push(("model", "none".to_owned())),
        None => {}
    }
    if let Some(contract) = &rendering.contract {
        facts.push(("contract", contract.as_str().unwrap_or("of its own").to_owned()));
    }
    if rendering.optional {
        facts.push(("optional", "may be skipped in a guided execution".to_owned()));
    }
    facts
}

/// A step's text, its placeholders marked.
fn text(page: &mut String, rendering: &Rendering) {
    let mut marked = String::with_capacity(rendering.text.len());
    let mut done = 0;
    for group in &rendering.outline.placeholders {
        let piece = |from: usize, to: usize| rendering.text.get(from..to).unwrap_or_default();
        let _ = write!(
            marked,
            "{}<mark>{}</mark>",
            HtmlText(piece(done, group.range.start)),
            HtmlText(piece(group.range.start, group.range.end))
        );
        done = group.range.end;
    }
    let _ = write!(marked, "{}", HtmlText(rendering.text.get(done..).unwrap_or_default()));
    let length = rendering.text.chars().count();
    page.push_str("<h3>Text</h3>\n");
    let _ = if folded(&rendering.text) {
        writeln!(
            page,
            "<details open><summary>{length} characters</summary><div class=\"text\">{marked}</div></details>"
        )
    } else {
        writeln!(page, "<div class=\"text\">{marked}</div>")
    };
}

fn json(page: &mut String, what: &str, value: &Map<String, Value>) {
    if value.is_empty() {
        return;
    }
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let _ = writeln!(page, "<h3>{what}</h3>");
    long(page, "JSON", &text);
}
