//! What holds for all requests of a key: what everybody around it says, merged.
//!
//! It is merged once, when the key is first presented; a request only looks at the result. Of levels
//! and bounds the strictest counts, lists of what is allowed intersect, terms and kinds add up.

use std::borrow::Cow;
use std::fmt;

use sluice_core::level::SecurityLevel;
use sluice_core::organisation::Subject;
use sluice_core::policy::{PolicyRules, names_model};
use sluice_core::region::Region;
use sluice_security::kind::{Kind, Kinds};
use sluice_security::request::Additions;
use sluice_storage::{AccountRecord, KeyRecord, Organisation, PolicySubject};

use crate::snapshot::Rules;

/// Who says something, in words: `the policy of team compilers`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    text: Cow<'static, str>,
    /// Whether it is the key's own setting.
    is_own: bool,
}

impl Source {
    /// The configuration file, or what holds without it.
    pub const CONFIGURATION: Self = Self::fixed("the configuration file");
    /// The request itself.
    pub const REQUEST: Self = Self::fixed("the request");
    /// What holds where nobody says anything.
    pub const DEFAULT: Self = Self::fixed("nobody");

    const fn fixed(text: &'static str) -> Self {
        Self { text: Cow::Borrowed(text), is_own: false }
    }

    pub(crate) fn new(text: String) -> Self {
        Self { text: text.into(), is_own: false }
    }

