//! Policies: set, listed, explained.

use std::collections::HashSet;

use sluice_core::chat::ChatRequest;
use sluice_core::organisation::Actor;
use sluice_core::policy::{PolicyRules, names_model};
use sluice_routing::catalog::Catalog;
use sluice_security::kind::{Kind as RedactedKind, Kinds};
use sluice_security::request::Additions;
use sluice_storage::{
    Doing, Item, ItemChange, KeyRecord, MANAGED_BY_FILE, PolicyRecord, PolicySubject, Record,
    StorageError,
};

use crate::admin::find::called;
use crate::admin::permissions::Verb;
use crate::admin::{Admin, AdminError, FileItems, Kind, View};
use crate::policy::{Around, Explained, Ruling, explain, sources};
use crate::snapshot::Rules;

/// A policy of the configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyWish {
    /// Whose: `deployment`, `account`, `account:A`, `department:D`, `team:T`, `person:P`, `service:S` or
    /// `key:K`, by id or name.
    pub subject: String,
    /// The id or name of the account, where there are several.
    pub account: Option<String>,
    /// What it says.
    pub rules: PolicyRules,
}

/// A policy, and whose it is.
#[derive(Debug, Clone)]
pub struct PolicyView {
    /// The policy.
    pub policy: PolicyRecord,
    /// Whose requests it is about; `None` for the deployment.
    pub whose: Option<Record>,
}

impl PolicyView {
    /// Whose it is, in words: `team compilers`.
    pub fn whose_name(&self) -> String {
        match &self.whose {
            Some(record) => called(record),
            None => format!("the {}", PolicySubject::DEPLOYMENT),
        }
    }
}

/// What holds for the requests of a key.
#[derive(Debug, Clone)]
pub struct PolicyExplained {
    /// The key.
    pub key: KeyRecord,
    /// Value by value, with who says it.
    pub rows: Vec<Explained>,
    /// What is refused, and which rules make it so.
    pub problems: Vec<String>,
}

/// What a running server or a configuration knows beside the database.
#[derive(Debug, Clone, Copy)]
pub struct Configured<'a> {
    /// What classes, tiers and keys may do.
    pub rules: &'a Rules,
    /// Models and routers.
    pub catalog: &'a Catalog,
}

