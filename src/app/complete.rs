//! What a half-typed value may become: names, tags, ids, and what a prompt's argument may hold.

use std::collections::BTreeSet;

use crate::app::{App, Error, ExecutionEntry, Finished, Outcome, StatusAnswer, StatusRequest};
use crate::discover::FlowKey;

/// How many executions are looked through for an id.
const EXECUTIONS: i64 = 100;

/// What is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completing {
    /// A flow's name.
    Flow,
    /// A template's name.
    Template,
    /// Tags, with commas between them: the last one is completed.
    Tags,
    /// An execution's id.
    Execution,
    /// A step of this execution.
    Step {
        /// The execution's id.
        execution: String,
    },
    /// An argument of a prompt.
    Argument {
        /// The prompt's slug or name.
        prompt: String,
        /// The argument.
        argument: String,
    },
}

/// What it may become.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    /// The values, those that begin like what was typed first.
    pub values: Vec<String>,
    /// How many there are in all.
    pub total: usize,
}

impl App {
    /// Completes what was typed with at most `most` values: those that begin with it, then those
    /// that hold it, upper and lower case alike.
    ///
    /// # Errors
    /// An unknown prompt or execution, or a catalog that can't be reached.
    pub async fn complete(&self, what: &Completing, typed: &str, most: usize) -> Result<Completion, Error> {
        let (before, typed) = match (what, typed.rsplit_once(',')) {
            (Completing::Tags, Some((before, last))) => (format!("{before},"), last),
            _ => (String::new(), typed),
        };
        let candidates = self.candidates(what).await?;
        let mut found = matching(&candidates, typed);
        let total = found.len();
        found.truncate(most);
        Ok(Completion { values: found.into_iter().map(|value| format!("{before}{value}")).collect(), total })
    }

    async fn candidates(&self, what: &Completing) -> Result<Vec<String>, Error> {
        Ok(match what {
            Completing::Flow => self.flow_names(Vec::new()).await?.names,
            Completing::Template => {
                let catalog = self.catalog(None, false).await?;
                catalog.template_names()?
            }
            Completing::Tags => {
                let catalog = self.catalog(None, false).await?;
                tags(catalog.index().keys()?)
            }
            Completing::Execution => {
                let id = |listed: &ExecutionEntry| match listed {
                    ExecutionEntry::Direct { outcome, .. } => outcome.id().to_owned(),
                    ExecutionEntry::Guided(summary) => summary.id.clone(),
                };
                self.newest(EXECUTIONS).await?.iter().map(id).collect()
            }
            Completing::Step { execution } => self.steps_of(execution).await?,
            Completing::Argument { prompt, argument } => {
                let entry = self.prompt_named(prompt).await?;
                let known = entry.arguments.iter().find(|known| known.name == *argument);
                match known {
                    Some(known) if !known.choices.is_empty() => known.choices.clone(),
                    // A flow about flows: its argument says so.
                    Some(_) if names_a_flow(argument) => self.flow_names(Vec::new()).await?.names,
                    _ => Vec::new(),
                }
            }
        })
    }

    async fn steps_of(&self, execution: &str) -> Result<Vec<String>, Error> {
        let request = StatusRequest { execution: Some(execution.to_owned()), ..StatusRequest::default() };
        let run = match self.status(&request).await? {
            StatusAnswer::One { outcome: Outcome::Finished { finished: Finished::Ran(recorded), .. }, .. } => {
                Some(recorded.executed.run.clone())
            }
            StatusAnswer::Guided { story, .. } => Some(story.guided.run().clone()),
            StatusAnswer::One { outcome: Outcome::Running(_) | Outcome::Finished { .. }, .. }
            | StatusAnswer::List { .. }
            | StatusAnswer::Text(_) => None,
        };
        let ids = run.iter().flat_map(|run| run.plan().steps()).map(|step| step.id.clone());
        Ok(ids.chain(run.is_some().then(|| "result".to_owned())).collect())
    }
}

/// Every tag there is, sorted.
fn tags(flows: &[FlowKey]) -> Vec<String> {
    let tags: BTreeSet<&String> = flows.iter().flat_map(|flow| &flow.tags).collect();
    tags.into_iter().cloned().collect()
}

fn names_a_flow(argument: &str) -> bool {
    let plain: String = argument.chars().filter(char::is_ascii_alphanumeric).collect();
    matches!(plain.to_ascii_lowercase().as_str(), "flow" | "flowname")
}

/// Those that begin with what was typed, then those that hold it; each once.
fn matching(candidates: &[String], typed: &str) -> Vec<String> {
    let typed = typed.to_lowercase();
    let (mut first, mut then) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    for candidate in candidates {
        let plain = candidate.to_lowercase();
        if plain.starts_with(&typed) && seen.insert(candidate) {
            first.push(candidate.clone());
        } else if plain.contains(&typed) && seen.insert(candidate) {
            then.push(candidate.clone());
        }
    }
    first.extend(then);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_so_comes_before_what_holds_it() {
        let candidates = ["Marketing", "Old_Market", "market", "Tea", "market"].map(str::to_owned);
        assert_eq!(matching(&candidates, "MARK"), ["Marketing", "market", "Old_Market"]);
        assert_eq!(matching(&candidates, "").len(), 4);
    }

    #[test]
    fn only_an_argument_that_says_flow_is_completed_with_flows() {
        assert!(names_a_flow("flowName") && names_a_flow("flow_name") && names_a_flow("flow"));
        assert!(!names_a_flow("workflow") && !names_a_flow("flowers"));
    }
}
