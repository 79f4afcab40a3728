//! Requests to a router, from the question to the answer.

use std::sync::Arc;
use std::time::Duration;

use sluice_core::chat::{ChatRequest, Content, Part, RequestOptions};
use sluice_core::region::Region;
use sluice_core::routing::RouteRecord;
use sluice_providers::error::ProviderErrorKind;
use sluice_storage::JournalEntry;

use crate::chat::Answer;
use crate::error::ChatError;
use crate::testing::{
    DONE, HELLO, House, NOW, Script, TIMEOUTS, WHOLE, chat, says, script, streamed,
};

fn to_router() -> ChatRequest {
    ChatRequest { model: "svc/auto".into(), ..chat("Why does my build fail?") }
}

fn whole() -> Script {
    script([says(0, WHOLE)])
}

fn broken() -> Script {
    Script { status: 500, ..script([says(0, "{}")]) }
}

/// The model that answered, and the decision.
async fn answered(house: &House, chat: ChatRequest) -> (String, RouteRecord) {
    match house.ask(chat).await {
        Ok(Answer::Whole(whole)) => {
            let (_, receipt) = *whole;
            (receipt.model.to_string(), Arc::unwrap_or_clone(receipt.decided.route.unwrap()))
        }
        Ok(Answer::Stream(_)) => panic!("a stream"),
        Err(error) => panic!("{error:?}"),
    }
}

fn rest(house: &House, provider: &str, seconds: u64) {
    let health = house.gateway.snapshot().providers[provider].health.clone();
    health.failed(ProviderErrorKind::RateLimited, Some(Duration::from_secs(seconds)), NOW);
}

#[tokio::test(start_paused = true)]
async fn the_decision_is_on_the_answer_and_in_the_record() {
    let house = House::new(TIMEOUTS);
    house.expect_of_second(whole());
    let (model, route) = answered(&house, to_router()).await;
    assert_eq!((model.as_str(), route.reason.as_str()), ("large", "best"));
    assert_eq!((route.router.as_str(), route.policy.as_str()), ("svc/auto", "strongest"));
    let models: Vec<&str> = route.candidates.iter().map(|c| c.model.as_str()).collect();
    assert_eq!(models, ["large", "small"]);
    let record = house.record();
    assert_eq!(
        (record.model_asked.as_str(), record.model.unwrap().as_str()),
        ("svc/auto", "large")
    );
    assert_eq!(record.route, Some(route));
}

#[tokio::test(start_paused = true)]
async fn nothing_of_a_decision_is_kept_under_zero_retention() {
    let house = House::new(TIMEOUTS);
    for _ in 0..2 {
        house.expect_of_second(whole());
        let options = RequestOptions { zero_retention: true, ..RequestOptions::default() };
        let (_, route) = answered(&house, ChatRequest { options, ..to_router() }).await;
        // No session is recognised by its content.
        assert_eq!(route.reason, "best");
    }
    assert!(house.entries().iter().all(|entry| matches!(entry, JournalEntry::Sum(_))));
}

#[tokio::test(start_paused = true)]
async fn another_model_answers_where_the_first_fails_and_keeps_the_session() {
    let house = House::new(TIMEOUTS);
    house.expect_of_second(broken());
    house.expect(whole());
    let (model, route) = answered(&house, to_router()).await;
    assert_eq!((model.as_str(), route.candidates[0].model.as_str()), ("small", "large"));
    // The other one is so much better that the session returns to it.
    house.expect_of_second(whole());
    let (model, route) = answered(&house, to_router()).await;
    assert_eq!((model.as_str(), route.reason.as_str()), ("large", "escalated"));
    house.expect_of_second(whole());
    let (_, route) = answered(&house, to_router()).await;
    assert_eq!(route.reason, "session");
}

