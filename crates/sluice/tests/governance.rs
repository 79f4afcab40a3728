//! The walk of the manual to a company with two departments: its commands run as they are written, beside a
//! running server, from an empty folder.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use serde_json::{Value, json};
use sluice_testkit::{Config, Sluice, until};
use sluice_testpostgres::Database;

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");
const PAGE: &str = include_str!("../../../docs/governance.md");

/// A command of the walk, without `sluice`, and whether it reads a file.
fn commands() -> Vec<(Vec<String>, bool)> {
    let walk = PAGE.split("\n## ").find(|part| part.starts_with("A walk")).unwrap();
    let lines = walk.lines().filter_map(|line| line.strip_prefix("$ sluice "));
    lines
        .map(|line| {
            let line = line.split('#').next().unwrap();
            let (line, reads) = match line.split_once(" < ") {
                Some((line, _)) => (line, true),
                None => (line, false),
            };
            (words(line), reads)
        })
        .collect()
}

/// As a shell reads them: blanks within quotes belong to a word.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in line.split('"').enumerate() {
        match i % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

#[tokio::test]
async fn the_manuals_walk_runs_as_written() {
    for database in Database::none_and_one() {
        let config = Config::default();
        let config = database.as_ref().map_or(config.clone(), |it| config.database(&it.url()));
        let sluice = Sluice::start(BINARY, &config).await;
        let commands = commands();
        assert!(commands.len() > 35, "{commands:?}");
        for (words, reads) in &commands {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let input = if *reads { "sk-walk-0123456789\n" } else { "" };
            let ran = sluice.cli_given(&words, input).await;
            assert_eq!(ran.code, Some(0), "{words:?}: {}{}", ran.stdout, ran.stderr);
        }

        let budgets = sluice.json_lines(&["budgets", "list", "--json"]).await;
        let of = |name: &str| budgets.iter().find(|it| it["for_name"] == name).unwrap();
        let sales = of("department sales");
        let limits = (sales["limit"].as_f64(), sales["limit_now"].as_f64());
        assert_eq!(limits, (Some(800.0), Some(1000.0)));
        assert_eq!(sales["zone"], "Europe/Berlin", "it stays");
        assert_eq!(of("person ada@example.org")["hard"], false);
        assert!(!budgets.iter().any(|it| it["for_name"] == "key crm"), "it was removed");
        let shown = sluice.done("keys show laptop --json").await;
        for word in ["budget", "usd", "concurrency"] {
            assert!(shown.contains(word), "{word}: {shown}");
        }
        let keys = sluice.json_lines(&["provider-keys", "list", "--json"]).await;
        assert_eq!(keys[0]["for_name"], "department engineering", "{keys:?}");
        let routers = sluice.json_lines(&["routers", "list", "--json"]).await;
        let settings = &routers[0]["settings"];
        assert_eq!(settings["weights"], json!([9.0, 1.0]), "{routers:?}");

        // The server knows of the router, which is the team's alone, and goes on after the rotation.
        let key = sluice.create_named_key("ci", &["--team", "compilers"]).await;
        let names = until("the router", async || {
            let models: Value = sluice.get("/api/v1/models", &key).await.json();
            let ids = models["data"].as_array()?.iter();
            let ids: Vec<String> =
                ids.filter_map(|it| it["id"].as_str().map(str::to_owned)).collect();
            ids.contains(&"svc/review".to_owned()).then_some(ids)
        })
        .await;
        assert!(names.contains(&"fast".to_owned()), "{names:?}");
        let others = sluice.create_named_key("sales", &["--team", "europe"]).await;
        let models = sluice.get("/api/v1/models", &others).await;
        assert!(!models.text().contains("svc/review"), "{}", models.text());
    }
}
