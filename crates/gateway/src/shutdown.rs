//! The moment at which a server that stops waits for answers no longer.
//!
//! Whoever waits for a model's next words has to wake up for it. A stream is polled for each
//! chunk, so it registers once with each task that polls it, and otherwise reads one flag.

use std::future::Future as _;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};

use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

/// Whether answers under way are cut off.
#[derive(Debug, Default)]
pub(crate) struct Shutdown {
    flag: Arc<AtomicBool>,
    wake: Arc<Notify>,
}

impl Shutdown {
    /// Cuts off every answer under way, and each that still begins.
    pub(crate) fn now(&self) {
        self.flag.store(true, Ordering::SeqCst);
        self.wake.notify_waiters();
    }

    /// Waits until it comes.
    pub(crate) async fn wait(&self) {
        // Made before the flag is read: a cut in between is not missed.
        let woken = self.wake.notified();
        if !self.flag.load(Ordering::SeqCst) {
            woken.await;
        }
    }

    /// What a stream looks at.
    pub(crate) fn watch(&self) -> ShutdownWatch {
        let woken = Box::pin(self.wake.clone().notified_owned());
        ShutdownWatch { flag: self.flag.clone(), woken, registered: None }
    }
}

/// A stream's view of [`Shutdown`].
pub(crate) struct ShutdownWatch {
    flag: Arc<AtomicBool>,
    woken: Pin<Box<OwnedNotified>>,
    /// The task that is woken.
    registered: Option<Waker>,
}

impl ShutdownWatch {
    /// Whether the answer is cut off.
    pub(crate) fn has_come(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Whether the answer is cut off; where it is not, the task is woken when it is.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        let registered = self.registered.as_ref().is_some_and(|task| task.will_wake(cx.waker()));
        if !registered && !self.has_come() {
            self.registered = Some(cx.waker().clone());
            return self.woken.as_mut().poll(cx).is_ready() || self.has_come();
        }
        self.has_come()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use sluice_core::outcome::Outcome;

    use crate::answer::Piece;
    use crate::chat::Answer;
    use crate::error::ChatError;
    use crate::testing::{HELLO, House, Script, Step, TIMEOUTS, says, script, seconds, streamed};

    /// The last piece of a streamed answer.
    async fn last_piece(house: &House) -> Piece {
        let Answer::Stream(mut stream) = house.ask(streamed()).await.unwrap() else {
            panic!("a stream was asked for")
        };
        let mut pieces = Vec::new();
        while poll_fn(|cx| stream.poll_pieces(cx, &mut pieces)).await {}
        pieces.pop().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_is_cut_off_says_so_and_is_recorded() {
        // In the middle of an answer, and before its first word.
        for (head, generated) in [(0, true), (16, false)] {
            let house = House::new(TIMEOUTS);
            house.expect(Script { head: seconds(head), ..script([says(0, HELLO), Step::Hangs]) });
            let cut = async {
                tokio::time::sleep(Duration::from_millis(15_500)).await;
                house.gateway.cut();
            };
            let began = tokio::time::Instant::now();
            let (last, ()) = tokio::join!(last_piece(&house), cut);
            assert!(matches!(last, Piece::Failed(ChatError::ShuttingDown)), "{last:?}");
            assert_eq!(began.elapsed(), Duration::from_millis(15_500), "it is woken for it");
            let record = house.record();
            assert_eq!(record.outcome, Outcome::Cancelled);
            assert_eq!(record.usage.output > 0, generated);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_has_not_begun_is_an_error() {
        let house = House::new(TIMEOUTS);
        house.expect(script([Step::Hangs]));
        house.gateway.cut();
        assert_eq!(house.ask(streamed()).await.err().unwrap(), ChatError::ShuttingDown);
        assert_eq!(house.record().outcome, Outcome::Cancelled);
    }
}
