//! The variable sets of a node or a template, with their values found by name.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::model::VariableSet;
use crate::names::nfc;

/// Variable sets in file order. Names of sets and of variables are compared in NFC.
#[derive(Clone, Default)]
pub struct Sets {
    list: Vec<VariableSet>,
    /// By set and variable: which set of the list, and which of its values. The first counts.
    places: HashMap<String, HashMap<String, (usize, usize)>>,
    /// The sets that give a variable, by its name.
    givers: HashMap<String, Vec<usize>>,
}

impl Sets {
    /// These sets; where they stand in their file is left out.
    pub fn of<'s>(sets: impl IntoIterator<Item = &'s VariableSet>) -> Self {
        let list: Vec<VariableSet> = sets.into_iter().map(VariableSet::without_place).collect();
        let mut places: HashMap<String, HashMap<String, (usize, usize)>> = HashMap::with_capacity(list.len());
        let mut givers: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, set) in list.iter().enumerate() {
            let of_set = places.entry(nfc(&set.name)).or_default();
            for (place, (name, _)) in set.values.iter().enumerate() {
                let name = nfc(name);
                givers.entry(name.clone()).or_default().push(number);
                of_set.entry(name).or_insert((number, place));
            }
        }
        Self { list, places, givers }
    }

    /// What a set gives for a name; both in NFC.
    pub fn value(&self, set: &str, name: &str) -> Option<&Value> {
        let (number, place) = self.places.get(set)?.get(name)?;
        self.list.get(*number)?.values.get(*place).map(|(_, value)| value)
    }

    /// The names of the sets that give a variable (in NFC), in file order.
    pub fn giving(&self, name: &str) -> impl Iterator<Item = &str> {
        let numbers = self.givers.get(name).into_iter().flatten();
        numbers.filter_map(|number| self.list.get(*number)).map(|set| set.name.as_str())
    }

    /// The sets, in file order.
    pub fn iter(&self) -> impl Iterator<Item = &VariableSet> {
        self.list.iter()
    }
}

// What is looked up follows from the list.
impl fmt::Debug for Sets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.list).finish()
    }
}

/// The variable sets of a step: the node's before the template's, which the steps of a template share.
#[derive(Debug, Clone, Default)]
pub struct StepSets(Vec<Arc<Sets>>);

impl StepSets {
    /// These, in this order.
    pub fn of(lists: impl IntoIterator<Item = Arc<Sets>>) -> Self {
        Self(lists.into_iter().collect())
    }

    /// The lists.
    pub fn lists(&self) -> &[Arc<Sets>] {
        &self.0
    }

    /// The sets.
    pub fn iter(&self) -> impl Iterator<Item = &VariableSet> {
        self.0.iter().flat_map(|sets| sets.iter())
    }
}

// Which of them are shared makes no difference.
impl PartialEq for StepSets {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}
