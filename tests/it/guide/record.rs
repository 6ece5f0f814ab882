//! A plan's stored form, both ways.

use std::collections::HashMap;
use std::sync::Arc;

use flowy::internals::plan::{Plan, PlanRecord};
use proptest::prelude::*;

use crate::support::checking::{Entry, check_with};
use crate::support::drawing::flow;
use crate::walk::laws::{file, templates};

fn again(plan: &Plan) -> Plan {
    let text = serde_json::to_string(&PlanRecord::of(plan).unwrap()).unwrap();
    serde_json::from_str::<PlanRecord>(&text).unwrap().plan().unwrap()
}

#[test]
fn a_plan_with_a_contract_and_odd_numbers_comes_back_as_it_was() {
    let contract = serde_json::json!({"type": "object", "properties": {"a": {"maximum": 3}}});
    let set: serde_json::Value =
        serde_json::from_str(r#"[{"name": "s", "values": {"x": 1.10, "y": 12345678901234567890123}}]"#).unwrap();
    let plan = flow()
        .input("in", serde_json::json!([{"key": "x", "value": 0}]))
        .data("a", serde_json::json!({"template": "{x} {y}", "contract": contract, "variableValueSets": set, "optional": true, "maxAttempts": 2}))
        .text("b", "{a_result.a}")
        .result("r", "End")
        .edges("in > a > b > r")
        .plan();
    let back = again(&plan);
    assert_eq!(back, *plan);
    assert!(back.steps()[0].work == plan.steps()[0].work);
}

#[test]
fn of_the_flow_its_name_and_file_are_stored() {
    let plan = flow().input("in", serde_json::json!(["x"])).text("a", "Hi {x}.").edges("in > a").plan();
    let stored = serde_json::to_value(PlanRecord::of(&plan).unwrap()).unwrap();
    assert_eq!(stored["flow"], serde_json::json!({"name": plan.name(), "file": plan.file()}));
}

#[test]
fn a_plan_of_a_newer_version_is_refused() {
    let mut value = serde_json::to_value(PlanRecord::of(&flow().text("a", "Hi.").plan()).unwrap()).unwrap();
    value["version"] = 99.into();
    let record: PlanRecord = serde_json::from_str(&value.to_string()).unwrap();
    assert!(record.plan().unwrap_err().to_string().contains("99"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn any_plan_comes_back_as_it_was((file, lenient) in file()) {
        let entry: Entry = ("flows/Law.json".to_owned(), file.to_string().into_bytes());
        let options = flowy::internals::validate::Options { lenient, ..Default::default() };
        let check = check_with(&entry, &templates(), &[], options);
        if let Some(checked) = check.flows.first().and_then(|flow| flow.checked.as_ref()) {
            let plan = Arc::new(Plan::of(checked, &HashMap::new()));
            prop_assert_eq!(again(&plan), (*plan).clone());
        }
    }
}
