//! How many connections may be open: of one address, and in all.
//!
//! At either bound somebody makes room: first whoever has not yet had a successful answer, the
//! oldest first and those with a request under way last, since a request proves nothing; then
//! whoever had one and has been idle longest. Only where all are known and busy the new connection
//! is closed. So a thousand connections keep nobody out, not even somebody behind the same address,
//! whether they say nothing, ask without a key or were answered once.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http_body::{Body, Frame, SizeHint};
use sluice_gateway::metrics::Metrics;
use tokio::sync::Notify;

/// File descriptors that are left for the database, the journal, logs and listeners.
const OWN_DESCRIPTORS: u64 = 128;
/// Closed connections are logged once in so long, with their number.
const LOG_PAUSE: Duration = Duration::from_secs(10);

/// The bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Connections of one address: an IPv4 address, or an IPv6 network of 64 bits.
    pub(crate) of_one_address: u64,
    /// All connections.
    pub(crate) all: u64,
}

impl Bounds {
    /// The bounds that `descriptors` leave: each connection may need a second one, to a provider.
    pub(crate) fn within(self, descriptors: Option<u64>) -> Self {
        let Some(descriptors) = descriptors else { return self };
        let most = (descriptors.saturating_sub(OWN_DESCRIPTORS) / 2).max(1);
        Self { all: self.all.min(most), ..self }
    }
}

/// Raises the number of file descriptors that this process may have as far as it may itself.
/// `None` where there is no such number.
pub(crate) fn raise_descriptors() -> Option<u64> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let hard = getrlimit(Resource::Nofile).maximum;
        // Some systems refuse what they call their limit; then the soft one stays.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: hard, maximum: hard });
        getrlimit(Resource::Nofile).current
    }
    #[cfg(not(unix))]
    None
}

/// All connections that are open.
#[derive(Clone)]
pub(crate) struct Seats(Arc<Shared>);

struct Shared {
    bounds: Bounds,
    metrics: Arc<Metrics>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u64,
    open: u64,
    addresses: HashMap<IpAddr, Address>,
    /// Those that make room, the first to go first.
    queue: BTreeMap<Turn, IpAddr>,
    last_logged: Option<Instant>,
    not_logged: u64,
}

/// The connections of one address.
#[derive(Default)]
struct Address {
    open: u64,
    /// Those that make room, the first to go first.
    queue: BTreeMap<Turn, Arc<Place>>,
}

/// When a connection has to make room. No two have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    rank: Rank,
    /// Since when it is there, or for a known one: idle.
    since: u64,
}

/// Who makes room before whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    IdleStranger,
    BusyStranger,
    IdleKnown,
}

/// How a connection is doing.
#[derive(Default)]
struct Standing {
    /// It had a successful answer.
    is_known: bool,
    /// Requests under way.
    busy: u32,
    /// `None` while it makes room for nobody.
    turn: Option<Turn>,
}

impl Standing {
    fn rank(&self) -> Option<Rank> {
        match (self.is_known, self.busy > 0) {
            (false, false) => Some(Rank::IdleStranger),
            (false, true) => Some(Rank::BusyStranger),
            (true, false) => Some(Rank::IdleKnown),
            (true, true) => None,
        }
    }
}

/// What a connection and the list of all of them share.
#[derive(Default)]
struct Place {
    put_out: Notify,
    /// Somebody else has its place already. Written under the lock of the state.
    is_gone: AtomicBool,
}

/// A connection's place. Given back when it is dropped.
pub(crate) struct Seat {
    shared: Arc<Shared>,
    place: Arc<Place>,
    id: u64,
    address: IpAddr,
    /// A request has come.
    has_spoken: AtomicBool,
    /// Locked before the state of all.
    standing: Mutex<Standing>,
}

impl Seats {
    pub(crate) fn new(bounds: Bounds, metrics: Arc<Metrics>) -> Self {
        Self(Arc::new(Shared { bounds, metrics, state: Mutex::default() }))
    }

