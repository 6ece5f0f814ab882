//! The stored form: the same rows come back, and what can't be read is told, never left out.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::discover::cursor::Mark;
use crate::discover::rank::SearchIndex;
use crate::discover::samples::{open, rows, typical};
use crate::discover::{
    Category, DamagedIndex, DiscoverError, Figures, FileProblem, FlowIndex, FlowInput, FlowOutput, FlowRow, IndexRows,
    Mode, NameMatch, Selection, TemplateRow, TemplateTitle, page,
};

fn same(rows: &IndexRows, index: &FlowIndex) {
    assert_eq!(index.len(), rows.flows.len());
    assert_eq!(index.is_empty(), rows.flows.is_empty());
    for (row, flow) in rows.flows.iter().enumerate() {
        assert_eq!(index.row(row).as_ref(), Ok(flow));
    }
    let exposed: Vec<usize> = (0..rows.flows.len()).filter(|row| rows.flows[*row].expose).collect();
    assert_eq!(index.exposed(), exposed);
    assert_eq!(index.templates().as_ref(), Ok(&rows.templates));
    assert_eq!(index.problems().as_ref(), Ok(&rows.problems));
    assert_eq!(index.categories().as_ref(), Ok(&rows.categories));
    assert!(index.names().expect("names").eq(rows.flows.iter().map(|flow| flow.name.as_str())));
    assert!(!index.is_damaged());
}

#[test]
fn what_is_written_comes_back() {
    for count in [0, 1, 80] {
        let rows = rows(count);
        same(&rows, &open(&rows));
    }
}

#[test]
fn equal_rows_are_written_as_equal_bytes_in_whatever_order_they_were_found() {
    let mut flows = crate::discover::samples::flows(20);
    let first = IndexRows::new(flows.clone(), Vec::new(), Vec::new(), Vec::new()).records();
    flows.reverse();
    assert_eq!(IndexRows::new(flows, Vec::new(), Vec::new(), Vec::new()).records(), first);
}

/// A program must not take rows of another form for its own: change `FORM` together with this sum.
#[test]
fn whoever_changes_the_stored_form_raises_its_number() {
    let written = format!("{:?}", rows(3).records());
    assert_eq!(Mark::new().with(&written).cursor(9), "3164b4b28a0549f9000000097a4a");
}

#[test]
fn another_form_or_other_bytes_are_not_opened() {
    let mut records = rows(2).records();
    records[0][0] += 1;
    for bad in [records, Vec::new(), vec![Vec::new()], vec![b"{}".to_vec()]] {
        assert!(FlowIndex::in_memory(bad).is_none());
    }
}

#[test]
fn ten_thousand_flows_take_a_few_megabytes() {
    let bytes: usize = rows(10_000).records().iter().map(Vec::len).sum();
    assert!(bytes < 10_000_000, "{bytes}");
}

