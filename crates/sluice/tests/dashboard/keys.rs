//! Keys in the browser: found, changed.

use sluice_testkit::{Config, FakeUpstream, Script, Sluice, answers};

use crate::browser::Browser;
use crate::{BINARY, sluice};

#[tokio::test]
async fn what_is_sought_leads_to_its_page_and_a_secret_is_never_repeated() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let secret = sluice.create_named_key("laptop", &[]).await;
    let page = owner.form("/find", &[("q", &secret)]).await;
    let path = page.location().to_owned();
    assert!(path.starts_with("/keys/key_") && !path.contains(&secret), "{path}");
    let key = path.trim_start_matches("/keys/").to_owned();
    assert_eq!(owner.form("/find", &[("q", &key)]).await.location(), path);
    assert_eq!(owner.get("/find?q=laptop").await.location(), path);
    assert_eq!(owner.form("/find", &[("q", "audit")]).await.location(), "/audit");
    let person = owner.form("/find", &[("q", "owner@example.org")]).await;
    assert!(person.location().starts_with("/organisation/people/"), "{}", person.body);

    let unknown = secret.chars().rev().collect::<String>();
    let unknown = format!("svc_ent_{}", &unknown[..secret.len() - "svc_ent_".len()]);
    let page = owner.form("/find", &[("q", &unknown)]).await;
    assert!(page.status == 200 && !page.has(&unknown), "{}", page.body);
    // The same on the page of keys: what is sought is in no address.
    assert_eq!(owner.form("/keys", &[("q", &secret)]).await.location(), path);
    let answer = owner.form("/keys?state=valid", &[("q", &unknown)]).await;
    assert!(!answer.location().contains(&unknown), "{}", answer.location());
    assert!(answer.location().contains("state=valid"), "{}", answer.location());
    let answer = owner.form("/keys", &[("q", "lap")]).await;
    assert_eq!(answer.location(), "/keys?q=lap");
    assert!(owner.get("/find?q=nothing-of-this-name").await.has("Nothing is called that"));
    assert!(!sluice.stdout().contains(&unknown));
}

/// What becomes of a file on the server's machine keeps no key from being revoked.
#[tokio::test]
async fn a_key_is_revoked_while_the_master_key_cannot_be_read() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let secret = sluice.create_named_key("laptop", &[]).await;
    sluice.answers_with(&secret, 200).await;
    let path = owner.get("/find?q=laptop").await.location().to_owned();
    let file = sluice.data_dir().join("master.key");
    let away = file.with_extension("away");
    std::fs::rename(&file, &away).unwrap();
    let revoked = owner.form(&format!("{path}/revoke"), &[("confirm", "laptop")]).await;
    assert_eq!(revoked.status, 303, "{}", revoked.body);
    sluice.answers_with(&secret, 401).await;
    std::fs::rename(&away, &file).unwrap();
    let another = sluice.create_named_key("another", &[]).await;
    sluice.answers_with(&another, 200).await;
}

#[tokio::test]
async fn a_key_is_changed_by_whoever_may() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    sluice.create_named_key("laptop", &[]).await;
    let path = owner.get("/find?q=laptop").await.location().to_owned();
    assert!(owner.get(&path).await.has(&format!("{path}/change")));
    let change = format!("{path}/change");
    let form = owner.get(&change).await;
    assert!(form.status == 200 && form.has("value=\"laptop\""), "{}", form.body);
    let fields = [
        ("name", "notebook"),
        ("class", "production"),
        ("scopes", "chat"),
        ("models", "mock"),
        ("minimum_level", "standard"),
        ("max_tokens", "documented"),
        ("requests_per_hour", "1,200"),
        ("tokens_per_day", ""),
        ("expires_at", "2099-02-20"),
    ];
    let drawn = form.between("name=\"drawn\" value=\"", "\"").unwrap().to_owned();
    let saved = owner.form(&change, &fields).await;
    assert_eq!(saved.location(), format!("{path}?done=changed"), "{}", saved.body);
    let keys = sluice.json_lines(&["keys", "list", "--json"]).await;
    let key = keys.iter().find(|key| key["name"] == "notebook").unwrap();
    assert_eq!(key["requests_per_hour"], 1_200, "{key}");
    assert_eq!(key["models"], serde_json::json!(["mock"]));
    let form = owner.get(&change).await;
    assert!(form.has("value=\"2099-02-20\"") && form.has("value=\"1200\""), "{}", form.body);

    // Another browser's form, drawn before that, would take the limit away again.
    let late: Vec<_> = fields.into_iter().chain([("drawn", drawn.as_str())]).collect();
    let refused = owner.form(&change, &late).await;
    assert!(refused.status == 409 && refused.has("value=\"1200\""), "{}", refused.body);

    let mut wrong = fields;
    wrong[6] = ("requests_per_hour", "many");
    let refused = owner.form(&change, &wrong).await;
    assert!(
        refused.status == 422 && refused.has("no whole number") && refused.has("value=\"many\"")
    );
    let mut auditor = Browser::invited(&sluice, "ada@example.org", "--role auditor").await;
    assert!(!auditor.get(&path).await.has(&change));
    assert_eq!(auditor.form(&change, &fields).await.status, 403);
}

