//! What the sample states of all pages have in common: an invented company, one moment, and the
//! worst that names can be.

use sluice_core::clock::UnixMillis;
use sluice_core::money::PicoUsd;

use crate::components::{Cost, Csrf, Text};
use crate::format::Calendar;
use crate::layout::{Frame, Place, Reader, Theme};

/// A page in one of its states.
#[derive(Debug)]
pub struct Sample {
    /// The page: `overview`.
    pub page: &'static str,
    /// The state: `typical`.
    pub state: &'static str,
    /// The document.
    pub html: String,
}

/// How names are written in a sample. Whatever a person, a header or a model controls goes through
/// [`Names::of`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    Plain,
    Long,
    RightToLeft,
    Markup,
    Endless,
}

impl Names {
    const ALL: [(&'static str, Self); 5] = [
        ("typical", Self::Plain),
        ("long-names", Self::Long),
        ("right-to-left", Self::RightToLeft),
        ("markup", Self::Markup),
        ("endless", Self::Endless),
    ];

    /// `text`, as this sample writes it.
    pub(crate) fn of(self, text: &str) -> Text {
        Text::new(match self {
            Self::Plain => text.to_owned(),
            Self::Long => {
                format!(
                    "{text}-for-the-quarterly-settlement-of-the-northern-region-and-its-subsidiaries"
                )
            }
            // Overrides of the direction, one of them never closed.
            Self::RightToLeft => {
                format!("\u{202E}{text}\u{202C} فريق المدفوعات שלום \u{2066}{text}")
            }
            Self::Markup => format!(
                "{text}\"'><script>alert(1)</script><img src=x onerror=alert(2)>{{{{7*7}}}}"
            ),
            Self::Endless => format!("{text} {}", "<&é漢\u{202E}x".repeat(1_666)),
        })
    }
}

/// The state `make` in every way of writing names; the first of them is called `typical`.
pub(crate) fn in_all_names<V>(make: impl Fn(Names) -> V) -> Vec<(&'static str, V)> {
    Names::ALL.into_iter().map(|(state, names)| (state, make(names))).collect()
}

/// 22 November 2026, 14:03:07 in Berlin.
pub(crate) const NOW: UnixMillis = UnixMillis(1_795_352_587_123);
pub(crate) const SECOND: u64 = 1_000;
pub(crate) const MINUTE: u64 = 60_000;
pub(crate) const HOUR: u64 = 60 * MINUTE;
pub(crate) const DAY: u64 = 24 * HOUR;

pub(crate) fn calendar() -> Calendar {
    Calendar::new(NOW, "Europe/Berlin")
}

/// So many milliseconds before [`NOW`].
pub(crate) fn before(millis: u64) -> UnixMillis {
    UnixMillis(NOW.0 - millis)
}

pub(crate) fn csrf() -> Csrf {
    Csrf::new("k3Yq0sVbT9mE2wLd")
}

/// So many millionths of a dollar.
pub(crate) fn micros(micros: u64) -> PicoUsd {
    PicoUsd(micros * 1_000_000)
}

/// What something of so many millionths of a dollar cost.
pub(crate) fn cost(amount: u64) -> Cost {
    Cost(Some(micros(amount)))
}

/// `many` numbers around `middle` that look measured: working days, week ends, and some noise.
pub(crate) fn wave(seed: u64, many: u64, middle: u64) -> Vec<u64> {
    let wave = |at: u64| {
        let noise = (at * 7_919 + seed * 104_729) * 2_654_435_761 % 1_000;
        let week = if (at + 1) % 7 < 2 { 380 } else { 1_000 };
        middle * week / 1_000 * (550 + noise) / 1_000
    };
    (0..many).map(wave).collect()
}

/// The frame that samples of signed-in pages have.
pub(crate) fn frame() -> Frame {
    let groups = Place::GROUPS.iter();
    Frame {
        reader: Some(Reader {
            name: "Ada Brandt".into(),
            account: "Acme".into(),
            role: "owner",
            places: groups.flat_map(|(_, places)| places.iter().copied()).collect(),
            failing_providers: 1,
            keys_to_rotate: 2,
            csrf: csrf(),
        }),
        theme: Theme::System,
    }
}
