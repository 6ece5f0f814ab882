//! One flow made ready: its file and its templates read, checked and planned.

use std::sync::{Arc, PoisonError};

use super::build::{broken, guidance, in_folder};
use super::problems::code_of_finding;
use super::{Catalog, READY_FLOWS};
use crate::app::failure::code_of;
use crate::app::{Code, Error};
use crate::discover::Entry;
use crate::model::{Flow, Lookup, Shelf, Template};
use crate::names::CatalogPath;
use crate::plan::Plan;
use crate::validate::{self, Finding, Guidance, GuidanceReferences, Known, Options, Severity};

/// A flow with everything it needs.
#[derive(Debug)]
pub struct Prepared {
    /// Its listing entry.
    pub entry: Entry,
    /// The flow as read.
    pub flow: Arc<Flow>,
    /// What the checker found.
    pub findings: Vec<Finding>,
    /// The plan, where no finding reaches the flow.
    pub plan: Option<Arc<Plan>>,
}

impl Prepared {
    /// The plan, or why the flow can't be executed.
    ///
    /// # Errors
    /// `PARSE_ERROR`, `CIRCULAR_DEPENDENCY` or `VALIDATION_ERROR`, with every finding.
    pub fn plan(&self) -> Result<&Arc<Plan>, Error> {
        self.plan.as_ref().ok_or_else(|| refusal(&self.flow, &self.findings))
    }
}

fn refusal(flow: &Flow, findings: &[Finding]) -> Error {
    let errors: Vec<&Finding> = findings.iter().filter(|finding| finding.reach == validate::Reach::Flow).collect();
    let ring = errors.iter().find(|finding| finding.rule == "cycle");
    let worst = ring.or_else(|| errors.iter().find(|finding| finding.rule == "syntax")).or(errors.first());
    let code = worst.map_or(Code::ValidationError, |finding| match code_of_finding(finding) {
        code @ (Code::CircularDependency | Code::ParseError) => code,
        _ => Code::ValidationError,
    });
    let more = if errors.len() > 1 { format!(" (and {} more)", errors.len() - 1) } else { String::new() };
    let message = worst.map_or_else(
        || format!("flow {} can't be executed", crate::names::quoted(flow.name.as_str())),
        |finding| {
            format!(
                "flow {}: {} ({} line {}, column {}){more}",
                crate::names::quoted(flow.name.as_str()),
                finding.message,
                finding.file,
                finding.position.line,
                finding.position.column
            )
        },
    );
    let mut error =
        Error::new(code, message).next("mend the file; `flowy validate` shows every finding with its place");
    if let Some(ring) = ring {
        let closed =
            ring.ring.iter().chain(ring.ring.first()).map(|id| serde_json::Value::String(id.clone())).collect();
        error = error.detail("cycle", closed);
    }
    error.findings = findings.to_vec();
    error
}

