//! Whether flows are found by what their authors say they should be found by.

use super::{Document, Query, Ranking, SearchIndex};
use crate::discover::FlowRow;

/// Among how many hits a flow must be to count as found.
pub const FOUND_WITHIN: usize = 3;

/// An example that doesn't find its flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// The flow's place among the ones asked about.
    pub flow: usize,
    /// The example's place among the flow's, from 0.
    pub example: usize,
    /// What it finds first, best first, at most [`FOUND_WITHIN`]; empty where nothing fits.
    pub finds: Vec<usize>,
}

/// The examples of some flows that don't put their own flow among the first [`FOUND_WITHIN`] of all of them, in order.
///
/// Examples that are no query, because they are blank or far too long, are left out.
pub fn strays(flows: &[FlowRow]) -> Vec<Stray> {
    let mut strays = Vec::new();
    if flows.iter().all(|flow| flow.examples.is_empty()) {
        return strays;
    }
    let index = SearchIndex::build(flows.iter().map(Document::of_flow));
    for (flow, entry) in flows.iter().enumerate() {
        for (example, text) in entry.examples.iter().enumerate() {
            let Ok(query) = Query::new(&[text]) else { continue };
            let finds: Vec<usize> = match index.search(&query, FOUND_WITHIN, false, |_| true) {
                Ranking::Hits(hits) => hits.iter().map(|hit| hit.position).collect(),
                Ranking::Excluded { .. } | Ranking::NoMatch { .. } => Vec::new(),
            };
            if !finds.contains(&flow) {
                strays.push(Stray { flow, example, finds });
            }
        }
    }
    strays
}

#[cfg(test)]
mod tests {
    use super::{Stray, strays};
    use crate::discover::FlowRow;

    #[test]
    fn an_example_that_others_answer_better_is_a_stray() {
        let flow = |name: &str, description: &str, example: &str| FlowRow {
            name: name.to_owned(),
            description: description.to_owned(),
            examples: vec![example.to_owned(), " ".to_owned()],
            ..FlowRow::default()
        };
        let flows = [
            flow("Invoice_Check", "Checks an invoice against its order.", "check this invoice"),
            flow("Invoice_Check_Tax", "Checks the tax of an invoice.", "check the tax of this invoice"),
            flow("Invoice_Check_Payment", "Checks whether an invoice was paid.", "check if this invoice is paid"),
            flow("Poem", "Writes a poem about a harbour.", "check invoice"),
        ];
        let found = strays(&flows);
        assert_eq!(found, [Stray { flow: 3, example: 0, finds: vec![0, 1, 2] }]);
    }
}
