//! Holds the workspace's imports against the architecture.
//!
//! ```text
//! core  ←  security | routing | providers | storage  ←  gateway  ←  api | dashboard  ←  sluice
//! ```
//!
//! An arrow points at what is imported; siblings between bars never import each other. The tables
//! below are the one place where this is written down for the machine: a new crate, or a new
//! import between crates, changes a line here, in the open.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

/// Which of our own packages each package may import (development dependencies apart).
const IMPORTS: &[(&str, &[&str])] = &[
    ("sluice-core", &[]),
    ("sluice-security", &["sluice-core"]),
    ("sluice-routing", &["sluice-core"]),
    ("sluice-providers", &["sluice-core"]),
    ("sluice-storage", &["sluice-core"]),
    (
        "sluice-gateway",
        &["sluice-core", "sluice-security", "sluice-routing", "sluice-providers", "sluice-storage"],
    ),
    ("sluice-api", &["sluice-core", "sluice-gateway"]),
    ("sluice-dashboard", &["sluice-core", "sluice-gateway"]),
    (
        "sluice",
        &[
            "sluice-core",
            "sluice-security",
            "sluice-routing",
            "sluice-providers",
            "sluice-storage",
            "sluice-gateway",
            "sluice-api",
            "sluice-dashboard",
        ],
    ),
    ("sluice-testkit", &["sluice-core"]),
    // What builds, checks and measures the product is no part of it.
    ("sluice-bench", &["sluice-core", "sluice-routing", "sluice-security", "sluice-storage"]),
    ("sluice-training", &["sluice-core", "sluice-routing", "sluice-security"]),
    ("sluice-testpostgres", &[]),
    ("xtask", &["sluice-testpostgres"]),
];

/// Foreign packages that only some of ours may import: each stands for a concern with one home.
const CONFINED: &[(&str, &[&str])] = &[
    ("axum", &["sluice-dashboard", "sluice-testkit"]),
    // The bench fills a database with more rows than any surface could make in time.
    ("sqlx", &["sluice-storage", "sluice-bench"]),
    ("redis", &["sluice-storage"]),
    ("askama", &["sluice-dashboard"]),
    ("hyper-rustls", &["sluice-providers"]),
    ("tracing-subscriber", &["sluice"]),
    // Libraries have errors of their own, and leave the command line to programs.
    ("anyhow", &["sluice", "sluice-bench", "sluice-training", "xtask"]),
    ("clap", &["sluice", "sluice-bench", "sluice-training", "xtask"]),
];

/// Packages that do no I/O, never wait, and read no clock or randomness of their own.
const PURE: &[&str] = &["sluice-core", "sluice-security", "sluice-routing"];

/// What a pure package has no use for.
const IMPURE: &[&str] = &[
    "async-trait",
    "axum",
    "fastrand",
    "futures-util",
    "getrandom",
    "hyper",
    "hyper-util",
    "rand",
    "reqwest",
    "sqlx",
    "tokio",
];

/// Only tests, and what runs them, may import these.
const TESTS_ONLY: [&str; 2] = ["sluice-testkit", "sluice-testpostgres"];
const RUNS_TESTS: &str = "xtask";

#[test]
fn imports_follow_the_layers() {
    let mut faults = Vec::new();
    for package in packages() {
        let Some((_, allowed)) = IMPORTS.iter().find(|(name, _)| *name == package.name) else {
            faults.push(format!("{} has no line in IMPORTS", package.name));
            continue;
        };
        for import in package.imports.iter().filter(|import| is_ours(import)) {
            if !allowed.contains(&import.as_str()) {
                faults.push(format!("{} must not import {import}", package.name));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn foreign_packages_stay_at_home() {
    let mut faults = Vec::new();
    for package in packages() {
        for (foreign, homes) in CONFINED {
            if package.imports.contains(*foreign) && !homes.contains(&package.name.as_str()) {
                faults.push(format!("{} must not import {foreign}", package.name));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn pure_packages_stay_pure() {
    let mut faults = Vec::new();
    for package in packages().iter().filter(|package| PURE.contains(&package.name.as_str())) {
        for impure in IMPURE.iter().filter(|impure| package.imports.contains(**impure)) {
            faults.push(format!("{} must not import {impure}", package.name));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_tests_need_stays_in_tests() {
    for package in packages().iter().filter(|package| package.name != RUNS_TESTS) {
        for tests_only in TESTS_ONLY {
            assert!(
                !package.imports.contains(tests_only),
                "{} imports {tests_only} other than as a development dependency",
                package.name,
            );
        }
    }
}

/// A package of this workspace.
struct Package {
    name: String,
    /// Names of what it imports, for building included, for testing not.
    imports: BTreeSet<String>,
}

fn packages() -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .map(|package| Package {
            name: package["name"].as_str().unwrap().to_owned(),
            imports: package["dependencies"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|dependency| dependency["kind"] != "dev")
                .map(|dependency| dependency["name"].as_str().unwrap().to_owned())
                .collect(),
        })
        .collect()
}

fn is_ours(name: &str) -> bool {
    name == "sluice" || name.starts_with("sluice-") || name == "xtask"
}
