//! `flows_list` with `query`: the right flow first, in any script, or none.

use serde_json::{Value, json};

use super::{LIST_FAILURE, LIST_RESPONSE, as_published};
use crate::support::mcp::{Bench, Session};
use crate::support::tokens;

fn catalog() -> Vec<(String, String)> {
    let flow = |name: &str, description: &str, tags: &[&str], examples: &[&str]| {
        let meta = json!({"name": name, "description": description, "tags": tags, "examples": examples});
        let nodes = json!([
            {"id": "in", "type": "multi_input", "data": {"variables": ["topic"]}},
            {"id": "n1", "type": "template", "data": {"template": "On {topic}", "variables": ["topic"]}},
        ]);
        let edges = json!([{"source": "in", "target": "n1"}]);
        let text = json!({"metadata": meta, "nodes": nodes, "edges": edges}).to_string();
        (format!("flows/{name}.json"), text)
    };
    vec![
        flow(
            "Invoice_Check",
            "Reads an invoice and names what does not agree with the order.",
            &["finance"],
            &["청구서 확인해줘", "проверь счёт"],
        ),
        flow(
            "Incident_Report",
            "Collects what happened in an outage and writes the report.",
            &["ops"],
            &["障害報告書を書いて", "postmortem"],
        ),
        flow("Release_Notes", "Turns merged changes into notes that users understand.", &["ops"], &["写发布说明"]),
        flow(
            "Meeting_Minutes",
            "Writes minutes with decisions and open questions.",
            &["office"],
            &["протокол встречи"],
        ),
        flow("Survey_Digest", "Groups the answers of a survey and quotes the telling ones.", &["research"], &[]),
    ]
}

async fn found(session: &mut Session, arguments: Value) -> Vec<String> {
    let listed = session.ok("flows_list", arguments).await;
    as_published(LIST_RESPONSE, &listed);
    let name = |entry: &Value| {
        let line = entry.as_str().and_then(|line| line.split('(').next()).map(str::to_owned);
        line.or_else(|| entry["name"].as_str().map(str::to_owned)).unwrap()
    };
    listed["flows"].as_array().unwrap().iter().map(name).collect()
}

#[tokio::test]
async fn a_request_in_any_script_finds_its_flow_first() {
    let mut session = Bench::folder(catalog()).session().await;
    for (query, flow) in [
        ("can you check the invoices of our suppliers", "Invoice_Check"),
        ("청구서를 확인하고 싶어", "Invoice_Check"),
        ("昨日の障害の報告書", "Incident_Report"),
        ("写一份发布说明", "Release_Notes"),
        ("составить протоколы встреч", "Meeting_Minutes"),
        ("meeting mintues", "Meeting_Minutes"),
    ] {
        assert_eq!(
            found(&mut session, json!({"query": query})).await.first().map(String::as_str),
            Some(flow),
            "{query}"
        );
    }
}

#[tokio::test]
async fn several_phrasings_are_one_question() {
    let mut session = Bench::folder(catalog()).session().await;
    let phrasings = json!(["what went wrong last night", "outage report", "障害報告"]);
    assert_eq!(found(&mut session, json!({"query": phrasings})).await[0], "Incident_Report");
    let told = json!({"query": phrasings.to_string()});
    assert_eq!(found(&mut session, told).await[0], "Incident_Report");
}

#[tokio::test]
async fn where_nothing_fits_that_is_said_beside_the_flows_that_come_nearest() {
    let mut session = Bench::folder(catalog()).session().await;
    let asked = "dim the lights while the reporter sings";
    let listed = session.ok("flows_list", json!({"query": asked})).await;
    as_published(LIST_RESPONSE, &listed);
    assert_eq!((&listed["noMatch"], &listed["fit"]), (&json!(true), &json!("weak")));
    assert_eq!((&listed["mode"], &listed["total"], &listed["returned"]), (&json!("brief"), &json!(1), &json!(1)));
    assert_eq!(listed["flows"][0]["name"], json!("Incident_Report"));
    assert_eq!(listed["nearest"], json!(["report"]));
    // What is only near is shown briefly, however much was asked for.
    for (mode, shown) in [("detailed", "brief"), ("full", "brief"), ("categories", "brief"), ("compact", "compact")] {
        let names = json!(if mode == "full" { vec!["Incident_Report"] } else { Vec::new() });
        let listed = session.ok("flows_list", json!({"query": asked, "mode": mode, "names": names})).await;
        as_published(LIST_RESPONSE, &listed);
        assert_eq!((&listed["mode"], &listed["fit"]), (&json!(shown), &json!("weak")), "{mode}");
        assert_eq!(listed["flows"][0]["name"], json!("Incident_Report"), "{mode}");
    }
    let contract = session.ok("flows/list", json!({"query": asked})).await;
    as_published(LIST_RESPONSE, &contract);
    assert_eq!((&contract["noMatch"], &contract["fit"]), (&json!(true), &json!("weak")));
    // A filter holds for them too, and where no word is known some of all are shown.
    for asked in [json!({"query": asked, "tags": ["finance"]}), json!({"query": "qqqq zzzz a 7"})] {
        let listed = session.ok("flows_list", asked).await;
        as_published(LIST_RESPONSE, &listed);
        assert_eq!((&listed["noMatch"], &listed["fit"]), (&json!(true), &json!("weak")), "{listed}");
        let (shown, next) = (listed["total"].as_u64().unwrap(), listed["nextStep"].as_str().unwrap());
        assert!((1..=5).contains(&shown) && next.contains("none comes near"), "{listed}");
    }
}

