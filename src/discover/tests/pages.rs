//! Pages: filters, limits, budgets, cursors, and walking to the end.

use proptest::prelude::*;
use serde_json::json;

use crate::discover::samples::{flows, index, index_of, typical};
use crate::discover::{
    CursorFault, DiscoverError, Figures, FlowIndex, FlowInput, FlowRow, LARGEST_BUDGET, LARGEST_LIMIT, ListEntry, Mode,
    Page, Selection, TruncatedBy, page,
};
use crate::next_step::NextStep;

const MODES: [Mode; 6] = [Mode::Compact, Mode::Index, Mode::Standard, Mode::Detailed, Mode::Brief, Mode::Contract];

fn take(index: &FlowIndex, selection: &Selection) -> Page {
    page(index, selection, "rev-1", &Figures::default()).expect("a page")
}

fn characters(page: &Page) -> usize {
    page.entries.iter().map(|entry| json!(entry).to_string().chars().count()).sum()
}

/// All pages of a selection, to the last one.
fn walk(index: &FlowIndex, selection: &Selection) -> Vec<Page> {
    let mut pages = vec![take(index, selection)];
    while let Some(cursor) = pages.last().and_then(|page| page.next_cursor.clone()) {
        assert!(pages.len() <= index.len(), "the cursor stands still");
        pages.push(take(index, &Selection { cursor: Some(cursor), ..selection.clone() }));
    }
    pages
}

/// An entry's name. An index line begins with it; typical names hold no bracket or blank.
fn name(entry: &ListEntry) -> String {
    match json!(entry) {
        serde_json::Value::String(line) => line.split(['(', ' ']).next().unwrap_or_default().to_owned(),
        fields => fields["name"].as_str().expect("a text").to_owned(),
    }
}

fn names(pages: &[Page]) -> Vec<String> {
    pages.iter().flat_map(|page| page.entries.iter().map(name)).collect()
}

#[test]
fn a_typical_flow_has_the_size_that_listings_were_designed_for() {
    let index = index(80);
    let all = |mode| Selection { max_tokens: Some(1_000_000), limit: Some(1_000), ..Selection::all(mode) };
    let compact = characters(&take(&index, &all(Mode::Compact))) / 80;
    assert!((315..=355).contains(&compact), "{compact}");

    // The figure to compare with is from before detailed showed the number of nodes, dates, steps and category.
    let before = |entry: &ListEntry| {
        let mut value = json!(entry);
        let fields = value.as_object_mut().expect("an object");
        fields.retain(|key, _| !["nodeCount", "created", "updated", "steps", "category"].contains(&key.as_str()));
        value.to_string().chars().count()
    };
    let detailed = take(&index, &all(Mode::Detailed)).entries.iter().map(before).sum::<usize>() / 80;
    assert!((815..=855).contains(&detailed), "{detailed}");
}

#[test]
fn eighty_flows_come_whole_in_one_compact_call() {
    let page = take(&index(80), &Selection { envelope_tokens: 300, ..Selection::all(Mode::default()) });
    assert_eq!((page.total, page.returned, page.entries.len()), (80, 80, 80));
    assert_eq!((page.next_cursor, page.truncated_by, page.next_step), (None, None, None));
    assert!(page.estimated_tokens <= 8_000);
}

#[test]
fn the_short_modes_are_much_shorter_than_detailed() {
    for count in [10, 20, 50, 80, 100, 200] {
        let index = index(count);
        let size = |mode| {
            let all = Selection { max_tokens: Some(1_000_000), limit: Some(1_000), ..Selection::all(mode) };
            let page = take(&index, &all);
            assert_eq!(page.returned, count);
            characters(&page)
        };
        let detailed = size(Mode::Detailed);
        assert!(2 * size(Mode::Compact) <= detailed, "compact of {count}");
        assert!(2 * size(Mode::Standard) <= detailed, "standard of {count}: {} of {detailed}", size(Mode::Standard));
        assert!(10 * size(Mode::Index) <= detailed, "index of {count}: {} of {detailed}", size(Mode::Index));
    }
}

