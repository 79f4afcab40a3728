use proptest::prelude::*;

use super::*;

#[test]
fn money_has_two_places_above_a_dollar_and_five_below() {
    for (picos, expected) in [
        (0, "$0.00"),
        (1, "< $0.00001"),
        (4_999_999, "< $0.00001"),
        (5_000_000, "$0.00001"),
        (11_840_000_000, "$0.01184"),
        (999_994_999_999, "$0.99999"),
        (999_995_000_000, "$1.00"),
        (PICOS, "$1.00"),
        (2_418_355_000_000_000, "$2,418.36"),
        (u64::MAX, "$18,446,744.07"),
    ] {
        assert_eq!(money(PicoUsd(picos)), expected, "{picos}");
    }
    assert_eq!(money_exact(PicoUsd(1_234_000_375_000_000)), "$1,234.000375");
    assert_eq!(money_exact(PicoUsd(2 * PICOS)), "$2");
}

#[test]
fn counts_are_grouped_or_compact() {
    for (number, grouped, short) in [
        (0, "0", "0"),
        (999, "999", "999"),
        (1_000, "1,000", "1.0 K"),
        (41_902, "41,902", "41.9 K"),
        (99_950, "99,950", "100 K"),
        (999_499, "999,499", "999 K"),
        (999_500, "999,500", "1.0 M"),
        (8_400_000, "8,400,000", "8.4 M"),
        (u64::MAX, "18,446,744,073,709,551,615", "18447 Q"),
    ] {
        assert_eq!(count(number), grouped);
        assert_eq!(compact(number), short);
    }
    assert_eq!(plural(1, "key", "keys"), "1 key");
    assert_eq!(plural(1_038, "key", "keys"), "1,038 keys");
}

#[test]
fn durations_are_as_exact_as_they_are_short() {
    for (millis, expected) in [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_391, "1.39 s"),
        (9_994, "9.99 s"),
        (9_995, "10.0 s"),
        (59_949, "59.9 s"),
        (59_999, "60.0 s"),
        (60_000, "1 min 00 s"),
        (125_000, "2 min 05 s"),
        (3_720_000, "1 h 02 min"),
        (273_600_000, "3 d 04 h"),
    ] {
        assert_eq!(duration(millis), expected, "{millis}");
    }
}

#[test]
fn shares_are_rounded_to_what_can_be_told() {
    for (part, whole, expected) in [
        (0, 0, "–"),
        (5, 0, "–"),
        (0, 7, "0 %"),
        (1, 1_000_000, "< 0.01 %"),
        (42, 10_000, "0.42 %"),
        (41, 1_000, "4.1 %"),
        (73, 100, "73 %"),
        (1, 1, "100 %"),
    ] {
        assert_eq!(percent(part, whole), expected, "{part} of {whole}");
    }
    assert_eq!([permille(0), permille(714), permille(995)], [".00", ".71", "1.00"]);
}

#[test]
fn times_are_told_in_one_zone() {
    let now = UnixMillis(1_795_352_587_123);
    let berlin = Calendar::new(now, "Europe/Berlin");
    assert_eq!(berlin.clock(now), "14:03:07");
    assert_eq!(berlin.minute(now), "22 Nov 14:03");
    assert_eq!(berlin.second(now), "22 Nov 14:03:07");
    assert_eq!(berlin.exact(now), "2026-11-22 14:03:07.123 Europe/Berlin");
    let last_year = UnixMillis(now.0 - 400 * DAY);
    assert_eq!(berlin.day(last_year), "18 Oct 2025");
    assert_eq!(berlin.ago(UnixMillis(now.0 - 4_000)), "4 s ago");
    assert_eq!(berlin.ago(UnixMillis(now.0 + 4_000)), "now");
    assert_eq!(berlin.age(UnixMillis(now.0 - 61 * DAY)), "61 days");
    // Half an hour before midnight in Berlin it is still the day before.
    let evening = UnixMillis(1_795_352_587_123 + 9 * HOUR);
    assert_eq!(berlin.day(evening), "22 Nov");
    assert_eq!(Calendar::new(now, "Asia/Tokyo").day(evening), "23 Nov");
    assert_eq!(Calendar::new(now, "Nowhere/Such").zone_name(), "UTC");
    assert_eq!(berlin.clock(UnixMillis(u64::MAX)), "out of range");
}

proptest! {
    /// Taking the commas out gives the number back.
    #[test]
    fn groups_lose_nothing(number: u64) {
        let text = count(number);
        prop_assert_eq!(text.replace(',', "").parse::<u64>().unwrap(), number);
        prop_assert!(text.split(',').skip(1).all(|group| group.len() == 3));
    }

    /// Shown money is within half of its last place of the exact amount.
    #[test]
    fn money_is_rounded_once(picos in 5_000_000u64..) {
        let shown = money(PicoUsd(picos)).replace(['$', ','], "");
        let (whole, part) = shown.split_once('.').unwrap();
        let places = u32::try_from(part.len()).unwrap();
        let unit = u128::from(PICOS) / 10u128.pow(places);
        let told = (whole.parse::<u128>().unwrap() * 10u128.pow(places)
            + part.parse::<u128>().unwrap()) * unit;
        prop_assert!(told.abs_diff(u128::from(picos)) * 2 <= unit);
    }

    /// Everything has something to show, and none of it is long.
    #[test]
    fn nothing_is_too_large_to_show(a: u64, b: u64) {
        for text in [money(PicoUsd(a)), compact(a), duration(a), age(a), ago(a)] {
            prop_assert!(!text.is_empty() && text.len() <= 24, "{}", text);
        }
        prop_assert!(!percent(a, b).contains("NaN"));
        let calendar = Calendar::new(UnixMillis(b), "Europe/Berlin");
        prop_assert!(!calendar.exact(UnixMillis(a)).is_empty());
    }
}
