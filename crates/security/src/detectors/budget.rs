//! How much the looks at a text may cost.

use std::cell::Cell;

use crate::kind::Kinds;
use crate::names;
use crate::scan::Coverage;

/// What looks that find nothing may cost, in about nanoseconds: some at once, and some for each byte
/// that was passed.
///
/// Real files spend about their share, and personal data that is found costs little. A text made
/// of nothing but what detectors stop at spends all of it: then the rest of it is not looked at, and
/// whoever asked is told.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// The share of 1 KiB.
    per_kib: usize,
    /// What earlier texts of the same request or answer spent beyond their share.
    debt: usize,
    spent: Cell<usize>,
    /// Up to where the text was passed: there are several passes.
    passed: Cell<usize>,
    /// Whether something was left out.
    is_exceeded: Cell<bool>,
}

/// What a number or an address costs that is somebody's: less than it takes, so that lists of a few
/// hundred thousand are read, which no model takes at once.
pub(crate) const COST_OF_A_VALUE: usize = 80;

impl Budget {
    const AT_ONCE: usize = 14 << 20;
    /// The shares are small: what a look is said to cost is about half of what it takes where texts
    /// are made to have looks of all kinds, one beside the other.
    const PER_KIB: usize = 512;
    /// The same where people's names are looked for, which takes longer on any text.
    const PER_KIB_WITH_NAMES: usize = 4608;

    /// What is left for a text in which `kinds` are looked for, where the texts before it have left
    /// `debt`.
    pub(crate) fn new(kinds: Kinds, debt: usize) -> Self {
        let has_names = kinds.intersects(names::KINDS);
        let per_kib = if has_names { Self::PER_KIB_WITH_NAMES } else { Self::PER_KIB };
        Self { per_kib, debt, ..Self::default() }
    }

    /// What so many bytes may cost.
    #[inline]
    fn share(&self, bytes: usize) -> usize {
        self.per_kib * bytes / 1024
    }

    /// Whether there is something left for a look at the byte at `at`.
    #[inline]
    pub(crate) fn has(&self, at: usize) -> bool {
        if at > self.passed.get() {
            self.passed.set(at);
        }
        let share = self.share(self.passed.get());
        let has = self.debt + self.spent.get() <= Self::AT_ONCE + share;
        if !has {
            self.is_exceeded.set(true);
        }
        has
    }

    /// Whether something was left out.
    #[inline]
    pub(crate) fn is_exceeded(&self) -> bool {
        self.is_exceeded.get()
    }

    /// A look was in vain, and took so long.
    #[inline]
    pub(crate) fn spend(&self, nanoseconds: usize) {
        self.spent.set(self.spent.get() + nanoseconds);
    }

    /// How much was looked at of what there was.
    pub(crate) fn coverage(&self) -> Coverage {
        if self.is_exceeded.get() { Coverage::Partial } else { Coverage::Whole }
    }

