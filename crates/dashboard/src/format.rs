//! How numbers, money and times are written: the one place.
//!
//! Everything is rounded here and nowhere else. Inputs are integers, so that there is no NaN and no
//! infinity to show. Times are told in one zone, which a page names once.

use std::fmt::Write as _;

use jiff::{Timestamp, Zoned, tz::TimeZone};
use sluice_core::clock::UnixMillis;
use sluice_core::money::PicoUsd;

const PICOS: u64 = 1_000_000_000_000;
const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Two places from a dollar on, five below: `$2,418.36`, `$0.01184`.
pub fn money(amount: PicoUsd) -> String {
    let small = round_to(amount.0, PICOS / 100_000);
    if amount.0 == 0 {
        "$0.00".to_owned()
    } else if small == 0 {
        "< $0.00001".to_owned()
    } else if small < 100_000 {
        format!("$0.{small:05}")
    } else {
        let cents = round_to(amount.0, PICOS / 100);
        format!("${}.{:02}", count(cents / 100), cents % 100)
    }
}

/// The exact amount, without trailing zeros: `$0.011840375`.
pub fn money_exact(amount: PicoUsd) -> String {
    let text = amount.to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let whole = count(whole.parse().unwrap_or(0));
    if part.is_empty() { format!("${whole}") } else { format!("${whole}.{part}") }
}

/// Grouped by thousands: `184,206`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Three digits and a unit: `999`, `8.4 M`, `41.9 K`.
pub fn compact(number: u64) -> String {
    const UNITS: [(u64, &str); 5] = [
        (1_000, "K"),
        (1_000_000, "M"),
        (1_000_000_000, "B"),
        (1_000_000_000_000, "T"),
        (1_000_000_000_000_000, "Q"),
    ];
    for (place, (unit, name)) in UNITS.into_iter().enumerate().rev() {
        if number < unit {
            continue;
        }
        let tenths = round_to(number, unit / 10);
        // What rounds up to a thousand is one of the next unit.
        return match UNITS.get(place + 1) {
            Some((_, next)) if round_to(number, unit) >= 1_000 => format!("1.0 {next}"),
            _ if tenths >= 1_000 => format!("{} {name}", round_to(number, unit)),
            _ => format!("{}.{} {name}", tenths / 10, tenths % 10),
        };
    }
    number.to_string()
}

/// `412 ms`, `1.39 s`, `12.5 s`, `2 min 05 s`, `1 h 02 min`, `3 d 04 h`.
pub fn duration(millis: u64) -> String {
    let hundredths = round_to(millis, 10);
    let tenths = round_to(millis, 100);
    if millis < SECOND {
        format!("{millis} ms")
    } else if hundredths < 1_000 {
        format!("{}.{:02} s", hundredths / 100, hundredths % 100)
    } else if millis < MINUTE {
        format!("{}.{} s", tenths / 10, tenths % 10)
    } else if millis < HOUR {
        format!("{} min {:02} s", millis / MINUTE, millis % MINUTE / SECOND)
    } else if millis < DAY {
        format!("{} h {:02} min", millis / HOUR, millis % HOUR / MINUTE)
    } else {
        format!("{} d {:02} h", millis / DAY, millis % DAY / HOUR)
    }
}

/// The share of `part` in `whole`: `0.42 %`, `4.1 %`, `73 %`; `–` of nothing.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let scaled = |by: u128| {
        let (part, whole) = (u128::from(part), u128::from(whole));
        (part * by + whole / 2) / whole
    };
    match scaled(10_000) {
        _ if part == 0 => "0 %".to_owned(),
        0 => "< 0.01 %".to_owned(),
        hundredths @ 1..100 => format!("0.{hundredths:02} %"),
        100..1_000 => {
            let tenths = scaled(1_000);
            format!("{}.{} %", tenths / 10, tenths % 10)
        }
        _ => {
            let whole = u64::try_from(scaled(100)).unwrap_or(u64::MAX);
            format!("{} %", count(whole))
        }
    }
}

/// Thousandths as a number below one: `.71`.
pub fn permille(thousandths: u16) -> String {
    let hundredths = round_to(u64::from(thousandths.min(1_000)), 10);
    if hundredths >= 100 { "1.00".to_owned() } else { format!(".{hundredths:02}") }
}

