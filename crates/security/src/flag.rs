//! What the filter noticed, in the words of the header `svc-security-flags`: one table.

use std::fmt;

use sluice_core::filtering::FilterRecord;

/// Something that the filter noticed in a request or an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Flag {
    /// The request holds text that looks like an attack on the model.
    PromptInjection,
    /// The request holds a part that cannot be read: an image, audio, a file.
    UnreadableContent,
    /// The request holds a value in disguise: base64, URL encoding, zero-width characters, homoglyphs.
    EncodedValue,
    /// The answer holds a secret that was not in the request.
    SecretInAnswer,
    /// The answer holds personal data that was not in the request.
    PersonalDataInAnswer,
    /// The answer would send a value to a host that the request did not name.
    Exfiltration,
    /// The answer holds a command or code that does harm when it runs.
    DangerousCommand,
    /// The answer follows an attack that was in the request.
    InjectionObeyed,
    /// The filter itself failed on a part.
    FilterFailed,
}

impl Flag {
    /// Every flag, in the order in which they are written.
    pub const ALL: [Self; 9] = [
        Self::PromptInjection,
        Self::UnreadableContent,
        Self::EncodedValue,
        Self::SecretInAnswer,
        Self::PersonalDataInAnswer,
        Self::Exfiltration,
        Self::DangerousCommand,
        Self::InjectionObeyed,
        Self::FilterFailed,
    ];

    /// The word in headers and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PromptInjection => "prompt_injection",
            Self::UnreadableContent => "unreadable_content",
            Self::EncodedValue => "encoded_value",
            Self::SecretInAnswer => "secret_in_answer",
            Self::PersonalDataInAnswer => "personal_data_in_answer",
            Self::Exfiltration => "exfiltration",
            Self::DangerousCommand => "dangerous_command",
            Self::InjectionObeyed => "injection_obeyed",
            Self::FilterFailed => FilterRecord::FAILED,
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of flags. It is written as a comma list in the flags' fixed order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Flags(u16);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);

    /// Adds `flag`.
    pub const fn raise(&mut self, flag: Flag) {
        self.0 |= flag.bit();
    }

    /// Both sets together.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether `flag` is in the set.
    pub const fn contains(self, flag: Flag) -> bool {
        self.0 & flag.bit() != 0
    }

    /// Whether the set has no flag.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The flags of the set, in their fixed order.
    pub fn iter(self) -> impl Iterator<Item = Flag> {
        Flag::ALL.into_iter().filter(move |flag| self.contains(*flag))
    }
}

impl FromIterator<Flag> for Flags {
    fn from_iter<T: IntoIterator<Item = Flag>>(flags: T) -> Self {
        let mut set = Self::NONE;
        for flag in flags {
            set.raise(flag);
        }
        set
    }
}

impl From<Flag> for Flags {
    fn from(flag: Flag) -> Self {
        Self(flag.bit())
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, flag) in self.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma}{flag}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_written_in_a_fixed_order() {
        let mut flags = Flags::from(Flag::FilterFailed);
        flags.raise(Flag::Exfiltration);
        flags.raise(Flag::Exfiltration);
        assert_eq!(flags.to_string(), "exfiltration,filter_failed");
        assert_eq!(flags.with(Flags::from(Flag::PromptInjection)).iter().count(), 3);
        assert_eq!(Flags::NONE.to_string(), "");
        assert!(Flags::NONE.is_empty() && !flags.contains(Flag::PromptInjection));
        assert_eq!(Flag::ALL.into_iter().collect::<Flags>().iter().count(), Flag::ALL.len());
        for (i, flag) in Flag::ALL.into_iter().enumerate() {
            assert_eq!(flag as usize, i);
        }
    }
}
