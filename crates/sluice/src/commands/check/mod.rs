//! `sluice check`: says everything that is wrong with a configuration, or what it amounts to and
//! where it is weak.

mod policy;
mod quality;
mod weak;

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::Exit;
use crate::config::{Environment, Problems, Settings, acceptance};
use crate::links;

/// Says what is wrong with a configuration, without starting anything.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The configuration file. Default: the one that SLUICE_CONFIG names, else sluice.toml in
    /// the current folder
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Accepts the file as it is: a running server takes over exactly this content, even if it has
    /// lost a whole section
    #[arg(long)]
    accept: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Checks the configuration. The problems go to `err`, the summary to `out`.
pub(crate) fn run(
    args: &CheckArgs,
    environment: &dyn Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let settings = match Settings::open(args.config.as_deref(), environment) {
        Ok(settings) => settings,
        Err(problems) => {
            if args.json {
                writeln!(out, "{}", problems_as_json(&problems))?;
                return Ok(Exit::Usage);
            }
            writeln!(err, "{problems}")?;
            let count = problems.iter().count();
            writeln!(err, "\n{count} problem{}", if count == 1 { "" } else { "s" })?;
            return Ok(Exit::Usage);
        }
    };
    let weak = weak::points(&settings, environment);
    if args.json {
        let weak: Vec<Value> = weak.iter().map(weak::Weak::as_json).collect();
        writeln!(out, "{}", as_json(&settings, &weak))?;
    } else {
        summarise(&settings, out)?;
        policy::print(&settings, out)?;
        if !weak.is_empty() {
            writeln!(out, "\nWeak points\n")?;
        }
        for point in &weak {
            writeln!(out, "{}: {}\n    fix: {}", point.key, point.what, point.fix)?;
        }
    }
    if args.accept {
        match acceptance::accept(&settings) {
            Ok(mark) => writeln!(err, "Accepted: a running server looks for {}.", mark.display())?,
            Err(error) => {
                writeln!(err, "{error}")?;
                return Ok(Exit::Failed);
            }
        }
    }
    Ok(Exit::Done)
}

fn problems_as_json(problems: &Problems) -> Value {
    let problems = problems.iter().map(|problem| {
        json!({
            "file": problem.file,
            "line": problem.line,
            "column": problem.column,
            "key": problem.key,
            "what": problem.what,
            "fix": problem.fix,
        })
    });
    json!({ "problems": problems.collect::<Vec<_>>() })
}

fn as_json(settings: &Settings, weak: &[Value]) -> Value {
    let providers = settings.providers.iter().map(|provider| {
        json!({
            "id": provider.id,
            "kind": provider.kind,
            "base_url": provider.base_url,
            "region": provider.region,
            "has_key": provider.credential.is_some(),
        })
    });
    json!({
        "problems": [],
        "file": settings.file,
        "listen": settings.server.listen,
        "tls": settings.server.tls_certificate_file.is_some(),
        "dashboard_listen": settings.server.dashboard_listen.0,
        "metrics_listen": settings.server.metrics_listen.0,
        "data_dir": settings.storage.data_dir.0,
        "database": settings.storage.location().database(),
        "discovered": settings.discovered,
        "providers": providers.collect::<Vec<_>>(),
        "models": settings.catalog.models().len(),
        "routers": settings.catalog.routers().map(|router| &router.id).collect::<Vec<_>>(),
        "policy": policy::as_json(settings),
        "quality": quality::as_json(settings),
        "warnings": settings.warnings,
        "weak": weak,
    })
}

