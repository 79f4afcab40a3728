//! One ledger by itself: windows, leases, clocks that are wrong.

use std::time::Duration;

use sluice_core::clock::UnixMillis;
use sluice_core::money::PicoUsd;

use super::super::ledger::{Admission, Asked};
use super::super::{
    Allowance, Amount, Ledger, LimitExceeded, Limits, Measure, Meter, OwnFigures, Quantity,
    RateView, Source, Spend, Window, Zone,
};
use super::both;

const HOUR: u64 = 3_600;
const DAY: u64 = 86_400;

const NOW: UnixMillis = UnixMillis(1_800_000_000_000);

fn tokens(tokens: u64) -> Spend {
    Spend { tokens, ..Spend::default() }
}

fn admission(lease: u64, wanted: u64) -> Admission {
    let expires = both(NOW.plus(Duration::from_secs(600))).steady;
    Admission { lease, wanted: tokens(wanted), expires }
}

fn admit(ledger: &Ledger, limits: &Limits, lease: u64, now: UnixMillis) -> Result<(), String> {
    let outcome = refuse(ledger, limits, lease, now);
    outcome.map_err(|exceeded| exceeded.what.to_owned())
}

fn refuse(
    ledger: &Ledger,
    limits: &Limits,
    lease: u64,
    now: UnixMillis,
) -> Result<(), LimitExceeded> {
    let allowances = limits.allowances("class", OwnFigures::default());
    let asked = Asked { name: "this key", allowances: &allowances };
    ledger.admit(asked, &admission(lease, 100), both(now)).map(drop)
}

fn rate(ledger: &Ledger, limits: &Limits, now: UnixMillis) -> RateView {
    ledger.rate(&limits.allowances("class", OwnFigures::default()), now).unwrap()
}

#[test]
fn the_request_window_refuses_and_opens_again() {
    let limits = Limits { requests_per_hour: Some(2), ..Limits::default() };
    let ledger = Ledger::default();
    assert_eq!(admit(&ledger, &limits, 1, NOW), Ok(()));
    assert_eq!(admit(&ledger, &limits, 2, NOW), Ok(()));
    assert_eq!(admit(&ledger, &limits, 3, NOW), Err("requests an hour".into()));
    assert_eq!(rate(&ledger, &limits, NOW).remaining, 0);
    let next_hour = UnixMillis(rate(&ledger, &limits, NOW).reset * 1000);
    assert_eq!(admit(&ledger, &limits, 4, next_hour), Ok(()));
    assert_eq!(rate(&ledger, &limits, next_hour).remaining, 1);
}

#[test]
fn reserved_tokens_count_until_they_are_settled() {
    let limits = Limits { tokens_per_day: Some(250), ..Limits::default() };
    let ledger = Ledger::default();
    assert_eq!(admit(&ledger, &limits, 1, NOW), Ok(()));
    assert_eq!(admit(&ledger, &limits, 2, NOW), Ok(()));
    assert_eq!(admit(&ledger, &limits, 3, NOW), Err("tokens a day".into()));
    ledger.settle(1, tokens(10), NOW, NOW);
    assert_eq!(ledger.tokens_used(NOW), 110);
    assert_eq!(admit(&ledger, &limits, 3, NOW), Ok(()));
    // Settling again changes neither what was used nor what others have reserved.
    ledger.settle(1, tokens(10), NOW, NOW);
    assert_eq!(ledger.tokens_used(NOW), 210);
}

#[test]
fn a_lease_that_never_settles_lapses() {
    let limits =
        Limits { concurrent_requests: Some(1), tokens_per_day: Some(150), ..Limits::default() };
    let ledger = Ledger::default();
    assert_eq!(admit(&ledger, &limits, 1, NOW), Ok(()));
    assert_eq!(admit(&ledger, &limits, 2, NOW), Err("requests at once".into()));
    let later = NOW.plus(Duration::from_secs(601));
    assert_eq!(admit(&ledger, &limits, 2, later), Ok(()));
}

