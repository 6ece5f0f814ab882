//! Whether the flows of a whole catalog are found by their own examples: ranked here, told by the checker.

use std::collections::BTreeMap;

use crate::catalog;
use crate::discover::rank;
use crate::plan::Plan;
use crate::validate::{FlowCheck, StrayExample};

/// The examples that don't find their flow, by file; `flows` are all that the catalog lists.
pub(super) fn stray_examples<'a>(
    flows: impl Iterator<Item = (&'a FlowCheck, Option<Plan>)>,
) -> BTreeMap<String, Vec<StrayExample>> {
    let entries: Vec<_> =
        flows.map(|(check, plan)| catalog::entry(&check.flow, plan.as_ref(), String::new())).collect();
    let mut by_file: BTreeMap<String, Vec<StrayExample>> = BTreeMap::new();
    for stray in rank::strays(&entries) {
        let Some(flow) = entries.get(stray.flow) else { continue };
        let finds = stray.finds.iter().filter_map(|place| entries.get(*place)).map(|flow| flow.name.clone()).collect();
        by_file.entry(flow.file.clone()).or_default().push(StrayExample {
            place_in_file: flow.place_in_file,
            example: stray.example,
            finds,
        });
    }
    by_file
}
