//! From a client's entry and a deployment to what the user reads.
//!
//! Placeholders: `{base_url}`, and its parts `{origin}` and `{path}`; `{key}`; `{model}`;
//! `{context}` and `{output}`, the catalogue's figures in tokens. Where the catalogue does not
//! know a figure, the lines that need it are left out: a client's own default is better than a
//! number that we made up.

use std::fmt::Write;

use serde::Serialize;
use sluice_core::secret::Secret;

use super::clients::{Client, Kind};

/// What the configuration of a client has to say about this deployment.
#[derive(Debug, Clone)]
pub struct Deployment {
    /// `http://127.0.0.1:8080/api/v1`, without a slash at the end.
    pub base_url: String,
    /// The service key; `None` leaves it to the variable `SLUICE_API_KEY`.
    pub key: Option<Secret<String>>,
    /// What the client puts in `model`.
    pub model: String,
    /// The model's prompt and answer together, in tokens.
    pub context_window: Option<u32>,
    /// Most tokens of one of its answers.
    pub output_limit: Option<u32>,
    /// Whether the model only pretends.
    pub simulated: bool,
    /// How the configuration file was named on the command line, if it was.
    pub config: Option<String>,
}

/// Everything to do, in order. Its JSON form is for scripts. Holds the key, so it has no `Debug`.
#[derive(Serialize)]
pub struct Guide {
    /// The client's word on the command line.
    pub client: &'static str,
    /// Its name, as its makers write it.
    #[serde(skip)]
    pub title: &'static str,
    /// Where it reaches this deployment.
    pub base_url: String,
    /// What it puts in `model`.
    pub model: String,
    /// The model's prompt and answer together, in tokens.
    pub context_window: Option<u32>,
    /// Most tokens of one of the model's answers.
    pub output_limit: Option<u32>,
    /// Whether the model only pretends.
    pub simulated: bool,
    /// How to come by a key, where none was given.
    pub key_commands: Vec<String>,
    /// The files to write.
    pub files: Vec<GuideFile>,
    /// The environment variables to set.
    pub environment: Vec<Variable>,
    /// What is done by hand, in order.
    pub steps: Vec<String>,
    /// What to run, in order.
    pub commands: Vec<String>,
    /// What else one should know.
    pub notes: Vec<String>,
}

/// A file to write.
#[derive(Serialize)]
pub struct GuideFile {
    /// Where it is.
    pub path: &'static str,
    /// What is in it.
    pub content: String,
}

/// An environment variable to set.
#[derive(Serialize)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: String,
}

/// What stands for the key where none was given. A shell puts the key in.
const KEY_PLACEHOLDER: &str = "$SLUICE_API_KEY";

impl Guide {
    /// What to do so that `client` works with `deployment`.
    pub fn new(client: &Client, deployment: &Deployment) -> Self {
        let fill = |template: &str| fill(template, deployment);
        let fill_all = |templates: &[&str]| templates.iter().filter_map(|one| fill(one)).collect();
        let environment = client
            .environment
            .iter()
            .filter_map(|&(name, template)| Some(Variable { name, value: fill(template)? }))
            // A variable that is only set to itself is the one that the user sets.
            .filter(|variable| variable.value.strip_prefix('$') != Some(variable.name))
            .collect();
        let mut notes: Vec<String> = fill_all(client.notes);
        if deployment.context_window.is_none() || deployment.output_limit.is_none() {
            notes.push(format!(
                "The catalogue does not know all limits of {}: set `context_window` and `output_limit` \
                 of its [[models]] entry, and they appear here.",
                deployment.model
            ));
        }
        Self {
            client: client.id,
            title: client.title,
            base_url: deployment.base_url.clone(),
            model: deployment.model.clone(),
            context_window: deployment.context_window,
            output_limit: deployment.output_limit,
            simulated: deployment.simulated,
            key_commands: key_commands(client, deployment),
            files: client
                .files
                .iter()
                .map(|file| GuideFile {
                    path: file.path,
                    content: fill_lines(file.content, deployment),
                })
                .collect(),
            environment,
            steps: fill_all(client.steps),
            commands: fill_all(client.commands),
            notes,
        }
    }

    /// The guide for people.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "Connect {} to {}\nModel {}{}: {}.\n",
            self.title,
            self.base_url,
            self.model,
            if self.simulated { " (simulated)" } else { "" },
            limits(self.context_window, self.output_limit)
        );
        let mut number = 0;
        let mut section = |text: &mut String, heading: &str, lines: &str| {
            number += 1;
            // Writing to a `String` cannot fail.
            let _ = write!(text, "\n{number}. {heading}\n\n{}\n", lines.trim_end());
        };
        if !self.key_commands.is_empty() {
            section(
                &mut text,
                "Put a service key into SLUICE_API_KEY",
                &self.key_commands.join("\n"),
            );
        }
        for file in &self.files {
            let heading = format!("Write {}, or add this to the existing file", file.path);
            section(&mut text, &heading, &file.content);
        }
        if !self.steps.is_empty() {
            section(&mut text, "Set up", &self.steps.join("\n"));
        }
        if !self.environment.is_empty() {
            let lines: Vec<String> = self
                .environment
                .iter()
                .map(|variable| format!("export {}=\"{}\"", variable.name, variable.value))
                .collect();
            section(&mut text, "Set the environment", &lines.join("\n"));
        }
        if !self.commands.is_empty() {
            section(&mut text, "Run", &self.commands.join("\n"));
        }
        for note in &self.notes {
            let _ = write!(text, "\nNote: {note}\n");
        }
        text
    }
}

