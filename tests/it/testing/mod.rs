//! Tests of flows: what `flowy test` runs, compares, changes and tells.

mod beginning;
mod between;
mod checking;
mod mocks;
mod running;

use serde_json::Value;

use crate::support::program::{Said, Sandbox};

/// A flow of two steps, two results and one input.
const TRIP: &str = r#"{"metadata": {"name": "Trip", "version": "1.0.0"},
  "nodes": [
    {"id": "in", "type": "multi_input", "data": {"variables": ["port"]}},
    {"id": "sail", "type": "template", "data": {"label": "Sail", "template": "Sail to {port}.\nPack."}},
    {"id": "eat", "type": "template", "data": {"label": "Eat", "template": "{sail_result}\nEat in {port}."}},
    {"id": "r1", "type": "result", "data": {"label": "Way"}},
    {"id": "r2", "type": "result", "data": {"label": "Meal"}}],
  "edges": [
    {"source": "in", "target": "sail"}, {"source": "sail", "target": "eat"},
    {"source": "sail", "target": "r1"}, {"source": "eat", "target": "r2"}]}"#;

fn trip(tests: &str) -> Sandbox {
    Sandbox::new().file("flows/Trip.json", TRIP).file("tests/Trip.flowtest.json", tests)
}

/// What became of each test, as (name, status).
fn ends(said: &Said) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned();
    let json = said.json();
    let tests = json["tests"].as_array().unwrap_or_else(|| panic!("{json:#}"));
    tests.iter().map(|test| (text(&test["name"]), text(&test["status"]))).collect()
}

/// What the first test says is not as expected, as (what, message).
fn mismatches(said: &Said) -> Vec<(String, String)> {
    let json = said.json();
    let all = json["tests"][0]["mismatches"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    all.iter().map(|one| (text(&one["what"]), text(&one["message"]))).collect()
}
