//! Filters a whole request: everything in it that a provider would see is read, what must not leave
//! is replaced, and all other bytes stay as they are.
//!
//! The filter works on the request's bytes and not on its typed view, so that nothing is overlooked
//! for want of a name: every string, name and number of every member is either scanned or listed in
//! [`dissect`] as one that is not sent. From bytes to findings and back:
//!
//! 1. [`groups`]: the request is cut into blocks (a message, a tool, a member), but for stretches of
//!    it that are known from an earlier turn ([`memory`]).
//! 2. [`dissect`]: blocks are cut into units: stretches that are read as one text. Adjacent text
//!    parts of a message are one unit; two messages never are, so that what a turn looks like does
//!    not depend on the next.
//! 3. [`compose`]: a unit becomes a text without escapes, nested JSON and text files included.
//! 4. [`find`]: it is scanned. What was found ([`known`]) is remembered.
//! 5. [`values`], [`spread`]: only where something was found: the same values are looked for in
//!    everything else. This may change an earlier turn when its value is first recognised in a later
//!    one; the alternative were to let it leave.
//! 6. [`edits`]: the findings become edits of the original bytes.
//!
//! Where the rules keep tool results from the model that attack it, all of this is done a second time,
//! with a note in their place ([`withhold`]).

mod cache;
mod compose;
#[cfg(test)]
mod conversations;
mod data_url;
mod dissect;
mod edits;
pub(crate) mod encoding;
mod find;
mod groups;
mod known;
mod label;
#[cfg(test)]
mod leftovers;
mod memory;
mod off;
mod place;
#[cfg(test)]
mod positions;
#[cfg(test)]
mod properties;
mod reach;
mod reader;
mod redact;
mod report;
#[cfg(test)]
mod round_trips;
#[cfg(test)]
mod sealed;
mod spellings;
mod spots;
mod spread;
#[cfg(test)]
mod tests;
mod text;
mod values;
mod variants;
mod withhold;
mod words;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use sluice_core::filtering::FilterAction;
use sluice_core::level::SecurityLevel;
use sluice_core::sealed::SealedPlaces;
use sluice_core::source::{EditedMessages, Source, SourceMember};

use self::groups::Groups;
use self::known::Known;
use self::label::Labels;
use self::memory::{Keys, Memory, is_long};
pub use self::place::places;
use self::reader::{Failure, Reader};
use self::redact::redact;
pub use self::report::Report;
pub use self::text::{FilteredText, FoundInText};
use self::values::Read;
use self::withhold::Withheld;
use crate::flag::Flag;
use crate::kind::{Kind, Kinds};
use crate::level::{Action, InjectionAction, Rules};
use crate::map::RedactionMap;
use crate::scan::{Scanner, ScannerSettings, SettingsProblem};
use crate::surrogate::Surrogates;
use crate::{answer, injection};

/// What a deployment chooses.
#[derive(Debug, Clone)]
pub struct FilterSettings {
    /// What is found.
    pub scanner: ScannerSettings,
    /// What is done about it, level by level as in [`SecurityLevel::ALL`].
    pub rules: [Rules; 3],
    /// Which kinds are replaced by made-up values of the same form; all others by placeholders.
    pub surrogates: Surrogates,
    /// Memory for what is known about the messages of earlier requests; 0 to remember nothing.
    pub cache_bytes: usize,
}

impl Default for FilterSettings {
    fn default() -> Self {
        Self {
            scanner: ScannerSettings::default(),
            rules: SecurityLevel::ALL.map(Rules::of),
            surrogates: Surrogates::default(),
            cache_bytes: 32 << 20,
        }
    }
}

/// The filter of a deployment, shared by all requests, or a stricter one made of it.
pub struct Filter {
    scanner: Arc<Scanner>,
    /// What the scanner was made of.
    settings: ScannerSettings,
    rules: [Rules; 3],
    surrogates: Surrogates,
    secret: [u8; 32],
    memory: Arc<Memory>,
    /// What texts are remembered by: filters that find different things share one memory.
    memory_secret: [u8; 32],
    labels: Labels,
}

/// What some requests have beyond the deployment's settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Additions {
    /// Further terms that are never to leave.
    pub terms: Vec<String>,
    /// Further patterns that are never to leave.
    pub patterns: Vec<String>,
    /// Values that no detector redacts; terms and patterns do.
    pub exceptions: Vec<String>,
    /// Kinds that are redacted at every level.
    pub redact: Kinds,
}

impl Additions {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Everything that is wrong with them.
    pub fn problems(&self) -> Vec<SettingsProblem> {
        Scanner::problems(&self.settings_with(&ScannerSettings::default()))
    }

