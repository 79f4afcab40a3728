//! Expectations that were written by hand, from the calendars of the places.

use jiff::Timestamp;
use proptest::prelude::*;

use sluice_core::window::{Span, Window, Zone};

fn at(text: &str) -> u64 {
    u64::try_from(text.parse::<Timestamp>().unwrap().as_second()).unwrap()
}

/// In `zone`, the `window` around `moment` is from `start` to `end`.
#[track_caller]
fn check(zone: &str, window: Window, moment: &str, [start, end]: [&str; 2]) {
    let zone = Zone::parse(zone).unwrap();
    let expected = Span { start: at(start), end: at(end) };
    for second in [at(moment), expected.start, expected.end - 1] {
        let span = window.span(&zone, second);
        let text = |second: u64| Timestamp::from_second(second.try_into().unwrap()).unwrap();
        assert_eq!(span, expected, "{} to {}", text(span.start), text(span.end));
    }
}

#[test]
fn days_in_berlin_last_23_24_and_25_hours() {
    let zone = "Europe/Berlin";
    check(
        zone,
        Window::Day,
        "2026-03-29T10:00:00Z",
        ["2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"],
    );
    assert_eq!(
        Window::Day.span(&Zone::parse(zone).unwrap(), at("2026-03-29T10:00:00Z")).seconds(),
        23 * 3600
    );
    check(
        zone,
        Window::Day,
        "2026-10-25T00:30:00Z",
        ["2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"],
    );
    assert_eq!(
        Window::Day.span(&Zone::parse(zone).unwrap(), at("2026-10-25T10:00:00Z")).seconds(),
        25 * 3600
    );
    check(
        zone,
        Window::Day,
        "2026-11-22T12:00:00Z",
        ["2026-11-22T00:00:00+01:00", "2026-11-23T00:00:00+01:00"],
    );
    // The hour between two and three is left out in spring and comes twice in autumn.
    check(
        zone,
        Window::Hour,
        "2026-03-29T00:59:59Z",
        ["2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00"],
    );
    check(
        zone,
        Window::Hour,
        "2026-10-25T01:10:00Z",
        ["2026-10-25T02:00:00+01:00", "2026-10-25T03:00:00+01:00"],
    );
}

#[test]
fn hours_and_days_in_kathmandu_begin_at_a_quarter_past_in_utc() {
    let zone = "Asia/Kathmandu";
    check(
        zone,
        Window::Hour,
        "2026-06-01T12:20:00Z",
        ["2026-06-01T12:15:00Z", "2026-06-01T13:15:00Z"],
    );
    check(
        zone,
        Window::Day,
        "2026-06-01T18:14:59Z",
        ["2026-05-31T18:15:00Z", "2026-06-01T18:15:00Z"],
    );
    check(
        zone,
        Window::Month,
        "2026-05-31T18:20:00Z",
        ["2026-05-31T18:15:00Z", "2026-06-30T18:15:00Z"],
    );
}

/// Until 2011, clocks there changed at a minute past midnight: in autumn, back to 23:01.
#[test]
fn in_st_johns_a_day_that_has_begun_goes_on_when_the_clocks_go_back_before_it() {
    let zone = "America/St_Johns";
    check(
        zone,
        Window::Day,
        "2010-11-07T03:20:00Z",
        ["2010-11-07T00:00:00-02:30", "2010-11-08T00:00:00-03:30"],
    );
    check(
        zone,
        Window::Day,
        "2010-11-07T02:00:00Z",
        ["2010-11-06T00:00:00-02:30", "2010-11-07T00:00:00-02:30"],
    );
    check(
        zone,
        Window::Day,
        "2026-03-08T12:00:00Z",
        ["2026-03-08T00:00:00-03:30", "2026-03-09T00:00:00-02:30"],
    );
}

/// Samoa went over the date line: 30 December 2011 was left out.
#[test]
fn apia_has_a_day_that_never_was() {
    let zone = "Pacific/Apia";
    check(
        zone,
        Window::Day,
        "2011-12-30T09:59:59Z",
        ["2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00"],
    );
    check(
        zone,
        Window::Day,
        "2011-12-30T10:00:00Z",
        ["2011-12-31T00:00:00+14:00", "2012-01-01T00:00:00+14:00"],
    );
    check(
        zone,
        Window::Week,
        "2011-12-31T00:00:00Z",
        ["2011-12-26T00:00:00-10:00", "2012-01-02T00:00:00+14:00"],
    );
}

