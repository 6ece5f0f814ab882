//! Single faults in generated files: each is found by its rule, once, and at its place.

use std::collections::BTreeMap;
use std::ops::Range;

use flowy::internals::validate::{Finding, Options};
use serde_json::{Value, json};

use super::drafts::{Dice, Draft};
use crate::support::checking::{check_against, findings};

/// A file with one fault: its text, where the fault is, and the rule that is to find it.
struct Mutant {
    text: String,
    fault: Range<usize>,
    rule: &'static str,
}

fn place_of(text: &str, needle: &str) -> Range<usize> {
    let at = text.rfind(needle).unwrap_or_else(|| panic!("{needle} in {text}"));
    at..at + needle.len()
}

/// Every kind of fault.
const KINDS: [&str; 44] = [
    "trailing-comma",
    "missing-comma",
    "cut-off",
    "single-quotes",
    "comment",
    "foreign-word",
    "line-break",
    "curly-quote",
    "nan",
    "text-behind",
    "merge",
    "duplicate-key",
    "far-target",
    "near-source",
    "self-edge",
    "cycle",
    "duplicate-node",
    "duplicate-edge",
    "number-id",
    "missing-id",
    "missing-type",
    "unknown-kind",
    "empty-step",
    "missing-template",
    "near-placeholder",
    "unused",
    "unused-input",
    "bad-name",
    "bad-version",
    "backwards",
    "tags-text",
    "missing-name",
    "no-nodes",
    "hidden-tag",
    "missing-persona",
    "misfit-default",
    "useless-mapping",
    "unconnected",
    "bad-call",
    "unknown-set-key",
    "bad-complexity",
    "bad-contract",
    "path-into-text",
    "edges-object",
];

