//! The bad catalogs, each with what is asked for and what has to be said.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::github::Entry;

/// The size limit of files in these catalogs, in bytes.
pub(super) const LARGEST: usize = 200_000;

/// One bad catalog.
pub(super) struct Bad {
    pub(super) name: &'static str,
    pub(super) files: Vec<(String, Part)>,
    /// The flow that is asked for.
    pub(super) flow: &'static str,
    pub(super) code: &'static str,
    /// The files that have to be fixed.
    pub(super) fix: Vec<&'static str>,
    pub(super) places: Places,
    pub(super) asked: Asked,
}

/// Where such a catalog can lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Places {
    Both,
    Folder,
    GitHub,
}

/// Who has something to say about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// Everybody.
    All,
    /// A direct execution does not need what is wrong.
    Guided,
    /// The fault lies in a flow within the flow, and the flow itself has none.
    Running,
    /// Who looks at the whole catalog: the flow can't be named, or others hide it.
    Whole,
}

impl Asked {
    pub(super) fn shows(self) -> bool {
        matches!(self, Self::All | Self::Guided)
    }

    pub(super) fn runs(self) -> bool {
        matches!(self, Self::All | Self::Running)
    }

    pub(super) fn begins(self) -> bool {
        self.shows()
    }
}

/// What stands at a path.
pub(super) enum Part {
    Bytes(Vec<u8>),
    /// A symbolic link out of the catalog.
    Link,
    /// What can't be read, whoever tries: a symbolic link to itself.
    Loop,
    Submodule,
    /// A file that GitHub fails to give.
    Failing(Vec<u8>),
}

impl Part {
    /// What a folder holds there, where it is a file.
    pub(super) fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Bytes(bytes) | Self::Failing(bytes) => Some(bytes.clone()),
            Self::Link | Self::Loop | Self::Submodule => None,
        }
    }

    /// What a repository holds there.
    pub(super) fn entry(&self) -> Entry {
        match self {
            Self::Bytes(bytes) | Self::Failing(bytes) => Entry::File(bytes.clone()),
            Self::Link | Self::Loop => Entry::Symlink,
            Self::Submodule => Entry::Submodule,
        }
    }

    /// Puts into a folder what is no file.
    pub(super) fn place(&self, root: &Path, path: &str) {
        let place = root.join(path);
        let target = match self {
            Self::Link => Path::new("/etc/hostname"),
            Self::Loop => Path::new(path.rsplit('/').next().unwrap()),
            Self::Bytes(_) | Self::Submodule | Self::Failing(_) => return,
        };
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(target, place).unwrap();
    }
}

fn file(path: &str, bytes: impl Into<Vec<u8>>) -> (String, Part) {
    (path.to_owned(), Part::Bytes(bytes.into()))
}

fn flow_at(path: &str, name: &str, nodes: &Value, edges: &Value) -> (String, Part) {
    let flow = json!({"metadata": {"name": name, "version": "1.0.0"}, "nodes": nodes, "edges": edges});
    file(path, flow.to_string())
}

/// A flow of one node with this data.
fn flow(name: &str, kind: &str, data: &Value) -> (String, Part) {
    let nodes = json!([{"id": "a", "type": kind, "data": data}]);
    flow_at(&format!("flows/{name}.json"), name, &nodes, &json!([]))
}

fn text_flow(name: &str) -> (String, Part) {
    flow(name, "template", &json!({"label": "A", "template": "Say hello."}))
}

fn outer(name: &str, inner: &str) -> (String, Part) {
    flow(name, "flow", &json!({"label": "A", "flow": inner}))
}

fn using_template() -> (String, Part) {
    flow("Top", "template", &json!({"label": "A", "selectedTemplateId": "Text"}))
}

fn with(key: &str, name: &str) -> (String, Part) {
    flow("Top", "template", &json!({"label": "A", "template": "Say hello.", key: name}))
}

fn steps(edges: &[(&str, &str)]) -> (Value, Value) {
    let node = |id: &str| json!({"id": id, "type": "template", "data": {"label": id, "template": "Say hello."}});
    let edges: Vec<Value> = edges.iter().map(|(from, to)| json!({"source": from, "target": to})).collect();
    (json!([node("a"), node("b")]), json!(edges))
}

