//! What `sluice keys show` says of limits.

use sluice_storage::UsageRecord;

use super::*;

/// From the database and the journal; what only a running server knows is told as unknown.
#[tokio::test]
async fn keys_show_lists_what_is_left_of_every_allowance() {
    let house = House::new();
    house.done("keys create --name all --requests-per-hour 5 --class production").await;
    let key = house.keys().await.remove(0);
    let master = MasterKey::load_or_create(house.data_dir()).unwrap();
    let entry = |id, cost| {
        let JournalEntry::Usage(record) = usage_entry(id, cost) else { panic!() };
        let (key_id, account_id) = (key.id.clone(), key.account_id.clone());
        JournalEntry::Usage(Box::new(UsageRecord { key_id, account_id, ..*record }))
    };
    Journal::open(house.data_dir(), &master).unwrap().append(&[entry(1, None)]).unwrap();
    let store = Store::open(house.data_dir()).await.unwrap();
    Ingester::new(store.clone(), &master).run_to_end().await.unwrap();
    store.close().await;
    // This one is still in the journal.
    Journal::open(house.data_dir(), &master).unwrap().append(&[entry(2, None)]).unwrap();

    let shown = json(&house.done(&format!("keys show {} --json", key.id)).await);
    let allowances = shown["limits"]["allowances"].as_array().unwrap();
    let of_key = format!("key:{}", key.id);
    let of_account = format!("account:{}", key.account_id);
    let told: Vec<String> = allowances
        .iter()
        .map(|it| {
            let member = |name: &str| it[name].to_string().replace('"', "");
            ["subject", "measure", "window", "limit", "used", "reserved", "left", "source", "binds"]
                .map(member)
                .join(" ")
        })
        .collect();
    let tokens = allowances[1]["used"].as_u64().unwrap();
    assert!(tokens > 0);
    let left = 1_000_000 - tokens;
    assert_eq!(
        told,
        [
            format!("{of_key} requests hour 5 2 null 3 own true"),
            format!("{of_key} tokens day 1000000 {tokens} null {left} class false"),
            format!("{of_account} requests hour 10000 2 null 9998 tier false"),
            format!("{of_account} concurrency null 200 null null null tier false"),
            format!("{of_account} tokens day 1000000 {tokens} null {left} tier false"),
        ]
    );
    assert_eq!(allowances[1]["setting"], "keys.production.tokens_per_day");
    let table = house.done(&format!("keys show {}", key.id)).await;
    assert!(table.contains("5 requests an hour") && table.contains("least left"), "{table}");
    assert!(table.contains("have reserved is not in these figures"), "{table}");
    // The account's are those of its keys together.
    let account = json(&house.done("accounts show default --json").await);
    assert_eq!(account["limits"]["allowances"][0]["used"], 2, "{account}");
    let table = house.done("accounts show default").await;
    assert!(table.contains("10000 requests an hour") && table.contains("least left"), "{table}");
}

/// A figure says whose it is: the account's where that is tighter.
#[tokio::test]
async fn keys_show_says_whose_figure_binds() {
    let house = House::new();
    house.done("keys create --name own --requests-per-hour 5 --tokens-per-day 2000000").await;
    house.done("keys create --name usual --class enterprise").await;
    for (key, line) in [
        ("own", "requests per hour  5 (its own)"),
        ("own", "tokens per day     1000000 (its account's; its own is 2000000)"),
        ("usual", "requests per hour  10000 (its account's; its class's is unlimited)"),
    ] {
        let shown = house.done(&format!("keys show {key}")).await;
        assert!(shown.contains(line), "{shown}");
    }
}