#[allow(clippy::too_many_lines, reason = "one line or two for each kind of fault")]
fn mutant(kind: &str, dice: &mut Dice) -> Mutant {
    let mut draft = Draft::new(dice);
    let (last, at) = (draft.last(), dice.below(draft.steps.len()));
    // Replaces one bit of the finished text.
    let cut = |draft: &Draft, from: &str, to: &str, fault: &str, rule| {
        let text = draft.text();
        let place = place_of(&text, from);
        let begin = place.start + to.find(fault).unwrap();
        let text = format!("{}{to}{}", &text[..place.start], &text[place.end..]);
        Mutant { text, fault: begin..begin + fault.len(), rule }
    };
    let told = |draft: &Draft, needle: &str, rule| {
        let text = draft.text();
        Mutant { fault: place_of(&text, needle), text, rule }
    };
    match kind {
        "trailing-comma" => {
            let text = draft.text();
            let end = text.rfind(']').unwrap();
            Mutant {
                text: format!("{},{}", text[..end].trim_end(), &text[end..]),
                fault: text[..end].trim_end().len()..text[..end].trim_end().len() + 1,
                rule: "syntax",
            }
        }
        "missing-comma" => {
            let text = draft.text();
            let key = place_of(&text, "\"target\"");
            let comma = text[..key.start].rfind(',').unwrap();
            let text = format!("{} {}", &text[..comma], &text[comma + 1..]);
            Mutant { fault: comma..key.start + 1, text, rule: "syntax" }
        }
        "cut-off" => {
            let text = draft.text();
            let end = text.trim_end().len() - 1;
            Mutant { text: text[..end].trim_end().to_owned(), fault: 0..1, rule: "syntax" }
        }
        "single-quotes" => cut(&draft, "\"out\"", "'out'", "'", "syntax"),
        "comment" => cut(&draft, "\"edges\"", "// lines\n\"edges\"", "// lines", "syntax"),
        "foreign-word" => cut(&draft, "\"out\"", "None", "None", "syntax"),
        "line-break" => cut(&draft, "Step 1: ", "Step 1:\n", "\n", "syntax"),
        "curly-quote" => cut(&draft, "\"edges\"", "\u{201C}edges\u{201D}", "\u{201C}", "syntax"),
        "nan" => cut(&draft, "1.5", "NaN", "NaN", "syntax"),
        "text-behind" => {
            let text = draft.text();
            Mutant { fault: text.len()..text.len() + 1, text: text + "{}", rule: "syntax" }
        }
        "merge" => {
            let text = draft.text();
            let place = place_of(&text, "\"edges\"");
            let marks = "\n<<<<<<< HEAD\n=======\n>>>>>>> main\n";
            let text = format!("{}{marks}{}", &text[..place.start], &text[place.start..]);
            Mutant { text, fault: place.start + 1..place.start + 8, rule: "syntax" }
        }
        "duplicate-key" => cut(&draft, "\"Out\"", "\"Out\", \"label\": \"Zwei\"", "\"label\"", "duplicate-key"),
        "far-target" => {
            draft.edges[0]["target"] = json!("zzz9999");
            // Without the edge the first step still has its inputs.
            draft.edges.push(json!({"id": "e-too", "source": "in", "target": draft.steps[0]}));
            told(&draft, "\"zzz9999\"", "dangling-edge")
        }
        "near-source" => {
            let wrong = format!("{}x", draft.steps[last]);
            let again = draft.edges[last + 1].clone();
            draft.edges[last + 1]["source"] = json!(wrong);
            draft.edges[last + 1]["id"] = json!("e-wrong");
            draft.edges.push(again);
            told(&draft, &format!("\"{wrong}\""), "dangling-edge")
        }
        "self-edge" => {
            let id = draft.steps[at].clone();
            draft.edges.push(json!({"id": "e-self", "source": id, "target": id}));
            told(&draft, &format!("\"{id}\""), "self-edge")
        }
        "cycle" => {
            draft.edges.push(json!({"id": "e-back", "source": draft.steps[last], "target": draft.steps[0]}));
            told(&draft, &format!("\"{}\"", draft.steps[0]), "cycle")
        }
        "duplicate-node" => {
            draft.nodes.push(json!({"id": "out", "type": "result", "data": {"label": "Twin"}}));
            told(&draft, "\"out\",", "duplicate-node")
        }
        "duplicate-edge" => {
            draft.edges.push(json!({"id": "e-in", "source": "in", "target": draft.steps[last]}));
            told(&draft, "\"e-in\"", "duplicate-edge")
        }
        "number-id" => {
            draft.nodes.push(json!({"id": 98765, "type": "note", "data": {}}));
            let mut found = told(&draft, "98765", "schema");
            found.rule = "schema";
            found
        }
        "missing-id" => {
            draft.nodes.push(json!({"type": "result", "data": {"label": "Zwilling"}}));
            told(&draft, "\"Zwilling\"", "schema")
        }
        "missing-type" => {
            draft.nodes.push(json!({"id": "zwilling", "data": {"label": "Zwilling"}}));
            told(&draft, "\"Zwilling\"", "schema")
        }
        "unknown-kind" => {
            draft.nodes.push(json!({"id": "n", "type": "zettel", "data": {}}));
            told(&draft, "\"zettel\"", "unknown-node-kind")
        }
        "empty-step" => {
            // The last step, which no other step reads.
            draft.data(last)["template"] = json!("");
            draft.data(last)["label"] = json!("Leer");
            told(&draft, "\"Leer\"", "empty-step")
        }
        "missing-template" => {
            draft.data(last).insert("selectedTemplateId".to_owned(), json!("Nirgends"));
            draft.data(last).shift_remove("template");
            told(&draft, "\"Nirgends\"", "missing-template")
        }
        "near-placeholder" => {
            let inputs = json!(draft.inputs);
            draft.data(0).insert("variables".to_owned(), inputs);
            let wrong = format!("{{{}x}}", draft.inputs[0]);
            draft.add_to_text(0, &wrong);
            told(&draft, &wrong, "unbound-placeholder")
        }
        "unused" => {
            draft.data(at).insert("variables".to_owned(), json!(["zzunused"]));
            told(&draft, "\"zzunused\"", "unused-variable")
        }
        "unused-input" => {
            draft.nodes[0]["data"]["variables"].as_array_mut().unwrap().push(json!("zzunused"));
            told(&draft, "\"zzunused\"", "unused-variable")
        }
        "bad-name" => {
            draft.data(at).insert("variables".to_owned(), json!(["zz unused!"]));
            told(&draft, "\"zz unused!\"", "invalid-variable-name")
        }
        "bad-version" => {
            draft.meta["version"] = json!("eins");
            told(&draft, "\"eins\"", "bad-version")
        }
        "backwards" => {
            let later = format!("{{{}_result}}", draft.steps[last].replace('-', ""));
            draft.add_to_text(0, &later);
            told(&draft, &later, "unreachable-reference")
        }
        "tags-text" => {
            draft.meta["tags"] = json!("zztags");
            told(&draft, "\"zztags\"", "schema")
        }
        "missing-name" if draft.exported => {
            // An exported flow that is alone in its file is named by the file.
            draft.meta["name"] = json!(7);
            draft.meta["name"] = json!("");
            draft.exported = false;
            told(
                &draft,
                "\"version\": \"1.0.0\"".replace(": ", if draft.pretty { ": " } else { ":" }).as_str(),
                "missing-name",
            )
        }
        "missing-name" => {
            draft.meta.shift_remove("name");
            told(&draft, "\"1.0.0\"", "missing-name")
        }
        "no-nodes" => {
            (draft.nodes, draft.edges) = (Vec::new(), Vec::new());
            told(&draft, "[]", "empty-flow").with_first("\"nodes\"")
        }
        "hidden-tag" => {
            draft.add_to_text(at, "\u{E0061}");
            told(&draft, "\u{E0061}", "hidden-text")
        }
        "missing-persona" => {
            draft.data(at).insert("persona".to_owned(), json!("zzniemand"));
            told(&draft, "\"zzniemand\"", "missing-persona")
        }
        "misfit-default" => {
            let name = draft.inputs[0].clone();
            draft.meta.insert("inputs".to_owned(), json!({name: {"type": "number", "default": "zzmany"}}));
            told(&draft, "\"zzmany\"", "misfit-default")
        }
        "useless-mapping" => {
            draft.edges[last]["data"] = json!({"mapping": {"zzname": "result"}});
            told(&draft, "\"zzname\"", "useless-mapping")
        }
        "unconnected" => {
            draft
                .nodes
                .push(json!({"id": "zzalone", "type": "template", "data": {"label": "Allein", "template": "Alone"}}));
            told(&draft, "\"zzalone\"", "unconnected-node")
        }
        "bad-call" => {
            let id = draft.steps[last].clone();
            draft.nodes[last + 1] =
                json!({"id": id, "type": "tool", "data": {"label": "Ruf", "call": "zznotool", "args": {}}});
            told(&draft, "\"zznotool\"", "bad-call")
        }
        "unknown-set-key" => {
            draft
                .data(at)
                .insert("variableValueSets".to_owned(), json!([{"id": "s", "name": "Eins", "values": {"zzkey": "1"}}]));
            told(&draft, "\"zzkey\"", "unknown-set-key")
        }
        "bad-complexity" => {
            draft.meta.insert("complexity".to_owned(), json!("zzhuge"));
            told(&draft, "\"zzhuge\"", "schema")
        }
        "bad-contract" => {
            draft.data(last).insert("contract".to_owned(), json!({"type": "zztext"}));
            told(&draft, "\"zztext\"", "bad-contract")
        }
        "path-into-text" => {
            let path = format!("{{{}_result.zztitle}}", draft.steps[0].replace('-', ""));
            draft.add_to_text(1, &path);
            told(&draft, &path, "path-into-text")
        }
        "edges-object" => {
            let text = draft.text();
            let edges = place_of(&text, "\"edges\"");
            let list = text[edges.end..].find('[').unwrap() + edges.end;
            let end = text.rfind(']').unwrap();
            let end = if draft.exported { text[..end].rfind(']').unwrap() } else { end };
            let text = format!("{}{{\"zz\": 1}}{}", &text[..list], &text[end + 1..]);
            Mutant { fault: place_of(&text, "{\"zz\": 1}"), text, rule: "schema" }
        }
        other => panic!("{other} is no kind"),
    }
}

