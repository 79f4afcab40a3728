//! How many connections may be open: of one address, and in all.
//!
//! At either bound, whoever has not yet had a successful answer makes room, the oldest first; only
//! where there is no such connection the new one is closed. So a thousand connections that say
//! nothing keep nobody out, not even somebody behind the same address.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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
    /// Those that make room, by age.
    strangers: BTreeMap<u64, IpAddr>,
    last_logged: Option<Instant>,
    not_logged: u64,
}

/// The connections of one address.
#[derive(Default)]
struct Address {
    open: u64,
    /// Those that make room, by age.
    strangers: BTreeMap<u64, Arc<Place>>,
}

/// What a connection and the list of all of them share.
#[derive(Default)]
struct Place {
    put_out: Notify,
    /// Somebody else has its place already.
    is_gone: AtomicBool,
}

/// A connection's place. Given back when it is dropped.
pub(crate) struct Seat {
    shared: Arc<Shared>,
    place: Arc<Place>,
    id: u64,
    address: IpAddr,
    /// It had a successful answer, and makes room for nobody.
    is_known: AtomicBool,
    /// A request has come.
    has_spoken: AtomicBool,
    /// Requests under way.
    busy: Mutex<u32>,
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
            let oldest = state.addresses.get(&address).and_then(Address::oldest);
            Some((oldest.map(|id| (id, address)), "address_full"))
        } else if state.open >= shared.bounds.all {
            let oldest = state.strangers.first_key_value().map(|(id, address)| (*id, *address));
            Some((oldest, "full"))
        } else {
            None
        };
        if let Some((oldest, reason)) = full {
            let reason = if oldest.is_some() { "made_room" } else { reason };
            shared.metrics.closed(reason);
            state.log(reason, address);
            let (id, of) = oldest?;
            if let Some(place) = state.forget_stranger(id, of) {
                place.is_gone.store(true, Ordering::Relaxed);
                place.put_out.notify_one();
                state.leave(of);
            }
        } else {
            shared.metrics.connections.inc();
        }
        let id = state.next;
        state.next += 1;
        state.open += 1;
        let place = Arc::new(Place::default());
        let here = state.addresses.entry(address).or_default();
        here.open += 1;
        here.strangers.insert(id, place.clone());
        state.strangers.insert(id, address);
        Some(Seat {
            shared: shared.clone(),
            place,
            id,
            address,
            is_known: AtomicBool::new(false),
            has_spoken: AtomicBool::new(false),
            busy: Mutex::new(0),
        })
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Address {
    fn oldest(&self) -> Option<u64> {
        self.strangers.first_key_value().map(|(id, _)| *id)
    }
}

impl State {
    /// From now on it makes room for nobody.
    fn forget_stranger(&mut self, id: u64, address: IpAddr) -> Option<Arc<Place>> {
        self.strangers.remove(&id);
        self.addresses.get_mut(&address)?.strangers.remove(&id)
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
    /// A request has come: while it is under way, the connection makes room for nobody.
    pub(crate) fn begins(&self) -> UnderWay<'_> {
        self.has_spoken.store(true, Ordering::Relaxed);
        let counts = !self.is_known.load(Ordering::Relaxed);
        if counts {
            let mut busy = self.busy();
            *busy += 1;
            if *busy == 1 {
                self.shared.lock().forget_stranger(self.id, self.address);
            }
        }
        UnderWay { seat: self, counts, success: false }
    }

