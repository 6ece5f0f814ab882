//! The templates, personas and contracts of a revision, as far as they were read: what a flow names is
//! looked up here, and the flow checked against it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::desk::FileText;
use super::in_folder;
use super::side_by_side::side_by_side;
use crate::model::{Directory, Flow, KnownFlow, Listed, Lookup, Shelf, Template, Toolbox, Unusable};
use crate::names::{CatalogPath, Comparisons, file_stem};
use crate::plan::{FlowPlan, Plan};
use crate::validate::{
    self, Finding, FlowChecker, Guidance, Known, Options, ParsedFlows, References, Scope, Severity, StrayExample, Twins,
};

/// How flows are checked.
#[derive(Clone, Copy, Default)]
pub(super) struct Manner<'a> {
    pub(super) lenient: bool,
    /// Whether calls of tools that nobody knows are found.
    pub(super) unchecked_calls: bool,
    pub(super) tools: Option<&'a Toolbox>,
    /// Names that several flows have, with their files.
    pub(super) twins: Option<&'a Twins>,
}

/// What is known of the flows that one flow goes through.
#[derive(Debug, Default)]
pub(super) struct Within {
    /// Their plans, by the names that nodes have for them.
    pub(super) plans: HashMap<String, FlowPlan>,
    pub(super) lookups: Vec<(String, Lookup<KnownFlow>)>,
    pub(super) rings: Vec<(String, Vec<String>)>,
}

impl Within {
    /// Puts the answers where the checker looks for those of the flow at this place of its file.
    pub(super) fn put_on(&self, shelf: &mut Shelf, place: usize) {
        for (name, lookup) in &self.lookups {
            shelf.put_flow(name, lookup.clone());
        }
        for (name, ring) in &self.rings {
            shelf.put_ring(place, name, ring.clone());
        }
    }
}

/// A flow that was checked and, where nothing reaches it, planned.
#[derive(Debug, Clone)]
pub(super) struct JudgedFlow {
    pub(super) flow: Arc<Flow>,
    pub(super) findings: Vec<Finding>,
    pub(super) plan: Option<Arc<Plan>>,
}

/// A template file that was read.
#[derive(Debug)]
pub(super) struct TemplatesOfFile {
    pub(super) templates: Result<Vec<Arc<Template>>, Unusable>,
    pub(super) findings: Vec<Finding>,
}

impl TemplatesOfFile {
    pub(super) fn read(path: &CatalogPath, bytes: Result<&[u8], Unusable>) -> Self {
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(unusable) => return Self { templates: Err(unusable), findings: Vec::new() },
        };
        let check = validate::template_file(path, &validate::parse(path, bytes));
        let error = check.findings.iter().find(|finding| finding.severity == Severity::Error);
        let templates = match error.filter(|_| check.templates.is_empty()) {
            Some(error) => Err(error.as_unusable()),
            None => Ok(check.templates),
        };
        Self { templates, findings: check.findings }
    }

    /// The templates in it; none where it can't be used.
    pub(super) fn all(&self) -> &[Arc<Template>] {
        self.templates.as_deref().unwrap_or_default()
    }

    /// One of them, by its place.
    pub(super) fn get(&self, place: usize) -> Lookup {
        match &self.templates {
            Err(unusable) => Lookup::Broken(unusable.clone()),
            Ok(templates) => templates
                .get(place)
                .map_or(Lookup::Missing { nearest: Vec::new() }, |template| Lookup::Found(template.clone())),
        }
    }

    /// What it goes by.
    fn listed(&self, file: &str) -> Listed {
        Listed {
            file: file.to_owned(),
            stem: file_stem(file).to_owned(),
            entries: self.all().iter().map(|template| (template.id.clone(), template.title.clone())).collect(),
        }
    }
}

/// What flows look up what they name in.
#[derive(Debug, Default)]
pub(super) struct Stock {
    pub(super) templates: BTreeMap<CatalogPath, TemplatesOfFile>,
    guidance: Guidance,
}

impl Stock {
    /// Takes a file in that is no flow: its bytes, or why they can't be had.
    pub(super) fn take(&mut self, path: &CatalogPath, bytes: Result<&[u8], Unusable>) {
        if in_folder(path.as_str(), "templates") {
            self.templates.insert(path.clone(), TemplatesOfFile::read(path, bytes));
        } else {
            self.take_guidance(path, bytes);
        }
    }

