//! The real program, killed (SIGKILL) between and during the calls of a six-step execution.
//!
//! Each seed is one execution that is killed at other points. `CRASH_SEEDS=500 cargo test --test it
//! guided::crash` does more of them; `CRASH_FROM` says with which seed to begin.

use std::collections::BTreeSet;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{FEATURE, catalog, output};
use crate::support::home::{Home, settled};
use crate::support::mcp::Program;
use crate::support::peer::notes_of;

/// How many executions are killed where nothing else is said.
const SEEDS: u64 = 40;
/// The same of those whose flow calls tools: with every kill, an external server is killed too.
const SEEDS_WITH_TOOLS: u64 = 12;
/// How many executions are under way at a time.
const SIDE_BY_SIDE: u64 = 4;
/// The longest that a call is left alone before the program is killed, in microseconds: longer than
/// a call takes, so that some are answered.
const LONGEST: u64 = 25_000;
/// The same where tools are called, whose server has to be started first.
const LONGEST_WITH_TOOLS: u64 = 400_000;

/// Numbers that are the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        // xorshift64*, which needs no crate.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % most
    }
}

/// The catalog with a flow that also calls a tool that only reads, and one that may do something.
fn catalog_with_tools() -> Vec<(String, String)> {
    let mut flow: Value = serde_json::from_str(FEATURE).unwrap();
    let tool = |id: &str| json!({"id": id, "type": "tool", "data": {"call": format!("peer:{id}")}});
    flow["nodes"].as_array_mut().unwrap().extend([tool("look"), tool("touch")]);
    let ways = [("design", "look"), ("look", "review"), ("review", "touch"), ("touch", "fix")];
    flow["edges"].as_array_mut().unwrap().extend(ways.map(|(from, to)| json!({"source": from, "target": to})));
    let mut files = catalog();
    files[0].1 = flow.to_string();
    files
}

/// A client that survives its server.
struct Client {
    home: Home,
    program: Program,
    last: i64,
    kills: usize,
}

impl Client {
    fn new(tools: bool) -> Self {
        let home = Home::of(if tools { catalog_with_tools() } else { catalog() }, tools);
        let program = home.serve();
        Self { home, program, last: 0, kills: 0 }
    }

    fn restart(&mut self) {
        self.program.kill();
        self.program = self.home.serve();
        self.kills += 1;
    }

    /// Goes on until the model has something to do: waits for tools, and lets a person say that a call
    /// of which nobody knows what became is to be made again.
    fn until_open(&mut self, answer: Value) -> Value {
        let mut answer = answer;
        while answer["toolStep"].is_object() {
            let id = json!({"executionId": answer["executionId"]});
            answer = settled(|| self.call("flows_status", &id));
            if answer["state"] == "awaiting_human" {
                let decision = json!({"executionId": id["executionId"], "answers": {"decision": "repeat"}});
                answer = self.call("flows_resume", &decision);
            }
        }
        answer
    }

    /// Calls a tool; `None` where the program was killed before it answered.
    fn try_call(&mut self, tool: &str, arguments: &Value) -> Option<Value> {
        self.last += 1;
        let answer =
            self.program.try_request(self.last, "tools/call", &json!({"name": tool, "arguments": arguments}))?;
        assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
        Some(answer["result"]["structuredContent"].clone())
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.try_call(tool, arguments).expect("an answer")
    }

    /// Calls a tool and kills the program so long after, answered or not.
    fn call_and_kill(&mut self, tool: &str, arguments: &Value, after: Duration) -> Option<Value> {
        // Not a wait for something to happen: the point in time is what is tested.
        self.call_and_kill_when(tool, arguments, move || std::thread::park_timeout(after))
    }

    /// Calls a tool and kills the program as soon as the external tool that may do something has been
    /// called.
    fn call_and_kill_in_it(&mut self, tool: &str, arguments: &Value) -> Option<Value> {
        let notes = self.home.notes();
        let before = self.home.noted("touch").len();
        self.call_and_kill_when(tool, arguments, move || {
            for _ in 0..4_000 {
                if notes_of(&notes, "touch").len() > before {
                    return;
                }
                std::thread::park_timeout(Duration::from_millis(1));
            }
        })
    }

    fn call_and_kill_when(
        &mut self,
        tool: &str,
        arguments: &Value,
        wait: impl FnOnce() + Send + 'static,
    ) -> Option<Value> {
        let id = self.program.id();
        let killer = std::thread::spawn(move || {
            wait();
            let _ = std::process::Command::new("kill").args(["-KILL", &id.to_string()]).status();
        });
        let answer = self.try_call(tool, arguments);
        killer.join().unwrap();
        self.restart();
        answer
    }
}

