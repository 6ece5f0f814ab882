//! The packed form: the same entries come back, and nothing that was damaged brings anything down.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::discover::samples::{index, open, packed, typical};
use crate::discover::{Category, Entry, FileProblem, Found, Index, Input, Mode, Output, Packed, Parts, Selection};
use crate::discover::{Figures, TemplateEntry, TemplateTitle, page};

fn same(index: &Index, packed: &Packed) {
    assert_eq!(packed.len(), index.flows().len());
    assert_eq!(packed.is_empty(), index.flows().is_empty());
    for (row, flow) in index.flows().iter().enumerate() {
        assert_eq!(packed.entry(row).as_ref(), Some(flow));
    }
    assert_eq!(packed.entry(packed.len()), None);
    let marked = index.flows().iter().enumerate().filter(|(_, flow)| flow.expose).map(|(row, _)| row);
    assert!(packed.marked().eq(marked));
    assert_eq!(packed.templates(), index.templates());
    assert_eq!(packed.problems(), index.problems());
    assert_eq!(packed.categories(), index.categories());
    assert!(packed.names().eq(index.flows().iter().map(|flow| flow.name.as_str())));
}

#[test]
fn what_is_packed_comes_back() {
    for count in [0, 1, 80] {
        let index = index(count);
        same(&index, &open(&index));
    }
}

#[test]
fn equal_indexes_pack_to_equal_bytes_in_whatever_order_they_were_found() {
    let mut flows = crate::discover::samples::flows(20);
    let first = Index::new(flows.clone(), Vec::new(), Vec::new(), Vec::new()).pack();
    flows.reverse();
    assert_eq!(Index::new(flows, Vec::new(), Vec::new(), Vec::new()).pack(), first);
}

#[test]
fn another_format_or_another_file_is_not_opened() {
    let bytes = index(2).pack();
    assert!(Packed::open(bytes.clone()).is_some());
    let mut newer = bytes.clone();
    newer[8] += 1;
    let mut foreign = bytes.clone();
    foreign[0] ^= 1;
    for bad in [newer, foreign, Vec::new(), bytes[..20].to_vec(), bytes[..60].to_vec()] {
        assert!(Packed::open(bad).is_none());
    }
}

#[test]
fn counts_beyond_the_bytes_are_not_opened() {
    for number in 1..8 {
        let mut bytes = index(2).pack();
        bytes[8 + 4 * number..12 + 4 * number].fill(0xFF);
        if let Some(packed) = Packed::open(bytes) {
            touch(&packed);
        }
    }
}

#[test]
fn ten_thousand_flows_take_a_few_megabytes() {
    let packed = packed(10_000);
    assert_eq!(packed.len(), 10_000);
    let bytes = index(10_000).pack().len();
    assert!(bytes < 9_000_000, "{bytes}");
    for row in [0, 4_999, 9_999] {
        let name = packed.name(row).expect("a name").to_owned();
        assert_eq!(packed.find(&name), Found::One(row));
    }
}

#[test]
fn a_flow_is_found_by_name_then_stem_then_meta_name_then_id() {
    let flow = |name: &str, file: &str, meta: Option<&str>, id: Option<&str>, place_in_file: usize| Entry {
        name: name.to_owned(),
        file: format!("flows/{file}.json"),
        meta_name: meta.map(str::to_owned),
        flow_id: id.map(str::to_owned),
        place_in_file,
        ..Entry::default()
    };
    let packed = crate::discover::samples::packed_of(vec![
        flow("Tea", "Tea", Some("Make tea"), Some("id-1"), 0),
        flow("Lunch", "sub/meals", Some("Lunch"), Some("id-2"), 0),
        flow("Dinner", "sub/meals", Some("Dinner"), Some("Tea"), 1),
        flow("Cake", "Cake", Some("id-1"), None, 0),
        flow("Twin", "a/Twin", Some("Same"), None, 0),
        flow("Twin", "b/Twin", Some("Same"), None, 0),
    ]);
    let names = |found: Found| -> Vec<String> {
        let rows = match found {
            Found::Nothing => Vec::new(),
            Found::One(row) => vec![row],
            Found::Several(rows) => rows,
        };
        rows.into_iter()
            .map(|row| packed.entry(row).expect("an entry"))
            .map(|flow| flow.file + " " + &flow.name)
            .collect()
    };
    assert_eq!(names(packed.find("Tea")), ["flows/Tea.json Tea"], "a name is stronger than another flow's id");
    assert_eq!(names(packed.find("meals")), ["flows/sub/meals.json Dinner", "flows/sub/meals.json Lunch"]);
    assert_eq!(names(packed.find("Make tea")), ["flows/Tea.json Tea"]);
    assert_eq!(names(packed.find("id-1")), ["flows/Cake.json Cake"], "a meta name is stronger than an id");
    assert_eq!(names(packed.find("id-2")), ["flows/sub/meals.json Lunch"]);
    assert_eq!(names(packed.find("Twin")), ["flows/a/Twin.json Twin", "flows/b/Twin.json Twin"]);
    assert_eq!(names(packed.find("Same")).len(), 2);
    for absent in ["tea", "", "Te", "Teaa", "zzz", "\u{10FFFF}"] {
        assert_eq!(packed.find(absent), Found::Nothing, "{absent}");
    }
}

