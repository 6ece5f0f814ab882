//! What a catalog holds: its files by path, and the entries that are left out.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::failure::{ProblemKind, SourceError};
use crate::model::wire::is_among_tests;
use crate::names::{CatalogPath, FLOW_ENDING, ObjectId, is_about};

/// The folders a catalog consists of; nothing else of a repository is looked at.
pub const CATALOG_FOLDERS: [&str; 4] = ["contracts", "flows", "personas", "templates"];

/// The folder of the tests of flows, which no source reads.
pub(super) const TESTS: &str = "tests";

/// Whether a path lies in one of the catalog's folders.
pub(super) fn in_catalog(path: &str) -> bool {
    path.split_once('/').is_some_and(|(folder, _)| CATALOG_FOLDERS.contains(&folder))
}

/// Whether a file of that path is one that a catalog consists of: `.json` below flows, templates and
/// contracts, `.md` below personas and templates, `.flow.md` below flows. A README or a picture beside them
/// is none of its business.
pub fn is_read(path: &str) -> bool {
    if !in_catalog(path) || is_hidden(path) {
        return false;
    }
    let lower = path.to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    // A name that is all extension has no stem.
    let ends = |ending: &str| name.len() > ending.len() && name.ends_with(ending);
    match lower.split('/').next() {
        Some("personas") => ends(".md"),
        Some("flows") => ends(".json") || ends(FLOW_ENDING),
        Some("templates") => {
            ends(".json") || name.strip_suffix(".md").is_some_and(|stem| !stem.is_empty() && !is_about(stem))
        }
        _ => ends(".json"),
    }
}

/// Whether a file or a folder on the way to it begins with a dot: systems and editors write such files, and a
/// shell's `*.json` leaves them out, too.
pub(super) fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.'))
}

/// The path under which a file would be read that is not, because its folder or its ending is slightly wrong.
/// `has` says which of a catalog's folders are there: beside one, a folder whose name is its singular is another
/// thing (of a web site, say), unless it is for flows.
pub(super) fn meant_path(path: &str, has: impl Fn(&str) -> bool) -> Option<String> {
    if is_hidden(path) || is_read(path) || is_among_tests(path) {
        return None;
    }
    let Some((folder, rest)) = path.split_once('/') else {
        // Of files beside the folders, only this ending says what they are.
        let is_flow = path.len() > FLOW_ENDING.len() && path.to_ascii_lowercase().ends_with(FLOW_ENDING);
        return is_flow.then(|| format!("flows/{path}"));
    };
    if CATALOG_FOLDERS.contains(&folder) || folder == TESTS {
        const JSON: [(&str, &str); 6] = [
            (".json.txt", "json"),
            (".yaml", "json"),
            (".yml", "json"),
            (".json5", "json"),
            (".jsonc", "json"),
            (".jsn", "json"),
        ];
        let others: &[(&str, &str)] = match folder {
            "personas" => &[(".txt", "md"), (".markdown", "md"), (".md.txt", "md")],
            "flows" => &[
                (".flow.markdown", "flow.md"),
                (".flow.mdx", "flow.md"),
                (".flow.md.txt", "flow.md"),
                (".flow.txt", "flow.md"),
                (".flow", "flow.md"),
            ],
            TESTS => &[
                (".flowtest", "flowtest.json"),
                (".flowtest.txt", "flowtest.json"),
                (".flowtest.json.txt", "flowtest.json"),
                (".flowtest.json5", "flowtest.json"),
                (".flowtest.jsonc", "flowtest.json"),
                (".flowtest.yaml", "flowtest.json"),
                (".flowtest.yml", "flowtest.json"),
                (".flowtests.json", "flowtest.json"),
            ],
            "templates" => &[(".markdown", "md"), (".mdx", "md"), (".md.txt", "md")],
            _ => &[],
        };
        // Among tests lies what they read, too.
        let of_json = if ["personas", TESTS].contains(&folder) { &[][..] } else { &JSON };
        let lower = rest.to_ascii_lowercase();
        let fits = others.iter().chain(of_json).filter(|(ending, _)| lower.ends_with(ending));
        let (ending, wanted) = fits.max_by_key(|(ending, _)| ending.len())?;
        return Some(format!("{folder}/{}.{wanted}", rest.get(..rest.len() - ending.len())?));
    }
    let right = meant_folder(folder)?;
    let meant = format!("{right}/{rest}");
    let certain = ["flows", TESTS].contains(&right) || folder.eq_ignore_ascii_case(right) || !has(right);
    (certain && (is_read(&meant) || is_among_tests(&meant))).then_some(meant)
}

