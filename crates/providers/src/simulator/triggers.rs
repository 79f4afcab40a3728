//! Failures to order: a line of the last user message that begins with `simulate:` makes the
//! simulator behave as providers do on bad days, so that people see how their client takes it.
//!
//! [`TRIGGERS`] is the list, `docs/simulator.md` shows it, and a test holds the two together.

use std::time::Duration;

/// One trigger, as documented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trigger {
    /// How it is written, after `simulate: `. Capital letters stand for a figure.
    pub form: &'static str,
    /// What happens.
    pub effect: &'static str,
}

/// All triggers.
pub const TRIGGERS: &[Trigger] = &[
    Trigger {
        form: "error STATUS",
        effect: "answers with that status, 400 to 599, and an error body",
    },
    Trigger { form: "429", effect: "answers 429 with `Retry-After: 2`" },
    Trigger { form: "429 SECONDS", effect: "answers 429 with that `Retry-After`" },
    Trigger { form: "refuse", effect: "refuses the connection" },
    Trigger { form: "malformed", effect: "answers 200 with a body that is not JSON" },
    Trigger { form: "cut", effect: "loses the connection halfway through the answer" },
    Trigger { form: "short", effect: "ends halfway through the answer, without an end mark" },
    Trigger { form: "stall", effect: "falls silent halfway and keeps the connection open" },
    Trigger {
        form: "stream error",
        effect: "streams half, then an error event; not streamed: a 500",
    },
    Trigger {
        form: "slow SECONDS",
        effect: "waits that much longer for the first token (at most 600)",
    },
    Trigger { form: "tokens COUNT", effect: "makes the answer that many tokens long" },
    Trigger { form: "refusal", effect: "answers with a refusal instead of content" },
    Trigger { form: "filtered", effect: "ends the answer with finish reason `content_filter`" },
];

/// What the triggers of one message ask for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Wishes {
    /// No answer at all.
    pub(super) failure: Option<Failure>,
    /// What goes wrong halfway through the answer.
    pub(super) fault: Option<Fault>,
    /// What the model itself does differently.
    pub(super) manner: Option<Manner>,
    /// How much longer the first token takes.
    pub(super) delay: Duration,
    /// How long the answer is, in tokens.
    pub(super) tokens: Option<u32>,
    /// A trigger that is not in the list.
    pub(super) unknown: Option<String>,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    Refused,
    Malformed,
    Status { status: u16, retry_after_seconds: Option<u32> },
}

/// What goes wrong halfway through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Cut,
    Short,
    Stall,
    ErrorEvent,
}

/// What the model does instead of answering plainly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    Refusal,
    Filtered,
}

impl Wishes {
    /// Reads the triggers of a message: lines that begin with `simulate:`, in any case. They add
    /// up; of two of a kind the later counts.
    pub(super) fn read(text: &str) -> Self {
        let mut wishes = Self::default();
        for line in text.lines() {
            let Some((mark, order)) = line.trim().split_once(':') else {
                continue;
            };
            if !mark.eq_ignore_ascii_case("simulate") {
                continue;
            }
            if wishes.add(&order.trim().to_ascii_lowercase()).is_none() {
                wishes.unknown = Some(order.trim().chars().take(60).collect());
            }
        }
        wishes
    }

    /// Adds one trigger; `None` if there is no such trigger.
    fn add(&mut self, order: &str) -> Option<()> {
        match order.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["error", "429"] | ["429"] => self.fail(429, Some(2)),
            ["429", seconds] => self.fail(429, Some(parse_seconds(seconds)?)),
            ["error", status] => {
                let status = status.parse().ok().filter(|status| (400..600).contains(status))?;
                self.fail(status, None);
            }
            ["refuse"] => self.failure = Some(Failure::Refused),
            ["malformed"] => self.failure = Some(Failure::Malformed),
            ["cut"] => self.fault = Some(Fault::Cut),
            ["short"] => self.fault = Some(Fault::Short),
            ["stall"] => self.fault = Some(Fault::Stall),
            ["stream", "error"] => self.fault = Some(Fault::ErrorEvent),
            ["slow", seconds] => {
                self.delay = Duration::from_secs(parse_seconds(seconds)?.min(600).into());
            }
            ["tokens", count] => self.tokens = Some(count.parse().ok()?),
            ["refusal"] => self.manner = Some(Manner::Refusal),
            ["filtered"] => self.manner = Some(Manner::Filtered),
            _ => return None,
        }
        Some(())
    }

    fn fail(&mut self, status: u16, retry_after_seconds: Option<u32>) {
        self.failure = Some(Failure::Status { status, retry_after_seconds });
    }
}

/// Whole seconds, with or without the unit: `2`, `2s`.
fn parse_seconds(text: &str) -> Option<u32> {
    text.strip_suffix('s').unwrap_or(text).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trigger_of_the_table_is_understood() {
        for trigger in TRIGGERS {
            let form = trigger
                .form
                .replace("STATUS", "503")
                .replace("SECONDS", "7s")
                .replace("COUNT", "9");
            let wishes = Wishes::read(&format!("Hello\n  Simulate: {form}\n"));
            assert_eq!(wishes.unknown, None, "{form}");
            assert_ne!(wishes, Wishes::default(), "{form}");
        }
    }

    #[test]
    fn triggers_add_up_and_unknown_ones_are_kept() {
        let wishes =
            Wishes::read("simulate: slow 2s\nsimulate: tokens 500\nsimulate: cut\nsimulate: dance");
        assert_eq!(wishes.delay, Duration::from_secs(2));
        assert_eq!(wishes.tokens, Some(500));
        assert_eq!(wishes.fault, Some(Fault::Cut));
        assert_eq!(wishes.unknown.as_deref(), Some("dance"));
    }

    #[test]
    fn prose_is_no_trigger() {
        for text in ["please simulate: cut", "simulate cut", "simulated: cut", ""] {
            assert_eq!(Wishes::read(text), Wishes::default(), "{text}");
        }
    }

    #[test]
    fn figures_out_of_bounds_are_unknown() {
        for text in ["simulate: error 200", "simulate: error x", "simulate: tokens -1"] {
            assert!(Wishes::read(text).unknown.is_some(), "{text}");
        }
    }
}
