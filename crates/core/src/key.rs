//! Classes of keys and tiers of accounts, with the documented figures.

use serde::{Deserialize, Serialize};

/// What a key is for; sets its requests an hour and tokens a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyClass {
    /// 1 000 requests an hour, 10 000 tokens a day.
    Development,
    /// 10 000 requests an hour, 1 000 000 tokens a day.
    Production,
    /// Unlimited (fair use).
    Enterprise,
}

impl KeyClass {
    /// Every class.
    pub const ALL: [Self; 3] = [Self::Development, Self::Production, Self::Enterprise];

    /// The word in records and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Development => "development",
            Self::Production => "production",
            Self::Enterprise => "enterprise",
        }
    }

    /// The class that a word stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == word)
    }
}

/// What an account has paid for; sets limits for all its keys together, and its model suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccountTier {
    /// 100 requests an hour, 10 000 tokens a day, 10 at once, basic models.
    Lowest,
    /// 1 000 requests an hour, 100 000 tokens a day, 50 at once, the standard suite.
    Middle,
    /// 10 000 requests an hour, 1 000 000 tokens a day, 200 at once, everything.
    Highest,
}

impl AccountTier {
    /// Every tier.
    pub const ALL: [Self; 3] = [Self::Lowest, Self::Middle, Self::Highest];

    /// The word in records and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lowest => "lowest",
            Self::Middle => "middle",
            Self::Highest => "highest",
        }
    }

    /// The tier that a word stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tier| tier.as_str() == word)
    }
}

/// Which models a tier may use. A larger suite holds the smaller ones.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Suite {
    /// Every tier.
    Basic,
    /// The middle tier and up.
    #[default]
    Standard,
    /// The highest tier.
    Full,
}

impl Suite {
    /// The word in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Standard => "standard",
            Self::Full => "full",
        }
    }
}

/// What bounds `max_tokens` for a key's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MaxTokensBound {
    /// 1 to 4096, as documented; outside it the request is refused.
    Documented,
    /// The chosen model's own output limit; a larger wish is lowered to it.
    Model,
}

impl MaxTokensBound {
    /// The word in records and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Documented => "documented",
            Self::Model => "model",
        }
    }

    /// The bound that a word stands for.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Documented, Self::Model].into_iter().find(|bound| bound.as_str() == word)
    }
}