impl Catalog {
    /// Makes a flow ready, from memory where it is.
    ///
    /// # Errors
    /// As [`Catalog::find`], or when the flow's file can't be read.
    pub async fn prepare(&self, name: &str) -> Result<Arc<Prepared>, Error> {
        let row = self.find(name)?;
        let entry = self
            .index()
            .entry(row)
            .ok_or_else(|| Error::new(Code::InternalError, "the listing index holds no such row"))?;
        let (file, place) = (entry.file.clone(), entry.place_in_file);
        {
            let ready = self.shared.ready.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, _, prepared)) = ready.iter().find(|(other, at, _)| *other == file && *at == place) {
                return Ok(prepared.clone());
            }
        }
        let (prepared, lasting) = self.read(entry).await?;
        let prepared = Arc::new(prepared);
        if lasting {
            let mut ready = self.shared.ready.lock().unwrap_or_else(PoisonError::into_inner);
            ready.push_back((file, place, prepared.clone()));
            while ready.len() > READY_FLOWS {
                ready.pop_front();
            }
        }
        Ok(prepared)
    }

    /// Reads and checks a flow. The second value says whether that will stay so: a template that
    /// could not be fetched may be there next time.
    async fn read(&self, entry: Entry) -> Result<(Prepared, bool), Error> {
        let path = CatalogPath::new(&entry.file).map_err(|error| Error::new(Code::InternalError, error.to_string()))?;
        let bytes = self.snapshot.read(&path).await?;
        let parsed = validate::parse(&path, &bytes);
        let (mut shelf, mut lasting) = self.shelf(&validate::template_references(&parsed)).await;
        let names = GuidanceReferences::of(&parsed);
        if !names.is_empty() {
            lasting &= self.put_guidance(&mut shelf, &names).await?;
        }
        let twins = [];
        let known = Known {
            shelf: &shelf,
            twins: &twins,
            strays: &[],
            options: Options { lenient: self.lenient, ..Options::default() },
        };
        let mut check = validate::flow_file(&path, &parsed, known);
        if entry.place_in_file >= check.flows.len() {
            let finding = check.findings.first();
            let message = finding
                .map_or_else(|| "the file no longer holds this flow".to_owned(), |finding| finding.message.clone());
            return Err(Error::about_file(Code::ParseError, format!("{}: {message}", entry.file)));
        }
        let flow = check.flows.swap_remove(entry.place_in_file);
        let plan = flow.checked.as_ref().map(|checked| Arc::new(Plan::of(checked)));
        Ok((Prepared { entry, flow: flow.flow, findings: flow.findings, plan }, lasting))
    }

    /// Looks up and reads the templates of these names.
    async fn shelf(&self, references: &[String]) -> (Shelf, bool) {
        let mut shelf = Shelf::default();
        let mut lasting = true;
        for reference in references {
            let lookup = match self.directory().resolve(reference) {
                Err(lookup) => lookup,
                Ok((listed, place)) => {
                    let (lookup, lasts) = self.template(&listed.file, place).await;
                    lasting &= lasts;
                    lookup
                }
            };
            shelf.put(reference, lookup);
        }
        (shelf, lasting)
    }

    /// Looks up and reads the personas and contracts of these names; whether that will stay so.
    async fn put_guidance(&self, shelf: &mut Shelf, names: &GuidanceReferences) -> Result<bool, Error> {
        let files = self.snapshot.files().await?;
        let mut texts = Vec::new();
        for (path, _) in files.iter().filter(|(path, _)| Guidance::is_guidance(path)) {
            texts.push((path.clone(), self.snapshot.read(path).await));
        }
        guidance(texts.iter().map(|(path, bytes)| (path, bytes))).put_on(shelf, names);
        Ok(texts.iter().all(|(_, bytes)| bytes.is_ok()))
    }

    /// Reads one template of a file.
    pub(in crate::app) async fn template(&self, file: &str, place: usize) -> (Lookup, bool) {
        let Ok(path) = CatalogPath::new(file) else { return (Lookup::Missing { nearest: Vec::new() }, true) };
        match self.snapshot.read(&path).await {
            Err(error) => (
                Lookup::Broken {
                    file: file.to_owned(),
                    code: code_of(&error).word().to_owned(),
                    message: error.to_string(),
                },
                false,
            ),
            Ok(bytes) => {
                let check = validate::template_file(&path, &validate::parse(&path, &bytes));
                let found: Option<Arc<Template>> = check.templates.get(place).cloned();
                let lookup = match (found, check.findings.iter().find(|finding| finding.severity == Severity::Error)) {
                    (Some(template), _) => Lookup::Found(template),
                    (None, Some(finding)) => {
                        let (code, message) = broken(finding);
                        Lookup::Broken { file: file.to_owned(), code, message }
                    }
                    (None, None) => Lookup::Missing { nearest: Vec::new() },
                };
                (lookup, true)
            }
        }
    }

    /// The flows that use a template file, by name; from the flows' files.
    pub(in crate::app) async fn users_of(&self, file: &str) -> Result<Vec<String>, Error> {
        let mut users = Vec::new();
        let directory = self.directory();
        self.snapshot
            .read_each(|path, bytes| {
                let Ok(bytes) = bytes else { return };
                if !in_folder(path, "flows") || path.stem() == "_category" {
                    return;
                }
                let Ok(document) = validate::parse(path, &bytes) else { return };
                for flow in crate::model::wire::read_flows(&document).flows {
                    let uses = flow.nodes.iter().any(|node| match &node.kind {
                        crate::model::NodeKind::Template(step) => step.selected.as_deref().is_some_and(|selected| {
                            directory.resolve(selected).is_ok_and(|(listed, _)| listed.file == file)
                        }),
                        _ => false,
                    });
                    if uses {
                        users.push(flow.name.to_string());
                    }
                }
            })
            .await?;
        users.sort_unstable();
        users.dedup();
        Ok(users)
    }
}
