//! What a router's decision costs, in CPU time of one thread; as JSON on standard output.
//!
//! Every decision is timed on its own, by the thread's own clock, and less what reading that clock
//! costs. A figure is the lowest of several rounds, as whatever else runs on the machine only ever
//! adds. `cargo xtask bench routing` runs this and shows the figures beside their targets.
#![expect(clippy::print_stdout, reason = "this is what it is for")]

use std::hint::black_box;

use clap::{Parser, Subcommand};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use sluice_bench::routing::{World, chats};
use sluice_core::chat::ChatRequest;
use sluice_routing::classify::{Judgement, judge};

/// How many members the routers have: an ordinary one, and the largest.
const MEMBERS: [usize; 2] = [9, 32];
/// How often every request is decided in a round.
const TURNS: usize = 10;

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Microseconds of a decision and its parts, and what it allocates.
    Measure {
        /// Rounds; the lowest figure counts.
        #[arg(long, default_value_t = 5)]
        rounds: u32,
    },
    /// Decides about all requests a number of times and measures nothing, for programs that count
    /// instructions.
    Passes {
        /// How many members the router has.
        members: usize,
        /// How often.
        passes: u32,
    },
}

fn main() {
    let chats = chats();
    match Arguments::parse().what {
        What::Measure { rounds } => println!("{}", measure(&chats, rounds)),
        What::Passes { members, passes } => {
            let world = World::new(members);
            world.remember(&chats, judge);
            for _ in 0..passes {
                for chat in &chats {
                    whole(&world, chat);
                }
            }
            println!("{}", chats.len());
        }
    }
}

fn measure(chats: &[ChatRequest], rounds: u32) -> Value {
    let mut figures = Vec::new();
    let judgements: Vec<Judgement> = chats.iter().map(judge).collect();
    let requests = || chats.iter().zip(&judgements);
    figures.push(figure("classify", None, rounds, requests(), |(chat, _)| {
        black_box(judge(chat));
    }));
    let mut allocations = 0;
    for members in MEMBERS {
        let world = World::new(members);
        world.remember(chats, judge);
        if members == MEMBERS[0] {
            figures.push(figure("session", None, rounds, requests(), |(chat, judgement)| {
                black_box(world.held(chat, judgement));
            }));
        }
        figures.push(figure("speed", Some(members), rounds, requests(), |_| {
            black_box(world.contenders());
        }));
        let contenders = world.contenders();
        figures.push(figure("decide", Some(members), rounds, requests(), |(_, judgement)| {
            black_box(world.decide(&contenders, judgement, (1, None)));
        }));
        figures.push(figure("all", Some(members), rounds, requests(), |(chat, _)| {
            whole(&world, chat);
        }));
        // A session's copy holds two names of its own.
        allocations += requests()
            .map(|(chat, _)| {
                let path = || {
                    let judgement = judge(chat);
                    let contenders = world.contenders();
                    black_box(world.decide(&contenders, &judgement, (1, None)));
                };
                allocation_counter::measure(path).count_total
            })
            .sum::<u64>();
    }
    json!({ "figures": figures, "requests": chats.len(), "allocations": allocations })
}

/// A decision as the gateway makes it.
fn whole(world: &World, chat: &ChatRequest) {
    let judgement = judge(black_box(chat));
    let contenders = world.contenders();
    let held = world.held(chat, &judgement);
    black_box(world.decide(&contenders, &judgement, held));
}

/// Microseconds of `work` on one of `inputs`: the median, and what one in a hundred exceeds.
fn figure<T: Copy>(
    part: &str,
    members: Option<usize>,
    rounds: u32,
    inputs: impl Iterator<Item = T> + Clone,
    work: impl Fn(T),
) -> Value {
    let (mut half, mut most) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..rounds {
        let mut clock: Vec<f64> = (0..1000).map(|_| timed(|| ())).collect();
        let clock = percentile(&mut clock, 0.5);
        let mut times = Vec::new();
        for _ in 0..TURNS {
            times.extend(inputs.clone().map(|input| timed(|| work(black_box(input))) - clock));
        }
        half = half.min(percentile(&mut times, 0.5));
        most = most.min(percentile(&mut times, 0.99));
    }
    json!({ "part": part, "members": members, "p50_us": half.max(0.0), "p99_us": most.max(0.0) })
}

/// The CPU time of `work`, in microseconds.
fn timed(work: impl FnOnce()) -> f64 {
    let before = clock_gettime(ClockId::ThreadCPUTime);
    work();
    let after = clock_gettime(ClockId::ThreadCPUTime);
    (after.tv_sec - before.tv_sec) as f64 * 1e6 + (after.tv_nsec - before.tv_nsec) as f64 / 1e3
}

fn percentile(times: &mut [f64], share: f64) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    let at = (times.len() as f64 * share) as usize;
    times.get(at.min(times.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}