    fn ends(&self, success: bool) {
        if self.is_known.load(Ordering::Relaxed) {
            return;
        }
        let mut busy = self.busy();
        *busy = busy.saturating_sub(1);
        if success {
            self.is_known.store(true, Ordering::Relaxed);
        } else if *busy == 0 && !self.place.is_gone.load(Ordering::Relaxed) {
            let mut state = self.shared.lock();
            state.strangers.insert(self.id, self.address);
            if let Some(here) = state.addresses.get_mut(&self.address) {
                here.strangers.insert(self.id, self.place.clone());
            }
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

    fn busy(&self) -> MutexGuard<'_, u32> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request under way. It ends when this is dropped.
pub(crate) struct UnderWay<'s> {
    seat: &'s Seat,
    counts: bool,
    success: bool,
}

impl UnderWay<'_> {
    /// It was answered, and after a `success` the connection makes room for nobody any more.
    pub(crate) fn ends(mut self, success: bool) {
        self.success = success;
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if self.counts {
            self.seat.ends(self.success);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.forget_stranger(self.id, self.address);
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

    fn seats(of_one_address: u64, all: u64) -> Seats {
        Seats::new(Bounds { of_one_address, all }, Arc::new(Metrics::default()))
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, last))
    }

    fn is_put_out(seat: &Seat) -> bool {
        seat.place.put_out.notified().now_or_never().is_some()
    }

    #[test]
    fn the_oldest_that_said_nothing_makes_room_at_either_bound() {
        let seats = seats(3, 5);
        let silent: Vec<Seat> = (0..3).map(|_| seats.take(address(1)).unwrap()).collect();
        let first = silent[0].begins();
        let more = seats.take(address(1)).unwrap();
        assert_eq!([0, 1, 2].map(|i| is_put_out(&silent[i])), [false, true, false]);
        let others = [seats.take(address(2)).unwrap(), seats.take(address(3)).unwrap()];
        // Everything is full now; the oldest of all is the third of the first address.
        let last = seats.take(address(4)).unwrap();
        assert!(is_put_out(&silent[2]) && !is_put_out(&more));
        // A success stays, a failure makes room again.
        first.ends(true);
        let _busy = [&more, &others[0], &others[1]].map(Seat::begins);
        let failing = last.begins();
        assert!(seats.take(address(5)).is_none());
        drop(failing);
        let _newest = seats.take(address(5)).unwrap();
        assert!(is_put_out(&last) && !is_put_out(&silent[0]));
        assert_eq!(seats.0.metrics.connections.get(), 5);
    }

    #[test]
    fn networks_of_ipv6_count_as_one_address() {
        let seats = seats(1, 9);
        let taken = seats.take("2001:db8::1".parse().unwrap()).unwrap();
        let _busy = taken.begins();
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
        let spoken = seats.take(address(1)).unwrap();
        spoken.begins().ends(true);
        let waited = tokio::time::timeout(PATIENCE * 100, spoken.given_up(PATIENCE)).await;
        assert!(waited.is_err(), "an idle connection is left alone");
    }

    proptest! {
        #[test]
        fn the_bounds_hold_and_everything_comes_back(
            steps in prop::collection::vec((0..4_u8, 0..4_u8, any::<usize>()), 0..200),
        ) {
            let seats = seats(4, 9);
            let mut open: Vec<(Seat, bool)> = Vec::new();
            for (step, of, which) in steps {
                let at = which.checked_rem(open.len()).unwrap_or(0);
                match step {
                    1 if !open.is_empty() => drop(open.swap_remove(at)),
                    2 if !open.is_empty() && !open[at].1 => {
                        // Ended below, by hand: a guard cannot stand beside its seat here.
                        std::mem::forget(open[at].0.begins());
                        open[at].1 = true;
                    }
                    3 if !open.is_empty() && open[at].1 => {
                        open[at].0.ends(which.is_multiple_of(2));
                        open[at].1 = false;
                    }
                    _ => open.extend(seats.take(address(of)).map(|seat| (seat, false))),
                }
                open.retain(|(seat, _)| !seat.place.is_gone.load(Ordering::Relaxed));
                let state = seats.0.lock();
                prop_assert_eq!(state.open, open.len() as u64);
                prop_assert!(state.open <= 9);
                prop_assert!(state.addresses.values().all(|here| here.open <= 4 && here.open > 0));
                let listed: usize = state.addresses.values().map(|here| here.strangers.len()).sum();
                prop_assert_eq!(listed, state.strangers.len());
            }
            drop(open);
            prop_assert_eq!(seats.0.lock().open, 0);
            prop_assert!(seats.0.lock().strangers.is_empty());
            prop_assert_eq!(seats.0.metrics.connections.get(), 0);
        }
    }
}
