//! Which external tools flows call, from the listing index alone: no file is read for it.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::Catalog;
use crate::app::Code;
use crate::discover::{Entry, FileProblem, Found, Packed};
use crate::model::ToolAddress;
use crate::names::quoted;
use crate::validate::{Finding, MAX_DEPTH};

impl Catalog {
    /// The flows that call tools, by themselves or by flows within them, each with those tools.
    fn callers(&self) -> impl Iterator<Item = (Entry, Vec<ToolAddress>)> {
        let index = self.index();
        let rows = (0..index.len()).filter_map(move |row| Some((row, index.entry(row)?)));
        let does = rows.filter(|(_, entry)| !entry.calls.is_empty() || !entry.uses.is_empty());
        let with_calls = does.map(move |(row, entry)| (calls_of(index, &entry, row), entry));
        with_calls.filter(|(calls, _)| !calls.is_empty()).map(|(calls, entry)| (entry, calls))
    }

    /// The flows that call tools of servers which can't be reached now, each with the reason. Nothing
    /// is looked through while every server answers.
    pub fn unavailable(&self) -> Vec<FileProblem> {
        let tools = self.tools();
        if !tools.servers.keys().any(|server| tools.trouble(server).is_some()) {
            return Vec::new();
        }
        let mut problems = Vec::new();
        for (entry, calls) in self.callers() {
            for call in calls {
                let Some(why) = tools.trouble(&call.server) else { continue };
                let message = format!("{} calls {call}, which is unavailable now: {why}", quoted(&entry.name));
                let code = Code::ToolUnavailable.word().to_owned();
                problems.push(FileProblem { file: entry.file.clone(), code, message, ..FileProblem::default() });
            }
        }
        problems
    }

    /// What the checker finds wrong with calls of tools. Only the files of flows that call any are
    /// read; one that can't be read is named by listings.
    pub async fn call_faults(&self) -> Vec<Finding> {
        let mut faults = Vec::new();
        let names: Vec<String> = self.callers().map(|(entry, _)| entry.name).collect();
        for name in names {
            let Ok(prepared) = self.prepare(&name).await else { continue };
            let prepared = Arc::clone(&prepared);
            faults.extend(prepared.findings.iter().filter(|finding| finding.concerns_servers()).cloned());
        }
        faults
    }
}

/// The tools that a flow and the flows within it call, sorted, each once; an execution goes no deeper.
pub(crate) fn calls_of(index: &Packed, entry: &Entry, row: usize) -> Vec<ToolAddress> {
    let mut calls: BTreeSet<ToolAddress> = BTreeSet::new();
    let mut seen = HashSet::from([row]);
    let mut layer = vec![entry.clone()];
    for _ in 0..=MAX_DEPTH {
        let mut below = Vec::new();
        for flow in &layer {
            calls.extend(flow.calls.iter().filter_map(|call| ToolAddress::read(call).ok()));
            for name in &flow.uses {
                // A name that means no flow, or several, runs nothing.
                let Found::One(row) = index.find(name) else { continue };
                if seen.insert(row) {
                    below.extend(index.entry(row));
                }
            }
        }
        layer = below;
    }
    calls.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::Index;

    #[test]
    fn what_flows_within_a_flow_call_counts_and_a_ring_ends() {
        let flow = |name: &str, calls: &[&str], uses: &[&str]| Entry {
            name: name.to_owned(),
            file: format!("flows/{name}.json"),
            calls: calls.iter().map(|call| (*call).to_owned()).collect(),
            uses: uses.iter().map(|name| (*name).to_owned()).collect(),
            ..Entry::default()
        };
        let mut flows = vec![
            flow("Top", &["a:one"], &["Mid", "Gone"]),
            flow("Mid", &[], &["Low"]),
            flow("Low", &["b:two"], &["Top"]),
        ];
        let deep = |depth: usize| format!("D{depth:02}");
        for depth in 0..12 {
            flows.push(flow(&deep(depth), &[&format!("deep:t{depth:02}")], &[&deep(depth + 1)]));
        }
        let index = Packed::open(Index::new(flows, vec![], vec![], vec![]).pack()).unwrap();
        let calls = |name: &str| -> Vec<String> {
            let Found::One(row) = index.find(name) else { panic!("{name}") };
            let calls = calls_of(&index, &index.entry(row).unwrap(), row);
            calls.iter().map(ToString::to_string).collect()
        };
        assert_eq!(calls("Top"), ["a:one", "b:two"]);
        assert_eq!(calls("Low"), ["a:one", "b:two"]);
        assert_eq!((calls(&deep(0)).len(), calls(&deep(0)).last().unwrap().as_str()), (9, "deep:t08"));
    }
}