#[test]
fn a_flow_is_found_by_name_then_stem_then_meta_name_then_id() {
    let flow = |name: &str, file: &str, meta: Option<&str>, id: Option<&str>, place_in_file: usize| FlowRow {
        name: name.to_owned(),
        file: format!("flows/{file}.json"),
        meta_name: meta.map(str::to_owned),
        flow_id: id.map(str::to_owned),
        place_in_file,
        ..FlowRow::default()
    };
    let index = crate::discover::samples::index_of(vec![
        flow("Tea", "Tea", Some("Make tea"), Some("id-1"), 0),
        flow("Lunch", "sub/meals", Some("Lunch"), Some("id-2"), 0),
        flow("Dinner", "sub/meals", Some("Dinner"), Some("Tea"), 1),
        flow("Cake", "Cake", Some("id-1"), None, 0),
        flow("Twin", "a/Twin", Some("Same"), None, 0),
        flow("Twin", "b/Twin", Some("Same"), None, 0),
    ]);
    let names = |wanted: &str| -> Vec<String> {
        let rows = match index.find(wanted).expect("keys") {
            NameMatch::Nothing => Vec::new(),
            NameMatch::One(row) => vec![row],
            NameMatch::Several(rows) => rows,
        };
        rows.into_iter().map(|row| index.row(row).expect("a row")).map(|flow| flow.file + " " + &flow.name).collect()
    };
    assert_eq!(names("Tea"), ["flows/Tea.json Tea"], "a name is stronger than another flow's id");
    assert_eq!(names("meals"), ["flows/sub/meals.json Dinner", "flows/sub/meals.json Lunch"]);
    assert_eq!(names("Make tea"), ["flows/Tea.json Tea"]);
    assert_eq!(names("id-1"), ["flows/Cake.json Cake"], "a meta name is stronger than an id");
    assert_eq!(names("id-2"), ["flows/sub/meals.json Lunch"]);
    assert_eq!(names("Twin"), ["flows/a/Twin.json Twin", "flows/b/Twin.json Twin"]);
    assert_eq!(names("Same").len(), 2);
    for absent in ["tea", "", "Te", "Teaa", "zzz", "\u{10FFFF}"] {
        assert_eq!(index.find(absent), Ok(NameMatch::Nothing), "{absent}");
    }
}

#[test]
fn numbers_in_defaults_keep_their_digits() {
    let default: Value = serde_json::from_str("1.10000000000000000000001e2").expect("a number");
    let input = FlowInput {
        name: "n".to_owned(),
        default: Some(default),
        choices: vec![json!([1, {"a": null}])],
        ..FlowInput::default()
    };
    let rows = IndexRows::new(vec![FlowRow { inputs: vec![input], ..typical(0) }], Vec::new(), Vec::new(), Vec::new());
    same(&rows, &open(&rows));
}

/// An index of records of which those in `lost` can't be had, and the numbers of those that were read.
fn noted(rows: &IndexRows, lost: &[usize]) -> (Option<FlowIndex>, Arc<Mutex<Vec<usize>>>) {
    let (records, lost) = (rows.clone().records(), lost.to_vec());
    let read = Arc::new(Mutex::new(Vec::new()));
    let noted = read.clone();
    let index = FlowIndex::open(move |number| {
        noted.lock().unwrap().push(number);
        records.get(number).filter(|_| !lost.contains(&number)).cloned()
    });
    (index, read)
}

#[test]
fn a_page_reads_the_rows_that_it_shows() {
    let (index, read) = noted(&rows(10_000), &[]);
    let index = index.expect("it opens");
    let shown = page(&index, &Selection::all(Mode::Compact), "r", &Figures::default()).expect("a page").returned;
    index.problems().expect("problems");
    assert_eq!(read.lock().unwrap().len(), shown + 3, "its head, the problems and the row that has no room");
}

/// Everything that an index can be asked for, each with the answer's words.
fn answers(index: &FlowIndex) -> Vec<Result<String, DamagedIndex>> {
    fn told<T: std::fmt::Debug>(answer: Result<T, DamagedIndex>) -> Result<String, DamagedIndex> {
        answer.map(|answer| format!("{answer:?}"))
    }
    let mut answers: Vec<_> = (0..index.len()).map(|row| told(index.row(row))).collect();
    answers.extend(["brand_review_00000", "", "flow-3", "lead_followup 3"].map(|name| told(index.find(name))));
    answers.extend([told(index.keys()), told(index.names().map(Iterator::collect::<Vec<_>>))]);
    answers.extend([told(index.templates()), told(index.problems()), told(index.categories())]);
    answers.extend([told(index.overlooked()), told(index.search().map(SearchIndex::len))]);
    for mode in Mode::ALL {
        let names = if mode == Mode::Full { vec!["flow-3".to_owned()] } else { Vec::new() };
        let plain = Selection { limit: Some(20), names, ..Selection::all(mode) };
        let tagged = Selection { tags: vec!["nobody's".to_owned()], ..plain.clone() };
        let asked = Selection { query: vec!["brand review".to_owned()], ..plain.clone() };
        for selection in [plain, tagged, asked] {
            answers.push(match page(index, &selection, "r", &Figures::default()) {
                Ok(page) => Ok(format!("{page:?}")),
                Err(DiscoverError::Damaged(damaged)) => Err(damaged),
                Err(other) => panic!("{other}"),
            });
        }
    }
    answers
}

