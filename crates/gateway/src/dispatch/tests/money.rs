//! Calls that came to nothing count under limits of money: whoever was asked and did not say that it
//! failed may bill.

use std::sync::Arc;

use proptest::prelude::*;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::Subject;
use sluice_storage::{JournalEntry, UsageRecord};

use super::status;
use crate::chat::Answer;
use crate::limits::{
    Allowance, Bound, LimitSubjects, Measure, Meter, Quantity, Source, Window, Zone,
};
use crate::testing::{
    DONE, HELLO, House, Script, Step, WHOLE, chat, says, script, seconds, streamed,
};

const DOLLAR: u64 = 1_000_000_000_000;
/// The bound that the requests here ask for.
const BOUND: u32 = 4_000;

/// What a provider does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Answers,
    Hangs,
    Lost,
    Garbage,
    Refuses,
}

use Fate::{Answers, Garbage, Hangs, Lost, Refuses};

impl Fate {
    fn script(self, stream: bool) -> Script {
        match self {
            Answers if stream => script([says(0, HELLO), says(0, DONE)]),
            Answers => script([says(0, WHOLE)]),
            Hangs => script([Step::Hangs]),
            Lost => script([Step::Breaks(seconds(1))]),
            Garbage => script([says(0, "{\"half\":")]),
            Refuses => status(500, "{}"),
        }
    }

    fn may_be_billed(self) -> bool {
        matches!(self, Hangs | Lost | Garbage)
    }
}

fn house(limit: u64, hard: bool) -> House {
    let allowance = Allowance {
        quantity: Quantity::Used(Meter::new(Measure::Usd, Window::Total, Zone::UTC)),
        limit,
        hard,
        source: Source::own(),
        budget: None,
    };
    let (subject, ledger) = (Subject::Key("key_1".into()), Arc::default());
    let subjects = LimitSubjects::new([Bound { subject, ledger, allowances: [allowance].into() }]);
    House::with_subjects(subjects)
}

/// Sends one request, of which the two providers make what `fates` say.
async fn ask(house: &House, stream: bool, fates: [Fate; 2]) {
    house.forget_scripts();
    house.expect(fates[0].script(stream));
    house.expect_of_second(fates[1].script(stream));
    let mut chat = if stream { streamed() } else { chat("Hello?") };
    chat.max_tokens = Some(BOUND);
    if let Ok(Answer::Stream(mut stream)) = house.ask(chat).await {
        let mut pieces = Vec::new();
        while std::future::poll_fn(|cx| stream.poll_pieces(cx, &mut pieces)).await {}
    }
}

fn records(house: &House) -> Vec<UsageRecord> {
    let of_usage = |entry| match entry {
        JournalEntry::Usage(record) => Some(*record),
        _ => None,
    };
    house.entries().into_iter().filter_map(of_usage).collect()
}

/// What is used and reserved of the limit.
fn taken(house: &House) -> (u64, u64) {
    let views = house.principal.subjects.views(house.gateway.clock().moment());
    (views[0].used.unwrap(), views[0].reserved.unwrap())
}

/// The most that a provider can bill for a request with such a bound, by the prices of the models here.
fn most(bound: u32) -> u64 {
    (100 + 4_096) * 1_250_000 + u64::from(bound) * 4_000_000
}

fn fate() -> impl Strategy<Value = Fate> {
    prop::sample::select(vec![Answers, Hangs, Lost, Garbage, Refuses])
}

fn run(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(test);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever providers do, and whatever they bill for it.
    #[test]
    fn a_hard_budget_of_a_dollar_is_not_exceeded(
        limit in prop_oneof![Just(DOLLAR), 10_000_000_000..200_000_000_000_u64],
        requests in prop::collection::vec((any::<bool>(), [fate(), fate()]), 1..60),
    ) {
        run(async {
            let house = house(limit, true);
            let mut billed = 0;
            for (stream, fates) in requests {
                let (before, written) = (house.calls(), records(&house).len());
                ask(&house, stream, fates).await;
                let after = house.calls();
                let asked = [after.0 > before.0, after.1 > before.1];
                let records = records(&house);
                let Some(record) = records.get(written) else { continue };
                let bound = record.max_tokens_lowered.unwrap_or(BOUND);
                let lost = (0..2).filter(|it| asked[*it] && fates[*it].may_be_billed()).count();
                let of_lost = most(bound) * lost as u64;
                assert_eq!(record.assumed.cost, PicoUsd(of_lost));
                billed += of_lost + record.cost.unwrap_or_default().0;
                assert_eq!(taken(&house), (billed, 0));
                assert!(billed <= limit);
            }
        });
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_else_is_asked_where_a_second_bill_does_not_fit() {
    for (limit, seconds_bill_fits) in [(2 * most(BOUND), true), (2 * most(BOUND) - 1, false)] {
        let house = house(limit, true);
        ask(&house, false, [Hangs, Answers]).await;
        assert_eq!(house.calls(), (1, u32::from(seconds_bill_fits)));
        // A status says that nothing is billed: there is room for another.
        let house = self::house(limit, true);
        ask(&house, false, [Refuses, Answers]).await;
        assert_eq!(house.calls(), (1, 1));
        assert_eq!(records(&house)[0].assumed.cost, PicoUsd(0));
    }
}

/// Without a hard budget, a call that came to nothing counts as its prompt.
#[tokio::test(start_paused = true)]
async fn elsewhere_the_prompt_of_a_lost_call_counts() {
    for (fate, counts) in
        [(Hangs, true), (Lost, true), (Garbage, true), (Refuses, false), (Answers, false)]
    {
        let house = house(1, false);
        ask(&house, false, [fate, Answers]).await;
        let record = &records(&house)[0];
        assert_eq!(record.cost, Some(PicoUsd(7 * 1_000_000 + 3 * 4_000_000)), "as it is known");
        let assumed = record.assumed;
        assert_eq!(assumed.tokens > 0, counts, "{fate:?}");
        assert_eq!(assumed.cost, PicoUsd(assumed.tokens * 1_000_000));
        assert_eq!(taken(&house), (record.cost.unwrap().0 + assumed.cost.0, 0));
    }
}

/// The provider of a whole answer does not notice that nobody waits for it.
#[tokio::test(start_paused = true)]
async fn whoever_leaves_before_a_whole_answer_pays_the_most_under_a_hard_budget() {
    for (hard, stream) in [(true, false), (false, false), (true, true)] {
        let house = house(DOLLAR, hard);
        assert!(tokio::time::timeout(seconds(1), ask(&house, stream, [Hangs; 2])).await.is_err());
        let record = &records(&house)[0];
        assert!(record.cost.is_some_and(|cost| cost.0 > 0));
        let counted = if hard && !stream { most(BOUND) } else { record.cost.unwrap().0 };
        assert_eq!((record.counted().cost.0, taken(&house)), (counted, (counted, 0)));
    }
}
