//! Policies, as the file holds them.

use std::collections::HashSet;

use sluice_core::level::SecurityLevel;
use sluice_core::policy::PolicyRules;
use sluice_core::region::Region;
use sluice_gateway::admin::PolicyWish;
use sluice_security::kind::{Kind, Kinds};
use sluice_security::request::Additions;

use super::organisation::{Called, names_somebody, written};
use super::read::{Reader, Repeated, Schema, section};
use super::sections::Root;
use super::values::{Count, Text};

section! {
    /// A policy: what holds for the requests of somebody. Of all that is said about a request, the
    /// strictest counts, and lists intersect. What stands here is read-only elsewhere, and is removed
    /// when it is taken out of the file. See docs/governance.md.
    PolicySection {
        /// Whose: `deployment`, `account`, or department:D, team:T, person:P, service:S or key:K, by name
        /// or id.
        of: Called => "department:research",
        /// The least strict level.
        level: Option<SecurityLevel> => "high",
        /// The only models that may be asked: ids, or beginnings of ids with a *. A router that is named
        /// may ask all of its members.
        models: Option<Vec<Text>> => ["svc/auto", "lab/*"],
        /// The only regions in which requests may be processed.
        regions: Option<Vec<Region>> => ["eu-west"],
        /// Where requests are processed that do not say.
        region: Option<Region> => "eu-west",
        /// Nothing of a request's content is kept.
        zero_retention: bool = false,
        /// Every request leaves an audit entry.
        audit: bool = false,
        /// The most tokens of an answer; a larger wish is lowered.
        max_output_tokens: Option<Count<1, 10_000_000>> => 8_000,
        /// Terms that must not leave, beside those of `security`.
        terms: Option<Vec<Text>> => ["Orion"],
        /// Patterns that must not leave, beside those of `security`.
        patterns: Option<Vec<Text>> => ["PRJ-[0-9]{4}"],
        /// Kinds of values that are redacted at every level.
        redact: Option<Vec<Kind>> => ["person"],
        /// Values that no detector redacts; terms and patterns do. Where several policies have such a list,
        /// those that are in all.
        exceptions: Option<Vec<Text>> => ["support@example.com"],
        /// The account that all this is in. Default: the account `default`.
        account: Option<Called> => "default",
    }
}

impl Repeated for PolicySection {
    const ENTRY: &'static Schema = Self::SCHEMA;
}

