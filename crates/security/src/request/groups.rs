//! Takes a request apart, but for what is known of it: that is not even read.

use std::ops::Range;
use std::sync::Arc;

use sluice_core::json::scan::{Elements, Entries, Raw, ScanError, read};
use sluice_core::source::Source;

use super::cache::CacheKey;
use super::compose::Unit;
use super::dissect::{Block, What, is_sent, known};
use super::known::{Examined, Known};
use super::memory::{Found, GROUP, Keys, Memory, SHORTEST, SHORTEST_LIST};
use super::offset_in;

/// Blocks of a request that are looked up together: some or all messages, all tools, a member.
pub(super) struct Group<'a> {
    /// Which member of the request it is in.
    pub(super) member: usize,
    /// Its bytes.
    pub(super) text: &'a str,
    /// What its blocks are.
    kind: Kind<'a>,
    /// Index of its first block among all of its kind.
    first: usize,
    pub(super) state: State<'a>,
    /// What it is remembered by, if it is.
    pub(super) key: Option<CacheKey>,
}

/// What a group consists of.
#[derive(Clone, Copy)]
enum Kind<'a> {
    Messages,
    Tools,
    Member(&'a str),
}

/// How a group is to be looked at.
pub(super) enum State<'a> {
    /// It is known.
    Known(Arc<Known>),
    /// Its blocks are to be read.
    Fresh(Vec<Block<'a>>),
}

/// All messages but the last one are remembered for themselves where so many bytes of them are not
/// known without them.
const WORTHWHILE: usize = 4 << 10;

/// How often the length of a list may be hashed for nothing: several stretches may look alike.
const MOST_IN_VAIN: usize = 4;

/// Groups that are remembered together.
pub(super) struct Stretch<'a> {
    /// By what.
    pub(super) key: CacheKey,
    /// The first of the groups.
    group: usize,
    /// How many blocks it has, from the beginning of the first group on.
    pub(super) blocks: usize,
    /// Where it is looked for, if it is a stretch of messages.
    at: Option<At<'a>>,
}

/// Where a stretch of messages begins, and how long it is.
struct At<'a> {
    /// The list of messages from there on.
    text: &'a str,
    bytes: usize,
}

/// A list of messages, as far as it was walked through.
#[derive(Default)]
struct List<'a> {
    member: usize,
    text: &'a str,
    first_group: usize,
    /// How many messages are in groups.
    count: usize,
    /// Where the last two messages end.
    ends: [usize; 2],
    /// Messages that are in no group yet, and where the first of them begins.
    fresh: Vec<Block<'a>>,
    fresh_from: usize,
    /// The known stretch that the list begins with: where, its length and its hash.
    leading: Option<Leading>,
}

struct Leading {
    at: usize,
    bytes: usize,
    hasher: blake3::Hasher,
}

/// A request, taken apart.
pub(super) struct Groups<'a, 'm> {
    memory: Option<(&'m Memory, &'m Keys)>,
    pub(super) groups: Vec<Group<'a>>,
    /// What is remembered when all was read.
    pub(super) stretches: Vec<Stretch<'a>>,
}

impl<'a, 'm> Groups<'a, 'm> {
    /// Takes `source` apart, with what is in the memory, if there is one.
    pub(super) fn of(source: &'a Source, memory: Option<(&'m Memory, &'m Keys)>) -> Self {
        let mut groups = Self { memory, groups: Vec::new(), stretches: Vec::new() };
        for (member, source) in source.members.iter().enumerate() {
            let (name, text) = (&*source.name, source.value.as_str());
            if !is_sent(name, text) {
                continue;
            }
            let from = groups.groups.len();
            let stretches_from = groups.stretches.len();
            let is_read = match name {
                "messages" => groups.messages(member, text).is_ok(),
                "tools" => groups.tools(member, text).is_ok(),
                _ => false,
            };
            if !is_read {
                groups.groups.truncate(from);
                groups.stretches.truncate(stretches_from);
                groups.member(member, name, text);
            }
        }
        groups
    }

    fn messages(&mut self, member: usize, text: &'a str) -> Result<(), ScanError> {
        let mut elements = Elements::begin(text)?;
        let mut list = List { member, text, first_group: self.groups.len(), ..List::default() };
        // Stretches may be made to look like known ones at every place.
        let mut in_vain = MOST_IN_VAIN * text.len();
        while let Some(at) = elements.next_at()? {
            if list.fresh.is_empty() {
                list.fresh_from = at;
                let found = self
                    .memory
                    .and_then(|(memory, keys)| memory.stretch(keys, &text[at..], &mut in_vain));
                if let Some(found) = found {
                    elements.skip_to(at + found.bytes);
                    self.known(&mut list, at, found);
                    continue;
                }
            }
            let (entries, raw) = elements.read::<(Entries<'a>, Raw<'a>)>()?;
            list.fresh.push(Block { text: raw.get(), what: What::Message(entries) });
            let end = at + raw.get().len();
            list.ends = [list.ends[1], end];
            if end - list.fresh_from >= GROUP {
                self.complete(&mut list);
            }
        }
        self.rest(list);
        Ok(())
    }

