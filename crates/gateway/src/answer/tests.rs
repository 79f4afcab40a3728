use std::future::poll_fn;

use sluice_core::answer::FinishReason;
use sluice_core::chat::ChatRequest;
use sluice_core::ids::ProviderId;
use sluice_core::outcome::Outcome;
use sluice_core::usage::UsageSource;

use super::*;
use crate::chat::Answer;
use crate::health::ProviderState;
use crate::testing::{
    DONE, HELLO, House, NOW, Script, Step, TIMEOUTS, says, script, seconds, streamed,
};

/// What the caller is told, each with the second at which it is.
async fn told(house: &House) -> Vec<(u64, String)> {
    let began = Instant::now();
    let Answer::Stream(mut stream) = house.ask(streamed()).await.unwrap() else {
        panic!("a stream was asked for")
    };
    let mut told = Vec::new();
    let mut pieces = Vec::new();
    while poll_fn(|cx| stream.poll_pieces(cx, &mut pieces)).await {
        for piece in pieces.drain(..) {
            let text = match piece {
                Piece::Event(StreamEvent::Delta(delta)) => match delta.content {
                    Some(content) => content.decode().into_owned(),
                    None => "finish reason".to_owned(),
                },
                Piece::Event(_) => continue,
                Piece::KeepAlive => "comment".to_owned(),
                Piece::Finished(receipt) => format!("{} tokens", receipt.usage.total_tokens()),
                Piece::Failed(error) => error.to_string(),
            };
            told.push((began.elapsed().as_secs(), text));
        }
    }
    // Asked again, it has nothing to say.
    assert!(!poll_fn(|cx| stream.poll_pieces(cx, &mut pieces)).await);
    assert!(pieces.is_empty());
    told
}

fn expected(told: &[(u64, &str)]) -> Vec<(u64, String)> {
    told.iter().map(|(at, text)| (*at, (*text).to_owned())).collect()
}

