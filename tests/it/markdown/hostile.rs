//! Hostile files in Markdown are refused with one finding, whatever they are made of.

use super::found;
use crate::support::program::Sandbox;

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn hostile_yaml_is_refused_with_a_finding() {
    let bomb = (1..60).fold("a0: &a0 [x, x]\n".to_owned(), |text, level| {
        format!("{text}a{level}: &a{level} [*a{below}, *a{below}]\n", below = level - 1)
    });
    for (name, front, rule) in [
        ("anchors", bomb, "front-matter error"),
        ("deep lists", format!("a: {}", "[".repeat(900_000)), "front-matter error"),
        ("deep mappings", format!("a: {}", "{a: ".repeat(200_000)), "front-matter error"),
        ("deep blocks", lines(1_000, |depth| format!("{}a:", " ".repeat(depth))), "front-matter error"),
        ("many keys", lines(80_000, |key| format!("k{key}: v")), "front-matter error"),
        ("many items", format!("a: [{}]", "\"\",".repeat(300_000)), "front-matter error"),
        ("question marks", "? ".repeat(400_000), "front-matter error"),
        ("open quotation mark", format!("a: \"{}", "x\n".repeat(400_000)), "front-matter error"),
        ("control characters", "a: \"\u{1}\u{0}\"".to_owned(), "front-matter error"),
    ] {
        let sandbox = Sandbox::new()
            .file("flows/Bad.flow.md", format!("---\n{front}\n---\n## A {{#a}}\nText.\n"))
            .file("flows/Good.flow.md", "---\nname: Good\nversion: 1.0.0\n---\n## A {#a}\nText.\n");
        let told = found(&sandbox);
        assert_eq!(told.len(), 1, "{name}: {told:?}");
        assert!(told[0].starts_with(rule), "{name}: {told:?}");
        assert_eq!(sandbox.run(["run", "Good"]).out.trim_end(), "Text.", "{name}");
    }
}

#[test]
fn a_file_of_ten_megabytes_is_refused_unread() {
    let sandbox = Sandbox::new().file("flows/Bad.flow.md", format!("---\na: \"{}\"\n---\n", "x".repeat(10_000_000)));
    let said = sandbox.run(["validate", "--json"]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("FILE_TOO_LARGE"), "{}", said.out);
}

#[test]
fn a_file_of_many_small_parts_is_read_in_time() {
    // Each of them took minutes when its parts were compared with each other, which no test run survives.
    let steps = "---\nname: Bad\nversion: 1.0.0\n---\n## A {#a}\nText.\n";
    for (name, text) in [
        (
            "results",
            format!("---\nname: Bad\nresults:\n{}\n---\n## A {{#a}}\nText.\n", lines(5_000, |n| format!("  r{n}: a"))),
        ),
        ("comments", format!("{steps}{}", lines(80_000, |_| "# a\n<!--".to_owned()))),
        ("braces", format!("{steps}{}", "{".repeat(1_000_000))),
        ("blank lines", format!("{steps}{}x\n", "\n".repeat(500_000))),
        ("ids of two words", format!("{steps}{}", "## L {#a b}\n".repeat(60_000))),
        ("steps without a blank", format!("{steps}{}", lines(40_000, |n| format!("##L{n} {{#s{n}}}")))),
        ("underlined steps", format!("{steps}{}", "L {#one}\n---\n\nx\n".repeat(40_000))),
        ("invisible characters", format!("---\ndescription: {}\n---\n{steps}", "\u{E0041}\u{200D}".repeat(100_000))),
    ] {
        let sandbox = Sandbox::new().file("flows/Bad.flow.md", text);
        assert!(sandbox.run(["validate", "--json"]).code <= 1, "{name}");
    }
    let read = |n: usize| lines(n.min(40), |before| format!("{{s{}_result}}", n - n.min(40) + before));
    let reads = lines(1_000, |n| format!("## L {{#s{n}}}\nRead {}\n", read(n)));
    let waits = format!("```yaml\nafter: [{}]\n```\n", lines(150, |n| format!("q{n},")));
    for (name, text) in [("reads", reads), ("waits", lines(500, |n| format!("## L {{#s{n}}}\n{waits}x\n")))] {
        let sandbox = Sandbox::new().file("flows/Bad.flow.md", format!("---\nname: Bad\nversion: 1.0.0\n---\n{text}"));
        let said = sandbox.run(["validate", "--json"]).json();
        let found = said["files"][0]["findings"].as_array().unwrap();
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        let message = "the flow has more than 5000 steps that wait for others, each counted";
        assert_eq!(found[0]["message"], message, "{name}");
    }
    let call = serde_json::json!({"metadata": {"name": "Bad", "version": "1.0.0"}, "edges": [], "nodes": [
        {"id": "t", "type": "tool", "data": {"call": "a:b", "args": {"x": "{".repeat(1_000_000), "y": "{{a|".repeat(6_000)}}}]});
    let sandbox = Sandbox::new().file("flows/Bad.json", call.to_string());
    assert!(sandbox.run(["validate", "--json"]).code <= 1);
}
