//! What single calls leave behind.

use super::*;

#[test]
fn nothing_measured_is_the_prior_and_stale() {
    let expected = expected(&new());
    near(expected.pace.first_token_ms, 900.0, 1e-9);
    near(expected.pace.tokens_per_second, 60.0, 1e-9);
    assert!(expected.stale);
}

#[test]
fn a_prior_that_makes_no_sense_gives_a_pace_that_does() {
    let fields = [0.0, -1.0, f64::NAN, f64::INFINITY];
    for (first_token_ms, tokens_per_second) in fields.iter().flat_map(|a| fields.map(|b| (*a, b))) {
        let prior = Pace { first_token_ms, tokens_per_second };
        let pace = new().expected(f64::NAN, prior, NOW).pace;
        assert!(pace.first_token_ms > 0.0 && pace.tokens_per_second > 0.0, "{prior:?}: {pace:?}");
        assert!(pace.seconds(100.0).is_finite());
    }
}

#[test]
fn whole_answers_take_as_long_as_they_were_seen_to_take() {
    let deployment = new();
    for _ in 0..40 {
        deployment.begin(SHORT, false, PRIOR, NOW).answered(201, ms(12_000), NOW);
    }
    let pace = expected(&deployment).pace;
    near(pace.seconds(200.0), 12.0, 0.25);
    // Both parts are slower than was said, by the same factor.
    let slower = pace.first_token_ms / PRIOR.first_token_ms;
    near(PRIOR.tokens_per_second / pace.tokens_per_second, slower, 0.05);
}

#[test]
fn whole_answers_are_divided_as_streams_say() {
    let deployment = after(16, 4000, 201, 5000);
    let before = expected(&deployment).pace;
    for _ in 0..5 {
        let total = Duration::from_secs_f64(before.seconds(200.0));
        deployment.begin(SHORT, false, PRIOR, NOW).answered(201, total, NOW);
    }
    let pace = expected(&deployment).pace;
    near(pace.first_token_ms, before.first_token_ms, 0.05);
    near(pace.tokens_per_second, before.tokens_per_second, 0.05);
}

#[test]
fn an_answer_of_one_token_or_none_says_nothing_of_the_speed() {
    for tokens in [0, 1] {
        let deployment = new();
        deployment.begin(SHORT, false, PRIOR, NOW).answered(tokens, ms(3000), NOW);
        stream(&deployment, 3000, tokens, 9000, NOW);
        near(expected(&deployment).pace.tokens_per_second, 60.0, 1e-9);
        assert!(first_token(&deployment) > 1200.0);
    }
}

#[test]
fn a_few_tokens_in_one_packet_do_not_make_a_fast_deployment() {
    let deployment = after(1, 500, 4, 500);
    assert!(expected(&deployment).pace.tokens_per_second < 70.0);
}

#[test]
fn other_sizes_tell_where_there_is_nothing_else_and_hardly_where_there_is() {
    let deployment = after(16, 6000, 101, 8000);
    let at = |tokens: f64| deployment.expected(tokens, PRIOR, NOW).pace.first_token_ms;
    assert!(at(SHORT) > at(4000.0) && at(4000.0) > at(20_000.0), "nearer sizes lend more");
    assert!(at(4000.0) > 2500.0, "{}", at(4000.0));
    assert!(at(100_000.0) > 1000.0);
    for _ in 0..16 {
        let mut call = deployment.begin(4000.0, true, PRIOR, NOW);
        call.first_token(ms(1000), NOW);
        call.answered(101, ms(3000), NOW);
    }
    assert!(at(4000.0) < 1800.0, "{}", at(4000.0));
    assert!(at(SHORT) > 4500.0);
}

#[test]
fn many_calls_under_way_are_expected_to_slow_the_next_one() {
    let deployment = after(16, 500, 101, 2500);
    let idle = first_token(&deployment);
    let calls: Vec<_> = (0..64).map(|_| deployment.begin(SHORT, true, PRIOR, NOW)).collect();
    assert_eq!(deployment.in_flight(), 64);
    assert!(first_token(&deployment) > 4.0 * idle);
    drop(calls);
    assert_eq!(deployment.in_flight(), 0);
    near(first_token(&deployment), idle, 1e-9);
}

