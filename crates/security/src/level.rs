//! What happens at which level: the one table.

use sluice_core::level::SecurityLevel;

use crate::kind::{Kind, Kinds};

/// What to do about something that was noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Do not look for it.
    Off,
    /// Let it pass and say so.
    Flag,
    /// Keep that part back and say so.
    Withhold,
    /// Refuse the request, or end the answer with `content_filter`.
    Block,
}

/// What to do about text that looks like an attack on the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectionAction {
    /// Do not look for it.
    Off,
    /// Let it pass and say so.
    Flag,
    /// Refuse where a tool result or a document scores above the strict threshold; else flag.
    BlockStrict,
    /// Keep tool results and documents from the model that pass the usual threshold: a note stands in
    /// their place, and the request goes on. Refuse where the caller's own text passes the strict one.
    Withhold,
    /// Refuse wherever the usual threshold is passed.
    Block,
}

/// What to do about parts that cannot be read: images, audio, files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadableAction {
    /// Let them pass and say so.
    Flag,
    /// Refuse the request.
    Refuse,
}

/// What to do when the filter itself fails on a part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureAction {
    /// Refuse when the search for secrets failed; log everything else and go on.
    CloseForSecrets,
    /// Refuse.
    Close,
}

/// Everything that a level stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// What is redacted.
    pub redact: Kinds,
    /// Whether values hidden in base64, URL encoding, zero-width characters or homoglyphs are looked
    /// for.
    pub encoded: bool,
    /// Attacks in the request.
    pub injection: InjectionAction,
    /// A new secret, or an attempt to send something out, in the answer.
    pub answer: Action,
    /// Parts that cannot be read.
    pub unreadable: UnreadableAction,
    /// Failures of the filter itself.
    pub failure: FailureAction,
}

/// What `standard` redacts.
const STANDARD: Kinds = Kinds::of(&[
    Kind::Secret,
    Kind::Password,
    Kind::PrivateKey,
    Kind::Email,
    Kind::Phone,
    Kind::Card,
    Kind::NationalId,
    Kind::Iban,
    Kind::IpAddress,
    Kind::Mac,
    Kind::Term,
]);

/// What `high` redacts beyond that.
const HIGH: Kinds =
    Kinds::of(&[Kind::Person, Kind::Address, Kind::BirthDate, Kind::Licence, Kind::MedicalId]);

/// What `maximum` redacts beyond that.
const MAXIMUM: Kinds =
    Kinds::of(&[Kind::Location, Kind::Organization, Kind::PostalCode, Kind::PrivateIp]);

/// What is looked for in answers, at every level. Names, places and organisations are what most
/// answers are about: they are not leaks. Neither are the addresses of private networks, nor a
/// deployment's own terms, which whoever asks may know.
pub(crate) const NEW_IN_ANSWERS: Kinds =
    STANDARD.without(Kinds::of(&[Kind::Term])).with(Kinds::of(&[Kind::Licence, Kind::MedicalId]));

impl Rules {
    /// The documented rules of `level`.
    pub const fn of(level: SecurityLevel) -> Self {
        match level {
            SecurityLevel::Standard => Self {
                redact: STANDARD,
                encoded: false,
                injection: InjectionAction::Flag,
                answer: Action::Flag,
                unreadable: UnreadableAction::Flag,
                failure: FailureAction::CloseForSecrets,
            },
            SecurityLevel::High => Self {
                redact: STANDARD.with(HIGH),
                encoded: true,
                injection: InjectionAction::BlockStrict,
                answer: Action::Withhold,
                unreadable: UnreadableAction::Flag,
                failure: FailureAction::Close,
            },
            SecurityLevel::Maximum => Self {
                redact: STANDARD.with(HIGH).with(MAXIMUM),
                encoded: true,
                injection: InjectionAction::Withhold,
                answer: Action::Block,
                unreadable: UnreadableAction::Refuse,
                failure: FailureAction::Close,
            },
        }
    }
}
