//! The modes that go by usage, and the tiers walked one after the other.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::discover::samples::{flows, index};
use crate::discover::{CursorFault, DiscoverError, Figures, FlowIndex, ListEntry, Mode, Page, Selection, Usage, page};

/// What app takes off the budget for what stands around the entries.
const ENVELOPE: usize = 220;

fn used(uses: u64, average_ms: u64) -> Usage {
    Usage {
        uses,
        successes: uses,
        timed: uses,
        took: Duration::from_millis(average_ms) * u32::try_from(uses).unwrap(),
        last_7_days: uses,
        last_30_days: uses,
        ..Usage::default()
    }
}

fn usage(of: &[(usize, u64, u64)]) -> BTreeMap<String, Usage> {
    let flows = flows(2_000);
    of.iter().map(|(number, uses, ms)| (flows[*number].name.clone(), used(*uses, *ms))).collect()
}

fn take(index: &FlowIndex, selection: &Selection, usage: &BTreeMap<String, Usage>) -> Page {
    let figures = Figures { source: "acme/flows", usage: Some(usage) };
    page(index, selection, "r", &figures).expect("a page")
}

fn of_mode(mode: Mode) -> Selection {
    Selection { envelope_tokens: ENVELOPE, ..Selection::all(mode) }
}

fn names(page: &Page) -> Vec<String> {
    page.entries.iter().map(|entry| json!(entry)["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn the_most_used_come_first_and_are_filled_up_by_name() {
    let usage = usage(&[(7, 9_000, 20), (3, 500, 900), (5, 1, 0)]);
    let page = take(&index(100), &of_mode(Mode::Hot), &usage);
    let best = names(&page);
    // 0.76, 0.60 + 0.04 for one success on the spot, and 0.44.
    assert_eq!(best[..3], ["contract_brief_00007", "incident_report_00005", "lead_followup_00003"]);
    assert_eq!((best.len(), page.total), (15, 100));
    assert!(best[3..].is_sorted(), "those that were never used, by name: {best:?}");
    assert_eq!(
        json!(&page.entries[0]),
        json!({
            "name": "contract_brief_00007",
            "source": "acme/flows",
            "description": "Explains a contract's duties and dates to people who will not read it. Works in two passes, asks for nothing else and keeps every figure as it was given to it.",
            "params": ["audience", "source"],
            "avgLatencyMs": 20.0,
            "successRate": 100.0,
            "popularity": "hot",
        })
    );
    let unused = json!(&page.entries[3]);
    assert_eq!(
        (&unused["avgLatencyMs"], &unused["successRate"], &unused["popularity"]),
        (&Value::Null, &Value::Null, &json!("cold"))
    );
}

#[test]
fn categories_come_in_their_order_with_the_most_used_of_their_flows() {
    let page = take(&index(20), &of_mode(Mode::Categories), &usage(&[(11, 50, 1)]));
    let all: Vec<Value> = page.entries.iter().map(|entry| json!(entry)).collect();
    assert_eq!(
        all[0],
        json!({
            "category": "sales",
            "displayName": "Sales",
            "description": "",
            "flowCount": 3,
            "sourceCount": 1,
            "popularFlows": ["lead_followup_00011"],
        })
    );
    let rest: Vec<&str> = all[1..].iter().map(|entry| entry["category"].as_str().unwrap()).collect();
    assert!(rest.is_sorted() && rest.len() == 7, "{rest:?}");
    assert_eq!((page.total, page.returned), (8, 8));
    let some = Selection { tags: vec!["legal".to_owned()], ..of_mode(Mode::Categories) };
    let page = take(&index(20), &some, &BTreeMap::new());
    assert_eq!((page.total, &json!(&page.entries[0])["flowCount"]), (1, &json!(2)), "filters choose what is counted");
}

#[test]
fn flows_without_a_category_are_a_group_at_the_end() {
    let mut some = flows(3);
    some[1].category = None;
    let index = crate::discover::samples::index_of(some);
    let page = take(&index, &of_mode(Mode::Categories), &BTreeMap::new());
    let last = json!(page.entries.last());
    assert_eq!((&last["category"], &last["flowCount"]), (&Value::Null, &json!(1)));
}

#[test]
fn a_summary_and_everything_have_the_published_fields() {
    let usage = usage(&[(0, 4, 3)]);
    let shown = |mode, names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        json!(take(&index(2), &Selection { names, ..of_mode(mode) }, &usage).entries[0])
    };
    assert_eq!(
        shown(Mode::Summaries, &[]),
        json!({
            "name": "brand_review_00000",
            "description": "Compares how a brand describes itself with how its customers do.",
            "params": {"audience": "string (required)", "lang": "string (optional)", "source": "string (required)"},
            "returns": ["Result", "Open questions"],
            "avgLatencyMs": 3.0,
        })
    );
    let full = shown(Mode::Full, &["brand_review_00000"]);
    assert_eq!(full["parameters"]["required"], json!(["source", "audience"]));
    assert_eq!(full["parameters"]["properties"]["lang"]["default"], json!("en"));
    assert_eq!(full["returns"], json!({"Result": "node-4", "Open questions": "node-5"}));
    assert_eq!(full["examples"], json!(["brand_review please"]));
    assert_eq!(
        full["performance"],
        json!({"avgLatencyMs": 3.0, "p95LatencyMs": null, "successRate": 100.0, "totalInvocations": 4})
    );
}

/// Filling templates takes microseconds; "0.0 ms" would be no time at all.
#[test]
fn short_times_are_shown_as_they_are() {
    let quick = Usage { uses: 2, successes: 2, timed: 2, took: Duration::from_micros(62), ..Usage::default() };
    let usage = BTreeMap::from([(flows(1)[0].name.clone(), quick)]);
    let page = take(&index(1), &of_mode(Mode::Hot), &usage);
    assert_eq!(json!(&page.entries[0])["avgLatencyMs"], json!(0.031));
}

#[test]
fn everything_is_for_one_to_ten_flows() {
    let index = index(20);
    for given in [0, 11] {
        let names = (0..given).map(|number| format!("n{number}")).collect();
        let refused = page(&index, &Selection { names, ..of_mode(Mode::Full) }, "r", &Figures::default());
        assert_eq!(refused, Err(DiscoverError::InvalidNames { given }));
    }
}

#[test]
fn what_is_slow_is_left_out_in_every_mode_alike() {
    let index = index(30);
    let usage = usage(&[(1, 10, 900), (2, 10, 100), (3, 10, 101)]);
    let others = [Mode::Categories, Mode::Index, Mode::Brief, Mode::Contract];
    for mode in Mode::ALL.into_iter().filter(|mode| !others.contains(mode)) {
        let names_asked = if mode == Mode::Full {
            [1, 2, 3, 4].map(|number| flows(5)[number].name.clone()).to_vec()
        } else {
            Vec::new()
        };
        let selection = Selection {
            max_latency_ms: Some(100),
            names: names_asked,
            limit: (mode != Mode::Full).then_some(100),
            max_tokens: Some(100_000),
            ..of_mode(mode)
        };
        let mut found = names(&take(&index, &selection, &usage));
        found.sort_unstable();
        assert!(found.contains(&"release_notes_00002".to_owned()), "{mode:?}");
        assert_eq!(found.len(), if mode == Mode::Full { 2 } else { 28 }, "{mode:?}: {found:?}");
    }
    let wrong = Selection { max_latency_ms: Some(-1), ..of_mode(Mode::Compact) };
    let refused = page(&index, &wrong, "r", &Figures::default());
    assert_eq!(refused, Err(DiscoverError::InvalidLatency { given: -1 }));
}

#[test]
fn a_cursor_goes_on_until_use_changes_the_order() {
    let index = index(200);
    let (first_use, later_use) = (usage(&[(7, 10, 0)]), usage(&[(7, 10, 0), (9, 9_999, 0)]));
    let mut selection = of_mode(Mode::Summaries);
    let first = take(&index, &selection, &first_use);
    assert_eq!(first.returned, 50.min(first.entries.len()));
    selection.cursor.clone_from(&first.next_cursor);
    let second = take(&index, &selection, &first_use);
    assert!(second.entries.iter().all(|entry| !first.entries.contains(entry)));
    let figures = Figures { source: "", usage: Some(&later_use) };
    let refused = page(&index, &selection, "r", &figures);
    assert_eq!(refused, Err(DiscoverError::InvalidCursor { fault: CursorFault::Foreign }));
}

/// hot → categories → summaries → full over 1,000 flows: running totals in tokens, as published.
#[test]
fn the_tiers_walked_in_turn_stay_within_their_budgets() {
    let index = index(1_000);
    let usage = usage(&[(1, 9_000, 20), (50, 100, 5)]);
    let ten = flows(10).into_iter().map(|flow| flow.name).collect();
    let tiers = [
        (of_mode(Mode::Hot), 2_000),
        (of_mode(Mode::Categories), 4_000),
        (of_mode(Mode::Summaries), 8_000),
        (Selection { names: ten, ..of_mode(Mode::Full) }, 12_000),
    ];
    let mut spent = 0;
    for (selection, most) in tiers {
        let page = take(&index, &selection, &usage);
        assert!(page.returned > 0, "{:?}", selection.mode);
        spent += page.estimated_tokens;
        assert!(spent <= most, "{:?}: {spent} of {most}", selection.mode);
    }
    let everything: usize = flows(1_000)
        .chunks(10)
        .map(|ten| {
            let names = ten.iter().map(|flow| flow.name.clone()).collect();
            let whole = Selection { names, max_tokens: Some(1_000_000), ..Selection::all(Mode::Full) };
            take(&index, &whole, &usage).estimated_tokens
        })
        .sum();
    assert!(spent * 100 <= everything * 8, "{spent} of {everything}");
}

#[test]
fn no_budget_and_no_number_of_flows_leaves_a_page_empty_or_a_cursor_still() {
    for count in [0, 1, 80, 200] {
        let index = index(count);
        for mode in [Mode::Hot, Mode::Categories, Mode::Summaries] {
            for budget in [1, 300, 2_000] {
                let mut selection = Selection { max_tokens: Some(budget), ..of_mode(mode) };
                let (mut seen, mut pages) = (0, 0);
                loop {
                    let page = take(&index, &selection, &BTreeMap::new());
                    seen += page.returned;
                    pages += 1;
                    assert!(page.total == 0 || page.returned > 0, "{mode:?} of {count} with {budget}");
                    assert!(page.entries.iter().all(|entry| !matches!(entry, ListEntry::Contract(_))));
                    let Some(cursor) = page.next_cursor else { break assert_eq!(seen, page.total) };
                    selection.cursor = Some(cursor);
                    assert!(pages <= count, "the cursor stands still");
                }
            }
        }
    }
}
