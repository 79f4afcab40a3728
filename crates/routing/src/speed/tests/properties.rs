//! What holds whatever happens.

use proptest::prelude::*;

use super::*;

/// Something that happens to a deployment.
#[derive(Debug, Clone, Copy)]
enum Event {
    Streamed { first_token: u64, tokens: u64, generation: u64 },
    Whole { tokens: u64, total: u64 },
    Failed { after: u64 },
    GivenUp { after: u64 },
}

impl Event {
    /// The same, only slower.
    fn slower(self, by: u64) -> Self {
        match self {
            Self::Streamed { first_token, tokens, generation } => Self::Streamed {
                first_token: first_token + by,
                tokens,
                generation: generation + by,
            },
            Self::Failed { after } => Self::Failed { after: after + by },
            other => other,
        }
    }

    fn happens(self, deployment: &Arc<DeploymentSpeed>, input_tokens: f64, now: UnixMillis) {
        let mut call =
            deployment.begin(input_tokens, !matches!(self, Self::Whole { .. }), PRIOR, now);
        match self {
            Self::Streamed { first_token, tokens, generation } => {
                call.first_token(ms(first_token), now);
                call.answered(tokens, ms(first_token + generation), now);
            }
            Self::Whole { tokens, total } => call.answered(tokens, ms(total), now),
            Self::Failed { after } => call.failed(ms(after), now),
            Self::GivenUp { after } => call.given_up(ms(after), now),
        }
    }
}

/// Answers whose first token was seen, and failures: what they count for is theirs alone.
fn plain() -> impl Strategy<Value = Event> {
    let time = || 1..60_000_u64;
    prop_oneof![
        4 => (time(), 0..3000_u64, time()).prop_map(
            |(first_token, tokens, generation)| Event::Streamed { first_token, tokens, generation }
        ),
        1 => time().prop_map(|after| Event::Failed { after }),
    ]
}

/// Those, and what counts for more or less by what was expected: a whole answer is divided by it,
/// and a wait that was given up is told from it.
fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => plain(),
        1 => (0..3000_u64, 1..100_000_u64).prop_map(|(tokens, total)| Event::Whole { tokens, total }),
        1 => (1..100_000_u64).prop_map(|after| Event::GivenUp { after }),
    ]
}

/// An event, the size of its prompt, and how long after the one before it.
fn history(event: impl Strategy<Value = Event>) -> impl Strategy<Value = Vec<(Event, f64, u64)>> {
    let size = prop_oneof![Just(300.0), Just(5000.0), Just(20_000.0), Just(90_000.0)];
    prop::collection::vec((event, size, 0..60_000_u64), 1..60)
}

fn lived(history: &[(Event, f64, u64)]) -> (Arc<DeploymentSpeed>, UnixMillis) {
    let (deployment, mut now) = (new(), NOW);
    for (event, input_tokens, wait) in history {
        now.0 += wait;
        event.happens(&deployment, *input_tokens, now);
    }
    (deployment, now)
}

/// Streams only: what they leave does not depend on what was expected before.
fn streams() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((1..60_000_u64, 1..60_000_u64), 0..40)
}

/// The rounding of weights to seven digits.
const ROUNDING: f64 = 1.0 + 1e-5;

