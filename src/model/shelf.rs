//! Finding the template, the persona, the contract and the other flow that a node names.
//!
//! A catalog's templates are known by listing ([`Listed`]); [`Directory`] says which of them a
//! `selectedTemplateId` means; the answers, read, come to the checker as a [`Shelf`].

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::code::Code;
use crate::document::Position;
use crate::model::{Contract, OutputShape, Persona, Refinement, Template};
use crate::names::{CatalogPath, Comparisons, Few, folded, nfc, shown, spaced};

/// What is known of one template file without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The file's path in the catalog.
    pub file: String,
    /// The file's name without `.json`.
    pub stem: String,
    /// Id and title of each template in it, in file order; empty when the file is broken.
    pub entries: Vec<(Option<String>, Option<String>)>,
}

/// What became of one look-up.
#[derive(Debug)]
pub enum Lookup<T = Template> {
    /// What was asked for.
    Found(Arc<T>),
    /// Nothing goes by that name; the nearest names there are.
    Missing {
        /// Names that are spelt alike.
        nearest: Vec<String>,
    },
    /// Several of them answer to that name.
    Ambiguous {
        /// Their files.
        files: Few,
    },
    /// The file can't be used.
    Broken(Unusable),
    /// There is no catalog to look in: a single file is being checked.
    NotChecked,
}

/// A file of a catalog that can't be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// The file, as a path of the catalog.
    pub file: String,
    /// The error's code, as callers see it.
    pub code: Code,
    /// The fact, in one sentence that does not name the file.
    pub message: String,
    /// Where in the file, where it could be read so far.
    pub at: Option<Position>,
    /// How to fix it.
    pub hints: Vec<String>,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", shown(&self.file, 200), self.message)?;
        match self.at {
            Some(at) => write!(f, " (line {}, column {})", at.line, at.column),
            None => Ok(()),
        }
    }
}

impl<T> Lookup<T> {
    /// That nothing goes by a name; these are the nearest.
    pub fn missing<'n>(nearest: impl IntoIterator<Item = &'n str>) -> Self {
        Self::Missing { nearest: nearest.into_iter().map(str::to_owned).collect() }
    }
}

// By hand, because what is found is shared and need not be `Clone` itself.
impl<T> Clone for Lookup<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Found(found) => Self::Found(found.clone()),
            Self::Missing { nearest } => Self::Missing { nearest: nearest.clone() },
            Self::Ambiguous { files } => Self::Ambiguous { files: files.clone() },
            Self::Broken(unusable) => Self::Broken(unusable.clone()),
            Self::NotChecked => Self::NotChecked,
        }
    }
}

/// How large a flow is when every flow within it is unfolded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnfoldedSize {
    /// Its steps.
    pub steps: usize,
    /// The names that it takes and that its steps read and set.
    pub names: usize,
    /// The placeholders of its texts.
    pub groups: usize,
    /// How much its labels, descriptions, contracts, choices and names take, in bytes; texts are shared.
    pub bytes: usize,
}

impl UnfoldedSize {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            steps: self.steps.saturating_add(other.steps),
            names: self.names.saturating_add(other.names),
            groups: self.groups.saturating_add(other.groups),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

/// Another flow of the catalog, as the step that uses it must know it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KnownFlow {
    /// Its name.
    pub name: String,
    /// What else it is asked for by.
    pub other_names: Vec<String>,
    /// What it takes, in NFC, and whether it can't do without.
    pub inputs: Vec<(String, bool)>,
    /// What it says of them in `inputs`.
    pub refinements: Vec<Refinement>,
    /// The variable sets it can be told to use, each with the needed inputs that it gives.
    pub sets: Vec<(String, Vec<String>)>,
    /// How many flows are one within the other, itself included.
    pub depth: usize,
    /// How large it is when every flow within it is unfolded.
    pub size: UnfoldedSize,
    /// What it gives.
    pub output: OutputShape,
}

/// The templates, personas, contracts and flows that one flow names, looked up.
#[derive(Debug, Clone, Default)]
pub struct Shelf {
    found: HashMap<String, Lookup>,
    personas: HashMap<String, Lookup<Persona>>,
    contracts: HashMap<String, Lookup<Contract>>,
    flows: HashMap<String, Lookup<KnownFlow>>,
    rings: HashMap<(usize, String), Vec<String>>,
    unchecked: bool,
}

impl Shelf {
    /// A shelf for a file that stands alone: nothing on it is missing, it is not checked.
    pub fn unchecked() -> Self {
        Self { unchecked: true, ..Self::default() }
    }

    /// Puts the answer for one `selectedTemplateId` on the shelf.
    pub fn put(&mut self, reference: &str, lookup: Lookup) {
        self.found.insert(reference.to_owned(), lookup);
    }

