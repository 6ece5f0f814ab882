//! A flow or a template for people: what it needs, its steps in order, where values come from.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::execution::{asked, price};
use super::listing::plain;
use super::missing::command;
use super::table::Column;
use super::{
    BAD, DOUBTFUL, FAINT, HEADING, Look, NAME, count, facts, faint, hanging, prose, safe_block, table, table_of_many,
    whole, words, wrapped,
};
use crate::app::{Origin, Prepared, Priced, Shown, ShownTemplate, in_sets};
use crate::model::{ModelWish, Toolbox};
use crate::names::{few, shown as safe};
use crate::plan::{Input, Intent, Plan, Step, Work};
use crate::report::wire::{Origins, Unfolded, reads};
use crate::validate::{Finding, Severity};

/// A placeholder, an arrow, and where its value comes from.
const SLOTS: [Column; 3] = [whole(""), whole(""), prose("")];

/// A flow or a template. `full` adds the texts of the steps; `source` is what was given as the
/// catalog, for the command that executes the flow.
pub fn shown(shown: &Shown, full: bool, source: Option<&str>, look: Look) -> String {
    match shown {
        Shown::Flow { prepared, origin, tools, priced } => {
            let mut text = flow(prepared, origin, Beside { tools, priced, full, unfolded: &Unfolded::default() }, look);
            if let Some(price) = price(priced.values()) {
                text.push_str(&section("Models", look));
                text.push_str(&wrapped(&price, 2, look));
            }
            if let Some(plan) = prepared.plan.as_deref() {
                let command = to_run(plan, source);
                let _ = writeln!(text, "{}  {command}", section("Execute it", look));
            }
            text
        }
        Shown::Template { template, origin } => self::template(template, origin, look),
    }
}

/// The command that executes a flow, with what it needs still to be filled in.
pub(in crate::report) fn to_run(plan: &Plan, source: Option<&str>) -> String {
    let (set, needed) = to_give(plan);
    let given = set.map(|set| ("_variableSet".to_owned(), Value::from(set)));
    command("run", plan.name(), &needed, (&given.into_iter().collect(), source))
}

/// The variable set that gives most of what a flow needs, and the inputs that it leaves to the caller.
fn to_give(plan: &Plan) -> (Option<&str>, Vec<Input>) {
    let mut needed: Vec<Input> = plan.inputs().iter().filter(|input| input.required).cloned().collect();
    if plan.sets().is_empty() {
        return (None, needed);
    }
    let gives = plan.terms().given_by_sets(|_| false);
    // Of several that give as much, the first.
    let of = |set: &String| gives.get(set.as_str()).map_or(0, Vec::len);
    let best = plan.sets().iter().rev().max_by_key(|set| of(set)).filter(|set| of(set) > 0);
    if let Some(given) = best.and_then(|set| gives.get(set.as_str())) {
        needed.retain(|input| !given.contains(&input.name.as_str()));
    }
    (best.map(String::as_str), needed)
}

fn one(text: &str) -> String {
    safe(text, 500)
}

fn section(title: &str, look: Look) -> String {
    format!("\n{}\n", look.paint(HEADING, title))
}

fn from(origin: &Origin) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(origin.git_ref.as_deref().map(one));
    parts.extend(origin.commit.as_deref().map(|commit| format!("commit {}", safe(commit, 10))));
    parts.extend(origin.stale.as_ref().map(|_| "an older copy".to_owned()));
    parts.join(", ")
}

/// What is known beside a plan, and how much is shown.
#[derive(Clone, Copy)]
struct Beside<'a> {
    tools: &'a Toolbox,
    /// What models would take at most, by the ids of steps.
    priced: &'a BTreeMap<String, Priced>,
    full: bool,
    unfolded: &'a Unfolded,
}

