//! The objects of requests and answers, with their fields.

use super::Kind::{
    self, AnyNumber, Boolean, Either, Integer, List, Map, Number, Object, Of, OrNull,
    Some as AtLeastOne, Text, Word,
};

/// An object.
#[derive(Debug)]
pub struct Schema {
    /// Its name in the table.
    pub name: &'static str,
    /// What it is.
    pub says: &'static str,
    /// Its fields. Where there may be others, they are passed on.
    pub fields: &'static [Field],
}

/// A field of an object.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether it has to be there: in requests sent, in answers always there.
    pub is_required: bool,
    /// Whether it goes beyond the specified interface.
    pub is_extension: bool,
    /// What it means.
    pub says: &'static str,
}

/// The object of this name.
pub fn schema(name: &str) -> Option<&'static Schema> {
    SCHEMAS.iter().find(|schema| schema.name == name)
}

const fn must(name: &'static str, kind: Kind, says: &'static str) -> Field {
    Field { name, kind, is_required: true, is_extension: false, says }
}

const fn may(name: &'static str, kind: Kind, says: &'static str) -> Field {
    Field { name, kind, is_required: false, is_extension: false, says }
}

const fn extra(name: &'static str, kind: Kind, says: &'static str) -> Field {
    Field { name, kind, is_required: false, is_extension: true, says }
}

const ANY: Kind = Integer(None, None);
const COUNT: Kind = Integer(Some(0), None);
const LEVEL: Kind = Word(&["standard", "high", "maximum"]);
const REGION: Kind = Word(&["us-east", "us-west", "eu-west", "asia-pacific"]);
const EFFORT: Kind = Word(&["none", "minimal", "low", "medium", "high", "xhigh"]);
const STATUS: Kind = Word(&["ok", "failing"]);

