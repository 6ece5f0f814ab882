//! Whether the flows of a whole catalog are found by their own examples: ranked here, told by the checker.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::entry::entry;
use super::nested::FlowPlace;
use super::stock::JudgedFlow;
use crate::discover::rank;
use crate::validate::StrayExample;

/// The examples that don't find their flow, by flow; `files` are all that the catalog lists, by number.
pub(super) fn stray_examples(files: &[Vec<Arc<JudgedFlow>>]) -> BTreeMap<FlowPlace, Vec<StrayExample>> {
    let listed = files.iter().enumerate().flat_map(|(number, flows)| flows.iter().map(move |judged| (number, judged)));
    let (numbers, entries): (Vec<usize>, Vec<_>) =
        listed.map(|(number, judged)| (number, entry(&judged.flow, judged.plan.as_deref(), String::new()))).unzip();
    let mut strays: BTreeMap<FlowPlace, Vec<StrayExample>> = BTreeMap::new();
    for stray in rank::strays(&entries) {
        let (Some(number), Some(flow)) = (numbers.get(stray.flow), entries.get(stray.flow)) else { continue };
        let finds = stray.finds.iter().filter_map(|place| entries.get(*place)).map(|flow| flow.name.clone()).collect();
        strays.entry((*number, flow.place_in_file)).or_default().push(StrayExample {
            place_in_file: flow.place_in_file,
            example: stray.example,
            finds,
        });
    }
    strays
}
