//! Names that are answered to without being listed: the contract's own, dotted forms, and
//! the JSON-RPC methods of the same names.

/// The JSON-RPC methods that are answered besides MCP's own, sorted.
pub(super) const METHODS: [&str; 2] = ["flows/execute", "flows/list"];
/// What the capability is called that announces them: an extension's key is a reversed domain.
pub(super) const EXTENSION: &str = "io.github.flowy-mcp/flows";

/// A tool's listed name, and whether it was called by the contract's own name.
pub(super) fn tool(called: &str) -> (String, bool) {
    let contract = METHODS.contains(&called);
    let name = match called.strip_prefix("flows") {
        Some(rest) => match rest.strip_prefix(['/', '.', ':', '-']) {
            Some(verb) => format!("flows_{verb}"),
            None => called.to_owned(),
        },
        None => called.to_owned(),
    };
    (name, contract)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_join_the_words_means_the_listed_name() {
        for (called, name, contract) in [
            ("flows_list", "flows_list", false),
            ("flows/list", "flows_list", true),
            ("flows.list", "flows_list", false),
            ("flows/execute", "flows_execute", true),
            ("flows.status", "flows_status", false),
            ("flows", "flows", false),
            ("other/list", "other/list", false),
        ] {
            assert_eq!(tool(called), (name.to_owned(), contract), "{called}");
        }
    }
}