/// How long something has been there: `today`, `1 day`, `61 days`.
pub fn age(millis: u64) -> String {
    match millis / DAY {
        0 => "today".to_owned(),
        1 => "1 day".to_owned(),
        days => format!("{} days", count(days)),
    }
}

/// How long ago something was: `now`, `4 s ago`, `3 h ago`, `12 days ago`.
pub fn ago(millis: u64) -> String {
    match millis {
        0..SECOND => "now".to_owned(),
        SECOND..MINUTE => format!("{} s ago", millis / SECOND),
        MINUTE..HOUR => format!("{} min ago", millis / MINUTE),
        HOUR..DAY => format!("{} h ago", millis / HOUR),
        _ if millis / DAY == 1 => "1 day ago".to_owned(),
        _ => format!("{} days ago", count(millis / DAY)),
    }
}

/// `1 key`, `38 keys`.
pub fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// The time of the page, and the zone in which it tells all others.
#[derive(Debug, Clone)]
pub struct Calendar {
    now: UnixMillis,
    zone: TimeZone,
}

impl Calendar {
    /// A calendar at `now`, in a zone by its IANA name; an unknown one is UTC.
    pub fn new(now: UnixMillis, zone: &str) -> Self {
        Self { now, zone: TimeZone::get(zone).unwrap_or(TimeZone::UTC) }
    }

    /// The same calendar at another time.
    #[must_use]
    pub fn at(self, now: UnixMillis) -> Self {
        Self { now, ..self }
    }

    /// The time of the page.
    pub fn now(&self) -> UnixMillis {
        self.now
    }

    /// What the zone is called: `Europe/Berlin`.
    pub fn zone_name(&self) -> String {
        self.zone.iana_name().unwrap_or("UTC").to_owned()
    }

    /// `14:03:07`
    pub fn clock(&self, at: UnixMillis) -> String {
        self.written(at, "%H:%M:%S")
    }

    /// `22 Nov`, with the year where it is another one.
    pub fn day(&self, at: UnixMillis) -> String {
        self.written(at, if self.is_this_year(at) { "%-d %b" } else { "%-d %b %Y" })
    }

    /// `22 Nov 14:03`, with the year where it is another one.
    pub fn minute(&self, at: UnixMillis) -> String {
        self.written(at, if self.is_this_year(at) { "%-d %b %H:%M" } else { "%-d %b %Y %H:%M" })
    }

    /// `22 Nov 14:03:07`, with the year where it is another one.
    pub fn second(&self, at: UnixMillis) -> String {
        let year = if self.is_this_year(at) { "%-d %b %H:%M:%S" } else { "%-d %b %Y %H:%M:%S" };
        self.written(at, year)
    }

    /// To the millisecond, with the zone: for titles.
    pub fn exact(&self, at: UnixMillis) -> String {
        let mut text = self.written(at, "%Y-%m-%d %H:%M:%S%.3f");
        let _ = write!(text, " {}", self.zone_name());
        text
    }

    /// How long ago it was; what is still to come is `now`.
    pub fn ago(&self, at: UnixMillis) -> String {
        ago(self.now.0.saturating_sub(at.0))
    }

    /// How long it has been there.
    pub fn age(&self, since: UnixMillis) -> String {
        age(self.now.0.saturating_sub(since.0))
    }

    fn is_this_year(&self, at: UnixMillis) -> bool {
        match (self.zoned(at), self.zoned(self.now)) {
            (Some(at), Some(now)) => at.year() == now.year(),
            _ => false,
        }
    }

    fn written(&self, at: UnixMillis, how: &str) -> String {
        let text = self.zoned(at).map(|zoned| zoned.strftime(how).to_string());
        text.unwrap_or_else(|| "out of range".to_owned())
    }

    fn zoned(&self, at: UnixMillis) -> Option<Zoned> {
        let millis = i64::try_from(at.0).ok()?;
        Some(Timestamp::from_millisecond(millis).ok()?.to_zoned(self.zone.clone()))
    }
}

/// `amount / unit`, rounded half up.
fn round_to(amount: u64, unit: u64) -> u64 {
    let unit = unit.max(1);
    amount / unit + u64::from(amount % unit >= unit.div_ceil(2))
}

#[cfg(test)]
mod tests;