#[test]
fn limits_and_budgets_cut_the_pages_where_they_should() {
    for (count, limit, pages) in
        [(0, 40, 1), (1, 40, 1), (80, 40, 2), (80, 79, 2), (80, 80, 1), (200, 40, 5), (10_000, 1_000, 10)]
    {
        let index = index(count);
        let selection = Selection { limit: Some(limit), max_tokens: Some(1_000_000), ..Selection::all(Mode::Compact) };
        let walked = walk(&index, &selection);
        assert_eq!(walked.len(), pages, "{count} by {limit}");
        let last = walked.last().expect("at least one");
        assert_eq!((&last.next_cursor, last.truncated_by, last.next_step.is_some()), (&None, None, count == 0));
        assert!(walked.iter().rev().skip(1).all(|page| page.truncated_by == Some(TruncatedBy::Limit)));
        assert!(walked.iter().all(|page| page.total == count));
        assert_eq!(walked.iter().map(|page| page.returned).sum::<usize>(), count);
    }
}

#[test]
fn the_defaults_of_each_mode_hold() {
    let index = index(400);
    let whole = |mode| Selection { max_tokens: Some(1_000_000), ..Selection::all(mode) };
    for (mode, limit, budget) in [
        (Mode::Compact, 100, 8_000),
        (Mode::Index, 200, 8_000),
        (Mode::Standard, 100, 12_000),
        (Mode::Detailed, 50, 20_000),
    ] {
        assert_eq!(take(&index, &whole(mode)).returned, limit);
        let page = take(&index, &Selection::all(mode));
        assert!(page.estimated_tokens <= budget && page.returned <= limit, "{mode:?}");
    }
    let contract = take(&index, &Selection::all(Mode::Contract));
    assert_eq!((contract.returned, contract.next_cursor), (400, None));
    assert_eq!(take(&index, &Selection { limit: Some(7), ..Selection::all(Mode::Contract) }).returned, 7);
}

#[test]
fn a_page_keeps_its_budget_and_says_what_ended_it() {
    let index = index(80);
    let selection = Selection { max_tokens: Some(2_000), envelope_tokens: 200, ..Selection::all(Mode::Compact) };
    let first = take(&index, &selection);
    assert!(first.estimated_tokens <= 2_000 && first.estimated_tokens > 1_800, "{}", first.estimated_tokens);
    assert_eq!(first.truncated_by, Some(TruncatedBy::Budget));
    let shown = first.returned;
    assert_eq!(
        first.next_step.as_ref().map(NextStep::for_tools),
        Some(format!("{shown} of 80 shown; narrow by tags or category, or go on with nextCursor").as_str())
    );
    let second = take(&index, &Selection { cursor: first.next_cursor, ..selection });
    let next = second.next_step.expect("more");
    let says = next.for_tools();
    assert!(says.starts_with(&format!("{} to {} of 80 shown", shown + 1, shown + second.returned)), "{says}");
}

#[test]
fn the_estimate_of_a_page_is_close_above_what_its_json_really_is() {
    let index = index(200);
    let truth = tiktoken_rs::o200k_base_singleton();
    for mode in MODES {
        let page = take(&index, &Selection::all(mode));
        let json = serde_json::Value::Array(page.entries.iter().map(|entry| json!(entry)).collect()).to_string();
        let real = truth.encode_ordinary(&json).len();
        assert!(page.estimated_tokens >= real, "{mode:?} {} {real}", page.estimated_tokens);
        assert!(page.estimated_tokens * 100 <= real * 115, "{mode:?} {} {real}", page.estimated_tokens);
    }
}

fn huge() -> FlowRow {
    FlowRow {
        description: "A long story about nothing in particular. ".repeat(200),
        tags: (0..300).map(|number| format!("tag-{number}")).collect(),
        inputs: (0..300).map(|number| FlowInput { name: format!("input_{number}"), ..FlowInput::default() }).collect(),
        ..typical(3)
    }
}

#[test]
fn a_flow_over_the_budget_comes_in_its_shortest_form_and_the_walk_goes_on() {
    let mut all = flows(6);
    all[3] = huge();
    let index = index_of(all);
    for mode in [Mode::Compact, Mode::Index, Mode::Standard, Mode::Detailed] {
        let selection = Selection { max_tokens: Some(600), ..Selection::all(mode) };
        let pages = walk(&index, &selection);
        assert_eq!(names(&pages).len(), 6, "{mode:?}");
        assert!(pages.iter().all(|page| page.estimated_tokens <= 600), "{mode:?}");
        let short: Vec<_> = pages.iter().filter(|page| !page.shortened.is_empty()).collect();
        assert_eq!(short.len(), 1);
        assert_eq!(short[0].shortened, ["lead_followup_00003"]);
        let says = short[0].next_step.as_ref().map(NextStep::for_tools).unwrap_or_default();
        assert!(says.contains("\"lead_followup_00003\"") && says.contains("flows_show"), "{says}");
        let entry = short[0].entries.iter().find(|entry| name(entry) == "lead_followup_00003").expect("it is there");
        if mode == Mode::Index {
            assert_eq!(json!(entry), "lead_followup_00003 – A long story about nothing in particular");
        } else {
            let value = json!(entry);
            let keys: Vec<_> = value.as_object().expect("an object").keys().collect();
            assert_eq!(keys, ["name", "description", "shortened"]);
            assert!(value["description"].as_str().expect("a text").chars().count() <= 153);
        }
    }
}

