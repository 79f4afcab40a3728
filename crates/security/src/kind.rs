//! The kinds of things that are found: one table.

use std::fmt;

/// What a found value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A token, an API key, a signed credential.
    Secret,
    /// A password or passphrase.
    Password,
    /// A private key.
    PrivateKey,
    /// An e-mail address.
    Email,
    /// A phone number.
    Phone,
    /// A payment card's number.
    Card,
    /// A social security or other national identity number.
    NationalId,
    /// An international bank account number.
    Iban,
    /// A public IPv4 or IPv6 address.
    IpAddress,
    /// A network interface's address.
    Mac,
    /// One of the deployment's own terms or patterns: names of customers, projects.
    Term,
    /// A person's name.
    Person,
    /// A postal address.
    Address,
    /// A date of birth.
    BirthDate,
    /// A driving licence's or passport's number.
    Licence,
    /// A number of a patient, an insured person or a medical record.
    MedicalId,
    /// A place.
    Location,
    /// A company, an authority, an association.
    Organization,
    /// A postal code on its own.
    PostalCode,
    /// An address of a private network.
    PrivateIp,
}

impl Kind {
    /// Every kind, in the order of their placeholders' codes in [`Kind::code`].
    pub const ALL: [Self; 20] = [
        Self::Secret,
        Self::Password,
        Self::PrivateKey,
        Self::Email,
        Self::Phone,
        Self::Card,
        Self::NationalId,
        Self::Iban,
        Self::IpAddress,
        Self::Mac,
        Self::Term,
        Self::Person,
        Self::Address,
        Self::BirthDate,
        Self::Licence,
        Self::MedicalId,
        Self::Location,
        Self::Organization,
        Self::PostalCode,
        Self::PrivateIp,
    ];

    /// The word in headers, records and the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Password => "password",
            Self::PrivateKey => "private_key",
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Card => "card",
            Self::NationalId => "national_id",
            Self::Iban => "iban",
            Self::IpAddress => "ip_address",
            Self::Mac => "mac_address",
            Self::Term => "term",
            Self::Person => "person",
            Self::Address => "address",
            Self::BirthDate => "birth_date",
            Self::Licence => "licence",
            Self::MedicalId => "medical_id",
            Self::Location => "location",
            Self::Organization => "organization",
            Self::PostalCode => "postal_code",
            Self::PrivateIp => "private_ip",
        }
    }

    /// The kind that a word in the configuration stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// The four letters by which a placeholder tells a model what it stands for. None has a `Q`,
    /// which only begins a placeholder.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Secret => "SECR",
            Self::Password => "PASS",
            Self::PrivateKey => "PKEY",
            Self::Email => "MAIL",
            Self::Phone => "PHON",
            Self::Card => "CARD",
            Self::NationalId => "NTID",
            Self::Iban => "IBAN",
            Self::IpAddress => "IPAD",
            Self::Mac => "MACA",
            Self::Term => "TERM",
            Self::Person => "PERS",
            Self::Address => "ADDR",
            Self::BirthDate => "BRTH",
            Self::Licence => "LICN",
            Self::MedicalId => "MEDI",
            Self::Location => "LOCN",
            Self::Organization => "ORGN",
            Self::PostalCode => "ZIPC",
            Self::PrivateIp => "IPPR",
        }
    }

    /// Whether it opens a door, as against telling something about a person or a network.
    pub const fn is_secret(self) -> bool {
        matches!(self, Self::Secret | Self::Password | Self::PrivateKey)
    }

    const fn bit(self) -> u32 {
        1 << self as u8
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of kinds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Kinds(u32);

impl Kinds {
    /// No kind.
    pub const NONE: Self = Self(0);

    /// The kinds of `list`.
    pub const fn of(list: &[Kind]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < list.len() {
            bits |= list[i].bit();
            i += 1;
        }
        Self(bits)
    }

    /// Both sets together.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This set without the other's kinds.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether `kind` is in the set.
    pub const fn contains(self, kind: Kind) -> bool {
        self.0 & kind.bit() != 0
    }

    /// Whether any kind of `other` is in the set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the set has no kind.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The set as bits: a part of cache keys.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The kinds of the set.
    pub fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }
}

impl fmt::Debug for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_codes_are_unique_and_fit_a_placeholder() {
        for (i, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, i);
            assert_eq!(Kind::parse(kind.as_str()), Some(kind));
            let code = kind.code();
            assert!(code.len() == 4 && code.bytes().all(|b| b.is_ascii_uppercase() && b != b'Q'));
            let same = Kind::ALL.into_iter().filter(|other| other.code() == code);
            assert_eq!(same.count(), 1, "{code}");
        }
    }
}
