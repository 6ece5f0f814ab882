//! A flow that is nowhere yet, checked within the catalog that is served. Nothing is written.

use std::collections::HashMap;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::app::check::ROUNDS;
use crate::app::convert::{Contents, check_wanted};
use crate::app::{App, Catalog, Code, Error, Rehearsal};
use crate::generate::ModelChoice;
use crate::names::{CatalogPath, file_stem, grouped, quoted, same_file};
use crate::plan::Plan;
use crate::run::{Given, Limits, Run};
use crate::source::Problem;
use crate::validate::{Finding, ParsedFlows, Severity, mended};

/// What is to be checked.
#[derive(Debug, Clone, Default)]
pub struct DraftRequest {
    /// The text of a flow, or of a file of several.
    pub flow: String,
    /// Texts of templates, by the names of their files.
    pub templates: Vec<(String, String)>,
    /// Branch, tag or commit that everything else comes from.
    pub git_ref: Option<String>,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct CheckedDraft {
    /// The flows of the text.
    pub flows: Vec<DraftFlow>,
    /// What was found in the text and in no flow of it, and in the templates.
    pub findings: Vec<Finding>,
    /// The text with everything fixed that can be fixed without changing what it does; none where that is nothing.
    pub fixed: Option<String>,
    /// The file that the text belongs in.
    pub file: String,
}

/// One flow of the text.
#[derive(Debug, Clone)]
pub struct DraftFlow {
    /// Its name.
    pub name: String,
    /// What was found in it.
    pub findings: Vec<Finding>,
    /// The plan and every text as far as it can be filled; none where it can't be executed.
    pub planned: Option<(Arc<Plan>, Rehearsal)>,
}

impl CheckedDraft {
    /// Whether nothing has to be fixed.
    pub fn valid(&self) -> bool {
        let all = self.flows.iter().flat_map(|flow| &flow.findings).chain(&self.findings);
        !self.flows.is_empty() && all.clone().all(|finding| finding.severity != Severity::Error)
    }
}

impl App {
    /// Checks the text of a flow as if it stood in the catalog, in the place of the flow of its name.
    ///
    /// # Errors
    /// When a text is too large, a template's name can't be used, or the catalog can't be reached.
    pub async fn check_draft(&self, request: &DraftRequest) -> Result<CheckedDraft, Error> {
        let largest = self.settings.max_file_size;
        for (what, text) in
            request.templates.iter().map(|(name, text)| (name.as_str(), text)).chain([("flow", &request.flow)])
        {
            if u64::try_from(text.len()).unwrap_or(u64::MAX) > largest {
                let message = format!("{} has {} bytes, the limit is {}", quoted(what), text.len(), grouped(largest));
                return Err(
                    Error::new(Code::FileTooLarge, message).next("divide it: a flow may go through other flows")
                );
            }
        }
        let catalog = self.catalog(request.git_ref.as_deref(), false).await?;
        let file = file_for(&request.flow)?;
        let parsed = ParsedFlows::read(&file, request.flow.as_bytes());
        let (mut contents, mut problems) = around(&catalog, &parsed).await?;
        let mut wanted = vec![file.clone()];
        for (name, text) in &request.templates {
            let path = template_path(name, text)?;
            let place = |path: &str| same_file(&format!("templates/{}", file_stem(path)));
            let stays = |other: &str| !other.starts_with("templates/") || place(other) != place(path.as_str());
            contents.retain(|other, _| stays(other));
            problems.retain(|problem| stays(&problem.path));
            contents.insert(path.to_string(), text.clone().into_bytes());
            wanted.push(path);
        }
        contents.insert(file.to_string(), request.flow.clone().into_bytes());
        let toolbox = self.tools.toolbox();
        let tools = (!toolbox.servers.is_empty()).then_some(&toolbox);
        problems.retain(|problem| problem.path != file.as_str());
        let of_draft = |path: &CatalogPath| wanted.contains(path);
        let found = check_wanted((&contents, &problems), &of_draft, (self.settings.lenient, tools)).await?.files;
        let own = found.iter().find(|read| read.file == file.as_str());
        let mut flows = Vec::new();
        let alone = own.is_some_and(|own| own.flows.len() == 1);
        let mut of_flows: HashMap<&str, Vec<Finding>> = HashMap::new();
        for finding in own.iter().flat_map(|own| &own.findings) {
            let of =
                finding.flow.as_deref().or_else(|| own?.flows.first().filter(|_| alone).map(|flow| flow.name.as_str()));
            if let Some(of) = of {
                of_flows.entry(of).or_default().push(finding.clone());
            }
        }
        for (flow, plan) in own.iter().flat_map(|own| own.flows.iter().zip(&own.plans)) {
            let name = flow.name.to_string();
            // Of several flows of one name, the first is told what is wrong with that name.
            let findings = of_flows.remove(name.as_str()).unwrap_or_default();
            let planned = match plan {
                Some(plan) => Some((plan.clone(), self.rehearse_draft(&name, plan, &findings, &catalog).await?)),
                None => None,
            };
            flows.push(DraftFlow { name, findings, planned });
        }
        let mut findings: Vec<Finding> =
            found.iter().filter(|read| read.file != file.as_str()).flat_map(|read| read.findings.clone()).collect();
        if flows.len() != 1 {
            let of_file = |finding: &&Finding| finding.flow.is_none() || flows.is_empty();
            findings.extend(own.iter().flat_map(|own| &own.findings).filter(of_file).cloned());
        }
        let fixed = fixed(&file, &request.flow, (&mut contents, &problems), self.settings.lenient).await?;
        Ok(CheckedDraft { flows, findings, fixed, file: file.to_string() })
    }

