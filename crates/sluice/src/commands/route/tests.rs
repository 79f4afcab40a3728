//! The commands on fixed input. What a request is about, and how hard it is, is the classifier's
//! business: nothing here rests on it.

use clap::Parser;
use serde_json::{Value, json};
use sluice_routing::router::{Policy, Trade};
use sluice_routing::task::TaskType;

use super::*;
use crate::config::environment::tests::FixedEnvironment;

const CONFIG: &str = r#"
[[providers]]
id = "lab"
kind = "openai"
base_url = "http://127.0.0.1:9300/v1"
region = "us-east"

[[models]]
id = "small"
provider = "lab"
price = { input = "0.10", output = "0.40" }
quality = { default = 0.6, code = 0.5 }
context_window = 8_000
capabilities = ["tools"]

[[models]]
id = "large"
provider = "lab"
price = { input = 3, output = 15 }
quality = 0.9
context_window = 200_000
capabilities = ["tools", "vision"]

[[routers]]
id = "svc/split"
policy = "weighted"
members = ["small", "large"]
weights = [3, 1]
last_changed = 2026-11-20
stability = "preview"

[[routers]]
id = "svc/best"
policy = "strongest"
members = ["small", "large"]
cost_weight = 0
time_weight = 0
"#;

#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    args: RouteArgs,
}

/// What a command left behind.
struct Run {
    exit: Exit,
    out: String,
    err: String,
}

impl Run {
    fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn route(words: &str, input: &[u8]) -> Run {
    let environment = FixedEnvironment::default().file("sluice.toml", CONFIG);
    let words = std::iter::once("route").chain(words.split_whitespace());
    let args = Line::try_parse_from(words).unwrap_or_else(|error| panic!("{error}")).args;
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = run(&args, &environment, &mut &*input, &mut out, &mut err).unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { exit, out: text(out), err: text(err) }
}

fn explain(lines: &[Value]) -> Vec<Value> {
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let run = route("explain", input.as_bytes());
    assert_eq!((run.exit, run.err.as_str()), (Exit::Done, ""));
    run.lines()
}

fn asking(id: &str, router: &str) -> Value {
    json!({ "id": id, "router": router, "messages": [{ "role": "user", "content": "Fix this." }] })
}

#[test]
fn an_explanation_has_exactly_the_documented_members() {
    let answers = explain(&[asking("q1", "svc/best")]);
    let [answer] = &answers[..] else { panic!("one answer") };
    let members: Vec<&str> =
        answer.as_object().unwrap().keys().map(std::string::String::as_str).collect();
    assert_eq!(
        members,
        [
            "id",
            "task_type",
            "task_type_probabilities",
            "complexity",
            "chosen",
            "candidates",
            "reasons",
            "decision_us"
        ]
    );
    assert_eq!((&answer["id"], &answer["chosen"]), (&json!("q1"), &json!("large")));
    let probabilities = answer["task_type_probabilities"].as_object().unwrap();
    let words: Vec<&str> = TaskType::ALL.into_iter().map(TaskType::as_str).collect();
    assert_eq!(probabilities.keys().collect::<Vec<_>>(), words);
    let sum: f64 = probabilities.values().map(|p| p.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-4, "{sum}");
    assert!(probabilities.contains_key(answer["task_type"].as_str().unwrap()));
    let complexity = answer["complexity"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&complexity));
    assert!(complexity.to_string().len() <= "0.123456".len(), "six decimals: {complexity}");
    assert!(answer["decision_us"].as_f64().unwrap() > 0.0);
    assert_eq!(answer["candidates"][1]["model"], "small");
    assert_eq!(answer["candidates"][0]["provider"], "lab");
    assert!(answer["reasons"][0].as_str().unwrap().starts_with("best: the highest"));
    assert!(answer["reasons"][1].as_str().unwrap().starts_with("next would be small: utility "));
}

#[test]
fn the_router_is_the_named_one_then_the_model_then_auto() {
    let with_model = |model: &str| json!({ "id": 1, "model": model, "messages": [{ "role": "user", "content": "Hi" }] });
    // `svc/best` weighs nothing but quality; the others are told apart by their reasons.
    let answers = explain(&[with_model("svc/best"), with_model("gpt-5"), asking("w", "svc/split")]);
    assert_eq!(answers[0]["chosen"], "large");
    assert!(answers[2]["reasons"][0].as_str().unwrap().starts_with("weighted: "));
    let mut auto = with_model("gpt-5");
    auto["router"] = json!("svc/auto");
    assert_eq!(answers[1]["reasons"], explain(&[auto])[0]["reasons"]);

    let line = r#"{"messages":[{"role":"user","content":"Hi"}]}"#;
    let run = route("explain --router svc/split", line.as_bytes());
    assert!(run.lines()[0]["reasons"][0].as_str().unwrap().starts_with("weighted: "));
    assert_eq!(run.lines()[0]["id"], Value::Null);
}