#[tokio::test]
async fn one_natural_request_has_its_flow_among_those_that_are_shown() {
    let mut session = Bench::folder(catalog()).session().await;
    for (asked, flow) in [
        ("bug in production, need a post mortem", "Incident_Report"),
        ("last night everything was down and my boss wants something in writing about the outage", "Incident_Report"),
        (
            "somebody sent us a bill that does not agree with what was bought, can you look at the invoice",
            "Invoice_Check",
        ),
        ("I have to tell our users in plain words what we changed since spring", "Release_Notes"),
    ] {
        let shown = found(&mut session, json!({"query": asked})).await;
        assert!(shown.len() <= 5 && shown.iter().any(|name| name == flow), "{asked}: {shown:?}");
    }
}

#[tokio::test]
async fn letters_numbers_and_little_words_are_no_nearest_words() {
    let mut flows = catalog();
    let notes = json!({"name": "Vitamin_A_Plan", "description": "Plan A and plan B, in 7 steps."});
    let text =
        json!({"metadata": notes, "nodes": [{"id": "n", "type": "template", "data": {"template": "x"}}], "edges": []});
    flows.push(("flows/Vitamin.json".to_owned(), text.to_string()));
    let mut session = Bench::folder(flows).session().await;
    let listed = session.ok("flows_list", json!({"query": "give me a pizza with 7 slices, a big one"})).await;
    assert_eq!(listed["noMatch"], json!(true), "{listed}");
    let nearest: Vec<&str> = listed["nearest"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(nearest.iter().all(|word| !["a", "7", "with", "me"].contains(word)), "{nearest:?}");
}

#[tokio::test]
async fn every_mode_and_the_contract_name_the_same_flows_in_the_same_order() {
    let mut session = Bench::folder(catalog()).session().await;
    let asked = json!({"query": ["release notes", "incident report"], "limit": 10});
    let compact = found(&mut session, asked.clone()).await;
    assert!(compact.len() > 1, "{compact:?}");
    for mode in ["index", "standard", "detailed"] {
        let mut asked = asked.clone();
        asked["mode"] = json!(mode);
        assert_eq!(found(&mut session, asked).await, compact, "{mode}");
    }
    let contract = session.ok("flows/list", asked).await;
    let names: Vec<&str> =
        contract["flows"].as_array().unwrap().iter().filter_map(|flow| flow["name"].as_str()).collect();
    assert_eq!(names, compact);
}

#[tokio::test]
async fn filters_take_away_from_a_ranking_and_its_cursor_stays_with_it() {
    let mut session = Bench::folder(catalog()).session().await;
    let query = json!(["release notes", "incident report"]);
    let whole = found(&mut session, json!({"query": query})).await;
    let ops = found(&mut session, json!({"query": query, "tags": ["ops"]})).await;
    assert!(
        !ops.is_empty() && ops.iter().all(|name| ["Incident_Report", "Release_Notes"].contains(&name.as_str())),
        "{ops:?}"
    );
    let first = session.ok("flows_list", json!({"query": query, "limit": 1})).await;
    let rest = json!({"query": query, "cursor": first["nextCursor"]});
    assert_eq!(found(&mut session, rest).await, whole[1..]);
    let other = json!({"query": "something else", "cursor": first["nextCursor"]});
    assert_eq!(session.failed("flows_list", other).await["code"], json!("INVALID_CURSOR"));
}

#[tokio::test]
async fn five_candidates_cost_a_model_little() {
    let mut flows = catalog();
    for n in 0..40 {
        let name = format!("Supplier_Contract_Review_{n:02}");
        let meta = json!({
            "name": name,
            "description": format!("Reads a contract with a supplier for clause {n} and lists what differs from our standard terms, with a proposal for each. The result is a table for the legal department that says what to answer."),
            "tags": ["legal", "suppliers", "contracts", "review"],
        });
        let names =
            ["contract_text", "standard_terms", "jurisdiction", "our_role", "deadline", "language", "house_style"];
        let nodes = json!([
            {"id": "in", "type": "multi_input", "data": {"variables": names}},
            {"id": "n1", "type": "template", "data": {"template": names.map(|name| format!("{{{name}}}")).join(" "), "variables": names}},
        ]);
        let text = json!({"metadata": meta, "nodes": nodes, "edges": [{"source": "in", "target": "n1"}]}).to_string();
        flows.push((format!("flows/{name}.json"), text));
    }
    let mut session = Bench::folder(flows).session().await;
    let query = json!(["review the contract with our supplier", "supplier contract against standard terms"]);
    let listed = session.ok("flows_list", json!({"query": query})).await;
    as_published(LIST_RESPONSE, &listed);
    assert_eq!((&listed["mode"], &listed["returned"]), (&json!("brief"), &json!(5)));
    let tokens = tiktoken_rs::o200k_base().unwrap().encode_ordinary(&listed["flows"].to_string()).len();
    assert!(tokens <= 250, "{tokens} tokens: {}", listed["flows"]);
    let first = &listed["flows"][0];
    assert_eq!(first.as_object().unwrap().keys().collect::<Vec<_>>(), ["name", "description", "inputSummary"]);
    assert_eq!(first["inputSummary"], json!("contract_text, deadline, house_style, jurisdiction, language, 2 more"));
    // Who names a mode or a limit gets it.
    let named = session.ok("flows_list", json!({"query": query, "mode": "compact", "limit": 7})).await;
    as_published(LIST_RESPONSE, &named);
    assert_eq!((&named["mode"], &named["returned"]), (&json!("compact"), &json!(7)));
    assert_eq!(named["flows"][0]["tags"], json!(["legal", "suppliers", "contracts", "review"]));
}

#[tokio::test]
async fn filters_that_leave_nothing_are_not_taken_for_no_match() {
    let mut session = Bench::folder(catalog()).session().await;
    let asked = json!({"query": "check the invoice", "tags": ["ops"], "names": ["Invoice_Check"], "mode": "compact"});
    let listed = session.ok("flows_list", asked).await;
    as_published(LIST_RESPONSE, &listed);
    assert_eq!((&listed["total"], listed.get("noMatch")), (&json!(0), None), "{listed}");
    assert_eq!(listed["excluded"], json!({"tags": 1}));
    insta::assert_snapshot!("left-out-by-a-filter", listed["nextStep"].as_str().unwrap());
    let unknown = session.ok("flows_list", json!({"query": "check the invoice", "tags": ["finanse"]})).await;
    assert_eq!(unknown["excluded"], json!({"tags": 1}));
    assert!(unknown["nextStep"].as_str().unwrap().contains("\"finance\""), "{unknown}");
    // Nothing fits, filter or not.
    let none = session.ok("flows_list", json!({"query": "dim the lights in the hall", "tags": ["ops"]})).await;
    assert_eq!((&none["noMatch"], none.get("excluded")), (&json!(true), None));
}

#[tokio::test]
async fn a_query_that_is_no_query_is_refused_with_what_is_allowed() {
    let mut session = Bench::folder(catalog()).session().await;
    for (arguments, says) in [
        (json!({"query": "word ".repeat(20_000)}), "at most 8192"),
        (json!({"query": ["a", "b", "c", "d", "e", "f", "g", "h", "i"]}), "at most 8"),
        (json!({"query": "   "}), "empty"),
        (json!({"query": "report", "limit": -3}), "from 1"),
        (json!({"query": "report", "mode": "everything"}), "compact, index, standard, detailed"),
    ] {
        let failed = session.failed("flows_list", arguments).await;
        as_published(LIST_FAILURE, &failed);
        assert_eq!(failed["code"], json!("INVALID_REQUEST"));
        assert!(failed.to_string().contains(says), "{failed}");
    }
}

/// However many flows there are: five short candidates at most are the answer.
#[tokio::test]
async fn finding_showing_and_executing_a_flow_costs_little() {
    let mut session = Bench::examples().session().await;
    let query = json!(["write up what went wrong during the outage", "blameless review of an incident"]);
    let found = session.ok("flows_list", json!({"query": query})).await;
    assert_eq!(found["flows"][0]["name"], "Incident_Report");
    let shown = session.ok("flows_show", json!({"name": "Incident_Report"})).await;
    let values = json!({"service": "checkout", "raw_log": "09:12 alerts, 09:40 rolled back"});
    let request = json!({"flowName": "Incident_Report", "initialVariables": values, "detail": "final"});
    let done = session.ok("flows_execute", request).await;
    let each = [&found, &shown, &done].map(|reply| tokens(&reply.to_string()));
    assert!(each.iter().sum::<usize>() <= 1_200, "{each:?} tokens");
}
