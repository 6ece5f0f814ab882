//! Rankings of small catalogs.

use super::{Document, Field, LONGEST_QUERY_BYTES, Query, QueryFault, Ranking, SearchIndex};

const FLOWS: [(&str, &str, &[&str]); 8] = [
    (
        "Invoice_Check",
        "Reads an invoice and names what does not agree with the order.",
        &["check this bill", "청구서 확인해줘"],
    ),
    (
        "Incident_Report",
        "Collects what happened in an outage and writes the report.",
        &["障害報告書を書いて", "postmortem for last night"],
    ),
    (
        "Release_Notes",
        "Turns merged changes into notes that users understand.",
        &["写发布说明", "what changed in this version"],
    ),
    ("Meeting_Minutes", "Writes minutes with decisions and open questions.", &["протокол встречи", "회의록 정리해줘"]),
    ("Survey_Digest", "Groups the answers of a survey and quotes the telling ones.", &["设问卷结果总结"]),
    ("Kuendigung_Schreiben", "Verfasst eine Kündigung für einen Vertrag mit Fristen.", &["Vertrag kündigen"]),
    ("CodeReview", "Reads a pull request and comments on risks.", &["review my PR 🔍"]),
    ("Cold_Email", "Writes a first message to a prospect.", &["кому-то написать первое письмо"]),
];

fn index() -> SearchIndex {
    SearchIndex::build(FLOWS.iter().map(|(name, description, examples)| {
        let document = Document::new(*name).with(Field::Description, *description);
        examples.iter().fold(document, |document, example| document.with(Field::Examples, *example))
    }))
}

fn names(index: &SearchIndex, query: &[&str]) -> Vec<String> {
    match index.search(&Query::new(query).unwrap(), 10, false, |_| true) {
        Ranking::Hits(hits) => hits.iter().map(|hit| index.names[hit.position].clone()).collect(),
        Ranking::Excluded { .. } | Ranking::NoMatch { .. } => Vec::new(),
    }
}

fn first(query: &str) -> String {
    names(&index(), &[query]).first().cloned().unwrap_or_default()
}

#[test]
fn requests_of_any_script_find_their_flow() {
    assert_eq!(first("could you check the invoices"), "Invoice_Check");
    assert_eq!(first("청구서를 확인"), "Invoice_Check");
    assert_eq!(first("障害の報告書"), "Incident_Report");
    assert_eq!(first("发布说明"), "Release_Notes");
    assert_eq!(first("протоколы встреч"), "Meeting_Minutes");
    assert_eq!(first("Verträge kündigen"), "Kuendigung_Schreiben");
    assert_eq!(first("🔍"), "CodeReview");
    assert_eq!(first("code-review"), "CodeReview");
    assert_eq!(first("codereview"), "CodeReview");
}

#[test]
fn diacritics_may_be_left_out() {
    assert_eq!(first("kundigung"), "Kuendigung_Schreiben");
    assert_eq!(first("ＩＮＶＯＩＣＥ"), "Invoice_Check");
}

#[test]
fn one_typo_is_forgiven_and_counts_less() {
    for typo in ["invioce", "invoce", "invoicce", "imvoice"] {
        assert_eq!(first(typo), "Invoice_Check", "{typo}");
    }
    let index = index();
    let score = |query: &str| match index.search(&Query::new(&[query]).unwrap(), 1, false, |_| true) {
        Ranking::Hits(hits) => hits[0].score,
        Ranking::Excluded { .. } | Ranking::NoMatch { .. } => 0.0,
    };
    assert!(score("invioce") < score("invoice"));
}

#[test]
fn a_common_word_in_common_is_not_a_fit() {
    assert!(names(&index(), &["what is the weather of the moon and the sun"]).is_empty());
    assert!(names(&index(), &["play some slow jazz with the lights off"]).is_empty());
    assert!(names(&index(), &["the"]).is_empty());
}

#[test]
fn where_nothing_fits_the_nearest_terms_are_named() {
    let index = index();
    let query = Query::new(&["reporter of the moon landing on television"]).unwrap();
    let Ranking::NoMatch { nearest, .. } = index.search(&query, 10, false, |_| true) else { panic!("something fits") };
    assert_eq!(nearest.first().map(String::as_str), Some("report"));
}

#[test]
fn phrasings_are_ranked_together_and_their_order_decides_nothing() {
    let index = index();
    let one = names(&index, &["summarise the meeting", "meeting minutes", "회의록"]);
    let other = names(&index, &["회의록", "meeting minutes", "summarise the meeting"]);
    assert_eq!(one[0], "Meeting_Minutes");
    assert_eq!(one, other);
    // A phrasing that means something else doesn't win against two that agree.
    assert_eq!(names(&index, &["cold email", "invoice", "check the bill against the order"])[0], "Invoice_Check");
}

