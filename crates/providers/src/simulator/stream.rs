//! An answer as a stream of chunks, made one at a time as they are asked for: an answer that
//! nobody reads costs nothing.

use std::time::Duration;

use serde_json::{Value, json};

use super::body::Piece;
use super::pace::Timing;
use super::reply::Reply;
use super::tokens;
use super::triggers::Fault;
use super::wire::{self, Head};

/// The chunks of one answer, in order, each with the time that it is due.
pub(super) struct Chunks {
    head: Head,
    replies: Vec<Reply>,
    /// The last chunk's usage, where it was asked for.
    usage: Option<Value>,
    timing: Timing,
    /// What goes wrong, and after how many turns: halfway through the longest choice.
    fault: Option<(Fault, u64)>,
    cursors: Vec<Cursor>,
    /// The choice whose turn it is. All choices speak in turns, one token each.
    turn: usize,
    /// How many turns each choice has had.
    round: u64,
    /// When the last token was due.
    due: Duration,
    tail: Tail,
}

/// What follows the last choice's end.
#[derive(Clone, Copy)]
enum Tail {
    Usage,
    Done,
    Over,
}

/// How far one choice has been said.
#[derive(Clone, Copy, Default)]
struct Cursor {
    begun: bool,
    segment: usize,
    opened: bool,
    /// Bytes of the segment's text.
    at: usize,
    finished: bool,
}

impl Chunks {
    pub(super) fn new(
        head: Head,
        replies: Vec<Reply>,
        usage: Option<Value>,
        timing: Timing,
        fault: Option<Fault>,
    ) -> Self {
        let half = replies.iter().map(Reply::tokens).max().unwrap_or(0) / 2;
        let cursors = vec![Cursor::default(); replies.len()];
        Self {
            head,
            replies,
            usage,
            timing,
            fault: fault.map(|fault| (fault, half)),
            cursors,
            turn: 0,
            round: 0,
            due: timing.token(0),
            tail: Tail::Usage,
        }
    }

    fn fail(&mut self, fault: Fault) -> Option<Piece> {
        self.tail = Tail::Over;
        self.cursors.clear();
        match fault {
            Fault::Cut => Some(Piece::Lost),
            Fault::Stall => Some(Piece::Stall),
            Fault::Short => None,
            Fault::ErrorEvent => Some(Piece::Data(wire::error_event(), self.due)),
        }
    }

    fn tail(&mut self) -> Option<Piece> {
        if let Tail::Usage = self.tail {
            self.tail = Tail::Done;
            if let Some(usage) = &self.usage {
                return Some(Piece::Data(wire::usage_chunk(&self.head, usage), self.due));
            }
        }
        if let Tail::Done = self.tail {
            self.tail = Tail::Over;
            return Some(Piece::Data(wire::done(), self.due));
        }
        None
    }
}

impl Iterator for Chunks {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        if let Some((fault, turns)) = self.fault
            && self.round > turns
        {
            self.fault = None;
            return self.fail(fault);
        }
        for _ in 0..self.cursors.len() {
            let turn = self.turn;
            let due = self.timing.token(self.round);
            self.turn += 1;
            if self.turn == self.cursors.len() {
                self.turn = 0;
                self.round += 1;
            }
            let choice = self.cursors[turn].step(turn, &self.replies[turn], self.head.logprobs);
            if let Some(choice) = choice {
                // An end comes together with the last token.
                if choice["finish_reason"].is_null() {
                    self.due = due;
                }
                let chunk = wire::chunk(&self.head, choice, self.usage.is_some());
                return Some(Piece::Data(chunk, self.due));
            }
        }
        self.tail()
    }
}

impl Cursor {
    /// The next step of `reply`, as an entry of `choices`; `None` after the last.
    fn step(&mut self, index: usize, reply: &Reply, logprobs: Option<usize>) -> Option<Value> {
        let plain = |delta| Some(wire::chunk_choice(index, delta, Value::Null, None));
        if !self.begun {
            self.begun = true;
            return plain(wire::role_delta(reply));
        }
        while let Some(segment) = reply.segments.get(self.segment) {
            if !self.opened {
                self.opened = true;
                if let Some(delta) = wire::open_delta(segment) {
                    return plain(delta);
                }
            }
            let rest = &segment.text[self.at..];
            if rest.is_empty() {
                *self = Self { begun: true, segment: self.segment + 1, ..Self::default() };
                continue;
            }
            let token = &rest[..tokens::first_len(rest)];
            let logprobs = logprobs
                .map_or(Value::Null, |most| wire::token_logprobs(segment, token, self.at, most));
            self.at += token.len();
            return Some(wire::chunk_choice(
                index,
                wire::token_delta(segment, token),
                logprobs,
                None,
            ));
        }
        if std::mem::replace(&mut self.finished, true) {
            return None;
        }
        Some(wire::chunk_choice(index, json!({}), Value::Null, Some(reply.finish.as_str())))
    }
}
