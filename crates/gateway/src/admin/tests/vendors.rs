//! Providers and models through the door: who may, what is refused, what is kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use sluice_core::organisation::Role;
use sluice_core::secret::Secret;
use sluice_providers::presets;
use sluice_storage::{
    AuditFilter, Doing, Item, ItemChange, ProviderRecord, SealedSecrets, TrailFilter, TrailKind,
    VendorRecords,
};

use super::*;
use crate::admin::tests::door::Company;
use crate::vendors::{
    CheckedProvider, Given, ModelSpec, ProviderSecrets, ProviderSpec, Vendors, all_models, serve,
};

const KEY: &str = "sk-very-secret-0001";

fn given() -> Given {
    let preset = presets::find("simulator").unwrap();
    let provider = CheckedProvider::of_preset(preset, "http://simulator.invalid".into(), None);
    let models = all_models(&provider, &Given::default().facts);
    Given { providers: vec![provider], models, ..Given::default() }
}

fn lab() -> NewProvider {
    let base_url = Some("http://127.0.0.1:9/v1".to_owned());
    NewProvider {
        name: "lab".to_owned(),
        spec: ProviderSpec { kind: "openai".to_owned(), base_url, ..ProviderSpec::default() },
        secrets: ProviderSecrets {
            credential: Some(Secret::new(KEY.to_owned())),
            headers: BTreeMap::from([(
                "x-team".to_owned(),
                Secret::new("hdr-secret-7".to_owned()),
            )]),
        },
    }
}

fn at_lab() -> ModelSpec {
    ModelSpec { provider: vec!["lab".to_owned()], ..ModelSpec::default() }
}

