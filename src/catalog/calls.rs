//! Which external tools flows call, from the listing index alone: no file is read for it.

use std::collections::{BTreeSet, HashSet};

use super::{Catalog, CatalogError};
use crate::code::Code;
use crate::discover::{DamagedIndex, FileProblem, FlowIndex, FlowRow, NameMatch};
use crate::model::ToolAddress;
use crate::names::quoted;
use crate::validate::{Finding, MAX_DEPTH, UNAVAILABLE_TOOL};

impl<K: Send + Sync> Catalog<K> {
    /// The flows that call tools, by themselves or by flows within them, each with those tools.
    fn callers(&self) -> Result<Vec<(FlowRow, Vec<ToolAddress>)>, DamagedIndex> {
        let index = self.index();
        let mut callers = Vec::new();
        for row in 0..index.len() {
            let flow = index.row(row)?;
            if flow.calls.is_empty() && flow.uses.is_empty() {
                continue;
            }
            let calls = calls_of(index, &flow, row)?;
            if !calls.is_empty() {
                callers.push((flow, calls));
            }
        }
        Ok(callers)
    }

    /// The flows that call tools of servers which can't be reached now, each with the reason. Nothing
    /// is looked through while every server answers.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn unavailable(&self) -> Result<Vec<FileProblem>, DamagedIndex> {
        let tools = self.tools();
        if !tools.servers.keys().any(|server| tools.trouble(server).is_some()) {
            return Ok(Vec::new());
        }
        let mut problems = Vec::new();
        for (entry, calls) in self.callers()? {
            for call in calls {
                let Some(why) = tools.trouble(&call.server) else { continue };
                let message = format!("{} calls {call}, which is unavailable now: {why}", quoted(&entry.name));
                let problem = FileProblem::new(entry.file.clone(), Code::ToolUnavailable, message);
                let hint = "`flowy servers list` shows how the servers stand".to_owned();
                problems.push(FileProblem { rule: UNAVAILABLE_TOOL.to_owned(), hint, ..problem });
            }
        }
        Ok(problems)
    }

    /// What the checker finds wrong with calls of tools. Only the files of flows that call any are
    /// read; one that can't be read is named by listings.
    ///
    /// # Errors
    /// When the index is damaged.
    pub async fn call_faults(&self) -> Result<Vec<Finding>, CatalogError> {
        let mut faults = Vec::new();
        let names: Vec<String> = self.callers()?.into_iter().map(|(flow, _)| flow.name).collect();
        for name in names {
            let prepared = match self.prepare(&name).await {
                Ok(prepared) => prepared,
                Err(error) if error.is_internal() => return Err(error),
                Err(_) => continue,
            };
            faults.extend(prepared.findings.iter().filter(|finding| finding.concerns_servers()).cloned());
        }
        Ok(faults)
    }
}

/// The tools that a flow and the flows within it call, sorted, each once; an execution goes no deeper.
///
/// # Errors
/// When the index is damaged.
pub fn calls_of(index: &FlowIndex, flow: &FlowRow, row: usize) -> Result<Vec<ToolAddress>, DamagedIndex> {
    let mut calls: BTreeSet<ToolAddress> = BTreeSet::new();
    let mut seen = HashSet::from([row]);
    let mut layer = vec![flow.clone()];
    for _ in 0..=MAX_DEPTH {
        let mut below = Vec::new();
        for flow in &layer {
            calls.extend(flow.calls.iter().filter_map(|call| ToolAddress::read(call).ok()));
            for name in &flow.uses {
                // A name that means no flow, or several, runs nothing.
                let NameMatch::One(row) = index.find_alike(name)? else { continue };
                if seen.insert(row) {
                    below.push(index.row(row)?);
                }
            }
        }
        layer = below;
    }
    Ok(calls.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::IndexRows;

    #[test]
    fn what_flows_within_a_flow_call_counts_and_a_ring_ends() {
        let flow = |name: &str, calls: &[&str], uses: &[&str]| FlowRow {
            name: name.to_owned(),
            file: format!("flows/{name}.json"),
            calls: calls.iter().map(|call| (*call).to_owned()).collect(),
            uses: uses.iter().map(|name| (*name).to_owned()).collect(),
            ..FlowRow::default()
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
        let index = FlowIndex::in_memory(IndexRows::new(flows, vec![], vec![], vec![]).records()).unwrap();
        let calls = |name: &str| -> Vec<String> {
            let Ok(NameMatch::One(row)) = index.find(name) else { panic!("{name}") };
            let calls = calls_of(&index, &index.row(row).unwrap(), row).unwrap();
            calls.iter().map(ToString::to_string).collect()
        };
        assert_eq!(calls("Top"), ["a:one", "b:two"]);
        assert_eq!(calls("Low"), ["a:one", "b:two"]);
        assert_eq!((calls(&deep(0)).len(), calls(&deep(0)).last().unwrap().as_str()), (9, "deep:t08"));
    }
}
