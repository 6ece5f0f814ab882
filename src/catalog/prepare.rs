//! One flow made ready: its file and what it names are read, and it is checked and planned.

use std::collections::HashMap;
use std::sync::Arc;

use super::build::not_among;
use super::error::ItemKind;
use super::names::near_within;
use super::nested::{FlowPlace, Nesting};
use super::problems::{left_out, unreadable};
use super::stock::{Judge, Manner, Stock, TemplatesOfFile};
use super::{Catalog, CatalogError, READY_FLOWS, in_folder, is_category};
use crate::discover::FlowRow;
use crate::lock::lock;
use crate::model::{Flow, KnownFlow, Lookup, NodeKind, Unusable};
use crate::names::{CatalogPath, Comparisons, Few, did_you_mean, file_stem, quoted};
use crate::plan::Plan;
use crate::source::{Problem, ProblemKind, is_read};
use crate::validate::{Finding, Guidance, ParsedFlows, References};

/// A flow with everything it needs.
#[derive(Debug)]
pub struct Prepared {
    /// Its listing entry.
    pub entry: FlowRow,
    /// The flow as read.
    pub flow: Arc<Flow>,
    /// What the checker found.
    pub findings: Vec<Finding>,
    /// The plan, where no finding reaches the flow.
    pub plan: Option<Arc<Plan>>,
    /// The state of what is known of external tools that it was checked against; none where neither
    /// the flow nor one within it calls any.
    pub tools: Option<u64>,
}

impl Prepared {
    /// The plan, or why the flow can't be executed.
    ///
    /// # Errors
    /// [`CatalogError::Refused`], with every finding.
    pub fn plan(&self) -> Result<&Arc<Plan>, CatalogError> {
        let refused = || CatalogError::Refused { flow: self.flow.name.to_string(), findings: self.findings.clone() };
        self.plan.as_ref().ok_or_else(refused)
    }
}

/// A flow's file and everything that the flow leads to, read.
struct Gathered {
    files: Vec<Result<ParsedFlows, Unusable>>,
    numbers: HashMap<String, usize>,
    named: HashMap<String, Result<FlowPlace, Lookup<KnownFlow>>>,
    stock: Stock,
    has_guidance: bool,
    /// What may still be compared to find names that are spelt alike.
    comparisons: Comparisons,
    /// Whether all of it could be read: what could not be fetched may be there next time.
    lasting: bool,
}

impl Gathered {
    fn names(&self, (file, place): FlowPlace) -> Option<References> {
        let (_, names) = self.files.get(file)?.as_ref().ok()?.flows().get(place)?;
        Some(names.clone())
    }
}

impl<K: Send + Sync> Catalog<K> {
    /// A folder of flows of which it isn't known what it holds.
    async fn hiding(&self) -> Result<Option<Unusable>, CatalogError> {
        let is_folder = |problem: &&Problem| match problem.kind {
            ProblemKind::ListingCutOff | ProblemKind::TooDeep { .. } => true,
            ProblemKind::Unreadable { .. } => !is_read(&problem.path),
            _ => false,
        };
        let of_flows = |problem: &&Problem| problem.path == "flows" || in_folder(&problem.path, "flows");
        let problems = self.snapshot.problems().await?;
        Ok(problems.iter().filter(of_flows).find(is_folder).map(left_out))
    }