fn summarise(settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    match &settings.file {
        Some(file) => writeln!(out, "{} is fine.", file.display())?,
        None => writeln!(out, "No configuration file; the defaults are fine.")?,
    }
    let server = &settings.server;
    let scheme = if server.tls_certificate_file.is_some() { "https" } else { "http" };
    writeln!(out, "API:       {scheme}://{}/api/v1", server.listen)?;
    writeln!(out, "dashboard: {}/", links::base(settings, links::pages(settings)))?;
    match server.metrics_listen.0 {
        Some(address) => writeln!(out, "metrics:   http://{address}/metrics")?,
        None => writeln!(out, "metrics:   off")?,
    }
    writeln!(out, "data:      {}", settings.storage.data_dir.0.display())?;
    writeln!(out, "database:  {}", settings.storage.location().database())?;
    let found = if settings.discovered { " (found)" } else { "" };
    for provider in &settings.providers {
        let region = provider.region.map_or("no region", |region| region.as_str());
        let key = if provider.credential.is_some() { "with a key" } else { "without a key" };
        writeln!(
            out,
            "provider:  {} ({}, {}, {region}, {key}){found}",
            provider.id, provider.kind, provider.base_url
        )?;
    }
    let models = settings.catalog.models();
    let aliases = models.iter().filter(|model| model.alias_of.is_some()).count();
    let routers: Vec<&str> = settings.catalog.routers().map(|router| router.id.as_str()).collect();
    let count = models.len() - aliases - routers.len();
    writeln!(out, "models:    {count} and {aliases} second names")?;
    writeln!(out, "routers:   {} ({})", routers.len(), routers.join(", "))?;
    quality::summarise(settings, out)?;
    for warning in &settings.warnings {
        writeln!(out, "warning:   {warning}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::environment::tests::FixedEnvironment;

    fn check(text: &str) -> (Exit, String, String) {
        run_with(text, false)
    }

    fn run_with(text: &str, json: bool) -> (Exit, String, String) {
        let environment =
            FixedEnvironment::default().file("dir/sluice.toml", text).open_folder("dir/open");
        let args = CheckArgs { config: Some("dir/sluice.toml".into()), accept: false, json };
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let exit = run(&args, &environment, &mut out, &mut err).unwrap();
        (exit, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }

    #[test]
    fn a_good_file_is_summed_up() {
        let (exit, out, err) = check(
            r#"
            [server]
            metrics_listen = ""
            [[providers]]
            id = "lab"
            kind = "openai"
            base_url = "http://127.0.0.1:9300/v1"
            api_key = "sk-very-secret"
            region = "us-east"
            [[models]]
            id = "mock"
            provider = "lab"
            [[routers]]
            id = "svc/mix"
            members = ["mock"]
            "#,
        );
        assert_eq!((exit.code(), err.as_str()), (0, ""));
        let (summary, policy) = out.split_once("\nSecurity: ").unwrap();
        assert_eq!(
            summary,
            "dir/sluice.toml is fine.\n\
             API:       http://127.0.0.1:8080/api/v1\n\
             dashboard: http://127.0.0.1:8080/\n\
             metrics:   off\n\
             data:      dir/sluice-data\n\
             database:  dir/sluice-data/sluice.db\n\
             provider:  lab (openai, http://127.0.0.1:9300/v1, us-east, with a key)\n\
             models:    1 and 4 second names\n\
             routers:   4 (svc/mix, svc/auto, svc/orbit, svc/nebula)\n\
             quality:   1 by price\n\
             \x20          mock is a guess by price; write `quality = 0.44`, or what you measured, \
             in its [[models]]\n\
             warning:   1 of 1 models have no known price, so that their cost is unknown: mock; \
             set `price`, or use `sluice catalog import`\n"
        );
        assert!(!policy.contains("sk-very-secret") && !policy.contains("Weak points"));
    }

    #[test]
    fn the_policy_is_told_in_words_and_as_json() {
        let text = r#"
            default_region = "eu-west"
            [storage]
            data_dir = "open"
            [security]
            minimum_level = "high"
            terms = ["Bluebird"]
            [security.high]
            redact = ["secret"]
            injection = "off"
            [limits.lowest]
            requests_per_hour = 7
            "#;
        let (exit, out, err) = run_with(text, false);
        assert_eq!((exit, err.as_str()), (Exit::Done, ""));
        for said in [
            "every request has at least level high",
            "redacted at high: secret\n",
            "your own terms: 1",
            "always at least maximum: ",
            "default eu-west",
            "account of tier lowest",
            "Weak points",
            "storage.data_dir: users other than its owner may write to dir/open",
            "security.high.injection: attacks on the model are not looked for",
        ] {
            assert!(out.contains(said), "no {said} in\n{out}");
        }
        let (exit, out, _) = run_with(text, true);
        let said: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((exit, &said["problems"]), (Exit::Done, &json!([])));
        let policy = &said["policy"];
        assert_eq!(policy["levels"]["high"]["redact"], json!(["secret"]));
        assert_eq!(policy["levels"]["high"]["injection"], "off");
        assert_eq!(policy["limits"]["accounts"]["lowest"]["requests_per_hour"], 7);
        assert_eq!(policy["limits"]["keys"]["enterprise"]["tokens_per_day"], Value::Null);
        assert_eq!(
            (&policy["minimum_level"], &policy["default_region"]),
            (&json!("high"), &json!("eu-west"))
        );
        let weak: Vec<&Value> =
            said["weak"].as_array().unwrap().iter().map(|weak| &weak["key"]).collect();
        assert_eq!(weak, ["storage.data_dir", "security.high.injection"]);
    }

    #[test]
    fn problems_are_told_as_json_too() {
        let (exit, out, err) = run_with("[security]\npatterns = ['(']\n", true);
        assert_eq!((exit.code(), err.as_str()), (2, ""));
        let said: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(said["problems"][0]["key"], "security.patterns[0]");
        assert_eq!(said["problems"][0]["line"], 2);
    }

    #[test]
    fn every_problem_is_named_and_the_exit_code_is_two() {
        let (exit, out, err) = check("[server]\nlisen = 1\n[log]\nlevel = \"loud\"\n");
        assert_eq!((exit.code(), out.as_str()), (2, ""));
        assert_eq!(
            err,
            "dir/sluice.toml:2: server.lisen: unknown key\n    fix: did you mean `listen`?\n\n\
             dir/sluice.toml:4: log.level: \"loud\" is not one of \"error\", \"warn\", \"info\", \
             \"debug\", \"trace\"\n    fix: use one of \"error\", \"warn\", \"info\", \"debug\", \
             \"trace\"\n\n2 problems\n"
        );
    }
}
