//! Whether the flows of a whole catalog are found by their own examples: ranked here, told by the checker.

use std::collections::BTreeMap;

use super::nested::FlowPlace;
use crate::discover::{FlowRow, rank};
use crate::validate::StrayExample;

/// The examples that don't find their flow, by flow; `rows` are all that the catalog lists, `numbers` the files
/// that they stand in.
pub(super) fn stray_examples(numbers: &[usize], rows: &[FlowRow]) -> BTreeMap<FlowPlace, Vec<StrayExample>> {
    let mut strays: BTreeMap<FlowPlace, Vec<StrayExample>> = BTreeMap::new();
    for stray in rank::strays(rows) {
        let (Some(number), Some(flow)) = (numbers.get(stray.flow), rows.get(stray.flow)) else { continue };
        let finds = stray.finds.iter().filter_map(|place| rows.get(*place)).map(|flow| flow.name.clone()).collect();
        strays.entry((*number, flow.place_in_file)).or_default().push(StrayExample {
            place_in_file: flow.place_in_file,
            example: stray.example,
            finds,
        });
    }
    strays
}
