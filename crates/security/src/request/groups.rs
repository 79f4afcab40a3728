//! Takes a request apart, but for what is known of it: that is not even read.

use std::ops::Range;
use std::sync::Arc;

use sluice_core::json::scan::{Elements, Entries, Raw, ScanError, read};
use sluice_core::sealed::SealedPlaces;
use sluice_core::source::Source;

use super::cache::CacheKey;
use super::compose::Unit;
use super::dissect::{Block, What, is_sent, known};
use super::known::{Examined, Known};
use super::memory::{Begin, Found, GROUP, Keys, Memory, SHORTEST, SHORTEST_LIST};
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
    Messages(SealedPlaces),
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
    begin: Begin,
    bytes: usize,
}

/// A list of messages, as far as it was walked through.
struct List<'a> {
    member: usize,
    text: &'a str,
    /// How many messages are in groups.
    count: usize,
    /// Where the last two messages end.
    ends: [usize; 2],
    /// Messages that are in no group yet, and where the first of them begins.
    fresh: Vec<Block<'a>>,
    fresh_from: usize,
    chain: Option<Chain>,
}

/// The messages of a list that are remembered together: all of them, or all but a long first one.
struct Chain {
    /// Where it begins, in the list, among the groups and among the messages.
    from: usize,
    group: usize,
    index: usize,
    begin: Begin,
    /// How much of it was known from the beginning on.
    known: usize,
    /// How much of it is hashed.
    hashed: usize,
    hasher: blake3::Hasher,
}

/// A request, taken apart.
pub(super) struct Groups<'a, 'm> {
    memory: Option<(&'m Memory, &'m Keys)>,
    sealed: SealedPlaces,
    pub(super) groups: Vec<Group<'a>>,
    /// What is remembered when all was read.
    pub(super) stretches: Vec<Stretch<'a>>,
}

impl<'a, 'm> Groups<'a, 'm> {
    /// Takes `source` apart, with what is in the memory, if there is one. What stands at `sealed` goes
    /// back to a provider that sealed it.
    pub(super) fn of(
        source: &'a Source,
        sealed: SealedPlaces,
        memory: Option<(&'m Memory, &'m Keys)>,
    ) -> Self {
        let mut groups = Self { memory, sealed, groups: Vec::new(), stretches: Vec::new() };
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
        let mut list = List {
            member,
            text,
            count: 0,
            ends: [0; 2],
            fresh: Vec::new(),
            fresh_from: 0,
            chain: None,
        };
        // Stretches may be made to look like known ones at every place.
        let mut in_vain = MOST_IN_VAIN * text.len();
        while let Some(at) = elements.next_at()? {
            self.complete(&mut list);
            if list.fresh.is_empty() {
                list.fresh_from = at;
            }
            if let Some((memory, keys)) = self.memory.filter(|_| list.chain.is_none()) {
                let mut chain = Chain::new(at, self.groups.len(), list.count, memory, keys, text);
                let found = memory.stretch(keys, &text[at..], &chain.begin, &mut in_vain);
                if let Some(Found { bytes, key, known, hasher }) = found {
                    elements.skip_to(at + bytes);
                    for block in known.blocks.iter().rev().take(2).rev() {
                        list.ends = [list.ends[1], at + block.range.end];
                    }
                    (chain.known, chain.hashed, chain.hasher) = (bytes, bytes, hasher);
                    let is_first_alone = list.count == 0 && known.blocks.len() == 1;
                    list.chain = (!is_first_alone).then_some(chain);
                    self.push(&mut list, at..at + bytes, State::Known(known), Some(key));
                    continue;
                }
                list.chain = Some(chain);
            }
            let (entries, raw) = elements.read::<(Entries<'a>, Raw<'a>)>()?;
            let what = What::Message(entries, self.sealed);
            list.fresh.push(Block { text: raw.get(), what });
            list.ends = [list.ends[1], at + raw.get().len()];
        }
        self.rest(list);
        Ok(())
    }

