use clap::Parser;
use sluice_core::clock::{ManualClock, UnixMillis};

use super::*;
use crate::config::ProcessEnvironment;

#[derive(clap::Parser)]
struct Line {
    #[command(subcommand)]
    command: QualityCommand,
}

/// A folder with a configuration: a well-known model, a relative of one, one that nobody knows, and
/// one that the file says the quality of.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        let config = r#"
            [[providers]]
            id = "lab"
            kind = "openai"
            api_key = "k"
            base_url = "http://127.0.0.1:1/v1"
            [[models]]
            id = "small"
            provider = "lab"
            upstream_model = "gpt-5-mini-2025-08-07"
            [[models]]
            id = "claude-sonnet-9"
            provider = "lab"
            [[models]]
            id = "mystery"
            provider = "lab"
            price = { input = "1", output = "1" }
            [[models]]
            id = "known"
            provider = "lab"
            quality = 0.5
        "#;
        folder.write("sluice.toml", config);
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    fn quality(&self, line: &[&str]) -> (Exit, String, String) {
        let config = self.path("sluice.toml");
        let line = Line::try_parse_from([&["quality"], line, &["--config", &config]].concat());
        let clock = ManualClock::at(UnixMillis::parse("2026-11-21").unwrap());
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let environment = ProcessEnvironment::default();
        let vendors = Vendors::default();
        let command = line.unwrap().command;
        let exit = run(&command, &vendors, &environment, &clock, &mut out, &mut err).unwrap();
        (exit, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }

    fn listed(&self) -> Vec<(String, String, f64)> {
        let (exit, out, err) = self.quality(&["list", "--json"]);
        assert_eq!((exit, err.as_str()), (Exit::Done, ""));
        let row = |line: &str| {
            let value: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| value[name].as_str().unwrap().to_owned();
            (text("model"), text("basis"), value["average"].as_f64().unwrap())
        };
        out.lines().map(row).collect()
    }
}

#[test]
fn each_model_says_what_its_quality_rests_on() {
    let folder = Folder::new();
    let listed = folder.listed();
    let of: Vec<(&str, &str)> = listed.iter().map(|it| (it.0.as_str(), it.1.as_str())).collect();
    let expected = [
        ("small", "prior"),
        ("claude-sonnet-9", "family"),
        ("mystery", "price"),
        ("known", "yours"),
    ];
    assert_eq!(of, expected);

    let (_, out, _) = folder.quality(&["list"]);
    assert!(out.contains("family    a guess, from public figures of a relative"), "{out}");
    assert!(out.lines().any(|line| line.starts_with("known") && line.ends_with("configuration")));

    let (exit, out, _) = folder.quality(&["show", "small"]);
    assert_eq!(exit, Exit::Done);
    assert!(out.contains("recognised as  gpt-5-mini") && out.contains("  transform"), "{out}");
    let (_, out, _) = folder.quality(&["show", "mystery"]);
    assert!(out.contains("`quality = 0."), "the line that ends the guess: {out}");
    // Also one that is not served.
    let (exit, out, _) = folder.quality(&["show", "anthropic/claude-opus-4.5"]);
    assert_eq!(exit, Exit::Done);
    assert!(out.contains("prior (public leaderboards)"), "{out}");
    let (exit, _, err) = folder.quality(&["show", "svc/auto"]);
    assert_eq!(exit, Exit::Failed);
    assert!(err.contains("is a router"), "{err}");
    let (exit, _, err) = folder.quality(&["show", "nobody/knows"]);
    assert_eq!(exit, Exit::Failed);
    assert!(err.contains("neither served nor known"), "{err}");
}

