//! A provider that gets slow and recovers, second by second.

use super::super::Call;
use super::*;

/// Two providers; each request goes to the one that is expected to be done sooner.
struct World {
    now: u64,
    providers: [Provider; 2],
}

struct Provider {
    speed: Arc<DeploymentSpeed>,
    first_token: u64,
    /// When each call began, and the call.
    open: Vec<(u64, Call)>,
    asked: u32,
}

/// Milliseconds between two requests.
const STEP: u64 = 200;

impl World {
    /// The first is the faster one.
    fn new() -> Self {
        let provider =
            |first_token| Provider { speed: new(), first_token, open: Vec::new(), asked: 0 };
        Self { now: 0, providers: [provider(400), provider(1200)] }
    }

    fn expected(&self, provider: usize) -> Expected {
        let prior = Pace { first_token_ms: [400.0, 1200.0][provider], ..PRIOR };
        self.providers[provider].speed.expected(SHORT, prior, later(self.now))
    }

    /// The share of requests that the first provider gets in so many seconds.
    fn runs(&mut self, seconds: u64) -> f64 {
        let until = self.now + seconds * 1000;
        let before = self.asked();
        while self.now < until {
            let [first, second] = [0, 1].map(|i| self.expected(i).pace.seconds(100.0));
            self.ask(usize::from(second < first));
            self.passes(STEP);
        }
        let after = self.asked();
        f64::from(after.0 - before.0) / f64::from(after.1 - before.1)
    }

    fn asked(&self) -> (u32, u32) {
        let [first, second] = [0, 1].map(|i| self.providers[i].asked);
        (first, first + second)
    }

    fn ask(&mut self, provider: usize) {
        let now = later(self.now);
        let provider = &mut self.providers[provider];
        provider.asked += 1;
        provider.open.push((self.now, provider.speed.begin(SHORT, true, PRIOR, now)));
    }

    fn passes(&mut self, time: u64) {
        self.now += time;
        for provider in &mut self.providers {
            let due = |(began, _): &mut (u64, Call)| self.now - *began >= provider.first_token;
            let done: Vec<_> = provider.open.extract_if(.., due).collect();
            for (began, mut call) in done {
                let took = self.now - began;
                call.first_token(ms(took), later(self.now));
                call.answered(101, ms(took + 1700), later(self.now));
            }
        }
    }
}

#[test]
fn traffic_leaves_a_provider_that_gets_slow_within_seconds_and_comes_back() {
    let mut world = World::new();
    assert!(world.runs(120) > 0.9, "the faster one has the traffic");
    world.providers[0].first_token = 9000;
    world.runs(3);
    assert!(world.runs(20) < 0.1, "the other has it after three seconds");
    assert!(!world.expected(0).stale);

    world.providers[0].first_token = 400;
    assert!(world.runs(3 * 60) < 0.05, "it is not trusted at once");
    for _ in 0..20 {
        world.ask(0);
        world.passes(1000);
    }
    assert!(world.runs(60) > 0.9, "twenty good answers are enough");
}

#[test]
fn one_good_answer_forgives_the_failures_that_closed_it() {
    let deployment = after(20, 400, 101, 1700);
    let before = deployment.expected(SHORT, PRIOR, later(0)).pace.first_token_ms;
    for _ in 0..2 {
        deployment.begin(SHORT, true, PRIOR, later(0)).failed(ms(10), later(0));
    }
    assert!(deployment.expected(SHORT, PRIOR, later(0)).pace.first_token_ms > 1.5 * before);
    deployment.begin(SHORT, true, PRIOR, later(0)).failed(ms(10), later(0));
    assert_eq!(deployment.failing(later(0)), Some(5));
    // Once the pause is over it looks as it did, so that somebody is sent there to see.
    let looks = deployment.expected(SHORT, PRIOR, later(5000)).pace.first_token_ms;
    assert!((looks / before - 1.0).abs() < 0.1, "{looks} {before}");
    let mut call = deployment.begin_unless_failing(SHORT, true, PRIOR, later(5000)).unwrap();
    call.first_token(ms(400), later(5400));
    call.answered(101, ms(2100), later(7100));
    assert_eq!(deployment.failing(later(7100)), None);
    let now = deployment.expected(SHORT, PRIOR, later(7100)).pace.first_token_ms;
    assert!((now / before - 1.0).abs() < 0.1, "{now} {before}");
}

#[test]
fn a_bad_spell_is_forgotten_after_a_few_half_lives_even_if_nobody_looks() {
    let mut world = World::new();
    world.runs(60);
    world.providers[0].first_token = 9000;
    world.runs(30);
    world.providers[0].first_token = 400;
    world.runs(8 * 60);
    assert!(world.runs(60) > 0.9, "it has its traffic back");
}

#[test]
fn a_spell_of_nothing_but_slow_answers_is_stale_after_four_half_lives() {
    let deployment = after(100, 9000, 101, 10_000);
    let at = |seconds: u64| deployment.expected(SHORT, PRIOR, later(seconds * 1000));
    assert!(!at(4 * 120 - 10).stale);
    assert!(at(4 * 120 + 10).stale);
    assert!(at(4 * 120).pace.first_token_ms < 9000.0 / 3.0);
    assert!(at(6 * 120).pace.first_token_ms < 1.6 * PRIOR.first_token_ms);
}

#[test]
fn a_provider_that_hangs_is_left_before_a_single_answer_is_late() {
    let mut world = World::new();
    world.runs(120);
    world.providers[0].first_token = u64::MAX;
    world.runs(3);
    assert!(world.runs(10) < 0.05);
}
