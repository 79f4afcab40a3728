mod money;

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use sluice_core::answer::FinishReason;
use sluice_core::chat::ChatRequest;
use sluice_core::json::{Member, RawJson};
use sluice_core::usage::UsageSource;
use sluice_storage::JournalEntry;

use super::*;
use crate::chat::Answer;
use crate::testing::{
    DONE, HELLO, House, NOW, Script, Step, TIMEOUTS, WHOLE, chat, says, script, seconds, streamed,
};

const BAD: &str =
    r#"{"error":{"message":"m","type":"invalid_request_error","param":"n","code":"c"}}"#;

fn status(status: u16, body: &str) -> Script {
    Script { status, ..script([says(0, body)]) }
}

fn is_whole(answer: &Result<Answer, ChatError>) -> bool {
    matches!(answer, Ok(Answer::Whole(_)))
}

#[tokio::test(start_paused = true)]
async fn another_provider_is_asked_where_that_can_help() {
    for (first, helps) in [
        (status(500, "{}"), true),
        (status(401, "{}"), true),
        (status(404, "{}"), true),
        (status(429, "{}"), true),
        (status(413, "{}"), true),
        (status(200, "{\"half\":"), true),
        (status(400, BAD), false),
        (status(400, r#"{"error":{"code":"content_filter"}}"#), false),
    ] {
        let house = House::new(TIMEOUTS);
        house.expect(first);
        house.expect_of_second(script([says(0, WHOLE)]));
        let answer = house.ask(chat("Hello?")).await;
        assert_eq!(is_whole(&answer), helps);
        let record = house.record();
        if helps {
            assert_eq!((record.outcome, record.attempts), (Outcome::Completed, 2));
            assert_eq!(record.provider.unwrap().as_str(), "second");
            assert_eq!(record.usage.total_tokens(), 10);
        } else {
            assert_eq!((record.outcome, record.attempts), (Outcome::Rejected, 1));
            assert_eq!(record.usage.total_tokens(), 0);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_goes_elsewhere_only_before_its_first_content() {
    let role = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
    for first in [
        script([says(0, role), Step::Breaks(seconds(1))]),
        script([says(0, role)]),
        script([says(0, "data: {\"error\":\"m\"}\n\n")]),
        script([says(0, role), Step::Hangs]),
        // An end mark alone is no answer.
        script([says(0, "data: [DONE]\n\n")]),
        script([says(0, role), says(0, "data: [DONE]\n\n")]),
    ] {
        let house = House::new(TIMEOUTS);
        house.expect(first);
        house.expect_of_second(script([says(0, HELLO), says(0, DONE)]));
        let Ok(Answer::Stream(mut stream)) = house.ask(streamed()).await else { panic!() };
        let mut pieces = Vec::new();
        while poll_fn(|cx| stream.poll_pieces(cx, &mut pieces)).await {}
        let record = house.record();
        assert_eq!((record.outcome, record.attempts), (Outcome::Completed, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn all_attempts_share_one_time() {
    let house = House::new(Timeouts { total: seconds(30), ..TIMEOUTS });
    let began = Instant::now();
    house.expect(Script { head: seconds(10), ..status(500, "{}") });
    let error = house.ask(chat("Hello?")).await.err().unwrap();
    assert_eq!(began.elapsed(), seconds(30));
    assert_eq!(
        error,
        ChatError::UpstreamTimeout {
            message: "provider `second`: the provider did not answer in time".to_owned()
        }
    );
    assert_eq!(house.record().outcome, Outcome::UpstreamTimeout);
}

#[tokio::test(start_paused = true)]
async fn a_whole_answer_that_nobody_waits_for_is_written_down_once() {
    let house = House::new(TIMEOUTS);
    assert!(tokio::time::timeout(seconds(1), house.ask(chat("Hello?"))).await.is_err());
    let record = house.record();
    assert_eq!(record.outcome, Outcome::Cancelled);
    assert_eq!(record.usage_source, UsageSource::Estimated);
}

#[tokio::test(start_paused = true)]
async fn what_no_provider_counted_is_counted_here() {
    let house = House::new(TIMEOUTS);
    house.expect(script([says(0, r#"{"choices":[{"message":{"content":"one two three"}}]}"#)]));
    assert!(is_whole(&house.ask(chat("Hello?")).await));
    let record = house.record();
    assert_eq!((record.usage_source, record.usage.output), (UsageSource::Estimated, 3));
    assert!(record.usage.uncached_input > 0);
}

/// Whoever panics, the request ends as one that was given up: it is counted, and as little of it is
/// kept as of any other.
#[tokio::test(start_paused = true)]
async fn a_panic_leaves_no_more_than_zero_retention_allows() {
    for audit in [false, true] {
        let house = House::new(TIMEOUTS);
        house.expect(script([Step::Panics("a part of the prompt".to_owned())]));
        let mut chat = chat("a part of the prompt");
        (chat.options.zero_retention, chat.options.audit_enabled) = (true, audit);
        let asked = AssertUnwindSafe(house.ask(chat)).catch_unwind().await;
        assert!(asked.is_err(), "it panicked");
        let entries = house.entries();
        assert_eq!(entries.len(), 1 + usize::from(audit), "{entries:?}");
        for entry in entries {
            match entry {
                JournalEntry::Sum(sum) => assert_eq!(sum.requests, 1),
                JournalEntry::Audit(entry) => {
                    assert_eq!(entry.clone().for_zero_retention(), *entry);
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(house.key_ledger().in_flight(house.gateway.clock().moment().steady), 0);
    }
}

/// No identity, and nothing derived from content: only the sum counts on.
#[tokio::test(start_paused = true)]
async fn zero_retention_leaves_a_sum() {
    let house = House::new(TIMEOUTS);
    house.expect(script([says(0, WHOLE)]));
    let mut chat: ChatRequest = chat("Hello?");
    chat.options.zero_retention = true;
    assert!(is_whole(&house.ask(chat).await));
    match house.entries().as_slice() {
        [JournalEntry::Sum(sum)] => {
            assert_eq!((sum.requests, sum.usage.total_tokens()), (1, 10));
            assert_eq!(sum.quarter, NOW.seconds() - NOW.seconds() % 900);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(house.key_ledger().tokens_used(NOW), 10);
}

#[tokio::test(start_paused = true)]
async fn an_audited_request_leaves_an_entry_beside_its_record() {
    let house = House::new(TIMEOUTS);
    house.expect(script([says(0, WHOLE)]));
    let mut chat: ChatRequest = chat("Hello?");
    chat.options.audit_enabled = true;
    let Ok(Answer::Whole(answer)) = house.ask(chat).await else { panic!() };
    match house.entries().as_slice() {
        [JournalEntry::Usage(record), JournalEntry::Audit(entry), JournalEntry::Content(_)] => {
            assert!(entry.content_bytes.is_some_and(|bytes| bytes > 0));
            assert_eq!(entry.audit_id, answer.1.audit_id);
            assert_eq!(record.audit_id.as_ref(), Some(&entry.audit_id));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_code_is_told_only_where_it_is_a_plain_word() {
    for (code, is) in [("bad_tool-1.0", true), ("", false), ("two words", false), ("\"", false)] {
        assert_eq!(is_word(code), is, "{code}");
    }
    assert!(!is_word(&"x".repeat(65)));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_only_says_why_it_stopped_is_an_answer() {
    let house = House::new(TIMEOUTS);
    house.expect(script([says(0, DONE)]));
    let Ok(Answer::Stream(mut stream)) = house.ask(streamed()).await else { panic!() };
    let mut pieces = Vec::new();
    while poll_fn(|cx| stream.poll_pieces(cx, &mut pieces)).await {}
    assert_eq!((house.record().outcome, house.calls()), (Outcome::Completed, (1, 0)));
}

#[tokio::test(start_paused = true)]
async fn a_whole_answer_that_hangs_leaves_time_for_another_provider() {
    for (whole_answer, total, after) in [(50, 120, 50), (50, 60, 30), (500, 120, 60)] {
        let house = House::new(Timeouts {
            whole_answer: seconds(whole_answer),
            total: seconds(total),
            ..TIMEOUTS
        });
        let began = Instant::now();
        house.expect(script([says(0, "{\"half\":"), Step::Hangs]));
        house.expect_of_second(Script { head: seconds(20), ..script([says(0, WHOLE)]) });
        assert!(is_whole(&house.ask(chat("Hello?")).await));
        assert_eq!(began.elapsed(), seconds(after + 20));
        let record = house.record();
        assert_eq!((record.outcome, record.attempts), (Outcome::Completed, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn the_only_provider_of_a_whole_answer_has_all_the_time() {
    let house = House::new(Timeouts { whole_answer: seconds(1), ..TIMEOUTS });
    let began = Instant::now();
    house.expect(status(500, "{}"));
    house.expect_of_second(Script { head: seconds(100), ..script([says(0, WHOLE)]) });
    assert!(is_whole(&house.ask(chat("Hello?")).await));
    assert_eq!(began.elapsed(), seconds(100));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_cannot_express_the_request_takes_no_time_from_another() {
    let house = House::with_narrow_second(Timeouts { whole_answer: seconds(1), ..TIMEOUTS });
    let began = Instant::now();
    house.expect(Script { head: seconds(100), ..script([says(0, WHOLE)]) });
    let mut chat = chat("Hello?");
    let value = RawJson::parse("1").unwrap();
    chat.extra.push(Member { name: "logit_bias".into(), value });
    assert!(is_whole(&house.ask(chat).await));
    assert_eq!((began.elapsed(), house.calls()), (seconds(100), (1, 0)));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_says_nothing_in_many_events_is_given_up() {
    let empty = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
    let many = says(0, &empty.repeat(100));
    for (pieces, attempts) in [(90, 1), (110, 2)] {
        let house = House::new(TIMEOUTS);
        let mut steps = vec![many.clone(); pieces];
        steps.extend([says(0, HELLO), says(0, DONE)]);
        house.expect(script(steps));
        house.expect_of_second(script([says(0, HELLO), says(0, DONE)]));
        let Ok(Answer::Stream(mut stream)) = house.ask(streamed()).await else { panic!() };
        let mut pieces = Vec::new();
        while poll_fn(|cx| stream.poll_pieces(cx, &mut pieces)).await {}
        let record = house.record();
        assert_eq!((record.outcome, record.attempts), (Outcome::Completed, attempts));
    }
}

/// What is claimed of the prompt and of the answer, and what is recorded.
#[tokio::test(start_paused = true)]
async fn an_impossible_count_locks_nobody_out() {
    const HUGE: u64 = u64::MAX;
    for (prompt, answer, source) in [
        (7, 3, UsageSource::Measured),
        (HUGE, 3, UsageSource::Estimated),
        (1_000_000, 3, UsageSource::Estimated),
        (0, 3, UsageSource::Estimated),
        (7, HUGE, UsageSource::Estimated),
        (HUGE, HUGE, UsageSource::Estimated),
    ] {
        let usage =
            format!("\"usage\":{{\"prompt_tokens\":{prompt},\"completion_tokens\":{answer}}}");
        let whole = format!(
            "{{\"choices\":[{{\"message\":{{\"content\":\"one two three\"}},\
             \"finish_reason\":\"stop\"}}],{usage}}}"
        );
        let done = format!(
            "data: {{\"choices\":[{{\"delta\":{{\"content\":\"one two three\"}},\
             \"finish_reason\":\"stop\"}}],{usage}}}\n\ndata: [DONE]\n\n"
        );
        for (request, body) in [(chat("Hello?"), whole), (streamed(), done)] {
            let house = House::new(TIMEOUTS);
            house.expect(script([says(0, &body)]));
            match house.ask(request).await.unwrap() {
                Answer::Whole(whole) => assert!(whole.1.usage.total_tokens() < 100),
                Answer::Stream(mut stream) => {
                    let mut pieces = Vec::new();
                    while poll_fn(|cx| stream.poll_pieces(cx, &mut pieces)).await {}
                }
            }
            let record = house.record();
            assert_eq!((record.outcome, record.usage_source), (Outcome::Completed, source));
            assert_eq!(record.usage.completion_tokens(), 3, "{prompt} {answer}");
            assert!((1..20).contains(&record.usage.prompt_tokens()), "{:?}", record.usage);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_whole_answer_past_its_bound_is_cut() {
    let house = House::new(TIMEOUTS);
    let text = "word ".repeat(1_000);
    let usage = "{\"prompt_tokens\":7,\"completion_tokens\":1000}";
    let body =
        format!("{{\"choices\":[{{\"message\":{{\"content\":\"{text}\"}}}}],\"usage\":{usage}}}");
    house.expect(script([says(0, &body)]));
    let chat = ChatRequest { max_tokens: Some(20), ..chat("Hello?") };
    let Answer::Whole(whole) = house.ask(chat).await.unwrap() else { panic!() };
    let choice = &whole.0.choices[0];
    assert_eq!(choice.finish_reason, FinishReason::Length);
    let left = choice.message.content.as_ref().unwrap().decode().into_owned();
    assert!(text.starts_with(&left) && left.len() < 1_000, "{left}");
    let record = house.record();
    assert_eq!(record.usage_source, UsageSource::Estimated);
    assert_eq!((record.usage.uncached_input, record.usage.completion_tokens()), (7, 20));
}
