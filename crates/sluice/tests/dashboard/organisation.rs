//! Departments, teams, people and services in the browser.

use crate::browser::{Browser, PASSWORD, Page};
use crate::sluice;

fn id(page: &Page) -> String {
    assert_eq!(page.status, 303, "{}", page.body);
    let path = page.location().split('?').next().unwrap();
    path.rsplit_once('/').unwrap().1.to_owned()
}

#[tokio::test]
async fn an_owner_makes_renames_suspends_and_removes() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let made = owner.form("/organisation/departments", &[("name", "engineering")]).await;
    let department = id(&made);
    let fields = [("name", "compilers"), ("department", department.as_str())];
    let team = id(&owner.form("/organisation/teams", &fields).await);
    let twice = owner.form("/organisation/teams", &fields).await;
    assert_eq!(twice.status, 422);
    assert!(twice.has("There is already") && twice.has("value=\"compilers\""), "{}", twice.body);
    let fields = [("name", "build"), ("team", team.as_str())];
    let service = id(&owner.form("/organisation/services", &fields).await);

    let path = format!("/organisation/teams/{team}");
    let changed = [("name", "languages"), ("department", department.as_str())];
    let changed = owner.form(&path, &changed).await;
    assert_eq!(changed.location(), format!("{path}?done=changed"));
    assert!(owner.get("/organisation/teams").await.has("languages"));
    assert!(owner.get(&path).await.has("build"), "the services of a team are on its page");

    let nameless = owner.form(&path, &[("name", ""), ("department", &department)]).await;
    assert_eq!(nameless.status, 422);
    let department = format!("/organisation/departments/{department}");
    let named = [("confirm", "engineering")];
    let refused = owner.form(&format!("{department}/remove"), &named).await;
    assert!(refused.status == 422 && refused.has("has teams"), "{}", refused.body);

    let service = format!("/organisation/services/{service}");
    let silent = owner.form(&format!("{service}/suspend"), &[("reason", "")]).await;
    assert_eq!(silent.status, 422);
    owner.form(&format!("{service}/suspend"), &[("reason", "moved house")]).await;
    assert!(owner.get(&service).await.has("moved house"));
    owner.form(&format!("{service}/resume"), &[]).await;
    assert!(!owner.get(&service).await.has("moved house"));
    let unconfirmed = owner.form(&format!("{service}/remove"), &[("confirm", "other")]).await;
    assert!(unconfirmed.status == 422 && unconfirmed.has("Nothing was done"));
    owner.form(&format!("{service}/remove"), &[("confirm", "build")]).await;
    assert!(!owner.get("/organisation/services").await.has(&service));
    assert!(owner.get("/organisation/services?state=removed").await.has(&service));
    owner.form(&format!("{service}/resume"), &[]).await;
    assert!(owner.get("/organisation/services").await.has(&service));
}

#[tokio::test]
async fn an_invitation_shows_its_link_once_and_the_link_opens_the_door() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let fields = [("email", "ada@example.org"), ("name", "Ada"), ("role", "auditor")];
    let page = owner.form("/organisation/people", &fields).await;
    assert_eq!(page.status, 200, "{}", page.body);
    let token = page.between("/invite/", "<").unwrap().to_owned();
    assert!(page.has("It works once, until"));
    let list = owner.get("/organisation").await;
    assert!(list.has("Ada") && !list.has(&token), "{}", list.body);

    let mut ada = Browser::new(&sluice);
    assert_eq!(ada.get(&format!("/invite/{token}")).await.status, 200);
    let entered = ada.form(&format!("/invite/{token}"), &[("password", PASSWORD)]).await;
    assert_eq!(entered.status, 303, "{}", entered.body);
    let again = owner.form("/organisation/people", &fields).await;
    assert!(again.status == 422 && again.has("able to sign in already"), "{}", again.body);
    let wrong =
        owner.form("/organisation/people", &[("email", "nobody"), ("role", "auditor")]).await;
    assert!(wrong.status == 422 && wrong.has("no e-mail address") && wrong.has("value=\"nobody\""));

    // An auditor sees the organisation, and nothing to change in it.
    let list = ada.get("/organisation").await;
    assert!(list.has("owner@example.org") && !list.has("Invite somebody"));
    assert_eq!(ada.form("/organisation/people", &fields).await.status, 403);
}