    /// Puts the answer for one `persona` on the shelf.
    pub fn put_persona(&mut self, name: &str, lookup: Lookup<Persona>) {
        self.personas.insert(name.to_owned(), lookup);
    }

    /// Puts the answer for one `contract` on the shelf.
    pub fn put_contract(&mut self, name: &str, lookup: Lookup<Contract>) {
        self.contracts.insert(name.to_owned(), lookup);
    }

    /// Puts the answer for one `flow` on the shelf.
    pub fn put_flow(&mut self, name: &str, lookup: Lookup<KnownFlow>) {
        self.flows.insert(name.to_owned(), lookup);
    }

    /// Says that a `flow` leads back to the flow that names it (by its place in the file), by way of
    /// these flows.
    pub fn put_ring(&mut self, place: usize, name: &str, ring: Vec<String>) {
        self.rings.insert((place, name.to_owned()), ring);
    }

    /// The answer for one `selectedTemplateId`.
    pub fn get(&self, reference: &str) -> Lookup {
        self.answer(self.found.get(reference))
    }

    /// The answer for one `persona`.
    pub fn persona(&self, name: &str) -> Lookup<Persona> {
        self.answer(self.personas.get(name))
    }

    /// The answer for one `contract` that is a name.
    pub fn contract(&self, name: &str) -> Lookup<Contract> {
        self.answer(self.contracts.get(name))
    }

    /// The answer for one `flow`.
    pub fn flow(&self, name: &str) -> Lookup<KnownFlow> {
        self.answer(self.flows.get(name))
    }

    /// The flows by way of which a `flow` leads back to the flow that names it, if it does.
    pub fn ring(&self, place: usize, name: &str) -> Option<&[String]> {
        self.rings.get(&(place, name.to_owned())).map(Vec::as_slice)
    }

    fn answer<T>(&self, found: Option<&Lookup<T>>) -> Lookup<T> {
        match found {
            Some(lookup) => lookup.clone(),
            None if self.unchecked => Lookup::NotChecked,
            None => Lookup::missing([]),
        }
    }
}

/// A file's path and, where it has one, its other name.
type NamedFile<'n> = (&'n CatalogPath, Option<&'n str>);