/// What was refused has not moved the key either, so the form can be mended and sent again.
#[tokio::test]
async fn a_key_does_not_move_where_its_change_is_refused() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    sluice.done("departments create engineering").await;
    sluice.done("teams create compilers --department engineering").await;
    let teams = sluice.json_lines(&["teams", "list", "--json"]).await;
    let team = teams.iter().find(|it| it["name"] == "compilers").unwrap()["id"].as_str().unwrap();
    sluice.create_named_key("laptop", &[]).await;
    let path = owner.get("/find?q=laptop").await.location().to_owned();
    let change = format!("{path}/change");
    owner.get(&change).await;
    let mut fields = [
        ("name", "laptop"),
        ("class", "production"),
        ("team", team),
        ("scopes", "chat"),
        ("region", "eu-west"),
        ("regions", "us-east"),
        ("minimum_level", "standard"),
        ("max_tokens", "documented"),
    ];
    let refused = owner.form(&change, &fields).await;
    assert!(refused.status == 422 && refused.has("allowed regions"), "{}", refused.body);
    let team_of_key = async || {
        let keys = sluice.json_lines(&["keys", "list", "--json"]).await;
        keys.into_iter().find(|key| key["name"] == "laptop").unwrap()["team_id"].take()
    };
    assert_eq!(team_of_key().await, serde_json::Value::Null);
    fields[4] = ("region", "us-east");
    let saved = owner.form(&change, &fields).await;
    assert_eq!((saved.status, saved.location()), (303, &*format!("{path}?done=changed")));
    assert_eq!(team_of_key().await, team);
}

#[tokio::test]
async fn the_form_of_a_key_names_nobody_of_another_account() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    sluice.done("accounts create --name other --tier middle").await;
    sluice.done("people create eve@other.example --account other --role owner").await;
    let people = sluice.json_lines(&["people", "list", "--account", "other", "--json"]).await;
    let id = people[0]["id"].as_str().unwrap();
    let given = [("name", "k"), ("owner", &*format!("person:{id}"))];
    for path in ["/keys/new/preview", "/keys/new"] {
        let page = owner.form(path, &given).await;
        assert!(!page.has("eve@other.example"), "{path}: {}", page.body);
        assert_ne!(page.status, 303, "{path}");
    }
}

/// The command beside a form, as words.
fn command(page: &crate::browser::Page) -> Vec<String> {
    let text = page.between("sluice keys create", "</").unwrap();
    let text = text.replace("&#39;", "'").replace("&amp;", "&").replace("\\\n", " ");
    text.split_whitespace().map(|word| word.trim_matches('\'').to_owned()).collect()
}

#[tokio::test]
async fn the_command_beside_a_form_makes_the_same_key() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    sluice.done("departments create engineering").await;
    sluice.done("teams create compilers --department engineering").await;
    let teams = sluice.json_lines(&["teams", "list", "--json"]).await;
    let team = teams.iter().find(|it| it["name"] == "compilers").unwrap()["id"].as_str().unwrap();
    let full = [
        ("name", "ci"),
        ("class", "enterprise"),
        ("owner", ""),
        ("team", team),
        ("scopes", "chat"),
        ("models", "mock"),
        ("regions", "eu-west"),
        ("region", "eu-west"),
        ("minimum_level", "high"),
        ("zero_retention", "on"),
        ("audit", "on"),
        ("max_tokens", "documented"),
        ("requests_per_hour", "1,200"),
        ("tokens_per_day", "5,000"),
        ("expires_at", "2099-02-20"),
    ];
    let form = owner.get("/keys/new").await;
    let own = form.between("<option value=\"person:", "\"").unwrap();
    let own = format!("person:{own}");
    let plain = [
        ("name", "ci"),
        ("class", "production"),
        ("owner", own.as_str()),
        ("scopes", "chat"),
        ("scopes", "models"),
    ];
    for fields in [full.as_slice(), &plain] {
        let preview = owner.form("/keys/new/preview", fields).await;
        assert_eq!(preview.status, 200, "{}", preview.body);
        let words = command(&preview);
        let words: Vec<&str> =
            ["keys", "create"].into_iter().chain(words.iter().map(String::as_str)).collect();
        let done = sluice.cli(&words).await;
        assert!(done.code == Some(0), "{words:?}: {}", done.stderr);
        assert_eq!(owner.form("/keys/new", fields).await.status, 200);
    }
    let keys = sluice.json_lines(&["keys", "list", "--json"]).await;
    let mut made: Vec<_> = keys.into_iter().filter(|key| key["name"] == "ci").collect();
    assert_eq!(made.len(), 4);
    for key in &mut made {
        let key = key.as_object_mut().unwrap();
        for own in ["id", "subject", "created_at", "secrets", "prefix"] {
            key.remove(own);
        }
    }
    let full: Vec<_> = made.iter().filter(|key| key["class"] == "enterprise").collect();
    assert_eq!((full.len(), full[0]), (2, full[1]));
    let plain: Vec<_> = made.iter().filter(|key| key["class"] == "production").collect();
    assert_eq!((plain.len(), plain[0]), (2, plain[1]));
}

