//! Where a request may be processed.

use serde::{Deserialize, Serialize};

/// The four documented regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Region {
    /// `us-east`.
    UsEast,
    /// `us-west`.
    UsWest,
    /// `eu-west`.
    EuWest,
    /// `asia-pacific`.
    AsiaPacific,
}

impl Region {
    /// Every region, in the documented order.
    pub const ALL: [Self; 4] = [Self::UsEast, Self::UsWest, Self::EuWest, Self::AsiaPacific];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UsEast => "us-east",
            Self::UsWest => "us-west",
            Self::EuWest => "eu-west",
            Self::AsiaPacific => "asia-pacific",
        }
    }

    /// The region that a word on the wire stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|region| region.as_str() == word)
    }
}
