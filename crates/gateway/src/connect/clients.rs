//! The clients that Sluice knows how to set up: one entry each, and no code.
//!
//! Texts are templates; `guide` says what its placeholders stand for. Each format is the
//! one that the client's own documentation or package describes; `tests/clients` drives the ones
//! that can be installed from a registry with what is printed from here.

/// A program that can talk to Sluice.
#[derive(Debug)]
pub struct Client {
    /// The word on the command line.
    pub id: &'static str,
    /// Its name, as its makers write it.
    pub title: &'static str,
    /// What it is; decides which key fits.
    pub kind: Kind,
    /// Environment variables that it reads, with their values.
    pub environment: &'static [(&'static str, &'static str)],
    /// Files that it reads.
    pub files: &'static [File],
    /// What is done by hand in its windows, in order.
    pub steps: &'static [&'static str],
    /// Commands that install, configure and start it.
    pub commands: &'static [&'static str],
    /// What else one should know.
    pub notes: &'static [&'static str],
}

/// A file that a client reads.
#[derive(Debug)]
pub struct File {
    /// Where it is; `~` is the user's home folder, a relative path starts in the project's folder.
    pub path: &'static str,
    /// What is in it.
    pub content: &'static str,
}

/// What a client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A library or a tool whose caller chooses the bounds of a request.
    Library,
    /// A program that asks for long answers by itself: coding agents, editors, chat windows.
    Assistant,
}

/// The variable that holds the service key in every configuration that can refer to one.
const KEY_VARIABLE: (&str, &str) = ("SLUICE_API_KEY", "{key}");

