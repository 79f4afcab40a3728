//! What is remembered of a request for the next turn of its conversation, and by what.
//!
//! Hashing is fast on long stretches only, so messages are hashed in groups: from the first one on,
//! each group ends where it is long enough. A turn that adds messages leaves all groups as they
//! were but the last, whose messages are then looked up one by one.

use std::ops::Range;
use std::sync::Arc;

use sluice_core::source::Source;

use super::cache::{Cache, CacheKey, Weight};
use super::dissect::{Block, What};
use super::reader::Examined;
use super::{Subject, offset_in};
use crate::finding::Finding;
use crate::kind::Kind;

/// A group ends behind the block with which it is as long as this.
const GROUP: usize = 16 << 10;
/// Single blocks smaller than this are read sooner than they are hashed and looked up...
const SMALLEST: usize = 8 << 10;
/// ... or, where reading is costly, these.
const SMALLEST_IF_COSTLY: usize = 1 << 10;

/// What is remembered.
pub(super) struct Memory {
    examined: Cache<Vec<Arc<Examined>>>,
    spread: Cache<Vec<Placed>>,
    has_room: bool,
}

/// A finding in a group of blocks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    /// Index of the block in the group.
    pub(super) block: usize,
    /// Index of the unit in the block.
    pub(super) unit: usize,
    /// Where it is in the unit.
    pub(super) finding: Finding,
}

impl Weight for Vec<Placed> {
    fn weight(&self) -> usize {
        self.capacity() * size_of::<Placed>()
    }
}

impl Memory {
    /// Memory of up to `bytes`.
    pub(super) fn new(bytes: usize) -> Self {
        let half = bytes / 2;
        Self { examined: Cache::new(half), spread: Cache::new(half), has_room: bytes > 0 }
    }

    /// Whether anything can be remembered.
    pub(super) fn has_room(&self) -> bool {
        self.has_room
    }

    /// What is known about each block of a group.
    pub(super) fn examined(&self, key: CacheKey) -> Option<Arc<Vec<Arc<Examined>>>> {
        self.examined.find(key)
    }

    /// Remembers it.
    pub(super) fn remember(&self, key: CacheKey, known: Vec<Arc<Examined>>) {
        self.examined.insert(key, Arc::new(known));
    }

    /// Where the values of some request stand in a group.
    pub(super) fn spread(&self, key: CacheKey) -> Option<Arc<Vec<Placed>>> {
        self.spread.find(key)
    }

    /// Remembers it.
    pub(super) fn remember_spread(&self, key: CacheKey, placed: Vec<Placed>) {
        self.spread.insert(key, Arc::new(placed));
    }
}

/// What the blocks of an account's requests are remembered by, at one level. The filter's settings
/// are no part of it: they are those of its memory, which lives no longer than they do.
pub(super) struct Keys {
    messages: [u8; 32],
    tools: [u8; 32],
    members: [u8; 32],
    spread: [u8; 32],
    smallest: usize,
}

/// The same for one set of values that were found.
pub(super) struct SpreadKeys([u8; 32]);

impl Keys {
    /// The keys for a subject.
    pub(super) fn new(secret: &[u8; 32], subject: &Subject<'_>, is_costly: bool) -> Self {
        let key = |purpose: &[u8; 8]| {
            let mut hasher = blake3::Hasher::new_keyed(secret);
            hasher.update(purpose);
            hasher.update(&[subject.level as u8]);
            hasher.update(subject.account.as_bytes());
            *hasher.finalize().as_bytes()
        };
        Self {
            messages: key(b"messages"),
            tools: key(b"tools   "),
            members: key(b"members "),
            spread: key(b"spread  "),
            smallest: if is_costly { SMALLEST_IF_COSTLY } else { SMALLEST },
        }
    }

    /// What a single block is remembered by, if it is.
    pub(super) fn of_block(&self, block: &Block<'_>) -> Option<CacheKey> {
        (block.text.len() >= self.smallest).then(|| self.of_text(block, block.text))
    }