#[test]
fn twins_come_in_the_order_of_their_names() {
    let twins = ["Zeta_Report", "Alpha_Report", "Mid_Report", "Éclair_Report"];
    let index =
        SearchIndex::build(twins.iter().map(|name| Document::new(*name).with(Field::Description, "The weekly report")));
    assert_eq!(names(&index, &["weekly report"]), ["Alpha_Report", "Mid_Report", "Zeta_Report", "Éclair_Report"]);
    assert_eq!(
        names(&index, &["weekly report", "report of the week"]),
        ["Alpha_Report", "Mid_Report", "Zeta_Report", "Éclair_Report"]
    );
}

#[test]
fn a_word_that_nearly_every_flow_has_still_means_them() {
    let flows: Vec<String> = (0..40).map(|n| format!("Supplier_Contract_{n:02}")).collect();
    let documents = flows.iter().map(|name| Document::new(name.as_str()).with(Field::Description, "Reads a contract."));
    let index = SearchIndex::build(documents.chain([Document::new("Poem")]));
    assert_eq!(names(&index, &["supplier contract"]).first().map(String::as_str), Some("Supplier_Contract_00"));
    assert_eq!(names(&index, &["contract"]).len(), 10);
    assert!(names(&index, &["contract with the moon about sunshine"]).is_empty());
}

#[test]
fn reasons_name_the_term_the_field_and_add_up_to_the_score() {
    let index = index();
    let query = Query::new(&["check the invoices"]).unwrap();
    let Ranking::Hits(hits) = index.search(&query, 1, true, |_| true) else { panic!("nothing fits") };
    let hit = &hits[0];
    assert_eq!((hit.why[0].term.as_str(), hit.why[0].field), ("invoice", Field::Name));
    let sum: f64 = hit.why.iter().map(|why| why.contribution).sum();
    assert!((sum - hit.score).abs() < 1e-3, "{sum} is not {}", hit.score);
}

#[test]
fn a_filter_takes_flows_away_and_makes_no_other_fit() {
    let index = index();
    let query = Query::new(&["check the invoices"]).unwrap();
    let invoice = FLOWS.iter().position(|(name, ..)| *name == "Invoice_Check").unwrap();
    match index.search(&query, 10, false, |position| position != invoice) {
        Ranking::Hits(hits) => assert!(hits.iter().all(|hit| hit.position != invoice)),
        Ranking::Excluded { positions } => assert_eq!(positions, [invoice]),
        Ranking::NoMatch { .. } => panic!("a filter is not a lack"),
    }
    let nothing = index.search(&query, 10, false, |_| false);
    assert!(matches!(&nothing, Ranking::Excluded { positions } if positions.first() == Some(&invoice)), "{nothing:?}");
}

#[test]
fn a_long_request_fits_by_what_it_shares_and_not_by_one_rare_word() {
    let index = index();
    let by = |query: &[&str]| index.judged(&Query::new(query).unwrap()).0;
    assert!(by(&["minutes of the meeting with decisions"]) >= 1.0);
    assert!(by(&["how many minutes until the lasagne in the big oven turns crisp"]) < 1.0);
    // Each of these says much besides, and all lead to one flow.
    let agreeing = [
        "postmortem with a timeline for our steering group",
        "outage report that the board can follow",
        "write up what happened when the servers went down",
    ];
    assert!(by(&agreeing) >= 1.0, "{}", by(&agreeing));
    assert!(by(&agreeing) > by(&agreeing[2..]));
}

#[test]
fn a_query_is_bounded() {
    assert_eq!(Query::new(&[" ", ""]), Err(QueryFault::Empty));
    assert_eq!(Query::new(&["a"; 9]), Err(QueryFault::TooMany { given: 9 }));
    let long = "word ".repeat(20_000);
    assert_eq!(Query::new(&[&long]), Err(QueryFault::TooLong { given: 100_000 }));
    let longest = "ab ".repeat(LONGEST_QUERY_BYTES / 3);
    assert!(Query::new(&[longest]).is_ok());
}

#[test]
fn an_empty_catalog_fits_nothing() {
    let index = SearchIndex::build(std::iter::empty());
    assert!(names(&index, &["anything"]).is_empty());
    assert!(index.is_empty());
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_query_and_gives_the_same_twice(text in "\\PC{0,60}") {
        let index = index();
        if let Ok(query) = Query::new(&[text.as_str(), "report"]) {
            let ask = || index.search(&query, 10, true, |_| true);
            proptest::prop_assert_eq!(ask(), ask());
        }
    }
}