#[tokio::test]
async fn a_person_gets_another_role_loses_sessions_and_password_and_leaves() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let mut ada = Browser::invited(&sluice, "ada@example.org", "--role developer").await;
    let list = owner.get("/organisation?q=ada").await;
    let ada_id = list.between("/organisation/people/", "\"").unwrap().to_owned();
    let path = format!("/organisation/people/{ada_id}");
    let page = owner.get(&path).await;
    assert!(page.has("Sessions") && page.has("End all"), "{}", page.body);

    let fields = [("email", "ada@example.org"), ("name", "Ada"), ("role", "auditor")];
    assert_eq!(owner.form(&path, &fields).await.status, 303);
    assert!(ada.get("/audit").await.status == 200, "an auditor reads the trail");
    owner.form(&format!("{path}/sessions/end"), &[]).await;
    assert_eq!(ada.get("/keys").await.status, 303, "she has to sign in again");

    let unconfirmed = owner.form(&format!("{path}/reset"), &[]).await;
    assert!(unconfirmed.status == 422 && unconfirmed.has("Nothing was done"));
    let named = ("confirm", "ada@example.org");
    let reset = owner.form(&format!("{path}/reset"), &[named]).await;
    assert!(reset.status == 200 && reset.has("/invite/"), "{}", reset.body);
    let reason = ("reason", "sabbatical");
    let unconfirmed = owner.form(&format!("{path}/suspend"), &[reason]).await;
    assert!(unconfirmed.status == 422 && unconfirmed.has("Nothing was done"));
    owner.form(&format!("{path}/suspend"), &[reason, named]).await;
    assert!(owner.get(&path).await.has("sabbatical"));
    owner.form(&format!("{path}/resume"), &[]).await;
    let removed = owner.form(&format!("{path}/remove"), &[("confirm", "ada@example.org")]).await;
    assert_eq!(removed.status, 303, "{}", removed.body);
    assert!(owner.get(&path).await.has("It was removed"));

    // The last owner stays an owner.
    let list = owner.get("/organisation").await;
    let own = list.between("/organisation/people/", "\"").unwrap().to_owned();
    let fields = [("email", "owner@example.org"), ("role", "developer"), ("operator", "on")];
    let refused = owner.form(&format!("/organisation/people/{own}"), &fields).await;
    assert!(refused.status == 422 && refused.has("last owner"), "{}", refused.body);
}

#[tokio::test]
async fn removing_somebody_asks_about_their_keys() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    sluice.done("people create ada@example.org").await;
    sluice.create_named_key("laptop", &["--owner", "person:ada@example.org"]).await;
    let list = owner.get("/organisation?q=ada").await;
    let ada = list.between("/organisation/people/", "\"").unwrap().to_owned();
    let path = format!("/organisation/people/{ada}/remove");
    let question = owner.get(&path).await;
    assert!(question.has("laptop") && question.has("hand over to"), "{}", question.body);
    let silent = owner.form(&path, &[("confirm", "ada@example.org")]).await;
    assert!(silent.status == 422 && silent.has("say what becomes of them"), "{}", silent.body);
    let fields = [("confirm", "ada@example.org"), ("keys", "revoke")];
    assert_eq!(owner.form(&path, &fields).await.status, 303);
    assert!(owner.get("/keys").await.has("revoked"));
}

#[tokio::test]
async fn accounts_are_the_operators() {
    let (sluice, _upstream) = sluice().await;
    let mut operator = Browser::welcome(&sluice).await;
    let fields = [("name", "globex"), ("tier", "lowest")];
    let account = id(&operator.form("/organisation/accounts", &fields).await);
    let path = format!("/organisation/accounts/{account}");
    assert!(operator.get("/organisation/accounts").await.has("globex"));
    let unpaid = [("reason", "unpaid"), ("confirm", "globex")];
    operator.form(&format!("{path}/suspend"), &unpaid).await;
    assert!(operator.get(&path).await.has("unpaid"));
    let list = operator.get("/organisation/accounts?q=default").await;
    let own = list.between("/organisation/accounts/acc", "\"").unwrap();
    let own = format!("/organisation/accounts/acc{own}");
    assert!(!operator.get(&own).await.has("Suspend"), "it would lock everybody out");
    let unpaid = [("reason", "unpaid"), ("confirm", "default")];
    let refused = operator.form(&format!("{own}/suspend"), &unpaid).await;
    assert!(refused.status == 422 && refused.has("your own"), "{}", refused.body);
    let mut other =
        Browser::invited(&sluice, "ada@example.org", "--role owner --account default").await;
    assert_eq!(other.get("/organisation/accounts").await.status, 403);
    assert!(!other.get("/organisation").await.has("/organisation/accounts"));
    assert_eq!(other.form(&format!("{path}/resume"), &[]).await.status, 403);
}