#[test]
fn a_restart_keeps_the_higher_count() {
    let limits = Limits { requests_per_hour: Some(5), ..Limits::default() };
    let ledger = Ledger::default();
    let start = NOW.seconds() - NOW.seconds() % HOUR;
    ledger.restore(&Meter::REQUESTS_AN_HOUR, (start, 4), NOW);
    assert_eq!(admit(&ledger, &limits, 1, NOW), Ok(()));
    assert_eq!(admit(&ledger, &limits, 2, NOW), Err("requests an hour".into()));
    ledger.restore(&Meter::REQUESTS_AN_HOUR, (start, 1), NOW);
    assert_eq!(rate(&ledger, &limits, NOW).remaining, 0);
}

#[test]
fn windows_that_lie_ahead_or_are_over_are_not_restored() {
    let limits = Limits { requests_per_hour: Some(5), ..Limits::default() };
    let ledger = Ledger::default();
    let start = NOW.seconds() - NOW.seconds() % HOUR;
    for start in [start - 3_600, start + 3_600, start + 400 * 86_400] {
        ledger.restore(&Meter::REQUESTS_AN_HOUR, (start, 5), NOW);
    }
    assert_eq!(rate(&ledger, &limits, NOW).remaining, 5);
}

#[test]
fn a_clock_set_back_opens_no_fresh_window_and_blocks_for_one_at_most() {
    const YEARS: u64 = 10 * 365 * 86_400;
    let limits =
        Limits { requests_per_hour: Some(1), tokens_per_day: Some(150), ..Limits::default() };
    let ledger = Ledger::default();
    let wrong = NOW.plus(Duration::from_secs(YEARS));
    assert_eq!(admit(&ledger, &limits, 1, wrong), Ok(()));
    // What began under the wrong clock counts today.
    ledger.settle(1, tokens(120), wrong, NOW);
    assert_eq!(ledger.tokens_used(NOW), 120);
    let refused = refuse(&ledger, &limits, 2, NOW).unwrap_err();
    assert_eq!(refused.what, "requests an hour");
    let wait = refused.retry_after.unwrap();
    assert!(wait <= Duration::from_secs(HOUR));
    let next_hour = NOW.plus(wait);
    let refused = refuse(&ledger, &limits, 2, next_hour).unwrap_err();
    assert_eq!(refused.what, "tokens a day");
    let wait = refused.retry_after.unwrap();
    assert!(wait <= Duration::from_secs(DAY));
    assert_eq!(admit(&ledger, &limits, 2, next_hour.plus(wait)), Ok(()));
}

#[test]
fn a_reading_that_is_a_moment_late_does_not_begin_the_window_again() {
    let limits = Limits { requests_per_hour: Some(2), ..Limits::default() };
    let ledger = Ledger::default();
    assert_eq!(NOW.seconds() % HOUR, 0);
    assert_eq!(admit(&ledger, &limits, 1, NOW), Ok(()));
    assert_eq!(admit(&ledger, &limits, 2, UnixMillis(NOW.0 - 5)), Ok(()));
    assert_eq!(admit(&ledger, &limits, 3, NOW), Err("requests an hour".into()));
}

#[test]
fn what_is_taken_back_after_the_hour_is_not_taken_from_the_next() {
    let limits = Limits { requests_per_hour: Some(5), ..Limits::default() };
    let ledger = Ledger::default();
    assert_eq!(admit(&ledger, &limits, 1, NOW), Ok(()));
    let next_hour = NOW.plus(Duration::from_secs(HOUR));
    assert_eq!(admit(&ledger, &limits, 2, next_hour), Ok(()));
    ledger.unreserve(1);
    assert_eq!(rate(&ledger, &limits, next_hour).remaining, 4);
    ledger.unreserve(2);
    assert_eq!(rate(&ledger, &limits, next_hour).remaining, 5);
}

#[test]
fn a_lapsed_lease_settles_once() {
    let limits = Limits { concurrent_requests: Some(1), ..Limits::default() };
    let ledger = Ledger::default();
    assert_eq!(admit(&ledger, &limits, 1, NOW), Ok(()));
    let later = NOW.plus(Duration::from_secs(601));
    assert_eq!(ledger.in_flight(both(later).steady), 0);
    for _ in 0..2 {
        ledger.settle(1, tokens(30), NOW, later);
        assert_eq!(ledger.tokens_used(later), 30);
    }
}