/// How to make a key that fits `client`; nothing where there is one.
fn key_commands(client: &Client, deployment: &Deployment) -> Vec<String> {
    if deployment.key.is_some() {
        return Vec::new();
    }
    let config = match &deployment.config {
        Some(file) => format!(" --config {file}"),
        None => String::new(),
    };
    let fitting = match client.kind {
        Kind::Library => "--class production",
        Kind::Assistant => "--class enterprise --max-tokens model",
    };
    vec![
        format!(
            "export SLUICE_API_KEY=\"$(sluice keys create{config} --name {} {fitting})\"",
            client.id
        ),
        format!(
            "# `sluice connect {}{config} --create-key` does this, and prints the key below",
            client.id
        ),
    ]
}

/// The model's limits in words.
fn limits(context_window: Option<u32>, output_limit: Option<u32>) -> String {
    let figure = |tokens: Option<u32>| match tokens {
        Some(tokens) => format!("{tokens} tokens"),
        None => "unknown".to_owned(),
    };
    format!("context window {}, output limit {}", figure(context_window), figure(output_limit))
}

/// `template` without the lines whose figure is unknown.
fn fill_lines(template: &str, deployment: &Deployment) -> String {
    let lines = template.lines().filter_map(|line| fill(line, deployment));
    lines.fold(String::new(), |text, line| text + &line + "\n")
}

/// `template` with its placeholders replaced; `None` where it needs a figure that is unknown.
fn fill(template: &str, deployment: &Deployment) -> Option<String> {
    let (origin, path) = split(&deployment.base_url);
    let key = deployment.key.as_ref().map_or(KEY_PLACEHOLDER, |key| key.expose());
    let values = [
        ("{base_url}", Some(deployment.base_url.clone())),
        ("{origin}", Some(origin.to_owned())),
        ("{path}", Some(path.to_owned())),
        ("{key}", Some(key.to_owned())),
        ("{model}", Some(deployment.model.clone())),
        ("{context}", deployment.context_window.map(|tokens| tokens.to_string())),
        ("{output}", deployment.output_limit.map(|tokens| tokens.to_string())),
    ];
    let mut text = template.to_owned();
    for (placeholder, value) in values {
        if text.contains(placeholder) {
            text = text.replace(placeholder, &value?);
        }
    }
    Some(text)
}

/// A base URL's origin (`http://127.0.0.1:8080`) and path (`api/v1`).
fn split(base_url: &str) -> (&str, &str) {
    let host = base_url.find("://").map_or(0, |at| at + 3);
    match base_url[host..].find('/') {
        Some(slash) => (&base_url[..host + slash], &base_url[host + slash + 1..]),
        None => (base_url, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::super::clients::{CLIENTS, client};
    use super::*;

    fn deployment() -> Deployment {
        Deployment {
            base_url: "http://127.0.0.1:8080/api/v1".to_owned(),
            key: Some(Secret::new("svc_ent_EXAMPLE".to_owned())),
            model: "svc/enterprise-coder-v1".to_owned(),
            context_window: Some(128_000),
            output_limit: Some(16_384),
            simulated: false,
            config: None,
        }
    }

    #[test]
    fn says_what_to_do_for_every_client() {
        for client in CLIENTS {
            insta::assert_snapshot!(client.id, Guide::new(client, &deployment()).to_text());
        }
    }

    #[test]
    fn is_what_the_documentation_shows() {
        let documentation = include_str!("../../../../docs/clients.md");
        let deployment = Deployment { key: None, ..deployment() };
        for client in CLIENTS {
            let guide = Guide::new(client, &deployment);
            let files = guide.files.iter().map(|file| &file.content);
            for text in files.chain(&guide.steps).chain(&guide.commands).chain(&guide.notes) {
                assert!(documentation.contains(text.as_str()), "{}: {text}", client.id);
            }
        }
    }

    #[test]
    fn leaves_the_key_to_the_environment_where_none_was_given() {
        let deployment =
            Deployment { key: None, config: Some("lab.toml".to_owned()), ..deployment() };
        let text: Vec<String> = ["opencode", "aider", "cursor", "curl"]
            .into_iter()
            .filter_map(client)
            .map(|client| Guide::new(client, &deployment).to_text())
            .collect();
        insta::assert_snapshot!("without_a_key", text.join("\n---\n"));
    }

    #[test]
    fn leaves_out_what_the_catalogue_does_not_know() {
        let deployment = Deployment { context_window: None, output_limit: None, ..deployment() };
        let opencode = Guide::new(client("opencode").unwrap(), &deployment).to_text();
        assert!(!opencode.contains("\"limit\""), "{opencode}");
        assert!(opencode.contains("does not know all limits"), "{opencode}");
        let goose = Guide::new(client("goose").unwrap(), &deployment).to_text();
        assert!(!goose.contains("GOOSE_MAX_TOKENS"), "{goose}");
    }

    #[test]
    fn leaves_no_placeholder_and_no_broken_json() {
        for limit in [Some(4096), None] {
            let deployment =
                Deployment { context_window: limit, output_limit: limit, ..deployment() };
            for client in CLIENTS {
                let guide = Guide::new(client, &deployment);
                let text = guide.to_text();
                for name in ["base_url", "origin", "path", "key", "model", "context", "output"] {
                    assert!(!text.contains(&format!("{{{name}}}")), "{}: {name}", client.id);
                }
                for file in guide.files.iter().filter(|file| file.path.ends_with(".json")) {
                    let parsed: Result<serde_json::Value, _> = serde_json::from_str(&file.content);
                    assert!(parsed.is_ok(), "{}: {parsed:?}\n{}", client.id, file.content);
                }
            }
        }
    }

    #[test]
    fn splits_a_base_url() {
        assert_eq!(split("https://llm.example.org/api/v1"), ("https://llm.example.org", "api/v1"));
        assert_eq!(split("http://127.0.0.1:8080"), ("http://127.0.0.1:8080", ""));
    }
}
