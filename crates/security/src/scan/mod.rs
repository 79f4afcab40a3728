//! Finds everything in a text, in one pass.
//!
//! Ordinary text has next to nothing to find, so what costs is to see that. [`pass`] looks for hints
//! at many times the speed of an automaton: [`masks`] turns each block of 64 bytes into bits, with the
//! widest instructions that the processor has, [`grams`] finds words by their letters, and [`hints`]
//! derives places by arithmetic (an `@`, dense digits, dotted quads, groups of colons, long words with
//! a digit). Only there a detector looks at the text, forwards and backwards within bounds, so that no
//! text costs more than a fixed multiple of its length.

mod grams;
mod hints;
mod labels;
mod masks;
mod pass;
mod settings;
#[cfg(test)]
pub(crate) mod tests;
mod uuid;

use std::cell::Cell;

use fearless_simd::Level;

use crate::detectors::Budget;
use crate::detectors::personal::labelled;
use crate::detectors::secrets::{Look, Secrets, retain_unpublished};
use crate::detectors::table::Last;
use crate::detectors::terms::Terms;
use crate::finding::{Finding, settle};
use crate::kind::{Kind, Kinds};
use crate::names;
use labels::Labels;
use pass::Pass;
pub use settings::{ScannerSettings, SettingsProblem};

/// Finds everything in a text, in one pass.
#[derive(Debug)]
pub struct Scanner {
    /// The widest instructions that the processor has.
    level: Level,
    secrets: Secrets,
    labels: Labels,
    terms: Terms,
}

impl Scanner {
    /// A scanner with a deployment's own terms and patterns.
    pub fn new(settings: &ScannerSettings) -> Result<Self, SettingsProblem> {
        let (secrets, labels) = (Secrets::new(), Labels::new());
        Ok(Self { level: Level::new(), secrets, labels, terms: Terms::new(settings)? })
    }

    /// Everything that keeps a scanner from being made of `settings`.
    pub fn problems(settings: &ScannerSettings) -> Vec<SettingsProblem> {
        Terms::problems(settings)
    }

    /// Everything of `kinds` in `text`: in order, without overlaps.
    pub fn scan(&self, text: &str, kinds: Kinds) -> Vec<Finding> {
        let mut findings = Vec::new();
        self.scan_into(text, kinds, &mut findings);
        findings
    }

    /// [`Self::scan`] into a list that is used again; what was in it goes.
    pub fn scan_into(&self, text: &str, kinds: Kinds, findings: &mut Vec<Finding>) -> Coverage {
        self.scan_with(text, kinds, &mut 0, findings)
    }

    /// [`Self::scan_into`], with what earlier texts cost beyond their share.
    pub(crate) fn scan_with(
        &self,
        text: &str,
        kinds: Kinds,
        debt: &mut usize,
        findings: &mut Vec<Finding>,
    ) -> Coverage {
        findings.clear();
        let budget = Budget::new(kinds, *debt);
        let look = kinds.iter().any(Kind::is_secret).then(|| self.secrets.look(text, &budget));
        let look = Pass::new(text, kinds, look, &budget, findings).run(self.level);
        if !budget.is_exceeded() {
            self.others(text, kinds, look, &budget, findings);
        }
        findings.retain(|finding| kinds.contains(finding.kind));
        self.terms.retain_not_allowed(text, findings);
        settle(findings);
        // Last: a part of such a value is none either.
        retain_unpublished(text, findings);
        *debt = budget.debt(text.len());
        budget.coverage()
    }

    /// Secrets in what a provider sealed, one value a line: only those that cannot be there by chance.
    pub(crate) fn sealed(&self, text: &str, kinds: Kinds) -> Vec<Finding> {
        let mut findings = Vec::new();
        if kinds.contains(Kind::Secret) {
            self.secrets.sealed(text, &mut findings);
            retain_unpublished(text, &mut findings);
        }
        findings
    }

    /// What has a pass of its own.
    fn others<'t>(
        &'t self,
        text: &'t str,
        kinds: Kinds,
        look: Option<Look<'t>>,
        budget: &Budget,
        findings: &mut Vec<Finding>,
    ) {
        if let Some(mut look) = look {
            self.secrets.rare(&mut look, findings);
        }
        if kinds.intersects(LABELLED) {
            let mut table = Last::default();
            self.labels.each(self.level, text, |at| {
                if budget.has(at) {
                    budget.spend(labelled::confirm(text, at, kinds, &mut table, findings));
                }
            });
        }
        if kinds.intersects(NAMES) {
            names::find_within(text, kinds, budget, findings);
        }
        if kinds.contains(Kind::Term) {
            self.terms.find(text, findings);
        }
    }
}

/// How much of a text was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// Everything.
    Whole,
    /// The text has so much that detectors stop at in vain that all of it would cost too much. What
    /// follows was not looked at.
    Partial,
}

/// Scans of one request: together they may cost so much, and either all of them saw everything or
/// the request was not read.
#[derive(Debug)]
pub(crate) struct Scans<'s> {
    scanner: &'s Scanner,
    debt: Cell<usize>,
    coverage: Cell<Coverage>,
}

impl<'s> Scans<'s> {
    pub(crate) fn new(scanner: &'s Scanner) -> Self {
        Self { scanner, debt: Cell::new(0), coverage: Cell::new(Coverage::Whole) }
    }

    /// [`Scanner::scan`].
    pub(crate) fn scan(&self, text: &str, kinds: Kinds) -> Vec<Finding> {
        let (mut findings, mut debt) = (Vec::new(), self.debt.get());
        if self.scanner.scan_with(text, kinds, &mut debt, &mut findings) == Coverage::Partial {
            self.coverage.set(Coverage::Partial);
        }
        self.debt.set(debt);
        findings
    }

    /// [`Scanner::sealed`].
    pub(crate) fn sealed(&self, text: &str, kinds: Kinds) -> Vec<Finding> {
        self.scanner.sealed(text, kinds)
    }

    /// How much was looked at of all texts so far.
    pub(crate) fn coverage(&self) -> Coverage {
        self.coverage.get()
    }
}

/// Kinds that words and their order tell.
const NAMES: Kinds = Kinds::of(&[Kind::Person, Kind::Address, Kind::Location, Kind::Organization]);
/// Kinds that a word before them tells.
const LABELLED: Kinds =
    Kinds::of(&[Kind::BirthDate, Kind::Licence, Kind::MedicalId, Kind::PostalCode]);