/// A colleague's team of another department is nobody's business.
#[tokio::test]
async fn teams_that_the_reader_does_not_see_are_counted_and_not_named() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    for (department, team) in [("engineering", "alpha"), ("board", "layoff")] {
        sluice.done(&format!("departments create {department}")).await;
        sluice.done(&format!("teams create {team} --department {department}")).await;
    }
    sluice.done("people create eve@example.org --team alpha --team layoff").await;
    let mut ada =
        Browser::invited(&sluice, "ada@example.org", "--role developer --team alpha").await;
    let list = owner.get("/organisation?q=eve").await;
    assert!(list.has("layoff"), "{}", list.body);
    let eve = list.between("/organisation/people/", "\"").unwrap().to_owned();
    for path in ["/organisation?q=eve".to_owned(), format!("/organisation/people/{eve}")] {
        let page = ada.get(&path).await;
        assert!(page.has("alpha, 1 more") && !page.has("layoff"), "{path}: {}", page.body);
    }
}

/// Forms send all their fields: one that was open for long must not take back what came since.
#[tokio::test]
async fn a_form_that_was_drawn_before_a_change_changes_nothing() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    sluice.done("people create ada@example.org --role admin").await;
    let list = owner.get("/organisation?q=ada").await;
    let ada = list.between("/organisation/people/", "\"").unwrap().to_owned();
    sluice.done("departments create engineering").await;
    sluice.done("teams create tools --department engineering").await;
    let list = owner.get("/organisation/teams").await;
    let team = list.between("/organisation/teams/team_", "\"").unwrap().to_owned();
    let person = format!("/organisation/people/{ada}");
    let team = format!("/organisation/teams/team_{team}");
    let department = owner.get(&team).await.between("value=\"dep_", "\"").unwrap().to_owned();
    let department = format!("dep_{department}");
    for (path, change, fields, now) in [
        (
            &person,
            "people set ada@example.org --role developer",
            [("email", "ada@example.org"), ("name", "Ada"), ("role", "admin")],
            "value=\"developer\" selected",
        ),
        (
            &team,
            "teams set tools --name compilers",
            [("name", "toolss"), ("department", department.as_str()), ("", "")],
            "value=\"compilers\"",
        ),
    ] {
        let drawn =
            owner.get(path).await.between("name=\"drawn\" value=\"", "\"").unwrap().to_owned();
        sluice.done(change).await;
        let sent: Vec<_> = fields.into_iter().chain([("drawn", drawn.as_str())]).collect();
        let refused = owner.form(path, &sent).await;
        assert_eq!(refused.status, 409, "{}", refused.body);
        assert!(refused.has("Somebody else changed this") && refused.has(now), "{}", refused.body);
        let drawn = refused.between("name=\"drawn\" value=\"", "\"").unwrap();
        let sent: Vec<_> = fields.into_iter().chain([("drawn", drawn)]).collect();
        assert_eq!(owner.form(path, &sent).await.status, 303, "{path}");
    }
}

#[tokio::test]
async fn whoever_was_in_a_removed_team_can_be_changed_and_asks_for_another_one() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    sluice.done("departments create engineering").await;
    for team in ["alpha", "beta"] {
        sluice.done(&format!("teams create {team} --department engineering")).await;
    }
    let words = "--role admin --team alpha --team beta";
    let mut eve = Browser::invited(&sluice, "eve@example.org", words).await;
    sluice.done("teams remove alpha").await;
    let asked = eve.form("/playground", &[("model", "mock"), ("prompt", "Hi")]).await;
    assert!(asked.has("Hello"), "{}", asked.body);
    let path = owner.form("/find", &[("q", "eve@example.org")]).await.location().to_owned();
    let fields = [("email", "eve@example.org"), ("role", "developer")];
    let saved = owner.form(&path, &fields).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    let people = sluice.json_lines(&["people", "list", "--json"]).await;
    let eve_now = people.iter().find(|it| it["email"] == "eve@example.org").unwrap();
    assert_eq!(eve_now["role"], "developer");
}
