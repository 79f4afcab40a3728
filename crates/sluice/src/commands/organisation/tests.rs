//! The organisation on the command line, and its page in the manual.

use crate::commands::Exit;
use crate::commands::tests::{House, manual};
use crate::config::Settings;
use crate::config::environment::tests::FixedEnvironment;
use sluice_core::organisation::Role;
use sluice_gateway::admin::permissions::Verb;

const PAGE: &str = include_str!("../../../../../docs/organisation.md");

fn json(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap()
}

#[tokio::test]
async fn the_manuals_commands_run_as_written() {
    let house = House::new();
    let commands = manual::commands(PAGE);
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
fn the_manuals_file_is_a_configuration() {
    let (_, from_file) = PAGE.split_once("```toml\n").unwrap();
    let (file, _) = from_file.split_once("```").unwrap();
    let settings = Settings::from_text(None, file, &FixedEnvironment::default());
    let declared = settings.unwrap_or_else(|problems| panic!("{problems}")).organisation;
    assert_eq!(
        (declared.departments.len(), declared.teams.len(), declared.people.len()),
        (1, 1, 2)
    );
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
        ("keys create --name x --owner ada", Exit::Failed, "`sluice services list`"),
        ("people remove ada@example.org --keys hand-over:team:x", Exit::Usage, "a person or"),
        ("people remove ada@example.org --keys hand-over:x", Exit::Failed, "no service \"x\""),
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

/// A department, a team, two people with a key each, and a service.
async fn company() -> House {
    let house = House::new();
    for line in [
        "departments create engineering",
        "teams create compilers --department engineering",
        "people create ada@example.org --team compilers",
        "people create grace@example.org",
        "services create build",
        "keys create --name hers --team compilers --owner ada@example.org",
        "keys create --name graces --owner grace@example.org",
    ] {
        house.done(line).await;
    }
    house
}

#[tokio::test]
async fn keys_that_a_suspension_concerns_do_not_count_as_working() {
    let house = company().await;
    let working =
        async || json(&house.done("accounts show default --json").await)["valid_keys"].to_string();
    assert_eq!(working().await, "2");
    assert!(house.done("accounts list").await.contains("active"));
    for (line, left) in [
        ("teams suspend compilers", "1"),
        ("people suspend grace@example.org", "0"),
        ("teams resume compilers", "1"),
        ("people resume grace@example.org", "2"),
        ("accounts suspend default --reason unpaid", "0"),
    ] {
        house.done(line).await;
        assert_eq!(working().await, left, "after {line}");
    }
    let listed = house.done("accounts list").await;
    assert!(listed.contains("state") && listed.contains(": unpaid"), "{listed}");
    let shown = house.done("accounts show default").await;
    assert!(shown.contains("keys that work     0") && shown.contains(": unpaid"), "{shown}");
}

#[tokio::test]
async fn what_was_removed_is_listed_and_shown_until_it_is_resumed() {
    let house = company().await;
    for (several, name, answer) in [
        ("services", "build", ""),
        ("people", "ada@example.org", " --keys suspend"),
        ("teams", "compilers", " --keys suspend"),
        ("departments", "engineering", ""),
    ] {
        let none = house.run(&format!("{several} list --removed")).await;
        assert!(none.out.is_empty() && none.err.contains("were removed"), "{}", none.err);
        house.done(&format!("{several} remove {name}{answer}")).await;
        assert!(!house.done(&format!("{several} list --json")).await.contains(name));
        let removed = house.done(&format!("{several} list --removed")).await;
        assert!(removed.contains(name) && removed.contains("removed 20"), "{removed}");
        let shown = house.done(&format!("{several} show {name}")).await;
        assert!(shown.contains("removed 20"), "{shown}");
        let listed = json(&house.done(&format!("{several} list --removed --json")).await);
        assert_eq!(json(&house.done(&format!("{several} show {name} --json")).await), listed);
        assert!(listed["removed_at"].is_string(), "{listed}");
    }
    for line in ["departments resume engineering", "teams resume compilers"] {
        house.done(line).await;
    }
    assert!(house.done("teams list").await.contains("compilers"));
    assert!(house.done("teams list --removed --json").await.is_empty());
}

#[tokio::test]
async fn a_key_that_changes_its_account_says_what_it_loses() {
    let house = company().await;
    house.done("accounts create --name second --tier lowest").await;
    for (key, lost) in [("hers", "a team and an owner"), ("graces", "has an owner")] {
        let stays = house.run(&format!("keys set {key} --class development")).await;
        assert!(!stays.err.contains("no longer"), "{}", stays.err);
        let moved = house.run(&format!("keys set {key} --account second")).await;
        assert!(moved.err.contains(lost) && moved.err.contains("keys move"), "{}", moved.err);
    }
}

/// Each word of what is named may say what it is.
#[tokio::test]
async fn every_command_takes_a_name_with_its_kind() {
    let house = company().await;
    for line in [
        "usage list --key key:hers --account account:default --json",
        "keys show key:hers",
        "keys set key:hers --class production",
        "keys rotate key:hers --grace 0h",
        "keys move key:hers --team team:compilers --owner service:build",
        "keys suspend key:hers",
        "keys resume key:hers",
        "keys revoke key:hers",
        "teams create lab --department department:engineering --account account:default",
        "teams set team:lab --department department:engineering",
        "people set person:ada@example.org --team team:lab --team team:compilers",
        "services set service:build --team team:lab",
        "accounts set account:default --tier middle",
        "accounts suspend account:default",
        "accounts resume account:default",
        "teams remove team:compilers --keys hand-over:team:lab",
        "people remove person:grace@example.org --keys hand-over:ada@example.org",
    ] {
        house.done(line).await;
    }
    let key = json(&house.done("keys show graces --json").await);
    assert_eq!(key["owner"], "person:ada@example.org");
}

#[tokio::test]
async fn messages_say_what_is_so_now_and_give_whole_commands() {
    let house = company().await;
    house.done("teams create data-science --department engineering").await;
    house.done("teams suspend data-science").await;
    house.done("teams suspend compilers").await;
    house.done("services suspend build").await;
    for (line, says) in [
        ("services create other", "other (ser_"),
        ("services create third", ") is created."),
        ("keys move hers --team data-science", "`sluice teams resume data-science` does"),
        ("keys move hers --owner build", "`sluice services resume build` does"),
        ("keys rotate graces --grace 0h", "The old one no longer works."),
        ("keys rotate graces --grace 1h", "The old one works until 2026-11-21T10:30:00Z."),
        ("keys rotate graces", "ends both at once; `sluice keys rotate key_"),
        ("keys rotate graces", " --grace 0h` does that"),
    ] {
        let run = house.run(line).await;
        assert!(run.err.contains(says), "{line}: {}", run.err);
    }
}

#[tokio::test]
async fn an_invitation_prints_a_link_and_nothing_else() {
    let house = House::new();
    house.done("departments create engineering").await;
    house.done("teams create compilers --department engineering").await;
    let line = "people invite Ada@Example.org --role owner --team team:compilers --name Ada";
    let run = house.run(line).await;
    assert_eq!(run.exit, Exit::Done, "{}", run.err);
    let token = run.out.trim().strip_prefix("http://127.0.0.1:8080/invite/").unwrap().to_owned();
    assert_eq!(token.len(), 43);
    assert!(run.err.contains("until 2026-11-28T09:30:00Z"), "seven days: {}", run.err);
    assert!(!run.err.contains(&token), "{}", run.err);
    let shown = json(&house.done("people show ada@example.org --json").await);
    assert_eq!((&shown["role"], &shown["teams"][0]), (&"owner".into(), &"compilers".into()));

    let again = json(&house.done("people invite ada@example.org --json").await);
    assert_eq!((&again["is_new"], &again["id"]), (&false.into(), &shown["id"]));
    let link = again["link"].as_str().unwrap();
    assert!(!link.contains(&token), "another one");
    let trail = house.done("audit list --json --kind administration").await;
    assert_eq!(trail.matches("people.invite").count(), 2);
    assert!(!trail.contains(&token) && !trail.contains(link.rsplit('/').next().unwrap()));
    for (line, exit, says) in [
        ("people invite ada", Exit::Usage, "no e-mail address"),
        ("people invite ada@example.org --role admin", Exit::Failed, "another role"),
        ("people invite x@y.org --role king", Exit::Usage, "department-lead"),
        ("people reset nobody@example.org", Exit::Failed, "`sluice people list`"),
        ("people sessions ada@example.org --end=ses_1", Exit::Failed, "no session"),
    ] {
        let run = house.run(line).await;
        assert_eq!(run.exit, exit, "{line}: {}", run.err);
        assert!(run.err.contains(says), "{line}: {}", run.err);
    }
}

#[tokio::test]
async fn sessions_are_listed_and_ended_and_a_reset_ends_them_all() {
    use sluice_core::clock::UnixMillis;
    use sluice_core::secret::Secret;
    use sluice_gateway::people::{PasswordCost, People, PeopleSettings, SignedIn, Visitor};
    use sluice_storage::{MasterKey, Store};
    const NOW: UnixMillis = UnixMillis(1_795_253_400_000);
    let house = House::new();
    let link = house.done("people invite ada@example.org --role owner").await;
    let store = Store::open(house.data_dir()).await.unwrap();
    let master_key = MasterKey::load(house.data_dir()).unwrap();
    let cost = PasswordCost { memory_kib: 64, passes: 1 };
    let people = People::new(store, master_key, PeopleSettings { cost, ..Default::default() });
    let visitor = Visitor::new("192.0.2.7".parse().ok(), Some("Mozilla/5.0"));
    let password = Secret::new("correct horse battery staple".to_owned());
    let run = house.run("people sessions ada@example.org").await;
    assert!(run.out.is_empty() && run.err.contains("is signed in nowhere"), "{}", run.err);
    let token = link.trim().rsplit('/').next().unwrap();
    people.accept_link(token, &password, &visitor, NOW).await.unwrap();
    for _ in 0..2 {
        let again = people.sign_in("ada@example.org", &password, &visitor, NOW).await.unwrap();
        assert!(matches!(again, SignedIn::Done(_)));
    }
    let table = house.done("people sessions ada@example.org").await;
    assert!(table.contains("192.0.2.7") && table.contains("Mozilla/5.0"), "{table}");
    let listed = house.done("people sessions ada@example.org --json").await;
    assert_eq!(listed.lines().count(), 3);
    let one = json(listed.lines().next().unwrap());
    assert_eq!(one["expires_at"], "2026-11-28T09:30:00Z");
    let end = format!("people sessions ada@example.org --end={}", one["id"].as_str().unwrap());
    house.done(&end).await;
    assert_eq!(house.done("people sessions ada@example.org --json").await.lines().count(), 2);
    let reset = json(&house.done("people reset ada@example.org --json").await);
    assert_eq!(reset["ended_sessions"], 2);
    assert!(reset["link"].as_str().unwrap().contains("/invite/"));
    assert_eq!(house.done("people sessions ada@example.org --json").await, "");
    let token = reset["link"].as_str().unwrap().rsplit('/').next().unwrap();
    people.accept_link(token, &password, &visitor, NOW).await.unwrap();
    let run = house.run("people sessions ada@example.org --end").await;
    assert!(run.err.contains("1 sessions ended"), "{}", run.err);
    assert_eq!(house.done("people sessions ada@example.org --json").await, "");
}
