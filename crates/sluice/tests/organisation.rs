//! Keys of an organisation beside a running server: scopes, suspensions, secrets.

use sluice_testkit::{Config, FakeUpstream, Script, Sluice, answers, until};
use sluice_testpostgres::Database;

const BINARY: &str = env!("CARGO_BIN_EXE_sluice");

fn on(database: Option<&Database>) -> Config {
    let config = Config::default();
    database.map_or(config.clone(), |database| config.database(&database.url()))
}

async fn all_done(sluice: &Sluice, lines: &[&str]) {
    for line in lines {
        sluice.done(line).await;
    }
}

#[tokio::test]
async fn what_belongs_to_a_suspended_person_is_refused_with_the_reason() {
    for database in Database::none_and_one() {
        let (sluice, _upstream) = Sluice::with_mock(BINARY, on(database.as_ref())).await;
        let company = [
            "departments create engineering",
            "teams create compilers --department engineering",
            "people create ada@example.org --team compilers",
        ];
        all_done(&sluice, &company).await;
        let create = "keys create --name hers --team compilers --owner person:ada@example.org";
        let key = sluice.done(create).await;
        sluice.answers_with(&key, 200).await;
        for what in [
            "people suspend ada@example.org --reason on-leave",
            "teams suspend compilers --reason on-leave",
            "departments suspend engineering --reason on-leave",
            "accounts suspend default --reason on-leave",
            "keys suspend hers --reason on-leave",
        ] {
            sluice.done(what).await;
            let said = sluice.answers_with(&key, 403).await;
            assert!(said.contains("permission_error") && said.contains("key_suspended"), "{said}");
            assert!(said.contains("on-leave"), "{said}");
            let token = sluice.get("/api/v1/auth/token", &key).await;
            assert_eq!(token.status, 403);
            let resume = what.replace("suspend", "resume");
            sluice.done(resume.split(" --").next().unwrap()).await;
            sluice.answers_with(&key, 200).await;
        }
        // Removed with the person, while it is in use.
        sluice.done("people remove ada@example.org --keys suspend").await;
        sluice.answers_with(&key, 403).await;
        sluice.done("people resume ada@example.org").await;
        sluice.answers_with(&key, 200).await;
        sluice.done("people remove ada@example.org --keys revoke").await;
        sluice.answers_with(&key, 401).await;
        sluice.done("audit verify").await;
    }
}

/// A key follows whom it is moved or handed over to, and so does what happens to them.
#[tokio::test]
async fn a_key_that_is_moved_or_handed_over_depends_on_its_new_holder() {
    for database in Database::none_and_one() {
        let (sluice, _upstream) = Sluice::with_mock(BINARY, on(database.as_ref())).await;
        let company = [
            "departments create engineering",
            "teams create compilers --department engineering",
            "teams create tools --department engineering",
            "people create ada@example.org --team compilers",
            "people create grace@example.org",
            "services create build --team tools",
        ];
        all_done(&sluice, &company).await;
        let key =
            sluice.done("keys create --name ci --team compilers --owner ada@example.org").await;
        sluice.answers_with(&key, 200).await;

        // Moved away from what is suspended then, to what is suspended later.
        all_done(&sluice, &["keys move ci --team tools", "teams suspend compilers"]).await;
        sluice.done("people suspend ada@example.org").await;
        let said = sluice.answers_with(&key, 403).await;
        assert!(said.contains("the person that it belongs to"), "{said}");
        sluice.done("keys move ci --owner grace@example.org").await;
        sluice.answers_with(&key, 200).await;
        sluice.done("teams suspend tools").await;
        let said = sluice.answers_with(&key, 403).await;
        assert!(said.contains("the team that it belongs to"), "{said}");
        all_done(&sluice, &["teams resume tools", "teams resume compilers"]).await;
        sluice.answers_with(&key, 200).await;

        // Handed over: the one who had it is gone, and the key is not.
        sluice.done("people remove grace@example.org --keys hand-over:build").await;
        sluice.done("teams remove tools --keys hand-over:compilers").await;
        let shown = &sluice.json_lines(&["keys", "show", "key:ci", "--json"]).await[0];
        let holders = (&shown["owner"], &shown["team_name"], &shown["valid"]);
        assert_eq!(holders, (&"service:build".into(), &"compilers".into(), &true.into()));
        sluice.answers_with(&key, 200).await;
        sluice.done("services suspend build --reason rebuilt").await;
        assert!(sluice.answers_with(&key, 403).await.contains("rebuilt"));
        assert_eq!(
            sluice.json_lines(&["accounts", "show", "default", "--json"]).await[0]["valid_keys"],
            1
        );
        sluice.done("services resume build").await;
        sluice.answers_with(&key, 200).await;

        // What was removed is listed, and comes back with its keys.
        sluice.done("services remove build --keys suspend").await;
        sluice.answers_with(&key, 403).await;
        let removed = sluice.done("services list --removed").await;
        assert!(removed.contains("build") && removed.contains("removed 20"), "{removed}");
        assert!(sluice.done("services show build").await.contains("removed 20"));
        sluice.done("services resume build").await;
        sluice.answers_with(&key, 200).await;
        sluice.done("services remove build --keys revoke").await;
        sluice.answers_with(&key, 401).await;
        sluice.done("audit verify").await;
    }
}