fn flow(prepared: &Prepared, origin: &Origin, beside: Beside<'_>, look: Look) -> String {
    let flow = &prepared.flow;
    let mut text = format!(
        "{}  {}\n",
        look.paint(NAME, &one(flow.name.as_str())),
        look.paint(FAINT, &one(flow.version.as_deref().unwrap_or("1.0")))
    );
    if let Some(description) = &flow.description {
        text.push_str(&wrapped(description, 0, look));
    }
    text.push('\n');
    let tags: Vec<String> = flow.tags.iter().map(|tag| one(tag)).collect();
    let duration = flow.estimated_duration.as_deref().map(|time| format!("{} (the author's estimate)", one(time)));
    text.push_str(&facts(
        vec![
            ("file", one(flow.file.as_str())),
            ("from", from(origin)),
            ("author", flow.author.as_deref().map(one).unwrap_or_default()),
            ("category", flow.category.as_deref().map(one).unwrap_or_default()),
            ("tags", tags.join(", ")),
            ("complexity", flow.complexity.as_deref().map(one).unwrap_or_default()),
            ("duration", duration.unwrap_or_default()),
        ],
        0,
        look,
    ));
    match prepared.plan.as_deref() {
        Some(plan) => text.push_str(&planned(plan, &prepared.flow.outputs, beside, look)),
        None => {
            text.push_str(&section("Can't be executed", look));
            text.push_str("  Errors reach the whole flow, so there is no order to show.\n");
        }
    }
    if !prepared.findings.is_empty() {
        text.push_str(&section("Findings", look));
        let mut file = flow.file.as_str();
        for finding in &prepared.findings {
            if finding.file.as_str() != file {
                file = finding.file.as_str();
                let _ = writeln!(text, "  {}", one(file));
            }
            text.push_str(&self::finding(finding, look));
        }
        text.push_str(&faint(wrapped(where_shown(&prepared.findings), 2, look).trim_end(), look));
    }
    text
}

/// Which command shows findings at their place, and who can fix them.
fn where_shown(findings: &[Finding]) -> &'static str {
    let of_servers = findings.iter().filter(|finding| finding.concerns_servers()).count();
    if of_servers == 0 {
        "`flowy validate` shows them at their place."
    } else if of_servers == findings.len() {
        "`flowy validate --servers FILE` shows them at their place; the servers file may be what is to be changed."
    } else {
        "`flowy validate --servers FILE` shows them at their place; for those about tools the servers file may be what is \
         to be changed."
    }
}

fn planned(plan: &Plan, outputs: &[(String, String)], beside: Beside<'_>, look: Look) -> String {
    let mut text = section("Inputs", look);
    if plan.inputs().is_empty() {
        text.push_str("  none\n");
    } else {
        let columns = [whole("name"), whole("type"), words("needed"), prose("what for")];
        let in_sets = in_sets(plan);
        let rows = plan.inputs().iter().map(|input| Vec::from(self::input(input, in_sets.contains(&input.name))));
        text.push_str(&table_of_many(&columns, rows, 2, look));
    }
    if !plan.sets().is_empty() {
        let sets: Vec<String> = plan.sets().iter().map(|set| one(set)).collect();
        text.push_str(&wrapped(&format!("Sets of values to choose from with --set: {}", sets.join(", ")), 2, look));
    }
    text.push_str(&section("Order", look));
    text.push_str(&order(plan, look));
    text.push_str(&section("Steps", look));
    let origins = Origins::of(plan);
    for (number, step) in plan.steps().iter().enumerate() {
        text.push_str(&self::step((number, step, ""), &origins, beside, look));
    }
    if !plan.results().is_empty() {
        text.push_str(&section("Results", look));
        let rows = plan.results().iter().map(|mark| {
            let label = mark.step.and_then(|step| plan.step(step)).map_or_else(String::new, |step| one(&step.label));
            let described = outputs.iter().find(|(label, _)| *label == mark.label);
            vec![one(&mark.label), format!("from {label}"), described.map(|(_, text)| one(text)).unwrap_or_default()]
        });
        let rows: Vec<_> = rows.collect();
        text.push_str(&table(&[whole(""), words(""), prose("")], &rows, 2, look));
    }
    text
}

