//! The families of models, and how their names are made.
//!
//! A pattern is a key with `#` for the version and `$` for the size; with `?` at the end of a part,
//! the part is left out where the name does not say it.

use super::Version;
use super::words::{Size, Word};

/// Models whose names share a word.
#[derive(Debug)]
pub(super) struct Brand {
    /// `claude`.
    pub(super) word: &'static str,
    /// Whether its models can think, so that a word like `high` is an effort.
    pub(super) thinks: bool,
    /// Whether its dates are versions, as Mistral's are.
    pub(super) stamps: bool,
    /// Words that change nothing in names of this brand.
    pub(super) noise: &'static [&'static str],
    pub(super) lines: &'static [Line],
}

/// Models of a brand that differ in version and size only.
#[derive(Debug)]
pub(super) struct Line {
    /// `claude-opus`.
    pub(super) family: &'static str,
    /// What its names have besides the brand's word.
    pub(super) words: &'static [&'static str],
    pub(super) pattern: &'static str,
    /// The first and the last version that go by this pattern.
    span: ((u16, u16), (u16, u16)),
    sizes: Sizes,
    /// Which dates are which versions.
    stamps: &'static [(u32, u16, u16)],
}

/// Which sizes a name may state that the key does not have.
#[derive(Debug)]
enum Sizes {
    /// None, or any where the pattern has a `$`.
    AsPattern,
    /// The line has one model a version.
    Any,
    /// In billions.
    Only(&'static [u32]),
}

const fn line(family: &'static str, words: &'static [&'static str], pattern: &'static str) -> Line {
    // Mistral's versions may be months, like 2508.
    let span = ((0, 0), (9999, 99));
    Line { family, words, pattern, span, sizes: Sizes::AsPattern, stamps: &[] }
}

impl Line {
    /// Only versions from `first` to `last`.
    const fn span(self, first: (u16, u16), last: (u16, u16)) -> Self {
        Self { span: (first, last), ..self }
    }

    const fn any_size(self) -> Self {
        Self { sizes: Sizes::Any, ..self }
    }

    const fn only_sizes(self, billions: &'static [u32]) -> Self {
        Self { sizes: Sizes::Only(billions), ..self }
    }

    const fn stamps(self, stamps: &'static [(u32, u16, u16)]) -> Self {
        Self { stamps, ..self }
    }

    pub(super) fn has_version(&self) -> bool {
        self.pattern.contains('#')
    }

    pub(super) fn needs_version(&self) -> bool {
        self.pattern.split('-').any(|part| part.contains('#') && !part.ends_with('?'))
    }

    pub(super) fn accepts(&self, version: Option<Version>, size: Option<Size>) -> bool {
        let version_fits = match version {
            Some(Version { major, minor }) => {
                self.has_version() && (self.span.0..=self.span.1).contains(&(major, minor))
            }
            None => !self.needs_version(),
        };
        let shows_size = self.pattern.contains('$');
        let size_fits = match (size, &self.sizes) {
            (Some(size), Sizes::Only(billions)) => {
                size.experts == 1 && billions.iter().any(|of| of * 1000 == size.millions)
            }
            (Some(_), Sizes::Any) => true,
            (Some(_), Sizes::AsPattern) => shows_size,
            (None, _) => !shows_size || self.pattern.contains("$?"),
        };
        version_fits && size_fits
    }

    /// The version that a date stands for, where the name states no other. Nothing if both
    /// disagree.
    #[expect(clippy::option_option, reason = "no version is an answer too")]
    pub(super) fn version_of_stamp(
        &self,
        version: Option<Version>,
        stamp: Option<u32>,
    ) -> Option<Option<Version>> {
        let known = stamp.and_then(|stamp| self.stamps.iter().find(|(known, ..)| *known == stamp));
        match (version, known) {
            (None, None) if self.needs_version() => {
                let month = stamp.filter(|stamp| *stamp < 10_000);
                let month = month.and_then(|month| u16::try_from(month).ok());
                Some(month.map(|major| Version { major, minor: 0 }))
            }
            (version, None) => Some(version),
            (None, Some((_, major, minor))) => Some(Some(Version { major: *major, minor: *minor })),
            (Some(version), Some((_, major, minor))) => {
                // `mistral-large-3-2512`, and `mistral-medium-3` for 3.1 too.
                let agree =
                    version.major == *major && (version.minor == *minor || version.minor == 0);
                agree.then_some(Some(Version { major: *major, minor: *minor }))
            }
        }
    }
}

impl Brand {
    /// The brand that `words` name, and the other words after it. What stands in front of it must
    /// be a maker, a host or a region.
    pub(super) fn find<'a>(words: &[Word<'a>]) -> Option<(&'static Self, Vec<Word<'a>>)> {
        let mut place = 0;
        loop {
            let word = letters(words.get(place)?)?;
            let next = words.get(place + 1).and_then(letters).unwrap_or("");
            // `code-llama` is `codellama`, and `gpt-oss` no version of GPT.
            let joined = format!("{word}{next}");
            if let Some(brand) = brand(&joined).filter(|_| !next.is_empty()) {
                return Some((brand, words[place + 2..].to_vec()));
            }
            let is_maker = PREFIXES.contains(&word) && brand(next).is_some();
            match brand(word) {
                Some(brand) if !is_maker => return Some((brand, words[place + 1..].to_vec())),
                None if !PREFIXES.contains(&word) => return None,
                _ => place += 1,
            }
        }
    }
}