/// The file is what it says at every start and after every change of it.
#[tokio::test]
async fn what_the_file_holds_is_in_force_and_what_is_taken_out_is_suspended() {
    let upstream = FakeUpstream::start(Script::json(&answers::completion("Hello"))).await;
    let config = Config::default().mock(&upstream);
    let company = config.with(
        "[[departments]]\nname = \"engineering\"\n\
         [[teams]]\nname = \"compilers\"\ndepartment = \"engineering\"\n\
         [[people]]\nemail = \"grace@example.org\"\nrole = \"owner\"\noperator = true",
    );
    let ada = "[[people]]\nemail = \"ada@example.org\"\nrole = \"developer\"\n\
               teams = [\"compilers\"]";
    let sluice = Sluice::start(BINARY, &company.clone().with(ada)).await;
    let create = "keys create --name hers --team compilers --owner person:ada@example.org";
    let key = sluice.done(create).await;
    sluice.answers_with(&key, 200).await;

    let refused = sluice.cli(&["people", "set", "ada@example.org", "--role", "owner"]).await;
    assert_ne!(refused.code, Some(0));
    assert!(refused.stderr.contains("configuration file"), "{}", refused.stderr);

    sluice.reconfigure(&company);
    let said = sluice.answers_with(&key, 403).await;
    assert!(said.contains("taken out of the configuration file"), "{said}");
    until("the log to name her", async || {
        let logged = sluice.stderr();
        (logged.contains("ada@example.org") && logged.contains("suspended")).then_some(())
    })
    .await;
    sluice.reconfigure(&company.clone().with(ada));
    sluice.answers_with(&key, 200).await;
    let entries = sluice.done("audit list --kind administration --json").await;
    assert!(entries.contains("people.suspend") && entries.contains("configuration file"));
}

#[tokio::test]
async fn a_key_does_what_its_scopes_say() {
    let (sluice, _upstream) = Sluice::with_mock(BINARY, Config::default()).await;
    let looks = sluice.done("keys create --name looks --scopes models").await;
    let asks = sluice.done("keys create --name asks --scopes chat").await;
    let said = sluice.answers_with(&looks, 403).await;
    assert!(said.contains("insufficient_permissions") && said.contains("`chat`"), "{said}");
    assert_eq!(sluice.get("/api/v1/models", &looks).await.status, 200);
    sluice.answers_with(&asks, 200).await;
    for path in ["/api/v1/models", "/api/v1/models/mock"] {
        let refused = sluice.get(path, &asks).await;
        assert_eq!(refused.status, 403, "{path}");
        assert!(refused.text().contains("`models`"));
    }
    for path in ["/api/v1/auth/token", "/api/v1/health"] {
        for key in [&looks, &asks] {
            assert_eq!(sluice.get(path, key).await.status, 200, "{path}");
        }
    }
}

/// A new secret is no new key: what was used stays used.
#[tokio::test]
async fn a_rotation_keeps_the_keys_windows() {
    let (sluice, _upstream) = Sluice::with_mock(BINARY, Config::default()).await;
    let old = sluice.done("keys create --name ci --requests-per-hour 2").await;
    sluice.answers_with(&old, 200).await;
    let new = sluice.done("keys rotate ci --grace 1h").await;
    assert_ne!(old, new);
    sluice.answers_with(&new, 200).await;
    for key in [&old, &new] {
        sluice.answers_with(key, 429).await;
    }
    let shown = sluice.json_lines(&["keys", "show", "ci", "--json"]).await;
    assert_eq!(shown[0]["secrets"].as_array().unwrap().len(), 2);
    // Its first secret still names it.
    sluice.done(&format!("keys revoke {old}")).await;
    sluice.answers_with(&new, 401).await;
}