/// The path under which a file would be read that may be meant as a template: if a flow asks for one of that name.
pub(super) fn possible_template(path: &str) -> Option<String> {
    let (folder, rest) = path.split_once('/')?;
    let (stem, ending) = rest.rsplit_once('.')?;
    let ends = |wanted: &str| ending.eq_ignore_ascii_case(wanted);
    let fits = folder == "flows" && ends("md") || folder == "templates" && ends("txt");
    let meant = format!("templates/{stem}.md");
    (fits && !is_read(path) && is_read(&meant)).then_some(meant)
}

/// The path under which a file among the tests would be read, if it holds tests of flows: its text tells.
pub(super) fn test_path(path: &str, text: &str) -> Option<String> {
    let stem = path.strip_suffix(".json").filter(|_| !is_hidden(path) && !is_among_tests(path))?;
    let says = |key: &str| text.contains(&format!("\"{key}\""));
    (says("flow") && says("expect")).then(|| format!("{stem}.flowtest.json"))
}

/// The path under which a file in Markdown among flows would be read, if it is a flow: its text tells.
pub(super) fn flow_path(path: &str) -> Option<String> {
    let (folder, rest) = path.split_once('/')?;
    let stem = rest.get(..rest.len().checked_sub(3)?)?;
    let name = stem.rsplit('/').next().unwrap_or_default();
    let ends = rest.get(stem.len()..).is_some_and(|end| end.eq_ignore_ascii_case(".md"));
    let usual = folder == "flows" && ends && !name.is_empty() && !is_about(name);
    (usual && !is_hidden(path) && !is_read(path)).then(|| format!("flows/{stem}{FLOW_ENDING}"))
}

/// The folder of a catalog whose name one beside it has in other letters, or in the singular.
pub(super) fn meant_folder(folder: &str) -> Option<&'static str> {
    let plain = folder.to_lowercase();
    let alike = |right: &&str| plain == **right || right.strip_suffix('s') == Some(&plain);
    CATALOG_FOLDERS.into_iter().chain([TESTS]).find(alike).filter(|right| *right != folder)
}

/// One file of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// The blob's id; `None` in a folder, whose files are not hashed before they are read.
    pub oid: Option<ObjectId>,
    /// Its size in bytes.
    pub size: u64,
}

/// The files of a snapshot, sorted by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files(BTreeMap<CatalogPath, FileEntry>);

impl Files {
    /// How many files there are.
    #[cfg(feature = "internals")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A file by its path.
    pub fn get(&self, path: &CatalogPath) -> Option<&FileEntry> {
        self.0.get(path)
    }

    /// The files whose paths come after this one, or all of them; sorted by path.
    pub(super) fn after(&self, path: Option<&CatalogPath>) -> impl Iterator<Item = (&CatalogPath, &FileEntry)> {
        self.0.range::<CatalogPath, _>((path.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded))
    }

    /// All files, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&CatalogPath, &FileEntry)> {
        self.0.iter()
    }
}

impl FromIterator<(CatalogPath, FileEntry)> for Files {
    fn from_iter<T: IntoIterator<Item = (CatalogPath, FileEntry)>>(entries: T) -> Self {
        Self(entries.into_iter().collect())
    }
}

/// An entry that is left out, or a file that could not be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Its path, safe to show; for a listing that was cut off, the folder.
    pub path: String,
    /// Why.
    pub kind: ProblemKind,
}

impl Problem {
    pub(super) fn new(path: &str, kind: ProblemKind) -> Self {
        Self { path: crate::names::shown(path, 300), kind }
    }

    /// A file that could not be had.
    pub fn failed(path: &CatalogPath, error: SourceError) -> Self {
        Self::new(path.as_str(), ProblemKind::Failed(error))
    }

    /// The error of who reads this entry all the same.
    pub(super) fn error(&self, path: &CatalogPath) -> SourceError {
        match &self.kind {
            ProblemKind::TooLarge { size, limit } => {
                SourceError::FileTooLarge { path: path.clone(), size: *size, limit: *limit }
            }
            ProblemKind::Failed(error) => error.clone(),
            ProblemKind::Unreadable { reason } => {
                SourceError::Unreadable { path: path.to_string(), reason: reason.clone() }
            }
            other => SourceError::NotRead { path: path.clone(), kind: Box::new(other.clone()) },
        }
    }
}