#[test]
fn a_request_that_can_never_fit_says_so_and_only_configured_figures_name_a_setting() {
    let limits = Limits {
        requests_per_hour: Some(1),
        tokens_per_day: Some(50),
        section: "limits.lowest",
        ..Limits::default()
    };
    let ledger = Ledger::default();
    let refused = |own, wanted| {
        let allowances = limits.allowances("tier", own);
        let asked = Asked { name: "this account", allowances: &allowances };
        let fits = asked.has_room_for(tokens(wanted), NOW);
        let admitted = fits.and_then(|()| ledger.admit(asked, &admission(1, wanted), both(NOW)));
        admitted.unwrap_err().to_string()
    };
    let text = refused(OwnFigures::default(), 100);
    assert!(text.contains("never") && text.contains("`max_tokens`"), "{text}");
    assert!(text.contains("raise `limits.lowest.tokens_per_day`"), "{text}");
    assert!(!text.contains("retry in"), "{text}");
    let own = OwnFigures { tokens_per_day: true, ..OwnFigures::default() };
    assert!(!refused(own, 100).contains("limits.lowest"));
    ledger.restore(&Meter::REQUESTS_AN_HOUR, (NOW.seconds(), 1), NOW);
    let text = refused(own, 10);
    assert!(text.contains("retry in 3600 s, or ask the operator"), "{text}");
    assert!(text.contains("`limits.lowest.requests_per_hour`"), "{text}");
}

fn allowance(measure: Measure, window: Window, limit: u64) -> Allowance {
    let quantity = Quantity::Used(Meter::new(measure, window, Zone::UTC));
    Allowance { quantity, limit, hard: true, source: Source::own(), budget: None }
}

/// Asks for a request that uses `wanted` and is lost at once.
fn ask(
    ledger: &Ledger,
    allowances: &[Allowance],
    wanted: Spend,
    now: UnixMillis,
) -> Result<bool, LimitExceeded> {
    ledger.watch(allowances);
    let asked = Asked { name: "this team", allowances };
    asked.has_room_for(wanted, NOW)?;
    let expires = both(now.plus(Duration::from_secs(60))).steady;
    let admission = Admission { lease: 7, wanted, expires };
    let noted = ledger.admit(asked, &admission, both(now))?;
    ledger.settle(7, wanted, now, now);
    Ok(noted.over_soft)
}

#[test]
fn a_clock_set_back_keeps_every_window_and_blocks_for_one_at_most() {
    const YEARS: u64 = 10 * 365 * DAY;
    for window in Window::ALL {
        let allowances = [allowance(Measure::Requests, window, 1)];
        let ledger = Ledger::default();
        let ask = |now| ask(&ledger, &allowances, Spend::default(), now);
        assert_eq!(ask(NOW.plus(Duration::from_secs(YEARS))), Ok(false));
        let refused = ask(NOW).unwrap_err();
        let Some(wait) = refused.retry_after else {
            assert_eq!(window, Window::Total);
            continue;
        };
        assert!(wait.as_secs() <= 31 * DAY, "{window:?}");
        assert_eq!(ask(NOW.plus(wait)), Ok(false), "{window:?}");
    }
}

#[test]
fn five_hours_begin_with_the_first_use_and_not_with_one_that_was_refused() {
    let five_hours = Meter::new(Measure::Requests, Window::FiveHours, Zone::UTC);
    let allowances = [allowance(Measure::Requests, Window::FiveHours, 2)];
    let ledger = Ledger::default();
    ledger.watch(&allowances);
    let asked = Asked { name: "this key", allowances: &allowances };
    let at = |seconds| both(NOW.plus(Duration::from_secs(seconds)));
    // Another limit stood in the way of the first.
    assert_eq!(
        ledger.admit(asked, &admission(1, 0), at(10)).unwrap().five_hours_from,
        Some(NOW.seconds() + 10)
    );
    ledger.unreserve(1);
    assert_eq!(ledger.window(&five_hours, at(20).wall).0.reset(), None);
    let noted = ledger.admit(asked, &admission(2, 0), at(30)).unwrap();
    assert_eq!(noted.five_hours_from, Some(NOW.seconds() + 30));
    ledger.five_hours_told();
    assert_eq!(ledger.admit(asked, &admission(3, 0), at(40)).unwrap().five_hours_from, None);
    let refused = ledger.admit(asked, &admission(4, 0), at(50)).unwrap_err();
    assert_eq!(refused.retry_after, Some(Duration::from_secs(5 * HOUR - 20)));
    let noted = ledger.admit(asked, &admission(5, 0), at(30 + 5 * HOUR)).unwrap();
    assert_eq!(noted.five_hours_from, Some(NOW.seconds() + 30 + 5 * HOUR));
}

