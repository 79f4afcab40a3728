//! Reads the blocks of one request: what is in each, and what is to be thought of it.

use std::sync::Arc;

use super::cache::Weight;
use super::compose::{Composer, Unit};
use super::dissect::Block;
use super::memory::{Group, Keys};
use super::report::Report;
use super::{Filter, Refusal, Subject, edits, find, guarded, variants};
use crate::finding::{Finding, settle};
use crate::flag::{Flag, Flags};
use crate::injection;
use crate::kind::{Kind, Kinds};
use crate::level::{FailureAction, InjectionAction, Rules, UnreadableAction};
use crate::scan::{Coverage, Scans};

/// What is known about a block: places in its units' texts, never their content.
#[derive(Debug, Default)]
pub(super) struct Examined {
    /// In order, without overlaps, within what can be replaced. The first number is the unit's.
    pub(super) findings: Vec<(usize, Finding)>,
    pub(super) flags: Flags,
    /// The unit that cannot be read.
    unreadable: Option<usize>,
    /// The highest score, and the unit that has it.
    pub(super) suspicion: (f32, usize),
    /// The same among tool results and documents.
    strict_suspicion: (f32, usize),
}

impl Weight for Vec<Arc<Examined>> {
    fn weight(&self) -> usize {
        let findings: usize = self.iter().map(|known| known.findings.capacity()).sum();
        self.len() * (size_of::<Examined>() + 3 * size_of::<usize>())
            + findings * size_of::<(usize, Finding)>()
    }
}

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
    pub(super) filter: &'f Filter,
    pub(super) subject: &'f Subject<'f>,
    pub(super) rules: &'f Rules,
    pub(super) composer: Composer,
    scans: Scans<'f>,
    /// What blocks are remembered by; `None` where nothing is remembered.
    pub(super) keys: Option<Keys>,
}

impl<'f> Reader<'f> {
    pub(super) fn new(filter: &'f Filter, subject: &'f Subject<'f>) -> Self {
        let rules = filter.rules(subject.level);
        let is_costly = rules.encoded || rules.redact.intersects(TOLD_BY_CONTEXT);
        let keys = (!subject.zero_retention && filter.memory.has_room())
            .then(|| Keys::new(&filter.secret, subject, is_costly));
        let scans = Scans::new(&filter.scanner);
        Self { filter, subject, rules, composer: Composer::default(), scans, keys }
    }

    /// What is to be known about all blocks of a request, group by group; or the block on which the
    /// filter failed.
    pub(super) fn examine(
        &mut self,
        blocks: &[Block<'_>],
        groups: &[Group],
    ) -> Result<Vec<Arc<Examined>>, usize> {
        let mut examined = Vec::with_capacity(blocks.len());
        for group in groups {
            if let Some(known) = group.key.and_then(|key| self.filter.memory.examined(key)) {
                examined.extend(known.iter().map(Arc::clone));
                continue;
            }
            let from = examined.len();
            for (i, block) in blocks.iter().enumerate().take(group.blocks.end).skip(from) {
                examined.push(self.examine_block(block, group).map_err(|Failure| i)?);
            }
            let known = examined.get(from..).unwrap_or_default();
            if let Some(key) = group.key
                && known.iter().all(|known| known.is_lasting())
            {
                self.filter.memory.remember(key, known.to_vec());
            }
        }
        Ok(examined)
    }

    /// What is to be known about one block of a group that is not known as a whole. Its end may be,
    /// from when the group was not complete.
    fn examine_block(
        &mut self,
        block: &Block<'_>,
        group: &Group,
    ) -> Result<Arc<Examined>, Failure> {
        if group.blocks.len() > 1
            && let Some(key) = self.keys.as_ref().and_then(|keys| keys.of_block(block))
            && let Some(known) = self.filter.memory.examined(key)
            && let [known] = known.as_slice()
        {
            return Ok(Arc::clone(known));
        }
        self.read(block).map(Arc::new)
    }

    fn read(&mut self, block: &Block<'_>) -> Result<Examined, Failure> {
        let mut known = Examined::default();
        for (i, unit) in block.units().iter().enumerate() {
            self.read_unit(i, unit, &mut known)?;
        }
        Ok(known)
    }

    pub(super) fn read_unit(
        &mut self,
        i: usize,
        unit: &Unit<'_>,
        known: &mut Examined,
    ) -> Result<(), Failure> {
        let rules = self.rules;
        let kinds = if unit.words { rules.redact.without(TOLD_BY_CONTEXT) } else { rules.redact };
        let composed = self.composer.compose(unit);
        if composed.unreadable || unit.unreadable {
            known.unreadable.get_or_insert(i);
            known.flags.raise(Flag::UnreadableContent);
        }
        let scanner = &self.scans;
        let scan = |kinds| {
            #[cfg(test)]
            super::tests::fail_if_asked(composed.text, kinds);
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
            known.flags.raise(Flag::FilterFailed);
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
                Ok(score) => known.suspect(score, i, unit.document),
                Err(failure) if rules.failure == FailureAction::Close => return Err(failure),
                Err(_) => known.flags.raise(Flag::FilterFailed),
            }
        }
        if !findings.is_empty() {
            settle(&mut findings);
            let (text, layout) = self.composer.layout(unit);
            let findings = edits::clip(&findings, &layout, text, unit.joined);
            if findings.iter().any(variants::is_disguised) {
                known.flags.raise(Flag::EncodedValue);
            }
            known.findings.extend(findings.into_iter().map(|finding| (i, finding)));
        }
        Ok(())
    }