    /// What it allows, to whoever has the key.
    fn allows(&self, what: &str) -> String {
        match self.is_own {
            true => format!("it may use {what}"),
            false => format!("{self} allows {what}"),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Something, and who says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said<T> {
    /// What is said.
    pub value: T,
    /// Who says it.
    pub by: Source,
}

impl<T> Said<T> {
    fn new(value: T, by: &Source) -> Self {
        Self { value, by: by.clone() }
    }
}

/// What holds for all requests of a key, and who says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ruling {
    /// The least strict level; `None`: nobody says.
    pub level: Option<Said<SecurityLevel>>,
    /// Lists of models that may be asked. All of them hold.
    pub models: Vec<Said<Vec<String>>>,
    /// Lists of regions in which requests may be processed. All of them hold.
    pub regions: Vec<Said<Vec<Region>>>,
    /// The regions that all the lists allow; `None` where there is no list.
    pub allowed_regions: Option<Vec<Region>>,
    /// Where requests are processed that do not say.
    pub region: Option<Said<Region>>,
    /// Who says that nothing may be kept.
    pub zero_retention: Option<Source>,
    /// Who says that every request leaves an audit entry.
    pub audit: Option<Source>,
    /// The most tokens of an answer.
    pub max_output_tokens: Option<Said<u32>>,
    /// What the filter looks for beyond the deployment's settings.
    pub filter: Additions,
}

/// What a key and everything around it say, from the outside inwards.
pub fn sources(
    key: &KeyRecord,
    account: &AccountRecord,
    organisation: &Organisation,
    rules: &Rules,
) -> Vec<Said<PolicyRules>> {
    let mut said = Vec::new();
    let level = |level: SecurityLevel| Some(level).filter(|it| *it > SecurityLevel::default());
    let configured = PolicyRules {
        level: level(rules.minimum_level),
        region: rules.default_region,
        ..PolicyRules::default()
    };
    said.push(Said { value: configured, by: Source::CONFIGURATION });
    let policies = &organisation.policies;
    let policy = |subject: PolicySubject, said: &mut Vec<Said<PolicyRules>>| {
        if let Some(rules) = policies.of(&subject) {
            let by = Source::new(format!("the policy of {}", named(&subject, organisation, key)));
            said.push(Said { value: rules.clone(), by });
        }
    };
    if !policies.is_empty() {
        policy(PolicySubject::Deployment, &mut said);
    }
    let own = PolicyRules {
        level: level(account.minimum_level),
        region: account.region,
        zero_retention: account.zero_retention,
        audit: account.audit,
        ..PolicyRules::default()
    };
    said.push(Said { value: own, by: Source::new(format!("account {}", account.name)) });
    if !policies.is_empty() {
        let subjects: Vec<Subject> = organisation.attribution(key).subjects().collect();
        for subject in subjects.into_iter().rev() {
            policy(PolicySubject::Of(subject), &mut said);
        }
    }
    let own = PolicyRules {
        level: level(key.minimum_level),
        models: key.models.clone(),
        regions: key.regions.clone(),
        region: key.region,
        zero_retention: key.zero_retention,
        audit: key.audit,
        ..PolicyRules::default()
    };
    let by = Source { is_own: true, ..Source::new(format!("key {}", key.name)) };
    said.push(Said { value: own, by });
    said.retain(|it| !it.value.is_empty());
    said
}

/// Whose a policy is, in words.
fn named(subject: &PolicySubject, organisation: &Organisation, key: &KeyRecord) -> String {
    let PolicySubject::Of(subject) = subject else {
        return format!("the {}", PolicySubject::DEPLOYMENT);
    };
    let name = match subject {
        Subject::Account(id) => organisation.accounts.get(id).map(|it| it.name.as_str()),
        Subject::Department(id) => organisation.departments.get(id).map(|it| it.name.as_str()),
        Subject::Team(id) => organisation.teams.get(id).map(|it| it.name.as_str()),
        Subject::Person(id) => organisation.people.get(id).map(|it| it.email.as_str()),
        Subject::Service(id) => organisation.services.get(id).map(|it| it.name.as_str()),
        Subject::Key(_) => Some(key.name.as_str()),
    };
    format!("{} {}", subject.kind(), name.unwrap_or(subject.id()))
}

impl Ruling {
    /// Everything that is said, from the outside inwards, merged. Where several say the same, the
    /// outermost is named.
    pub fn of(said: &[Said<PolicyRules>]) -> Self {
        let mut ruling = Self::default();
        let mut exceptions: Option<Vec<String>> = None;
        for Said { value: rules, by } in said {
            if let Some(level) = rules.level
                && ruling.level.as_ref().is_none_or(|it| it.value < level)
            {
                ruling.level = Some(Said::new(level, by));
            }
            if let Some(most) = rules.max_output_tokens
                && ruling.max_output_tokens.as_ref().is_none_or(|it| most < it.value)
            {
                ruling.max_output_tokens = Some(Said::new(most, by));
            }
            ruling.models.extend(rules.models.iter().map(|it| Said::new(it.clone(), by)));
            ruling.regions.extend(rules.regions.iter().map(|it| Said::new(it.clone(), by)));
            if rules.zero_retention {
                ruling.zero_retention.get_or_insert_with(|| by.clone());
            }
            if rules.audit {
                ruling.audit.get_or_insert_with(|| by.clone());
            }
            ruling.add_to_filter(rules, &mut exceptions);
        }
        ruling.filter.exceptions = exceptions.unwrap_or_default();
        ruling.settle_regions(said);
        ruling
    }

    fn add_to_filter(&mut self, rules: &PolicyRules, exceptions: &mut Option<Vec<String>>) {
        let add = |list: &mut Vec<String>, more: &[String]| {
            for text in more {
                if !list.contains(text) {
                    list.push(text.clone());
                }
            }
        };
        add(&mut self.filter.terms, &rules.terms);
        add(&mut self.filter.patterns, &rules.patterns);
        let kinds: Vec<Kind> = rules.redact.iter().filter_map(|word| Kind::parse(word)).collect();
        self.filter.redact = self.filter.redact.with(Kinds::of(&kinds));
        if let Some(list) = &rules.exceptions {
            match exceptions {
                None => *exceptions = Some(list.clone()),
                Some(known) => known.retain(|it| list.contains(it)),
            }
        }
    }

    /// What nobody has to keep to gives way to the lists; what the key itself says does not, so that
    /// its holder learns of the contradiction.
    fn settle_regions(&mut self, said: &[Said<PolicyRules>]) {
        if !self.regions.is_empty() {
            let in_all = |region: &Region| self.regions.iter().all(|it| it.value.contains(region));
            self.allowed_regions = Some(Region::ALL.into_iter().filter(in_all).collect());
        }
        let mut nearest = said.iter().rev().filter_map(|it| Some((it.value.region?, &it.by)));
        let usual = nearest.find(|(region, by)| by.is_own || self.allows_region(*region));
        self.region = usual.map(|(region, by)| Said::new(region, by));
    }

    /// Whether requests may be processed there.
    pub fn allows_region(&self, region: Region) -> bool {
        self.allowed_regions.as_ref().is_none_or(|allowed| allowed.contains(&region))
    }

    /// Whether a model may answer that was asked for by one of the names before the last, which is its
    /// own. The key's own list only says what may be asked for, by which name.
    pub fn allows_model(&self, names: &[&str]) -> bool {
        self.models.iter().all(|list| list.by.is_own || allows(&list.value, names))
    }

    /// Why nothing may be asked for by a name that stands for `answering`, whoever answers: the list, as
    /// it is told.
    pub(crate) fn why_not_asked(&self, asked: &str) -> Option<String> {
        let own =
            self.models.iter().find(|list| list.by.is_own && !allows(&list.value, &[asked]))?;
        Some(own.by.allows(&own.value.join(", ")))
    }

    /// The first list, but the key's own, that has none of `names`: what it allows.
    pub(crate) fn why_not_answered(&self, names: &[&str]) -> Option<String> {
        let is_in_the_way =
            |list: &&Said<Vec<String>>| !list.by.is_own && !allows(&list.value, names);
        let list = self.models.iter().find(is_in_the_way)?;
        Some(list.by.allows(&list.value.join(", ")))
    }

    /// Why requests cannot be processed in a region, or nowhere at all.
    pub(crate) fn why_no_region(&self, region: Option<Region>) -> Option<String> {
        if self.allowed_regions.as_ref().is_some_and(Vec::is_empty) {
            return Some(self.no_region_is_left());
        }
        let region = region?;
        let list = self.regions.iter().find(|it| !it.value.contains(&region))?;
        let allowed = list.by.allows(&regions(&list.value));
        Some(format!("this key may not use region `{}`; {allowed}", region.as_str()))
    }

    fn no_region_is_left(&self) -> String {
        let disjoint = |a: &Vec<Region>, b: &Vec<Region>| a.iter().all(|it| !b.contains(it));
        let told = |it: &Said<Vec<Region>>| format!("{} allows {}", it.by, regions(&it.value));
        format!("this key may use no region: {}", contradiction(&self.regions, disjoint, told))
    }

    /// Which rules leave nothing of `catalogue` to ask, where nothing is left.
    pub(crate) fn no_model_is_left<'a>(&self, catalogue: impl Iterator<Item = &'a str>) -> String {
        let known: Vec<&str> = catalogue.collect();
        let disjoint = |a: &Vec<String>, b: &Vec<String>| {
            known.iter().all(|id| !allows(a, &[id]) || !allows(b, &[id]))
        };
        let told = |it: &Said<Vec<String>>| format!("{} allows {}", it.by, it.value.join(", "));
        let why = contradiction(&self.models, disjoint, told);
        format!("this key may use no model: {why}")
    }

    /// Which rules leave no region; `None` where some region is left.
    pub fn no_region(&self) -> Option<String> {
        self.allowed_regions.as_ref().filter(|it| it.is_empty()).map(|_| self.no_region_is_left())
    }
}

/// Whether a list has one of `names`.
fn allows(list: &[String], names: &[&str]) -> bool {
    list.iter().any(|entry| names.iter().any(|name| names_model(entry, name)))
}

fn regions(list: &[Region]) -> String {
    let words: Vec<&str> = list.iter().map(|region| region.as_str()).collect();
    words.join(", ")
}

/// The two lists that have nothing in common; all of them where it takes more than two.
fn contradiction<T>(
    lists: &[Said<T>],
    disjoint: impl Fn(&T, &T) -> bool,
    told: impl Fn(&Said<T>) -> String,
) -> String {
    let pairs = lists.iter().enumerate().flat_map(|(i, a)| lists[..i].iter().map(move |b| (b, a)));
    let pair = pairs.into_iter().find(|(a, b)| disjoint(&a.value, &b.value));
    match pair {
        Some((a, b)) => format!("{}, and {}", told(a), told(b)),
        None => lists.iter().map(told).collect::<Vec<_>>().join(", and "),
    }
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sluice_core::level::SecurityLevel::{High, Maximum};
    use sluice_core::region::Region::{EuWest, UsEast, UsWest};

    use super::*;

    fn said(by: &str, value: PolicyRules) -> Said<PolicyRules> {
        Said { value, by: Source::new(by.to_owned()) }
    }

    fn list(words: &[&str]) -> Option<Vec<String>> {
        Some(words.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn the_strictest_counts_and_the_outermost_is_named() {
        let level = |level| PolicyRules { level: Some(level), ..PolicyRules::default() };
        let bound = |most| PolicyRules { max_output_tokens: Some(most), ..PolicyRules::default() };
        let ruling = Ruling::of(&[
            said("a", level(High)),
            said("b", level(Maximum)),
            said("c", level(Maximum)),
            said("d", bound(500)),
            said("e", bound(100)),
            said("f", bound(100)),
        ]);
        assert_eq!(ruling.level, Some(said_as(Maximum, "b")));
        assert_eq!(ruling.max_output_tokens, Some(said_as(100, "e")));
        assert_eq!(Ruling::of(&[]), Ruling::default());
    }

    fn said_as<T>(value: T, by: &str) -> Said<T> {
        Said { value, by: Source::new(by.to_owned()) }
    }

    #[test]
    fn an_empty_result_names_the_two_rules_that_made_it_so() {
        let regions = |regions: &[Region]| PolicyRules {
            regions: Some(regions.to_vec()),
            ..PolicyRules::default()
        };
        let ruling = Ruling::of(&[
            said("the policy of account acme", regions(&[UsEast, EuWest])),
            said("the policy of team vision", regions(&[UsEast])),
            said("key ci", regions(&[EuWest, UsWest])),
        ]);
        let why = ruling.why_no_region(None).unwrap();
        assert_eq!(
            why,
            "this key may use no region: the policy of team vision allows us-east, and key ci allows \
             eu-west, us-west"
        );
        let models = |words| PolicyRules { models: list(words), ..PolicyRules::default() };
        let ruling =
            Ruling::of(&[said("a", models(&["lab/*"])), said("b", models(&["lab/x", "other/y"]))]);
        assert_eq!(
            ruling.no_model_is_left(["lab/z", "other/y"].into_iter()),
            "this key may use no model: a allows lab/*, and b allows lab/x, other/y"
        );
        assert!(ruling.allows_model(&["lab/x"]) && !ruling.allows_model(&["other/y"]));
    }

    #[test]
    fn exceptions_are_those_of_all_lists_and_terms_add_up() {
        let rules = |terms: &[&str], exceptions: Option<&[&str]>| PolicyRules {
            terms: list(terms).unwrap_or_default(),
            exceptions: exceptions.and_then(list),
            ..PolicyRules::default()
        };
        let all = [
            said("a", rules(&["Orion"], Some(&["127.0.0.1", "root@localhost"]))),
            said("b", rules(&["Orion", "Vega"], None)),
            said("c", rules(&[], Some(&["127.0.0.1", "10.0.0.1"]))),
        ];
        let filter = Ruling::of(&all).filter;
        assert_eq!(filter.terms, ["Orion", "Vega"]);
        assert_eq!(filter.exceptions, ["127.0.0.1"]);
    }

    fn rules() -> impl Strategy<Value = PolicyRules> {
        let some_regions = prop::sample::subsequence(Region::ALL.to_vec(), 1..4);
        let some_models = prop::sample::subsequence(vec!["a", "b", "c", "d*"], 1..4);
        let flags = (any::<bool>(), any::<bool>());
        (
            prop::option::of(prop::sample::select(SecurityLevel::ALL.to_vec())),
            prop::option::of(some_regions),
            prop::option::of(some_models),
            prop::option::of(prop::sample::select(Region::ALL.to_vec())),
            prop::option::of(1..1_000_u32),
            flags,
        )
            .prop_map(|(level, regions, models, region, most, (zero_retention, audit))| {
                let models = models.map(|it| it.into_iter().map(str::to_owned).collect());
                PolicyRules {
                    level,
                    regions,
                    models,
                    region,
                    max_output_tokens: most,
                    zero_retention,
                    audit,
                    ..PolicyRules::default()
                }
            })
    }

    proptest! {
        /// The reference: each value asked of every place anew.
        #[test]
        fn nobody_is_let_do_more_than_each_place_lets(
            all in prop::collection::vec(rules(), 0..7),
        ) {
            let places: Vec<_> = all.iter().map(|it| said("x", it.clone())).collect();
            let ruling = Ruling::of(&places);
            for region in Region::ALL {
                let expected =
                    all.iter().all(|it| it.regions.as_ref().is_none_or(|r| r.contains(&region)));
                prop_assert_eq!(ruling.allows_region(region), expected);
            }
            for model in ["a", "b", "d", "d1", "e"] {
                let expected = all.iter().all(|it| {
                    it.models.as_ref().is_none_or(|list| {
                        list.iter().any(|entry| entry == model || (entry == "d*" && model.starts_with('d')))
                    })
                });
                prop_assert_eq!(ruling.allows_model(&[model]), expected);
            }
            let level = all.iter().filter_map(|it| it.level).max();
            prop_assert_eq!(ruling.level.as_ref().map(|it| it.value), level);
            let most = all.iter().filter_map(|it| it.max_output_tokens).min();
            prop_assert_eq!(ruling.max_output_tokens.as_ref().map(|it| it.value), most);
            prop_assert_eq!(ruling.zero_retention.is_some(), all.iter().any(|it| it.zero_retention));
            prop_assert_eq!(ruling.audit.is_some(), all.iter().any(|it| it.audit));
            if let Some(region) = &ruling.region {
                prop_assert!(ruling.allows_region(region.value));
            }
            // The order in which places speak changes who is named, not what holds.
            let turned: Vec<_> = places.into_iter().rev().collect();
            let turned = Ruling::of(&turned);
            prop_assert_eq!(turned.allowed_regions, ruling.allowed_regions);
            prop_assert_eq!(turned.level.map(|it| it.value), level);
            prop_assert_eq!(turned.max_output_tokens.map(|it| it.value), most);
        }
    }

    #[test]
    fn the_nearest_usual_region_that_is_allowed_counts() {
        let usual = |region| PolicyRules { region: Some(region), ..PolicyRules::default() };
        let only = PolicyRules { regions: Some(vec![EuWest]), ..PolicyRules::default() };
        let places = [said("a", usual(EuWest)), said("b", usual(UsEast)), said("c", only)];
        let ruling = Ruling::of(&places);
        assert_eq!(ruling.region, Some(said_as(EuWest, "a")));
        assert!(ruling.why_no_region(Some(UsEast)).unwrap().contains("c allows eu-west"));
        // What the key itself says is not passed over.
        let own = Source { is_own: true, ..Source::new("key ci".to_owned()) };
        let mut places = places.to_vec();
        places.push(Said { value: usual(UsEast), by: own.clone() });
        assert_eq!(Ruling::of(&places).region, Some(Said { value: UsEast, by: own }));
    }
}