    /// A place for a connection from `address`; `None` where there is none.
    pub(crate) fn take(&self, address: IpAddr) -> Option<Seat> {
        let address = network(address);
        let shared = &self.0;
        let mut state = shared.lock();
        let here = state.addresses.get(&address).map_or(0, |here| here.open);
        let full = if here >= shared.bounds.of_one_address {
            let first = state.addresses.get(&address).and_then(Address::first_to_go);
            Some((first.map(|turn| (turn, address)), "address_full"))
        } else if state.open >= shared.bounds.all {
            let first = state.queue.first_key_value().map(|(turn, address)| (*turn, *address));
            Some((first, "full"))
        } else {
            None
        };
        if let Some((first, reason)) = full {
            let reason = if first.is_some() { "made_room" } else { reason };
            shared.metrics.closed(reason);
            state.log(reason, address);
            let (turn, of) = first?;
            if let Some(place) = state.leave_queue(turn, of) {
                place.is_gone.store(true, Ordering::Relaxed);
                place.put_out.notify_one();
                state.leave(of);
            }
        } else {
            shared.metrics.connections.inc();
        }
        let id = state.moment();
        state.open += 1;
        let place = Arc::new(Place::default());
        state.addresses.entry(address).or_default().open += 1;
        let turn = Turn { rank: Rank::IdleStranger, since: id };
        state.queue(turn, address, &place);
        let standing = Standing { turn: Some(turn), ..Standing::default() };
        Some(Seat {
            shared: shared.clone(),
            place,
            id,
            address,
            has_spoken: AtomicBool::new(false),
            standing: Mutex::new(standing),
        })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Address {
    fn first_to_go(&self) -> Option<Turn> {
        self.queue.first_key_value().map(|(turn, _)| *turn)
    }
}

impl State {
    /// A number that is later than all before it.
    fn moment(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn queue(&mut self, turn: Turn, address: IpAddr, place: &Arc<Place>) {
        self.queue.insert(turn, address);
        if let Some(here) = self.addresses.get_mut(&address) {
            here.queue.insert(turn, place.clone());
        }
    }

    fn leave_queue(&mut self, turn: Turn, address: IpAddr) -> Option<Arc<Place>> {
        self.queue.remove(&turn);
        self.addresses.get_mut(&address)?.queue.remove(&turn)
    }

    /// One connection of `address` less.
    fn leave(&mut self, address: IpAddr) {
        self.open = self.open.saturating_sub(1);
        if let Some(here) = self.addresses.get_mut(&address) {
            here.open = here.open.saturating_sub(1);
            if here.open == 0 {
                self.addresses.remove(&address);
            }
        }
    }

    fn log(&mut self, reason: &'static str, address: IpAddr) {
        self.not_logged += 1;
        if self.last_logged.is_some_and(|last| last.elapsed() < LOG_PAUSE) {
            return;
        }
        self.last_logged = Some(Instant::now());
        let closed = std::mem::take(&mut self.not_logged);
        tracing::warn!(closed, reason, %address, "too many connections; some were closed");
    }
}

impl Seat {
    /// A request has come. While it is under way, a known connection makes room for nobody.
    pub(crate) fn begins(self: &Arc<Self>) -> UnderWay {
        self.has_spoken.store(true, Ordering::Relaxed);
        self.change(|standing| standing.busy += 1);
        UnderWay { seat: self.clone() }
    }

    fn change(&self, change: impl FnOnce(&mut Standing)) {
        let mut standing = self.standing();
        change(&mut standing);
        let rank = standing.rank();
        if rank == standing.turn.map(|turn| turn.rank) {
            return;
        }
        let mut state = self.shared.lock();
        if self.place.is_gone.load(Ordering::Relaxed) {
            return;
        }
        if let Some(turn) = standing.turn.take() {
            state.leave_queue(turn, self.address);
        }
        if let Some(rank) = rank {
            let since = if rank == Rank::IdleKnown { state.moment() } else { self.id };
            let turn = Turn { rank, since };
            state.queue(turn, self.address, &self.place);
            standing.turn = Some(turn);
        }
    }

    /// Waits until the connection has to be closed: for others, or since no request has come within
    /// `patience`. Says why.
    pub(crate) async fn given_up(&self, patience: Duration) -> &'static str {
        tokio::select! {
            biased;
            () = self.place.put_out.notified() => return "made_room",
            () = tokio::time::sleep(patience) => {}
        }
        if !self.has_spoken.load(Ordering::Relaxed) {
            self.shared.metrics.closed("silent");
            return "silent";
        }
        self.place.put_out.notified().await;
        "made_room"
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request under way. It ends when this is dropped.
pub(crate) struct UnderWay {
    seat: Arc<Seat>,
}

impl UnderWay {
    /// It is answered with success: whoever asks is known from now on.
    pub(crate) fn succeeded(&self) {
        self.seat.change(|standing| standing.is_known = true);
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.seat.change(|standing| standing.busy = standing.busy.saturating_sub(1));
    }
}

/// An answer's body. Its request is under way until all of it has been sent: a stream goes on long
/// after its head.
pub(crate) struct Held<B> {
    pub(crate) body: B,
    pub(crate) _under_way: UnderWay,
}

impl<B: Body + Unpin> Body for Held<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let turn = self.standing().turn;
        let mut state = self.shared.lock();
        if let Some(turn) = turn {
            state.leave_queue(turn, self.address);
        }
        // Whoever has made room has left already, and its successor counts in its stead.
        if !self.place.is_gone.load(Ordering::Relaxed) {
            state.leave(self.address);
            self.shared.metrics.connections.dec();
        }
    }
}

/// What one caller can easily have: an IPv4 address, or an IPv6 network of 64 bits.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use futures_util::FutureExt as _;
    use proptest::prelude::*;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    fn take(seats: &Seats, last: u8) -> Option<Arc<Seat>> {
        seats.take(address(last)).map(Arc::new)
    }

    fn seats(of_one_address: u64, all: u64) -> Seats {
        Seats::new(Bounds { of_one_address, all }, Arc::new(Metrics::default()))
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, last))
    }

    fn is_put_out(seat: &Seat) -> bool {
        seat.place.put_out.notified().now_or_never().is_some()
    }

    /// It had a successful answer.
    fn is_answered(seat: &Arc<Seat>) {
        seat.begins().succeeded();
    }

    #[test]
    fn the_oldest_that_said_nothing_makes_room_at_either_bound() {
        let seats = seats(3, 5);
        let silent = [1; 3].map(|of| take(&seats, of).unwrap());
        let asking = silent[0].begins();
        let more = take(&seats, 1).unwrap();
        assert_eq!([0, 1, 2].map(|i| is_put_out(&silent[i])), [false, true, false]);
        let _others = [2, 3].map(|of| take(&seats, of).unwrap());
        // Everything is full now; the oldest of all is the third of the first address.
        let last = take(&seats, 4).unwrap();
        assert!(is_put_out(&silent[2]) && !is_put_out(&more));
        // Who was answered stays while there are strangers.
        asking.succeeded();
        drop(asking);
        let _newer = [5, 6].map(|of| take(&seats, of).unwrap());
        assert!(is_put_out(&more) && !is_put_out(&silent[0]) && !is_put_out(&last));
        assert_eq!(seats.0.metrics.connections.get(), 5);
    }

    #[test]
    fn a_request_of_a_stranger_keeps_nobody_out() {
        let seats = seats(9, 3);
        let [first, second, third] = [1, 2, 3].map(|of| take(&seats, of).unwrap());
        let _asking = [&first, &second].map(Seat::begins);
        let fourth = take(&seats, 4).unwrap();
        assert!(is_put_out(&third), "the idle one goes first, though it came last");
        let _fourth = fourth.begins();
        let overlapping = first.begins();
        let _fifth = take(&seats, 5).unwrap().begins();
        assert!(is_put_out(&first) && !is_put_out(&second));
        // What comes after it is gone changes nothing.
        overlapping.succeeded();
        drop((overlapping, first, third));
        let state = seats.0.lock();
        assert_eq!((state.open, state.queue.len()), (3, 3));
    }

    #[test]
    fn known_connections_make_room_while_they_are_idle_the_longest_idle_first() {
        let seats = seats(9, 3);
        let known = [1, 2, 3].map(|of| take(&seats, of).unwrap());
        known.iter().for_each(is_answered);
        let busy = known[0].begins();
        is_answered(&known[1]);
        let fourth = take(&seats, 4).unwrap();
        assert_eq!([0, 1, 2].map(|i| is_put_out(&known[i])), [false, false, true]);
        // A stranger still goes before all that are known.
        let fifth = take(&seats, 5).unwrap();
        assert!(is_put_out(&fourth) && !is_put_out(&known[1]));
        let others = [&known[1], &fifth].map(Seat::begins);
        others[1].succeeded();
        assert!(take(&seats, 6).is_none(), "all are known and busy");
        drop(busy);
        assert!(take(&seats, 6).is_some() && is_put_out(&known[0]));
    }

    #[test]
    fn networks_of_ipv6_count_as_one_address() {
        let seats = seats(1, 9);
        let taken = Arc::new(seats.take("2001:db8::1".parse().unwrap()).unwrap());
        let busy = taken.begins();
        busy.succeeded();
        assert!(seats.take("2001:db8::ffff:1".parse().unwrap()).is_none());
        assert!(seats.take("2001:db8:0:1::1".parse().unwrap()).is_some());
        assert!(seats.take("::ffff:192.0.2.1".parse().unwrap()).is_some());
    }

    #[test]
    fn descriptors_are_left_for_providers_and_the_database() {
        let wide = Bounds { of_one_address: 1_024, all: 8_192 };
        assert_eq!(wide.within(None), wide);
        assert_eq!(wide.within(Some(1 << 20)), wide);
        assert_eq!(wide.within(Some(1_024)).all, 448);
        assert_eq!(wide.within(Some(20)).all, 1);
        assert!(raise_descriptors().is_none_or(|descriptors| descriptors > 0));
    }

    #[tokio::test(start_paused = true)]
    async fn who_says_nothing_is_given_up_on_and_who_has_spoken_is_not() {
        let seats = seats(9, 9);
        let silent = seats.take(address(1)).unwrap();
        assert_eq!(silent.given_up(PATIENCE).await, "silent");
        let spoken = take(&seats, 1).unwrap();
        is_answered(&spoken);
        let waited = tokio::time::timeout(PATIENCE * 100, spoken.given_up(PATIENCE)).await;
        assert!(waited.is_err(), "an idle connection is left alone");
    }

    proptest! {
        #[test]
        fn the_bounds_hold_and_everything_comes_back(
            steps in prop::collection::vec((0..4_u8, 0..4_u8, any::<usize>()), 0..200),
        ) {
            let seats = seats(4, 9);
            let mut open: Vec<(Arc<Seat>, Option<UnderWay>)> = Vec::new();
            for (step, of, which) in steps {
                let at = which.checked_rem(open.len()).unwrap_or(0);
                match step {
                    1 if !open.is_empty() => drop(open.swap_remove(at)),
                    2 if !open.is_empty() => open[at].1 = Some(open[at].0.begins()),
                    3 if !open.is_empty() => {
                        let ended = open[at].1.take();
                        if let Some(ended) = ended.filter(|_| which.is_multiple_of(2)) {
                            ended.succeeded();
                        }
                    }
                    _ => open.extend(take(&seats, of).map(|seat| (seat, None))),
                }
                open.retain(|(seat, _)| !seat.place.is_gone.load(Ordering::Relaxed));
                let stays = |(seat, busy): &&(Arc<Seat>, Option<UnderWay>)| {
                    busy.is_some() && seat.standing().is_known
                };
                let staying = open.iter().filter(stays).count();
                let state = seats.0.lock();
                prop_assert_eq!(state.queue.len() + staying, open.len());
                prop_assert_eq!(state.open, open.len() as u64);
                prop_assert!(state.open <= 9);
                prop_assert!(state.addresses.values().all(|here| here.open <= 4 && here.open > 0));
                let listed: usize = state.addresses.values().map(|here| here.queue.len()).sum();
                prop_assert_eq!(listed, state.queue.len());
            }
            drop(open);
            prop_assert_eq!(seats.0.lock().open, 0);
            prop_assert!(seats.0.lock().queue.is_empty());
            prop_assert_eq!(seats.0.metrics.connections.get(), 0);
        }
    }
}
