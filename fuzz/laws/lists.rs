//! Pages of a listing, and the cursors between them.

use std::sync::OnceLock;

use flowy::internals::discover::{
    DiscoverError, Figures, FlowIndex, FlowRow, IndexRows, ListEntry, Mode, Page, Selection, page,
};
use serde_json::Value;

const REVISION: &str = "1";
const FLOWS: usize = 12;
const MODES: [Mode; 4] = [Mode::Index, Mode::Compact, Mode::Standard, Mode::Detailed];

fn index() -> &'static FlowIndex {
    static INDEX: OnceLock<FlowIndex> = OnceLock::new();
    INDEX.get_or_init(|| {
        let flow = |number: usize| FlowRow {
            name: format!("flow_{number:02}"),
            description: "Plans a trip by train. ".repeat(number),
            tags: vec![["sea", "land"][number % 2].to_owned()],
            file: format!("flows/flow_{number}.json"),
            ..FlowRow::default()
        };
        let rows = IndexRows::new((0..FLOWS).map(flow).collect(), Vec::new(), Vec::new(), Vec::new());
        FlowIndex::in_memory(rows.records()).unwrap()
    })
}

/// An entry's name; a line of an index begins with it.
fn name(entry: &ListEntry) -> String {
    match serde_json::to_value(entry).unwrap() {
        Value::String(line) => line.split(['(', ' ']).next().unwrap_or_default().to_owned(),
        fields => fields["name"].as_str().unwrap().to_owned(),
    }
}

fn turn(selection: &Selection) -> Result<Page, DiscoverError> {
    page(index(), selection, REVISION, &Figures::default())
}

/// Of the first bytes a selection is made; the rest is tried as its cursor.
pub fn cursors(bytes: &[u8]) {
    let [mode, limit, filter, cursor @ ..] = bytes else { return };
    let mut selection = Selection::all(MODES[usize::from(*mode) % MODES.len()]);
    selection.limit = Some(i64::from(*limit % 5) + 1);
    selection.tags = if filter & 1 == 1 { vec!["sea".to_owned()] } else { Vec::new() };
    selection.query = if filter & 2 == 2 { vec!["a trip by train".to_owned()] } else { Vec::new() };
    let (mut names, mut ours) = (Vec::new(), Vec::new());
    let total = loop {
        let page = turn(&selection).unwrap();
        assert!(page.returned > 0 && page.entries.len() == page.returned);
        names.extend(page.entries.iter().map(name));
        let Some(next) = page.next_cursor else { break page.total };
        assert!(names.len() < page.total && !ours.contains(&next), "every cursor moves");
        ours.push(next.clone());
        selection.cursor = Some(next);
    };
    let listed = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!((listed, names.len()), (total, total), "each flow stands on one page");
    let cursor = String::from_utf8_lossy(cursor).into_owned();
    selection.cursor = Some(cursor.clone());
    match turn(&selection) {
        // Whoever makes one up well is shown a page of the same listing, and nothing else.
        Ok(page) => assert!(page.total == total && page.returned > 0, "{cursor}"),
        Err(DiscoverError::InvalidCursor { .. }) => assert!(!ours.contains(&cursor)),
        Err(other) => panic!("{other}"),
    }
}
