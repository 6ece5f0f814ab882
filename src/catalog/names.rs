//! What the flows of a catalog go by, while there is no index of them yet.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::OnceLock;

use super::nested::FlowPlace;
use crate::model::{KnownFlow, Lookup, Unusable};
use crate::names::{Comparisons, Few, file_stem, folded, nfc};
use crate::validate::Twins;

/// What flows go by: exact name, file stem, given name, id, in this order; behind these the stems of
/// files that hold no flow because they can't be used.
#[derive(Debug, Default)]
pub(super) struct FlowNames {
    levels: [BTreeMap<String, Vec<(FlowPlace, String)>>; 4],
    unusable: BTreeMap<String, Unusable>,
    /// The names as they are alike, made when one is first looked up so: with their level.
    folded: OnceLock<HashMap<String, Vec<(usize, String)>>>,
}

impl FlowNames {
    /// Notes name, stem, given name and id of one flow.
    pub(super) fn note(&mut self, at: FlowPlace, file: &str, names: [Option<&str>; 4]) {
        for (level, name) in self.levels.iter_mut().zip(names) {
            if let Some(name) = name {
                level.entry(name.to_owned()).or_insert_with(|| Vec::with_capacity(1)).push((at, file.to_owned()));
            }
        }
    }

    /// Notes a file of flows that can't be used; asked for by its stem it says why.
    pub(super) fn note_unusable(&mut self, unusable: &Unusable) {
        if unusable.file.starts_with("flows/") {
            self.unusable.entry(file_stem(&unusable.file).to_owned()).or_insert_with(|| unusable.clone());
        }
    }

    /// The flow that a name means: the first of what flows go by that anything answers to decides. Where
    /// none is spelt so, the only one that differs in case, blanks, `-` and `_` alone is meant.
    pub(super) fn find(&self, name: &str, comparisons: &Comparisons) -> Result<FlowPlace, Lookup<KnownFlow>> {
        let exact = self.levels.iter().find_map(|level| level.get(name));
        let found = match exact.or_else(|| self.composed(name)) {
            Some(found) => found.clone(),
            None => match self.unusable.get(name) {
                Some(unusable) => return Err(Lookup::Broken(unusable.clone())),
                None => self.alike(name),
            },
        };
        match found.as_slice() {
            [(at, _)] => Ok(*at),
            [] => Err(Lookup::missing(comparisons.nearest(name, self.own_names(), 3))),
            several => Err(Lookup::Ambiguous { files: Few::of(several.iter().map(|(_, file)| file)) }),
        }
    }

    /// The flows that answer to a name but for case, normal form, blanks, `-` and `_`, each once.
    fn alike(&self, name: &str) -> Vec<(FlowPlace, String)> {
        let names = self.folded.get_or_init(|| {
            let mut folded_names: HashMap<String, Vec<(usize, String)>> = HashMap::new();
            for (number, level) in self.levels.iter().enumerate() {
                for name in level.keys() {
                    folded_names.entry(folded(name)).or_default().push((number, name.clone()));
                }
            }
            folded_names
        });
        let names = names.get(&folded(name)).into_iter().flatten();
        let flows = names.filter_map(|(level, name)| self.levels.get(*level)?.get(name)).flatten();
        flows.cloned().collect::<BTreeMap<FlowPlace, String>>().into_iter().collect()
    }

    /// What a name means in another normal form of its letters.
    fn composed(&self, name: &str) -> Option<&Vec<(FlowPlace, String)>> {
        let wanted = (!name.is_ascii()).then(|| nfc(name))?;
        let mut names = self.levels.iter().flatten();
        names.find(|(name, _)| !name.is_ascii() && nfc(name) == wanted).map(|(_, flows)| flows)
    }

    fn own_names(&self) -> impl Iterator<Item = &str> {
        self.levels.iter().take(1).flat_map(|level| level.keys().map(String::as_str))
    }

    /// Names that several flows have, with the files of these.
    pub(super) fn twins(&self) -> Twins {
        let files = |flows: &[(FlowPlace, String)]| Few::of(flows.iter().map(|(_, file)| file));
        Twins {
            shared: self.shared().map(|(name, flows)| (name.clone(), files(flows))).collect(),
            taken: self.taken().map(|(name, _, owners)| (name.clone(), files(owners))).collect(),
        }
    }

    /// The files of such flows, by number.
    pub(super) fn files_of_twins(&self) -> impl Iterator<Item = usize> {
        let taken = self.taken().flat_map(|(_, flows, _)| flows);
        self.shared().flat_map(|(_, flows)| flows).chain(taken).map(|((file, _), _)| *file)
    }

    /// The names by which several flows are asked for: their own, and those that they give themselves where none of
    /// these is another flow's own.
    fn shared(&self) -> impl Iterator<Item = (&String, &Vec<(FlowPlace, String)>)> {
        let [own, stems, given, _] = &self.levels;
        let free = |(name, _): &(&String, &Vec<_>)| !own.contains_key(*name) && !stems.contains_key(*name);
        own.iter().chain(given.iter().filter(free)).filter(|(_, flows)| flows.len() > 1)
    }

    /// The names that flows give themselves though they are those of others: with the flows that give themselves one,
    /// and those that have it.
    fn taken(&self) -> impl Iterator<Item = (&String, Named<'_>, Named<'_>)> {
        let [own, _, given, _] = &self.levels;
        given.iter().filter_map(|(name, flows)| {
            let owners = own.get(name).filter(|owners| flows.iter().any(|flow| !owners.contains(flow)))?;
            Some((name, flows.as_slice(), owners.as_slice()))
        })
    }
}

/// What flows go by at one level: a name with the flows that have it.
type Named<'n> = &'n [(FlowPlace, String)];

/// The names that are spelt alike, each once.
pub fn near<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    near_within(name, names, &Comparisons::default())
}

/// The same, of what may be compared for several names.
pub(super) fn near_within<'n>(
    name: &str,
    names: impl Iterator<Item = &'n str>,
    comparisons: &Comparisons,
) -> Vec<String> {
    if comparisons.used_up() {
        return Vec::new();
    }
    let names: HashSet<&str> = names.collect();
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_unstable();
    comparisons.nearest(name, names, 3).into_iter().map(str::to_owned).collect()
}
