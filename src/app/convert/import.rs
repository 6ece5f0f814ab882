//! Prompts of other programs as flows in Markdown: what `flowy import` does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::names::{free, stem_key};
use super::{Conversion, ConvertedPart, Form, Place, at, check_contents, contents_of, foreign, settle, write_all};
use crate::app::{Code, Error};
use crate::clock::Clock;
use crate::config::{Environment, Settings};
use crate::files::read_named;
use crate::names::{FLOW_ENDING, quoted, shown, words};

words! {
    /// The programs whose prompts are read.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ForeignKind {
        /// `*.prompty`.
        Prompty = "prompty",
        /// `.claude/commands/*.md`.
        ClaudeCommand = "claude-command",
        /// `SKILL.md`, or the folder that it lies in.
        Skill = "skill",
    }
}

/// What is to be imported, and where it goes.
#[derive(Debug, Clone)]
pub struct ImportRequest {
    /// What the files are.
    pub kind: ForeignKind,
    /// The files.
    pub files: Vec<PathBuf>,
    /// The folder of the catalog; none for the current one.
    pub out: Option<PathBuf>,
}

/// Writes each prompt as a flow of one step.
///
/// # Errors
/// When a file can't be read, a flow of that name is there already, or a result can't be written. Nothing is written
/// then.
pub async fn import(
    request: &ImportRequest,
    settings: &Settings,
    environment: &Environment,
    clock: Arc<dyn Clock>,
) -> Result<Conversion, Error> {
    let here = environment.current_folder();
    let root = request.out.as_ref().map_or_else(|| here.to_owned(), |out| here.join(out));
    let (contents, problems) = contents_of(&root, settings, clock).await?;
    let mut place = Place { root: root.clone(), contents, problems, ..Place::default() };
    let known = check_contents(&place.contents, &place.problems, settings.lenient).await?;
    let flows = || known.files.iter().flat_map(|file| &file.flows);
    let mut names: BTreeSet<String> = flows().map(|flow| flow.name.to_string()).collect();
    names.extend(flows().filter_map(|flow| flow.given_name.clone()));
    let mut taken: BTreeSet<String> = place.contents.keys().map(|path| stem_key(path)).collect();
    let mut read = BTreeMap::new();
    for given in &request.files {
        let (path, stem) = file_of(request.kind, &here.join(given), given)?;
        let bytes = read_named(&path, settings.max_file_size).map_err(|error| at(given, &error))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let message = format!("{}: byte {at} is not UTF-8", shown(&given.display().to_string(), 300));
            Error::new(Code::ParseError, message).next("save the file as UTF-8")
        })?;
        let prompt = foreign::read(request.kind, &text, &stem);
        if !names.insert(prompt.name.clone()) {
            let given = shown(&given.display().to_string(), 300);
            let message = format!("{given}: there is a flow {} already", quoted(&prompt.name));
            return Err(Error::new(Code::AmbiguousName, message)
                .next("nothing was written; give the prompt another name, or remove the flow"));
        }
        let mut lost = prompt.lost;
        lost.extend(beside(request.kind, &path));
        let stem = free(&prompt.name, "flows", FLOW_ENDING, &mut taken);
        let name = format!("flows/{stem}.json");
        place.contents.insert(name.clone(), prompt.flow.to_string().into_bytes());
        place.wanted.insert(name.clone(), path);
        read.insert(name, (given.display().to_string(), lost));
    }
    place.paths = place.contents.keys().cloned().collect();
    let before = check_contents(&place.contents, &place.problems, settings.lenient).await?;
    let (written, _) = settle(&place, &before, Form::Markdown, None, settings.lenient).await?;
    let mut conversion = Conversion::default();
    let mut writes = Vec::new();
    for part in written {
        let Some((from, mut lost)) = read.remove(&part.told.from) else { continue };
        lost.extend(part.told.lost);
        writes.push((root.join(&part.told.to), part.bytes));
        conversion.parts.push(ConvertedPart { from, lost, ..part.told });
    }
    write_all(&writes)?;
    Ok(conversion)
}

/// The file of a prompt, and the name that it has where it names itself not.
fn file_of(kind: ForeignKind, path: &Path, given: &Path) -> Result<(PathBuf, String), Error> {
    let skill = kind == ForeignKind::Skill;
    let (path, given) = if skill && path.is_dir() {
        (path.join("SKILL.md"), given.join("SKILL.md"))
    } else {
        (path.to_owned(), given.to_owned())
    };
    let path = std::fs::canonicalize(&path).map_err(|error| at(&given, &error))?;
    let named = if skill { path.parent() } else { Some(&*path) };
    let stem = named.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Ok((path, stem))
}

/// What lies beside a skill, which may refer to it.
fn beside(kind: ForeignKind, path: &Path) -> Vec<String> {
    if kind != ForeignKind::Skill {
        return Vec::new();
    }
    let Some(folder) = path.parent() else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(folder) else {
        return vec!["files beside it: the folder can't be read".to_owned()];
    };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name != "SKILL.md" && !name.starts_with('.')).collect();
    names.sort();
    names.iter().map(|name| format!("beside it: {}", quoted(name))).collect()
}
