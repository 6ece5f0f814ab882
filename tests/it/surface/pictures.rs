//! Pictures of graphs, laid out by the program.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::program::{HALF, Sandbox, repository};

/// The tags of a text in XML, opened and closed in turn, each with its attributes; it has to be well formed.
pub(super) fn tags(xml: &str) -> Vec<String> {
    let (mut open, mut all): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
    let mut rest = xml;
    while let Some((text, begun)) = rest.split_once('<') {
        for entity in text.split('&').skip(1) {
            let name = entity.split(';').next().unwrap();
            assert!(["amp", "lt", "gt", "quot", "#39"].contains(&name), "{entity}");
        }
        assert!(!text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{text:?}");
        let (tag, after) = begun.split_once('>').expect("a tag ends");
        rest = after;
        assert!(!tag.contains('<'), "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{xml}");
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap();
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if !tag.ends_with('/') {
            open.push(name);
        }
        all.push(tag.to_owned());
        if name == "style" {
            rest = &rest[rest.find("</style>").expect("styles end")..];
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?}");
    all
}

/// The values of an attribute, in order.
fn values(tags: &[String], attribute: &str) -> Vec<String> {
    let begin = format!(" {attribute}=\"");
    let of = |tag: &String| Some(tag.split_once(&begin)?.1.split('"').next().unwrap().to_owned());
    tags.iter().filter_map(of).collect()
}

/// Which edges are drawn, each as FROM>TO.
fn drawn_edges(tags: &[String]) -> Vec<String> {
    let edges: Vec<String> = tags.iter().filter(|tag| tag.starts_with("g class=\"edge ")).cloned().collect();
    let (from, to) = (values(&edges, "data-from"), values(&edges, "data-to"));
    from.iter().zip(&to).map(|(from, to)| format!("{from}>{to}")).collect()
}

#[test]
fn every_node_and_edge_of_every_example_is_in_its_picture_and_two_runs_draw_the_same() {
    let sandbox = Sandbox::new();
    for flow in sandbox.run(["list", "--json"]).json()["flows"].as_array().unwrap() {
        let name = flow["name"].as_str().unwrap();
        let shown = sandbox.run(["show", name, "--full", "--json"]).json();
        let svg = sandbox.run(["graph", name, "--format", "svg"]).out;
        let tags = tags(&svg);
        let plain = |id: &Value| id.as_str().unwrap().replace('-', "_");
        let nodes: BTreeSet<String> =
            shown["nodes"].as_array().unwrap().iter().map(|node| plain(&node["id"])).collect();
        assert_eq!(values(&tags, "data-id").into_iter().collect::<BTreeSet<_>>(), nodes, "{name}");
        let edges = shown["edges"].as_array().unwrap().iter();
        let edges: BTreeSet<String> =
            edges.map(|edge| format!("{}>{}", plain(&edge["source"]), plain(&edge["target"]))).collect();
        assert_eq!(drawn_edges(&tags).into_iter().collect::<BTreeSet<_>>(), edges, "{name}");
        for forbidden in ["script", "foreignObject", "image", "use"] {
            assert!(!tags.iter().any(|tag| tag.split(' ').next() == Some(forbidden)), "{name}: {forbidden}");
        }
        assert_eq!(svg, sandbox.run(["graph", name, "--format", "svg"]).out, "{name}");
    }
}

#[test]
fn edges_tell_what_goes_along() {
    let flow = json!({"metadata": {"name": "Kinds", "version": "1.0.0"},
        "nodes": [
            {"id": "in", "type": "input", "data": {"variables": ["topic"]}},
            {"id": "a", "type": "template", "data": {"template": "About {topic}"}},
            {"id": "b", "type": "template", "data": {"template": "then {a_result}"}},
            {"id": "c", "type": "template", "data": {"template": "with {notes}"}},
            {"id": "d", "type": "template", "data": {"template": "of {draft}"}},
            {"id": "e", "type": "template", "data": {"template": "alone"}},
            {"id": "out", "type": "result", "data": {}}],
        "edges": [
            {"source": "in", "target": "a"}, {"source": "a", "target": "b"},
            {"source": "a", "target": "c", "data": {"mapping": {"notes": "a"}}},
            {"source": "a", "target": "d", "targetHandle": "draft"},
            {"source": "a", "target": "e"}, {"source": "d", "target": "out"}]});
    let svg = Sandbox::new().file("flows/Kinds.json", flow.to_string()).run(["graph", "Kinds", "--format", "svg"]).out;
    let kinds: Vec<(String, String)> = tags(&svg)
        .into_iter()
        .filter(|tag| tag.starts_with("g class=\"edge "))
        .map(|tag| [tag])
        .map(|tag| (values(&tag, "data-to")[0].clone(), values(&tag, "class")[0].clone()))
        .collect();
    let of =
        |to: &str| kinds.iter().find(|(id, _)| id == to).map(|(_, kind)| kind.trim_start_matches("edge ")).unwrap();
    let all = ["a", "b", "c", "d", "e", "out"].map(|to| (to, of(to)));
    let due = [("a", "value"), ("b", "value"), ("c", "mapping"), ("d", "handle"), ("e", "order"), ("out", "value")];
    assert_eq!(all, due);
    assert!(svg.contains(">notes</text>") && svg.contains(">draft</text>"), "{svg}");
}

#[test]
fn what_a_flow_says_is_text_in_its_picture() {
    let label = "</text><script>alert(1)</script>\u{1b}[31m \u{202e}& \"x\"";
    let flow = json!({"metadata": {"name": "Evil", "version": "1.0.0"},
        "nodes": [
            {"id": "in\"><script>", "type": "input", "data": {"label": label, "variables": ["<b>"]}},
            {"id": "日本語", "type": "template", "data": {"label": "日本語のとても長い名前の手順をここに書くとどうなるか", "template": "x"}},
            {"id": "note", "type": "<i>", "data": {"label": "\u{ffff}"}}],
        "edges": [{"source": "in\"><script>", "target": "日本語", "data": {"mapping": {"<u>": "y"}}}]});
    let sandbox = Sandbox::new().file("flows/Evil.json", flow.to_string());
    let svg = sandbox.run(["graph", "Evil", "--format", "svg"]).out;
    let tags = tags(&svg);
    assert!(!tags.iter().any(|tag| ["script", "b", "i", "u"].contains(&tag.split(' ').next().unwrap())), "{svg}");
    assert!(!svg.contains(['\u{1b}', '\u{202e}', '\u{ffff}']) && svg.contains("&lt;/text&gt;"), "{svg}");
    let ids = values(&tags, "data-id");
    assert!(
        ids.len() == 3 && ids.iter().all(|id| id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')),
        "{ids:?}"
    );
}

#[test]
fn a_flow_that_cannot_run_is_drawn_with_its_findings_and_its_ring() {
    let flow = json!({"metadata": {"name": "Ring", "version": "1.0.0"},
        "nodes": [
            {"id": "a", "type": "template", "data": {"template": "x"}},
            {"id": "b", "type": "template", "data": {"template": "y {a_result}"}},
            {"id": "b2", "type": "template", "data": {"selectedTemplateId": "Gone"}}],
        "edges": [{"source": "a", "target": "b"}, {"source": "b", "target": "a"}, {"source": "b", "target": "b2"}, {"source": "b2", "target": "b2"}]});
    let sandbox = Sandbox::new().file("flows/Ring.json", flow.to_string());
    let svg = sandbox.run(["graph", "Ring", "--format", "svg"]).out;
    let tags = tags(&svg);
    assert_eq!(drawn_edges(&tags), ["a>b", "b>a", "b>b2", "b2>b2"]);
    let back = tags.iter().filter(|tag| tag.contains(" back\"")).count();
    assert_eq!(back, 2, "{svg}");
    for told in ["can&#39;t be executed", "error[cycle]", "error[self-edge]", "error[missing-template]"] {
        assert!(svg.contains(told), "{told}: {svg}");
    }
}

#[test]
fn a_run_is_drawn_on_top_and_a_file_that_is_none_of_this_flow_is_refused() {
    let sandbox = Sandbox::new().file("flows/Half.json", HALF);
    let run = sandbox.run(["run", "Half", "--var", "topic=tea", "--json"]);
    let sandbox = sandbox.file("run.json", &run.out).file("cut.json", "{").file("list.json", "[]");
    let svg = sandbox.run(["graph", "Half", "--format", "svg", "--run", "run.json"]).out;
    let was = |id: &str| {
        let tag = tags(&svg).into_iter().find(|tag| tag.contains(&format!("data-id=\"{id}\""))).unwrap();
        values(&[tag], "class")[0].split("was-").nth(1).map(str::to_owned)
    };
    let states = ["in", "first", "second", "third", "side"].map(was);
    let due = [None, Some("done"), Some("failed"), Some("skipped"), Some("done")];
    assert_eq!(states, due.map(|state| state.map(str::to_owned)));
    assert!(svg.contains("run: partial in ") && svg.contains("2 done · 1 failed · 1 skipped"), "{svg}");
    assert_eq!(svg, sandbox.run(["graph", "Half", "--format", "svg", "--run", "run.json"]).out);
    for (format, marks) in [
        ("mermaid", ["style second stroke:", "<br/>failed\"", "<br/>skipped\""]),
        ("dot", ["penwidth=3", "\\nfailed\"", "\\nskipped\""]),
    ] {
        let text = sandbox.run(["graph", "Half", "--format", format, "--run", "run.json"]).out;
        assert!(marks.iter().all(|mark| text.contains(mark)), "{text}");
    }
    let final_only = sandbox.run(["run", "Launch_Brief", "--source", "examples", "--json"]);
    let sandbox = sandbox.file("other.json", &final_only.out);
    for (file, told) in
        [("cut.json", "is not JSON"), ("list.json", "is not the result of a run"), ("gone.json", "does not exist")]
    {
        let said = sandbox.run(["graph", "Half", "--format", "svg", "--run", file]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{file}");
        assert!(said.err.contains(told) && said.err.contains("hint: "), "{}", said.err);
    }
    let renamed = run.out.replace("\"flowName\": \"Half\"", "\"flowName\": \"Other\"");
    let said = sandbox.stdin(renamed).run(["graph", "Half", "--format", "svg", "--run", "-"]);
    assert!(said.code == 2 && said.err.contains("\"Other\""), "{}", said.err);
}

#[test]
fn flows_within_a_flow_are_drawn_within_its_card() {
    let inner = json!({"metadata": {"name": "Inner", "version": "1.0.0"},
        "nodes": [{"id": "one", "type": "template", "data": {"template": "x {topic}"}}, {"id": "two", "type": "template", "data": {"template": "{one_result}"}}],
        "edges": [{"source": "one", "target": "two"}]});
    let outer = json!({"metadata": {"name": "Outer", "version": "1.0.0"},
        "nodes": [{"id": "link", "type": "flow", "data": {"flow": "Inner", "variables": {"topic": "tea"}}}], "edges": []});
    let sandbox =
        Sandbox::new().file("flows/Inner.json", inner.to_string()).file("flows/Outer.json", outer.to_string());
    let ids = |line: &[&str]| values(&tags(&sandbox.run(line).out), "data-id");
    assert_eq!(ids(&["graph", "Outer", "--format", "svg"]), ["link"]);
    assert_eq!(ids(&["graph", "Outer", "--format", "svg", "--unfold"]), ["link", "link__one", "link__two"]);
}

#[test]
fn the_largest_flow_is_drawn_whole() {
    let step = |number: usize| json!({"id": format!("s{number}"), "type": "template", "data": {"label": format!("Step {number}"), "template": "x"}});
    // Long edges pass many rows.
    let edges = (1..1_000).flat_map(|to| {
        [to - 1, to * 7 / 9, to / 3].map(|from| json!({"source": format!("s{from}"), "target": format!("s{to}")}))
    });
    let flow = json!({"metadata": {"name": "Large", "version": "1.0.0"}, "nodes": (0..1_000).map(step).collect::<Vec<_>>(), "edges": edges.collect::<Vec<_>>()});
    let sandbox = Sandbox::new().file("flows/Large.json", flow.to_string());
    let svg = sandbox.run(["graph", "Large", "--format", "svg"]).out;
    assert_eq!(values(&tags(&svg), "data-id").len(), 1_000);
}

#[test]
fn a_page_tells_of_every_node_and_runs_nothing_but_its_own_script() {
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    use sha2::{Digest as _, Sha256};

    let evil = json!({"metadata": {"name": "Evil", "version": "1.0.0", "description": "</p><script>alert(1)</script>"},
        "nodes": [
            {"id": "in", "type": "input", "data": {"variables": ["topic"]}},
            {"id": "say", "type": "template", "data": {"label": "<img src=x onerror=alert(1)>", "template": "</script><script>alert(2)</script> {topic}"}},
            {"id": "out", "type": "result", "data": {"label": "'\"><b>"}}],
        "edges": [{"source": "in", "target": "say"}, {"source": "say", "target": "out"}]});
    let sandbox = Sandbox::new().file("flows/Evil.json", evil.to_string());
    let run = sandbox.run(["run", "Evil", "--var", "topic=</script><script>alert(3)</script>", "--json"]).out;
    let sandbox = sandbox.file("run.json", run);
    let page = sandbox.run(["graph", "Evil", "--format", "html", "--run", "run.json"]).out;
    for id in ["in", "say", "out"] {
        assert!(
            page.contains(&format!("data-id=\"{id}\"")) && page.contains(&format!("<article id=\"s-{id}\"")),
            "{id}"
        );
    }
    let scripts: Vec<&str> =
        page.split("<script>").skip(1).map(|rest| rest.split("</script>").next().unwrap()).collect();
    assert_eq!((scripts.len(), page.matches("<script").count()), (1, 1));
    let hash = BASE64_STANDARD.encode(Sha256::digest(scripts[0].as_bytes()));
    assert!(page.contains(&format!(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{hash}'"
    )));
    assert!(!page.contains("<img") && !page.contains("<b>") && page.contains("&lt;img src=x"), "{page}");
    for loaded in [" src=", "@import", "url(", "<link", "fetch("] {
        assert!(!page.replace("&lt;img src=x", "").contains(loaded), "{loaded}");
    }
    assert_eq!(page.matches("http://").count() + page.matches("https://").count(), 1, "the name of SVG alone");
    assert!(
        page.contains("<mark>{topic}</mark>") && page.contains("input, required") && page.contains("badge done"),
        "{page}"
    );
    assert_eq!(page, sandbox.run(["graph", "Evil", "--format", "html", "--run", "run.json"]).out);
}

#[test]
fn edges_that_run_together_are_drawn_once() {
    let flow = crate::support::drawing::flow().input("in", json!(["topic"]));
    let mut flow = flow.text("s0", "About {topic}");
    let mut edges = vec!["in > s0".to_owned()];
    for number in 1..600 {
        let (id, before) = (format!("s{number}"), format!("s{}", number - 1));
        flow = flow.text(&id, &format!("{{topic}}, {{{before}_result}}"));
        edges.extend([format!("in > {id}"), format!("{before} > {id}")]);
    }
    let sandbox = Sandbox::new().file("flows/Long.json", flow.edges(&edges.join(", ")).bytes());
    let svg = sandbox.run(["graph", "Long", "--format", "svg"]).out;
    assert_eq!(drawn_edges(&tags(&svg)).len(), edges.len());
    assert!(svg.len() < 1_000 * edges.len() / 2, "{} bytes", svg.len());
}

/// After a wanted change: `UPDATE_DOCS=1 cargo test picture_of_the_readme`, then look at it.
#[test]
#[allow(clippy::disallowed_methods, reason = "a test is told by the environment to rewrite what it compares")]
fn the_picture_of_the_readme_is_what_the_program_draws() {
    let due = Sandbox::new().run(["graph", "Launch_Brief", "--source", "examples", "--format", "svg"]).out;
    let path = repository().join("docs/launch-brief.svg");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, due).unwrap();
    } else {
        let is = std::fs::read_to_string(&path).unwrap();
        assert!(is == due, "docs/launch-brief.svg is out of date: run UPDATE_DOCS=1 cargo test picture_of_the_readme");
    }
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    assert!(readme.contains("](docs/launch-brief.svg)"));
}

#[test]
fn what_a_step_reads_leads_to_it_though_nobody_has_its_tool_or_its_flow() {
    let flow = "---\nname: Log\nversion: 1.0.0\ninputs: [path, mode]\nresults: { Log: tell }\n---\n\n\
                ## Choose {#choose}\n\nChoose for {mode}.\n\n\
                ## Read {#read}\n\n```yaml\ncall: files:read\nargs: { path: \"{{ path }}\" }\nrequires: [choose_result]\n```\n\n\
                ## Pass {#pass}\n\n```yaml\nflow: Gone\nvariables: { log: \"{read_result}\", mode: \"{mode}\" }\n```\n\n\
                ## Tell {#tell}\n\nTell {read_result} and {pass_result}.\n";
    let sandbox = Sandbox::new().file("flows/Log.flow.md", flow);
    let edges = drawn_edges(&tags(&sandbox.run(["graph", "Log", "--format", "svg"]).out));
    for edge in ["inputs>choose", "inputs>read", "choose>read", "inputs>pass", "read>pass", "pass>tell"] {
        assert!(edges.iter().any(|drawn| drawn == edge), "{edge}: {edges:?}");
    }
}

#[test]
fn a_run_is_counted_in_the_steps_that_the_picture_counts() {
    let inner = crate::support::drawing::flow().text("one", "x").text("two", "{one_result}");
    let outer = json!({"metadata": {"name": "Outer", "version": "1.0.0"},
        "nodes": [{"id": "link", "type": "flow", "data": {"flow": "Inner", "variables": {}}},
            {"id": "lost", "type": "flow", "data": {"flow": "Half", "variables": {"topic": "tea"}}}], "edges": []});
    let sandbox = Sandbox::new()
        .file("flows/Inner.json", inner.edges("one > two").bytes())
        .file("flows/Half.json", HALF)
        .file("flows/Outer.json", outer.to_string());
    let run = sandbox.run(["run", "Outer", "--json"]).out;
    let svg = sandbox.stdin(run).run(["graph", "Outer", "--format", "svg", "--unfold", "--run", "-"]).out;
    assert!(svg.contains("2 steps") && svg.contains("1 done · 1 failed"), "{svg}");
}
