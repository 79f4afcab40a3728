//! What the headers of answers say.

/// A header.
#[derive(Debug)]
pub struct Header {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub says: &'static str,
}

/// Those of every response below the base URL.
pub const EVERY_RESPONSE: &[Header] = &[
    Header {
        name: "x-request-id",
        says: "the request's id in usage records, audit entries and logs",
    },
    Header {
        name: "X-RateLimit-Limit",
        says: "requests allowed in the window: the key's or its account's, whichever has less left. 9007199254740991 stands for no limit",
    },
    Header { name: "X-RateLimit-Remaining", says: "requests left in it" },
    Header { name: "X-RateLimit-Reset", says: "when it ends, in seconds of Unix time" },
    Header { name: "X-RateLimit-Window", says: "its length in seconds: 3600" },
    Header {
        name: "Retry-After",
        says: "with 429 and 503, and with 502 where the provider said so: whole seconds until another attempt is worth it",
    },
];

/// What the filter did.
pub const FILTER: &[Header] = &[
    Header {
        name: "svc-security-action",
        says: "the strongest thing that was done: `pass`, `redact`, `withhold` (a part of the request was kept from the model, or a part of the answer from the caller) or `block`",
    },
    Header {
        name: "svc-redactions",
        says: "how many different values were redacted, by kind: `email=2, secret=1`; empty if none",
    },
    Header {
        name: "svc-security-flags",
        says: "what was noticed: `prompt_injection`, `unreadable_content`, `encoded_value`, `secret_in_answer`, `personal_data_in_answer`, `exfiltration`, `dangerous_command`, `injection_obeyed`, `filter_failed`; empty if nothing",
    },
    Header {
        name: "svc-injection-score",
        says: "how much the request looks like an attack on the model: 0 to 1, three decimals; from .5 on, the request is flagged",
    },
];

/// What a router decided, where one was named.
pub const ROUTER: &[Header] = &[
    Header {
        name: "svc-router",
        says: "the router; `model` in the body is the model that answered",
    },
    Header {
        name: "svc-task-type",
        says: "what the latest turn asks for: `code`, `edit`, `debug`, …",
    },
    Header {
        name: "svc-complexity",
        says: "how much it takes to answer well: 0 to 1, three decimals",
    },
    Header {
        name: "svc-route-reason",
        says: "why the first candidate was first: `best`, `session`, `escalated`, …",
    },
];

/// What a budget or a policy changed about a request.
pub const BUDGET: &[Header] = &[Header {
    name: "svc-max-tokens-lowered",
    says: "the bound of the answer, where a budget of US dollars or a policy lowered it",
}];