    /// Adds a stretch that is known.
    fn known(&mut self, list: &mut List<'a>, at: usize, found: Found) {
        for block in found.known.blocks.iter().rev().take(2).rev() {
            list.ends = [list.ends[1], at + block.range.end];
        }
        if list.count == 0 {
            list.leading = Some(Leading { at, bytes: found.bytes, hasher: found.hasher });
        }
        self.push(list, at..at + found.bytes, State::Known(found.known), Some(found.key));
    }

    /// Adds the messages that were taken apart last: they are long enough.
    fn complete(&mut self, list: &mut List<'a>) {
        let Some((memory, keys)) = self.memory else { return };
        let range = list.fresh_from..list.ends[1];
        let key = keys.of_messages(&list.text[range.clone()]);
        let fresh = std::mem::take(&mut list.fresh);
        let at = At { text: &list.text[range.start..], bytes: range.len() };
        let (group, blocks) = (self.groups.len(), fresh.len());
        self.stretches.push(Stretch { key, group, blocks, at: Some(at) });
        let state = memory.known(key).map_or(State::Fresh(fresh), State::Known);
        self.push(list, range, state, Some(key));
    }

    /// Adds what is left, and decides what is remembered of the list for its next turn: all of it,
    /// or what comes behind its last group where none of it was known; and the same without the last
    /// message, which may be another one the next time.
    fn rest(&mut self, mut list: List<'a>) {
        let fresh = std::mem::take(&mut list.fresh);
        let mut stretch = (list.fresh_from, self.groups.len(), list.count);
        if !fresh.is_empty() {
            let range = list.fresh_from..list.ends[1];
            self.push(&mut list, range, State::Fresh(fresh), None);
        }
        let Some((_, keys)) = self.memory else { return };
        let (mut hashed, mut hasher) = (0, keys.hasher());
        if let Some(leading) = list.leading {
            stretch = (leading.at, list.first_group, 0);
            (hashed, hasher) = (leading.bytes, leading.hasher);
        }
        let (from, group, index) = stretch;
        let (text, [before_last, end]) = (&list.text[from..], list.ends);
        for (end, left_out, least) in [(before_last, 1, WORTHWHILE), (end, 0, 1)] {
            let bytes = end.saturating_sub(from);
            if bytes < SHORTEST_LIST || bytes < hashed + least || list.count <= index + left_out {
                continue;
            }
            hasher.update(&text.as_bytes()[hashed..bytes]);
            hashed = bytes;
            let key = CacheKey::new(&hasher.finalize());
            let blocks = list.count - index - left_out;
            let at = At { text, bytes };
            self.stretches.push(Stretch { key, group, blocks, at: Some(at) });
        }
    }

    /// All tools, which are the same turn after turn.
    fn tools(&mut self, member: usize, text: &'a str) -> Result<(), ScanError> {
        let key = self.key(text, |keys| keys.of_tools(text));
        if self.is_known(member, text, Kind::Tools, key) {
            return Ok(());
        }
        let tools: Vec<Raw<'a>> = read(text)?;
        let block = |tool: Raw<'a>| Block { text: tool.get(), what: What::Tool };
        self.fresh(member, text, Kind::Tools, key, tools.into_iter().map(block).collect());
        Ok(())
    }

    /// Any other member.
    fn member(&mut self, member: usize, name: &'a str, text: &'a str) {
        let key = self.key(text, |keys| keys.of_member(name, text));
        if !self.is_known(member, text, Kind::Member(name), key) {
            let block = Block { text, what: What::Member(name) };
            self.fresh(member, text, Kind::Member(name), key, vec![block]);
        }
    }

    fn key(&self, text: &str, key: impl Fn(&Keys) -> CacheKey) -> Option<CacheKey> {
        self.memory.filter(|_| text.len() >= SHORTEST).map(|(_, keys)| key(keys))
    }

    fn is_known(
        &mut self,
        member: usize,
        text: &'a str,
        kind: Kind<'a>,
        key: Option<CacheKey>,
    ) -> bool {
        let known = self.memory.zip(key).and_then(|((memory, _), key)| memory.known(key));
        let Some(known) = known else { return false };
        self.groups.push(Group { member, text, kind, first: 0, state: State::Known(known), key });
        true
    }