#[test]
fn the_smallest_budget_still_moves_one_flow_at_a_time() {
    let index = index(5);
    for mode in MODES {
        let selection = Selection { max_tokens: Some(1), envelope_tokens: 5_000, ..Selection::all(mode) };
        let pages = walk(&index, &selection);
        assert!(pages.iter().all(|page| page.returned == 1 && page.shortened.len() == 1));
        assert_eq!(names(&pages).len(), 5);
    }
}

#[test]
fn the_largest_limit_is_allowed_and_the_contracts_mode_has_none() {
    let index = index(1_200);
    let wide = |mode, limit| Selection { limit: Some(limit), max_tokens: Some(LARGEST_BUDGET), ..Selection::all(mode) };
    let most = take(&index, &wide(Mode::Index, LARGEST_LIMIT));
    assert_eq!((most.returned, most.truncated_by), (usize::try_from(LARGEST_LIMIT).unwrap(), Some(TruncatedBy::Limit)));
    assert_eq!(take(&index, &wide(Mode::Contract, i64::MAX)).returned, 1_200);
}

#[test]
fn filters_must_all_fit_and_fit_exactly() {
    let index = index(80);
    let count = |change: &dyn Fn(&mut Selection)| {
        let mut selection = Selection::all(Mode::Compact);
        change(&mut selection);
        let page = take(&index, &selection);
        assert_eq!(page.total, page.returned);
        page.total
    };
    assert_eq!(count(&|_| ()), 80);
    assert_eq!(count(&|s| s.tags = vec!["sales".to_owned()]), 10);
    assert_eq!(count(&|s| s.tags = vec!["weekly".to_owned(), "sales".to_owned()]), 10);
    assert_eq!(count(&|s| s.tags = vec!["sales".to_owned(), "legal".to_owned()]), 0);
    assert_eq!(count(&|s| s.tags = vec!["Sales".to_owned()]), 0);
    assert_eq!(count(&|s| s.tags = vec!["sale".to_owned()]), 0);
    assert_eq!(count(&|s| s.category = Some("legal".to_owned())), 10);
    assert_eq!(count(&|s| s.category = Some(String::new())), 0);
    assert_eq!(count(&|s| s.complexity = Some("simple".to_owned())), 27);
    assert_eq!(
        count(&|s| {
            s.category = Some("legal".to_owned());
            s.complexity = Some("simple".to_owned());
        }),
        3
    );
}

#[test]
fn names_are_looked_up_and_unknown_ones_are_said() {
    let index = index(80);
    let of = |names: &[&str]| {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        take(&index, &Selection { names, ..Selection::all(Mode::Compact) })
    };
    let found = of(&["release_notes_00002", "flow-1", "invoice_check 1", "nobody", "nobody"]);
    assert_eq!(names(std::slice::from_ref(&found)), ["invoice_check_00001", "release_notes_00002"]);
    assert_eq!((found.total, found.unknown_names), (2, vec!["nobody".to_owned()]));
    let none = of(&["nobody"]);
    assert_eq!((none.total, none.returned, none.next_cursor), (0, 0, None));
}

