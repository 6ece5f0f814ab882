//! Shapes of all sizes under limits of all sizes.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::tokens;

/// The smallest answer that has everything that gives way.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct FakeReply {
    status: &'static str,
    final_result: Value,
    intermediate_results: Vec<FakeStep>,
    next_step: Option<String>,
    #[serde(flatten)]
    cut: Cut,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct FakeStep {
    node_id: String,
    input_variables: Map<String, Value>,
    output: Value,
    #[serde(flatten)]
    cut: StepCut,
}

impl FakeStep {
    fn pieces(&mut self) -> StepPieces<'_> {
        let seen = CutPiece::new("inputVariables", CutPart::Seen, CutWords::Values(&mut self.input_variables));
        let put_out = CutPiece::new("output", CutPart::PutOut, CutWords::Value(&mut self.output));
        StepPieces { pieces: vec![seen, put_out], cut: &mut self.cut }
    }
}

impl Cuttable for FakeReply {
    fn parts(&mut self) -> CutParts<'_> {
        CutParts {
            cut: &mut self.cut,
            next_step: &mut self.next_step,
            steps: self.intermediate_results.iter_mut().map(FakeStep::pieces).collect(),
            messages: Vec::new(),
            finals: vec![CutWords::Value(&mut self.final_result)],
        }
    }

    fn shorten_lists(&mut self, limit: &Limit) -> bool {
        shorten(self, "intermediateResults", |reply| Some(&mut reply.intermediate_results), limit)
    }
}

fn values(seen: &[(&str, String)]) -> Map<String, Value> {
    seen.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
}

fn reply(seen: &str, put_out: &str, last: &str) -> FakeReply {
    let (input_variables, output) = (values(&[("x", seen.to_owned())]), json!(put_out));
    let step = FakeStep { node_id: "a".to_owned(), input_variables, output, cut: StepCut::default() };
    FakeReply { status: "success", final_result: json!(last), intermediate_results: vec![step], ..FakeReply::default() }
}

/// An answer as it is written, cut to a limit.
fn fitted(reply: FakeReply, limit: &Limit) -> Value {
    serde_json::to_value(fit(reply, limit, "read on")).unwrap()
}

fn step(fitted: &Value) -> &Value {
    &fitted["intermediateResults"][0]
}

fn characters(value: &Value) -> usize {
    value.as_str().map_or(0, |text| text.chars().count())
}

/// A text at the floor: its beginning, and what is said behind it.
const AT_FLOOR: usize = FLOOR + SAID;

#[test]
fn what_fits_is_left_alone() {
    let whole = reply("y", "é", "f");
    assert_eq!(fit(whole.clone(), &Limit::characters(10_000), "read on"), whole);
}

#[test]
fn what_steps_saw_goes_before_what_they_put_out() {
    let whole = reply(&"y".repeat(9_000), &"é".repeat(9_000), &"f".repeat(3_000));
    let fitted = self::fitted(whole.clone(), &Limit::characters(15_000));
    assert_eq!((characters(&step(&fitted)["output"]), characters(&fitted["finalResult"])), (9_000, 3_000));
    assert!(characters(&step(&fitted)["inputVariables"]["x"]) > 1_000, "no more than it takes");
    assert!(step(&fitted).get("outputLength").is_none());
    let fitted = self::fitted(whole, &Limit::characters(5_000));
    assert!(characters(&step(&fitted)["inputVariables"]["x"]) <= AT_FLOOR);
    assert!((500..9_000).contains(&characters(&step(&fitted)["output"])));
    assert_eq!((&step(&fitted)["outputLength"], characters(&fitted["finalResult"])), (&json!(9_000), 3_000));
    assert_eq!((&fitted["truncated"], &fitted["nextStep"]), (&json!(true), &json!("read on")));
}

#[test]
fn a_long_final_result_keeps_its_beginning() {
    let fitted = fitted(reply("y", "é", &"f".repeat(500_000)), &Limit::characters(10_000));
    let text = fitted["finalResult"].as_str().expect("text");
    assert!(
        text.starts_with("fff") && text.ends_with("… [cut: 500000 characters in all]"),
        "{}",
        &text[text.len() - 60..]
    );
    let all = fitted.to_string().chars().count();
    assert!((7_000..=10_000).contains(&all), "{all}");
}

#[test]
fn under_a_small_limit_steps_are_named_only_and_counted() {
    let fitted = fitted(reply(&"y ".repeat(500), &"é ".repeat(500), &"so it is ".repeat(20)), &Limit::tokens(150));
    assert!(tokens::estimate(&fitted.to_string()) <= 150, "{fitted}");
    assert_eq!(
        (&fitted["leftOut"], &step(&fitted)["nodeId"]),
        (&json!({"inputVariables": 1, "output": 1}), &json!("a"))
    );
    assert_eq!(characters(&fitted["finalResult"]), 180);
}