    fn fresh(
        &mut self,
        member: usize,
        text: &'a str,
        kind: Kind<'a>,
        key: Option<CacheKey>,
        blocks: Vec<Block<'a>>,
    ) {
        if let Some(key) = key {
            let (group, blocks) = (self.groups.len(), blocks.len());
            self.stretches.push(Stretch { key, group, blocks, at: None });
        }
        self.groups.push(Group { member, text, kind, first: 0, state: State::Fresh(blocks), key });
    }

    fn push(
        &mut self,
        list: &mut List<'a>,
        range: Range<usize>,
        state: State<'a>,
        key: Option<CacheKey>,
    ) {
        let first = list.count;
        list.count += match &state {
            State::Known(known) => known.blocks.len(),
            State::Fresh(blocks) => blocks.len(),
        };
        let (member, text) = (list.member, &list.text[range]);
        self.groups.push(Group { member, text, kind: Kind::Messages, first, state, key });
    }
}

impl<'a> Group<'a> {
    /// What is scanned of its block `i`, which stands at `range`.
    pub(super) fn units(&self, i: usize, range: Range<usize>) -> Vec<Unit<'a>> {
        if let State::Fresh(blocks) = &self.state {
            return blocks.get(i).map(Block::units).unwrap_or_default();
        }
        let text = self.text.get(range).unwrap_or_default();
        let what = match self.kind {
            Kind::Messages => What::Message(read(text).unwrap_or_default()),
            Kind::Tools => What::Tool,
            Kind::Member(name) => What::Member(name),
        };
        Block { text, what }.units()
    }

    /// Which message its block `i` is, if it is one.
    pub(super) fn message(&self, i: usize) -> Option<usize> {
        matches!(self.kind, Kind::Messages).then_some(self.first + i)
    }

    /// What is known about it when its blocks were read.
    pub(super) fn now_known(&self, examined: Vec<Examined>) -> Arc<Known> {
        let blocks = match &self.state {
            State::Known(known) => return Arc::clone(known),
            State::Fresh(blocks) => blocks,
        };
        let mut known = Known::with_room(blocks.len());
        for (block, examined) in blocks.iter().zip(examined) {
            let at = offset_in(self.text, block.text);
            known.push(at..at + block.text.len(), examined);
        }
        Arc::new(known)
    }

    /// Where its block `i` is, in the words of a refusal: `messages[3].content`.
    pub(super) fn place(&self, i: usize, unit: Option<&Unit<'_>>) -> String {
        let i = self.first + i;
        match self.kind {
            Kind::Messages => match unit.map(|unit| (unit.part, unit.origin.is_some())) {
                Some((Some(part), _)) => format!("messages[{i}].content[{part}]"),
                Some((None, true)) => format!("messages[{i}].content"),
                _ => format!("messages[{i}]"),
            },
            Kind::Tools => format!("tools[{i}]"),
            // The name of a member that nobody knows is content.
            Kind::Member(name) => match known(name) {
                Some(name) => name.to_owned(),
                None => "an unknown member".to_owned(),
            },
        }
    }
}

impl Stretch<'_> {
    /// The groups that it consists of: the index of each, how many blocks are ahead of it, and how
    /// many of its blocks belong to the stretch.
    pub(super) fn groups(
        &self,
        known: &[Arc<Known>],
    ) -> impl Iterator<Item = (usize, usize, usize)> {
        let mut ahead = 0;
        known.iter().enumerate().skip(self.group).map_while(move |(i, known)| {
            let blocks = known.blocks.len().min(self.blocks - ahead);
            ahead += blocks;
            (blocks > 0).then_some((i, ahead - blocks, blocks))
        })
    }

    /// Whether it would be the same the next time.
    pub(super) fn is_lasting(&self, known: &[Arc<Known>]) -> bool {
        self.groups(known).all(|(i, ..)| known[i].is_lasting())
    }

    /// Remembers what is known about it, where that would be the same the next time.
    pub(super) fn remember(
        &self,
        memory: &Memory,
        keys: &Keys,
        groups: &[Group<'_>],
        known: &[Arc<Known>],
    ) {
        if !self.is_lasting(known) {
            return;
        }
        let all = match known.get(self.group) {
            Some(known) if known.blocks.len() == self.blocks => Arc::clone(known),
            _ => Arc::new(self.joined(groups, known)),
        };
        memory.remember(self.key, all);
        if let Some(At { text, bytes }) = &self.at {
            memory.remember_length(keys, text, *bytes);
        }
    }

    fn joined(&self, groups: &[Group<'_>], known: &[Arc<Known>]) -> Known {
        let mut all = Known::with_room(self.blocks);
        let begin = groups.get(self.group).map_or("", |group| group.text);
        for (i, _, blocks) in self.groups(known) {
            all.extend(&known[i], blocks, offset_in(begin, groups[i].text));
        }
        all
    }
}
