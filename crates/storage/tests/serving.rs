//! One server serves from a PostgreSQL database, and what stands in its way is told with the fix.

#![expect(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod common;

use std::process::Command;

use common::{NOW, Place, request};
use sluice_storage::{
    Ingester, Journal, Location, MasterKey, Serving, StorageError, Store, UsageFilter,
};
use sluice_testpostgres::{Database, Server};

async fn refusal(location: Location) -> String {
    let error = Store::open(location).await.unwrap_err();
    assert!(!error.is_away(), "{error}");
    let said = format!("{error} {error:?}");
    assert!(!said.contains(Database::password()), "{said}");
    error.to_string()
}

#[tokio::test]
async fn a_second_server_is_refused_and_the_first_is_named() {
    let Some(place) = Place::postgres() else { return };
    let mut first = Serving::take(&place.location(), NOW).await.unwrap();
    let (store, _) = place.open().await;
    first.announce(&store).await.unwrap();
    let error = Serving::take(&place.location(), NOW).await.unwrap_err();
    let (said, process) = (error.to_string(), format!("process {}", std::process::id()));
    assert!(matches!(error, StorageError::ServedElsewhere { .. }), "{error}");
    assert!(said.contains(&process) && said.contains("2026-11-21T09:30:00Z"), "{said}");
    drop(first);
    Serving::take(&place.location(), NOW).await.unwrap();
}

#[tokio::test]
async fn a_server_that_another_one_followed_stores_nothing_until_that_one_is_gone() {
    let Some(place) = Place::postgres() else { return };
    let (store, master) = place.open().await;
    let mut first = Serving::take(&place.location(), NOW).await.unwrap();
    first.announce(&store).await.unwrap();
    let mut ingester = Ingester::new(store.clone(), &master);
    ingester.hold(&first);
    ingester.run_to_end().await.unwrap();
    let server = place.server().unwrap();

    // A connection that is lost for a moment is taken again.
    server.cut_connections();
    while first.keep(&store).await.is_err() {}
    assert!(!first.keep(&store).await.unwrap());
    Serving::take(&place.location(), NOW).await.unwrap_err();

    server.cut_connections();
    let mut second = Serving::take(&place.location(), NOW).await.unwrap();
    while second.announce(&store).await.is_err() {}
    Journal::open(place.path(), &master).unwrap().append(&request(0)).unwrap();
    let error = ingester.run_once().await.unwrap_err();
    assert!(matches!(error, StorageError::ServedElsewhere { .. }), "{error}");
    let error = first.keep(&store).await.unwrap_err();
    assert!(matches!(error, StorageError::ServedElsewhere { .. }), "{error}");
    assert_eq!(store.usage(&UsageFilter::default()).await.unwrap(), []);

    drop(second);
    while !matches!(first.keep(&store).await, Ok(true)) {}
    ingester.run_to_end().await.unwrap();
    assert_eq!(store.usage(&UsageFilter::default()).await.unwrap().len(), 1);
}