#[test]
fn a_load_that_the_samples_were_taken_under_counts_only_once() {
    let deployment = new();
    let mut calls = Vec::new();
    for _ in 0..200 {
        calls.push(deployment.begin(SHORT, true, PRIOR, NOW));
        if calls.len() > 64 {
            let mut call = calls.remove(0);
            call.first_token(ms(500), NOW);
            call.answered(101, ms(2500), NOW);
        }
    }
    assert!(first_token(&deployment) < 900.0, "{}", first_token(&deployment));
}

#[test]
fn waits_that_last_count_before_they_end() {
    let deployment = after(16, 500, 101, 2500);
    let mut call = deployment.begin(SHORT, true, PRIOR, NOW);
    let at = |tokens, now| deployment.expected(tokens, PRIOR, now).pace.first_token_ms;
    near(at(SHORT, later(7000)), 7000.0, 1e-9);
    near(at(100_000.0, later(7000)), 7000.0, 1e-9);
    call.first_token(ms(7000), later(7000));
    assert!(at(SHORT, later(20_000)) < 1500.0);
    // A large prompt may well take longer than a small one.
    let _large = deployment.begin(100_000.0, true, PRIOR, later(20_000));
    assert!(at(SHORT, later(40_000)) < 1500.0);
}

#[test]
fn a_whole_answer_is_not_a_wait_for_a_first_token() {
    let deployment = after(16, 500, 101, 2500);
    let _call = deployment.begin(SHORT, false, PRIOR, NOW);
    let later = deployment.expected(SHORT, PRIOR, later(30_000));
    assert!(later.pace.first_token_ms < 1000.0);
}

#[test]
fn callers_who_leave_in_vain_are_remembered_and_those_who_leave_soon_are_not() {
    let deployment = after(5, 500, 101, 2500);
    let before = first_token(&deployment);
    deployment.begin(SHORT, true, PRIOR, NOW).given_up(ms(100), NOW);
    near(first_token(&deployment), before, 1e-9);
    deployment.begin(SHORT, true, PRIOR, NOW).given_up(ms(30_000), NOW);
    assert!(first_token(&deployment) > before + 2000.0);
    let mut reading = deployment.begin(SHORT, true, PRIOR, NOW);
    reading.first_token(ms(500), NOW);
    let before = first_token(&deployment);
    reading.given_up(ms(60_000), NOW);
    assert!(first_token(&deployment) <= before);
    assert_eq!(deployment.in_flight(), 0);
}

#[test]
fn three_failures_close_a_deployment_and_one_answer_opens_it() {
    let deployment = new();
    for _ in 0..3 {
        deployment.begin(SHORT, true, PRIOR, NOW).failed(ms(10), NOW);
    }
    assert_eq!(deployment.failing(NOW), Some(5));
    let refused = deployment.begin_unless_failing(SHORT, true, PRIOR, NOW);
    assert_eq!(refused.err(), Some(5));
    // Where there is no other, it is asked all the same.
    deployment.begin(SHORT, true, PRIOR, NOW).failed(ms(10), NOW);
    assert_eq!(deployment.failing(NOW), Some(5));

    let now = later(5000);
    let tried = deployment.begin_unless_failing(SHORT, true, PRIOR, now).unwrap();
    assert_eq!(deployment.begin_unless_failing(SHORT, true, PRIOR, now).err(), Some(60));
    // The caller leaves: the next one is let through.
    tried.given_up(ms(20), now);
    let tried = deployment.begin_unless_failing(SHORT, false, PRIOR, now).unwrap();
    tried.answered(50, ms(900), now);
    assert_eq!(deployment.failing(now), None);
    assert_eq!(deployment.in_flight(), 0);
}
