//! How a call of a provider fails. None of this knows how the caller is told.

use std::time::Duration;

/// The provider cannot express the request. Found while encoding: nothing has been sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {reason}")]
pub struct Unsupported {
    /// The request's field, as a path: `messages[2].content[0]`.
    pub field: String,
    /// What the provider cannot do, as the end of a sentence: "holds audio, which … does not take".
    pub reason: String,
}

/// The provider's answer is not in its documented format.
///
/// The text says where and what, never the content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("malformed answer: {0}")]
pub struct MalformedAnswer(pub String);

/// A provider's refusal or failure, in its own words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind:?}: {message}")]
pub struct ProviderError {
    /// What it means.
    pub kind: ProviderErrorKind,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// The provider's message, at most 1 000 characters, without the credential.
    pub message: String,
    /// The provider's own code (`context_length_exceeded`), where it gave one.
    pub code: Option<String>,
    /// The request's field that the provider objects to, where it gave one.
    pub param: Option<String>,
    /// When the provider wants to be asked again.
    pub retry_after: Option<Duration>,
}

/// Who is at fault, and whether another attempt can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderErrorKind {
    /// The request is wrong; it will be wrong everywhere.
    BadRequest,
    /// The prompt is longer than this model takes.
    ContextLength,
    /// The provider's own filter refused the request.
    ContentBlocked,
    /// Sluice's credential at the provider is missing, wrong or out of money.
    Credential,
    /// The provider does not have the model.
    ModelNotFound,
    /// Too many requests.
    RateLimited,
    /// The provider is overloaded or down for now.
    Unavailable,
    /// The provider failed.
    ServerError,
    /// The provider took too long.
    Timeout,
    /// No connection, or it broke.
    Connection,
}

impl ProviderErrorKind {
    /// Whether the same request may succeed elsewhere or later.
    pub fn is_transient(self) -> bool {
        !matches!(self, Self::BadRequest | Self::ContentBlocked)
    }

    /// Whether it says something about the provider: what the caller did wrong does not.
    pub fn is_the_providers(self) -> bool {
        !matches!(self, Self::BadRequest | Self::ContextLength | Self::ContentBlocked)
    }
}

/// Why a stream could not go on.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The provider said so.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// A frame is not in the provider's format.
    #[error(transparent)]
    Malformed(#[from] MalformedAnswer),
}

/// Shortens a provider's message and takes out of it the credential, whole or masked (`sk-ab***yz`),
/// and the account that it belongs to (`org-…`).
pub fn quote(message: &str, credential: Option<&str>) -> String {
    let message = match credential {
        Some(credential) if !credential.is_empty() => message.replace(credential, "***"),
        _ => message.to_owned(),
    };
    let told = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '*');
        let account = ["org-", "proj_", "sk-"].iter().any(|start| bare.starts_with(start));
        (account && bare.len() > 8) || (bare.contains("***") && bare != "***")
    };
    let message: String = message
        .trim()
        .split_inclusive(char::is_whitespace)
        .map(|word| {
            let space = word.len() - word.trim_end().len();
            if told(word) { format!("***{}", &word[word.len() - space..]) } else { word.to_owned() }
        })
        .collect();
    match message.char_indices().nth(1000) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message,
    }
}

/// When a provider wants to be asked again: `retry-after-ms`, or `retry-after` in seconds (RFC
/// 9110, section 10.2.3; providers do not send its date form).
pub fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let number = |name: &str| {
        let value: f64 = headers.get(name)?.to_str().ok()?.trim().parse().ok()?;
        (value.is_finite() && value >= 0.0).then_some(value)
    };
    let seconds =
        number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds.min(86_400.0)).ok()
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn credentials_and_accounts_are_taken_out_of_messages() {
        for (message, quoted) in [
            ("the key k-123 is wrong", "the key *** is wrong"),
            (
                "Incorrect API key provided: sk-labse***7890. Organization org-abc123456.",
                "Incorrect API key provided: *** Organization ***",
            ),
            ("  limit of 3 *** requests\n", "limit of 3 *** requests"),
            ("use the sk- prefix", "use the sk- prefix"),
        ] {
            assert_eq!(quote(message, Some("k-123")), quoted);
        }
        assert_eq!(quote(&"x ".repeat(600), None).chars().count(), 1001);
    }
}