impl Mutant {
    /// The fault is behind this key.
    fn with_first(mut self, key: &str) -> Self {
        let at = place_of(&self.text, key).end;
        let open = self.text[at..].find('[').unwrap() + at;
        self.fault = open..open + 2;
        self
    }

    fn found(&self) -> Vec<Finding> {
        let check =
            check_against(("flows/Hafen.json", self.text.as_bytes()), &[], &Value::Null, &[], Options::default());
        let mut found = findings(&check);
        found.dedup_by(|a, b| (a.rule, a.span, &a.message) == (b.rule, b.span, &b.message));
        found
    }
}

/// What came of some mutants of each kind.
#[derive(Default)]
struct Tally {
    all: usize,
    right: usize,
    placed: usize,
    single: usize,
    /// What went otherwise, with the first seed of each.
    misses: BTreeMap<String, u64>,
}

fn tally(seeds: Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        for kind in KINDS {
            let mutant = mutant(kind, &mut Dice::new(seed * 1_000 + tally.all as u64));
            let found = mutant.found();
            let own: Vec<&Finding> = found.iter().filter(|finding| finding.rule == mutant.rule).collect();
            let holds = |finding: &&&Finding| {
                finding.span.start <= mutant.fault.start && finding.span.end >= mutant.fault.end
                    // A part of what is wrong names it, too, and so does the place between two characters of it.
                    || finding.span.start >= mutant.fault.start && finding.span.end <= mutant.fault.end
            };
            let placed = own.iter().any(|finding| holds(&finding));
            tally.all += 1;
            tally.right += usize::from(!own.is_empty());
            tally.placed += usize::from(placed);
            tally.single += usize::from(found.len() == 1);
            for (fine, what) in [(!own.is_empty(), "rule"), (placed, "place"), (found.len() == 1, "single")] {
                if !fine {
                    let rules: Vec<String> = found.iter().map(|f| format!("{} {:?}", f.rule, f.span)).collect();
                    tally.misses.entry(format!("{what} {kind} {:?} {rules:?}", mutant.fault)).or_insert(seed);
                }
            }
        }
    }
    tally
}