#[tokio::test]
async fn a_credential_goes_in_and_comes_out_nowhere() {
    let house = House::new().await;
    let (admin, given) = (house.at(NOW), given());
    let made = admin.create_provider(&given, lab(), Vec::new()).await.unwrap();
    admin.create_model(&given, "own", at_lab()).await.unwrap();
    let vendors = Vendors::read(&house.store, &house.master_key).await.unwrap();
    let served = serve(&given, &vendors);
    let provider = served.providers.iter().find(|it| it.id.as_str() == "lab").unwrap();
    assert_eq!(provider.credential.as_ref().unwrap().expose(), KEY);
    assert_eq!(provider.headers[0].1, "hdr-secret-7");

    // Changing something else leaves the credential; another address does not get it by itself.
    let change = ProviderChange { region: Some(Some(Region::EuWest)), ..ProviderChange::default() };
    admin.change_provider(&given, "lab", change, Vec::new()).await.unwrap();
    let elsewhere = ProviderChange {
        base_url: Some(Some("http://127.0.0.1:10/v1".to_owned())),
        ..ProviderChange::default()
    };
    let error =
        admin.change_provider(&given, "lab", elsewhere.clone(), Vec::new()).await.unwrap_err();
    assert!(matches!(error, AdminError::CredentialNeeded { .. }), "{error}");
    let again = ProviderChange {
        credential: Some(Some(Secret::new("sk-very-secret-0002".to_owned()))),
        headers: Some(BTreeMap::new()),
        ..elsewhere
    };
    let changed = admin.change_provider(&given, "lab", again, Vec::new()).await.unwrap();
    assert_eq!(changed.settings["region"], "eu-west");

    let filter = AuditFilter { entries: administered(), ..AuditFilter::default() };
    let trail = house.store.audit(&filter).await.unwrap();
    let said = format!("{made:?} {changed:?} {vendors:?} {served:?} {trail:?}");
    for secret in ["sk-very-secret", "hdr-secret"] {
        assert!(!said.contains(secret), "{said}");
        for file in std::fs::read_dir(house.store.data_dir()).unwrap() {
            let path = file.unwrap().path();
            let Ok(bytes) = std::fs::read(&path) else { continue };
            let found = bytes.windows(secret.len()).any(|it| it == secret.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
    assert!(said.contains("x-team"), "names of headers are no secrets");

    // Under another master key it cannot be read, and is told so.
    let other = House::new().await;
    let foreign = Vendors::read(&house.store, &other.master_key).await.unwrap();
    let served = serve(&given, &foreign);
    assert!(served.left_out[0].why.contains("another master key"), "{:?}", served.left_out);
}

/// Secrets that cannot be read now can be once the right master key is back: then they must not go to
/// an address that was set meanwhile.
#[tokio::test]
async fn secrets_under_another_master_key_do_not_follow_to_another_address() {
    let (house, other) = (House::new().await, House::new().await);
    let (admin, given) = (house.at(NOW), given());
    let NewProvider { name, spec, secrets } = lab();
    let sealed = SealedSecrets::seal(&other.master_key, &name, &secrets.to_text()).unwrap();
    let spec = ProviderSpec { headers: vec!["x-team".to_owned()], ..spec };
    let record = ProviderRecord {
        name,
        settings: serde_json::to_value(spec).unwrap(),
        secrets: Some(sealed),
        credential_set_at: Some(NOW),
        created_at: NOW,
        changed: 0,
    };
    let doing = Doing { at: NOW, actor: Actor::Nobody, surface: "test", judged_at: None };
    let create = ItemChange {
        verb: "providers.create",
        account_id: "".into(),
        old: None,
        new: Some(Item::Provider(record)),
    };
    house.store.administer_items(&house.master_key, &doing, &[create]).await.unwrap();

    let elsewhere = ProviderChange {
        base_url: Some(Some("http://127.0.0.1:10/v1".to_owned())),
        ..ProviderChange::default()
    };
    let credential = Some(Some(Secret::new("sk-very-secret-0002".to_owned())));
    let half = ProviderChange { credential, ..elsewhere.clone() };
    for change in [elsewhere, half.clone()] {
        let refused = admin.change_provider(&given, "lab", change, Vec::new()).await.unwrap_err();
        assert!(matches!(refused, AdminError::CredentialNeeded { .. }), "{refused}");
    }
    let whole = ProviderChange { headers: Some(BTreeMap::new()), ..half };
    admin.change_provider(&given, "lab", whole, Vec::new()).await.unwrap();
    let stored = Vendors::read(&house.store, &house.master_key).await.unwrap();
    let secrets = stored.providers[0].1.clone().unwrap();
    assert_eq!(secrets.credential.unwrap().expose(), "sk-very-secret-0002");
    assert!(secrets.headers.is_empty());
}

#[tokio::test]
async fn names_of_the_file_are_read_only_and_models_keep_their_provider() {
    let house = House::new().await;
    let (admin, given) = (house.at(NOW), given());
    let of_file = NewProvider { name: "simulator".to_owned(), ..lab() };
    let error = admin.create_provider(&given, of_file, Vec::new()).await.unwrap_err();
    assert!(matches!(error, AdminError::ManagedByFile { .. }), "{error}");
    let error = admin.remove_provider(&given, "simulator", true).await.unwrap_err();
    assert!(error.to_string().contains("held by the configuration file"), "{error}");
    let error = admin.create_model(&given, "demo/echo", at_lab()).await.unwrap_err();
    assert!(matches!(error, AdminError::ManagedByFile { .. }), "{error}");
    let error = admin.create_model(&given, "own", at_lab()).await.unwrap_err();
    assert!(matches!(error, AdminError::NoSuchProvider { .. }), "{error}");
    // A model of the database may run at a provider of the file.
    let at_file = ModelSpec {
        provider: vec!["simulator".to_owned()],
        upstream_model: Some("demo/echo".to_owned()),
        ..ModelSpec::default()
    };
    admin.create_model(&given, "parrot", at_file).await.unwrap();

    admin.create_provider(&given, lab(), Vec::new()).await.unwrap();
    let error = admin.create_provider(&given, lab(), Vec::new()).await.unwrap_err();
    assert!(error.to_string().contains("a provider of this name"), "{error}");
    admin.create_model(&given, "own", at_lab()).await.unwrap();
    let both = vec!["lab".to_owned(), "simulator".to_owned()];
    admin.create_model(&given, "both", ModelSpec { provider: both, ..at_lab() }).await.unwrap();
    let error = admin.remove_provider(&given, "lab", false).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "provider lab has 2 models: both, own; remove them first, or with it"
    );
    assert_eq!(admin.remove_provider(&given, "lab", true).await.unwrap(), ["own"]);
    let ids: Vec<String> =
        house.store.vendors().await.unwrap().models.into_iter().map(|it| it.id).collect();
    assert_eq!(ids, ["both", "parrot"]);
    let views = admin.models(&given).await.unwrap();
    let origin = |id: &str| views.iter().find(|it| it.id == id).map(|it| it.origin);
    assert_eq!(origin("both"), Some(Origin::Database));
    assert_eq!(origin("demo/echo"), Some(Origin::File));

    for (spec, what) in [
        (ModelSpec { context_window: Some(0), ..at_lab() }, "`context_window` is 0"),
        (ModelSpec { same_as: Some("both".into()), ..at_lab() }, "`same_as` and provider"),
        (ModelSpec { capabilities: Some(vec!["vison".into()]), ..at_lab() }, "did you mean"),
        (ModelSpec { same_as: Some("nobody".into()), ..ModelSpec::default() }, "no model"),
    ] {
        let error = admin.create_model(&given, "x", spec).await.unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
    }
}

/// A provider and the models that are put in with it are one change.
#[tokio::test]
async fn a_provider_is_put_in_and_changed_with_its_models_or_not_at_all() {
    let house = House::new().await;
    let (admin, given) = (house.at(NOW), given());
    let models = |ids: &[&str]| ids.iter().map(|id| ((*id).to_owned(), at_lab())).collect();
    let of_file = models(&["own", "demo/echo"]);
    let error = admin.create_provider(&given, lab(), of_file).await.unwrap_err();
    assert!(matches!(error, AdminError::ManagedByFile { .. }), "{error}");
    assert_eq!(house.store.vendors().await.unwrap(), VendorRecords::default());
    admin.create_provider(&given, lab(), models(&["own"])).await.unwrap();
    let before = house.store.vendors().await.unwrap();
    assert_eq!((before.providers.len(), before.models.len()), (1, 1));

    let change = ProviderChange { region: Some(Some(Region::EuWest)), ..ProviderChange::default() };
    let taken = models(&["second", "own"]);
    let error = admin.change_provider(&given, "lab", change.clone(), taken).await.unwrap_err();
    assert!(error.is_taken(), "{error}");
    assert_eq!(house.store.vendors().await.unwrap(), before);
    admin.change_provider(&given, "lab", change, models(&["second"])).await.unwrap();
    let after = house.store.vendors().await.unwrap();
    assert_eq!(after.providers[0].settings["region"], "eu-west");
    assert_eq!(after.models.len(), 2);
}

/// Its models run at the provider of the file, which has the same name.
#[tokio::test]
async fn a_provider_whose_name_the_file_has_taken_can_be_removed() {
    let house = House::new().await;
    let admin = house.at(NOW);
    let models = vec![("own".to_owned(), at_lab())];
    admin.create_provider(&given(), lab(), models).await.unwrap();
    let preset = presets::find("openai").unwrap();
    let url = "http://127.0.0.1:10/v1".to_owned();
    let mut of_file = CheckedProvider::of_preset(preset, url, None);
    of_file.settings.id = "lab".into();
    let given = Given { providers: vec![of_file], ..Given::default() };
    assert!(admin.remove_provider(&given, "lab", false).await.unwrap().is_empty());
    let left = house.store.vendors().await.unwrap();
    assert_eq!((left.providers.len(), left.models.len()), (0, 1));
    assert_eq!(admin.models(&given).await.unwrap()[0].left_out, None);
    let error = admin.remove_provider(&given, "lab", true).await.unwrap_err();
    assert!(matches!(error, AdminError::ManagedByFile { .. }), "{error}");
}

/// Changing takes the operator's right; seeing any role.
#[tokio::test]
async fn only_operators_change_what_concerns_all_accounts() {
    let company = Company::new().await;
    let (house, given) = (&company.house, given());
    // The first owner is operator, too.
    let first = NewPerson {
        account: Some("elsewhere".to_owned()),
        email: "first@example.org".to_owned(),
        name: None,
        role: Role::Owner,
        teams: Vec::new(),
        operator: false,
    };
    assert!(house.at(NOW).create_person(first).await.unwrap().operator);
    for (role, operator) in
        Role::ALL.into_iter().map(|role| (role, false)).chain([(Role::Billing, true)])
    {
        let email = format!("{}-{operator}@example.org", role.as_str());
        let wish = NewPerson {
            account: Some("here".to_owned()),
            email,
            name: None,
            role,
            teams: vec!["compilers".to_owned()],
            operator,
        };
        let person = house.at(NOW).create_person(wish).await.unwrap();
        let account = person.account_id.clone();
        let them = house.acting(Actor::Person { id: person.id }, NOW);
        assert_eq!(them.providers(&given).await.unwrap().len(), 1);
        assert!(!them.models(&given).await.unwrap().is_empty());
        let simulator = given.providers[0].settings.clone();
        let upstream = sluice_providers::simulator::Simulator::new(
            Arc::new(sluice_core::clock::SystemClock),
            sluice_providers::simulator::Pace::Instant,
        );
        let tested = them.test_provider(&simulator, &[], &upstream).await;
        let made = them.create_provider(&given, lab(), Vec::new()).await;
        if !operator {
            assert!(matches!(made, Err(AdminError::Forbidden { verb: "providers.create" })));
            assert!(matches!(tested, Err(AdminError::Forbidden { verb: "providers.test" })));
            continue;
        }
        made.unwrap();
        assert_eq!(tested.unwrap().models.unwrap().len(), 3);
        them.create_model(&given, "own", at_lab()).await.unwrap();
        let filter = AuditFilter { entries: administered(), ..AuditFilter::default() };
        let trail = house.store.audit(&filter).await.unwrap();
        let trail = format!("{trail:?}");
        assert!(trail.contains("model:own") && trail.contains(account.as_str()));
    }
    let nobody = house.acting(Actor::Nobody, NOW);
    assert!(matches!(nobody.providers(&given).await, Err(AdminError::Forbidden { .. })));
}

fn administered() -> TrailFilter {
    TrailFilter { kind: Some(TrailKind::Administration), ..TrailFilter::default() }
}
