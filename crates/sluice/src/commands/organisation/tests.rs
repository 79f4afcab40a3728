//! The organisation on the command line, and its page in the manual.

use crate::commands::Exit;
use crate::commands::tests::House;
use sluice_core::organisation::Role;
use sluice_gateway::admin::permissions::Verb;

const PAGE: &str = include_str!("../../../../../docs/organisation.md");

fn json(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap()
}

/// The commands of the page, in their order, without their comments.
fn commands() -> Vec<String> {
    let lines = PAGE.lines().filter_map(|line| line.strip_prefix("$ sluice "));
    lines.map(|line| line.split('#').next().unwrap_or_default().trim().to_owned()).collect()
}

#[tokio::test]
async fn the_manuals_commands_run_as_written() {
    let house = House::new();
    let commands = commands();
    assert!(commands.len() > 15, "{commands:?}");
    for command in commands {
        house.done(&command).await;
    }
    let key = json(&house.done("keys show nightly --json").await);
    assert_eq!(key["owner"], "service:build", "it was handed over");
    let verified = json(&house.done("audit verify --json").await);
    assert_eq!(verified["intact"], true);
}

#[test]
fn the_manuals_table_is_the_programs() {
    for verb in Verb::ALL {
        let scopes = Role::ALL.map(|role| verb.scope(role).as_str());
        let row = format!("| `{}` | {} |", verb.as_str(), scopes.join(" | "));
        assert!(PAGE.contains(&row), "the page lacks this row:\n{row}");
    }
    let rows = PAGE.lines().filter(|line| line.starts_with("| `") && line.contains(".")).count();
    assert_eq!(rows, Verb::ALL.len(), "the page has rows of its own");
}

#[tokio::test]
async fn everything_is_listed_and_shown_as_json() {
    let house = House::new();
    for empty in ["departments", "teams", "people", "services"] {
        let run = house.run(&format!("{empty} list")).await;
        // Before the first start there is no data folder yet.
        assert_eq!(run.exit, Exit::Failed, "{}", run.err);
    }
    house.done("departments create engineering").await;
    let run = house.run("teams list").await;
    assert!(run.out.is_empty() && run.err.contains("sluice teams create"), "{}", run.err);
    house.done("teams create compilers --department department:engineering").await;
    let ada = house.done("people create Ada@Example.org --role owner --team compilers").await;
    house.done("services create build --team team:compilers").await;
    house.done("keys create --name hers --team compilers --owner person:ada@example.org").await;
    for (line, field, value) in [
        ("departments list --json", "teams", r#"["compilers"]"#),
        ("departments show engineering --json", "name", r#""engineering""#),
        ("teams list --json", "department_name", r#""engineering""#),
        ("teams show team:compilers --json", "people", r#"["ada@example.org"]"#),
        ("people list --json", "operator", "true"),
        ("people show ADA@example.org --json", "role", r#""owner""#),
        ("services list --json", "teams", r#"["compilers"]"#),
        ("services show build --json", "active", "true"),
        ("accounts show default --json", "suspended_at", "null"),
        ("keys show key:hers --json", "owner", r#""person:ada@example.org""#),
        ("keys show hers --json", "department_name", r#""engineering""#),
    ] {
        assert_eq!(json(&house.done(line).await)[field].to_string(), value, "{line}");
    }
    let shown = house.done(&format!("people show person:{}", ada.trim())).await;
    assert!(shown.contains("compilers") && shown.contains("hers"), "{shown}");
    let trail = house.done("audit list --json --kind administration --oldest-first").await;
    let first = json(trail.lines().next().unwrap());
    assert_eq!(
        (&first["verb"], &first["surface"]),
        (&"accounts.create".into(), &"command line".into())
    );
    assert_eq!(first["actor"]["kind"], "command_line");
    assert!(!first["actor"]["user"].as_str().unwrap().is_empty());
    assert!(house.done("audit list").await.contains("command line ("));
}

#[tokio::test]
async fn errors_name_what_is_wrong_and_what_to_type() {
    let house = House::new();
    house.done("departments create engineering").await;
    house.done("teams create compilers --department engineering").await;
    house.done("people create boss@example.org --role owner").await;
    house.done("people create ada@example.org --team compilers").await;
    house.done("keys create --name hers --team compilers --owner person:ada@example.org").await;
    for (line, exit, says) in [
        ("teams create x --department nowhere", Exit::Failed, "`sluice departments list`"),
        ("people create ada --role developer", Exit::Usage, "ada@example.org"),
        ("people create a@b --role king", Exit::Usage, "department-lead"),
        ("people create ada@example.org", Exit::Failed, "already a person of this e-mail"),
        ("people remove ada@example.org", Exit::Usage, "--keys revoke"),
        ("people remove ada@example.org --keys burn", Exit::Usage, "hand-over:X"),
        ("people remove boss@example.org", Exit::Failed, "last owner"),
        ("people set boss@example.org --role admin", Exit::Failed, "--role owner"),
        ("people set boss@example.org", Exit::Usage, "name a setting"),
        ("departments remove engineering", Exit::Failed, "compilers"),
        ("keys create --name x --owner ada", Exit::Usage, "person:P"),
        ("keys create --name x --scopes fly", Exit::Usage, "chat, models"),
        ("keys move hers", Exit::Usage, "--team"),
        ("keys rotate hers --grace soon", Exit::Usage, "24h"),
        ("keys resume hers", Exit::Failed, "not suspended"),
    ] {
        let run = house.run(line).await;
        assert_eq!(run.exit, exit, "{line}: {}", run.err);
        assert!(run.err.contains(says), "{line}: {}", run.err);
    }
    house.done("accounts create --name second --tier lowest").await;
    let run = house.run("departments create x").await;
    assert_eq!(run.exit, Exit::Usage);
    assert!(run.err.contains("--account") && run.err.contains("second"), "{}", run.err);
    house.done("departments create engineering --account second").await;
    let run = house.run("departments show engineering").await;
    assert!(run.err.contains("2 departments fit"), "{}", run.err);
    house.done("departments show engineering --account second").await;
}