    /// What was spent on a text of `length` bytes, and on those before it, beyond their share.
    pub(crate) fn debt(&self, length: usize) -> usize {
        (self.debt + self.spent.get()).saturating_sub(self.share(length))
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use sluice_core::level::SecurityLevel;

    use super::*;
    use crate::kind::Kind;
    use crate::level::Rules;
    use crate::scan::{Scanner, ScannerSettings};

    /// What a text of such lines costs beyond its share, where everything is looked for.
    fn debt(line: impl Fn(usize, &mut String)) -> usize {
        let scanner = Scanner::new(&ScannerSettings::default()).unwrap();
        let mut text = String::new();
        for i in 0..2000 {
            line(i * 7919, &mut text);
        }
        let mut debt = 0;
        let coverage = scanner.scan_with(&text, Kinds::of(&Kind::ALL), &mut debt, &mut Vec::new());
        assert_eq!(coverage, Coverage::Whole);
        debt
    }

    #[test]
    fn long_files_of_data_are_read() {
        type Line = fn(usize, &mut String);
        let lines: &[Line] = &[
            |i, out| _ = writeln!(out, "{},{}.{:04},{}", i % 1_000_000, i % 997, i % 9973, i % 89),
            |i, out| _ = write!(out, "-0.{:010},", i * 104_729 % 10_000_000_000),
            |i, out| _ = writeln!(out, "{}", 10_000_000 + i),
            |i, out| {
                let (b, c, d) = (i % 250, i / 3 % 250, i / 7 % 250);
                let time = format!("{:02}:{:02}", i % 24, i % 60);
                _ = writeln!(
                    out,
                    "82.{b}.{c}.{d} - [12/Mar/2024:{time}:07 +0000] \"GET /a\" 200 {i}"
                );
            },
            |i, out| _ = writeln!(out, "ada.m{i}@busy-mill.org"),
            |i, out| _ = writeln!(out, "+49 89 {:04} {:04}", i % 9973, i % 9967),
            |i, out| _ = writeln!(out, "{{\"sha\":\"{:016x}{:016x}\"}}", i * 0x9e37_79b9, i),
            |i, out| _ = writeln!(out, "2031-04-{:02}T11:{:02}:07.123Z INFO done", i % 28, i % 60),
            |i, out| _ = writeln!(out, "    let key{i} = map.get(name).unwrap_or(&default_key);"),
        ];
        for (i, line) in lines.iter().enumerate() {
            // Two thousand lines, of a hundred thousand.
            let debt = debt(line);
            assert!(debt <= Budget::AT_ONCE / 50, "lines of form {i}: {debt}");
        }
    }

    /// So many such lines, of which it is enough to look at a few.
    fn reads_all_of(count: usize, kinds: Kinds, line: impl Fn(usize, &mut String)) -> bool {
        const FEW: usize = 200;
        let scanner = Scanner::new(&ScannerSettings::default()).unwrap();
        let mut text = String::new();
        for i in 0..FEW {
            line(i, &mut text);
        }
        let share = Budget::new(kinds, 0).share(text.len());
        let mut debt = share;
        scanner.scan_with(&text, kinds, &mut debt, &mut Vec::new());
        (debt * count).saturating_sub(share * count) / FEW <= Budget::AT_ONCE
    }

    #[test]
    fn long_files_full_of_secrets_and_names_are_read() {
        type Line = fn(usize, &mut String);
        let lines: &[(usize, Line)] = &[
            (10_000, |i, out| _ = writeln!(out, "MAIL_{i}_API_KEY=k9{:x}Zt", i * 0x9e37_79b9_7f4a)),
            (10_000, |i, out| {
                let token = i * 0x9e37_79b9_7f4a;
                _ = writeln!(out, "2031-04-12T11:09:07Z INFO user={i} token=q{token:x} status=200");
            }),
            (10_000, |i, out| {
                let password = i * 0x9e_3779_b97f;
                _ = writeln!(out, "site{i},https://mill{i}.org/login,ada{i},P{password:x}!");
            }),
            (30_000, |i, out| {
                _ = writeln!(
                    out,
                    "{i},Anna Meier,ada.m{i}@busy-mill.org,+49 89 {:04} {i:04}",
                    i % 9973
                );
            }),
            (20_000, |i, out| {
                let name = ["mail", "cache", "queue"][i % 3];
                _ = write!(
                    out,
                    "\"{name}{i}\":{{\"key\":\"{name}\",\"auth\":{{\"type\":\"basic\"}}}},"
                );
            }),
            (14_000, |i, out| {
                _ = writeln!(
                    out,
                    "    pub fn with_token(mut self, token: impl Into<String>) -> Self {{ // {i}"
                );
            }),
        ];
        for (i, (count, line)) in lines.iter().enumerate() {
            for level in SecurityLevel::ALL {
                let kinds = Rules::of(level).redact;
                assert!(reads_all_of(*count, kinds, line), "lines of form {i} at {level:?}");
            }
        }
    }

    #[test]
    fn what_detectors_stop_at_in_vain_costs_more_than_its_share() {
        for unit in ["password=hunter2secret ", "key=", "Authorization: Bearer ", "Anna Meier "] {
            assert!(debt(|_, out| out.push_str(unit)) > 0, "{unit}");
        }
    }

    #[test]
    fn a_further_pass_has_what_is_left_of_the_whole() {
        let budget = Budget::new(Kinds::NONE, 0);
        assert!(budget.has(10_000_000));
        budget.spend(Budget::AT_ONCE + 1);
        assert!(budget.has(0));
        budget.spend(budget.share(10_000_000));
        assert!(!budget.has(0) && budget.coverage() == Coverage::Partial);
    }
}
