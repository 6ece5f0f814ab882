//! The example catalog as a whole: every flow is answered by a model that is limited again and again, by a program that
//! is killed twice.

use std::collections::BTreeMap;
use std::process::Stdio;

use flowy::internals::app::EXAMPLES;
use flowy::internals::model::Contract;
use serde_json::{Value, json};

use super::model;
use crate::support::home::Home;
use crate::support::model::{Act, Asked, Speaks, StandIn};
use crate::support::peer::entry;

/// What meets the schema that is asked for, else the prompt in brackets.
fn answer(asked: &Asked) -> Act {
    let Some(schema) = asked.body.pointer("/response_format/json_schema/schema") else {
        return Act::Answer(format!("<{}>", asked.prompt()));
    };
    let contract = Contract::compile(None, schema.clone()).unwrap();
    Act::Answer(contract.example().expect("the schema has an example").to_string())
}

/// What a flow needs to be given, as flags.
fn given(home: &Home, flow: &str) -> Vec<String> {
    let (_, shown, told) = home.run(&["show", flow, "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap_or_else(|_| panic!("{told}"));
    let inputs = shown["inputs"].as_array().unwrap().iter().filter(|input| input["required"] == true);
    let value = |input: &Value| input["enum"][0].as_str().unwrap_or("7").to_owned();
    let set = shown["variableSets"][0].as_str().map(|set| ["--set".to_owned(), set.to_owned()]);
    let values =
        inputs.map(|input| ["--var".to_owned(), format!("{}={}", input["name"].as_str().unwrap(), value(input))]);
    values.chain(set).flatten().collect()
}

#[test]
fn every_example_flow_comes_to_its_end_over_limits_and_kills() {
    let stand_in = StandIn::by(Speaks::OpenAi, |number, asked| match number % 3 {
        2 => Act::Refuse(429, vec![("retry-after-ms", "5".to_owned())], json!({"error": {"message": "slow down"}})),
        _ => answer(asked),
    });
    let home = Home::of(EXAMPLES.iter().map(|(path, text)| (*path, String::from_utf8(text.to_vec()).unwrap())), false);
    let files = json!({"mcpServers": {"files": entry("files", &home.notes())}});
    std::fs::write(home.root.path().join("servers.json"), files.to_string()).unwrap();
    let folder = home.root.path().join(".config/flowy");
    std::fs::create_dir_all(&folder).unwrap();
    let settings = format!("default_model = \"writer\"\n{}", model("openai-compatible", &stand_in.url, ""));
    std::fs::write(folder.join("flowy.toml"), settings).unwrap();
    let (_, listed, _) = home.run(&["list"]);
    let flows: Vec<&str> = listed.lines().map(|line| line.split('\t').next().unwrap()).collect();
    assert!(flows.len() > 10, "{listed}");
    for flow in flows {
        let values = given(&home, flow);
        let mut line: Vec<String> = ["run", flow, "--json"].map(str::to_owned).to_vec();
        line.extend(values);
        let before = stand_in.asked().len();
        for kill in 0..2 {
            let at = |name: &str| home.root.path().join(name).to_str().unwrap().to_owned();
            let mut arguments: Vec<&str> = line.iter().map(String::as_str).collect();
            let (catalog, servers) = (at("catalog"), at("servers.json"));
            arguments.extend(["--source", &catalog, "--servers", &servers]);
            let due = stand_in.asked().len() + 1;
            let mut child = home.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            while stand_in.asked().len() < due && child.try_wait().unwrap().is_none() {
                std::thread::park_timeout(std::time::Duration::from_millis(1));
            }
            child.kill().unwrap();
            child.wait().unwrap();
            let (_, listed, _) = home.run(&["executions", "list", "--json"]);
            let listed: Value = serde_json::from_str(&listed).unwrap();
            let newest = &listed["executions"][0];
            assert_eq!(newest["flowName"], flow, "kill {kill}: {listed}");
            let id = newest["executionId"].as_str().unwrap().to_owned();
            line = ["run", "--resume", &id, "--json"].map(str::to_owned).to_vec();
        }
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        let (code, out, told) = home.run(&line);
        let done: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{flow}: {out}{told}"));
        assert_eq!((code, &done["status"]), (Some(0), &json!("success")), "{flow}: {done}");
        assert!(done["finalResult"].is_string() || done["finalResult"].is_object(), "{flow}: {done}");
        let steps = done["intermediateResults"].as_array().unwrap();
        let generated = steps.iter().filter(|step| step["kind"] == "generated").count();
        assert!(generated > 0, "{flow}: {done}");
        // A call that was answered is made again where the program was killed before that was stored.
        let mut answered: BTreeMap<String, usize> = BTreeMap::new();
        for (_, one) in stand_in.asked().iter().enumerate().skip(before).filter(|(number, _)| number % 3 != 2) {
            *answered.entry(one.prompt()).or_default() += 1;
        }
        assert!(answered.len() >= generated && answered.values().all(|times| *times <= 3), "{flow}: {answered:?}");
    }
}
