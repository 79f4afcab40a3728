//! The loads: one table, and how one is run.

use anyhow::{Context, bail, ensure};
use serde_json::Value;

use super::target::Address;
use super::{Figures, LOAD_CORE, pinned, release_binary};
use crate::shell::output;

/// One load.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The model's name: what the fake upstream answers.
    model: &'static str,
    prompt: &'static str,
    pace: Pace,
    /// What its CPU time is divided by.
    pub(crate) per: Per,
}

/// How requests follow each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Pace {
    /// So many connections, each with one request always in flight.
    Saturated(u32),
    /// So many requests a second, whatever the target does.
    Rate(u32),
}

/// A unit of work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Per {
    Request,
    Chunk,
}

/// Every load. The rates are low enough for all targets to keep up with.
pub(crate) const SCENARIOS: [Scenario; 9] = [
    Scenario {
        name: "small",
        about: "1 KB prompt, whole answer, saturated",
        model: "bench-whole",
        prompt: "small",
        pace: Pace::Saturated(16),
        per: Per::Request,
    },
    Scenario {
        name: "large",
        about: "100 KB prompt, whole answer, saturated",
        model: "bench-whole",
        prompt: "large",
        pace: Pace::Saturated(8),
        per: Per::Request,
    },
    Scenario {
        name: "small-rate",
        about: "1 KB prompt, whole answer, 1 000 a second",
        model: "bench-whole",
        prompt: "small",
        pace: Pace::Rate(1000),
        per: Per::Request,
    },
    Scenario {
        name: "large-rate",
        about: "100 KB prompt, whole answer, 150 a second",
        model: "bench-whole",
        prompt: "large",
        pace: Pace::Rate(150),
        per: Per::Request,
    },
    Scenario {
        name: "burst",
        about: "1 KB prompt, 100 chunks at once, 4 connections",
        model: "bench-stream-100-0",
        prompt: "small",
        pace: Pace::Saturated(4),
        per: Per::Chunk,
    },
    Scenario {
        name: "burst-large",
        about: "100 KB prompt, 100 chunks at once, 4 connections",
        model: "bench-stream-100-0",
        prompt: "large",
        pace: Pace::Saturated(4),
        per: Per::Request,
    },
    Scenario {
        name: "paced",
        about: "1 KB prompt, a chunk each 5 ms, 8 connections",
        model: "bench-stream-100-5",
        prompt: "small",
        pace: Pace::Saturated(8),
        per: Per::Chunk,
    },
    Scenario {
        name: "first-token",
        about: "1 KB prompt, 3 chunks 5 ms apart, 200 a second",
        model: "bench-stream-3-5",
        prompt: "small",
        pace: Pace::Rate(200),
        per: Per::Request,
    },
    Scenario {
        name: "first-large",
        about: "100 KB prompt, 3 chunks 5 ms apart, 100 a second",
        model: "bench-stream-3-5",
        prompt: "large",
        pace: Pace::Rate(100),
        per: Per::Request,
    },
];

impl Scenario {
    /// Whether latencies are those of lone requests, rather than of a queue.
    pub(crate) fn is_at_a_rate(&self) -> bool {
        matches!(self.pace, Pace::Rate(_))
    }

    /// Whether the answers are streams with a pause before each chunk.
    pub(crate) fn is_paced(&self) -> bool {
        self.model.starts_with("bench-stream") && !self.model.ends_with("-0")
    }

    /// Puts the load on `address` for `seconds`; the load generator's report. A wrong answer is an
    /// error: a figure with failures in it says nothing.
    pub(crate) fn load(&self, address: &Address, seconds: f64) -> anyhow::Result<Value> {
        let mut command = pinned(LOAD_CORE, &release_binary("load"));
        command
            .args(["--port", &address.port.to_string(), "--path", address.path])
            .args(["--header", &format!("authorization: Bearer {}", address.key)])
            .args(["--model", self.model, "--prompt", self.prompt])
            .args(["--seconds", &seconds.to_string()]);
        match self.pace {
            Pace::Saturated(connections) => {
                command.args(["--connections", &connections.to_string()])
            }
            Pace::Rate(rate) => command.args(["--rate", &rate.to_string()]),
        };
        let report: Value = serde_json::from_str(&output(&mut command)?)?;
        let errors = &report["errors"];
        ensure!(errors.as_object().is_some_and(|e| e.is_empty()), "{}: {errors}", self.name);
        Ok(report)
    }

    /// The figures of a report, and of what the target spent meanwhile.
    pub(crate) fn figures(
        &self,
        report: &Value,
        cpu_seconds: Option<f64>,
    ) -> anyhow::Result<Figures> {
        let number = |pointer: &str| report.pointer(pointer).and_then(Value::as_f64);
        let units = match self.per {
            Per::Request => number("/ok"),
            Per::Chunk => number("/chunks"),
        };
        let Some(units) = units.filter(|units| *units > 0.0) else {
            bail!("{}: no answer", self.name);
        };
        let seconds = number("/seconds").context("a report without its length")?;
        Ok(Figures {
            cpu_us: cpu_seconds.map(|cpu| cpu * 1e6 / units),
            core_share: cpu_seconds.map(|cpu| cpu / seconds),
            requests_per_second: number("/requests_per_second").unwrap_or_default(),
            latency_p50_us: number("/latency_us/p50").unwrap_or_default(),
            latency_p99_us: number("/latency_us/p99").unwrap_or_default(),
            first_token_p50_us: number("/first_token_us/p50"),
            chunk_delay_p50_us: number("/chunk_delay_us/p50"),
        })
    }
}
