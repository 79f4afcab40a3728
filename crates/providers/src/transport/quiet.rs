//! Keeps a connection from waking the task that is driving it.
//!
//! hyper's two sides of a connection tell each other by wakers what they did. Both are polled here
//! by one task, one after the other, until neither has anything to do: what they tell each other
//! in between is seen at once, and to be woken for it again would poll the whole task for nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// How often the sides are polled in a row before others get their turn.
const MOST_ROUNDS: usize = 16;

/// The waker that a connection's two sides get.
pub(super) struct Quiet {
    state: Arc<State>,
    waker: Waker,
}

#[derive(Default)]
struct State {
    /// The task that waits.
    task: Mutex<Option<Waker>>,
    polling: AtomicBool,
    woken: AtomicBool,
}

impl Wake for State {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Sequentially consistent, here and below: either this sees that nobody polls any more, or
        // whoever polled sees that it was woken.
        self.woken.store(true, Ordering::SeqCst);
        if !self.polling.load(Ordering::SeqCst) {
            let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(task) = task {
                task.wake();
            }
        }
    }
}

impl Quiet {
    pub(super) fn new() -> Self {
        let state = Arc::new(State::default());
        Self { waker: Waker::from(state.clone()), state }
    }

    /// Polls `step` until it is ready, or has nothing to do until something from outside happens.
    pub(super) fn poll<T>(
        &self,
        cx: &mut Context<'_>,
        mut step: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let state = &*self.state;
        {
            let mut task = state.task.lock().unwrap_or_else(PoisonError::into_inner);
            match &mut *task {
                Some(known) => known.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
        }
        state.polling.store(true, Ordering::SeqCst);
        let mut inner = Context::from_waker(&self.waker);
        let mut polled = Poll::Pending;
        for _ in 0..MOST_ROUNDS {
            state.woken.store(false, Ordering::SeqCst);
            polled = step(&mut inner);
            if polled.is_ready() || !state.woken.load(Ordering::SeqCst) {
                break;
            }
        }
        state.polling.store(false, Ordering::SeqCst);
        // Whoever was told "ready" asks again; whoever waits has to be woken for what was missed.
        if polled.is_pending() && state.woken.load(Ordering::SeqCst) {
            cx.waker().wake_by_ref();
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn what_the_sides_tell_each_other_wakes_nobody_and_the_outside_does() {
        let count = Arc::new(Count::default());
        let task = Waker::from(count.clone());
        let mut cx = Context::from_waker(&task);
        let quiet = Quiet::new();
        let (mut rounds, mut outside) = (0, None);
        let polled = quiet.poll(&mut cx, |cx| {
            rounds += 1;
            outside = Some(cx.waker().clone());
            if rounds < 3 {
                cx.waker().wake_by_ref();
            }
            Poll::<()>::Pending
        });
        assert!(polled.is_pending());
        assert_eq!((rounds, count.0.load(Ordering::SeqCst)), (3, 0));
        outside.unwrap().wake();
        assert_eq!(count.0.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn sides_that_never_rest_let_others_have_their_turn() {
        let count = Arc::new(Count::default());
        let task = Waker::from(count.clone());
        let mut rounds = 0;
        let polled = Quiet::new().poll(&mut Context::from_waker(&task), |cx| {
            rounds += 1;
            cx.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        assert!(polled.is_pending());
        assert_eq!((rounds, count.0.load(Ordering::SeqCst)), (MOST_ROUNDS, 1));
    }
}
