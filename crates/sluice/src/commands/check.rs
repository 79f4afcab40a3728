//! `sluice check`: says everything that is wrong with a configuration, or what it amounts to.

use std::io::{self, Write};
use std::path::PathBuf;

use super::Exit;
use crate::config::{Environment, Settings};

/// Says what is wrong with a configuration, without starting anything.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// The configuration file. Default: sluice.toml in the current folder.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Checks the configuration. The problems go to `err`, the summary to `out`.
pub(crate) fn run(
    args: &CheckArgs,
    environment: &dyn Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    match Settings::open(args.config.as_deref(), environment) {
        Ok(settings) => {
            summarise(&settings, out)?;
            Ok(Exit::Done)
        }
        Err(problems) => {
            writeln!(err, "{problems}")?;
            let count = problems.iter().count();
            writeln!(err, "\n{count} problem{}", if count == 1 { "" } else { "s" })?;
            Ok(Exit::Usage)
        }
    }
}

fn summarise(settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    match &settings.file {
        Some(file) => writeln!(out, "{} is fine.", file.display())?,
        None => writeln!(out, "No configuration file; the defaults are fine.")?,
    }
    let server = &settings.server;
    let scheme = if server.tls_certificate_file.is_some() { "https" } else { "http" };
    writeln!(out, "API:       {scheme}://{}/api/v1", server.listen)?;
    match server.metrics_listen.0 {
        Some(address) => writeln!(out, "metrics:   http://{address}/metrics")?,
        None => writeln!(out, "metrics:   off")?,
    }
    writeln!(out, "data:      {}", settings.storage.data_dir.0.display())?;
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
        let environment = FixedEnvironment::default().file("dir/sluice.toml", text);
        let args = CheckArgs { config: Some("dir/sluice.toml".into()) };
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
        assert_eq!(
            out,
            "dir/sluice.toml is fine.\n\
             API:       http://127.0.0.1:8080/api/v1\n\
             metrics:   off\n\
             data:      dir/sluice-data\n\
             provider:  lab (openai, http://127.0.0.1:9300/v1, us-east, with a key)\n\
             models:    1 and 4 second names\n\
             routers:   4 (svc/mix, svc/auto, svc/orbit, svc/nebula)\n\
             warning:   1 of 1 models have no known price, so that their cost is unknown: mock; \
             set `price`, or use `sluice catalog import`\n"
        );
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