    async fn rehearse_draft(
        &self,
        name: &str,
        plan: &Arc<Plan>,
        findings: &[Finding],
        catalog: &Catalog,
    ) -> Result<Rehearsal, Error> {
        let given = Given::default();
        let missing = given.missing(plan);
        let run = Run::rehearse(plan.clone(), given, Limits::default())
            .map_err(|refusal| crate::app::execute::refused(name, &refusal))?;
        let executed = self.rehearsed(run, &ModelChoice::of_nobody(), &CancellationToken::new()).await;
        let (flow, origin, findings) = (name.to_owned(), catalog.origin().clone(), findings.to_vec());
        Ok(Rehearsal { flow, executed, missing, origin, findings, priced: std::collections::BTreeMap::new() })
    }
}

/// The file that a text belongs in: JSON begins with a brace, everything else is Markdown.
fn file_for(text: &str) -> Result<CatalogPath, Error> {
    let begun = text.trim_start_matches('\u{FEFF}').trim_start();
    // Models fence what they write: what is fenced says what it is.
    let fenced =
        begun.strip_prefix("```").and_then(|rest| rest.split_once('\n')).map(|(_, inside)| inside.trim_start());
    let json = fenced.unwrap_or(begun).starts_with('{');
    let ending = if json { "json" } else { "flow.md" };
    let path = |stem: &str| CatalogPath::new(&format!("flows/{stem}.{ending}"));
    let unnamed = path("Draft").map_err(|error| Error::new(Code::InternalError, error.to_string()))?;
    let parsed = ParsedFlows::read(&unnamed, text.as_bytes());
    let named = match parsed.flows() {
        [(flow, _)] => flow.given_name.clone(),
        _ => None,
    };
    let named = named.filter(|name| !name.contains(['/', '\\'])).and_then(|name| path(&name).ok());
    Ok(named.unwrap_or(unnamed))
}

fn template_path(name: &str, text: &str) -> Result<CatalogPath, Error> {
    let name = name.trim().trim_start_matches("templates/");
    let ending = if name.contains('.') {
        ""
    } else if text.trim_start().starts_with('{') && serde_json::from_str::<serde_json::Value>(text).is_ok() {
        ".json"
    } else {
        ".md"
    };
    CatalogPath::new(&format!("templates/{name}{ending}")).map_err(|error| {
        Error::invalid(format!("`templates`: {error}")).next("name files, as in {\"Facts.md\": \"…\"}")
    })
}

/// The files of the catalog without its flows, and with those that the text's flows go through; and what of the
/// catalog can't be had, which is no missing template for that.
async fn around(catalog: &Catalog, parsed: &ParsedFlows) -> Result<(Contents, Vec<Problem>), Error> {
    let snapshot = catalog.snapshot();
    let (mut contents, mut problems) = (Contents::new(), snapshot.problems().await?);
    let is_flow = |path: &CatalogPath| path.as_str().starts_with("flows/");
    let mut reading = snapshot.reading(|path| !is_flow(path)).await?;
    while let Some(texts) = reading.next().await? {
        if texts.iter().any(|(path, _)| is_flow(path)) {
            break;
        }
        for (path, bytes) in texts {
            match bytes {
                Ok(bytes) => {
                    contents.insert(path.to_string(), bytes.to_vec());
                }
                Err(error) => {
                    problems.retain(|problem| problem.path != path.as_str());
                    problems.push(Problem::failed(&path, error));
                }
            }
        }
    }
    let own: Vec<String> = parsed.flows().iter().map(|(flow, _)| flow.name.to_string()).collect();
    let mut next: Vec<String> = parsed.flows().iter().flat_map(|(_, names)| names.flows.clone()).collect();
    while let Some(name) = next.pop() {
        let Ok(row) = catalog.find(&name) else { continue };
        let entry = catalog.index().row(row)?;
        if own.contains(&entry.name) || contents.contains_key(&entry.file) {
            continue;
        }
        let Ok(path) = CatalogPath::new(&entry.file) else { continue };
        let bytes = snapshot.read(&path).await?;
        let within = ParsedFlows::read(&path, &bytes);
        next.extend(within.flows().iter().flat_map(|(_, names)| names.flows.clone()));
        contents.insert(entry.file, bytes.to_vec());
    }
    Ok((contents, problems))
}

/// The text with what can safely be fixed.
async fn fixed(
    file: &CatalogPath,
    text: &str,
    (contents, problems): (&mut Contents, &[Problem]),
    lenient: bool,
) -> Result<Option<String>, Error> {
    let mut now = text.to_owned();
    for _ in 0..ROUNDS {
        let found = check_wanted((contents, problems), &|path| path == file, (lenient, None)).await?;
        let findings: Vec<Finding> = found.files.into_iter().flat_map(|read| read.findings).collect();
        match mended(file, now.as_bytes(), &findings, false) {
            Some(after) if after != now => now = after,
            _ => break,
        }
        contents.insert(file.to_string(), now.clone().into_bytes());
    }
    Ok((now != text).then_some(now))
}
