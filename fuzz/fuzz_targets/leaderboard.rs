//! Whatever a leaderboard's file holds, it is read or refused; its shares stay shares when they are
//! written and read again. Whatever a name is, what it is recognised as is recognised as itself.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluice_routing::quality::name::ModelName;
use sluice_routing::quality::table::{rows, to_csv};

fuzz_target!(|text: &str| {
    for name in text.lines().take(20) {
        let Some(model) = ModelName::parse(name) else { continue };
        let again = ModelName::parse(&model.key());
        assert_eq!(again.map(|again| again.key()), Some(model.key()), "{name}");
    }
    let Ok(read) = rows(text) else { return };
    for row in &read {
        let shares = row.by_task.iter().chain([&row.average]).flatten();
        assert!(shares.into_iter().all(|share| (0.0..=1.0).contains(share)), "{row:?}");
    }
    let written = to_csv(&read).expect("rows are text");
    rows(&written).unwrap_or_else(|wrong| panic!("{wrong}\n{written}"));
});
