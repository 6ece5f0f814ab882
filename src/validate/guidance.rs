//! Personas and contracts of a catalog, read for the flows that name them.

use std::sync::Arc;

use crate::code::Code;
use crate::model::{Contract, Lookup, NodeKind, Persona, Shelf, by_name, wire};
use crate::names::CatalogPath;
use crate::validate::Parsed;

/// The names by which a flow file's nodes ask for personas and contracts, each once, in file order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GuidanceReferences {
    /// What `persona` names.
    pub personas: Vec<String>,
    /// What `contract` names; inline schemas are not among them.
    pub contracts: Vec<String>,
}

impl GuidanceReferences {
    /// Reads them from a flow file.
    pub fn of(parsed: &Parsed) -> Self {
        let mut names = Self::default();
        let Ok(document) = parsed else { return names };
        let note = |list: &mut Vec<String>, name: &str| {
            if !list.iter().any(|other| other == name) {
                list.push(name.to_owned());
            }
        };
        for node in wire::read_flows(document).flows.iter().flat_map(|flow| &flow.nodes) {
            if let NodeKind::Template(step) = &node.kind {
                if let Some(persona) = &step.persona {
                    note(&mut names.personas, persona);
                }
                if let Some(contract) = step.contract.as_ref().and_then(serde_json::Value::as_str) {
                    note(&mut names.contracts, contract);
                }
            }
        }
        names
    }

    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.personas.is_empty() && self.contracts.is_empty()
    }
}

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

    /// Takes a file in, where it is a persona or a contract.
    pub fn read(&mut self, path: &CatalogPath, bytes: &[u8]) {
        let broken = |code: Code, message| (path.to_string(), code, message);
        if is_persona(path) {
            let lookup = match Persona::read(path.clone(), bytes) {
                Ok(persona) => Lookup::Found(Arc::new(persona)),
                Err(error) => lookup(broken(Code::ValidationError, error.to_string())),
            };
            self.personas.push((path.clone(), lookup));
        } else if is_contract(path) {
            let lookup = match super::parse(path, bytes) {
                Ok(document) => match Contract::compile(Some(path.stem().to_owned()), document.value.clone()) {
                    Ok(contract) => Lookup::Found(Arc::new(contract)),
                    Err(error) => lookup(broken(Code::ValidationError, error.to_string())),
                },
                Err(problem) => {
                    let at = format!("line {}, column {}", problem.position.line, problem.position.column);
                    lookup(broken(Code::ParseError, format!("{at}: {}", problem.message)))
                }
            };
            self.contracts.push((path.clone(), lookup));
        }
    }

    /// Takes note of a persona or a contract that could not be read.
    pub fn unreadable(&mut self, path: &CatalogPath, code: Code, message: &str) {
        if is_persona(path) {
            let lookup = lookup((path.to_string(), code, message.to_owned()));
            self.personas.push((path.clone(), lookup));
        } else if is_contract(path) {
            let lookup = lookup((path.to_string(), code, message.to_owned()));
            self.contracts.push((path.clone(), lookup));
        }
    }

    /// Puts what these names mean on the shelf.
    pub fn put_on(&self, shelf: &mut Shelf, names: &GuidanceReferences) {
        let personas: Vec<(&CatalogPath, Option<&str>)> = self
            .personas
            .iter()
            .map(|(path, lookup)| {
                let other = if let Lookup::Found(persona) = lookup { Some(persona.name.as_str()) } else { None };
                (path, other.filter(|name| *name != path.stem()))
            })
            .collect();
        for name in &names.personas {
            shelf.put_persona(name, found(by_name(name, &personas), &self.personas));
        }
        let contracts: Vec<(&CatalogPath, Option<&str>)> =
            self.contracts.iter().map(|(path, _)| (path, None)).collect();
        for name in &names.contracts {
            shelf.put_contract(name, found(by_name(name, &contracts), &self.contracts));
        }
    }
}

fn found<T>(place: Result<usize, Lookup<T>>, read: &[(CatalogPath, Lookup<T>)]) -> Lookup<T> {
    match place {
        Err(lookup) => lookup,
        Ok(place) => read.get(place).map_or(Lookup::Missing { nearest: Vec::new() }, |(_, lookup)| lookup.clone()),
    }
}

fn lookup<T>((file, code, message): (String, Code, String)) -> Lookup<T> {
    Lookup::Broken { file, code, message }
}

fn is_persona(path: &CatalogPath) -> bool {
    path.as_str().strip_prefix("personas/").is_some_and(|rest| is_of_kind(rest, "md"))
}

fn is_contract(path: &CatalogPath) -> bool {
    path.as_str().strip_prefix("contracts/").is_some_and(|rest| is_of_kind(rest, "json"))
}

/// Extensions are told apart by case, as everywhere in a catalog.
fn is_of_kind(name: &str, extension: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && end == extension)
}