/// One input as a row: its name, its type, whether it is needed, what it is for.
pub(in crate::report) fn input(input: &Input, in_a_set: bool) -> [String; 4] {
    let needed = match (&input.default, input.required) {
        (Some(default), _) => format!("default {}", safe(&default.to_string(), 40)),
        (None, true) if in_a_set => "required, or from a set".to_owned(),
        (None, true) => "required".to_owned(),
        (None, false) => "optional".to_owned(),
    };
    let mut description = input.description.as_deref().map(one).unwrap_or_default();
    if !input.choices.is_empty() {
        let choices = input.choices.iter().map(|choice| safe(&plain(choice), 40));
        let choices = format!("one of {}", few(choices));
        description = if description.is_empty() { choices } else { format!("{description} ({choices})") };
    }
    [one(&input.name), input.kind.map_or("string", crate::model::ValueType::name).to_owned(), needed, description]
}

/// The steps in order, each with those it waits for and the results that it gives.
fn order(plan: &Plan, look: Look) -> String {
    let mut text = String::new();
    for (number, step) in plan.steps().iter().enumerate() {
        let _ = write!(text, "  [{} {}]", number + 1, safe(&step.label, 60));
        let after: Vec<String> = step.parents.iter().map(|parent| (parent + 1).to_string()).collect();
        if !after.is_empty() {
            text.push_str(&look.paint(FAINT, &format!(" ← {}", after.join(", "))));
        }
        for mark in plan.results().iter().filter(|mark| mark.step == Some(number)) {
            let _ = write!(text, " → ({})", safe(&mark.label, 60));
        }
        text.push('\n');
    }
    text
}