#[test]
fn a_limit_below_the_bare_answer_is_said_to_be_one() {
    let fitted = fitted(reply("y", "é", &"so it is ".repeat(200)), &Limit::tokens(5));
    let next = fitted["nextStep"].as_str().expect("text");
    assert!(next.starts_with("read on; ") && next.contains("larger maxTokens"), "{next}");
    assert!(characters(&fitted["finalResult"]) <= AT_FLOOR);
}

#[test]
fn a_text_cut_twice_still_says_its_whole_length() {
    let (once, length) = beginning(&"abc".repeat(4_000), 4_000);
    assert_eq!(length, Some(12_000));
    assert_eq!(beginning(&once, 80), (format!("{}… [cut: 12000 characters in all]", &once[..80]), Some(12_000)));
}

#[test]
fn thousands_of_short_steps_fit_too() {
    let step = |n| FakeStep { node_id: format!("n{n}"), output: json!("x"), ..FakeStep::default() };
    let whole = FakeReply {
        final_result: json!("x"),
        intermediate_results: (0..5_000).map(step).collect(),
        ..FakeReply::default()
    };
    let fitted = fitted(whole, &Limit::characters(10_000));
    let all = fitted.to_string().chars().count();
    assert!((7_000..=10_000).contains(&all), "{all}");
    let kept = fitted["intermediateResults"].as_array().expect("a list").len();
    assert_eq!(fitted["leftOut"]["intermediateResults"], json!(5_000 - kept));
}

#[test]
fn a_final_result_that_is_no_text_gives_way_too() {
    let numbers: Vec<usize> = (0..50_000).collect();
    let whole = FakeReply { final_result: json!({"numbers": numbers}), ..FakeReply::default() };
    let fitted = fitted(whole, &Limit::tokens(1_000));
    assert!(tokens::estimate(&fitted.to_string()) <= 1_000);
    assert!(fitted["finalResult"].as_str().is_some_and(|text| text.starts_with("{\"numbers\":[0,1,2")), "{fitted}");
}

/// Lengths, most of them small.
fn length() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0..200_usize, 2 => 0..3_000_usize, 1 => 0..12_000_usize]
}

/// What texts are made of.
fn text(length: usize, kind: usize) -> String {
    let pattern = ["plain words, ", "\"\\\n\t", "größe ", "設計を書く", "\u{1}", "🦀 "][kind % 6];
    pattern.chars().cycle().take(length).collect()
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![(1..6_000_usize).prop_map(Limit::tokens), (1..20_000_usize).prop_map(Limit::characters)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_reply_is_within_its_limit_or_has_nothing_left_to_give(
        steps in vec((length(), length(), 0..6_usize), 0..30), last in length(), kind in 0..6_usize, limit in limit(),
    ) {
        let last = text(last, kind);
        let step = |(number, &(seen, put_out, kind)): (usize, &(usize, usize, usize))| FakeStep {
            node_id: format!("node-{number}"),
            input_variables: values(&[("x", text(seen, kind)), ("y", text(seen / 3, kind + 1))]),
            output: json!(text(put_out, kind)),
            cut: StepCut::default(),
        };
        let intermediate_results = steps.iter().enumerate().map(step).collect();
        let whole = FakeReply { status: "success", final_result: json!(last), intermediate_results, ..FakeReply::default() };
        let fitted = fitted(whole.clone(), &limit);
        let fits = limit.fits(&whole);
        let whole = serde_json::to_value(whole).unwrap();
        if fits {
            prop_assert_eq!(fitted, whole);
            return Ok(());
        }
        prop_assert_eq!((&fitted["status"], &fitted["truncated"]), (&json!("success"), &json!(true)));
        let kept = fitted["intermediateResults"].as_array().expect("a list");
        let seen_longest = kept.iter().flat_map(|step| [&step["inputVariables"]["x"], &step["inputVariables"]["y"]]);
        let seen_longest = seen_longest.map(characters).max().unwrap_or(0);
        let put_out_longest = kept.iter().map(|step| characters(&step["output"])).max().unwrap_or(0);
        let cut = |value: &Value, whole: &str| value.as_str().is_some_and(|text| text != whole);
        let output_cut = kept.iter().zip(whole["intermediateResults"].as_array().expect("a list"))
            .any(|(now, then)| now["output"] != then["output"]);
        if output_cut {
            prop_assert!(seen_longest <= AT_FLOOR, "outputs are cut, and values of {} are left", seen_longest);
        }
        if cut(&fitted["finalResult"], &last) {
            prop_assert!(seen_longest <= AT_FLOOR && put_out_longest <= AT_FLOOR);
            if characters(&fitted["finalResult"]) < FINAL {
                prop_assert!(seen_longest == 0 && put_out_longest == 0 && kept.len() <= 1 || kept.is_empty());
            }
        }
        if !limit.fits(&fitted) {
            prop_assert!(seen_longest == 0 && put_out_longest == 0 && kept.len() <= 1);
            prop_assert!(characters(&fitted["finalResult"]) <= AT_FLOOR);
            prop_assert!(fitted["nextStep"].as_str().is_some_and(|next| next.contains("larger maxTokens")));
        }
    }
}
