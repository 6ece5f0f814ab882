//! Cut descriptions, input summaries, index lines and the fields of each mode.

use serde_json::json;

use crate::discover::samples::{index, typical};
use crate::discover::{
    Figures, FlowInput, FlowRow, IndexRows, Mode, Selection, brief_inputs, input_summary, page, truncated,
};

fn input(name: &str, kind: Option<&str>, required: bool) -> FlowInput {
    FlowInput { name: name.to_owned(), kind: kind.map(str::to_owned), required, ..FlowInput::default() }
}

#[test]
fn a_text_of_150_characters_or_fewer_is_unchanged() {
    for text in [String::new(), "a b".to_owned(), "x".repeat(150), "é".repeat(150), "a ".repeat(75)] {
        assert_eq!(truncated(&text, 150), text);
    }
}

#[test]
fn a_long_text_is_cut_at_the_last_space_and_marked() {
    let sentence = "This sentence goes on and on. ".repeat(11);
    let cut = truncated(&sentence[..320], 150);
    assert!(cut.chars().count() <= 153 && cut.ends_with("..."));
    assert!(sentence.starts_with(cut.trim_end_matches('.')));

    let letters = "x".repeat(149);
    assert_eq!(truncated(&format!("{letters} word"), 150), format!("{letters}..."));
}

#[test]
fn a_text_without_a_useful_space_is_cut_hard() {
    assert_eq!(truncated(&"x".repeat(200), 150), format!("{}...", "x".repeat(150)));
    assert_eq!(truncated(&format!("{} word", "x".repeat(150)), 150), format!("{}...", "x".repeat(150)));
    assert_eq!(truncated(&"語".repeat(240), 150), format!("{}...", "語".repeat(150)));
    assert_eq!(truncated(&format!("SEO {}", "記".repeat(200)), 150), format!("SEO {}...", "記".repeat(146)));
}

#[test]
fn a_space_counts_from_half_of_the_length_on() {
    let at = |place: usize| truncated(&format!("{} {}", "a".repeat(place), "b".repeat(200)), 150);
    assert_eq!(at(75), format!("{}...", "a".repeat(75)));
    assert_eq!(at(74), format!("{} {}...", "a".repeat(74), "b".repeat(75)));
}

#[test]
fn no_white_space_stands_before_the_dots() {
    let text = format!("{}  {}", "a".repeat(148), "b".repeat(20));
    assert_eq!(truncated(&text, 150), format!("{}...", "a".repeat(148)));
    let text = format!("{}\n\t {}", "a".repeat(100), "b".repeat(80));
    assert_eq!(truncated(&text, 150), format!("{}...", "a".repeat(100)));
}

#[test]
fn an_input_summary_is_sorted_and_says_what_is_required() {
    let inputs = [
        input("python_version", None, false),
        input("project_path", Some("string"), true),
        input("environment", Some("string"), false),
        input("Retries", Some("number"), false),
    ];
    assert_eq!(
        summary(&inputs),
        "Retries (number, optional), environment (string, optional), project_path (string, required), python_version (string, optional)"
    );
    assert_eq!(summary(&[]), "No inputs required");
    let unknown = FlowRow { inputs_unknown: true, ..named("Broken") };
    assert_eq!(input_summary(&unknown), "Not known: the flow has errors");
    assert_eq!(super::super::index_line(&unknown), "Broken(…)");
}

fn summary(inputs: &[FlowInput]) -> String {
    input_summary(&FlowRow { inputs: inputs.to_vec(), ..FlowRow::default() })
}

#[test]
fn brief_inputs_name_the_required_ones_first_and_count_what_has_no_room() {
    let brief = |inputs: &[FlowInput], inputs_unknown| {
        brief_inputs(&FlowRow { inputs: inputs.to_vec(), inputs_unknown, ..named("F") })
    };
    assert_eq!(brief(&[input("tone", None, false), input("topic", None, true)], false), "topic, tone?");
    assert_eq!(brief(&[], false), "No inputs required");
    assert_eq!(brief(&[], true), "Not known: the flow has errors");
    let long = "a".repeat(70);
    let inputs = [input("b", None, true), input(&long, None, true), input("c", None, false)];
    assert_eq!(brief(&inputs, false), format!("{long}, 2 more"));
}

fn index_line(name: &str, description: &str, tags: &[&str], inputs: &[FlowInput]) -> String {
    super::super::index_line(&FlowRow {
        description: description.to_owned(),
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        inputs: inputs.to_vec(),
        ..named(name)
    })
}

#[test]
fn an_index_line_has_name_inputs_purpose_and_tags() {
    let inputs = [input("market", None, true), input("tone", None, false), input("company", None, true)];
    assert_eq!(
        index_line("Brand", "Finds a position. Then writes it down.", &["marketing"], &inputs),
        "Brand(company, market, tone?) – Finds a position [marketing]"
    );
    assert_eq!(index_line("Tea", "", &[], &[]), "Tea()");
    assert_eq!(index_line("Tea", "v1.2 of the tea! Hot.", &["a", "b"], &[]), "Tea() – v1.2 of the tea [a, b]");
    assert_eq!(index_line("茶", "お茶を入れます。次に飲みます。", &[], &[]), "茶() – お茶を入れます");
}

