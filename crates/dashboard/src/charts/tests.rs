use proptest::prelude::*;

use super::scale::Scale;
use super::*;
use crate::components::{State, Text};

fn bars(slots: Vec<Vec<u64>>) -> Bars {
    let series = |(place, name): (u8, &str)| Series { name: Text::from(name), colour: place };
    let slot = |(place, values): (usize, Vec<u64>)| Slot {
        label: place.to_string(),
        name: format!("{place} Nov"),
        values,
        link: None,
    };
    Bars {
        id: "chart",
        title: "Spend <a> day".into(),
        unit: Unit::Money,
        series: (1..).zip(["Platform", "<b>"]).map(series).collect(),
        slots: slots.into_iter().enumerate().map(slot).collect(),
        csv: "/overview.csv?by=team&a=b".into(),
        is_low: false,
    }
}

/// Every number in an attribute is one that a browser can place.
fn is_sound(markup: &str) -> bool {
    !markup.contains("NaN") && !markup.contains("inf") && !markup.contains("=\"-0.")
}

#[test]
fn nothing_to_draw_is_said() {
    for slots in [vec![], vec![vec![]], vec![vec![0, 0], vec![0, 0]]] {
        let chart = bars(slots).to_string();
        assert!(chart.contains("Nothing in this period."), "{chart}");
        assert!(is_sound(&chart));
    }
}

#[test]
fn one_point_is_a_bar() {
    let chart = bars(vec![vec![3_000_000_000_000, 0]]).to_string();
    assert_eq!(chart.matches("<rect class=\"c1\"").count(), 1);
    assert!(chart.contains("<title>0 Nov: $3.00</title>"));
    assert!(chart.contains(">$3</text>"), "{chart}");
}

#[test]
fn the_table_says_the_same_as_the_bars_and_names_are_escaped() {
    let chart = bars(vec![vec![1_000_000_000_000, 2_000_000_000_000]]).to_string();
    assert!(chart.contains("<td class=\"num\">$1.00</td><td class=\"num\">$2.00</td>"));
    assert!(chart.contains("<td class=\"num\">$3.00</td></tr>"), "the sum");
    assert!(chart.contains("&lt;b&gt;") && !chart.contains("<b>"));
    assert!(chart.contains("href=\"/overview.csv?by=team&amp;a=b\""));
}

#[test]
fn fewer_words_stand_below_narrow_charts() {
    let chart = bars((0..24).map(|hour| vec![hour, 1]).collect()).to_string();
    assert_eq!(chart.matches("class=\"mid\"").count(), 6);
    assert_eq!(chart.matches("class=\"mid wide\"").count(), 6);
}

#[test]
fn lines_need_two_points() {
    assert_eq!(spark(&[]), None);
    assert_eq!(spark(&[7]), None);
    for values in [vec![0, 0, 0], vec![u64::MAX, 0, u64::MAX]] {
        let line = spark(&values).unwrap().to_string();
        assert!(is_sound(&line), "{line}");
    }
}

#[test]
fn a_meter_never_leaves_its_frame() {
    for (used, held, limit, expected) in [
        (0, 0, 100, "width=\"0\""),
        (80, 5, 100, "class=\"near\" width=\"800\""),
        (80, 50, 100, "class=\"held\" x=\"800\" width=\"200\""),
        (300, 0, 100, "class=\"over\" width=\"1000\""),
        (0, 0, 0, "class=\"over\" width=\"1000\""),
        (u64::MAX, u64::MAX, u64::MAX, "class=\"over\" width=\"1000\""),
    ] {
        let meter = Meter { label: "used".into(), used, held, limit };
        assert!(meter.to_string().contains(expected), "{meter}");
    }
}

#[test]
fn a_waterfall_marks_what_took_no_time() {
    let step = |from_ms, to_ms| Step {
        name: Text::from("route"),
        from_ms,
        to_ms,
        state: State::Bad,
        note: Text::default(),
    };
    let empty = Waterfall::default().to_string();
    assert!(is_sound(&empty));
    let chart = Waterfall { steps: vec![step(0, 0), step(5, 2), step(0, u64::MAX)] }.to_string();
    assert!(is_sound(&chart));
    assert_eq!(chart.matches("class=\"w-bad\"").count(), 3);
    assert_eq!(chart.matches("width=\"0.40%\"").count(), 2);
}

proptest! {
    #[test]
    fn a_scale_holds_its_values_in_few_steps(largest: u64, most in 1u64..8) {
        let scale = Scale::for_largest(largest, most);
        prop_assert!((0.0..=1.0).contains(&scale.share(largest)));
        prop_assert!(scale.ticks(Unit::Count).count() as u64 <= most + 1);
        prop_assert_eq!(scale.share(0), 0.0);
    }

    #[test]
    fn any_values_can_be_drawn(slots in prop::collection::vec(prop::collection::vec(any::<u64>(), 0..4), 0..40)) {
        prop_assert!(is_sound(&bars(slots).to_string()));
    }
}