    fn settings_with(&self, base: &ScannerSettings) -> ScannerSettings {
        let both = |base: &[String], more: &[String]| [base, more].concat();
        ScannerSettings {
            terms: both(&base.terms, &self.terms),
            patterns: both(&base.patterns, &self.patterns),
            allow: base.allow.clone(),
            exceptions: both(&base.exceptions, &self.exceptions),
        }
    }
}

/// Whose request it is, and how strictly it is read.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The account: placeholders are its own, and so is what is remembered.
    pub account: &'a str,
    /// The strictest of the levels that apply.
    pub level: SecurityLevel,
    /// Nothing is remembered.
    pub zero_retention: bool,
    /// Where an assistant's turn may hold what goes back to the provider that sealed it. There, only
    /// tokens are looked for that are told by their form for certain: a provider refuses what was
    /// changed.
    pub sealed: SealedPlaces,
}

/// What is done about attacks while a request is filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attacks {
    /// What the rules say.
    Sought,
    /// Nothing more: those that the rules keep from the model are no longer in the request.
    Withheld,
}

/// A request that may go.
#[derive(Debug)]
pub struct Filtered {
    /// All members of the request as they are to be sent; `None` where nothing was changed.
    pub members: Option<Vec<SourceMember>>,
    /// Which messages were changed; `None` where something else was, too.
    pub messages: Option<EditedMessages>,
    /// What stands for what, to restore the answer.
    pub map: RedactionMap,
    /// What was replaced, in the request's order.
    pub found: Vec<Found>,
    /// What was done.
    pub report: Report,
}

/// A stretch of a request that was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Index of the member of the request that it is in.
    pub member: usize,
    /// Where in the member's value it stood: its beginning, or that of the payload it was encoded in.
    pub at: usize,
    /// What it is.
    pub kind: Kind,
    /// Which rule found it.
    pub rule: &'static str,
    /// What stands there instead: the number of a redaction in the map.
    pub redaction: usize,
}

/// A request that must not go.
#[derive(Debug, thiserror::Error)]
#[error("{refusal}")]
pub struct Refused {
    /// Why.
    pub refusal: Refusal,
    /// What is known about it. It counts no redactions, since nothing is sent.
    pub report: Box<Report>,
    /// What would have been replaced, in the request's order, as far as that is known.
    pub found: Vec<Found>,
    /// What would have stood for what.
    pub map: Box<RedactionMap>,
}

/// Why a request must not go. Places are named, contents never.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// It looks like an attack on the model.
    #[error("{place} looks like an attack on the model (score {score:.3})")]
    Injection {
        /// Where: `messages[3].content`.
        place: String,
        /// How much.
        score: f32,
    },
    /// It has a part that cannot be read, and the level does not let such parts pass.
    #[error("{place} cannot be read, and this security level lets only pass what was read")]
    Unreadable {
        /// Where: `messages[3].content[1]`.
        place: String,
    },
    /// The filter failed, and the level does not let pass what was not read.
    #[error("the security filter failed on {place}")]
    Failed {
        /// Where: `messages[3]`, or `the request`.
        place: String,
    },
}

impl Filter {
    /// A filter; `secret` is the deployment's own, and makes its placeholders.
    pub fn new(settings: &FilterSettings, secret: [u8; 32]) -> Result<Self, SettingsProblem> {
        // Nearly every request needs these tables, and the first one should not wait for them.
        if settings.rules.iter().any(|rules| rules.injection != InjectionAction::Off) {
            injection::warm();
        }
        if settings.rules.iter().any(|rules| rules.answer != Action::Off) {
            answer::warm();
        }
        Ok(Self {
            scanner: Arc::new(Scanner::new(&settings.scanner)?),
            settings: settings.scanner.clone(),
            rules: settings.rules,
            surrogates: settings.surrogates,
            secret,
            memory: Arc::new(Memory::new(settings.cache_bytes)),
            memory_secret: secret,
            labels: Labels::default(),
        })
    }

    /// The same filter with more to look for. Placeholders are the same, and what is remembered takes
    /// no further room.
    pub fn with(&self, more: &Additions) -> Result<Self, SettingsProblem> {
        let settings = more.settings_with(&self.settings);
        let mut rules = self.rules;
        for level in &mut rules {
            level.redact = level.redact.with(more.redact);
        }
        let mut hasher = blake3::Hasher::new_keyed(&self.memory_secret);
        hasher.update(&more.redact.bits().to_le_bytes());
        for list in [&more.terms, &more.patterns, &more.exceptions] {
            hasher.update(&(list.len() as u64).to_le_bytes());
            for text in list {
                hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
            }
        }
        Ok(Self {
            scanner: Arc::new(Scanner::new(&settings)?),
            settings,
            rules,
            surrogates: self.surrogates,
            secret: self.secret,
            memory: self.memory.clone(),
            memory_secret: *hasher.finalize().as_bytes(),
            labels: Labels::default(),
        })
    }

