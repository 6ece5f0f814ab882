//! What results are called, and what references to them are written as.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use super::{Form, Place};
use crate::catalog::{CatalogCheck, ReportedFile};
use crate::model::{Directory, Listed};
use crate::names::{FLOW_ENDING, file_stem, quoted, same_file};
use crate::plan::Work;
use crate::validate::References;

/// The names of everything that is converted, before and after.
pub(super) struct Names {
    directory: Directory,
    /// File and place of each template or flow, and the path of its result.
    results: HashMap<(String, usize), String>,
    /// Names of flows, and the one file and place that each leads to.
    flows: HashMap<String, Option<(String, usize)>>,
}

impl Names {
    /// Chooses a path for every result.
    pub(super) fn of(check: &CatalogCheck, place: &Place, to: Form) -> Self {
        let listed = |file: &ReportedFile| Listed {
            file: file.file.clone(),
            stem: file_stem(&file.file).to_owned(),
            entries: file.templates.iter().map(|one| (one.id.clone(), one.title.clone())).collect(),
        };
        let among_templates = check.files.iter().filter(|file| file.file.starts_with("templates/"));
        let mut names = Self {
            directory: Directory::new(among_templates.map(listed).collect()),
            results: HashMap::new(),
            flows: flow_names(check),
        };
        // Computers that ignore case hold only one of two such files.
        let kept = place.paths.iter().filter(|path| !place.wanted.contains_key(*path));
        let mut taken: BTreeSet<String> = kept.map(|path| stem_key(path)).collect();
        for path in place.wanted.keys() {
            let Some(file) = super::file(check, path) else { continue };
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let flows = file.flows.iter().map(|flow| flow.name.to_string());
            let templates = file.templates.iter().enumerate().map(|(number, template)| {
                let own = || template.title.clone().or_else(|| template.id.clone());
                let stem = file_stem(path).to_owned();
                let several = file.templates.len() > 1;
                if several { own().unwrap_or(format!("{stem} {}", number + 1)) } else { stem }
            });
            let wanted: Vec<String> = if file.flows.is_empty() { templates.collect() } else { flows.collect() };
            let ending = match to {
                Form::Json => ".json",
                Form::Markdown if file.flows.is_empty() => ".md",
                Form::Markdown => FLOW_ENDING,
            };
            for (number, name) in wanted.into_iter().enumerate() {
                let stem = free(&name, folder, ending, &mut taken);
                names.results.insert((path.clone(), number), format!("{folder}/{stem}{ending}"));
            }
        }
        names
    }

    /// The path of a result.
    pub(super) fn result(&self, file: &str, place: usize) -> Option<&str> {
        self.results.get(&(file.to_owned(), place)).map(String::as_str)
    }

    /// The name that a `selectedTemplateId` has in a result; none where no template goes by it.
    pub(super) fn template(&self, reference: &str) -> Option<String> {
        let (listed, place) = self.directory.resolve(reference).ok()?;
        match self.result(&listed.file, place) {
            Some(path) => Some(file_stem(path).to_owned()),
            None => Some(reference.to_owned()),
        }
    }

    /// The name that a `flow` has in a result.
    pub(super) fn flow(&self, reference: &str) -> String {
        let found = self.flows.get(reference).cloned().flatten();
        let result = found.and_then(|(file, place)| self.result(&file, place).map(file_stem).map(str::to_owned));
        result.unwrap_or_else(|| reference.to_owned())
    }
}

pub(super) fn stem_key(path: &str) -> String {
    let folder = path.split('/').next().unwrap_or_default();
    same_file(&format!("{folder}/{}", file_stem(path)))
}

/// A stem that is safe in every file system and stands nowhere else below the folder of its kind.
pub(super) fn free(name: &str, folder: &str, ending: &str, taken: &mut BTreeSet<String>) -> String {
    let unsafe_for_files =
        |c: char| matches!(c, '<' | '>' | ':' | '"' | '|' | '?' | '*' | '/' | '\\') || c.is_control();
    let plain: String = name.chars().map(|c| if unsafe_for_files(c) { '_' } else { c }).take(100).collect();
    let plain = plain.trim_matches([' ', '.']).replace("..", "_");
    let plain = if plain.is_empty() { "unnamed".to_owned() } else { plain };
    let about = ["readme", "changelog", "contributing", "license", "code_of_conduct", "agents", "claude"];
    let mut clean = plain == name && !(ending == ".md" && about.contains(&plain.to_lowercase().as_str()));
    let mut number = 1;
    loop {
        let stem = if clean { plain.clone() } else { format!("{plain}-{}", number + 1) };
        if taken.insert(stem_key(&format!("{folder}/{stem}{ending}"))) {
            return stem;
        }
        number += usize::from(!clean);
        clean = false;
    }
}

/// What flows are asked for by, in the order of their precedence; none where several go by a name.
fn flow_names(check: &CatalogCheck) -> HashMap<String, Option<(String, usize)>> {
    let mut found: HashMap<String, Option<(String, usize)>> = HashMap::new();
    let name: [fn(&crate::model::Flow) -> Option<&str>; 4] = [
        |flow| Some(flow.name.as_str()),
        |flow| Some(flow.file.stem()),
        |flow| flow.given_name.as_deref(),
        |flow| flow.id.as_deref(),
    ];
    for name in name {
        let mut round: BTreeMap<String, Option<(String, usize)>> = BTreeMap::new();
        for file in &check.files {
            for flow in &file.flows {
                let Some(name) = name(flow) else { continue };
                let place = Some((file.file.clone(), flow.place_in_file));
                round.entry(name.to_owned()).and_modify(|other| *other = None).or_insert(place);
            }
        }
        for (name, place) in round {
            found.entry(name).or_insert(place);
        }
    }
    found
}

/// What the files to convert name, and which is not among them.
pub(super) fn left_out(check: &CatalogCheck, wanted: &BTreeMap<String, PathBuf>) -> Vec<String> {
    let (mut left, flows): (BTreeSet<String>, _) = (BTreeSet::new(), flow_names(check));
    for file in check.files.iter().filter(|file| wanted.contains_key(&file.file)) {
        for named in file.flows.iter().map(|flow| References::of(flow)) {
            left.extend(named.personas.iter().map(|name| format!("persona {}", quoted(name))));
            left.extend(named.contracts.iter().map(|name| format!("contract {}", quoted(name))));
            let found = named.flows.iter().filter_map(|name| flows.get(name)?.as_ref());
            left.extend(found.filter(|(file, _)| !wanted.contains_key(file)).map(|(file, _)| file.clone()));
        }
        for plan in file.plans.iter().flatten() {
            let used = plan.steps().iter().filter_map(|step| match &step.work {
                Work::Render(rendering) => rendering.template_file.clone(),
                Work::Call(_) | Work::Flow(_) | Work::Gather(_) | Work::Faulty { .. } => None,
            });
            left.extend(used.filter(|file| !wanted.contains_key(file)));
        }
    }
    left.into_iter().collect()
}