impl Admin<'_> {
    /// Changes what is said about the requests of `whose`, and returns it as it is now, and as it was.
    /// Models are looked up in `catalog`, where there is one.
    pub async fn set_policy(
        &self,
        whose: &str,
        account: Option<&str>,
        catalog: Option<&Catalog>,
        change: impl FnOnce(&mut PolicyRules),
    ) -> Result<(PolicyView, PolicyRules), AdminError> {
        let view = self.view().await?;
        let (subject, record) = self.subject_of_policy(&view, whose, account).await?;
        let old = view.organisation.policies.record(&subject).cloned();
        let before = old.as_ref().map(|it| it.rules.clone()).unwrap_or_default();
        let mut rules = before.clone();
        change(&mut rules);
        // The deployment's is about what all have.
        let names = catalog.map(|catalog| match &record {
            Some(record) => view.names_for(catalog, record),
            None => catalog.models().iter().map(|model| model.id.as_str()).collect(),
        });
        checked(&rules, names.as_deref())?;
        let account_id = match (&record, &old) {
            (Some(record), _) => record.account_id().clone(),
            (None, Some(old)) => old.account_id.clone(),
            (None, None) => view.trail_of_deployment(),
        };
        let managed_by =
            (self.actor == Actor::File && !rules.is_empty()).then(|| MANAGED_BY_FILE.to_owned());
        let new = PolicyRecord {
            subject,
            account_id,
            rules,
            managed_by,
            changed_at: self.now,
            changed: 0,
        };
        let is_same = old.as_ref().map_or(new.rules.is_empty(), |old| {
            (&old.rules, &old.managed_by) == (&new.rules, &new.managed_by)
        });
        let (mut record_now, is_new) = (PolicyView { policy: new, whose: record }, !is_same);
        self.may_set_policy(&view, &record_now, (&before, old.as_ref()))?;
        if is_new {
            self.write_policy(&view, old, record_now.policy.clone()).await?;
        } else if let Some(old) = old {
            record_now.policy = old;
        }
        Ok((record_now, before))
    }

    /// Everything that is said, as far as the actor may see it: the deployment's first, then inwards.
    pub async fn policies(&self) -> Result<Vec<PolicyView>, AdminError> {
        let view = self.view().await?;
        let mut found = Vec::new();
        for policy in view.organisation.policies.iter() {
            let whose = match &policy.subject {
                PolicySubject::Deployment => None,
                PolicySubject::Of(subject) => {
                    let Some(record) = self.record_of_subject(&view, subject).await? else {
                        continue;
                    };
                    if !view.rights.allow(Verb::SeePolicy, &record, &view.organisation) {
                        continue;
                    }
                    Some(record)
                }
            };
            if whose.is_none() && !view.rights.allow_at_all(Verb::SeePolicy) {
                continue;
            }
            found.push(PolicyView { policy: policy.clone(), whose });
        }
        found.sort_by_cached_key(|it| {
            let kind = it.whose.as_ref().map(Kind::of);
            let order = kind.map(|kind| Kind::ALL.iter().position(|it| *it == kind));
            (order, it.whose_name(), it.policy.subject.clone())
        });
        Ok(found)
    }

    /// What is said about the requests of `whose`; nothing said is a policy without rules.
    pub async fn policy(
        &self,
        whose: &str,
        account: Option<&str>,
    ) -> Result<PolicyView, AdminError> {
        let view = self.view().await?;
        let (subject, record) = self.subject_of_policy(&view, whose, account).await?;
        let may_see = match &record {
            Some(record) => view.rights.allow(Verb::SeePolicy, record, &view.organisation),
            None => view.rights.allow_at_all(Verb::SeePolicy),
        };
        if !may_see {
            return Err(AdminError::NamesNothing { text: whose.to_owned() });
        }
        let policy = match view.organisation.policies.record(&subject) {
            Some(policy) => policy.clone(),
            None => PolicyRecord {
                account_id: match &record {
                    Some(record) => record.account_id().clone(),
                    None => view.trail_of_deployment(),
                },
                subject,
                rules: PolicyRules::default(),
                managed_by: None,
                changed_at: self.now,
                changed: 0,
            },
        };
        Ok(PolicyView { policy, whose: record })
    }

    /// What holds for the requests of a key, or for one of them, and who says it.
    pub async fn explain_policy(
        &self,
        key: &str,
        configured: Configured<'_>,
        chat: Option<&ChatRequest>,
    ) -> Result<PolicyExplained, AdminError> {
        let view = self.view().await?;
        let key = self.find_key(&view, key).await?;
        let account = view.organisation.accounts.get(&key.account_id);
        let account = account.ok_or(AdminError::NoSuchKey)?;
        let said = sources(&key, account, &view.organisation, configured.rules);
        let ruling = Ruling::of(&said);
        let around = Around {
            suite: configured.rules.account_rules(account).suite,
            max_tokens: key.max_tokens,
            catalog: configured.catalog,
            attribution: &view.organisation.attribution(&key),
        };
        let (rows, problems) = explain(&ruling, &said, &around, chat);
        Ok(PolicyExplained { key, rows, problems })
    }

    /// Makes the policies of the configuration file what it says: sets them, takes over those that are
    /// there, removes those that it holds no more. Only the file itself, as [`Actor::File`], may do it.
    pub async fn apply_file_policies(
        &self,
        wishes: &[PolicyWish],
    ) -> Result<FileItems, AdminError> {
        if self.actor != Actor::File {
            return Err(AdminError::Forbidden { verb: "configuration-file.apply" });
        }
        let mut done = FileItems::default();
        let mut held = HashSet::new();
        for wish in wishes {
            let set = self.set_policy(&wish.subject, wish.account.as_deref(), None, |rules| {
                *rules = wish.rules.clone();
            });
            match set.await {
                Ok((view, before)) => {
                    if before != view.policy.rules {
                        done.changed.push(format!("policy of {}", wish.subject));
                    }
                    held.insert(view.policy.subject);
                }
                Err(error) if error.is_nobody() => done.waiting.push(wish.subject.clone()),
                Err(error) => return Err(error),
            }
        }
        // What cannot be told apart from what the file names is not taken for something else.
        if !done.waiting.is_empty() {
            return Ok(done);
        }
        let view = self.view().await?;
        let is_over = |it: &&PolicyRecord| it.is_the_files() && !held.contains(&it.subject);
        for policy in view.organisation.policies.iter().filter(is_over) {
            let new = PolicyRecord {
                rules: PolicyRules::default(),
                managed_by: None,
                changed_at: self.now,
                ..policy.clone()
            };
            let view = self.view().await?;
            self.write_policy(&view, Some(policy.clone()), new).await?;
            done.removed.push(format!("policy of {}", policy.subject));
        }
        Ok(done)
    }

    fn may_set_policy(
        &self,
        view: &View,
        wanted: &PolicyView,
        (before, old): (&PolicyRules, Option<&PolicyRecord>),
    ) -> Result<(), AdminError> {
        let may = match &wanted.whose {
            Some(record) => view.rights.allow(Verb::SetPolicy, record, &view.organisation),
            None => view.rights.allow_deployment(Verb::SetDeploymentPolicy),
        };
        if !may {
            let verb = match wanted.whose {
                Some(_) => Verb::SetPolicy,
                None => Verb::SetDeploymentPolicy,
            };
            return Err(AdminError::Forbidden { verb: verb.as_str() });
        }
        // What lets something through is for those who answer for the whole account.
        let loosens = wanted.policy.rules.exceptions != before.exceptions;
        let may_except = match &wanted.whose {
            Some(record) => view.rights.allow(Verb::ExceptPolicy, record, &view.organisation),
            None => true,
        };
        if loosens && !may_except {
            return Err(AdminError::Forbidden { verb: Verb::ExceptPolicy.as_str() });
        }
        if old.is_some_and(PolicyRecord::is_the_files) && self.actor != Actor::File {
            let what = format!("the policy of {}", wanted.whose_name());
            return Err(AdminError::ManagedByFile { what });
        }
        Ok(())
    }

    async fn write_policy(
        &self,
        view: &View,
        old: Option<PolicyRecord>,
        new: PolicyRecord,
    ) -> Result<(), AdminError> {
        let (actor, surface) = (self.actor.clone(), self.surface);
        let doing = Doing { at: self.now, actor, surface, judged_at: Some(view.version) };
        let verb = match new.subject {
            PolicySubject::Deployment => Verb::SetDeploymentPolicy,
            PolicySubject::Of(_) => Verb::SetPolicy,
        };
        let change = ItemChange {
            verb: verb.as_str(),
            account_id: new.account_id.clone(),
            old: old.map(Item::Policy),
            new: Some(Item::Policy(new)),
        };
        match self.store.administer_items(self.master_key, &doing, &[change]).await {
            Err(StorageError::ChangedMeanwhile) => Err(AdminError::ChangedMeanwhile),
            done => Ok(done?),
        }
    }

    /// Whose requests `text` names.
    async fn subject_of_policy(
        &self,
        view: &View,
        text: &str,
        account: Option<&str>,
    ) -> Result<(PolicySubject, Option<Record>), AdminError> {
        if text.trim() == PolicySubject::DEPLOYMENT {
            return Ok((PolicySubject::Deployment, None));
        }
        let record = self.subject_named(view, text, account).await?;
        Ok((PolicySubject::Of(record.subject()), Some(record)))
    }
}