#[tokio::test(start_paused = true)]
async fn a_stream_names_the_model_that_answers() {
    let house = House::new(TIMEOUTS);
    house.expect_of_second(broken());
    house.expect(script([says(0, HELLO), says(0, DONE)]));
    let chat = ChatRequest { model: "svc/auto".into(), ..streamed() };
    let Ok(Answer::Stream(stream)) = house.ask(chat).await else { panic!("no stream") };
    assert_eq!(stream.model().unwrap().as_str(), "small");
    assert_eq!(stream.decided().route.as_ref().unwrap().candidates[0].model.as_str(), "large");
}

#[tokio::test(start_paused = true)]
async fn a_router_without_anybody_says_why_of_each() {
    let house = House::new(TIMEOUTS);
    rest(&house, "first", 30);
    rest(&house, "second", 7);
    let Err(ChatError::NoModelAvailable { model, reasons, retry_after }) =
        house.ask(to_router()).await.map(|_| ())
    else {
        panic!("an answer")
    };
    assert_eq!((model.as_str(), retry_after), ("svc/auto", Duration::from_secs(7)));
    assert_eq!(
        reasons,
        "small at first: its provider asked to be left alone for 30 s; \
         large at second: its provider asked to be left alone for 7 s"
    );
    assert_eq!(house.calls(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn whoever_rests_is_not_asked() {
    let house = House::new(TIMEOUTS);
    rest(&house, "second", 7);
    house.expect(whole());
    let (model, route) = answered(&house, to_router()).await;
    assert_eq!((model.as_str(), route.reason.as_str()), ("small", "only"));
    assert_eq!(route.candidates[1].excluded.as_deref(), Some("resting"));
}

#[tokio::test(start_paused = true)]
async fn what_no_member_can_do_is_the_requests_own_fault() {
    let house = House::new(TIMEOUTS);
    let mut elsewhere = to_router();
    elsewhere.options.region = Some(Region::EuWest);
    let error = house.ask(elsewhere).await.map(|_| ()).unwrap_err();
    assert_eq!(
        error,
        ChatError::RegionUnavailable {
            model: "svc/auto".to_owned(),
            region: Region::EuWest,
            regions: vec![Region::UsEast],
        }
    );
    // What is unknown of a model does not stand against it.
    let mut with_image = to_router();
    let image = Part::Image { url: "data:,".into(), detail: None, cache_breakpoint: None };
    with_image.messages[0].content = Content::Parts(vec![image]);
    house.expect_of_second(whole());
    assert_eq!(answered(&house, with_image).await.0, "large");
}

#[tokio::test(start_paused = true)]
async fn what_fits_into_no_model_is_too_long_and_nothing_else() {
    let house = House::with_windows(5000);
    let long = ChatRequest { model: "svc/auto".into(), ..chat(&"many words ".repeat(4000)) };
    let error = house.ask(long).await.map(|_| ()).unwrap_err();
    assert!(matches!(error, ChatError::Rejected { too_long: true, .. }), "{error:?}");
    house.expect_of_second(whole());
    assert_eq!(answered(&house, to_router()).await.0, "large", "a short one has room");
}

#[tokio::test(start_paused = true)]
async fn failures_between_answers_that_nobody_counted_are_not_in_a_row() {
    let house = House::new(TIMEOUTS);
    let uncounted = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}"#;
    for _ in 0..4 {
        house.expect_of_second(broken());
        house.expect(whole());
        let one_by_one = |name: &str| ChatRequest { model: name.into(), ..chat("Hello?") };
        answered(&house, to_router()).await;
        house.expect_of_second(script([says(0, uncounted)]));
        assert!(house.ask(one_by_one("large")).await.is_ok());
    }
    let speed = house.gateway.snapshot().speeds.of(&"large".into())[0].clone();
    assert_eq!(speed.failing(NOW), None);
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_for_is_no_metric_under_zero_retention() {
    let house = House::new(TIMEOUTS);
    house.expect_of_second(whole());
    let options = RequestOptions { zero_retention: true, ..RequestOptions::default() };
    answered(&house, ChatRequest { options, ..to_router() }).await;
    assert!(!house.gateway.metrics().render().contains("task_type="));
    house.expect_of_second(whole());
    answered(&house, to_router()).await;
    assert!(house.gateway.metrics().render().contains("task_type="));
}
