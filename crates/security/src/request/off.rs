//! A filter that is switched off: where nothing is looked for, a request need not be taken apart.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use sluice_core::source::Source;

use crate::level::{InjectionAction, Rules, UnreadableAction};

/// Names of members whose value may be a file, or say that one is near.
static NAMES: LazyLock<[Finder<'static>; 4]> =
    LazyLock::new(|| [r#""type""#, r#""data""#, r#""file_data""#, r#""bytes""#].map(Finder::new));
static SCHEME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("data:"));
/// How far behind its name a type ends.
const LONGEST_TYPE: usize = 64;

/// Whether rules let every request go as it is.
pub(super) fn looks_for_nothing(rules: &Rules) -> bool {
    rules.redact.is_empty()
        && rules.injection == InjectionAction::Off
        && rules.unreadable == UnreadableAction::Flag
}

/// Whether there may be something in a request that cannot be read, and so has to be flagged. Names
/// that are spelled with escapes are overlooked: nothing depends on them but the flag.
pub(super) fn may_be_unreadable(source: &Source) -> bool {
    source.members.iter().any(|member| may_hold_file(member.value.as_str().as_bytes()))
}

fn may_hold_file(text: &[u8]) -> bool {
    let is_scheme = |at: usize| {
        let next = text.get(at + SCHEME.needle().len());
        next.is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b',' | b';' | b'\\'))
    };
    let [types, files @ ..] = &*NAMES;
    let is_medium = |at: usize| {
        let end = text.len().min(at + LONGEST_TYPE);
        ["image", "audio", "video", "\\"]
            .iter()
            .any(|medium| memchr::memmem::find(&text[at..end], medium.as_bytes()).is_some())
    };
    SCHEME.find_iter(text).any(is_scheme)
        || files.iter().any(|name| name.find(text).is_some())
        || types.find_iter(text).any(is_medium)
}
