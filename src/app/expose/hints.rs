//! What running a flow does to the world, judged by the external tools that it calls.
//!
//! A flow of templates changes nothing: it fills in texts. What calls tools does what they do, and
//! a tool that nobody knows may do anything.

use crate::model::{ToolAddress, ToolLookup, Toolbox};

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
        // Of a tool that isn't there nothing is promised.
        let found = |call| if let ToolLookup::Found(tool) = toolbox.find(call) { Some(tool) } else { None };
        calls.iter().all(|call| found(call).is_some_and(|tool| fine(tool.read_only, tool.idempotent)))
    };
    let read_only = all(|read_only, _| read_only);
    Hints {
        read_only,
        destructive: !read_only,
        idempotent: all(|read_only, idempotent| read_only || idempotent),
        open_world: !calls.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::model::{Contract, KnownServer, KnownTool};

    fn toolbox(tools: &[(&str, bool, bool, bool)]) -> Toolbox {
        let known = |&(name, allowed, read_only, idempotent): &(&str, bool, bool, bool)| {
            let input = Contract::stored(None, json!({"type": "object"}));
            let description = None;
            let tool = KnownTool { name: name.to_owned(), description, input, allowed, read_only, idempotent };
            (name.to_owned(), Arc::new(tool))
        };
        let server = KnownServer { tools: Some(tools.iter().map(known).collect()), ..KnownServer::default() };
        Toolbox { servers: [("web".to_owned(), server)].into(), ..Toolbox::default() }
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
}