fn ring_within(name: &str) -> (String, Part) {
    let (nodes, edges) = steps(&[("a", "b"), ("b", "a")]);
    flow_at(&format!("flows/{name}.json"), name, &nodes, &edges)
}

const LFS: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";

fn too_large() -> Vec<u8> {
    format!("{{\"template\": \"{}\"}}", "x".repeat(LARGEST)).into_bytes()
}

fn row(name: &'static str, code: &'static str, fix: &[&'static str], files: Vec<(String, Part)>) -> Bad {
    Bad { name, files, flow: "Top", code, fix: fix.to_vec(), places: Places::Both, asked: Asked::All }
}

impl Bad {
    fn only(self, places: Places) -> Self {
        Self { places, ..self }
    }

    fn asked(self, asked: Asked) -> Self {
        Self { asked, ..self }
    }
}

/// All ways in which one file can be unusable: name, code, what stands there, where that can be.
fn unusable() -> Vec<(&'static str, &'static str, Part, Places)> {
    vec![
        ("broken JSON", "PARSE_ERROR", Part::Bytes(b"{\"template\": }".to_vec()), Places::Both),
        ("cut off", "PARSE_ERROR", Part::Bytes(b"{\"template\": [\"a\"".to_vec()), Places::Both),
        ("not UTF-8", "PARSE_ERROR", Part::Bytes(b"{\"template\": \"\xff\"}".to_vec()), Places::Both),
        ("empty", "PARSE_ERROR", Part::Bytes(Vec::new()), Places::Both),
        ("too deep", "PARSE_ERROR", Part::Bytes("[".repeat(80).into_bytes()), Places::Both),
        ("too large", "FILE_TOO_LARGE", Part::Bytes(too_large()), Places::Both),
        ("an LFS pointer", "VALIDATION_ERROR", Part::Bytes(LFS.into()), Places::Both),
        ("a link out", "VALIDATION_ERROR", Part::Link, Places::Both),
        ("not readable", "VALIDATION_ERROR", Part::Loop, Places::Folder),
        ("a submodule", "VALIDATION_ERROR", Part::Submodule, Places::GitHub),
        ("of no shape", "VALIDATION_ERROR", Part::Bytes(b"[]".to_vec()), Places::Both),
        ("not given by GitHub", "GITHUB_ERROR", Part::Failing(b"{\"template\": \"hi\"}".to_vec()), Places::GitHub),
    ]
}

fn named(what: &str, how: &str) -> &'static str {
    Box::leak(format!("{what} is {how}").into_boxed_str())
}

/// The table.
pub(super) fn bad_catalogs() -> Vec<Bad> {
    let mut rows = Vec::new();
    for (how, code, part, places) in unusable() {
        let file = ("templates/Text.json".to_owned(), part);
        let files = vec![using_template(), text_flow("Fine"), file];
        rows.push(row(named("a template", how), code, &["templates/Text.json"], files).only(places));
    }
    for (how, code, part, places) in unusable() {
        let file = ("flows/In.json".to_owned(), part);
        let files = vec![outer("Top", "In"), text_flow("Fine"), file];
        rows.push(row(named("a flow within the flow", how), code, &["flows/In.json"], files).only(places));
    }
    for (how, code, part, places) in unusable() {
        let files = vec![text_flow("Fine"), ("flows/Top.json".to_owned(), part)];
        rows.push(row(named("the flow", how), code, &["flows/Top.json"], files).only(places));
    }
    for (how, code, part, places) in unusable() {
        if ["of no shape", "cut off", "empty", "too deep"].contains(&how) {
            continue;
        }
        let files = vec![with("contract", "shape"), ("contracts/shape.json".to_owned(), part)];
        let bad = row(named("a contract", how), code, &["contracts/shape.json"], files);
        rows.push(bad.only(places).asked(Asked::Guided));
    }
    rows.extend(of_names());
    rows.extend(of_flows());
    rows.extend(of_guidance());
    rows.push(
        row(
            "a folder of flows can't be read",
            "VALIDATION_ERROR",
            &["flows/more"],
            vec![text_flow("Fine"), ("flows/more".to_owned(), Part::Loop)],
        )
        .only(Places::Folder)
        .asked(Asked::Whole),
    );
    rows.push(
        row(
            "a folder of flows is a link out",
            "VALIDATION_ERROR",
            &["flows/more"],
            vec![text_flow("Fine"), ("flows/more".to_owned(), Part::Link)],
        )
        .asked(Asked::Whole),
    );
    rows.push(
        row(
            "a file stands where a folder should",
            "VALIDATION_ERROR",
            &["templates"],
            vec![text_flow("Fine"), file("templates", "Tea")],
        )
        .asked(Asked::Whole),
    );
    let deep = format!("flows/{}", "d/".repeat(40));
    rows.push(
        row(
            "folders lie too deep",
            "VALIDATION_ERROR",
            &[Box::leak(format!("flows{}", "/d".repeat(32)).into_boxed_str())],
            vec![text_flow("Fine"), flow_at(&format!("{deep}Top.json"), "Top", &steps(&[]).0, &json!([]))],
        )
        .only(Places::Folder)
        .asked(Asked::Whole),
    );
    rows
}