/// Whether rules make sense, where there are models and routers of these names.
fn checked(rules: &PolicyRules, names: Option<&[&str]>) -> Result<(), AdminError> {
    let fix = "leave it out to allow all";
    if let Some(models) = &rules.models {
        if models.is_empty() {
            return Err(AdminError::EmptyList { what: "models", fix });
        }
        let is_known = |entry: &String| {
            names.is_none_or(|names| names.iter().any(|name| names_model(entry, name)))
        };
        if let Some(unknown) = models.iter().find(|entry| !is_known(entry)) {
            return Err(AdminError::UnknownModel(unknown.clone()));
        }
    }
    match (&rules.regions, rules.region) {
        (Some(regions), _) if regions.is_empty() => {
            return Err(AdminError::EmptyList { what: "regions", fix });
        }
        (Some(regions), Some(region)) if !regions.contains(&region) => {
            let allowed: Vec<&str> = regions.iter().map(|region| region.as_str()).collect();
            let (region, allowed) = (region.as_str(), allowed.join(", "));
            return Err(AdminError::RegionNotAllowed { region, allowed });
        }
        _ => {}
    }
    if rules.max_output_tokens == Some(0) {
        return Err(AdminError::PolicyRule {
            rule: "max_output_tokens",
            problem: "0 leaves no room for an answer; set at least 1".to_owned(),
        });
    }
    if let Some(word) = rules.redact.iter().find(|word| RedactedKind::parse(word).is_none()) {
        let known: Vec<&str> = RedactedKind::ALL.iter().map(|kind| kind.as_str()).collect();
        let problem = format!("{word:?} is no kind; expected any of {}", known.join(", "));
        return Err(AdminError::PolicyRule { rule: "redact", problem });
    }
    let additions = Additions {
        terms: rules.terms.clone(),
        patterns: rules.patterns.clone(),
        exceptions: rules.exceptions.clone().unwrap_or_default(),
        redact: Kinds::default(),
    };
    match additions.problems().into_iter().next() {
        Some(problem) => Err(AdminError::PolicyRule {
            rule: problem.setting,
            problem: format!("number {}: {}", problem.index + 1, problem.problem),
        }),
        None => Ok(()),
    }
}