#[test]
fn a_split_is_the_same_for_an_id_and_follows_the_weights() {
    let questions: Vec<Value> = (0..400).map(|i| asking(&format!("q{i}"), "svc/split")).collect();
    let chosen = |answers: &[Value]| -> Vec<Value> {
        answers.iter().map(|answer| answer["chosen"].clone()).collect()
    };
    let first = chosen(&explain(&questions));
    assert_eq!(first, chosen(&explain(&questions)));
    let small = first.iter().filter(|model| **model == "small").count();
    assert!((240..=360).contains(&small), "{small} of 400 at 3 to 1");
}

#[test]
fn what_a_request_needs_decides_first() {
    let image = json!([
        { "type": "text", "text": "What is this?" },
        { "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } }
    ]);
    let mut seeing = asking("image", "svc/auto");
    seeing["messages"][0]["content"] = image;
    let mut schema = asking("schema", "svc/auto");
    schema["response_format"] =
        json!({ "type": "json_schema", "json_schema": { "name": "s", "schema": {} } });
    let mut long = asking("long", "svc/auto");
    long["messages"][0]["content"] = Value::from("word ".repeat(20_000));
    let mut abroad = asking("region", "svc/auto");
    abroad["region"] = json!("eu-west");
    let answers = explain(&[seeing, schema, long, abroad]);
    for (i, chosen, reasons) in [
        (
            0,
            json!("large"),
            vec!["only: no other candidate can answer", "small cannot: cannot read images"],
        ),
        (
            1,
            Value::Null,
            vec!["none: no candidate can answer", "large cannot: cannot answer by a JSON schema"],
        ),
        (2, json!("large"), vec!["small cannot: its context window of 8000 tokens is too small"]),
        (3, Value::Null, vec!["small cannot: processes requests in us-east"]),
    ] {
        assert_eq!(answers[i]["chosen"], chosen, "{}", answers[i]);
        let told: Vec<&str> =
            answers[i]["reasons"].as_array().unwrap().iter().map(|r| r.as_str().unwrap()).collect();
        for reason in reasons {
            assert!(told.contains(&reason), "{reason} in {told:?}");
        }
    }
    assert_eq!(answers[0]["candidates"][1]["excluded"], "vision");
}

#[test]
fn any_pool_can_be_tried() {
    let mut question = asking("pool", "svc/auto");
    question["candidates"] = json!([
        { "id": "dear", "input_price": 10, "output_price": "50", "quality": { "*": 0.7 } },
        { "id": "winner", "input_price": 0.5, "output_price": 1.5,
          "quality": { "*": 0.95, "code": 0.96 }, "ttft_ms": 200, "tps": 150 },
        { "id": "guessed", "input_price": 20, "output_price": 80, "ttft_ms": 5000, "tps": 10 },
    ]);
    let answer = &explain(&[question.clone()])[0];
    assert_eq!(answer["chosen"], "winner", "better, faster and cheaper than all others");
    let candidates = answer["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 3);
    assert_eq!(candidates[0]["first_token_ms"], 200.0);
    assert!(candidates[0].get("provider").is_none());
    assert!(candidates[0]["cost_usd"].as_f64().unwrap() > 0.0);
    let reasons = answer["reasons"].to_string();
    assert!(reasons.contains("1 by price (a guess, from the price alone)"), "{reasons}");

    // A weighted router's weights hold for its own models only.
    question["router"] = json!("svc/split");
    assert!(explain(&[question])[0]["reasons"][0].as_str().unwrap().starts_with("weighted: "));
}

#[test]
fn a_bad_line_is_told_by_its_number_and_field_and_the_others_are_answered() {
    let pool = |candidates: &str| {
        format!(r#"{{"messages":[{{"role":"user","content":"Hi"}}],"candidates":{candidates}}}"#)
    };
    let candidate = |rest: &str| pool(&format!(r#"[{{"id":"a","input_price":1,{rest}}}]"#));
    let good = asking("good", "svc/auto").to_string();
    let lines = [
        good.clone(),
        "{".to_owned(),
        "[1]".to_owned(),
        String::new(),
        r#"{"id":1}"#.to_owned(),
        r#"{"messages":[{"role":"usr","content":"Hi"}]}"#.to_owned(),
        r#"{"messages":[{"role":"user","content":[{"type":"text"}]}]}"#.to_owned(),
        r#"{"messages":[{"role":"user","content":"Hi"}],"tools":{}}"#.to_owned(),
        asking("x", "svc/atuo").to_string(),
        asking("x", "gpt").to_string(),
        r#"{"messages":[{"role":"user","content":"Hi"}],"router":1}"#.to_owned(),
        pool("{}"),
        pool("[]"),
        pool("[1]"),
        pool(r#"[{"input_price":1}]"#),
        candidate(r#""output_price":"dear""#),
        candidate(r#""quality":{}"#),
        candidate(r#""output_price":-1"#),
        candidate(r#""output_price":1,"quality":{"cod":1}"#),
        candidate(r#""output_price":1,"quality":{"code":70}"#),
        candidate(r#""output_price":1,"quality":[]"#),
        candidate(r#""output_price":1,"tps":0"#),
        candidate(r#""output_price":1,"ttft_ms":true"#),
        pool(
            r#"[{"id":"a","input_price":1,"output_price":1},{"id":"a","input_price":1,"output_price":1}]"#,
        ),
        good,
    ];
    let mut input = lines.join("\n").into_bytes();
    input.extend_from_slice(b"\n{\"messages\":\"\xff\"}\n");
    let run = route("explain", &input);
    assert_eq!(run.exit, Exit::Usage);
    assert_eq!(run.lines().len(), 2);
    assert_eq!(run.lines()[0]["chosen"], run.lines()[1]["chosen"]);
    insta::assert_snapshot!(run.err);
}

#[test]
fn without_any_provider_the_pool_is_the_simulators() {
    let args = Line::try_parse_from(["route", "explain"]).unwrap().args;
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let input = asking("q", "svc/auto").to_string();
    let environment = FixedEnvironment::default();
    run(&args, &environment, &mut input.as_bytes(), &mut out, &mut err).unwrap();
    let answer: Value = serde_json::from_slice(&out).unwrap();
    assert!(answer["chosen"].as_str().unwrap().starts_with("demo/"), "{answer}");
}

fn candidate(model: &str, quality: f64, cost: Option<f64>, seconds: f64) -> Value {
    json!({ "model": model, "utility": 0.5, "quality": quality, "cost_usd": cost,
            "first_token_ms": 100.0, "seconds": seconds })
}

/// Five decisions, as two commands write them, and lines that hold none.
fn past() -> String {
    let strong = candidate("strong", 0.9, Some(0.02), 8.0);
    let weak = candidate("weak", 0.8, Some(0.001), 2.0);
    let mut barred = candidate("barred", 1.0, Some(0.0), 0.1);
    barred["excluded"] = json!("region");
    let record = |reason: &str, candidates: Vec<&Value>| {
        json!({ "request_id": "r", "model": "svc/auto", "route": {
            "router": "svc/auto", "policy": "strongest", "task_type": "code", "certainty": 0.9,
            "complexity": 0.4, "agent_step": false, "reason": reason, "candidates": candidates } })
    };
    let unknown = candidate("free", 0.7, None, 1.0);
    [
        record("best", vec![&strong, &weak, &barred]),
        record("session", vec![&weak, &strong]),
        record("locked_tool_calls", vec![&strong, &weak]),
        record("best", vec![&strong, &unknown]),
        json!({ "id": 1, "chosen": "strong", "reasons": ["best: …"], "candidates": [strong, weak] }),
        json!({ "request_id": "r", "model": "small" }),
        json!({ "request_id": "r", "route": null }),
        record("none", vec![&barred]),
    ]
    .iter()
    .map(|line| format!("{line}\n"))
    .collect()
}

#[test]
fn past_decisions_are_replayed_under_other_weights() {
    let run = route("simulate - --policy fastest", past().as_bytes());
    assert_eq!((run.exit, run.err.as_str()), (Exit::Done, ""));
    insta::assert_snapshot!(run.out);
}

#[test]
fn a_replay_under_the_same_weights_changes_nothing() {
    let run = route("simulate - --cost-weight 0 --time-weight 0 --json", past().as_bytes());
    let sums = &run.lines()[0];
    // Only the one that stayed with its session's weaker model would go elsewhere.
    assert_eq!(
        (&sums["decisions"], &sums["moved"], &sums["fixed"]),
        (&json!(5), &json!(1), &json!(1))
    );
    assert_eq!(sums["mix"]["strong"], json!({ "before": 4, "after": 5 }));
    assert_eq!((&sums["without_decision"], &sums["cost_known"]), (&json!(3), &json!(5)));
    assert_eq!(sums["before"]["quality"], json!((0.9 * 4.0 + 0.8) / 5.0));
}

#[test]
fn what_explain_prints_can_be_replayed() {
    let question = asking("q", "svc/best").to_string();
    let explained = route("explain", question.as_bytes()).out;
    let sums = &route("simulate - --policy fastest --json", explained.as_bytes()).lines()[0];
    assert_eq!((&sums["decisions"], &sums["without_decision"]), (&json!(1), &json!(0)));
    // Under its own weights it stays, also with the rounding of what was printed.
    let own = "simulate - --cost-weight 0 --time-weight 0 --json";
    assert_eq!(route(own, explained.as_bytes()).lines()[0]["moved"], 0);
}

#[test]
fn a_replay_goes_on_after_a_bad_line_and_an_empty_one_is_no_error() {
    let input = format!("nonsense\n{{\"route\":{{\"router\":1}}}}\n{}", past());
    let run = route("simulate - --policy fastest --json", input.as_bytes());
    assert_eq!((run.exit, &run.lines()[0]["decisions"]), (Exit::Usage, &json!(5)));
    assert!(run.err.starts_with("line 1: is no JSON: "), "{}", run.err);
    assert!(run.err.contains("line 2: `route` is none: "), "{}", run.err);

    let run = route("simulate - --policy balanced", b"");
    assert_eq!(run.exit, Exit::Done);
    assert!(run.out.starts_with("0 decisions "), "{}", run.out);
    let run = route("simulate nowhere.jsonl --policy balanced", b"");
    assert_eq!(run.exit, Exit::Failed);
    assert!(run.err.starts_with("cannot read nowhere.jsonl: "), "{}", run.err);
}

#[test]
fn weights_that_make_no_sense_are_refused() {
    for words in [
        "simulate f",
        "simulate f --policy weighted",
        "simulate f --policy best",
        "simulate f --cost-weight 0.1",
        "simulate f --cost-weight 2 --time-weight 0.1",
        "simulate f --policy fastest --cost-weight 0.1 --time-weight 0.1",
    ] {
        let words = std::iter::once("route").chain(words.split_whitespace());
        assert!(Line::try_parse_from(words).is_err());
    }
}

#[test]
fn cards_have_six_fields() {
    let run = route("cards --json", b"");
    assert_eq!(run.exit, Exit::Done);
    assert!(run.err.starts_with("Benchmark score: replayed on "), "{}", run.err);
    let cards = run.lines();
    let ids: Vec<&str> = cards.iter().map(|card| card["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["svc/split", "svc/best", "svc/auto", "svc/orbit", "svc/nebula"]);
    let split = cards[0].as_object().unwrap();
    assert_eq!(split.len(), 6);
    assert_eq!(split["included_models"], json!(["small", "large"]));
    assert_eq!(
        (&split["last_changed"], &split["stability"]),
        (&json!("2026-11-20"), &json!("preview"))
    );
    assert_eq!(
        (&cards[1]["last_changed"], &cards[1]["stability"]),
        (&json!("unknown"), &json!("stable"))
    );

    let run = route("cards svc/split", b"");
    assert!(run.out.starts_with("svc/split\n  benchmark score   "), "{}", run.out);
    assert!(run.out.contains("  included models   small, large\n"), "{}", run.out);
    assert!(run.out.contains("\n\nBenchmark score: replayed on "), "{}", run.out);
    let run = route("cards svc/none", b"");
    assert_eq!((run.exit, run.out.as_str()), (Exit::Usage, ""));
    assert!(run.err.contains("there is no router \"svc/none\""), "{}", run.err);
}

#[test]
fn the_documentation_has_the_weights_of_each_policy_and_every_task() {
    let docs = include_str!("../../../../../docs/routing.md");
    for policy in [Policy::Balanced, Policy::Fastest, Policy::Strongest] {
        let Trade { cost, time } = policy.trade();
        let cost = match policy {
            Policy::Fastest => format!("found when the router is built, at least {cost}"),
            _ => cost.to_string(),
        };
        let row = format!("| `{}` | {cost} | {time} |", policy.as_str());
        assert!(docs.contains(&row), "docs/routing.md should have {row}");
    }
    for task in TaskType::ALL {
        assert!(docs.contains(&format!("\n| `{}` | ", task.as_str())), "{}", task.as_str());
    }
}

#[test]
fn a_broken_configuration_is_told() {
    let environment = FixedEnvironment::default().file("bad.toml", "[[routers]]\nid = \"x\"");
    for command in ["explain", "cards"] {
        let args = Line::try_parse_from(["route", command, "--config", "bad.toml"]).unwrap().args;
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let exit = run(&args, &environment, &mut &b""[..], &mut out, &mut err).unwrap();
        assert_eq!(exit, Exit::Usage);
        assert!(String::from_utf8(err).unwrap().contains("bad.toml:1: routers[0].id: "));
    }
}