#[test]
fn numbers_in_defaults_keep_their_digits() {
    let default: Value = serde_json::from_str("1.10000000000000000000001e2").expect("a number");
    let input = Input {
        name: "n".to_owned(),
        default: Some(default),
        choices: vec![json!([1, {"a": null}])],
        ..Input::default()
    };
    let index = Index::new(vec![Entry { inputs: vec![input], ..typical(0) }], Vec::new(), Vec::new(), Vec::new());
    same(&index, &open(&index));
}

/// An index in the parts that it was cut into, or in others, and which of them were read.
fn in_parts(bytes: &[u8], cuts: &[usize]) -> (Packed, Arc<Mutex<Vec<usize>>>) {
    let starts: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).chain([bytes.len()]).collect();
    let (read, bytes) = (Arc::new(Mutex::new(Vec::new())), bytes.to_vec());
    let (noted, places) = (read.clone(), starts.clone());
    let parts = Parts::new(starts, move |part| {
        noted.lock().unwrap().push(part);
        Some(bytes[places[part]..places[part + 1]].into())
    });
    (Packed::open_parts(parts).expect("what was packed opens"), read)
}

#[test]
fn of_an_index_in_parts_a_page_reads_what_it_shows() {
    let mut index = index(10_000);
    let templates = (0..20_000).map(|number| TemplateEntry { stem: number.to_string(), ..TemplateEntry::default() });
    index = Index::new(index.flows().to_vec(), templates.collect(), Vec::new(), Vec::new());
    let (bytes, cuts) = index.pack_in_parts();
    assert!(cuts.len() > 50, "{}", cuts.len());
    assert!(cuts.windows(2).all(|two| two[1] - two[0] <= 32 * 1024), "rows are small here");
    assert!(bytes.len() - cuts.last().copied().unwrap_or_default() > 32 * 1024, "all templates are read at once");
    let (packed, read) = in_parts(&bytes, &cuts);
    page(&packed, &Selection::all(Mode::Compact), "r", &Figures::default()).expect("a page");
    packed.problems();
    assert!(read.lock().unwrap().len() <= 5, "{:?}", read.lock().unwrap());
    assert!(!read.lock().unwrap().contains(&cuts.len()), "templates are not looked at");
    let name = packed.name(7_777).expect("a name").to_owned();
    assert_eq!(packed.find(&name), Found::One(7_777));
    same(&index, &packed);
    let mut read = read.lock().unwrap().clone();
    read.sort_unstable();
    assert!(read.windows(2).all(|two| two[0] < two[1]), "no part is read twice");
    assert!(!packed.is_lost());
}

#[test]
fn a_part_that_cannot_be_had_is_told() {
    let (bytes, cuts) = index(1_000).pack_in_parts();
    let ends: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).chain([bytes.len()]).collect();
    let last = ends.len() - 2;
    let places = ends.clone();
    let parts = Parts::new(ends, move |part| (part < last).then(|| bytes[places[part]..places[part + 1]].into()));
    let packed = Packed::open_parts(parts).expect("its first part is there");
    assert!(packed.entry(0).is_some() && !packed.is_lost());
    assert!(packed.templates().is_empty() && packed.is_lost());
}

/// Asks a packed index for everything it can be asked for.
fn touch(packed: &Packed) {
    for row in (0..packed.len().min(40)).chain([packed.len(), usize::MAX]) {
        packed.entry(row);
        packed.name(row);
    }
    for name in ["brand_review_00000", "", "flow-3", "lead_followup 3"] {
        packed.find(name);
    }
    packed.marked().for_each(|row| drop(packed.entry(row)));
    packed.templates();
    packed.problems();
    packed.categories();
    for mode in [Mode::Compact, Mode::Index, Mode::Standard, Mode::Detailed, Mode::Contract] {
        let tagged = Selection { tags: vec!["sales".to_owned()], limit: Some(20), ..Selection::all(mode) };
        for selection in [Selection { limit: Some(20), ..Selection::all(mode) }, tagged] {
            page(packed, &selection, "r", &Figures::default()).expect("damage is no refusal");
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zA-Z _.-]{0,12}", "[가-힣ぁ-ん]{0,8}", "[a-c]{1,2}", "x{120,140}"]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
        proptest::collection::vec(text(), 0..3).prop_map(Value::from),
    ]
}