/// A step; `within`: the ids of the flow steps around it, each with a slash.
fn step((number, step, within): (usize, &Step, &str), origins: &Origins<'_>, beside: Beside<'_>, look: Look) -> String {
    let Beside { tools, priced, full, unfolded } = beside;
    let mut text = format!("  {}. {}", number + 1, look.paint(NAME, &one(&step.label)));
    if step.id != step.label {
        text.push_str(&look.paint(FAINT, &format!("  ({})", one(&step.id))));
    }
    let after: Vec<String> = step.parents.iter().map(|parent| (parent + 1).to_string()).collect();
    if !after.is_empty() {
        text.push_str(&look.paint(FAINT, &format!("  after {}", after.join(", "))));
    }
    text.push('\n');
    let read = || {
        let rows = reads(&step.work).into_iter();
        let rows = rows.map(|(spelt, slot)| vec![one(&spelt), "←".to_owned(), one(&origins.from(slot))]);
        table_of_many(&SLOTS, rows, 5, look)
    };
    if let Some(description) = &step.description {
        text.push_str(&wrapped(description, 5, look));
    }
    match &step.work {
        Work::Faulty { code, message, meant, .. } => {
            match meant {
                Intent::Call(call) => drop(writeln!(text, "     calls {}", one(call))),
                Intent::Flow(flow) => drop(writeln!(text, "     goes through flow {}", one(flow))),
                Intent::Text => {}
            }
            let head = format!("     {}", look.paint(BAD, "fails when reached:"));
            text.push_str(&hanging(&head, &format!(" {}: {}", code.word(), one(message)), 7, look));
        }
        Work::Call(call) => {
            let _ = writeln!(text, "     calls {}", one(&call.address.to_string()));
            if let Some(why) = tools.trouble(&call.address.server) {
                let head = format!("     {}", look.paint(DOUBTFUL, "unavailable now:"));
                text.push_str(&hanging(&head, &format!(" {}", one(why)), 7, look));
            }
            text.push_str(&read());
        }
        Work::Flow(linked) => {
            let inner = &linked.of.plan;
            let steps = inner.steps().len();
            let counted = count(steps, "step", "steps");
            let again = full && !unfolded.is_first(inner);
            let above = if again { ", shown above" } else { "" };
            let _ = writeln!(text, "     goes through flow {} ({counted}{above})", one(inner.name()));
            text.push_str(&read());
            if full && !again {
                // They stand further to the right.
                let narrow = Look { width: Some(look.columns().saturating_sub(5)), ..look };
                let look = if look.terminal { narrow } else { look };
                let origins = Origins::of(inner);
                let within = format!("{within}{}/", step.id);
                for (number, below) in inner.steps().iter().enumerate() {
                    for line in self::step((number, below, &within), &origins, beside, look).lines() {
                        let _ = writeln!(text, "{}", format!("     {line}").trim_end());
                    }
                }
            }
        }
        Work::Gather(gather) => {
            let _ = writeln!(text, "     takes over the result of flow {}", one(&gather.flow));
        }
        Work::Render(rendering) => {
            match rendering.template_file.as_deref() {
                Some(file) => {
                    let _ = writeln!(text, "     template {}, {}", one(&rendering.template_name), one(file));
                }
                None => text.push_str("     its own text\n"),
            }
            if let Some(persona) = &rendering.persona {
                let _ = writeln!(text, "     persona {}", one(persona));
            }
            if let Some(ModelWish::Model(model)) = &rendering.asks.wish
                && let Some(name) = &model.name
            {
                let _ = writeln!(text, "     model {}", one(name));
            }
            if let Some(priced) = priced.get(&format!("{within}{}", step.id)) {
                let _ = writeln!(text, "     {}", asked(priced));
            }
            if let Some(contract) = &rendering.contract {
                let _ =
                    writeln!(text, "     contract {}", contract.as_str().map_or_else(|| "of its own".to_owned(), one));
            }
            if rendering.optional {
                text.push_str("     optional: may be skipped in a guided execution\n");
            }
            text.push_str(&read());
            if full {
                text.push('\n');
                for line in safe_block(&rendering.text).lines() {
                    text.push_str(format!("     │ {line}").trim_end());
                    text.push('\n');
                }
                text.push('\n');
            }
        }
    }
    text
}

/// A finding behind its place in the file, which stands above all of them.
fn finding(finding: &Finding, look: Look) -> String {
    let style = match finding.severity {
        Severity::Error => BAD,
        Severity::Warning => DOUBTFUL,
        Severity::Info => FAINT,
    };
    let head = look.paint(style, &format!("{}[{}]", finding.severity, finding.rule));
    let place = format!("{}:{}", finding.position.line, finding.position.column);
    hanging(&format!("  {place}  {head}"), &format!("  {}", one(&finding.message)), 4, look)
}

fn template(shown: &ShownTemplate, origin: &Origin, look: Look) -> String {
    let template = &shown.template;
    let mut text = format!("{}  {}\n", look.paint(NAME, &one(&template.name)), look.paint(FAINT, "template"));
    if let Some(description) = &template.description {
        text.push_str(&wrapped(description, 0, look));
    }
    text.push('\n');
    let variables: Vec<String> = shown.variables.iter().map(|name| one(name)).collect();
    let sets: Vec<String> = template.sets.iter().map(|set| one(&set.name)).collect();
    let users: Vec<String> = shown.used_by.iter().map(|user| one(user)).collect();
    text.push_str(&facts(
        vec![
            ("title", template.title.as_deref().map(one).unwrap_or_default()),
            ("file", one(template.file.as_str())),
            ("from", from(origin)),
            ("variables", variables.join(", ")),
            ("sets", sets.join(", ")),
            ("used by", if users.is_empty() { "no flow".to_owned() } else { users.join(", ") }),
        ],
        0,
        look,
    ));
    text.push('\n');
    text.push_str(&safe_block(&template.text()));
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