    /// Makes a flow ready, from memory where it is.
    ///
    /// # Errors
    /// As [`Catalog::find`], or when the flow's file can't be read.
    pub async fn prepare(&self, name: &str) -> Result<Arc<Prepared>, CatalogError> {
        let row = match self.find(name) {
            Err(CatalogError::NotFound { kind, name, nearest, .. }) => {
                if let Some(unread) = self.hiding().await? {
                    let message = format!("{}; {} may be in it", unread.message, quoted(&name));
                    let hints = unread.hints.into_iter().chain(did_you_mean(&nearest)).collect();
                    return Err(CatalogError::Unusable(Unusable { message, hints, ..unread }));
                }
                let mut overlooked = self.index().overlooked()?.into_iter();
                let misplaced = overlooked.find(|file| file_stem(&file.meant) == name);
                let misplaced = misplaced.map(|file| (file.path, file.meant));
                return Err(CatalogError::NotFound { kind, name, nearest, misplaced });
            }
            found => found?,
        };
        let entry = self.index().row(row)?;
        let (file, place) = (entry.file.clone(), entry.place_in_file);
        {
            let ready = lock(&self.shared.ready);
            // Where a tool is called, what is known of tools belongs to it.
            let stands = |prepared: &Prepared| prepared.tools.is_none_or(|revision| revision == self.tools.revision);
            let found = ready.iter().find(|(other, at, prepared)| *other == file && *at == place && stands(prepared));
            if let Some((_, _, prepared)) = found {
                return Ok(prepared.clone());
            }
        }
        let (prepared, lasting) = self.read(entry).await?;
        let prepared = Arc::new(prepared);
        if lasting {
            let mut ready = lock(&self.shared.ready);
            ready.retain(|(other, at, _)| *other != file || *at != place);
            ready.push_back((file, place, prepared.clone()));
            while ready.len() > READY_FLOWS {
                ready.pop_front();
            }
        }
        Ok(prepared)
    }

    /// Reads and checks a flow; the second value says whether that will stay so.
    async fn read(&self, entry: FlowRow) -> Result<(Prepared, bool), CatalogError> {
        let home = (0, entry.place_in_file);
        let gathered = self.gather(&entry.file, entry.place_in_file).await?;
        let files = |file: usize| gathered.files.get(file);
        let missing = || Lookup::Missing { nearest: Vec::new() };
        let find = |name: &str, _: &Comparisons| gathered.named.get(name).cloned().unwrap_or_else(|| Err(missing()));
        let manner = Manner { lenient: self.lenient, tools: Some(&self.tools), ..Manner::default() };
        let judge = Judge { directory: self.directory()?, stock: &gathered.stock, manner };
        let judged = Nesting::new(&files, &find, judge).flow(home);
        let gone = || CatalogError::Gone { kind: ItemKind::Flow, file: entry.file.clone() };
        let judged = Arc::unwrap_or_clone(judged.ok_or_else(gone)?);
        let calls = judged.flow.nodes.iter().any(|node| matches!(node.kind, NodeKind::Tool(_) | NodeKind::Flow(_)));
        let tools = calls.then_some(self.tools.revision);
        let prepared = Prepared { entry, flow: judged.flow, findings: judged.findings, plan: judged.plan, tools };
        Ok((prepared, gathered.lasting))
    }

    /// Reads a flow's file and everything that it and the flows that it goes through name.
    async fn gather(&self, file: &str, place: usize) -> Result<Gathered, CatalogError> {
        let mut gathered = Gathered {
            files: Vec::new(),
            numbers: HashMap::new(),
            named: HashMap::new(),
            stock: Stock::default(),
            has_guidance: false,
            comparisons: Comparisons::default(),
            lasting: true,
        };
        let home = self.take_flows(&mut gathered, file).await;
        if let Some(Err(unusable)) = gathered.files.get(home) {
            return Err(CatalogError::Unusable(unusable.clone()));
        }
        let mut next = vec![(home, place)];
        while let Some(at) = next.pop() {
            let Some(names) = gathered.names(at) else { continue };
            self.take_named(&mut gathered, &names).await?;
            for name in names.flows {
                if gathered.named.contains_key(&name) {
                    continue;
                }
                let found = match self.find_within(&name, &gathered.comparisons) {
                    Ok(row) => {
                        let entry = self.index().row(row)?;
                        Ok((self.take_flows(&mut gathered, &entry.file).await, entry.place_in_file))
                    }
                    Err(error) => Err(self.not_found(&name, error, &gathered.comparisons)?),
                };
                next.extend(found.as_ref().ok());
                gathered.named.insert(name, found);
            }
        }
        Ok(gathered)
    }

    /// Reads a file of flows, once; its number.
    async fn take_flows(&self, gathered: &mut Gathered, file: &str) -> usize {
        if let Some(number) = gathered.numbers.get(file) {
            return *number;
        }
        let number = gathered.files.len();
        gathered.numbers.insert(file.to_owned(), number);
        let bytes = self.bytes(file).await;
        gathered.lasting &= bytes.is_ok();
        let read = bytes.map(|(path, bytes)| ParsedFlows::read(&path, &bytes));
        gathered.files.push(read);
        number
    }