fn maybe() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(text())
}

fn an_input() -> impl Strategy<Value = Input> {
    let default = proptest::option::of(value());
    (text(), maybe(), maybe(), any::<[bool; 2]>(), default, proptest::collection::vec(value(), 0..3)).prop_map(
        |(name, kind, description, [required, in_sets], default, choices)| Input {
            name,
            kind,
            description,
            required,
            in_sets,
            default,
            choices,
        },
    )
}

fn a_flow() -> impl Strategy<Value = Entry> {
    let texts = || proptest::collection::vec(text(), 0..4);
    let outputs = proptest::collection::vec((text(), text()), 0..3);
    let inputs = proptest::collection::vec(an_input(), 0..4);
    (
        (text(), text(), texts(), maybe(), maybe(), maybe()),
        (maybe(), any::<u32>(), maybe(), maybe(), texts(), inputs),
        (outputs, texts(), text(), maybe(), maybe(), 0usize..300),
        (texts(), texts(), texts(), any::<[bool; 2]>()),
    )
        .prop_map(|(first, second, third, fourth)| {
            let (name, description, tags, category, complexity, author) = first;
            let (version, node_count, created, updated, steps, inputs) = second;
            let (outputs, examples, file, flow_id, meta_name, place_in_file) = third;
            let (sets, calls, uses, [expose, broken]) = fourth;
            let outputs = outputs.into_iter().map(|(label, node)| Output { label, node }).collect();
            Entry {
                name,
                description,
                tags,
                category,
                complexity,
                author,
                version,
                node_count: node_count as usize,
                created,
                updated,
                steps,
                inputs_unknown: place_in_file % 2 == 1,
                inputs,
                outputs,
                examples,
                sets,
                expose,
                calls,
                uses,
                broken,
                file: format!("flows/{file}.json"),
                flow_id,
                meta_name,
                place_in_file,
                oid: "0".repeat(40),
            }
        })
}

fn an_index() -> impl Strategy<Value = Index> {
    let template =
        (text(), proptest::collection::vec((maybe(), maybe()), 0..3)).prop_map(|(stem, titles)| TemplateEntry {
            file: format!("templates/{stem}.json"),
            stem,
            titles: titles.into_iter().map(|(id, title)| TemplateTitle { id, title }).collect(),
            ..TemplateEntry::default()
        });
    let problem = (text(), text(), proptest::option::of(0usize..9999)).prop_map(|(file, message, line)| FileProblem {
        file,
        message,
        line,
        unnamed: line.unwrap_or(0) / 2,
        ..FileProblem::default()
    });
    let category = (text(), maybe(), proptest::option::of(any::<i64>()))
        .prop_map(|(name, display_name, sort_order)| Category { name, display_name, description: None, sort_order });
    (
        proptest::collection::vec(a_flow(), 0..12),
        proptest::collection::vec(template, 0..3),
        proptest::collection::vec(problem, 0..3),
        proptest::collection::vec(category, 0..3),
    )
        .prop_map(|(flows, templates, problems, categories)| Index::new(flows, templates, problems, categories))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_index_comes_back_from_its_packed_form(index in an_index()) {
        let (bytes, cuts) = index.pack_in_parts();
        same(&index, &in_parts(&bytes, &cuts).0);
        let packed = open(&index);
        same(&index, &packed);
        for flow in index.flows() {
            let found = match packed.find(&flow.name) {
                Found::Nothing => Vec::new(),
                Found::One(row) => vec![row],
                Found::Several(rows) => rows,
            };
            let names: Vec<_> = found.iter().filter_map(|&row| packed.name(row)).collect();
            prop_assert_eq!(names.len(), index.flows().iter().filter(|other| other.name == flow.name).count());
            prop_assert!(names.iter().all(|name| *name == flow.name));
        }
    }

    #[test]
    fn a_cut_index_never_panics(index in an_index(), part in 0.0..1.0f64) {
        let bytes = index.pack();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "any place will do")]
        let end = (bytes.len() as f64 * part) as usize;
        if let Some(packed) = Packed::open(bytes[..end].to_vec()) {
            touch(&packed);
        }
    }

    #[test]
    fn flipped_bits_never_panic(index in an_index(), flips in proptest::collection::vec((any::<prop::sample::Index>(), 0u8..8), 1..8)) {
        let mut bytes = index.pack();
        for (place, bit) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= 1 << bit;
        }
        if let Some(packed) = Packed::open(bytes) {
            touch(&packed);
        }
    }

    #[test]
    fn bytes_that_only_begin_like_an_index_never_panic(rest in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = index(1).pack()[..12].to_vec();
        bytes.extend(rest);
        if let Some(packed) = Packed::open(bytes) {
            touch(&packed);
        }
    }
}
