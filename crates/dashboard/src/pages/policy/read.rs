//! From the form to the rules that are asked for, and back.

use sluice_core::level::SecurityLevel;
use sluice_core::policy::PolicyRules;
use sluice_core::region::Region;
use sluice_gateway::PolicyRecord;
use sluice_gateway::admin::AdminError;

use crate::pages::budget_new::read::{Wrong, digits};
use crate::web::{Failure, Fields, sentence};

/// A refusal of administration; what is no fault of the form stays a failure.
pub(super) fn wrong(error: AdminError) -> Result<Wrong, Failure> {
    let field = match &error {
        AdminError::UnknownModel(_) => Some("models"),
        AdminError::RegionNotAllowed { .. } => Some("region"),
        AdminError::PolicyRule { rule, .. } => Some(*rule),
        _ => return Wrong::of(error),
    };
    Ok(Wrong { field, text: sentence(&error) })
}

/// The rules that a form asks for.
pub(super) fn rules(form: &Fields) -> Result<PolicyRules, Wrong> {
    let lines = |name: &str| -> Vec<String> {
        let lines = form.get(name).lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    };
    let some = |list: Vec<String>| (!list.is_empty()).then_some(list);
    let level = match form.some("level") {
        None => None,
        Some(word) => Some(SecurityLevel::parse(word).ok_or_else(|| {
            Wrong::new("level", "There is no such level; choose one of the list.")
        })?),
    };
    let max_output_tokens = match form.some("max_output_tokens") {
        None => None,
        Some(text) => Some(digits(text).parse().map_err(|_| {
            let text = format!("{text:?} is no whole number; write one such as 8,000.");
            Wrong::new("max_output_tokens", text)
        })?),
    };
    let regions: Vec<Region> = form.all("regions").filter_map(Region::parse).collect();
    Ok(PolicyRules {
        level,
        models: some(lines("models")),
        regions: (!regions.is_empty()).then_some(regions),
        region: form.some("region").and_then(Region::parse),
        zero_retention: form.has("zero_retention"),
        audit: form.has("audit"),
        max_output_tokens,
        terms: lines("terms"),
        patterns: lines("patterns"),
        redact: lines("redact"),
        exceptions: some(lines("exceptions")),
    })
}

/// Rules as their form would be filled in.
pub(super) fn as_typed(policy: &PolicyRecord) -> Fields {
    let (subject, rules) = (policy.subject.to_string(), &policy.rules);
    let (kind, name) = subject.split_once(':').unwrap_or((&subject, ""));
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("kind", kind).append_pair("name", name);
    form.append_pair("level", rules.level.map_or("", SecurityLevel::as_str));
    for region in rules.regions.iter().flatten() {
        form.append_pair("regions", region.as_str());
    }
    form.append_pair("region", rules.region.map_or("", |it| it.as_str()));
    for (name, is) in [("zero_retention", rules.zero_retention), ("audit", rules.audit)] {
        if is {
            form.append_pair(name, "on");
        }
    }
    let most = rules.max_output_tokens.map(|most| most.to_string());
    form.append_pair("max_output_tokens", &most.unwrap_or_default());
    let none = Vec::new();
    for (name, list) in [
        ("models", rules.models.as_ref().unwrap_or(&none)),
        ("terms", &rules.terms),
        ("patterns", &rules.patterns),
        ("redact", &rules.redact),
        ("exceptions", rules.exceptions.as_ref().unwrap_or(&none)),
    ] {
        form.append_pair(name, &list.join("\n"));
    }
    Fields::parse(form.finish().as_bytes())
}

#[cfg(test)]
mod tests {
    use sluice_gateway::PolicySubject;

    use super::*;

    fn read(form: &str) -> Result<PolicyRules, Wrong> {
        rules(&Fields::parse(form.as_bytes()))
    }

    #[test]
    fn what_is_shown_is_what_is_saved() {
        let found = read(
            "level=high&models=svc%2Fauto%0D%0A+lab%2F*+%0D%0A&regions=eu-west&regions=us-east&region=eu-west&\
             zero_retention=on&max_output_tokens=8%2C000&terms=Blue+Sky%0AOrion&patterns=PRJ-%5B0-9%5D%7B4%7D&\
             redact=person&exceptions=a%40example.org",
        )
        .unwrap();
        assert_eq!(found.models.as_deref().unwrap(), ["svc/auto", "lab/*"]);
        assert_eq!((found.max_output_tokens, found.audit), (Some(8_000), false));
        assert_eq!(found.terms, ["Blue Sky", "Orion"]);
        let policy = PolicyRecord {
            subject: PolicySubject::Deployment,
            account_id: "acc_1".into(),
            rules: found.clone(),
            managed_by: None,
            changed_at: sluice_core::clock::UnixMillis(0),
            changed: 0,
        };
        assert_eq!(rules(&as_typed(&policy)).unwrap(), found);
        assert_eq!(read("").unwrap(), PolicyRules::default());
    }

    #[test]
    fn what_is_wrong_is_said_at_its_field() {
        for (form, field) in
            [("level=strict", "level"), ("max_output_tokens=many", "max_output_tokens")]
        {
            assert_eq!(read(form).unwrap_err().field, Some(field), "{form}");
        }
    }
}