#[test]
fn five_hours_go_on_after_a_restart() {
    let five_hours = Meter::new(Measure::Tokens, Window::FiveHours, Zone::UTC);
    for (start, remembered) in [
        (NOW.seconds() - 7, true),
        (NOW.seconds() - 5 * HOUR, false),
        (NOW.seconds() + HOUR, false),
    ] {
        let ledger = Ledger::default();
        ledger.restore_five_hours(&five_hours, (start, 60), NOW);
        let (span, used) = ledger.window(&five_hours, NOW);
        assert_eq!(
            (span.reset(), used),
            if remembered { (Some(start + 5 * HOUR), 60) } else { (None, 0) }
        );
    }
}

#[test]
fn a_soft_limit_never_refuses_and_is_noted() {
    let soft = Allowance { hard: false, ..allowance(Measure::Tokens, Window::Day, 100) };
    let ledger = Ledger::default();
    let over =
        [60, 40, 1].map(|wanted| ask(&ledger, std::slice::from_ref(&soft), tokens(wanted), NOW));
    assert_eq!(over, [Ok(false), Ok(false), Ok(true)]);
    assert_eq!(ask(&ledger, &[soft], tokens(1_000), NOW), Ok(true));
}

#[test]
fn money_is_told_in_dollars_and_what_is_free_goes_on_when_it_is_spent() {
    const DOLLAR: u64 = 1_000_000_000_000;
    let money = |limit| [allowance(Measure::Usd, Window::Month, limit)];
    let spend = |cost| Spend { tokens: 5, cost: PicoUsd(cost), most: PicoUsd(cost) };
    let ledger = Ledger::default();
    assert_eq!(ask(&ledger, &money(5 * DOLLAR), spend(4 * DOLLAR + DOLLAR / 2), NOW), Ok(false));
    let refused = ask(&ledger, &money(5 * DOLLAR), spend(DOLLAR), NOW).unwrap_err();
    let text = refused.to_string();
    assert!(
        text.contains("limit of 5 US dollars a month (4.5 used, 0 reserved, about 1 wanted)"),
        "{text}"
    );
    // What was used counts under a limit that is lowered, too.
    assert_eq!(ask(&ledger, &money(DOLLAR), spend(0), NOW), Ok(false));
    assert!(ask(&ledger, &money(DOLLAR), spend(1), NOW).is_err());
    assert!(ask(&ledger, &money(0), spend(0), NOW).is_err());
    let never = ask(&ledger, &money(DOLLAR), spend(2 * DOLLAR), NOW).unwrap_err();
    assert_eq!(never.too_large, Some(Amount::Usd(PicoUsd(2 * DOLLAR))));
}

#[test]
fn a_limit_of_zero_blocks() {
    let ledger = Ledger::default();
    for measure in Measure::ALL {
        for window in Window::ALL {
            let priced = Spend { tokens: 7, cost: PicoUsd(5), most: PicoUsd(9) };
            for wanted in [Spend::default(), priced] {
                let blocked = ask(&ledger, &[allowance(measure, window, 0)], wanted, NOW);
                let blocked = blocked.unwrap_err();
                assert_eq!((blocked.too_large, blocked.retry_after), (None, None));
                let text = blocked.to_string();
                assert!(text.contains("limit of 0") && text.contains("does not help"), "{text}");
            }
        }
    }
}

#[test]
fn a_limit_without_an_end_says_that_waiting_does_not_help() {
    let ledger = Ledger::default();
    let allowances = [allowance(Measure::Requests, Window::Total, 1)];
    ask(&ledger, &allowances, Spend::default(), NOW).unwrap();
    let text = ask(&ledger, &allowances, Spend::default(), NOW).unwrap_err().to_string();
    assert_eq!(
        text,
        "this team has reached its limit of 1 requests in total; waiting does not help"
    );
}