/// The policies of the file, checked within themselves.
pub(super) fn check(root: &Root, reader: &mut Reader<'_>) -> Vec<PolicyWish> {
    let texts = |list: &Option<Vec<Text>>| {
        let list = list.as_ref();
        list.map(|list| list.iter().map(|text| text.0.clone()).collect::<Vec<String>>())
    };
    let mut wishes: Vec<PolicyWish> = Vec::new();
    let mut seen = HashSet::new();
    for (entry, section) in written(&root.policies) {
        let mut wrong = |key: &str, what: String, fix: &str| {
            reader.wrong_at(format!("{}.{key}", entry.path), entry.line, what, fix);
        };
        let of = &section.of.0;
        if of != "deployment" && !names_somebody(of) {
            let what = format!("\"{of}\" names nothing that has a policy");
            wrong("of", what, "write \"deployment\", \"account\", or one such as \"team:NAME\"");
            continue;
        }
        if section.models.as_ref().is_some_and(Vec::is_empty) {
            wrong("models", "it is empty, which refuses every request".to_owned(), "leave it out");
            continue;
        }
        if section.regions.as_ref().is_some_and(Vec::is_empty) {
            wrong("regions", "it is empty, which refuses every request".to_owned(), "leave it out");
            continue;
        }
        if let (Some(regions), Some(region)) = (&section.regions, section.region)
            && !regions.contains(&region)
        {
            let what = format!("{} is not among the allowed regions", region.as_str());
            wrong("region", what, "add it to `regions`");
            continue;
        }
        let rules = PolicyRules {
            level: section.level,
            models: texts(&section.models),
            regions: section.regions.clone(),
            region: section.region,
            zero_retention: section.zero_retention,
            audit: section.audit,
            max_output_tokens: section
                .max_output_tokens
                .map(|most| u32::try_from(most.0).unwrap_or(u32::MAX)),
            terms: texts(&section.terms).unwrap_or_default(),
            patterns: texts(&section.patterns).unwrap_or_default(),
            redact: section.redact.iter().flatten().map(|kind| kind.as_str().to_owned()).collect(),
            exceptions: texts(&section.exceptions),
        };
        let additions = Additions {
            terms: rules.terms.clone(),
            patterns: rules.patterns.clone(),
            exceptions: rules.exceptions.clone().unwrap_or_default(),
            redact: Kinds::default(),
        };
        if let Some(problem) = additions.problems().first() {
            let key = format!("{}[{}]", problem.setting, problem.index);
            wrong(&key, problem.problem.clone(), "mend it or leave it out");
            continue;
        }
        let account = section.account.as_ref().map(|account| account.0.clone());
        let account = account.unwrap_or_else(|| "default".to_owned());
        if !seen.insert((account.clone(), of.clone())) {
            let what = format!("another policy is about \"{of}\" as well");
            wrong("of", what, "write all its rules into one");
            continue;
        }
        wishes.push(PolicyWish { subject: of.clone(), account: Some(account), rules });
    }
    wishes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::config::environment::tests::FixedEnvironment;

    fn policies(text: &str) -> Result<Vec<PolicyWish>, String> {
        Settings::from_text(None, text, &FixedEnvironment::default())
            .map(|settings| settings.organisation.policies)
            .map_err(|problems| problems.to_string())
    }

    #[test]
    fn what_the_file_holds_is_read() {
        let found = policies(
            r#"
            [[policies]]
            of = "deployment"
            level = "high"
            [[policies]]
            of = "team:vision"
            models = ["svc/auto"]
            regions = ["eu-west"]
            zero_retention = true
            max_output_tokens = 4_000
            redact = ["person"]
            exceptions = []
            account = "acme"
            "#,
        )
        .unwrap();
        assert_eq!(found[0].rules.level, Some(SecurityLevel::High));
        let rules = &found[1].rules;
        assert_eq!(rules.regions, Some(vec![Region::EuWest]));
        assert_eq!((rules.max_output_tokens, rules.zero_retention), (Some(4_000), true));
        assert_eq!(rules.redact, ["person"]);
        assert_eq!(rules.exceptions.as_deref(), Some(&[][..]));
        assert_eq!(found[1].account.as_deref(), Some("acme"));
    }

    #[test]
    fn what_is_wrong_is_told_with_the_fix() {
        let of = |lines: &str| format!("[[policies]]\nof = \"team:a\"\n{lines}\n");
        for (text, key, fix) in [
            ("[[policies]]\nof = \"vision\"".to_owned(), "policies[0].of", "team:NAME"),
            (of("level = \"strict\""), "policies[0].level", "\"high\""),
            (of("models = []"), "policies[0].models", "leave it out"),
            (of("regions = [\"mars\"]"), "policies[0].regions", "\"eu-west\""),
            (of("regions = [\"eu-west\"]\nregion = \"us-east\""), "policies[0].region", "add it"),
            (of("max_output_tokens = 0"), "policies[0].max_output_tokens", "1"),
            (of("patterns = [\"(\"]"), "policies[0].patterns[0]", "mend it"),
            (of("redact = [\"names\"]"), "policies[0].redact[0]", "person"),
            (format!("{0}{0}", of("audit = true")), "policies[1].of", "into one"),
        ] {
            let problems = policies(&text).unwrap_err();
            assert!(problems.contains(key) && problems.contains(fix), "{text}\n{problems}");
        }
    }
}
