//! Pages are made on threads of their own, which step aside for the API: whoever browses through
//! millions of records must not be felt by whoever waits for an answer.

use std::panic::resume_unwind;

use http::{Method, Request, Response};
use sluice_dashboard::{Body, Dashboard};
use sluice_gateway::proxies::Client;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinSet;

/// As many as there are connections to read with.
const THREADS: usize = 2;
/// How far pages step aside, as `nice` counts it: beside the API on a busy processor, they get about
/// a tenth of what it gets.
const NICENESS: i32 = 10;

/// The threads that pages are made on. Dropped, it waits for none of them.
pub(crate) struct PageThreads(Option<Runtime>);

impl PageThreads {
    /// Starts them.
    pub(crate) fn start() -> std::io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("pages")
            .on_thread_start(step_aside)
            .enable_all()
            .build()?;
        Ok(Self(Some(runtime)))
    }

    /// `dashboard`, on these threads.
    pub(crate) fn of(&self, dashboard: Dashboard) -> Pages {
        let threads =
            self.0.as_ref().map_or_else(Handle::current, |runtime| runtime.handle().clone());
        Pages { dashboard, threads }
    }
}

impl Drop for PageThreads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// The dashboard, on its threads.
#[derive(Clone)]
pub(crate) struct Pages {
    dashboard: Dashboard,
    threads: Handle,
}

impl Pages {
    /// See [`Dashboard::respond`]. Whoever leaves drops this, which ends the work as well.
    pub(crate) async fn respond(&self, request: Request<Body>, client: Client) -> Response<Body> {
        // The others may ask a provider, and connections to providers belong to the API's threads.
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return self.dashboard.respond(request, client).await;
        }
        let dashboard = self.dashboard.clone();
        let mut page = JoinSet::new();
        page.spawn_on(async move { dashboard.respond(request, client).await }, &self.threads);
        match page.join_next().await {
            Some(Ok(response)) => response,
            Some(Err(error)) if error.is_panic() => resume_unwind(error.into_panic()),
            // The server ends.
            _ => Response::new(Body::empty()),
        }
    }
}

/// Lowers the priority of the thread that calls this, and of those that it starts: SQLite's
/// connections work on threads that are started by whoever opens them.
fn step_aside() {
    // Elsewhere, this would concern the whole process.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "pages keep the priority of the API");
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_pages_start_steps_aside_and_the_api_does_not() {
        let nice = || rustix::process::getpriority_process(None).unwrap();
        let own = nice();
        let threads = PageThreads::start().unwrap();
        let runtime = threads.0.as_ref().unwrap();
        let of_page =
            runtime.spawn(async move { (nice(), std::thread::spawn(nice).join().unwrap()) });
        assert_eq!(of_page.await.unwrap(), (NICENESS, NICENESS));
        let of_blocking = runtime.spawn_blocking(nice).await.unwrap();
        assert_eq!((of_blocking, nice()), (NICENESS, own));
    }
}
