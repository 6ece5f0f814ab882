//! What running a flow does to the world, judged by the external tools that it calls.
//!
//! A flow of templates changes nothing: it fills in texts. What calls tools does what they do, and
//! a tool that nobody knows may do anything.

use std::collections::{BTreeSet, HashSet};

use crate::discover::{Entry, Found, Packed};
use crate::model::{ToolAddress, ToolLookup, Toolbox};

/// How deep flows within flows are followed; an execution goes no deeper.
const DEEPEST: usize = 8;

/// What a client may take for granted of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "the protocol asks for these four")]
pub struct Hints {
    /// It changes nothing at all.
    pub read_only: bool,
    /// It may do something that can't be undone.
    pub destructive: bool,
    /// The same call again changes nothing more.
    pub idempotent: bool,
    /// It reaches outside this machine.
    pub open_world: bool,
}

/// What is known of a flow that calls these tools.
pub(super) fn annotations(calls: &[ToolAddress], toolbox: &Toolbox) -> Hints {
    let all = |fine: fn(bool, bool) -> bool| {
        calls.iter().all(|call| match toolbox.find(call) {
            ToolLookup::Found(tool) => fine(tool.read_only, tool.idempotent),
            _ => false,
        })
    };
    let read_only = all(|read_only, _| read_only);
    Hints {
        read_only,
        destructive: !read_only,
        idempotent: all(|read_only, idempotent| read_only || idempotent),
        open_world: !calls.is_empty(),
    }
}

/// The tools that a flow and the flows within it call, sorted, each once.
pub(super) fn calls_of(index: &Packed, entry: &Entry, row: usize) -> Vec<ToolAddress> {
    let mut calls: BTreeSet<ToolAddress> = BTreeSet::new();
    let mut seen = HashSet::from([row]);
    let mut layer = vec![entry.clone()];
    for _ in 0..=DEEPEST {
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
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::discover::Index;
    use crate::model::{Contract, KnownServer, KnownTool};

    fn toolbox(tools: &[(&str, bool, bool, bool)]) -> Toolbox {
        let known = |&(name, allowed, read_only, idempotent): &(&str, bool, bool, bool)| {
            let input = Contract::stored(None, json!({"type": "object"}));
            let description = None;
            let tool = KnownTool { name: name.to_owned(), description, input, allowed, read_only, idempotent };
            (name.to_owned(), Arc::new(tool))
        };
        let server = KnownServer { tools: Some(tools.iter().map(known).collect()), ..KnownServer::default() };
        Toolbox { servers: [("web".to_owned(), server)].into(), revision: 0 }
    }

    fn of(calls: &[&str]) -> Hints {
        let toolbox = toolbox(&[
            ("read", true, true, false),
            ("put", true, false, true),
            ("post", true, false, false),
            ("shut", false, true, true),
        ]);
        let calls: Vec<ToolAddress> = calls.iter().map(|call| ToolAddress::read(call).unwrap()).collect();
        annotations(&calls, &toolbox)
    }

    #[test]
    fn a_flow_is_as_harmless_as_the_least_harmless_tool_it_calls() {
        for (calls, read_only, idempotent, open_world) in [
            (&[][..], true, true, false),
            (&["web:read"], true, true, true),
            (&["web:read", "web:put"], false, true, true),
            (&["web:read", "web:put", "web:post"], false, false, true),
            (&["web:read", "web:unheard"], false, false, true),
            (&["other:read"], false, false, true),
            (&["web:shut"], false, false, true),
        ] {
            let hints = Hints { read_only, destructive: !read_only, idempotent, open_world };
            assert_eq!(of(calls), hints, "{calls:?}");
        }
    }

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
        let index = Packed::open(Arc::from(Index::new(flows, vec![], vec![], vec![]).pack())).unwrap();
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