/// Names that mean nothing, or several things.
fn of_names() -> Vec<Bad> {
    let template = |path: &str| {
        let templates =
            json!({"metadata": {"version": "1.0"}, "templates": [{"id": "Text", "title": "T", "template": "hi"}]});
        file(path, templates.to_string())
    };
    let again = |path: &str, name: &str| flow_at(path, name, &steps(&[("a", "b")]).0, &json!([]));
    vec![
        row("a template is missing", "TEMPLATE_NOT_FOUND", &["flows/Top.json"], vec![using_template()]),
        row(
            "a template is misspelt",
            "TEMPLATE_NOT_FOUND",
            &["flows/Top.json"],
            vec![using_template(), file("templates/Texts.json", r#"{"template": "hi"}"#)],
        ),
        row(
            "two templates go by one id",
            "AMBIGUOUS_NAME",
            &["templates/One.json", "templates/Two.json"],
            vec![using_template(), template("templates/One.json"), template("templates/Two.json")],
        ),
        row("a flow within is missing", "FLOW_NOT_FOUND", &["flows/Top.json"], vec![outer("Top", "Gone")]),
        row(
            "a flow within is misspelt",
            "FLOW_NOT_FOUND",
            &["flows/Top.json"],
            vec![outer("Top", "Inn"), text_flow("In"), again("flows/Innings.json", "Other")],
        ),
        row(
            "a flow within is a template",
            "FLOW_NOT_FOUND",
            &["flows/Top.json"],
            vec![outer("Top", "Text"), file("templates/Text.json", r#"{"template": "hi"}"#)],
        ),
        row(
            "a flow within has a name that another has",
            "AMBIGUOUS_NAME",
            &["flows/p/In.json", "flows/q/In.json"],
            vec![outer("Top", "In"), again("flows/p/In.json", "In"), again("flows/q/In.json", "In")],
        ),
        row(
            "the flow has a name that another has",
            "AMBIGUOUS_NAME",
            &["flows/p/Top.json", "flows/q/Top.json"],
            vec![again("flows/p/Top.json", "Top"), again("flows/q/Top.json", "Top")],
        ),
    ]
}

/// Flows that can't be executed, alone or through each other.
fn of_flows() -> Vec<Bad> {
    let (nodes, dangling) = steps(&[("a", "gone")]);
    let doubled = json!([
        {"id": "a", "type": "template", "data": {"label": "A", "template": "hi"}},
        {"id": "a", "type": "template", "data": {"label": "A", "template": "hi"}},
    ]);
    let many: Vec<Value> = (0..1_001).map(|n| json!({"id": format!("n{n}"), "type": "note", "data": {}})).collect();
    let one = |name, code, nodes: &Value, edges: &Value| {
        row(name, code, &["flows/Top.json"], vec![flow_at("flows/Top.json", "Top", nodes, edges)])
    };
    let within = |name, code, nodes: &Value, edges: &Value| {
        let files = vec![outer("Top", "In"), flow_at("flows/In.json", "In", nodes, edges)];
        row(name, code, &["flows/In.json"], files)
    };
    let mut nested: Vec<(String, Part)> = (1..10).map(|n| outer(&format!("F{n}"), &format!("F{}", n + 1))).collect();
    nested.extend([outer("Top", "F1"), text_flow("F10")]);
    vec![
        row("the flow goes round", "CIRCULAR_DEPENDENCY", &["flows/Top.json"], vec![ring_within("Top")]),
        row(
            "a flow within goes round",
            "CIRCULAR_DEPENDENCY",
            &["flows/In.json"],
            vec![outer("Top", "In"), ring_within("In")],
        ),
        row(
            "three flows go round",
            "CIRCULAR_DEPENDENCY",
            &["flows/Top.json"],
            vec![outer("Top", "Mid"), outer("Mid", "Low"), outer("Low", "Top")],
        ),
        row("a flow goes through itself", "CIRCULAR_DEPENDENCY", &["flows/Top.json"], vec![outer("Top", "Top")]),
        one("an edge leads nowhere", "VALIDATION_ERROR", &nodes, &dangling),
        within("an edge of a flow within leads nowhere", "VALIDATION_ERROR", &nodes, &dangling),
        one("two nodes have one id", "VALIDATION_ERROR", &doubled, &json!([])),
        within("two nodes of a flow within have one id", "VALIDATION_ERROR", &doubled, &json!([])),
        one("the flow has too many nodes", "VALIDATION_ERROR", &json!(many), &json!([])),
        row("flows lie too deep in each other", "LIMIT_EXCEEDED", &["flows/Top.json"], nested),
        row(
            "a flow within has a step without its template",
            "TEMPLATE_NOT_FOUND",
            &["flows/In.json"],
            vec![outer("Top", "In"), flow("In", "template", &json!({"label": "A", "selectedTemplateId": "Gone"}))],
        )
        .asked(Asked::Running),
    ]
}

/// Personas and contracts that can't be used, which only a guided execution needs.
fn of_guidance() -> Vec<Bad> {
    let persona = |name, code, fix: &[&'static str], files: Vec<(String, Part)>| {
        let files = files.into_iter().chain([with("persona", "critic")]).collect();
        row(name, code, fix, files).asked(Asked::Guided)
    };
    let critic = |part| vec![("personas/critic.md".to_owned(), part)];
    let theirs: &[&'static str] = &["personas/critic.md"];
    vec![
        persona("a persona is missing", "VALIDATION_ERROR", &["flows/Top.json"], Vec::new()),
        persona(
            "a persona has no end of its front matter",
            "VALIDATION_ERROR",
            theirs,
            critic(Part::Bytes(b"---\nname: x\n".to_vec())),
        ),
        persona("a persona is not UTF-8", "VALIDATION_ERROR", theirs, critic(Part::Bytes(b"a\xff".to_vec()))),
        persona("a persona is too large", "FILE_TOO_LARGE", theirs, critic(Part::Bytes(too_large()))),
        persona("a persona is an LFS pointer", "VALIDATION_ERROR", theirs, critic(Part::Bytes(LFS.into()))),
        persona("a persona is a link out", "VALIDATION_ERROR", theirs, critic(Part::Link)),
        persona("a persona is not given", "GITHUB_ERROR", theirs, critic(Part::Failing(b"Judge.".to_vec())))
            .only(Places::GitHub),
        persona(
            "two personas go by one name",
            "VALIDATION_ERROR",
            &["personas/a/critic.md", "personas/b/critic.md"],
            vec![file("personas/a/critic.md", "Judge."), file("personas/b/critic.md", "Judge.")],
        ),
        row("a contract is missing", "VALIDATION_ERROR", &["flows/Top.json"], vec![with("contract", "shape")])
            .asked(Asked::Guided),
        row(
            "a contract is no schema",
            "VALIDATION_ERROR",
            &["contracts/shape.json"],
            vec![with("contract", "shape"), file("contracts/shape.json", r#"{"type": 5}"#)],
        )
        .asked(Asked::Guided),
    ]
}
