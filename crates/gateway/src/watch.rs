//! What whoever reads one answer by hand learns beside it: what the model was sent, what was kept
//! from it, and the request's record. Held in memory, by whoever asked for it, and nowhere else.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use sluice_core::chat::{ChatRequest, Content, Part, Role};
use sluice_security::map::RedactionMap;
use sluice_storage::UsageRecord;

/// Looks on while one request is answered.
#[derive(Default)]
pub struct Watch {
    sent: OnceLock<Sent>,
    record: OnceLock<(UsageRecord, bool)>,
}

/// What the model was sent.
pub struct Sent {
    messages: Vec<(Role, String)>,
    map: Arc<RedactionMap>,
}

/// A value that was kept from the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept<'w> {
    /// What it is, in a word: `email`.
    pub kind: &'static str,
    /// The value.
    pub value: &'w str,
    /// What the model saw in its place.
    pub placeholder: &'w str,
}

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'w> {
    /// The text.
    pub text: &'w str,
    /// The kind of the value that it is, or stands for; `None`: it is neither.
    pub kind: Option<&'static str>,
}

impl Watch {
    /// What the model was sent; `None` where the request did not come so far.
    pub fn sent(&self) -> Option<&Sent> {
        self.sent.get()
    }

    /// The request's record, as soon as it has ended, and whether it is kept: under zero retention
    /// it is written nowhere. `None` where nobody was asked.
    pub fn record(&self) -> Option<(&UsageRecord, bool)> {
        self.record.get().map(|(record, is_kept)| (record, *is_kept))
    }

    pub(crate) fn passed(&self, chat: &ChatRequest, map: &Arc<RedactionMap>) {
        let messages = chat.messages.iter().map(|it| (it.role, written(&it.content)));
        let sent = Sent { messages: messages.collect(), map: map.clone() };
        // A request passes once.
        let _ = self.sent.set(sent);
    }

    pub(crate) fn ended(&self, record: UsageRecord, is_kept: bool) {
        let _ = self.record.set((record, is_kept));
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

impl Sent {
    /// Who spoke and what the model saw of it, in pieces.
    pub fn messages(&self) -> impl Iterator<Item = (Role, Vec<Piece<'_>>)> {
        self.messages.iter().map(|(role, text)| {
            let found = self.map.find_in(text).map(|(place, it)| (place, it.kind.as_str()));
            (*role, pieces(text, found))
        })
    }

    /// The values that it did not see, in their order.
    pub fn kept(&self) -> impl Iterator<Item = Kept<'_>> {
        self.map.redactions().into_iter().map(|it| {
            let (value, placeholder) = (it.value, it.placeholder);
            Kept { kind: it.kind.as_str(), value, placeholder }
        })
    }

    /// The caller's answer, in pieces: where it has values that the model did not see, they were put
    /// back.
    pub fn put_back<'t>(&self, answer: &'t str) -> Vec<Piece<'t>> {
        let mut values: Vec<Kept<'_>> = self.kept().filter(|it| !it.value.is_empty()).collect();
        // Of two values that begin at one place, the longer one is meant.
        values.sort_by_key(|it| std::cmp::Reverse(it.value.len()));
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(rest) = answer.get(from..).filter(|rest| !rest.is_empty()) {
            let next = values.iter().filter_map(|it| {
                let whole = rest
                    .match_indices(it.value)
                    .map(|(at, _)| from + at..from + at + it.value.len());
                let place = whole.into_iter().find(|place| stands_alone(answer, place))?;
                Some((place, it.kind))
            });
            let Some((place, kind)) =
                next.min_by_key(|(place, _)| (place.start, std::cmp::Reverse(place.end)))
            else {
                break;
            };
            from = place.end;
            found.push((place, kind));
        }
        pieces(answer, found)
    }
}

/// Whether what stands at `place` is no part of a longer word.
fn stands_alone(text: &str, place: &Range<usize>) -> bool {
    let is_word = |it: Option<char>| it.is_some_and(char::is_alphanumeric);
    let inside = text.get(place.clone()).unwrap_or_default();
    let before = text.get(..place.start).and_then(|it| it.chars().next_back());
    let after = text.get(place.end..).and_then(|it| it.chars().next());
    let goes_back = is_word(before) && is_word(inside.chars().next());
    let goes_on = is_word(after) && is_word(inside.chars().next_back());
    !goes_back && !goes_on
}

/// A text in pieces, of which those at the places found are of a kind.
fn pieces(
    text: &str,
    found: impl IntoIterator<Item = (Range<usize>, &'static str)>,
) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut add = |place: Range<usize>, kind| {
        let text = text.get(place).unwrap_or_default();
        if !text.is_empty() {
            pieces.push(Piece { text, kind });
        }
    };
    let mut from = 0;
    for (place, kind) in found {
        add(from..place.start, None);
        from = place.end;
        add(place, Some(kind));
    }
    add(from..text.len(), None);
    pieces
}

/// The texts of a message.
fn written(content: &Content) -> String {
    match content {
        Content::None => String::new(),
        Content::Text(text) => text.decode().into_owned(),
        Content::Parts(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                Part::Text { text, .. } => Some(text.decode()),
                Part::Image { .. } | Part::Other { .. } => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use sluice_security::kind::Kind;
    use sluice_security::placeholder::PlaceholderKey;

    use super::*;

    fn shown(pieces: &[Piece<'_>]) -> String {
        let piece = |it: &Piece<'_>| match it.kind {
            Some(kind) => format!("<{kind}:{}>", it.text),
            None => it.text.to_owned(),
        };
        pieces.iter().map(piece).collect()
    }

    #[test]
    fn whoever_watches_sees_what_the_model_saw_and_what_came_back() {
        const MAIL: &str = "j.doe@busy-mill.org";
        let key = PlaceholderKey::new(&[7; 32], "acc_1");
        let mut map = RedactionMap::default();
        let word = map.placeholder(&key, Kind::Email, MAIL, |_| false).to_owned();
        let texts = [format!("Ask {word} twice: {word}"), String::new()];
        let sent = Sent {
            messages: texts.into_iter().map(|text| (Role::User, text)).collect(),
            map: Arc::new(map),
        };
        let kept: Vec<_> = sent.kept().collect();
        assert_eq!(kept, [Kept { kind: "email", value: MAIL, placeholder: &word }]);
        let messages: Vec<String> = sent.messages().map(|(_, pieces)| shown(&pieces)).collect();
        let expected = format!("Ask <email:{word}> twice: <email:{word}>");
        assert_eq!(messages, [expected.as_str(), ""]);

        for (answer, expected) in [
            (format!("{MAIL}, not x{MAIL}an."), format!("<email:{MAIL}>, not x{MAIL}an.")),
            (format!("é{MAIL} {MAIL}"), format!("é{MAIL} <email:{MAIL}>")),
            ("nothing".to_owned(), "nothing".to_owned()),
            (String::new(), String::new()),
        ] {
            assert_eq!(shown(&sent.put_back(&answer)), expected);
        }
    }
}
