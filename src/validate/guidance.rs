//! Personas and contracts of a catalog, read for the flows that name them.

use std::sync::Arc;

use crate::code::Code;
use crate::document::{Locator, Place};
use crate::model::{Contract, Lookup, Persona, Shelf, Unusable, by_name};
use crate::names::{CatalogPath, Comparisons};
use crate::validate::References;

/// How to fix a persona.
pub(super) const PERSONA_HINT: &str = "fix the file: plain text in UTF-8, after a front matter that ends with ---";
/// How to fix a contract.
pub(super) const CONTRACT_HINT: &str = "fix the file: it holds one JSON Schema (2020-12) that stands alone";

/// The personas and contracts of a catalog: each file, and what became of reading it.
#[derive(Debug, Clone, Default)]
pub struct Guidance {
    personas: Vec<(CatalogPath, Lookup<Persona>)>,
    contracts: Vec<(CatalogPath, Lookup<Contract>)>,
}

impl Guidance {
    /// Whether a file of a catalog is a persona or a contract.
    pub fn is_guidance(path: &CatalogPath) -> bool {
        is_persona(path) || is_contract(path)
    }

    /// Takes a file in, where it is a persona or a contract: its bytes, or why they can't be had.
    pub fn take(&mut self, path: &CatalogPath, bytes: Result<&[u8], Unusable>) {
        if is_persona(path) {
            let read = bytes.and_then(|bytes| persona(path, bytes));
            self.personas.push((path.clone(), lookup(read)));
        } else if is_contract(path) {
            let read = bytes.and_then(|bytes| contract(path, bytes));
            self.contracts.push((path.clone(), lookup(read)));
        }
    }

    /// Takes a file out.
    pub fn forget(&mut self, path: &CatalogPath) {
        self.personas.retain(|(other, _)| other != path);
        self.contracts.retain(|(other, _)| other != path);
    }

    /// The files of personas.
    pub fn personas(&self) -> impl Iterator<Item = &CatalogPath> {
        self.personas.iter().map(|(path, _)| path)
    }

    /// The files of contracts.
    pub fn contracts(&self) -> impl Iterator<Item = &CatalogPath> {
        self.contracts.iter().map(|(path, _)| path)
    }

    /// The file of the persona that a name means.
    pub fn persona(&self, name: &str) -> Option<&CatalogPath> {
        let place = by_name::<Persona>(name, &self.named_personas(), &Comparisons::none()).ok()?;
        self.personas.get(place).map(|(path, _)| path)
    }

    /// The file of the contract that a name means.
    pub fn contract(&self, name: &str) -> Option<&CatalogPath> {
        let contracts: Vec<_> = self.contracts().map(|path| (path, None)).collect();
        let place = by_name::<Contract>(name, &contracts, &Comparisons::none()).ok()?;
        self.contracts.get(place).map(|(path, _)| path)
    }

    /// The personas by what they go by.
    fn named_personas(&self) -> Vec<(&CatalogPath, Option<&str>)> {
        let mut named = Vec::with_capacity(self.personas.len());
        for (path, lookup) in &self.personas {
            let other = if let Lookup::Found(persona) = lookup { Some(persona.name.as_str()) } else { None };
            named.push((path, other.filter(|name| *name != path.stem())));
        }
        named
    }

    /// Puts what these names mean on the shelf.
    pub fn put_on(&self, shelf: &mut Shelf, names: &References, comparisons: &Comparisons) {
        if !names.has_guidance() {
            return;
        }
        let personas = self.named_personas();
        for name in &names.personas {
            shelf.put_persona(name, found(by_name(name, &personas, comparisons), &self.personas));
        }
        let contracts: Vec<(&CatalogPath, Option<&str>)> =
            self.contracts.iter().map(|(path, _)| (path, None)).collect();
        for name in &names.contracts {
            shelf.put_contract(name, found(by_name(name, &contracts, comparisons), &self.contracts));
        }
    }
}

fn found<T>(place: Result<usize, Lookup<T>>, read: &[(CatalogPath, Lookup<T>)]) -> Lookup<T> {
    match place {
        Err(lookup) => lookup,
        Ok(place) => read.get(place).map_or(Lookup::Missing { nearest: Vec::new() }, |(_, lookup)| lookup.clone()),
    }
}

fn lookup<T>(read: Result<T, Unusable>) -> Lookup<T> {
    read.map_or_else(Lookup::Broken, |read| Lookup::Found(Arc::new(read)))
}

fn persona(path: &CatalogPath, bytes: &[u8]) -> Result<Persona, Unusable> {
    Persona::read(path.clone(), bytes).map_err(|error| Unusable {
        file: path.to_string(),
        code: Code::ValidationError,
        message: error.to_string(),
        at: None,
        hints: vec![error.hint().unwrap_or(PERSONA_HINT).to_owned()],
    })
}

fn contract(path: &CatalogPath, bytes: &[u8]) -> Result<Contract, Unusable> {
    let document = super::parse(path, bytes).map_err(|problem| super::finding::syntax(path, &problem).as_unusable())?;
    Contract::compile(Some(path.stem().to_owned()), document.value.clone()).map_err(|error| {
        let locator = Locator::new(&document.text);
        Unusable {
            file: path.to_string(),
            code: Code::ValidationError,
            message: error.to_string(),
            at: Some(locator.position(locator.span(&Place::value(error.at)).start)),
            hints: vec![CONTRACT_HINT.to_owned()],
        }
    })
}

fn is_persona(path: &CatalogPath) -> bool {
    path.as_str().strip_prefix("personas/").is_some_and(|rest| is_of_kind(rest, "md"))
}

pub(super) fn is_contract(path: &CatalogPath) -> bool {
    path.as_str().strip_prefix("contracts/").is_some_and(|rest| is_of_kind(rest, "json"))
}

/// Extensions are told apart by case, as everywhere in a catalog.
fn is_of_kind(name: &str, extension: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && end == extension)
}