fn letters<'a>(word: &Word<'a>) -> Option<&'a str> {
    match word {
        Word::Letters(letters) => Some(letters),
        _ => None,
    }
}

fn brand(word: &str) -> Option<&'static Brand> {
    BRANDS.iter().find(|brand| brand.word == word)
}

/// Makers, hosts and regions in front of a name. Some are also brands; they are makers if another
/// brand follows.
const PREFIXES: &[&str] = &[
    "us",
    "eu",
    "apac",
    "au",
    "jp",
    "ca",
    "in",
    "gov",
    "global",
    "anthropic",
    "amazon",
    "meta",
    "mistral",
    "openai",
    "google",
    "cohere",
    "qwen",
    "alibaba",
    "minimax",
    "zai",
    "moonshot",
    "moonshotai",
    "nvidia",
    "databricks",
    "xai",
    "ibm",
    "arcee",
    "microsoft",
    "fw",
    "open",
    "ai",
    "system",
    "coding",
    "cc",
    "xiaomi",
    "doubao",
    "tencent",
    "baidu",
    "azure",
    "bedrock",
    "vertex",
    "gemini",
    "inception",
    "stepfun",
    "meituan",
];

/// Whether a word changes nothing in any name: how far a release is, how and where it is served,
/// and the edit format in which a benchmark ran.
pub(super) fn means_nothing(word: &str) -> bool {
    matches!(
        word,
        "preview"
            | "prev"
            | "exp"
            | "experimental"
            | "beta"
            | "default"
            | "deprecated"
            | "hf"
            | "maas"
            | "tee"
            | "api"
            | "cloud"
            | "free"
            | "us"
            | "eu"
            | "diff"
            | "udiff"
            | "whole"
            | "fenced"
            | "alibaba"
            | "bedrock"
            | "azure"
    )
}

const fn brand_of(word: &'static str, lines: &'static [Line]) -> Brand {
    Brand { word, thinks: false, stamps: false, noise: &["instruct", "chat", "it"], lines }
}

impl Brand {
    const fn thinks(self) -> Self {
        Self { thinks: true, ..self }
    }

    const fn stamps(self) -> Self {
        Self { stamps: true, ..self }
    }

    const fn noise(self, noise: &'static [&'static str]) -> Self {
        Self { noise, ..self }
    }
}

