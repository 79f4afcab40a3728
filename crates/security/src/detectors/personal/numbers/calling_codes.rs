//! Country calling codes and how long the numbers behind them are (ITU-T E.164).

/// A country's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    /// How many digits the calling code has.
    pub(super) code: usize,
    /// How many digits follow it at least.
    pub(super) shortest: usize,
    /// How many digits follow it at most.
    pub(super) longest: usize,
}

/// The plan of the number in international form that starts with `digits`.
pub(super) fn plan(digits: &[u8]) -> Option<Plan> {
    let [first, second, third, ..] = digits else { return None };
    let plan = |code, shortest, longest| Some(Plan { code, shortest, longest });
    match (first, second) {
        (b'1', _) => return plan(1, 10, 10),
        (b'7', _) => return plan(1, 10, 10),
        _ => {}
    }
    let two = (first - b'0') * 10 + (second - b'0');
    let (shortest, longest) = match two {
        20 | 40 | 60 | 63 | 82 | 92 => (8, 10),
        27 | 33 | 34 | 48 | 61 | 84 | 93 | 94 => (9, 9),
        30 | 58 | 90 | 91 | 98 => (10, 10),
        31 => (9, 9),
        32 | 36 | 56 | 66 => (8, 9),
        39 => (6, 11),
        41 => (9, 9),
        43 => (7, 12),
        44 => (9, 10),
        45 | 65 => (8, 8),
        46 => (7, 10),
        47 => (8, 8),
        49 => (6, 12),
        51 => (8, 9),
        52 | 54 | 55 | 86 => (10, 11),
        53 => (6, 8),
        57 => (8, 10),
        62 => (7, 12),
        64 => (8, 10),
        81 => (9, 10),
        95 => (7, 10),
        _ => {
            return match (two, third) {
                (
                    21..=26
                    | 29
                    | 35
                    | 37..=38
                    | 42
                    | 50
                    | 59
                    | 67..=69
                    | 85
                    | 87..=88
                    | 96..=97
                    | 99,
                    _,
                ) => plan(3, 6, 10),
                (80, b'0' | b'8') => plan(3, 8, 8),
                _ => None,
            };
        }
    };
    plan(2, shortest, longest)
}