    /// Reads the templates, personas and contracts that a flow names, each once.
    async fn take_named(&self, gathered: &mut Gathered, names: &References) -> Result<(), CatalogError> {
        let directory = self.directory()?;
        let meant = names.templates.iter().filter_map(|name| directory.resolve(name).ok());
        for file in meant.map(|(listed, _)| listed.file.as_str()) {
            if !gathered.stock.templates.contains_key(file) {
                let (templates, lasts) = self.templates_of(file).await;
                gathered.lasting &= lasts;
                let Ok(path) = CatalogPath::new(file) else { continue };
                gathered.stock.templates.insert(path, templates);
            }
        }
        if names.has_guidance() && !gathered.has_guidance {
            gathered.has_guidance = true;
            let files = self.snapshot.files().await?;
            let problems = self.snapshot.problems().await?;
            for unusable in not_among(&files, &problems).map(left_out) {
                if let Ok(path) = CatalogPath::new(&unusable.file) {
                    gathered.stock.take_guidance(&path, Err(unusable));
                }
            }
            for (path, _) in files.iter().filter(|(path, _)| Guidance::is_guidance(path)) {
                let bytes = self.snapshot.read(path).await;
                gathered.lasting &= bytes.is_ok();
                let bytes = bytes.map_err(|error| unreadable(path.as_str(), &error));
                gathered.stock.take_guidance(path, bytes.as_deref().map_err(Clone::clone));
            }
        }
        Ok(())
    }

    async fn bytes(&self, file: &str) -> Result<(CatalogPath, Arc<[u8]>), Unusable> {
        let path = CatalogPath::new(file).map_err(|error| Unusable {
            file: file.to_owned(),
            code: crate::code::Code::InternalError,
            message: error.to_string(),
            at: None,
            hints: Vec::new(),
        })?;
        let bytes = self.snapshot.read(&path).await.map_err(|error| unreadable(file, &error))?;
        Ok((path, bytes))
    }

    /// Reads a template file; whether that will stay so.
    pub(super) async fn templates_of(&self, file: &str) -> (TemplatesOfFile, bool) {
        match self.bytes(file).await {
            Ok((path, bytes)) => (TemplatesOfFile::read(&path, Ok(&bytes)), true),
            Err(unusable) => (TemplatesOfFile { templates: Err(unusable), findings: Vec::new() }, false),
        }
    }

    /// The flows that use a template file, by name; from the flows' files.
    ///
    /// # Errors
    /// When the source does not answer.
    pub async fn users_of(&self, file: &str) -> Result<Vec<String>, CatalogError> {
        let mut users = Vec::new();
        let directory = self.directory()?;
        let means = |name: &String| directory.resolve(name).is_ok_and(|(listed, _)| listed.file == file);
        let of_flows = |path: &CatalogPath| in_folder(path.as_str(), "flows") && !is_category(path);
        let mut reading = self.snapshot.reading(of_flows).await?;
        while let Some(texts) = reading.next().await? {
            for (path, bytes) in texts.iter().filter(|(path, _)| of_flows(path)) {
                let Ok(bytes) = bytes else { continue };
                let file = ParsedFlows::read(path, bytes);
                let using = file.flows().iter().filter(|(_, names)| names.templates.iter().any(means));
                users.extend(using.map(|(flow, _)| flow.name.to_string()));
            }
        }
        users.sort_unstable();
        users.dedup();
        Ok(users)
    }

    /// Why there is no flow of a name, for the step that asks for it.
    fn not_found(
        &self,
        name: &str,
        error: CatalogError,
        comparisons: &Comparisons,
    ) -> Result<Lookup<KnownFlow>, CatalogError> {
        Ok(match error {
            CatalogError::NotFound { nearest, .. } => Lookup::Missing { nearest },
            CatalogError::IsTemplate { .. } | CatalogError::ForbiddenName { .. } => {
                Lookup::Missing { nearest: near_within(name, self.index().names()?, comparisons) }
            }
            CatalogError::AmbiguousFlow { candidates, more, .. } => {
                let named = candidates.into_iter().map(|candidate| candidate.file).collect();
                Lookup::Ambiguous { files: Few { named, more } }
            }
            CatalogError::Unusable(unusable) => Lookup::Broken(unusable),
            other => return Err(other),
        })
    }
}