proptest! {
    #[test]
    fn a_slower_answer_in_its_place_never_lowers_what_is_expected(
        history in history(plain()), which in any::<prop::sample::Index>(), by in 0..60_000_u64,
    ) {
        let mut slower = history.clone();
        let which = which.index(history.len());
        slower[which].0 = slower[which].0.slower(by);
        let ((a, now), (b, _)) = (lived(&history), lived(&slower));
        for tokens in [300.0, 5000.0, 20_000.0, 90_000.0] {
            let (a, b) = (a.expected(tokens, PRIOR, now).pace, b.expected(tokens, PRIOR, now).pace);
            prop_assert!(a.first_token_ms <= b.first_token_ms * ROUNDING);
            prop_assert!(a.tokens_per_second * ROUNDING >= b.tokens_per_second);
            prop_assert!(a.seconds(300.0) <= b.seconds(300.0) * ROUNDING);
        }
    }

    #[test]
    fn one_more_answer_moves_what_is_expected_towards_it(
        streams in streams(), fastest in 0..1_u64, slowest in 60_000..400_000_u64,
    ) {
        let lived = || {
            let deployment = new();
            for (first_token, generation) in &streams {
                stream(&deployment, *first_token, 101, first_token + generation, NOW);
            }
            deployment
        };
        let before = expected(&lived()).pace;
        let (faster, slower) = (lived(), lived());
        stream(&faster, fastest, 101, 2 * fastest, NOW);
        stream(&slower, slowest, 101, 2 * slowest, NOW);
        let (faster, slower) = (expected(&faster).pace, expected(&slower).pace);
        prop_assert!(faster.first_token_ms <= before.first_token_ms * ROUNDING);
        prop_assert!(faster.tokens_per_second * ROUNDING >= before.tokens_per_second);
        prop_assert!(slower.first_token_ms * ROUNDING >= before.first_token_ms);
        prop_assert!(slower.tokens_per_second <= before.tokens_per_second * ROUNDING);
    }

    #[test]
    fn what_is_expected_lies_between_the_samples_and_the_prior_and_returns_to_it(
        streams in streams(),
    ) {
        let deployment = new();
        for (first_token, generation) in &streams {
            stream(&deployment, *first_token, 101, first_token + generation, NOW);
        }
        let all = streams.iter().map(|(first_token, _)| *first_token as f64).chain([900.0]);
        let (least, most) =
            all.fold((f64::MAX, 0.0_f64), |(least, most), ms| (least.min(ms), most.max(ms)));
        let mut distance = f64::INFINITY;
        for half_lives in 0..21 {
            let expected = deployment.expected(SHORT, PRIOR, later(half_lives * 120_000));
            let found = expected.pace.first_token_ms;
            prop_assert!(found * ROUNDING >= least && found <= most * ROUNDING);
            let away = (found - 900.0).abs();
            prop_assert!(away <= distance + 900.0 * 1e-5, "{away} after {distance}");
            distance = away;
            prop_assert!(half_lives < 5 || expected.stale);
        }
        prop_assert!(distance < 1e-6);
    }

    #[test]
    fn whatever_happens_whenever_figures_are_figures(
        events in prop::collection::vec((event(), any::<u64>()), 0..40), now in any::<u64>(),
    ) {
        let deployment = new();
        for (event, now) in &events {
            event.happens(&deployment, SHORT, UnixMillis(*now));
        }
        let now = UnixMillis(now);
        let expected = deployment.expected(SHORT, PRIOR, now);
        prop_assert!((1.0..600_001.0).contains(&expected.pace.first_token_ms));
        prop_assert!((0.05..40_000.0).contains(&expected.pace.tokens_per_second));
        prop_assert!(deployment.failing(now).is_none_or(|seconds| (1..=60).contains(&seconds)));
        prop_assert_eq!(deployment.in_flight(), 0);
    }
}

#[test]
fn calls_of_many_threads_all_end() {
    const THREADS: u64 = 8;
    let deployment = new();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let deployment = &deployment;
            scope.spawn(move || {
                for i in 0..500 {
                    let now = later(i * 7 % 1000);
                    let mut call = deployment.begin(SHORT, i % 3 != 0, PRIOR, now);
                    if i % 2 == 0 {
                        call.first_token(ms(400), now);
                        call.first_token(ms(500), now);
                    }
                    assert!(u64::from(deployment.in_flight()) <= THREADS);
                    match (i + thread) % 5 {
                        0 => drop(call),
                        1 => call.failed(ms(600), now),
                        2 => call.given_up(ms(600), now),
                        _ => call.answered(20, ms(900), now),
                    }
                }
            });
        }
    });
    assert_eq!(deployment.in_flight(), 0);
    assert!(first_token(&deployment) < 10_001.0);
    // Nobody waits any more, so that there is no silence either.
    let much_later = deployment.expected(SHORT, PRIOR, later(3_600_000));
    near(much_later.pace.first_token_ms, 900.0, 1e-9);
}