/// Which of these files goes by a name: `entries` gives each one's path and, where it has one, its
/// other name. File stems come first; spaces and underscores are equal. Where none goes by that name, the only
/// one that differs in case or normal form alone is meant.
///
/// # Errors
/// [`Lookup::Missing`] with the nearest names, or [`Lookup::Ambiguous`] with the files.
pub fn by_name<T>(name: &str, entries: &[NamedFile<'_>], comparisons: &Comparisons) -> Result<usize, Lookup<T>> {
    let wanted = spaced(name);
    let all = |fits: &dyn Fn(&NamedFile<'_>) -> bool| -> Vec<usize> {
        entries.iter().enumerate().filter(|(_, entry)| fits(entry)).map(|(place, _)| place).collect()
    };
    let exact = all(&|(path, _)| path.stem() == name);
    let alike = if exact.is_empty() { all(&|(path, _)| spaced(path.stem()) == wanted) } else { exact };
    let found = if alike.is_empty() { all(&|(_, other)| other.is_some_and(|o| spaced(o) == wanted)) } else { alike };
    match found.as_slice() {
        [one] => Ok(*one),
        [] => {
            let wanted = folded(name);
            let alike = all(&|(path, other)| {
                folded(path.stem()) == wanted || other.is_some_and(|other| folded(other) == wanted)
            });
            if let [one] = alike.as_slice() {
                return Ok(*one);
            }
            let names = entries.iter().flat_map(|(path, other)| names_of(path.stem(), other.iter().copied()));
            Err(Lookup::missing(comparisons.nearest(name, names, 3)))
        }
        several => Err(Lookup::Ambiguous {
            files: Few::of(several.iter().filter_map(|place| entries.get(*place)).map(|(path, _)| path.to_string())),
        }),
    }
}

/// The names to choose from for one file: its stem, and what else it goes by, unless that is the same name.
fn names_of<'n>(stem: &'n str, others: impl Iterator<Item = &'n str>) -> impl Iterator<Item = &'n str> {
    std::iter::once(stem).chain(others.filter(move |other| folded(other) != folded(stem)))
}

/// Every template of a catalog by the names it goes by.
#[derive(Debug, Clone, Default)]
pub struct Directory {
    listed: Vec<Listed>,
    /// The files in the order of their stems, by which nearly all references name them.
    stems: Vec<usize>,
    /// Made when a name is first looked up that is no stem.
    others: OnceLock<OtherNames>,
    /// By the form in which names are alike: made when it is first needed.
    folded: OnceLock<HashMap<String, Vec<(usize, usize)>>>,
}

/// What templates go by beside their files' stems: each by file and place in it.
#[derive(Debug, Clone, Default)]
struct OtherNames {
    spaced_stems: HashMap<String, Vec<(usize, usize)>>,
    ids: HashMap<String, Vec<(usize, usize)>>,
    titles: HashMap<String, Vec<(usize, usize)>>,
}

impl Directory {
    /// Reads the listing once, for any number of look-ups.
    pub fn new(listed: Vec<Listed>) -> Self {
        let mut stems: Vec<usize> = (0..listed.len()).collect();
        stems.sort_by_key(|file| listed.get(*file).map(|file| file.stem.as_str()));
        Self { listed, stems, others: OnceLock::new(), folded: OnceLock::new() }
    }

    /// The templates of the files that have this stem: of a file of several, all.
    fn of_stem(&self, stem: &str) -> impl Iterator<Item = (usize, usize)> {
        let stem_of = |file: &usize| self.listed.get(*file).map(|file| file.stem.as_str());
        let begin = self.stems.partition_point(|file| stem_of(file) < Some(stem));
        let files = self.stems.iter().skip(begin).copied().take_while(move |file| stem_of(file) == Some(stem));
        files.flat_map(|file| self.places(file))
    }

    /// The templates that have this name otherwise: as a stem with blanks, as an id, as a title.
    fn of_other(&self, name: &str) -> Option<&[(usize, usize)]> {
        let (others, wanted) = (self.others(), spaced(name));
        let of_id = || others.ids.get(&nfc(name));
        others.spaced_stems.get(&wanted).or_else(of_id).or_else(|| others.titles.get(&wanted)).map(Vec::as_slice)
    }

    /// Whether a name means the template at this place of the file of this number, and no other.
    pub fn leads_to(&self, name: &str, template: (usize, usize)) -> bool {
        let mut of_stem = self.of_stem(name);
        let only = match (of_stem.next(), of_stem.next(), self.of_other(name)) {
            (Some(only), None, _) | (None, _, Some(&[only])) => Some(only),
            (None, _, None) => self.alike(name),
            _ => None,
        };
        only == Some(template)
    }

    /// The places of a file's templates; one where it is broken, so that it is found.
    fn places(&self, file: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
        let count = self.listed.get(file).map_or(0, |listed| listed.entries.len());
        (0..count.max(1)).map(move |place| (file, place))
    }

    fn others(&self) -> &OtherNames {
        self.others.get_or_init(|| {
            let mut others = OtherNames::default();
            for (file, entry) in self.listed.iter().enumerate() {
                others.spaced_stems.entry(spaced(&entry.stem)).or_default().extend(self.places(file));
                for (place, (id, title)) in entry.entries.iter().enumerate() {
                    if let Some(id) = id {
                        others.ids.entry(nfc(id)).or_default().push((file, place));
                    }
                    if let Some(title) = title {
                        others.titles.entry(spaced(title)).or_default().push((file, place));
                    }
                }
            }
            others
        })
    }

    /// The listing this was made of.
    pub fn listed(&self) -> &[Listed] {
        &self.listed
    }

    /// Whether a template goes by this name as it is spelt.
    pub fn has(&self, name: &str) -> bool {
        let titled = |(file, place): &(usize, usize)| {
            let entry = self.listed.get(*file).and_then(|file| file.entries.get(*place));
            entry.is_some_and(|(_, title)| title.as_deref() == Some(name))
        };
        let others = || self.others();
        let of_that_title = || others().titles.get(&spaced(name)).is_some_and(|places| places.iter().any(titled));
        self.of_stem(name).next().is_some() || others().ids.contains_key(&nfc(name)) || of_that_title()
    }

    /// As [`Self::resolve_within`], without looking for the nearest names.
    ///
    /// # Errors
    /// The same.
    pub fn resolve(&self, reference: &str) -> Result<(&Listed, usize), Lookup> {
        self.resolve_within(reference, &Comparisons::none())
    }

    /// Which file and which template in it a reference means; `comparisons` is what may be compared for all the names
    /// of one flow.
    ///
    /// Looked up as file stem, then id, then title; spaces and underscores are equal. Where none goes by that
    /// name, the only one that differs in case or normal form alone is meant.
    ///
    /// # Errors
    /// [`Lookup::Missing`] with the nearest names, or [`Lookup::Ambiguous`] with the files.
    pub fn resolve_within(&self, reference: &str, comparisons: &Comparisons) -> Result<(&Listed, usize), Lookup> {
        let of_stem: Vec<_> = self.of_stem(reference).collect();
        let found = if of_stem.is_empty() { self.of_other(reference) } else { Some(&*of_stem) };
        match found {
            Some(&[(file, place)]) => match self.listed.get(file) {
                Some(listed) => Ok((listed, place)),
                None => Err(Lookup::missing([])),
            },
            Some(several) => {
                let files: BTreeSet<usize> = several.iter().map(|(file, _)| *file).collect();
                let files = files.into_iter().filter_map(|file| self.listed.get(file)).map(|listed| &listed.file);
                Err(Lookup::Ambiguous { files: Few::of(files) })
            }
            None => {
                if let Some((file, place)) = self.alike(reference) {
                    return self.listed.get(file).map(|file| (file, place)).ok_or_else(|| Lookup::missing([]));
                }
                let names = self.listed.iter().flat_map(|file| {
                    names_of(&file.stem, file.entries.iter().filter_map(|(_, title)| title.as_deref()))
                });
                Err(Lookup::missing(comparisons.nearest(reference, names, 3)))
            }
        }
    }

    /// The only template whose stem or title differs from a name in case, normal form, blanks and hyphens alone.
    fn alike(&self, name: &str) -> Option<(usize, usize)> {
        let names = self.folded.get_or_init(|| {
            let mut names: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
            for (number, file) in self.listed.iter().enumerate() {
                let stem = folded(&file.stem);
                for place in 0..file.entries.len().max(1) {
                    names.entry(stem.clone()).or_default().push((number, place));
                    let title = file.entries.get(place).and_then(|(_, title)| title.as_deref()).map(folded);
                    if let Some(title) = title.filter(|title| *title != stem) {
                        names.entry(title).or_default().push((number, place));
                    }
                }
            }
            names
        });
        match names.get(&folded(name)).map(Vec::as_slice) {
            Some(&[only]) => Some(only),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(stem: &str, entries: &[(&str, &str)]) -> Listed {
        Listed {
            file: format!("templates/{stem}.json"),
            stem: stem.to_owned(),
            entries: entries.iter().map(|(id, title)| (Some((*id).to_owned()), Some((*title).to_owned()))).collect(),
        }
    }

    #[test]
    fn a_stem_wins_over_an_id_and_an_id_over_a_title() {
        let all = [
            listed("A_Text", &[("1", "B")]),
            listed("B", &[("2", "A Text")]),
            listed("C", &[("3", "Deep"), ("4", "Sea")]),
        ];
        let directory = Directory::new(all.to_vec());
        let of = |reference: &str| directory.resolve(reference).map(|(file, place)| (file.stem.as_str(), place)).ok();
        assert_eq!(of("A_Text"), Some(("A_Text", 0)));
        assert_eq!(of("A Text"), Some(("A_Text", 0)));
        assert_eq!(of("B"), Some(("B", 0)));
        assert_eq!(of("2"), Some(("B", 0)));
        assert_eq!(of("Sea"), Some(("C", 1)));
        assert_eq!(of("gone"), None);
    }

    #[test]
    fn two_answers_are_ambiguous_and_none_names_the_nearest() {
        let all = [listed("One", &[("7", "Same")]), listed("Two", &[("7", "Same")])];
        let directory = Directory::new(all.to_vec());
        for reference in ["7", "Same"] {
            assert!(
                matches!(directory.resolve(reference), Err(Lookup::Ambiguous { files }) if files.named.len() == 2),
                "{reference}"
            );
        }
        let Err(Lookup::Missing { nearest }) = directory.resolve_within("Twoo", &Comparisons::default()) else {
            panic!("missing")
        };
        assert_eq!(nearest, ["Two"]);
    }
    #[test]
    fn the_only_one_that_differs_in_case_or_normal_form_is_meant_and_one_of_two_is_not() {
        let directory = Directory::new(vec![
            listed("Cold_Email", &[("1", "Cold e-mail")]),
            listed("Re\u{301}sume\u{301}", &[]),
            listed("Tea", &[]),
            listed("tea", &[]),
        ]);
        let of = |reference: &str| directory.resolve(reference).map(|(file, _)| file.stem.clone()).ok();
        assert_eq!(of("cold-email").as_deref(), Some("Cold_Email"));
        assert_eq!(of("COLD E MAIL").as_deref(), Some("Cold_Email"));
        assert_eq!(of("R\u{E9}sum\u{E9}").as_deref(), Some("Re\u{301}sume\u{301}"));
        assert_eq!((of("Tea").as_deref(), of("TEA")), (Some("Tea"), None));
        assert_eq!(of("cold_emial"), None);
        // A title that is the file's name in other letters is no second candidate.
        let directory = Directory::new(vec![listed("Cold_Email", &[("1", "Cold Email")])]);
        let Err(Lookup::Missing { nearest }) = directory.resolve_within("cold_emial", &Comparisons::default()) else {
            panic!("missing")
        };
        assert_eq!(nearest, ["Cold_Email"]);
    }
}