/// The right to serve was taken again, and the name could not be written at once.
#[tokio::test]
async fn a_server_that_could_not_name_itself_tries_again() {
    let Some(place) = Place::postgres() else { return };
    let (store, master) = place.open().await;
    let mut serving = Serving::take(&place.location(), NOW).await.unwrap();
    serving.announce(&store).await.unwrap();
    let mut ingester = Ingester::new(store.clone(), &master);
    ingester.hold(&serving);
    let server = place.server().unwrap();
    let another = "UPDATE serving SET holder = 'another one, which is gone';";
    server.run(&format!("{another} ALTER TABLE serving RENAME TO elsewhere")).unwrap();
    server.cut_connections();
    // The connection is noticed to be lost, the lock is free a moment later.
    let told = async |serving: &mut Serving| serving.keep(&store).await.unwrap_err().to_string();
    while !told(&mut serving).await.contains("name this server") {}
    server.run("ALTER TABLE elsewhere RENAME TO serving").unwrap();
    assert!(serving.keep(&store).await.unwrap(), "it names itself");
    assert!(!serving.keep(&store).await.unwrap());
    Journal::open(place.path(), &master).unwrap().append(&request(0)).unwrap();
    ingester.run_to_end().await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_not_there_is_away_and_everything_else_is_refused_with_the_fix() {
    let Some(place) = Place::postgres() else { return };
    let url = place.server().unwrap().url();
    let dir = tempfile::tempdir().unwrap();
    let at = |url: &str| Location::new(dir.path(), Some(url)).unwrap();

    // Port 9 is of a protocol that nobody serves.
    let (user, _) = url.split_once('@').unwrap();
    let error = Store::open(at(&format!("{user}@127.0.0.1:9/x"))).await.unwrap_err();
    assert!(error.is_away() && error.to_string().contains("127.0.0.1:9/x"), "{error}");
    assert!(!format!("{error} {error:?}").contains(Database::password()), "{error:?}");

    let wrong = url.replace(Database::password(), "another-s3cret");
    let said = refusal(at(&wrong)).await;
    assert!(said.contains("user and the password"), "{said}");
    assert!(!said.contains("another-s3cret"), "{said}");
    let said = refusal(at(&format!("{url}_is_not_there"))).await;
    assert!(said.contains("CREATE DATABASE"), "{said}");
}

#[tokio::test]
async fn a_database_without_rights_or_with_another_encoding_is_refused_with_the_fix() {
    let Some(place) = Place::postgres() else { return };
    let server = place.server().unwrap();
    let name = server.name();
    server.run("REVOKE CREATE ON SCHEMA public FROM PUBLIC").ok();
    let superuser = format!("ALTER DATABASE {name} OWNER TO postgres");
    server.run_as_superuser(&superuser);
    let said = refusal(place.location()).await;
    assert!(said.contains("GRANT CREATE ON SCHEMA"), "{said}");
    server.run_as_superuser(&format!("REVOKE CONNECT ON DATABASE {name} FROM PUBLIC"));
    let said = refusal(place.location()).await;
    assert!(said.contains("right to connect"), "{said}");

    for encoding in ["SQL_ASCII", "LATIN1"] {
        let options = format!("ENCODING '{encoding}' LOCALE 'C'");
        let database = Database::create_with(&options).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let said = refusal(Location::new(dir.path(), Some(&database.url())).unwrap()).await;
        assert!(said.contains(encoding) && said.contains("ENCODING 'UTF8'"), "{said}");
    }
}

#[tokio::test]
async fn what_is_up_to_date_needs_no_right_to_make_tables() {
    let Some(place) = Place::postgres() else { return };
    let (store, master) = place.open().await;
    store.check_master_key(&master).await.unwrap();
    store.close().await;
    let server = place.server().unwrap();
    server.run_as_superuser(&format!("ALTER DATABASE {} OWNER TO postgres", server.name()));
    server.run("CREATE TABLE test (id BIGINT)").unwrap_err();
    let (store, master) = place.open().await;
    store.check_master_key(&master).await.unwrap();
}

#[tokio::test]
async fn a_newer_database_is_refused_as_with_sqlite() {
    for place in common::places() {
        place.open().await.0.close().await;
        place.run_same("INSERT INTO schema_version (version) VALUES (1000)").await.unwrap();
        let error = Store::open(place.location()).await.unwrap_err();
        assert!(matches!(error, StorageError::TooNew { found: 1000, .. }), "{error}");
    }
}

#[tokio::test]
async fn a_certificate_that_does_not_hold_is_refused() {
    if Place::postgres().is_none() {
        return;
    }
    let server = Server::start_with(&["ssl=on"], |data| {
        let mut openssl = Command::new("openssl");
        openssl.args(["req", "-new", "-x509", "-nodes", "-days", "2", "-subj", "/CN=elsewhere"]);
        openssl.args(["-out", "server.crt", "-keyout", "server.key"]).current_dir(data);
        assert!(openssl.output().unwrap().status.success());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(data.join("server.key"), mode).unwrap();
        }
    });
    let database = Database::on(&server);
    let dir = tempfile::tempdir().unwrap();
    let at = |mode: &str| {
        Location::new(dir.path(), Some(&format!("{}?sslmode={mode}", database.url()))).unwrap()
    };
    let said = refusal(at("verify-full")).await;
    assert!(said.contains("certificate") && said.contains("sslrootcert"), "{said}");
    Store::open(at("require")).await.unwrap();
}

#[tokio::test]
async fn a_missing_or_wrong_master_key_is_named_by_its_id() {
    for place in common::places() {
        let (store, master) = place.open().await;
        store.check_master_key(&master).await.unwrap();
        let needed = master.id();
        let path = place.path().join("master.key");
        let kept = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let new = MasterKey::load_or_create(place.path()).unwrap();
        let error = store.check_master_key(&new).await.unwrap_err();
        assert!(matches!(error, StorageError::KeyIsMissing { .. }), "{error}");
        assert!(error.to_string().contains(&needed), "{error}");
        assert!(!path.exists(), "the useless new one is gone");

        MasterKey::load_or_create(place.path()).unwrap();
        let wrong = MasterKey::load(place.path()).unwrap();
        let error = store.check_master_key(&wrong).await.unwrap_err();
        let said = error.to_string();
        assert!(matches!(error, StorageError::KeyIsAnother { .. }), "{error}");
        assert!(said.contains(&needed) && said.contains(&wrong.id()), "{said}");
        std::fs::write(&path, &kept).unwrap();
        let right = MasterKey::load(place.path()).unwrap();
        store.check_master_key(&right).await.unwrap();
    }
}

#[tokio::test]
async fn an_empty_database_beside_a_folder_that_was_used_is_missed() {
    let Some(place) = Place::postgres() else { return };
    let (store, master) = place.open().await;
    Ingester::new(store.clone(), &master).run_to_end().await.unwrap();
    store.close().await;
    let another = place.another();
    let location = another.location_in(place.path());
    let error = Store::open(location.clone()).await.unwrap_err();
    assert!(matches!(error, StorageError::DatabaseIsEmpty { .. }), "{error}");
    assert!(error.to_string().contains("storage copy"), "{error}");
    Store::open_new(location).await.unwrap();
}
