//! The rules, for people: all of them, or one with its examples.

use super::{Look, fitted, prose, table, whole};
use crate::app::{RULES, Rule};
use crate::report::rules::RulePage;

/// Every rule with its severity and what it looks for.
pub fn rules(look: Look) -> String {
    let columns = [whole("rule"), whole("severity"), prose("what should hold")];
    let mut rows: Vec<Vec<String>> =
        RULES.iter().map(|rule| vec![rule.id.to_owned(), severities(rule), rule.summary.to_owned()]).collect();
    rows.sort();
    table(&columns, &rows, 2, look) + "\n`flowy explain RULE` explains one, with a bad and a good example.\n"
}

/// How bad what a rule finds is: its usual severity, and the others that it may have.
fn severities(rule: &Rule) -> String {
    let mut all = vec![rule.severity.to_string()];
    for also in rule.also.iter().map(|also| also.severity.to_string()) {
        if !all.contains(&also) {
            all.push(also);
        }
    }
    all.join(" or ")
}

/// One rule's page. On a terminal its sentences keep to the width, examples stay as they are, and links between the
/// project's documents are their names: they lead nowhere from here.
pub fn rule(page: &RulePage, look: Look) -> String {
    if !look.terminal {
        return page.text.to_owned();
    }
    let (mut text, mut fence) = (String::new(), None);
    for line in page.text.lines() {
        let marks = line.get(..line.len() - line.trim_start_matches('`').len()).filter(|marks| marks.len() >= 3);
        match (fence, marks) {
            (None, Some(_)) => fence = marks,
            (Some(open), Some(marks)) if marks == open => fence = None,
            (Some(_), _) => {}
            (None, None) => {
                text.push_str(&fitted(&without_links(line), look));
                text.push('\n');
                continue;
            }
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// A line of Markdown in which a link is its words.
fn without_links(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once("](../") {
        let words = before.rfind('[').and_then(|at| Some((before.get(..at)?, before.get(at + 1..)?)));
        let (Some((head, words)), Some((_, left))) = (words, after.split_once(')')) else { break };
        out.push_str(head);
        out.push_str(words);
        rest = left;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_keeps_to_a_terminals_width_and_its_examples_as_they_are() {
        let look = Look { terminal: true, width: Some(80), ..Look::default() };
        for of in RULES {
            let page = RulePage::of(of.id).expect("a page");
            let told = rule(&page, look);
            assert!(!told.contains("](../"), "{told}");
            let prose = told.split("\n````").step_by(2);
            assert!(prose.flat_map(str::lines).all(|line| line.chars().count() <= 80), "{told}");
            assert_eq!(rule(&page, Look::default()), page.text);
        }
        assert_eq!(without_links("see [A.md](../A.md#b), and [B](../B.md)."), "see A.md, and B.");
    }
}