#[tokio::test]
async fn a_form_that_makes_a_secret_is_taken_once() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let form = owner.get("/keys/new").await;
    let once = form.between("name=\"once\" value=\"", "\"").unwrap().to_owned();
    let fields =
        [("name", "twice"), ("class", "production"), ("scopes", "chat"), ("once", once.as_str())];
    assert_eq!(owner.form("/keys/new", &fields).await.status, 200);
    let again = owner.form("/keys/new", &fields).await;
    assert!(again.status == 409 && !again.has("svc_ent_"), "{}", again.body);
    let keys = sluice.json_lines(&["keys", "list", "--json"]).await;
    assert_eq!(keys.iter().filter(|key| key["name"] == "twice").count(), 1);

    // A rotation that ends the old secret at once asks for the name.
    let path = owner.get("/find?q=twice").await.location().to_owned();
    let rotate = format!("{path}/rotate");
    let asked = owner.form(&rotate, &[("grace", "0")]).await;
    assert!(asked.status == 422 && asked.has("name=\"confirm\""), "{}", asked.body);
    let done = owner.form(&rotate, &[("grace", "0"), ("confirm", "twice")]).await;
    assert!(done.status == 200 && done.has("svc_ent_"), "{}", done.body);
}

#[tokio::test]
async fn a_lead_makes_keys_for_those_whom_they_see() {
    let (sluice, _upstream) = sluice().await;
    for (department, team) in [("engineering", "compilers"), ("legal", "contracts")] {
        sluice.done(&format!("departments create {department}")).await;
        sluice.done(&format!("teams create {team} --department {department}")).await;
        sluice.done(&format!("people create of-{team}@example.org --team {team}")).await;
        sluice.done(&format!("services create bot-{team} --team {team}")).await;
    }
    let words = "--role department-lead --team compilers";
    let mut lead = Browser::invited(&sluice, "lead@example.org", words).await;
    let form = lead.get("/keys/new").await;
    assert!(form.has("compilers") && form.has("of-compilers"), "{}", form.body);
    assert!(!form.has("contracts"), "{}", form.body);
}

#[tokio::test]
async fn clients_are_set_up_for_models_that_the_key_may_ask() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello"))).await;
    let config = Config::default()
        .provider("lab", &upstream.base_url())
        .model("mock", "\"lab\"")
        .model("other", "\"lab\"");
    let sluice = Sluice::start(BINARY, &config).await;
    let mut owner = Browser::welcome(&sluice).await;
    let fields =
        [("name", "narrow"), ("class", "production"), ("scopes", "chat"), ("models", "other")];
    let made = owner.form("/keys/new", &fields).await;
    let set_up = made.between("Set up a client", "</main>").unwrap();
    assert!(set_up.contains("other") && !set_up.contains("mock"), "{set_up}");
    let fields = [("name", "lists"), ("class", "production"), ("scopes", "models")];
    let made = owner.form("/keys/new", &fields).await;
    assert!(made.has("no model: it may only list them"), "{}", made.body);
}

#[tokio::test]
async fn what_others_used_of_a_limit_is_not_told() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let mut developer = Browser::invited(&sluice, "ada@example.org", "--role developer").await;
    sluice.create_named_key("laptop", &["--owner", "ada@example.org"]).await;
    let path = owner.get("/find?q=laptop").await.location().to_owned();
    let seen = owner.get(&path).await;
    assert!(!seen.has("at most"), "{}", seen.body);
    let own = developer.get(&path).await;
    assert!(own.status == 200 && own.has("at most"), "{}", own.body);
}