#[test]
fn a_long_index_line_gives_up_purpose_then_tags_but_never_name_inputs_or_the_first_tag() {
    let inputs = [input("source", None, true), input("audience", None, true), input("language", None, false)];
    let purpose = "Compares how a brand describes itself with how its customers describe it";
    let tags = ["marketing", "weekly", "customers"];
    let line = index_line("brand_review", purpose, &tags, &inputs);
    assert_eq!(line, "brand_review(audience, language?, source) – Compares how a brand… [marketing, …]");
    let line = index_line("brands", purpose, &tags, &inputs[..1]);
    assert_eq!(line, "brands(source) – Compares how a brand describes itself… [marketing, weekly, …]");
    assert!(line.chars().count() <= 80);

    let long = "n".repeat(120);
    let line = index_line(&long, purpose, &tags, &inputs);
    let all = format!("{long}(audience, language?, source) – Compares how a brand… [marketing, …]");
    assert_eq!(line, all);

    let line = index_line("b", "Short", &["one", &"long".repeat(20), "three"], &[]);
    assert_eq!(line, "b() – Short [one, …]");
    let line = index_line("b", "Short", &[&"long".repeat(20)], &[]);
    assert_eq!(line, format!("b() – Short [{}…]", "long".repeat(7)));
}

#[test]
fn an_index_line_is_one_line_whatever_the_texts_hold() {
    let line = index_line("a", "First\nsecond\r\n\u{202E}third", &["x\ny"], &[]);
    assert_eq!(line, "a() – First second  third [x y]");
}

#[test]
fn each_mode_shows_exactly_its_fields_in_order() {
    let index = index(1);
    let shown = |mode| {
        let page = page(&index, &Selection::all(mode), "r", &Figures::default()).expect("a page");
        json!(&page.entries[0])
    };
    let keys = |mode| shown(mode).as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(Mode::Compact), ["name", "description", "tags", "inputSummary"]);
    assert_eq!(keys(Mode::Brief), ["name", "description", "inputSummary"]);
    assert_eq!(
        keys(Mode::Standard),
        ["name", "description", "tags", "inputSummary", "version", "nodeCount", "created", "steps"],
        "the first typical flow has no date of change"
    );
    assert_eq!(
        keys(Mode::Detailed),
        [
            "name",
            "description",
            "tags",
            "version",
            "nodeCount",
            "created",
            "steps",
            "author",
            "category",
            "inputs",
            "outputs"
        ]
    );
    assert_eq!(keys(Mode::Contract), ["name", "description", "version", "nodeCount", "created"]);
    assert!(shown(Mode::Index).is_string());
}

#[test]
fn what_is_absent_reads_as_the_contract_says() {
    let bare = FlowRow { inputs: vec![input("b", None, true), input("a", None, false)], ..named("Bare") };
    let index = crate::discover::samples::index_of(vec![bare]);
    let shown =
        |mode| json!(&page(&index, &Selection::all(mode), "r", &Figures::default()).expect("a page").entries[0]);
    assert_eq!(
        shown(Mode::Detailed),
        json!({
            "name": "Bare", "description": "", "tags": [], "version": "1.0", "nodeCount": 0, "steps": [],
            "author": null, "category": null,
            "inputs": {
                "a": {"type": "string", "description": "", "required": false, "default": null},
                "b": {"type": "string", "description": "", "required": true, "default": null},
            },
            "outputs": {},
        })
    );
    assert_eq!(shown(Mode::Contract), json!({"name": "Bare", "description": "", "version": "1.0", "nodeCount": 0}));
}

#[test]
fn without_metadata_the_two_dates_are_left_out() {
    let index = index(2);
    for mode in [Mode::Standard, Mode::Detailed, Mode::Contract] {
        let selection = Selection { include_metadata: false, ..Selection::all(mode) };
        for entry in page(&index, &selection, "r", &Figures::default()).expect("a page").entries {
            let value = json!(&entry);
            assert!(value.get("created").is_none() && value.get("updated").is_none() && value.get("version").is_some());
        }
    }
}

#[test]
fn a_description_is_whole_outside_compact() {
    let long = "A sentence that says little. ".repeat(40);
    let index = crate::discover::samples::index_of(vec![FlowRow { description: long.clone(), ..named("Long") }]);
    for mode in [Mode::Standard, Mode::Detailed, Mode::Contract] {
        let page = page(&index, &Selection::all(mode), "r", &Figures::default()).expect("a page");
        assert_eq!(json!(&page.entries[0])["description"], json!(long));
    }
}

#[test]
fn texts_that_move_the_cursor_are_cleaned_and_line_breaks_stay() {
    let flow = FlowRow {
        description: "a\u{202E}b\nc\u{1b}[31m".to_owned(),
        tags: vec!["t\u{200F}".to_owned()],
        steps: vec!["s\u{0}".to_owned()],
        ..typical(1)
    };
    let rows = IndexRows::new(vec![flow], Vec::new(), Vec::new(), Vec::new());
    let flow = &rows.flows[0];
    assert_eq!((flow.description.as_str(), flow.tags[0].as_str(), flow.steps[0].as_str()), ("ab\nc[31m", "t", "s"));
}

fn named(name: &str) -> FlowRow {
    FlowRow { name: name.to_owned(), file: format!("flows/{name}.json"), ..FlowRow::default() }
}