/// Every prefix of the log stands for a state: seq without gaps, and each step closed at most once. What
/// may do something is called once, and again only as a person says.
fn the_log_is_whole(home: &Home) {
    let file = Connection::open(home.root.path().join(".local/state/flowy/flowy.db")).unwrap();
    let decided: i64 =
        file.query_row("SELECT count(*) FROM events WHERE kind = 'tool_decided'", [], |row| row.get(0)).unwrap();
    let touched = home.noted("touch").len();
    assert!(touched <= 1 + usize::try_from(decided).unwrap(), "{touched} calls, {decided} decisions");
    let check: String = file.pragma_query_value(None, "integrity_check", |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    let mut rows = file.prepare("SELECT execution, seq, kind, body FROM events ORDER BY execution, seq").unwrap();
    let rows = rows.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?, row.get::<_, String>(3)?))
    });
    let (mut last, mut opened) = ((String::new(), 0), BTreeSet::new());
    for row in rows.unwrap() {
        let (execution, seq, kind, body) = row.unwrap();
        let expected = if execution == last.0 { last.1 + 1 } else { 1 };
        assert_eq!(seq, expected, "{execution}");
        if kind == "opened" {
            let body: Value = serde_json::from_str(&body).unwrap();
            assert!(opened.insert((execution.clone(), body["step"].to_string())), "{execution} opened {body} twice");
        }
        last = (execution, seq);
    }
}

fn lives_through(seed: u64, tools: bool) -> usize {
    let mut chance = Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut client = Client::new(tools);
    let longest = if tools { LONGEST_WITH_TOOLS } else { LONGEST };
    let begin = json!({"flowName": "Feature", "task": "t", "initialVariables": {"feature": "login"}});
    // Beginning is not repeated by its token, as there is none yet: what was kept is found in the list.
    let begun = match chance.below(3) {
        0 => client.call_and_kill("flows_begin", &begin, Duration::from_micros(chance.below(longest))),
        _ => Some(client.call("flows_begin", &begin)),
    };
    let mut open = match begun {
        Some(begun) => client.call("flows_status", &json!({"executionId": begun["executionId"]})),
        None => {
            let listed = client.call("flows_status", &json!({}));
            match listed["executions"].get(0) {
                Some(found) => client.call("flows_status", &json!({"executionId": found["executionId"]})),
                None => client.call("flows_begin", &begin),
            }
        }
    };
    let mut acknowledged: Vec<String> = Vec::new();
    loop {
        let step = open["step"]["id"].as_str().unwrap_or_else(|| panic!("seed {seed}: {open}")).to_owned();
        assert!(!acknowledged.contains(&step), "seed {seed}: {step} is handed out again");
        let execution = json!({"executionId": open["executionId"]});
        let closing =
            json!({"executionId": open["executionId"], "stepToken": open["stepToken"], "output": output(&step)});
        let answer = match chance.below(4) {
            0 => {
                // Between two calls.
                client.restart();
                let told = client.call("flows_status", &execution);
                assert_eq!(told["stepToken"], open["stepToken"], "seed {seed}");
                client.call("flows_complete_step", &closing)
            }
            1 => client.call("flows_complete_step", &closing),
            _ => {
                let after = Duration::from_micros(chance.below(longest));
                let answer = if tools && step == "review" {
                    client.call_and_kill_in_it("flows_complete_step", &closing)
                } else {
                    client.call_and_kill("flows_complete_step", &closing, after)
                };
                let told = client.call("flows_status", &execution);
                let done = told["completedSteps"].as_array().unwrap();
                for before in &acknowledged {
                    assert!(done.contains(&json!(before)), "seed {seed}: {before} was lost");
                }
                if answer.is_some() {
                    assert!(done.contains(&json!(step)), "seed {seed}: {step} was acknowledged and lost");
                }
                if !done.contains(&json!(step)) {
                    assert_eq!(told["stepToken"], open["stepToken"], "seed {seed}");
                }
                // The reply may be lost or not: asked again, it is the same.
                let again = client.call("flows_complete_step", &closing);
                assert!(answer.is_none_or(|answer| answer == again), "seed {seed}: another reply for {step}");
                again
            }
        };
        assert_eq!(answer["stepCompleted"], json!(step), "seed {seed}");
        acknowledged.push(step);
        let answer = client.until_open(answer);
        if answer.get("step").is_none() {
            assert_eq!(answer["finalResult"], "THE END", "seed {seed}");
            break;
        }
        open = answer;
    }
    assert_eq!(acknowledged.len(), 6, "seed {seed}");
    client.program.kill();
    the_log_is_whole(&client.home);
    client.kills
}

#[allow(clippy::disallowed_methods, reason = "how long this test goes on is said by who starts it")]
fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn live_through_all(usual: u64, tools: bool) {
    let (from, seeds) = (number("CRASH_FROM", 0), number("CRASH_SEEDS", usual));
    let kills: usize = std::thread::scope(|scope| {
        let share = |first: u64| (from + first..from + seeds).step_by(usize::try_from(SIDE_BY_SIDE).unwrap());
        let life = move |first: u64| share(first).map(|seed| lives_through(seed, tools)).sum::<usize>();
        let lives = (0..SIDE_BY_SIDE).map(|first| scope.spawn(move || life(first)));
        lives.collect::<Vec<_>>().into_iter().map(|life| life.join().unwrap()).sum()
    });
    assert!(kills as u64 >= seeds * 2, "{kills} kills");
}

#[test]
fn nothing_that_was_acknowledged_is_lost_wherever_the_program_is_killed() {
    live_through_all(SEEDS, false);
}

#[test]
fn no_call_that_may_do_something_is_repeated_by_itself_wherever_the_program_is_killed() {
    live_through_all(SEEDS_WITH_TOOLS, true);
}
