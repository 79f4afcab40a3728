//! The sessions of one process: bounded, in memory only.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use sluice_core::clock::UnixMillis;

use super::{LONG_IDLE_MS, Session};

/// Locks that requests share; sessions are spread over them.
const SHARDS: usize = 32;

/// The sessions of one process, by a keyed hash of what names them.
pub struct Sessions {
    shards: [Mutex<HashMap<u64, Session>>; SHARDS],
    most: usize,
}

impl Sessions {
    /// Room for about `most` sessions.
    pub fn new(most: usize) -> Self {
        Self { shards: Default::default(), most: most.div_ceil(SHARDS).max(1) }
    }

    /// What is remembered of the session `key`.
    pub fn get(&self, key: u64) -> Option<Session> {
        self.shard(key).lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }

    /// Remembers `session`. Where there is no room, those that have been idle for long give way,
    /// else the one that has been idle the longest.
    pub fn put(&self, key: u64, session: Session) {
        let mut shard = self.shard(key).lock().unwrap_or_else(PoisonError::into_inner);
        if shard.len() >= self.most && !shard.contains_key(&key) {
            make_room(&mut shard, session.last_asked);
        }
        shard.insert(key, session);
    }

    fn shard(&self, key: u64) -> &Mutex<HashMap<u64, Session>> {
        &self.shards[usize::try_from(key % SHARDS as u64).unwrap_or(0)]
    }
}

fn make_room(shard: &mut HashMap<u64, Session>, now: UnixMillis) {
    let before = shard.len();
    shard.retain(|_, session| session.idle_ms(now) <= LONG_IDLE_MS);
    if shard.len() == before {
        let oldest = shard.iter().min_by_key(|(_, session)| session.last_asked);
        if let Some(key) = oldest.map(|(key, _)| *key) {
            shard.remove(&key);
        }
    }
}
