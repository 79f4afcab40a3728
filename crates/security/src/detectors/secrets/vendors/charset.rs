//! What tokens are made of.

/// A set of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Charset {
    /// `0-9a-fA-F`
    Hex,
    /// `0-9a-fA-F-`
    Uuid,
    /// `A-Za-z`
    Letters,
    /// `A-Za-z0-9`
    Alnum,
    /// `A-Z0-9`
    UpperAlnum,
    /// `a-z0-9`
    LowerAlnum,
    /// `A-Za-z0-9_-`
    Word,
    /// `A-Za-z0-9_.-`
    WordDot,
    /// `A-Za-z0-9+/=`
    Base64,
    /// `A-Za-z0-9+/=_-`
    Base64Word,
    /// `A-Za-z0-9_:-`
    Colon,
    /// `A-Za-z0-9_/-`
    Slash,
    /// `A-Za-z0-9!._`
    Bang,
    /// `A-Za-z0-9%_.-`
    Url,
    /// `A-Za-z0-9+/=_.-`
    Any,
    /// `A-Za-z0-9-`, with a group of nine digits or more.
    Slack,
}

impl Charset {
    pub(super) fn contains(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Uuid => byte.is_ascii_hexdigit() || byte == b'-',
            Self::Letters => byte.is_ascii_alphabetic(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::UpperAlnum => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::LowerAlnum => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::WordDot => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
            Self::Base64Word => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
            }
            Self::Colon => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b':'),
            Self::Slash => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/'),
            Self::Bang => byte.is_ascii_alphanumeric() || matches!(byte, b'!' | b'.' | b'_'),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'%' | b'_' | b'-' | b'.'),
            Self::Any => {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b'.')
            }
            Self::Slack => byte.is_ascii_alphanumeric() || byte == b'-',
        }
    }
}
