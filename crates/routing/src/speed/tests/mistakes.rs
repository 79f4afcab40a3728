//! What other gateways got wrong in public, one test each.

use super::*;

/// A prior that says what the deployment does: what is expected is then only what was measured.
fn exact(deployment: &Arc<DeploymentSpeed>, pace: Pace) -> Pace {
    deployment.expected(SHORT, pace, NOW).pace
}

/// litellm#1935: the slowest deployment came first.
#[test]
fn the_faster_deployment_takes_fewer_seconds_and_not_more() {
    let (fast, slow) = (after(20, 300, 201, 2300), after(20, 2000, 201, 22_000));
    let (fast, slow) = (expected(&fast).pace, expected(&slow).pace);
    assert!(fast.first_token_ms < slow.first_token_ms);
    assert!(fast.tokens_per_second > slow.tokens_per_second);
    assert!(fast.seconds(200.0) < slow.seconds(200.0));
}

/// litellm#40202: the time to the first token was divided by the answer's tokens.
#[test]
fn the_length_of_the_answer_does_not_change_the_time_to_the_first_token() {
    let (short, long) = (after(20, 800, 11, 1000), after(20, 800, 2001, 40_800));
    near(first_token(&short), first_token(&long), 1e-6);
    near(exact(&long, Pace { first_token_ms: 800.0, ..PRIOR }).first_token_ms, 800.0, 1e-6);
}

/// litellm#23100: tokens were divided by another time than the one in which they came.
#[test]
fn tokens_are_divided_by_the_time_in_which_they_came() {
    // A hundred tokens follow the first one, in the two seconds after it.
    let deployment = after(20, 2000, 101, 4000);
    let pace = exact(&deployment, Pace { first_token_ms: 2000.0, tokens_per_second: 50.0 });
    near(pace.tokens_per_second, 50.0, 1e-6);
    near(pace.seconds(100.0), 4.0, 1e-6);
}

/// litellm#9350: what was measured did not count.
#[test]
fn what_is_measured_counts_more_than_what_was_said() {
    let deployment = after(16, 4000, 101, 14_000);
    let pace = expected(&deployment).pace;
    assert!(pace.first_token_ms > 3000.0, "{pace:?}");
    assert!(pace.tokens_per_second < 13.0, "{pace:?}");
    assert!(!expected(&deployment).stale);
}

/// litellm#40352: the slow tenth did not count.
#[test]
fn a_slow_tenth_counts_as_often_as_it_happens() {
    let even = after(10, 600, 101, 2600);
    let tailed = after(9, 500, 101, 2500);
    stream(&tailed, 20_000, 101, 22_000, NOW);
    assert!(first_token(&tailed) > 2.0 * first_token(&even));
}

/// The same for the speed after the first token: the mean of 100 and 1 tokens per second is 50,
/// while answers take as long as at two.
#[test]
fn an_answer_that_crawls_counts_by_the_time_it_takes() {
    let deployment = after(1, 500, 101, 1500);
    stream(&deployment, 500, 101, 100_500, NOW);
    let pace = exact(&deployment, Pace { first_token_ms: 500.0, tokens_per_second: 1.98 });
    near(pace.tokens_per_second, 1.98, 0.01);
}

#[test]
fn a_failure_that_is_told_at_once_does_not_look_fast() {
    let deployment = after(5, 500, 101, 2500);
    let before = first_token(&deployment);
    deployment.begin(SHORT, true, PRIOR, NOW).failed(ms(3), NOW);
    assert!(first_token(&deployment) > before + 200.0);
    let slow = after(16, 30_000, 101, 40_000);
    let before = first_token(&slow);
    slow.begin(SHORT, true, PRIOR, NOW).failed(ms(3), NOW);
    assert!(first_token(&slow) > before * 0.999);
}

#[test]
fn a_timeout_counts_as_long_as_it_took() {
    let (refused, timed_out) = (after(5, 500, 101, 2500), after(5, 500, 101, 2500));
    refused.begin(SHORT, true, PRIOR, NOW).failed(ms(3), NOW);
    timed_out.begin(SHORT, true, PRIOR, NOW).failed(ms(60_000), NOW);
    assert!(first_token(&timed_out) > first_token(&refused) + 2000.0);
}