    /// Adds the messages that were taken apart last, if they are long enough. Another one follows:
    /// the last one, which may be another one the next time, is in no group.
    fn complete(&mut self, list: &mut List<'a>) {
        let range = list.fresh_from..list.ends[1];
        let is_first_alone =
            list.count == 0 && list.fresh.len() == 1 && range.len() >= SHORTEST_LIST;
        let Some((memory, keys)) = self
            .memory
            .filter(|_| is_first_alone || range.len() >= GROUP && !list.fresh.is_empty())
        else {
            return;
        };
        let Some(mut chain) = list.chain.take() else { return };
        let fresh = std::mem::take(&mut list.fresh);
        let (group, blocks) = (self.groups.len(), fresh.len());
        chain.hash(list.text, range.end);
        if is_first_alone {
            let stretch = chain.stretch(list.text, range.end, blocks);
            let key = stretch.key;
            self.stretches.push(stretch);
            self.push(list, range, State::Fresh(fresh), Some(key));
            return;
        }
        let key = keys.of_group(&chain.hasher, range.start - chain.from);
        list.chain = Some(chain);
        self.stretches.push(Stretch { key, group, blocks, at: None });
        let state = memory.known(key).map_or(State::Fresh(fresh), State::Known);
        self.push(list, range, state, Some(key));
    }

    /// Adds what is left, and decides what is remembered of the list for its next turn: all of it,
    /// and the same without the last message, which may be another one the next time.
    fn rest(&mut self, mut list: List<'a>) {
        let fresh = std::mem::take(&mut list.fresh);
        if !fresh.is_empty() {
            let range = list.fresh_from..list.ends[1];
            self.push(&mut list, range, State::Fresh(fresh), None);
        }
        let Some(mut chain) = list.chain else { return };
        let [before_last, end] = list.ends;
        for (end, left_out, least) in [(before_last, 1, WORTHWHILE), (end, 0, 1)] {
            let bytes = end.saturating_sub(chain.from);
            if bytes < SHORTEST_LIST.max(chain.known + least)
                || list.count <= chain.index + left_out
            {
                continue;
            }
            chain.hash(list.text, end);
            let blocks = list.count - chain.index - left_out;
            self.stretches.push(chain.stretch(list.text, end, blocks));
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
        let kind = Kind::Messages(self.sealed);
        self.groups.push(Group { member, text, kind, first, state, key });
    }
}

impl Chain {
    /// A chain that begins at `from` of the list of messages `text`.
    fn new(
        from: usize,
        group: usize,
        index: usize,
        memory: &Memory,
        keys: &Keys,
        text: &str,
    ) -> Self {
        let begin = memory.begin(keys, &text[from..]);
        Self { from, group, index, begin, known: 0, hashed: 0, hasher: keys.hasher() }
    }

    /// Hashes what there is up to `end` of the list, which is never less than before.
    fn hash(&mut self, list: &str, end: usize) {
        let bytes = end - self.from;
        self.hasher.update(&list.as_bytes()[self.from + self.hashed..end]);
        self.hashed = bytes;
    }

    /// The stretch from its beginning to `end` of the list, which is as far as it is hashed.
    fn stretch<'a>(&self, list: &'a str, end: usize, blocks: usize) -> Stretch<'a> {
        let key = CacheKey::new(&self.hasher.finalize());
        let (text, bytes) = (&list[self.from..], end - self.from);
        let at = Some(At { text, begin: self.begin, bytes });
        Stretch { key, group: self.group, blocks, at }
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
            Kind::Messages(sealed) => What::Message(read(text).unwrap_or_default(), sealed),
            Kind::Tools => What::Tool,
            Kind::Member(name) => What::Member(name),
        };
        Block { text, what }.units()
    }

    /// Which message its block `i` is, if it is one.
    pub(super) fn message(&self, i: usize) -> Option<usize> {
        matches!(self.kind, Kind::Messages(_)).then_some(self.first + i)
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
            Kind::Messages(_) => match unit.map(|unit| (unit.part, unit.origin.is_some())) {
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
    pub(super) fn remember(&self, memory: &Memory, groups: &[Group<'_>], known: &[Arc<Known>]) {
        if !self.is_lasting(known) {
            return;
        }
        let all = match known.get(self.group) {
            Some(known) if known.blocks.len() == self.blocks => Arc::clone(known),
            _ => Arc::new(self.joined(groups, known)),
        };
        memory.remember(self.key, all);
        if let Some(At { text, begin, bytes }) = &self.at {
            memory.remember_length(begin, text, *bytes);
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