    /// Takes files in that are no flows, reading them side by side.
    pub(super) fn take_all(&mut self, files: &[FileText]) {
        let read = side_by_side(files, |(path, bytes)| {
            let bytes = bytes.as_deref().map_err(Clone::clone);
            in_folder(path.as_str(), "templates").then(|| TemplatesOfFile::read(path, bytes))
        });
        for ((path, bytes), templates) in files.iter().zip(read) {
            match templates {
                Some(templates) => drop(self.templates.insert(path.clone(), templates)),
                None => self.take_guidance(path, bytes.as_deref().map_err(Clone::clone)),
            }
        }
    }

    /// Takes a file in, where it is a persona or a contract.
    pub(super) fn take_guidance(&mut self, path: &CatalogPath, bytes: Result<&[u8], Unusable>) {
        self.guidance.take(path, bytes);
    }

    /// Takes a file out.
    pub(super) fn forget(&mut self, path: &CatalogPath) {
        self.templates.remove(path);
        self.guidance.forget(path);
    }

    /// The personas and contracts.
    pub(super) fn guidance(&self) -> &Guidance {
        &self.guidance
    }

    /// The templates by what they go by, where all of them were taken in.
    pub(super) fn directory(&self) -> Directory {
        Directory::new(self.templates.iter().map(|(file, templates)| templates.listed(file.as_str())).collect())
    }

    /// Everything that a flow names, other flows left out.
    fn shelf(&self, directory: &Directory, names: &References, comparisons: &Comparisons) -> Shelf {
        let mut shelf = Shelf::default();
        for name in &names.templates {
            let lookup = match directory.resolve_within(name, comparisons) {
                Err(lookup) => lookup,
                Ok((listed, place)) => match self.templates.get(listed.file.as_str()) {
                    Some(templates) => templates.get(place),
                    None => Lookup::Missing { nearest: Vec::new() },
                },
            };
            shelf.put(name, lookup);
        }
        self.guidance.put_on(&mut shelf, names, comparisons);
        shelf
    }
}

/// What flows are checked against, and how.
#[derive(Clone, Copy)]
pub(super) struct Judge<'a> {
    pub(super) directory: &'a Directory,
    pub(super) stock: &'a Stock,
    pub(super) manner: Manner<'a>,
}

impl<'a> Judge<'a> {
    /// What a flow's names mean, whatever is wrong with it; none where the file holds no such flow.
    pub(super) fn names(&self, file: &ParsedFlows, place: usize, within: &Within) -> Option<(Arc<Flow>, Scope)> {
        let shelf = self.shelf(file, place, within)?;
        file.names(place, self.known(&shelf, &[]))
    }

    fn shelf(&self, file: &ParsedFlows, place: usize, within: &Within) -> Option<Shelf> {
        let (_, names) = file.flows().get(place)?;
        let mut shelf = self.stock.shelf(self.directory, names, &Comparisons::default());
        within.put_on(&mut shelf, place);
        Some(shelf)
    }

    fn known<'k>(&self, shelf: &'k Shelf, strays: &'k [StrayExample]) -> Known<'k>
    where
        'a: 'k,
    {
        let Manner { lenient, unchecked_calls, tools, twins } = self.manner;
        let options = Options { lenient, unchecked_calls, ..Options::default() };
        Known { shelf, twins, strays, tools, options }
    }

    /// Checks and plans one flow of a file, told of the flows within it and of examples that stray; none
    /// where the file holds no such flow.
    pub(super) fn flow(
        &self,
        file: &ParsedFlows,
        checker: &FlowChecker<'_>,
        place: usize,
        within: &Within,
        strays: &[StrayExample],
    ) -> Option<JudgedFlow> {
        let shelf = self.shelf(file, place, within)?;
        let check = checker.check(place, self.known(&shelf, strays))?;
        let plan = check.checked.map(|checked| Arc::new(Plan::of(&checked, &within.plans)));
        Some(JudgedFlow { flow: check.flow, findings: check.findings, plan })
    }
}