#[track_caller]
fn holds(tally: &Tally) {
    let told = format!(
        "{} of {} by their rule, {} at their place, {} once: {:#?}",
        tally.right,
        tally.all,
        tally.placed,
        tally.single,
        tally.misses.iter().take(30).collect::<Vec<_>>()
    );
    assert!(tally.right * 100 >= tally.all * 99, "{told}");
    assert!(tally.placed * 100 >= tally.all * 99, "{told}");
    assert!(tally.single * 100 >= tally.all * 95, "{told}");
}

#[test]
fn a_single_fault_is_found_by_its_rule_once_and_at_its_place() {
    holds(&tally(0..5));
}

#[test]
#[ignore = "long: .ci/long runs it"]
fn thousands_of_single_faults_are_found_by_their_rules_once_and_at_their_places() {
    let tally = tally(100..200);
    println!(
        "{} faults of {} kinds: {} by their rule, {} at their place, {} once",
        tally.all,
        KINDS.len(),
        tally.right,
        tally.placed,
        tally.single
    );
    holds(&tally);
}

#[test]
fn generated_files_without_a_fault_have_no_finding() {
    for seed in 0..60 {
        let text = Draft::new(&mut Dice::new(seed)).text();
        let found = Mutant { text, fault: 0..0, rule: "" }.found();
        assert!(found.is_empty(), "{seed}: {:?}", found.iter().map(|f| (f.rule, &f.message)).collect::<Vec<_>>());
    }
}

#[test]
fn a_file_with_broken_syntax_still_gets_findings_for_what_can_be_read() {
    let mut draft = Draft::new(&mut Dice::new(3));
    draft.meta["version"] = json!("eins");
    let text = draft.text();
    let end = text.rfind(']').unwrap();
    let broken = format!("{},{}", text[..end].trim_end(), &text[end..]);
    let found = Mutant { text: broken, fault: 0..0, rule: "" }.found();
    let rules: Vec<&str> = found.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["bad-version", "syntax"], "{found:#?}");
}