#[test]
fn an_answer_is_the_truth_or_says_that_the_index_is_damaged_whatever_record_is_lost() {
    let rows = rows(12);
    let truth = answers(&open(&rows));
    assert!(truth.iter().all(Result::is_ok));
    for lost in 0..rows.clone().records().len() {
        let (index, _) = noted(&rows, &[lost]);
        let Some(index) = index else {
            assert_eq!(lost, 0, "only without its head it doesn't open");
            continue;
        };
        let given = answers(&index);
        assert!(given.iter().zip(&truth).all(|(given, truth)| given.is_err() || given == truth), "{lost}");
        assert!(given.contains(&Err(DamagedIndex)) && index.is_damaged(), "{lost}");
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

fn an_input() -> impl Strategy<Value = FlowInput> {
    let default = proptest::option::of(value());
    (text(), maybe(), maybe(), any::<[bool; 2]>(), default, proptest::collection::vec(value(), 0..3)).prop_map(
        |(name, kind, description, [required, in_sets], default, choices)| FlowInput {
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

fn a_flow() -> impl Strategy<Value = FlowRow> {
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
            let outputs = outputs.into_iter().map(|(label, node)| FlowOutput { label, node }).collect();
            FlowRow {
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
                guided: expose != broken,
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

fn some_rows() -> impl Strategy<Value = IndexRows> {
    let template =
        (text(), proptest::collection::vec((maybe(), maybe()), 0..3)).prop_map(|(stem, titles)| TemplateRow {
            file: format!("templates/{stem}.json"),
            stem,
            titles: titles.into_iter().map(|(id, title)| TemplateTitle { id, title }).collect(),
            ..TemplateRow::default()
        });
    let problem = (text(), text(), proptest::option::of(0usize..9999)).prop_map(|(file, message, line)| FileProblem {
        line,
        unnamed: line.unwrap_or(0) / 2,
        ..FileProblem::new(file, crate::code::Code::ParseError, message)
    });
    let category = (text(), maybe(), proptest::option::of(any::<i64>()))
        .prop_map(|(name, display_name, sort_order)| Category { name, display_name, description: None, sort_order });
    (
        proptest::collection::vec(a_flow(), 0..12),
        proptest::collection::vec(template, 0..3),
        proptest::collection::vec(problem, 0..3),
        proptest::collection::vec(category, 0..3),
    )
        .prop_map(|(flows, templates, problems, categories)| IndexRows::new(flows, templates, problems, categories))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_rows_come_back_from_their_stored_form(rows in some_rows()) {
        let index = open(&rows);
        same(&rows, &index);
        for flow in &rows.flows {
            let found = match index.find(&flow.name).expect("keys") {
                NameMatch::Nothing => Vec::new(),
                NameMatch::One(row) => vec![row],
                NameMatch::Several(rows) => rows,
            };
            let named: Vec<usize> = (0..rows.flows.len()).filter(|row| rows.flows[*row].name == flow.name).collect();
            prop_assert_eq!(found, named);
        }
    }

    #[test]
    fn flipped_bits_never_panic(rows in some_rows(), flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0u8..8), 1..8)) {
        let mut records = rows.records();
        for (record, place, bit) in flips {
            let record = record.index(records.len());
            let record = &mut records[record];
            if !record.is_empty() {
                let place = place.index(record.len());
                record[place] ^= 1 << bit;
            }
        }
        if let Some(index) = FlowIndex::in_memory(records).filter(|index| index.len() < 100) {
            answers(&index);
        }
    }
}