    /// What `text` is remembered by, which is one block or several like it.
    fn of_text(&self, block: &Block<'_>, text: &str) -> CacheKey {
        let hash = match &block.what {
            What::Message(..) => blake3::keyed_hash(&self.messages, text.as_bytes()),
            What::Tool(_) => blake3::keyed_hash(&self.tools, text.as_bytes()),
            What::Member(name) => {
                let key = blake3::keyed_hash(&self.members, name.as_bytes());
                blake3::keyed_hash(key.as_bytes(), text.as_bytes())
            }
        };
        CacheKey::new(&hash)
    }

    /// The keys for a request in which `values` were found.
    pub(super) fn of_values(&self, values: &[(String, Kind)]) -> SpreadKeys {
        let mut hasher = blake3::Hasher::new_keyed(&self.spread);
        for (value, kind) in values {
            hasher.update(&(value.len() as u64).to_le_bytes());
            hasher.update(value.as_bytes());
            hasher.update(&[*kind as u8]);
        }
        SpreadKeys(*hasher.finalize().as_bytes())
    }
}

impl SpreadKeys {
    /// What a group is remembered by.
    pub(super) fn of_group(&self, group: CacheKey) -> CacheKey {
        CacheKey::new(&blake3::keyed_hash(&self.0, group.as_bytes()))
    }
}

/// Blocks that are looked up together.
pub(super) struct Group {
    /// Which blocks.
    pub(super) blocks: Range<usize>,
    /// What they are remembered by, if they are.
    pub(super) key: Option<CacheKey>,
}

/// The groups of a request's blocks.
pub(super) fn groups(source: &Source, blocks: &[Block<'_>], keys: Option<&Keys>) -> Vec<Group> {
    let mut groups = Vec::with_capacity(blocks.len());
    let mut from = 0;
    let alone = |i: usize| {
        let key = keys.zip(blocks.get(i)).and_then(|(keys, block)| keys.of_block(block));
        Group { blocks: i..i + 1, key }
    };
    for (i, block) in blocks.iter().enumerate() {
        let Some(keys) = keys else {
            groups.push(alone(i));
            from = i + 1;
            continue;
        };
        if blocks[from].member != block.member {
            groups.extend((from..i).map(alone));
            from = i;
        }
        let value = source.members.get(block.member).map_or("", |member| member.value.as_str());
        let start = offset_in(value, blocks[from].text);
        let end = offset_in(value, block.text) + block.text.len();
        // Tools are the same turn after turn, and nothing comes after the last one.
        let is_last = blocks.get(i + 1).is_none_or(|next| next.member != block.member);
        let is_complete = is_last && matches!(block.what, What::Tool(_));
        if end.saturating_sub(start) < GROUP && !is_complete {
            continue;
        }
        let text = value.get(start..end);
        groups.push(Group { blocks: from..i + 1, key: text.map(|text| keys.of_text(block, text)) });
        from = i + 1;
    }
    groups.extend((from..blocks.len()).map(alone));
    groups
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sluice_core::level::SecurityLevel;

    use super::super::tests::{EMAIL, filter, send, subject};
    use super::*;

    #[test]
    fn a_group_with_a_placeholder_is_looked_through_anew() {
        let filter = filter();
        let subject = subject(SecurityLevel::Standard);
        let user = |text: &str| json!({"role": "user", "content": text});
        let sent = |messages: &[serde_json::Value]| {
            let request = json!({"messages": messages}).to_string();
            send(&filter, &request, &subject).unwrap().filtered
        };
        let placeholder = sent(&[user(EMAIL)]).map.redactions()[0].placeholder.clone();
        let long = |n: usize| user(&format!("{n} {placeholder}{}", " lorem".repeat(GROUP / 6)));
        // The second group has a placeholder that the first one had.
        for messages in [vec![long(1), long(2), user(EMAIL)], vec![long(2), user(EMAIL)]] {
            let filtered = sent(&messages);
            let redactions = filtered.map.redactions();
            assert_eq!(redactions.len(), 1);
            assert_ne!(redactions[0].placeholder, placeholder);
        }
    }
}