#[test]
fn ones_own_evaluation_stands_above_priors_and_below_the_file() {
    let folder = Folder::new();
    let text = "model,average,code\ngpt-5-mini,61,70\nmystery,40,\nknown,99,\nodd-one,50,\n";
    let file = folder.write("own.csv", text);
    let (exit, out, err) = folder.quality(&["import", &file, "--source", "week 47"]);
    assert_eq!((exit, err.as_str()), (Exit::Done, ""));
    assert!(out.starts_with("4 rows of week 47 (2026-11-21) are in "), "{out}");
    assert!(out.contains("3 are of no known family"), "{out}");
    let listed = folder.listed();
    assert_eq!(listed[0], ("small".to_owned(), "measured".to_owned(), 0.61));
    assert_eq!(listed[2], ("mystery".to_owned(), "measured".to_owned(), 0.4));
    assert_eq!(listed[3], ("known".to_owned(), "yours".to_owned(), 0.5));
    let (_, out, _) = folder.quality(&["show", "small", "--json"]);
    let shown: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&shown["source"], &shown["date"]), (&json!("week 47"), &json!("2026-11-21")));
    assert_eq!(shown["tasks"]["code"], json!(0.7));

    // The same source again takes the place of what it said of the same model; another one does
    // not, and the latest counts.
    let file = folder.write("other.csv", "model,average\ngpt-5-mini,0.7\n");
    let again = ["import", &file, "--source", "week 48", "--date", "2026-11-28"];
    let (_, out, _) = folder.quality(&again);
    assert!(!out.contains("take the place"), "{out}");
    assert_eq!(folder.listed()[0].2, 0.7);
    let (_, out, _) = folder.quality(&["show", "small"]);
    assert!(out.contains("source         week 48, week 47 2026-11-28"), "{out}");
    let (_, out, _) = folder.quality(&["import", &file, "--source", "week 47"]);
    assert!(out.contains("They take the place of 1 that were there."), "{out}");
    assert_eq!(folder.listed()[2].1, "measured", "what it said of others stays");
    let (_, out, _) = folder.quality(&["list", "--known"]);
    assert!(out.contains("week 47 2026-11-21") && out.contains("claude-opus-4.5"), "{out}");
}

#[test]
fn a_leaderboard_takes_the_place_of_itself() {
    let folder = Folder::new();
    let models = ["gpt-4o", "gpt-4.1", "gpt-5", "o3", "gpt-4o-mini"];
    let board = |names: &[&str]| {
        let runs = names.iter().enumerate().map(|(i, name)| {
            format!("- model: {name}\n  pass_rate_1: {i}\n  pass_rate_2: {}\n", 20 + 10 * i)
        });
        runs.collect::<String>()
    };
    let first = folder.write("polyglot.yml", &board(&[&models[..], &["newcomer"]].concat()));
    let (exit, out, err) = folder.quality(&["import", &first]);
    assert_eq!((exit, err.as_str()), (Exit::Done, ""));
    assert!(out.starts_with("6 rows of aider (2026-11-21)"), "{out}");
    let later = folder.write("polyglot.yml", &board(&models));
    let (_, out, _) = folder.quality(&["import", &later]);
    assert!(out.contains("They take the place of 6 that were there."), "{out}");
    let (exit, ..) = folder.quality(&["show", "newcomer"]);
    assert_eq!(exit, Exit::Failed, "it is no longer on the board");
}

#[test]
fn what_cannot_be_imported_changes_nothing() {
    let folder = Folder::new();
    let good = folder.write("good.csv", "model,average\nmystery,0.4\n");
    assert_eq!(folder.quality(&["import", &good]).0, Exit::Done);
    for (text, expected) in [
        ("", "it is empty"),
        ("model,score\na,1\n", "of no known leaderboard"),
        ("model,average\na,0.5\nb,60\n", "write all figures from 0 to 1"),
        ("model,pass_rate_1,pass_rate_2\na,1,2\n", "only 0 of its models are known"),
    ] {
        let file = folder.write("bad.csv", text);
        let (exit, out, err) = folder.quality(&["import", &file]);
        assert_eq!((exit, out.as_str()), (Exit::Failed, ""), "{text}");
        assert!(err.contains("bad.csv: ") && err.contains(expected), "{err}");
    }
    let (exit, _, err) = folder.quality(&["import", &good, "--date", "soon"]);
    assert_eq!(exit, Exit::Usage);
    assert!(err.contains("--date soon: expected a day"), "{err}");
    assert_eq!(folder.listed()[2].1, "measured", "what was there stays");
}

#[test]
fn a_file_that_somebody_broke_is_told_and_left_out() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("sluice-data")).unwrap();
    folder.write("sluice-data/quality.csv", "model,average\na,good\n");
    assert_eq!(folder.listed()[0].1, "prior");
    let path = folder.path("sluice.toml");
    let settings = Settings::load(Path::new(&path), &ProcessEnvironment::default()).unwrap();
    let told = settings.warnings.iter().find(|warning| warning.contains("quality.csv"));
    assert!(told.is_some_and(|it| it.contains("line 2")), "{:?}", settings.warnings);

    // An import would lose the rest of it.
    let good = folder.write("good.csv", "model,average\nmystery,0.4\n");
    let (exit, out, err) = folder.quality(&["import", &good]);
    assert_eq!((exit, out.as_str()), (Exit::Failed, ""));
    assert!(err.contains("cannot be added to: line 2: `average` is \"good\""), "{err}");
    let kept = std::fs::read_to_string(folder.path("sluice-data/quality.csv")).unwrap();
    assert_eq!(kept, "model,average\na,good\n");
}