/// Every client, libraries first.
pub const CLIENTS: &[Client] = &[
    Client {
        id: "curl",
        title: "curl",
        kind: Kind::Library,
        environment: &[KEY_VARIABLE],
        files: &[],
        steps: &[],
        commands: &[r#"curl --no-buffer "{base_url}/chat/completions" \
  -H "Authorization: Bearer $SLUICE_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"model": "{model}", "stream": true, "messages": [{"role": "user", "content": "Say hello."}]}'"#],
        notes: &[],
    },
    Client {
        id: "openai-python",
        title: "the OpenAI package for Python",
        kind: Kind::Library,
        environment: &[KEY_VARIABLE],
        files: &[File { path: "hello.py", content: include_str!("templates/openai-python.py") }],
        steps: &[],
        commands: &["pip install openai", "python hello.py"],
        notes: &[
            "For a program that you cannot change, set OPENAI_BASE_URL={base_url} and the key in OPENAI_API_KEY.",
            "Sluice speaks chat completions: `client.chat.completions`, not `client.responses`.",
        ],
    },
    Client {
        id: "openai-node",
        title: "the OpenAI package for Node.js",
        kind: Kind::Library,
        environment: &[KEY_VARIABLE],
        files: &[File { path: "hello.mjs", content: include_str!("templates/openai-node.mjs") }],
        steps: &[],
        commands: &["npm install openai", "node hello.mjs"],
        notes: &[
            "For a program that you cannot change, set OPENAI_BASE_URL={base_url} and the key in OPENAI_API_KEY.",
            "Sluice speaks chat completions: `client.chat.completions`, not `client.responses`.",
        ],
    },
    Client {
        id: "ai-sdk",
        title: "the AI SDK",
        kind: Kind::Library,
        environment: &[KEY_VARIABLE],
        files: &[File { path: "hello.mjs", content: include_str!("templates/ai-sdk.mjs") }],
        steps: &[],
        commands: &["npm install ai @ai-sdk/openai-compatible", "node hello.mjs"],
        notes: &[],
    },
    Client {
        id: "langchain",
        title: "LangChain for Python",
        kind: Kind::Library,
        environment: &[KEY_VARIABLE],
        files: &[File { path: "hello.py", content: include_str!("templates/langchain.py") }],
        steps: &[],
        commands: &["pip install langchain-openai", "python hello.py"],
        notes: &[],
    },
    Client {
        id: "litellm",
        title: "LiteLLM's Python package",
        kind: Kind::Library,
        environment: &[KEY_VARIABLE],
        files: &[File { path: "hello.py", content: include_str!("templates/litellm.py") }],
        steps: &[],
        commands: &["pip install litellm", "python hello.py"],
        notes: &[],
    },
    Client {
        id: "llm",
        title: "llm (the command line tool)",
        kind: Kind::Library,
        environment: &[],
        files: &[File {
            path: "~/.config/io.datasette.llm/extra-openai-models.yaml",
            content: include_str!("templates/llm.yaml"),
        }],
        steps: &[],
        commands: &[
            "pip install llm",
            r#"llm keys set sluice --value "{key}""#,
            r#"llm -m sluice "Say hello.""#,
        ],
        notes: &[
            "On macOS the file is in ~/Library/Application Support/io.datasette.llm/; `dirname \"$(llm logs path)\"` prints the folder.",
        ],
    },
    Client {
        id: "aider",
        title: "aider",
        kind: Kind::Assistant,
        environment: &[("OPENAI_API_BASE", "{base_url}"), ("OPENAI_API_KEY", "{key}")],
        files: &[File {
            path: ".aider.model.metadata.json",
            content: include_str!("templates/aider.json"),
        }],
        steps: &[],
        commands: &[r#"aider --model "openai/{model}""#],
        notes: &["The file may also be in your home folder, where it applies to every project."],
    },
    Client {
        id: "opencode",
        title: "opencode",
        kind: Kind::Assistant,
        environment: &[KEY_VARIABLE],
        files: &[File { path: "opencode.json", content: include_str!("templates/opencode.json") }],
        steps: &[],
        commands: &["npm install -g opencode-ai", "opencode"],
        notes: &[
            "The file applies to this project, and holds no key; ~/.config/opencode/opencode.json applies to every project.",
        ],
    },
    Client {
        id: "qwen-code",
        title: "Qwen Code",
        kind: Kind::Assistant,
        environment: &[KEY_VARIABLE],
        files: &[File {
            path: "~/.qwen/settings.json",
            content: include_str!("templates/qwen-code.json"),
        }],
        steps: &[],
        commands: &["npm install -g @qwen-code/qwen-code", "qwen"],
        notes: &[],
    },
    Client {
        id: "cline",
        title: "Cline",
        kind: Kind::Assistant,
        environment: &[],
        files: &[],
        steps: &[
            "In VS Code, open Cline's settings and choose the API provider \"OpenAI Compatible\".",
            "Base URL: {base_url}",
            "API key: {key}",
            "Model ID: {model}",
            "Model configuration, context window size: {context}",
            "Model configuration, max output tokens: {output}",
        ],
        commands: &[
            "npm install -g cline",
            r#"cline auth --provider openai-compatible --apikey "{key}" --modelid "{model}" --baseurl "{base_url}""#,
            "cline",
        ],
        notes: &["The commands are for Cline in a terminal; the extension needs only the steps."],
    },
    Client {
        id: "continue",
        title: "Continue",
        kind: Kind::Assistant,
        environment: &[KEY_VARIABLE],
        files: &[File {
            path: "~/.continue/config.yaml",
            content: include_str!("templates/continue.yaml"),
        }],
        steps: &[],
        commands: &[
            r#"printf 'SLUICE_API_KEY=%s\n' "{key}" >> ~/.continue/.env"#,
            "npm install -g @continuedev/cli",
            "cn",
        ],
        notes: &[
            "The extensions for VS Code and JetBrains take the key from ~/.continue/.env; `cn`, in a terminal, from the environment.",
            "Version 2.0.0 is Continue's last one; its repository has been read-only since 2026.",
            "Continue asks for `/responses`, which Sluice does not have, where a model's name looks like one of OpenAI's reasoning models (gpt-5…, o3…). Give such a model a second name with `same_as`.",
        ],
    },
    Client {
        id: "cursor",
        title: "Cursor",
        kind: Kind::Assistant,
        environment: &[],
        files: &[],
        steps: &[
            "Open Cursor Settings, Models, API Keys.",
            "OpenAI API Key: {key}",
            "Switch on \"Override OpenAI Base URL\" and enter {base_url}",
            "Add a custom model with the name {model} and choose it in the chat.",
        ],
        commands: &[],
        notes: &[
            "Cursor's own servers make the calls, so the base URL must be one that they can reach: https, and not localhost.",
            "Only the chat uses the key; Tab completion stays with Cursor's models.",
        ],
    },
    Client {
        id: "zed",
        title: "Zed",
        kind: Kind::Assistant,
        environment: &[KEY_VARIABLE],
        files: &[File {
            path: "~/.config/zed/settings.json",
            content: include_str!("templates/zed.json"),
        }],
        steps: &[],
        commands: &["zed"],
        notes: &[
            "A Zed that was not started from this shell does not see the variable: enter the key in Settings, AI, LLM Providers instead.",
        ],
    },
    Client {
        id: "roo-code",
        title: "Roo Code and Zoo Code",
        kind: Kind::Assistant,
        environment: &[],
        files: &[],
        steps: &[
            "In VS Code, open the extension's settings, Providers, and choose the API provider \"OpenAI Compatible\".",
            "Base URL: {base_url}",
            "API key: {key}",
            "Model: {model}",
            "Context window size: {context}",
            "Max output tokens: {output}",
        ],
        commands: &[],
        notes: &[
            "Roo Code was shut down on 15 May 2026; existing installations go on working. Zoo Code is the community's fork, and has the same settings.",
        ],
    },
    Client {
        id: "goose",
        title: "goose",
        kind: Kind::Assistant,
        environment: &[
            ("GOOSE_PROVIDER", "openai"),
            ("GOOSE_MODEL", "{model}"),
            ("GOOSE_CONTEXT_LIMIT", "{context}"),
            ("GOOSE_MAX_TOKENS", "{output}"),
            ("OPENAI_HOST", "{origin}"),
            ("OPENAI_BASE_PATH", "{path}/chat/completions"),
            ("OPENAI_API_KEY", "{key}"),
        ],
        files: &[],
        steps: &[],
        commands: &["goose session"],
        notes: &[],
    },
    Client {
        id: "open-webui",
        title: "Open WebUI",
        kind: Kind::Assistant,
        environment: &[("OPENAI_API_BASE_URL", "{base_url}"), ("OPENAI_API_KEY", "{key}")],
        files: &[],
        steps: &[],
        commands: &["pip install open-webui", "open-webui serve"],
        notes: &[
            "It lists every model of this deployment. After the first start, change the address in its Admin Settings, Connections.",
        ],
    },
];

/// The client that a word on the command line names.
pub fn client(id: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| client.id == id)
}
