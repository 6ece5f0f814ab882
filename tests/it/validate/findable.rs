//! Whether flows are found by their own examples.

use super::says;

#[test]
fn an_example_that_finds_other_flows_is_told_at_its_line_with_the_winner() {
    says(
        "stray-example",
        r#"
warning none bad.json:118:11 /flows/3/meta/examples/1 `"harbour"`
  the example "harbour" finds flow "Harbour_Chart" first, then "Harbour_Dues" and "Harbour_Berth", but not this flow
  hint: say what only this flow does, in the example or in the descriptions of the flows that are alike
"#,
    );
}