    /// What finds values, for the way back.
    pub fn scanner(&self) -> &Arc<Scanner> {
        &self.scanner
    }

    /// What `level` stands for in this deployment.
    pub fn rules(&self, level: SecurityLevel) -> &Rules {
        let [standard, high, maximum] = &self.rules;
        match level {
            SecurityLevel::Standard => standard,
            SecurityLevel::High => high,
            SecurityLevel::Maximum => maximum,
        }
    }

    /// Filters a request. Fails where the rules of its level do not let it go; that includes every
    /// failure of the filter itself that leaves something unread.
    pub fn request(&self, source: &Source, subject: &Subject<'_>) -> Result<Filtered, Refused> {
        let whole = || failed("the request".to_owned(), Report::default());
        guarded(|| self.filter(source, subject, Attacks::Sought)).unwrap_or_else(|_| Err(whole()))
    }

    fn filter(
        &self,
        source: &Source,
        subject: &Subject<'_>,
        attacks: Attacks,
    ) -> Result<Filtered, Refused> {
        if off::looks_for_nothing(self.rules(subject.level)) && !off::may_be_unreadable(source) {
            return Ok(Filtered::unchanged(Report::default()));
        }
        let mut reader = Reader::new(self, subject);
        // Nothing of a short request is remembered.
        let keys = (!subject.zero_retention && self.memory.has_room())
            .then_some(&source.members)
            .filter(|members| members.iter().any(is_long))
            .map(|_| Keys::new(&self.memory_secret, subject));
        let memory = keys.as_ref().map(|keys| (&*self.memory, keys));
        let Groups { groups, stretches, .. } = Groups::of(source, subject.sealed, memory);
        let known = match reader.examine(&groups) {
            Ok(known) => known,
            Err(place) => return Err(failed(place, Report::default())),
        };
        if let Some((memory, _)) = memory {
            for stretch in &stretches {
                stretch.remember(memory, &groups, &known);
            }
        }
        let mut report = reader.report(known.iter().map(|known| &known.worst));
        let refusal = match attacks {
            Attacks::Sought => reader.refusal(&groups, &known),
            Attacks::Withheld => None,
        };
        let withholds = |known: &Arc<Known>| known.worst.withholds_any(reader.rules);
        if attacks == Attacks::Sought && refusal.is_none() && known.iter().any(withholds) {
            let withheld = Withheld::of(source, &groups, &known);
            let filtered = self.filter(&withheld.source, subject, Attacks::Withheld)?;
            return Ok(withheld.with(filtered, report));
        }
        let filtered = if known.iter().any(|known| !known.findings.is_empty()) {
            let read = Read { groups, stretches, known, memory };
            redact(self, subject, source, &read, &mut reader.composer, report.clone())
        } else {
            Ok(Filtered::unchanged(report.clone()))
        };
        if let Some(refusal) = refusal {
            report.action = FilterAction::Block;
            let (found, map) = match filtered {
                Ok(Filtered { found, map, .. }) => (found, Box::new(map)),
                Err(Failure) => Default::default(),
            };
            return Err(Refused { refusal, report: Box::new(report), found, map });
        }
        filtered.map_err(|Failure| failed("the request".to_owned(), Report::default()))
    }
}

impl Filtered {
    fn unchanged(report: Report) -> Self {
        let map = RedactionMap::default();
        Self { members: None, messages: None, map, found: Vec::new(), report }
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter").field("rules", &self.rules).finish_non_exhaustive()
    }
}

fn failed(place: String, mut report: Report) -> Refused {
    report.action = FilterAction::Block;
    report.flags.raise(Flag::FilterFailed);
    let (refusal, report) = (Refusal::Failed { place }, Box::new(report));
    Refused { refusal, report, found: Vec::new(), map: Box::default() }
}

/// Runs a part of the filter. None is known to panic; if one does, that is a failure of that part
/// and not the end of the request.
pub(crate) fn guarded<T>(part: impl FnOnce() -> T) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(part)).map_err(|_| Failure)
}

/// Where `inner`, a slice of `outer`, begins in it.
fn offset_in(outer: &str, inner: &str) -> usize {
    (inner.as_ptr() as usize).wrapping_sub(outer.as_ptr() as usize)
}
