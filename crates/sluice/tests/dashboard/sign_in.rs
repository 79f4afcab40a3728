//! First start, sign-in, sign-out.

use crate::browser::{Browser, PASSWORD};
use crate::sluice;

#[tokio::test]
async fn the_first_owner_comes_by_a_link_that_works_once() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    let home = owner.get("/").await;
    assert_eq!(home.status, 200, "{}", home.body);
    assert!(home.has("owner@example.org"), "{}", home.body);
    let token = sluice.stdout().split_once("/welcome/").unwrap().1.to_owned();
    let path = format!("/welcome/{}", token.split_whitespace().next().unwrap());
    let again = Browser::new(&sluice).get(&path).await;
    assert_eq!(again.status, 410, "{}", again.body);
}

#[tokio::test]
async fn whoever_signs_out_is_nobody() {
    let (sluice, _upstream) = sluice().await;
    let mut owner = Browser::welcome(&sluice).await;
    assert_eq!(owner.form("/sign-out", &[]).await.status, 303);
    let page = owner.get("/keys?sort=name").await;
    assert_eq!((page.status, page.location()), (303, "/sign-in?next=%2Fkeys%3Fsort%3Dname"));
    let fields = [("email", "owner@example.org"), ("password", "wrong horse")];
    assert_eq!(owner.form("/sign-in", &fields).await.status, 401);
    let next = ("next", "/keys?sort=name");
    let fields = [("email", "owner@example.org"), ("password", PASSWORD), next];
    let page = owner.form("/sign-in", &fields).await;
    assert_eq!((page.status, page.location()), (303, "/keys?sort=name"));
    // No address of somebody else's is taken from a link.
    for next in ["https://evil.example/", "//evil.example/", "/\\evil.example/"] {
        assert_eq!(owner.get("/").await.status, 200);
        assert_eq!(owner.form("/sign-out", &[]).await.status, 303);
        let fields = [("email", "owner@example.org"), ("password", PASSWORD), ("next", next)];
        assert_eq!(owner.form("/sign-in", &fields).await.location(), "/", "{next}");
    }
}

#[tokio::test]
async fn whoever_is_invited_comes_with_a_password_of_their_own() {
    let (sluice, _upstream) = sluice().await;
    let mut member = Browser::invited(&sluice, "ada@example.org", "--role developer").await;
    let page = member.get("/settings").await;
    assert!(page.has("ada@example.org") && !page.has("owner@example.org"), "{}", page.body);
}