#[test]
fn a_day_without_midnight_begins_when_the_clocks_are_changed() {
    check(
        "America/Toronto",
        Window::Day,
        "2026-05-01T12:00:00Z",
        ["2026-05-01T00:00:00-04:00", "2026-05-02T00:00:00-04:00"],
    );
    check(
        "Africa/Cairo",
        Window::Day,
        "2026-04-24T12:00:00Z",
        ["2026-04-24T01:00:00+03:00", "2026-04-25T00:00:00+03:00"],
    );
    // Of the two midnights of that day the first.
    check(
        "America/Havana",
        Window::Day,
        "2020-11-01T12:00:00Z",
        ["2020-11-01T00:00:00-04:00", "2020-11-02T00:00:00-05:00"],
    );
}

#[test]
fn months_end_when_they_end_and_weeks_begin_on_monday() {
    let utc = "UTC";
    check(
        utc,
        Window::Month,
        "2026-02-28T23:59:59Z",
        ["2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"],
    );
    check(
        utc,
        Window::Month,
        "2028-02-29T12:00:00Z",
        ["2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"],
    );
    check(
        utc,
        Window::Month,
        "2026-12-31T23:00:00Z",
        ["2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"],
    );
    check(
        utc,
        Window::Day,
        "2028-02-29T12:00:00Z",
        ["2028-02-29T00:00:00Z", "2028-03-01T00:00:00Z"],
    );
    for zone in [utc, "Etc/UTC"] {
        check(
            zone,
            Window::Week,
            "2027-01-01T12:00:00Z",
            ["2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z"],
        );
    }
    check(
        "Europe/Berlin",
        Window::Week,
        "2026-03-29T23:00:00+02:00",
        ["2026-03-23T00:00:00+01:00", "2026-03-30T00:00:00+02:00"],
    );
    check(
        "Europe/Berlin",
        Window::Month,
        "2026-10-31T23:30:00+01:00",
        ["2026-10-01T00:00:00+02:00", "2026-11-01T00:00:00+01:00"],
    );
}

#[test]
fn an_hour_is_cut_short_where_clocks_change_by_half_an_hour() {
    let zone = "Australia/Lord_Howe";
    check(
        zone,
        Window::Hour,
        "2026-04-05T01:45:00+10:30",
        ["2026-04-05T01:30:00+10:30", "2026-04-05T02:00:00+10:30"],
    );
    check(
        zone,
        Window::Hour,
        "2026-10-04T02:45:00+11:00",
        ["2026-10-04T02:30:00+11:00", "2026-10-04T03:00:00+11:00"],
    );
}

#[test]
fn five_hours_begin_where_they_are_asked_and_all_time_never_ends() {
    let zone = Zone::parse("Europe/Berlin").unwrap();
    assert_eq!(Window::FiveHours.span(&zone, 1_001), Span { start: 1_001, end: 19_001 });
    let total = Window::Total.span(&zone, 7);
    assert_eq!((total.start, total.reset()), (0, None));
}

#[test]
fn a_name_that_is_no_zone_is_refused() {
    assert!(Zone::parse("Europe/Atlantis").unwrap_err().to_string().contains("`Europe/Atlantis`"));
    assert_eq!(Zone::parse("utc").unwrap().to_string(), "UTC");
    assert_eq!(Zone::parse("Asia/Kathmandu").unwrap().to_string(), "Asia/Kathmandu");
}

proptest! {
    /// Also for moments that no calendar has: a clock may say anything.
    #[test]
    fn windows_hold_their_moment_and_follow_each_other(
        moment in prop_oneof![0..5_000_000_000_u64, any::<u64>()],
        window in prop::sample::select(Window::ALL.to_vec()),
        zone in prop::sample::select(vec![
            "UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "Pacific/Apia",
            "Australia/Lord_Howe", "America/Havana", "Africa/Cairo", "Pacific/Kiritimati",
        ]),
    ) {
        let zone = Zone::parse(zone).unwrap();
        let span = window.span(&zone, moment);
        prop_assert!(span.start <= moment && (moment < span.end || span.end == u64::MAX));
        if window.follows_the_calendar() && moment < 250_000_000_000 {
            prop_assert_eq!(window.span(&zone, span.start), span);
            prop_assert_eq!(window.span(&zone, span.end - 1), span);
            prop_assert_eq!(window.span(&zone, span.end).start, span.end);
            if span.start > 0 {
                prop_assert_eq!(window.span(&zone, span.start - 1).end, span.start);
            }
        }
    }
}