#[tokio::test(start_paused = true)]
async fn a_whole_stream_is_told_and_written_down_once() {
    let house = House::new(TIMEOUTS);
    house.expect(script([says(1, HELLO), says(1, DONE)]));
    assert_eq!(
        told(&house).await,
        expected(&[(1, "Hello"), (2, "finish reason"), (2, "10 tokens")])
    );
    let record = house.record();
    assert_eq!(record.outcome, Outcome::Completed);
    assert_eq!(record.usage_source, UsageSource::Measured);
    assert_eq!(record.usage.total_tokens(), 10);
    assert_eq!(record.cost.unwrap().to_string(), "0.000019");
    assert_eq!(record.attempts, 1);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_is_slow_to_begin_is_waited_for_with_comments() {
    let house = House::new(TIMEOUTS);
    house.expect(Script { head: seconds(40), ..script([says(0, HELLO), says(0, DONE)]) });
    assert_eq!(
        told(&house).await,
        expected(&[
            (15, "comment"),
            (30, "comment"),
            (40, "Hello"),
            (40, "finish reason"),
            (40, "10 tokens")
        ])
    );
    assert_eq!(house.record().outcome, Outcome::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_pauses_is_waited_for_with_comments() {
    let house = House::new(TIMEOUTS);
    house.expect(script([says(0, HELLO), says(19, HELLO), says(19, DONE)]));
    assert_eq!(
        told(&house).await,
        expected(&[
            (0, "Hello"),
            (15, "comment"),
            (19, "Hello"),
            (34, "comment"),
            (38, "finish reason"),
            (38, "10 tokens")
        ])
    );
}

#[tokio::test(start_paused = true)]
async fn silence_in_the_middle_is_given_up_on() {
    let house = House::new(TIMEOUTS);
    house.expect(script([says(0, HELLO), Step::Hangs]));
    let given_up = "provider `first`: the provider said nothing for 20 s";
    assert_eq!(told(&house).await, expected(&[(0, "Hello"), (15, "comment"), (20, given_up)]));
    let record = house.record();
    assert_eq!(record.outcome, Outcome::UpstreamTimeout);
    assert_eq!(record.usage_source, UsageSource::Estimated);
    assert!(record.usage.output > 0, "what was generated is billed");
}

/// The timeouts count when they are shorter than the time between comments, too.
#[tokio::test(start_paused = true)]
async fn short_timeouts_are_kept_to_the_second() {
    let house = House::new(Timeouts { idle: seconds(5), ..TIMEOUTS });
    house.expect(script([says(0, HELLO), Step::Hangs]));
    let given_up = "provider `first`: the provider said nothing for 5 s";
    assert_eq!(told(&house).await, expected(&[(0, "Hello"), (5, given_up)]));

    let house = House::new(Timeouts { total: seconds(8), ..TIMEOUTS });
    house.expect(script([says(0, HELLO), Step::Hangs]));
    let given_up = "provider `first`: the answer took longer than 8 s";
    assert_eq!(told(&house).await, expected(&[(0, "Hello"), (8, given_up)]));

    // And after the first comment, when the answer has only just begun.
    let house = House::new(Timeouts { idle: seconds(2), ..TIMEOUTS });
    house.expect(Script { head: seconds(16), ..script([says(0, HELLO), Step::Hangs]) });
    let given_up = "provider `first`: the provider said nothing for 2 s";
    assert_eq!(told(&house).await, expected(&[(15, "comment"), (16, "Hello"), (18, given_up)]));
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_end_is_given_up_on() {
    let house = House::new(TIMEOUTS);
    house.expect(script(vec![says(11, HELLO); 20]));
    let told = told(&house).await;
    assert_eq!(told.len(), 11);
    assert_eq!(
        told.last().unwrap(),
        &(120, "provider `first`: the answer took longer than 120 s".to_owned())
    );
    assert_eq!(house.record().outcome, Outcome::UpstreamTimeout);
}

#[tokio::test(start_paused = true)]
async fn a_cut_answer_is_never_a_finished_one() {
    for (rest, problem) in [
        (vec![], "provider `first`: the answer was cut off before its end"),
        (vec![Step::Breaks(seconds(1))], "provider `first`: connection lost: reset"),
        (vec![says(1, "data: {\"error\":\"m\"}\n\n")], "provider `first`: m"),
    ] {
        let house = House::new(TIMEOUTS);
        let mut steps = vec![says(0, HELLO)];
        steps.extend(rest);
        house.expect(script(steps));
        let told = told(&house).await;
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(told[1].1, problem);
        assert_eq!(house.record().outcome, Outcome::UpstreamError);
        assert_eq!(house.calls(), (1, 0), "nobody else can continue what has begun");
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_never_begins_is_a_timeout() {
    let house = House::new(Timeouts { first_token: seconds(10), ..TIMEOUTS });
    // Both hang; the second is asked after the first, and a comment tells that somebody works.
    assert_eq!(
        told(&house).await,
        expected(&[
            (15, "comment"),
            (20, "provider `second`: the provider did not begin to answer in time")
        ])
    );
    let record = house.record();
    assert_eq!((record.outcome, record.attempts), (Outcome::UpstreamTimeout, 2));
    assert_eq!(record.usage.total_tokens(), 0, "nothing was generated, nothing is billed");
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_hangs_up_is_billed_for_what_came_once() {
    let house = House::new(TIMEOUTS);
    house.expect(script([says(0, HELLO), Step::Hangs]));
    let Answer::Stream(mut stream) = house.ask(streamed()).await.unwrap() else { panic!() };
    let mut pieces = Vec::new();
    assert!(poll_fn(|cx| stream.poll_pieces(cx, &mut pieces)).await);
    assert_eq!(house.key_ledger().in_flight(house.gateway.clock().steady()), 1);
    assert!(house.entries().is_empty());
    drop(stream);
    let record = house.record();
    assert_eq!(record.outcome, Outcome::Cancelled);
    assert_eq!(record.usage_source, UsageSource::Estimated);
    assert!(record.usage.output > 0 && record.usage.uncached_input > 0);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_hangs_up_before_the_first_token_is_written_down_once() {
    let house = House::new(TIMEOUTS);
    // After the first comment …
    let Answer::Stream(stream) = house.ask(streamed()).await.unwrap() else { panic!() };
    drop(stream);
    assert_eq!(house.record().outcome, Outcome::Cancelled);
    // … and before it.
    let house = House::new(TIMEOUTS);
    let asking = tokio::time::timeout(seconds(1), house.ask(streamed())).await;
    assert!(asking.is_err());
    assert_eq!(house.record().outcome, Outcome::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn a_finished_answer_that_is_dropped_is_no_cancelled_one() {
    let house = House::new(TIMEOUTS);
    house.expect(script([says(0, &format!("{HELLO}{DONE}")), Step::Hangs]));
    assert_eq!(told(&house).await.len(), 3);
    assert_eq!(house.record().outcome, Outcome::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_burst_is_told_in_order_and_in_portions() {
    let house = House::new(TIMEOUTS);
    let burst = |from: usize| -> String {
        let delta =
            |i| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{i}\"}}}}]}}\n\n");
        (from..from + 100).map(delta).collect()
    };
    let mut steps: Vec<Step> = (0..10).map(|i| says(0, &burst(i * 100))).collect();
    steps.push(says(0, DONE));
    house.expect(script(steps));
    let told = told(&house).await;
    let numbers: Vec<String> = told.into_iter().map(|(_, text)| text).take(1_000).collect();
    assert_eq!(numbers, (0..1_000).map(|i| i.to_string()).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn an_answer_past_its_bound_is_cut_and_billed_up_to_it() {
    // It says nothing of its own, it denies all, it boasts, and it had counted the prompt first.
    for usage in [
        "",
        "\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":1},",
        "\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":6000000},",
    ] {
        let house = House::new(TIMEOUTS);
        let chunk =
            format!("data: {{{usage}\"choices\":[{{\"delta\":{{\"content\":\"word \"}}}}]}}\n\n");
        let mut steps = vec![says(0, &chunk.repeat(10)); 100];
        steps.push(Step::Hangs);
        house.expect(script(steps));
        let chat = ChatRequest { max_tokens: Some(20), ..streamed() };
        let Answer::Stream(mut stream) = house.ask(chat).await.unwrap() else { panic!() };
        let (mut text, mut reasons, mut receipt) = (String::new(), Vec::new(), None);
        let mut pieces = Vec::new();
        while poll_fn(|cx| stream.poll_pieces(cx, &mut pieces)).await {
            for piece in pieces.drain(..) {
                match piece {
                    Piece::Event(StreamEvent::Delta(delta)) => {
                        text.extend(delta.content.map(|content| content.decode().into_owned()));
                        reasons.extend(delta.finish_reason);
                    }
                    Piece::Finished(finished) => receipt = Some(finished),
                    Piece::Failed(error) => panic!("{error}"),
                    Piece::Event(_) | Piece::KeepAlive => {}
                }
            }
        }
        assert!((20..150).contains(&text.matches("word").count()), "{text}");
        assert_eq!(reasons, [FinishReason::Length]);
        let record = house.record();
        assert_eq!(
            (record.outcome, record.usage_source),
            (Outcome::Completed, UsageSource::Estimated)
        );
        assert_eq!(record.usage.completion_tokens(), 20);
        assert_eq!(receipt.unwrap().usage, record.usage);
    }
}

#[tokio::test(start_paused = true)]
async fn streams_that_break_off_show_in_the_providers_health() {
    let house = House::new(TIMEOUTS);
    let state = || {
        let snapshot = house.gateway.snapshot();
        snapshot.providers[&ProviderId::from("first")].health.state(NOW)
    };
    for expected in [ProviderState::Ok, ProviderState::Ok, ProviderState::Failing] {
        house.expect(script([says(0, HELLO), Step::Breaks(seconds(1))]));
        assert_eq!(told(&house).await.len(), 2);
        assert_eq!(state(), expected);
    }
}
