//! Budgets on the command line, and their page in the manual.

use super::{FixedEnvironment, House, Settings, manual};

const PAGE: &str = include_str!("../../../../../docs/governance.md");

#[tokio::test]
async fn the_manuals_commands_run_as_written() {
    let house = House::new();
    let commands = manual::commands(manual::section(PAGE, "A walk"));
    assert!(commands.len() > 15, "{commands:?}");
    for command in commands {
        house.done(&command).await;
    }
    let budgets = house.done("budgets list --json").await;
    let budgets: Vec<serde_json::Value> =
        budgets.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| budgets.iter().find(|it| it["for_name"] == name).unwrap();
    let sales = of("department sales");
    assert_eq!((sales["limit"].as_f64(), sales["limit_now"].as_f64()), (Some(800.0), Some(1000.0)));
    assert_eq!(sales["zone"], "Europe/Berlin", "it stays");
    assert_eq!(of("person ada@example.org")["hard"], false);
    assert!(!budgets.iter().any(|it| it["for_name"] == "key crm"), "it was removed");
    let key: serde_json::Value =
        serde_json::from_str(&house.done("keys show laptop --json").await).unwrap();
    let shown = key.to_string();
    for word in ["budget", "usd", "concurrency"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
}

#[test]
fn the_manuals_file_is_a_configuration() {
    let (_, from_file) = PAGE.split_once("```toml\n").unwrap();
    let (file, _) = from_file.split_once("```").unwrap();
    let settings = Settings::from_text(None, file, &FixedEnvironment::default());
    let declared = settings.unwrap_or_else(|problems| panic!("{problems}")).organisation;
    assert_eq!(declared.budgets.len(), 2);
}

#[tokio::test]
async fn what_is_not_one_budget_is_named_by_its_id() {
    let house = House::new();
    house.done("departments create sales").await;
    let none = house.run("budgets show department:sales").await;
    assert!(none.err.contains("there is no budget \"department:sales\""), "{}", none.err);
    for measure in ["usd", "tokens"] {
        let line = format!("budgets set --for department:sales --measure {measure} --limit 5");
        house.done(&line).await;
    }
    let several = house.run("budgets remove department:sales").await;
    assert!(several.err.contains("has several budgets: bud_"), "{}", several.err);
}