#[test]
fn a_cursor_belongs_to_one_revision_mode_and_filter() {
    let index = index(80);
    let selection = Selection { limit: Some(10), ..Selection::all(Mode::Compact) };
    let cursor = take(&index, &selection).next_cursor;
    let next = Selection { cursor, ..selection };
    let refused = |change: &dyn Fn(&mut Selection), revision: &str| {
        let mut changed = next.clone();
        change(&mut changed);
        page(&index, &changed, revision, &Figures::default()).expect_err("refused")
    };
    let foreign = DiscoverError::InvalidCursor { fault: CursorFault::Foreign };
    assert_eq!(refused(&|_| (), "rev-2"), foreign);
    assert_eq!(refused(&|s| s.mode = Mode::Standard, "rev-1"), foreign);
    assert_eq!(refused(&|s| s.tags = vec!["weekly".to_owned()], "rev-1"), foreign);
    assert_eq!(refused(&|s| s.category = Some(String::new()), "rev-1"), foreign);
    assert_eq!(refused(&|s| s.complexity = Some("high".to_owned()), "rev-1"), foreign);
    assert_eq!(refused(&|s| s.names = vec!["flow-1".to_owned()], "rev-1"), foreign);
    assert_eq!(refused(&|s| s.include_metadata = false, "rev-1"), foreign);

    // Limit and budget may change on the way: they decide how much comes, not what.
    let wider = Selection { limit: Some(20), max_tokens: Some(5_000), ..next.clone() };
    assert_eq!(take(&index, &wider).returned, 20);
}

#[test]
fn the_order_in_which_tags_are_named_does_not_matter_to_a_cursor() {
    let index = index(80);
    let tags = |tags: [&str; 2]| tags.map(str::to_owned).to_vec();
    let selection = Selection { limit: Some(3), tags: tags(["weekly", "sales"]), ..Selection::all(Mode::Compact) };
    let cursor = take(&index, &selection).next_cursor;
    assert_eq!(take(&index, &Selection { cursor, tags: tags(["sales", "weekly"]), ..selection }).returned, 3);
}

#[test]
fn a_cursor_that_was_made_up_or_changed_is_refused() {
    let index = index(80);
    let selection = Selection { limit: Some(10), ..Selection::all(Mode::Compact) };
    let good = take(&index, &selection).next_cursor.expect("more");
    let mut bad: Vec<String> =
        ["", "abc", "0", "🙂", "-1", &"0".repeat(28), &"f".repeat(28), &"é".repeat(14), &good[1..]]
            .map(str::to_owned)
            .into();
    bad.push(good.to_uppercase());
    bad.push(format!("{good}0"));
    bad.push(format!("+{}", &good[1..]));
    for place in 0..good.len() {
        let digit = if good.as_bytes()[place] == b'0' { "1" } else { "0" };
        bad.push(format!("{}{digit}{}", &good[..place], &good[place + 1..]));
    }
    for cursor in bad.into_iter().filter(|cursor| *cursor != good) {
        let refused = page(
            &index,
            &Selection { cursor: Some(cursor.clone()), ..selection.clone() },
            "rev-1",
            &Figures::default(),
        );
        assert!(matches!(refused, Err(DiscoverError::InvalidCursor { .. })), "{cursor}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn walking_a_cursor_shows_every_flow_exactly_once(
        count in 0usize..60,
        limits in proptest::collection::vec((1i64..20, 1i64..3_000), 1..6),
        mode in proptest::sample::select(MODES.to_vec()),
        filter in proptest::sample::select(vec![None, Some("sales"), Some("weekly"), Some("nobody")]),
        big in any::<bool>(),
        envelope_tokens in 0usize..400,
    ) {
        let mut all = flows(count);
        if let (true, Some(flow)) = (big, all.get_mut(3)) {
            *flow = FlowRow { tags: flow.tags.clone(), ..huge() };
        }
        let index = index_of(all);
        let tags: Vec<String> = filter.into_iter().map(str::to_owned).collect();
        let expected: Vec<String> = (0..index.len())
            .filter_map(|row| index.row(row).ok())
            .filter(|flow| tags.iter().all(|tag| flow.tags.contains(tag)))
            .map(|flow| flow.name)
            .collect();
        let mut pages: Vec<Page> = Vec::new();
        loop {
            let (limit, budget) = limits[pages.len() % limits.len()];
            let selection = Selection {
                tags: tags.clone(),
                limit: Some(limit),
                max_tokens: Some(budget),
                envelope_tokens,
                cursor: pages.last().and_then(|page| page.next_cursor.clone()),
                ..Selection::all(mode)
            };
            let page = take(&index, &selection);
            prop_assert!(page.returned > 0 || page.next_cursor.is_none());
            prop_assert!(page.returned <= usize::try_from(limit).unwrap());
            prop_assert_eq!(page.total, expected.len());
            prop_assert_eq!(page.next_cursor.is_some(), page.truncated_by.is_some());
            let done = page.next_cursor.is_none();
            pages.push(page);
            if done {
                break;
            }
        }
        prop_assert_eq!(names(&pages), expected);
    }
}