/// Every object, what is sent first.
pub const SCHEMAS: &[Schema] = &[
    Schema {
        name: "ChatRequest",
        says: "What is asked. Members that are not in the table are passed unchanged to providers of the same dialect.",
        fields: &[
            must("model", Text, "an identifier of `GET /models`, not empty"),
            must("messages", AtLeastOne(&Of("Message")), "at least one; see below"),
            may(
                "max_tokens",
                Integer(Some(1), None),
                "1 to 4096. With a key made by `--max-tokens model`: at least 1; a value above the model's own output limit is lowered to it",
            ),
            may(
                "max_completion_tokens",
                Integer(Some(1), None),
                "the same; if both are sent, this one counts",
            ),
            may("temperature", Number(0.0, 2.0), "how freely the model chooses its words"),
            may("top_p", Number(0.0, 1.0), "the share of likely words that it chooses from"),
            may("frequency_penalty", Number(-2.0, 2.0), "against repeating words often"),
            may("presence_penalty", Number(-2.0, 2.0), "against repeating words at all"),
            may("stop", Either(&[Text, List(&Text)]), "texts at which the answer ends"),
            may("seed", ANY, "64 bits"),
            may("n", Integer(Some(1), Some(128)), "how many answers"),
            may("logprobs", Boolean, "whether the answer has the probabilities of its words"),
            may("top_logprobs", Integer(Some(0), Some(20)), "of how many alternatives"),
            may(
                "tools",
                List(&Object),
                "`{\"type\": \"function\", \"function\": {\"name\", \"description\"?, \"parameters\"?, \"strict\"?}}`; other types go to the provider as they are",
            ),
            may(
                "tool_choice",
                Either(&[Text, Object]),
                "`auto`, `none`, `required`, or `{\"type\": \"function\", \"function\": {\"name\"}}`",
            ),
            may("parallel_tool_calls", Boolean, "whether several tools may be called at once"),
            may(
                "response_format",
                Object,
                "`type` is `text`, `json_object` or `json_schema` (with `json_schema.name`, `.schema`, `.strict`?, `.description`?)",
            ),
            may("reasoning_effort", EFFORT, "also as `reasoning.effort`"),
            may("user", Text, "the caller's own name for its user"),
            may("metadata", Object, "the caller's own labels"),
            may("stream", Boolean, "whether the answer comes as server-sent events"),
            may("stream_options", Object, "`include_usage` (boolean)"),
            may(
                "security_level",
                LEVEL,
                "the strictest of request, key, account, model and deployment applies; see [security-model.md](security-model.md)",
            ),
            may(
                "region",
                REGION,
                "default: the key's region, else the account's, else the deployment's (`default_region`), else anywhere",
            ),
            may(
                "audit_enabled",
                Boolean,
                "writes an audit entry with the redacted content, or without it where `zero_retention` would leave none at all; the request is refused while no entry can be written",
            ),
            may(
                "zero_retention",
                Boolean,
                "nothing about the request is stored except sums; see [operations.md](operations.md#what-is-stored-and-zero-retention)",
            ),
        ],
    },
    Schema {
        name: "Message",
        says: "One turn of the conversation.",
        fields: &[
            must("role", Word(&["system", "developer", "user", "assistant", "tool"]), "who speaks"),
            may(
                "content",
                Either(&[Text, List(&Object), OrNull(&Text)]),
                "a string or an array of parts, in every role; `null` or absent on assistant turns only",
            ),
            may(
                "tool_calls",
                List(&Object),
                "on assistant turns: `id`, `function.name`, `function.arguments` (a string of JSON)",
            ),
            may("tool_call_id", Text, "mandatory on `tool` messages"),
            may("name", Text, "the speaker's name"),
            extra(
                "cache_control",
                Object,
                "a prompt-cache breakpoint as Anthropic writes it; also on parts, tools and tool calls",
            ),
            extra("reasoning_details", List(&Object), "a model's thoughts, sent back as they came"),
        ],
    },
    Schema {
        name: "Completion",
        says: "The answer.",
        fields: &[
            must("id", Text, "names the answer"),
            must("object", Word(&["chat.completion"]), "what it is"),
            must("created", COUNT, "seconds of Unix time"),
            must(
                "model",
                Text,
                "the model that answered: for a second name such as `svc/enterprise-coder-v1`, the model that it stands for",
            ),
            must("choices", List(&Of("Choice")), "one for each answer that was asked for"),
            must("usage", Of("Usage"), "tokens and cost"),
            must("security", Of("Security"), "what held for the request"),
        ],
    },
    Schema {
        name: "Choice",
        says: "One answer.",
        fields: &[
            must("index", COUNT, "which one"),
            must("message", Of("AnswerMessage"), "what the model said"),
            must(
                "finish_reason",
                OrNull(&Word(&["stop", "length", "content_filter", "tool_calls"])),
                "why it ended; `tool_calls` is an **extension**. `length` also means that Sluice cut an answer that went far past its bound: see [operations.md](operations.md#usage-and-cost)",
            ),
            may(
                "logprobs",
                OrNull(&Object),
                "the probabilities of its words, where they were asked for",
            ),
        ],
    },
    Schema {
        name: "AnswerMessage",
        says: "What the model said.",
        fields: &[
            must("role", Word(&["assistant"]), "who speaks"),
            may("content", OrNull(&Text), "the text"),
            may("refusal", OrNull(&Text), "why the model will not answer"),
            extra("tool_calls", List(&Object), "as OpenAI has it"),
            extra("reasoning", Text, "the model's thoughts, if the provider sends them"),
            extra("reasoning_content", Text, "the same, under the other name that clients know"),
            extra(
                "reasoning_details",
                List(&Object),
                "signed or encrypted thoughts, which some providers want back in the next request; a tool call has them in `extra_content`",
            ),
        ],
    },
    Schema {
        name: "Usage",
        says: "What the request used.",
        fields: &[
            must("prompt_tokens", COUNT, "tokens of the request"),
            must("completion_tokens", COUNT, "tokens of the answer"),
            must("total_tokens", COUNT, "both"),
            extra(
                "prompt_tokens_details",
                Map(&COUNT),
                "parts of `prompt_tokens`: `cached_tokens`, `cache_write_tokens`",
            ),
            extra(
                "completion_tokens_details",
                Map(&COUNT),
                "parts of `completion_tokens`: `reasoning_tokens`",
            ),
            must(
                "cost_usd",
                OrNull(&AnyNumber),
                "US dollars, an exact decimal; `null` if the model's price is unknown",
            ),
            extra(
                "cost",
                AnyNumber,
                "the same, for OpenRouter's clients, which expect a number: it is left out if unknown",
            ),
        ],
    },
    Schema {
        name: "Security",
        says: "What held for the request, and what the filter did.",
        fields: &[
            must("level", LEVEL, "the level that applied"),
            must(
                "data_residency",
                Text,
                "the region of the provider that answered, as configured; `unspecified` if its configuration names none",
            ),
            must(
                "audit_id",
                Text,
                "the audit entry; empty with `zero_retention` and without `audit_enabled`, unless the filter failed at level `maximum`",
            ),
            must("zero_retention", Boolean, "whether only sums are stored"),
            extra(
                "action",
                Word(&["pass", "redact", "withhold", "block"]),
                "what the filter did, if it did or noticed anything; this and the next three are the same as the headers",
            ),
            extra("redactions", Map(&COUNT), "different values that were redacted, by kind"),
            extra("flags", List(&Text), "what was noticed"),
            extra(
                "injection_score",
                Number(0.0, 1.0),
                "how much the request looks like an attack on the model",
            ),
        ],
    },
    Schema {
        name: "Chunk",
        says: "One event of a streamed answer; the last one is `[DONE]`.",
        fields: &[
            must("id", Text, "names the answer; the same throughout"),
            must("object", Word(&["chat.completion.chunk"]), "what it is"),
            must("created", COUNT, "seconds of Unix time; the same throughout"),
            must("model", Text, "the model that answers"),
            must(
                "choices",
                List(&Object),
                "each with `index`, `delta` and `finish_reason`, which is `null` until the choice ends",
            ),
            may(
                "usage",
                OrNull(&Of("Usage")),
                "with `include_usage`: in the last chunk, `null` before",
            ),
            may(
                "security",
                Object,
                "in the last chunk with `include_usage`; else what the filter found in the answer",
            ),
        ],
    },
    Schema {
        name: "ModelList",
        says: "The models that the key may use: those that its own list of models and the suite of its account's tier both allow.",
        fields: &[
            must("object", Word(&["list"]), "what it is"),
            must("data", List(&Of("Model")), "the models and routers"),
        ],
    },
    Schema {
        name: "Model",
        says: "A model or router.",
        fields: &[
            must("id", Text, "the value for `model`"),
            must("object", Word(&["model"]), "what it is"),
            must(
                "created",
                COUNT,
                "when the model was made, in seconds of Unix time; if neither the configuration nor the catalogue knows, when this deployment first served it",
            ),
            must("owned_by", Text, "who made it"),
            extra(
                "context_length",
                COUNT,
                "the bound of prompt and answer together, in tokens; left out if unknown",
            ),
            extra(
                "max_completion_tokens",
                COUNT,
                "the bound of one answer, in tokens; left out if unknown",
            ),
            extra("simulated", Boolean, "`true` for the simulator's models; left out for others"),
        ],
    },
    Schema {
        name: "Token",
        says: "The key that was presented, without the key itself.",
        fields: &[
            must("object", Word(&["token"]), "what it is"),
            must("valid", Boolean, "always `true`: a key that is not valid gets 401"),
            must(
                "key",
                Object,
                "`prefix`, `name`, `class`, `permissions`, `created_at`, `expires_at`. In the permissions, `null` means all",
            ),
            must("account", Object, "`name` and `tier`"),
            must("limits", Of("Limits"), "what is left"),
        ],
    },
    Schema {
        name: "Limits",
        says: "The limits of a key.",
        fields: &[
            must(
                "key",
                OrNull(&Object),
                "the figures of the key's class; `null` means unlimited. `tokens_used_today` includes the tokens that running requests have reserved",
            ),
            must("account", OrNull(&Object), "the same of the account's tier"),
            must(
                "allowances",
                List(&Of("Allowance")),
                "every limit that a request of this key has to fit, in the order in which they answer",
            ),
        ],
    },
    Schema {
        name: "Allowance",
        says: "One limit. There is no entry for what is unlimited.",
        fields: &[
            must(
                "subject",
                Text,
                "whose limit it is: `key:ID`, `account:ID`, later also `team:ID`, `department:ID`, `person:ID`, `service:ID`",
            ),
            must(
                "measure",
                Word(&["requests", "tokens", "usd", "concurrency"]),
                "`usd` are US dollars, `concurrency` is requests at once",
            ),
            must(
                "window",
                OrNull(&Word(&["hour", "five_hours", "day", "week", "month", "total"])),
                "`null` for `concurrency`",
            ),
            must("time_zone", OrNull(&Text), "by whose calendar; `null` for `concurrency`"),
            must("limit", AnyNumber, "requests, tokens or dollars"),
            must(
                "hard",
                Boolean,
                "whether a request that does not fit is refused. A soft limit is only counted",
            ),
            must(
                "each_session",
                Boolean,
                "whether each session has so much to itself; `used`, `reserved` and `left` are then `null`",
            ),
            must(
                "used",
                OrNull(&AnyNumber),
                "what was used. For `concurrency`, the requests under way",
            ),
            must("reserved", OrNull(&AnyNumber), "what running requests may still use"),
            must("left", OrNull(&AnyNumber), "what is left"),
            must(
                "reset",
                OrNull(&COUNT),
                "when the window ends, in Unix seconds; `null` if it does not end, or has not begun",
            ),
            must("resets_at", OrNull(&Text), "the same in RFC 3339"),
            must("source", Word(&["class", "tier", "own", "budget"]), "where the limit comes from"),
            must("setting", OrNull(&Text), "the setting that an operator can raise"),
            must("binds", Boolean, "`true` for the hard limit with the smallest share left"),
        ],
    },
    Schema {
        name: "Health",
        says: "The state of components and providers. The status of the answer is always 200.",
        fields: &[
            must(
                "status",
                Word(&["ok", "degraded"]),
                "`degraded` when a component or a provider is `failing`, or a provider is `resting`",
            ),
            must("components", Map(&Of("Component")), "`journal` and `database`"),
            must("providers", Map(&Of("Provider")), "by their ids"),
        ],
    },
    Schema {
        name: "Component",
        says: "A component of Sluice.",
        fields: &[must("status", STATUS, "how it does")],
    },
    Schema {
        name: "Provider",
        says: "A provider.",
        fields: &[must(
            "status",
            Word(&["ok", "failing", "resting", "unknown"]),
            "`failing`: at least its last three calls failed, or at least its last three streams broke off after they had begun. `resting`: it asked Sluice to wait (`Retry-After`). `unknown`: nobody has asked it since the start, for Sluice sends no probes, which would cost money",
        )],
    },
    Schema {
        name: "Error",
        says: "Why there is no answer.",
        fields: &[
            must("error", Of("ErrorDetail"), "the error"),
            extra(
                "security",
                Object,
                "what the filter did until then, where the headers could not tell it",
            ),
        ],
    },
    Schema {
        name: "ErrorDetail",
        says: "All four members are always there.",
        fields: &[
            must("message", Text, "names the field, its value and its bounds"),
            must("type", Text, "enough to decide what to do, with the status"),
            must("param", OrNull(&Text), "the field that is at fault; `null` if none is"),
            must("code", OrNull(&Text), "which error it is. Later versions may add codes"),
        ],
    },
];