    /// What was noticed.
    pub(super) fn report<'e>(&self, examined: impl IntoIterator<Item = &'e Examined>) -> Report {
        let mut report = Report::default();
        for known in examined {
            report.flags = report.flags.with(known.flags);
            report.injection_score = report.injection_score.max(known.suspicion.0);
        }
        report
    }

    /// Why the request must not go, if so.
    pub(super) fn refusal(
        &self,
        blocks: &[Block<'_>],
        examined: &[Arc<Examined>],
    ) -> Option<Refusal> {
        for (block, known) in blocks.iter().zip(examined) {
            let refused = known.refused(self.rules);
            if let Some((score, unit)) = refused {
                let place = block.place(Some(unit));
                return Some(Refusal::Injection { place, score });
            }
            if let Some(unit) = known.unreadable
                && self.rules.unreadable == UnreadableAction::Refuse
            {
                return Some(Refusal::Unreadable { place: block.place(Some(unit)) });
            }
        }
        None
    }
}

impl Examined {
    /// The score for which, and the unit in which, the rules refuse an attack.
    fn refused(&self, rules: &Rules) -> Option<(f32, usize)> {
        match rules.injection {
            InjectionAction::Off | InjectionAction::Flag => None,
            InjectionAction::BlockStrict => {
                Some(self.strict_suspicion).filter(|(score, _)| *score >= injection::STRICT)
            }
            InjectionAction::Block => {
                Some(self.suspicion).filter(|(score, _)| *score >= injection::USUAL)
            }
        }
    }

    /// Whether the rules refuse an attack.
    pub(super) fn is_refused(&self, rules: &Rules) -> bool {
        self.refused(rules).is_some()
    }

    /// Whether it would be the same the next time.
    fn is_lasting(&self) -> bool {
        !self.flags.contains(Flag::FilterFailed)
    }

    fn suspect(&mut self, score: f32, unit: usize, document: bool) {
        if score >= injection::USUAL {
            self.flags.raise(Flag::PromptInjection);
        }
        if score > self.suspicion.0 {
            self.suspicion = (score, unit);
        }
        if document && score > self.strict_suspicion.0 {
            self.strict_suspicion = (score, unit);
        }
    }
}

/// Every kind that opens no door.
const NOT_SECRET: Kinds =
    Kinds::of(&Kind::ALL).without(Kinds::of(&[Kind::Secret, Kind::Password, Kind::PrivateKey]));