impl std::fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLarge { size, limit } => write!(f, "it is too large: {size} bytes, the limit is {limit}"),
            Self::Symlink => f.write_str("it is a symbolic link"),
            Self::Submodule => f.write_str("it is a submodule"),
            Self::LfsPointer { size } => {
                let size = size.map_or_else(String::new, |size| format!(" of {size} bytes"));
                write!(f, "it is a Git LFS pointer, its content{size} is stored elsewhere")
            }
            Self::NotAFile => f.write_str("it is not a regular file"),
            Self::NotAFolder => f.write_str("it is a file, and a folder is read here"),
            Self::BadPath(why) => write!(f, "its path is not allowed: {why}"),
            Self::Overlooked { meant } | Self::Doubtful { meant } => write!(f, "it would be read as {meant}"),
            Self::ListingCutOff => f.write_str("the listing was cut off here, it may be incomplete"),
            Self::TooDeep { limit } => write!(f, "it lies more than {limit} folders deep"),
            Self::Unreadable { reason } => write!(f, "it cannot be read: {reason}"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

/// What these bytes are if they are a Git LFS pointer (git-lfs's specification: version line first, under
/// 1,024 bytes).
pub(super) fn lfs_pointer(bytes: &[u8]) -> Option<ProblemKind> {
    if bytes.len() >= 1024 || !bytes.starts_with(b"version https://git-lfs.github.com/spec/") {
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    let size = text.lines().find_map(|line| line.strip_prefix("size ")?.trim().parse().ok());
    Some(ProblemKind::LfsPointer { size })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_slightly_misplaced_has_a_right_place_and_others_have_none() {
        let there = |folder: &str| matches!(folder, "flows" | "templates");
        for (path, meant) in [
            ("flow/Tea.json", "flows/Tea.json"),
            ("Flows/a/Tea.json", "flows/a/Tea.json"),
            ("flows/Tea.yaml", "flows/Tea.json"),
            ("flows/Tea.json.txt", "flows/Tea.json"),
            ("persona/clerk.md", "personas/clerk.md"),
            ("personas/clerk.txt", "personas/clerk.md"),
            ("flows/Tea.flow.markdown", "flows/Tea.flow.md"),
            ("flow/Tea.flow.md", "flows/Tea.flow.md"),
            ("templates/Tea.md.txt", "templates/Tea.md"),
            ("Contracts/a.json", "contracts/a.json"),
            ("Templates/a.json", "templates/a.json"),
            ("flows/Tea.flow", "flows/Tea.flow.md"),
            ("flows/Tea.jsn", "flows/Tea.json"),
            ("test/Tea.flowtest.json", "tests/Tea.flowtest.json"),
            ("tests/Tea.flowtests.json", "tests/Tea.flowtest.json"),
            ("tests/Tea.flowtest.yaml", "tests/Tea.flowtest.json"),
        ] {
            assert_eq!(meant_path(path, there).as_deref(), Some(meant), "{path}");
        }
        for path in [
            "flows/Tea.json",
            "flows/README.md",
            "flows/notes.txt",
            "templates/readme.md",
            "templates/notes.txt",
            "flows/Tea.png",
            "template/a.json",
            "docs/flows/a.json",
            "flow/README.md",
            "flow",
            ".flows/Tea.json",
            "flows/.Tea.yaml",
            "tests/Tea.flowtest.json",
            "tests/data.yaml",
            "test/data.json",
        ] {
            assert_eq!(meant_path(path, there), None, "{path}");
        }
    }

    #[test]
    fn files_that_begin_with_a_dot_are_not_read() {
        for path in ["flows/._Tea.json", "flows/.Draft.json", "flows/.trash/Tea.json", "personas/.clerk.md"] {
            assert!(!is_read(path), "{path}");
        }
        assert!(is_read("flows/a.b/Tea.json"));
    }

    #[test]
    fn markdown_is_read_as_flows_templates_and_personas_and_what_describes_a_repository_is_not() {
        for path in
            ["flows/Tea.flow.md", "flows/a/Tea.Flow.MD", "templates/Tea.md", "templates/a/b.c.md", "personas/README.md"]
        {
            assert!(is_read(path), "{path}");
        }
        for path in [
            "flows/Tea.md",
            "flows/README.md",
            "flows/.flow.md",
            "templates/README.md",
            "templates/a/Changelog.md",
            "templates/CODE_OF_CONDUCT.md",
            "templates/agents.md",
            "contracts/a.md",
            "docs/a.flow.md",
        ] {
            assert!(!is_read(path), "{path}");
        }
    }
}
