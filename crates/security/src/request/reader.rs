//! Reads the blocks of one request: what is in each, and what is to be thought of it.

use std::sync::Arc;

use super::compose::{Blobs, Composer, Unit};
use super::dissect::Block;
use super::groups::{Group, State};
use super::known::{Examined, Known, LONGEST, Verdict};
use super::report::Report;
use super::spots::{spots, spots_in_literal};
use super::{Filter, Refusal, Subject, edits, find, guarded, variants};
use crate::finding::settle;
use crate::flag::Flag;
use crate::injection;
use crate::kind::{Kind, Kinds};
use crate::level::{FailureAction, InjectionAction, Rules};
use crate::scan::{Coverage, Scans};

/// Kinds that are told by their context alone, and are not looked for in identifiers.
pub(super) const TOLD_BY_CONTEXT: Kinds = Kinds::of(&[
    Kind::Person,
    Kind::Address,
    Kind::BirthDate,
    Kind::Location,
    Kind::Organization,
    Kind::PostalCode,
]);

/// A part of the filter failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failure;

/// What one request is read with.
pub(super) struct Reader<'f> {
    pub(super) subject: &'f Subject<'f>,
    pub(super) rules: &'f Rules,
    pub(super) composer: Composer<'f>,
    scans: Scans<'f>,
}

impl<'f> Reader<'f> {
    pub(super) fn new(filter: &'f Filter, subject: &'f Subject<'f>) -> Self {
        let rules = filter.rules(subject.level);
        let scans = Scans::new(&filter.scanner);
        Self { subject, rules, composer: Composer::default(), scans }
    }

    /// What is to be known about the groups of a request; or the place at which the filter failed.
    pub(super) fn examine(&mut self, groups: &[Group<'f>]) -> Result<Vec<Arc<Known>>, String> {
        let mut known = Vec::with_capacity(groups.len());
        for group in groups {
            let mut examined = Vec::new();
            if let State::Fresh(blocks) = &group.state {
                for (i, block) in blocks.iter().enumerate() {
                    examined.push(self.read(block).map_err(|Failure| group.place(i, None))?);
                }
            }
            known.push(group.now_known(examined));
        }
        Ok(known)
    }

    fn read(&mut self, block: &Block<'f>) -> Result<Examined, Failure> {
        let mut known = Examined::default();
        for (i, unit) in block.units().iter().enumerate() {
            self.read_unit(i, unit, block.text, &mut known)?;
        }
        Ok(known)
    }

    /// Reads a unit of a block, whose bytes are `block`.
    pub(super) fn read_unit(
        &mut self,
        i: usize,
        unit: &Unit<'f>,
        block: &str,
        known: &mut Examined,
    ) -> Result<(), Failure> {
        let rules = self.rules;
        let kinds = if unit.words { rules.redact.without(TOLD_BY_CONTEXT) } else { rules.redact };
        let composed = self.composer.compose(unit);
        if composed.unreadable || unit.unreadable {
            known.verdict.unreadable.get_or_insert(i);
            known.verdict.flags.raise(Flag::UnreadableContent);
        }
        if block.len().max(composed.text.len()) > LONGEST {
            return Err(Failure);
        }
        let scanner = &self.scans;
        let scan = |kinds| {
            #[cfg(test)]
            super::tests::fail_if_asked(composed.text, kinds);
            if unit.blobs == Blobs::Sealed {
                return scanner.sealed(composed.text, kinds);
            }
            let mut findings = if unit.joined && composed.starts.len() > 1 {
                find::over_seams(scanner, composed.text, &composed.starts, kinds)
            } else {
                scanner.scan(composed.text, kinds)
            };
            if !composed.quoted.is_empty() {
                find::with_quotes(scanner, composed.text, composed.quoted, kinds, &mut findings);
            }
            if rules.encoded {
                variants::find(scanner, composed.text, kinds, &mut findings);
            }
            findings
        };
        let mut findings = guarded(|| scan(kinds)).or_else(|failure| {
            // Secrets are found or the request is not sent; everything else may be let pass.
            if rules.failure == FailureAction::Close {
                return Err(failure);
            }
            known.verdict.flags.raise(Flag::FilterFailed);
            guarded(|| scan(kinds.without(NOT_SECRET)))
        })?;
        // Nobody knows what is in the rest of a flood of names: the search for secrets has failed.
        if scanner.coverage() == Coverage::Partial {
            return Err(Failure);
        }
        if let Some(origin) = unit.origin.filter(|_| rules.injection != InjectionAction::Off) {
            let score = || {
                #[cfg(test)]
                super::tests::fail_if_asked(composed.text, Kinds::NONE);
                injection::score(composed.text, origin)
            };
            match guarded(score) {
                Ok(score) => known.verdict.suspect(score, i, unit.document),
                Err(failure) if rules.failure == FailureAction::Close => return Err(failure),
                Err(_) => known.verdict.flags.raise(Flag::FilterFailed),
            }
        }
        if !findings.is_empty() {
            settle(&mut findings);
            let mut spots = if let Some(literal) = unit.whole_literal().filter(|_| composed.is_flat)
            {
                spots_in_literal(block, i, literal, composed.text, &findings)
            } else {
                let (text, layout) = self.composer.layout(unit);
                findings = edits::clip(&findings, &layout, text, unit.joined);
                spots(block, i, unit, text, &layout, &findings)
            };
            if findings.iter().any(variants::is_disguised) {
                known.verdict.flags.raise(Flag::EncodedValue);
            }
            match known.findings.is_empty() {
                true => known.findings = spots,
                false => known.findings.append(&mut spots),
            }
        }
        Ok(())
    }

    /// What was noticed.
    pub(super) fn report<'e>(&self, verdicts: impl IntoIterator<Item = &'e Verdict>) -> Report {
        let mut report = Report::default();
        for verdict in verdicts {
            report.flags = report.flags.with(verdict.flags);
            report.injection_score = report.injection_score.max(verdict.suspicion().0);
        }
        report
    }

    /// Why the request must not go, if so.
    pub(super) fn refusal(&self, groups: &[Group<'_>], known: &[Arc<Known>]) -> Option<Refusal> {
        let is_refused = |verdict: &Verdict| {
            verdict.attack(self.rules).is_some() || verdict.refused_unread(self.rules).is_some()
        };
        for (group, known) in groups.iter().zip(known).filter(|(_, k)| is_refused(&k.worst)) {
            for (i, block) in known.blocks.iter().enumerate() {
                let verdict = &block.verdict;
                let place =
                    |unit: usize| group.place(i, group.units(i, block.range.clone()).get(unit));
                if let Some((score, unit)) = verdict.attack(self.rules) {
                    return Some(Refusal::Injection { place: place(unit), score });
                }
                if let Some(unit) = verdict.refused_unread(self.rules) {
                    return Some(Refusal::Unreadable { place: place(unit) });
                }
            }
        }
        None
    }
}

/// Every kind that opens no door.
const NOT_SECRET: Kinds =
    Kinds::of(&Kind::ALL).without(Kinds::of(&[Kind::Secret, Kind::Password, Kind::PrivateKey]));