#[rustfmt::skip]
const BRANDS: &[Brand] = &[
    brand_of("gpt", &[
        line("gpt", &[], "gpt-#").span((4, 0), (9999, 99)),
        line("gpt-turbo", &["turbo"], "gpt-#-turbo").span((3, 5), (4, 0)),
        line("gpt-omni", &["o"], "gpt-#o"),
        line("gpt-omni-mini", &["o", "mini"], "gpt-#o-mini"),
        line("gpt-mini", &["mini"], "gpt-#-mini"),
        line("gpt-nano", &["nano"], "gpt-#-nano"),
        line("gpt-pro", &["pro"], "gpt-#-pro"),
        line("gpt-chat", &["chat"], "gpt-#-chat"),
        line("gpt-instant", &["instant"], "gpt-#-instant"),
        line("gpt-codex", &["codex"], "gpt-#-codex"),
        line("gpt-codex-mini", &["codex", "mini"], "gpt-#-codex-mini"),
        line("gpt-codex-max", &["codex", "max"], "gpt-#-codex-max"),
        line("gpt-codex-spark", &["codex", "spark"], "gpt-#-codex-spark"),
        line("gpt-luna", &["luna"], "gpt-#-luna"),
        line("gpt-sol", &["sol"], "gpt-#-sol"),
        line("gpt-terra", &["terra"], "gpt-#-terra"),
        line("gpt-astra", &["astra"], "gpt-#-astra"),
    ]).thinks().noise(&[]),
    brand_of("chatgpt", &[line("chatgpt", &["o"], "chatgpt-#o-latest")]).noise(&[]),
    brand_of("gptoss", &[line("gpt-oss", &[], "gpt-oss-$")]).thinks(),
    brand_of("o", &[
        line("o", &[], "o#"),
        line("o-mini", &["mini"], "o#-mini"),
        line("o-pro", &["pro"], "o#-pro"),
        line("o-preview", &["preview"], "o#-preview"),
    ]).thinks().noise(&[]),
    brand_of("claude", &[
        line("claude", &[], "claude-#").span((1, 0), (2, 9)),
        line("claude-instant", &["instant"], "claude-instant-#"),
        line("claude-opus", &["opus"], "claude-opus-#"),
        line("claude-sonnet", &["sonnet"], "claude-sonnet-#"),
        line("claude-haiku", &["haiku"], "claude-haiku-#"),
        line("claude-fable", &["fable"], "claude-fable-#"),
        line("claude-mythos", &["mythos"], "claude-mythos-#"),
    ]).thinks().noise(&[]),
    brand_of("gemini", &[
        line("gemini-pro", &["pro"], "gemini-#-pro"),
        line("gemini-flash", &["flash"], "gemini-#-flash-$?").only_sizes(&[8]),
        line("gemini-flash-lite", &["flash", "lite"], "gemini-#-flash-lite"),
        // In version 2.0 a model of its own, since then a mode.
        line("gemini-flash-thinking", &["flash", "thinking"], "gemini-#-flash-thinking").span((2, 0), (2, 0)),
        line("gemini-argon", &["argon"], "gemini-#-argon"),
    ]).thinks().noise(&[]),
    brand_of("gemma", &[
        line("gemma", &[], "gemma-#?-$"),
        line("gemma-n", &["n", "e"], "gemma-#n-e$"),
        line("gemma-e", &["e"], "gemma-#-e$").span((4, 0), (9999, 99)),
    ]).thinks(),
    brand_of("codegemma", &[line("codegemma", &[], "codegemma-$")]),
    brand_of("llama", &[
        line("llama", &[], "llama-#?-$"),
        // From 3.2 on these two sizes have eyes, whether or not the name says so.
        line("llama", &["vision"], "llama-#-$").span((3, 2), (3, 2)).only_sizes(&[11, 90]),
        line("llama-scout", &["scout"], "llama-#-scout").any_size(),
        line("llama-maverick", &["maverick"], "llama-#-maverick").any_size(),
    ]).noise(&["instruct", "chat", "turbo", "versatile", "instant", "basic", "fast", "tput"]),
    brand_of("codellama", &[line("codellama", &[], "codellama-$")]),
    brand_of("llamanemotron", &[
        line("llama-nemotron", &[], "llama-nemotron-$"),
        line("llama-nemotron-super", &["super"], "llama-nemotron-super-$-v#?"),
        line("llama-nemotron-ultra", &["ultra"], "llama-nemotron-ultra-$"),
    ]),
    brand_of("nemotron", &[
        line("nemotron", &[], "nemotron-#-$"),
        line("nemotron-nano", &["nano"], "nemotron-#-nano-$"),
        line("nemotron-super", &["super"], "nemotron-#-super").any_size(),
        line("nemotron-ultra", &["ultra"], "nemotron-#-ultra").any_size(),
        line("nemotron-lightning", &["lightning"], "nemotron-#-lightning").any_size(),
    ]),
    brand_of("mistral", &[
        line("mistral", &[], "mistral-$-v#?").span((0, 1), (0, 9)).only_sizes(&[7]),
        line("mistral-small", &["small"], "mistral-small-#").any_size()
            .stamps(&[(2402, 1, 0), (2409, 2, 0), (2501, 3, 0), (2503, 3, 1), (2506, 3, 2)]),
        line("mistral-medium", &["medium"], "mistral-medium-#").any_size()
            .stamps(&[(2312, 1, 0), (2505, 3, 0), (2508, 3, 1)]),
        line("mistral-large", &["large"], "mistral-large-#").any_size()
            .stamps(&[(2402, 1, 0), (2407, 2, 0), (2411, 2, 1), (2512, 3, 0)]),
        line("mistral-nemo", &["nemo"], "mistral-nemo").only_sizes(&[12]),
    ]).stamps(),
    brand_of("mixtral", &[line("mixtral", &[], "mixtral-$")])
        .noise(&["instruct", "chat", "versatile"]),
    brand_of("ministral", &[
        line("ministral", &[], "ministral-#-$").stamps(&[(2410, 1, 0), (2512, 3, 0)]),
    ]).stamps(),
    brand_of("magistral", &[
        line("magistral-small", &["small"], "magistral-small-#")
            .stamps(&[(2506, 1, 0), (2507, 1, 1), (2509, 1, 2)]),
        line("magistral-medium", &["medium"], "magistral-medium-#")
            .stamps(&[(2506, 1, 0), (2507, 1, 1), (2509, 1, 2)]),
    ]).stamps(),
    brand_of("codestral", &[
        // Its releases go by their month.
        line("codestral", &[], "codestral-#").span((2, 0), (9999, 99)).only_sizes(&[22]),
    ]).stamps(),
    brand_of("devstral", &[
        line("devstral", &[], "devstral-#").span((2, 0), (9999, 99)).only_sizes(&[123]).stamps(&[(2512, 2, 0)]),
        line("devstral-small", &["small"], "devstral-small-#").only_sizes(&[24])
            .stamps(&[(2505, 1, 0), (2507, 1, 1), (2512, 2, 0)]),
        line("devstral-medium", &["medium"], "devstral-medium-#").stamps(&[(2507, 1, 0)]),
    ]).stamps(),
    brand_of("pixtral", &[
        line("pixtral", &[], "pixtral-$").only_sizes(&[12]),
        line("pixtral-large", &["large"], "pixtral-large").only_sizes(&[124]),
    ]),
    brand_of("qwen", &[
        line("qwen", &[], "qwen#-$"),
        // The first ones had no version.
        line("qwen", &[], "qwen-$"),
        line("qwen-coder", &["coder"], "qwen#-coder-$"),
        line("qwen-coder-next", &["coder", "next"], "qwen#-coder-next").only_sizes(&[80]),
        line("qwen-coder-plus", &["coder", "plus"], "qwen#-coder-plus"),
        line("qwen-coder-flash", &["coder", "flash"], "qwen#-coder-flash"),
        line("qwen-next", &["next"], "qwen#-next-$"),
        line("qwen-max", &["max"], "qwen#-max"),
        line("qwen-plus", &["plus"], "qwen#-plus"),
        line("qwen-turbo", &["turbo"], "qwen#-turbo"),
        line("qwen-flash", &["flash"], "qwen#-flash"),
        line("qwen-vl", &["vl"], "qwen#-vl-$"),
        line("qwen-vl-plus", &["vl", "plus"], "qwen#-vl-plus"),
        line("qwen-omni", &["omni"], "qwen#-omni-$"),
        line("qwen-omni-flash", &["omni", "flash"], "qwen#-omni-flash"),
        line("qwen-math", &["math"], "qwen#-math-$"),
    ]).thinks().noise(&["instruct", "chat", "turbo", "tput"]),
    brand_of("codeqwen", &[line("codeqwen", &[], "codeqwen#-$"), line("codeqwen", &[], "codeqwen-$")]),
    brand_of("qwq", &[
        line("qwq", &[], "qwq-$"),
        line("qwq-preview", &["preview"], "qwq-$-preview"),
    ]),
    brand_of("deepseek", &[
        line("deepseek-v", &[], "deepseek-v#").span((2, 0), (3, 99)).only_sizes(&[671]),
        line("deepseek-v-exp", &["exp"], "deepseek-v#-exp").span((3, 2), (3, 2)),
        line("deepseek-v-terminus", &["terminus"], "deepseek-v#-terminus"),
        line("deepseek-v-speciale", &["speciale"], "deepseek-v#-speciale"),
        line("deepseek-flash", &["flash"], "deepseek-v#-flash"),
        line("deepseek-pro", &["pro"], "deepseek-v#-pro"),
        // Smaller ones are other models, which were taught by it.
        line("deepseek-r", &["r"], "deepseek-r#").only_sizes(&[671]),
        line("deepseek-coder", &["coder"], "deepseek-coder-v#").span((2, 0), (99, 0)).only_sizes(&[236]),
        line("deepseek-coder-sized", &["coder"], "deepseek-coder-$"),
    ]).thinks().noise(&["instruct", "chat", "basic"]),
    brand_of("grok", &[
        line("grok", &[], "grok-#"),
        line("grok-mini", &["mini"], "grok-#-mini"),
        line("grok-fast", &["fast"], "grok-#-fast").span((4, 0), (9999, 99)),
        line("grok-code-fast", &["code", "fast"], "grok-code-fast-#"),
        line("grok-build", &["build"], "grok-build-#"),
    ]).thinks().noise(&[]),
    brand_of("kimi", &[
        line("kimi-k", &["k"], "kimi-k#").only_sizes(&[1000]),
        // In version 2 a model of its own, since then a mode.
        line("kimi-k-thinking", &["k", "thinking"], "kimi-k#-thinking").span((2, 0), (2, 0)),
        line("kimi-k-code", &["k", "code"], "kimi-k#-code"),
    ]).thinks(),
    brand_of("glm", &[
        line("glm", &[], "glm-#"),
        line("glm-sized", &[], "glm-#-$"),
        line("glm-air", &["air"], "glm-#-air"),
        line("glm-flash", &["flash"], "glm-#-flash"),
        line("glm-plus", &["plus"], "glm-#-plus"),
        line("glm-turbo", &["turbo"], "glm-#-turbo"),
        line("glm-code", &["code"], "glm-#-code"),
        line("glm-v", &["v"], "glm-#v"),
        line("glm-v-turbo", &["v", "turbo"], "glm-#v-turbo"),
    ]).thinks(),
    brand_of("minimax", &[
        line("minimax-m", &["m"], "minimax-m#"),
        line("minimax-m-flash", &["m", "flash"], "minimax-m#-flash"),
    ]).thinks(),
    brand_of("nova", &[
        line("nova-micro", &["micro"], "nova-#?-micro"),
        line("nova-lite", &["lite"], "nova-#?-lite"),
        line("nova-pro", &["pro"], "nova-#?-pro"),
        line("nova-premier", &["premier"], "nova-#?-premier"),
    ]),
    brand_of("command", &[
        line("command-r", &["r"], "command-r"),
        line("command-r-small", &["r"], "command-r$").only_sizes(&[7]),
        line("command-r-plus", &["r", "plus"], "command-r-plus"),
        line("command-a", &["a"], "command-a"),
        line("command-a-plus", &["a", "plus"], "command-a-plus"),
        line("command-a-reasoning", &["a", "reasoning"], "command-a-reasoning"),
        line("command-a-vision", &["a", "vision"], "command-a-vision"),
        line("command-a-translate", &["a", "translate"], "command-a-translate"),
    ]),
    brand_of("aya", &[line("aya-expanse", &["expanse"], "aya-expanse-$")]),
    brand_of("phi", &[
        line("phi", &[], "phi-#").span((4, 0), (9999, 99)).only_sizes(&[14]),
        line("phi-mini", &["mini"], "phi-#-mini"),
        line("phi-small", &["small"], "phi-#-small"),
        line("phi-medium", &["medium"], "phi-#-medium"),
        line("phi-moe", &["moe"], "phi-#-moe"),
        line("phi-vision", &["vision"], "phi-#-vision"),
        line("phi-multimodal", &["multimodal"], "phi-#-multimodal"),
        line("phi-reasoning", &["reasoning"], "phi-#-reasoning"),
        line("phi-reasoning-plus", &["reasoning", "plus"], "phi-#-reasoning-plus"),
        line("phi-mini-reasoning", &["mini", "reasoning"], "phi-#-mini-reasoning"),
    ]),
    brand_of("yi", &[
        line("yi", &[], "yi-#?-$"),
        line("yi-coder", &["coder"], "yi-coder-$"),
        line("yi-large", &["large"], "yi-large"),
        line("yi-lightning", &["lightning"], "yi-lightning"),
    ]),
    brand_of("jamba", &[
        line("jamba-large", &["large"], "jamba-large-#"),
        line("jamba-mini", &["mini"], "jamba-mini-#"),
    ]),
    brand_of("granite", &[
        line("granite", &[], "granite-#-$"),
        line("granite-h-small", &["h", "small"], "granite-#-h-small"),
        line("granite-h-tiny", &["h", "tiny"], "granite-#-h-tiny"),
        line("granite-h-micro", &["h", "micro"], "granite-#-h-micro"),
    ]).noise(&["instruct", "chat", "dense"]),
    brand_of("hunyuan", &[
        line("hunyuan-large", &["large"], "hunyuan-large"),
        line("hunyuan-standard", &["standard"], "hunyuan-standard"),
        line("hunyuan-turbo", &["turbo"], "hunyuan-turbo"),
        line("hunyuan-turbos", &["turbos"], "hunyuan-turbos"),
        line("hunyuan-t", &["t"], "hunyuan-t#"),
    ]),
    brand_of("hy", &[line("hy", &[], "hy#")]),
    brand_of("ernie", &[
        line("ernie", &[], "ernie-#"),
        line("ernie-sized", &[], "ernie-#-$"),
        line("ernie-vl", &["vl"], "ernie-#-vl-$"),
    ]).thinks().noise(&["paddle", "pt"]),
    brand_of("seed", &[
        line("seed", &[], "seed-#"),
        line("seed-pro", &["pro"], "seed-#-pro"),
        line("seed-lite", &["lite"], "seed-#-lite"),
        line("seed-mini", &["mini"], "seed-#-mini"),
        line("seed-code", &["code"], "seed-#-code"),
        line("seed-turbo", &["turbo"], "seed-#-turbo"),
        line("seed-oss", &["oss"], "seed-oss-$"),
    ]).thinks(),
    brand_of("step", &[
        line("step", &[], "step-#"),
        line("step-flash", &["flash"], "step-#-flash"),
    ]),
    brand_of("longcat", &[
        line("longcat", &[], "longcat-#"),
        line("longcat-flash", &["flash"], "longcat-flash"),
    ]).thinks(),
    brand_of("mimo", &[
        line("mimo", &[], "mimo-v#"),
        line("mimo-flash", &["flash"], "mimo-v#-flash"),
        line("mimo-pro", &["pro"], "mimo-v#-pro"),
        line("mimo-omni", &["omni"], "mimo-v#-omni"),
    ]).thinks(),
    brand_of("olmo", &[
        line("olmo", &[], "olmo-#?-$"),
        line("olmo-think", &["think"], "olmo-#-$-think"),
    ]),
    brand_of("trinity", &[
        line("trinity-large", &["large"], "trinity-large"),
        line("trinity-mini", &["mini"], "trinity-mini"),
    ]),
    brand_of("ling", &[
        line("ling-flash", &["flash"], "ling-flash-#"),
        line("ling-mini", &["mini"], "ling-mini-#"),
    ]),
    brand_of("ring", &[
        line("ring-flash", &["flash"], "ring-flash-#"),
        line("ring-mini", &["mini"], "ring-mini-#"),
    ]),
    brand_of("muse", &[
        line("muse-spark", &["spark"], "muse-spark-#"),
        line("muse-spark-open", &["spark", "open"], "muse-spark-open").any_size(),
        line("muse-wonder", &["wonder"], "muse-wonder-#"),
        line("muse-glimmer", &["glimmer"], "muse-glimmer-$"),
    ]),
    brand_of("inkling", &[
        line("inkling", &[], "inkling"),
        line("inkling-small", &["small"], "inkling-small"),
    ]),
    brand_of("reka", &[
        line("reka-core", &["core"], "reka-core"),
        line("reka-flash", &["flash"], "reka-flash-#?").only_sizes(&[21]),
        line("reka-edge", &["edge"], "reka-edge"),
    ]).noise(&[]),
    brand_of("hermes", &[line("hermes", &[], "hermes-#-$")]).noise(&[]),
    brand_of("tulu", &[line("tulu", &[], "tulu-#-$")]).noise(&["dpo"]),
    brand_of("athene", &[
        line("athene", &[], "athene-v#"),
        line("athene-sized", &[], "athene-$"),
    ]),
    brand_of("intellect", &[line("intellect", &[], "intellect-#")]),
    brand_of("mercury", &[line("mercury", &[], "mercury-#")]),
    brand_of("internlm", &[line("internlm", &[], "internlm-#-$")]),
    brand_of("exaone", &[line("exaone", &[], "exaone-#-$")]),
    brand_of("smollm", &[line("smollm", &[], "smollm-#-$")]),
    brand_of("solar", &[line("solar", &[], "solar-$")]),
    brand_of("snowflakearctic", &[line("snowflake-arctic", &[], "snowflake-arctic")]),
    brand_of("dbrx", &[line("dbrx", &[], "dbrx")]).noise(&["instruct"]),
    brand_of("falcon", &[line("falcon", &[], "falcon-#?-$")]),
    brand_of("chatglm", &[line("chatglm", &[], "chatglm-#?-$")]),
    brand_of("palm", &[line("palm", &[], "palm-#")]).noise(&[]),
    brand_of("wizardlm", &[line("wizardlm", &[], "wizardlm-#?-$")]).noise(&[]),
    brand_of("vicuna", &[line("vicuna", &[], "vicuna-$-v#?")]).noise(&[]),
    brand_of("alpaca", &[line("alpaca", &[], "alpaca-$")]).noise(&[]),
    brand_of("koala", &[line("koala", &[], "koala-$")]).noise(&[]),
    brand_of("guanaco", &[line("guanaco", &[], "guanaco-$")]).noise(&[]),
    brand_of("mpt", &[line("mpt", &[], "mpt-$")]).noise(&["chat"]),
    brand_of("openchat", &[line("openchat", &[], "openchat-#").only_sizes(&[7])]).noise(&[]),
    brand_of("zephyr", &[
        line("zephyr-alpha", &["alpha"], "zephyr-$-alpha"),
        line("zephyr-beta", &["beta"], "zephyr-$-beta"),
    ]).noise(&[]),
    brand_of("starling", &[
        line("starling-alpha", &["alpha"], "starling-$-alpha"),
        line("starling-beta", &["beta"], "starling-$-beta"),
    ]).noise(&["lm"]),
    brand_of("apertus", &[line("apertus", &[], "apertus-$")]),
];
