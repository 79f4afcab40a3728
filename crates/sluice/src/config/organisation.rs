//! Departments, teams and people, as the file holds them.

use std::collections::HashSet;

use sluice_core::organisation::Role;
use sluice_gateway::admin::{
    Declared, DeclaredDepartment, DeclaredPerson, DeclaredTeam, checked_email, checked_name,
};

use super::problem::nearest;
use super::read::{Entry, FromToml, Node, Reader, Repeated, Schema, Shape, section};
use super::sections::Root;

section! {
    /// A department. Departments, teams and people can stand here or be made with commands. What
    /// stands here is read-only elsewhere. What is taken out of the file is suspended, not deleted.
    /// See docs/organisation.md.
    DepartmentSection {
        /// Its name, unique in its account. A new name is a new department.
        name: Called => "research",
        /// The account that it is in. Default: the account `default`.
        account: Option<Called> => "default",
    }
}

section! {
    /// A team of a department.
    TeamSection {
        /// Its name, unique in its account. A new name is a new team.
        name: Called => "vision",
        /// The name of its department, which has to stand in this file, too.
        department: Called => "research",
        /// The account that it is in. Default: the account `default`.
        account: Option<Called> => "default",
    }
}

section! {
    /// A person.
    PersonSection {
        /// The e-mail address, unique in the account. A new address is a new person.
        email: Email => "ada@example.com",
        /// What to call them. Default: the e-mail address.
        name: Option<Called> => "Ada Lovelace",
        /// owner, admin, department-lead, developer, auditor or billing.
        role: Role => "developer",
        /// The names of their teams, which have to stand in this file, too.
        teams: Option<Vec<Called>> => ["vision"],
        /// Whether they may also see and change what concerns all accounts: providers, prices,
        /// accounts, the deployment. Default: as it is; the first owner may.
        operator: Option<bool> => false,
        /// The account that they are in. Default: the account `default`.
        account: Option<Called> => "default",
    }
}

impl Repeated for DepartmentSection {
    const ENTRY: &'static Schema = Self::SCHEMA;
}

impl Repeated for TeamSection {
    const ENTRY: &'static Schema = Self::SCHEMA;
}

impl Repeated for PersonSection {
    const ENTRY: &'static Schema = Self::SCHEMA;
}

/// Whether a text is made like the name of somebody who has a budget or a policy: `account`, `team:T`.
pub(super) fn names_somebody(of: &str) -> bool {
    let kinds = ["account", "department", "team", "person", "service", "key"];
    of.split_once(':')
        .map_or(of == "account", |(kind, name)| kinds.contains(&kind) && !name.trim().is_empty())
}

/// An e-mail address in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Email(pub(crate) String);

impl FromToml for Email {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let email = checked_email(&reader.text_of(value)?).ok();
        if email.is_none() {
            reader.wrong(value, "is no e-mail address", "write it like \"ada@example.com\"");
        }
        email.map(Self)
    }
}

/// A name as commands take it, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Called(pub(crate) String);

impl FromToml for Called {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let name = checked_name(&reader.text_of(value)?).ok();
        if name.is_none() {
            reader.wrong(
                value,
                "is no name",
                "use 1 to 100 characters that are seen, without line breaks",
            );
        }
        name.map(Self)
    }
}

/// A name within an account.
type Place = (Option<String>, String);

/// What the file holds, checked within itself.
pub(super) fn check(root: &Root, reader: &mut Reader<'_>) -> Declared {
    let place = |account: &Option<Called>, name: &str| -> Place {
        // The account that is named is the same as the one that is not.
        let account = account.as_ref().map(|account| account.0.clone());
        (account.filter(|account| account != "default"), name.to_owned())
    };
    let mut declared = Declared::default();
    let mut departments = Names::new("department", "name");
    for (entry, section) in written(&root.departments) {
        let (account, name) = place(&section.account, &section.name.0);
        departments.add(entry, (account.clone(), name.clone()), reader);
        declared.departments.push(DeclaredDepartment { account, name });
    }
    let mut teams = Names::new("team", "name");
    for (entry, section) in written(&root.teams) {
        let (account, name) = place(&section.account, &section.name.0);
        teams.add(entry, (account.clone(), name.clone()), reader);
        let department = section.department.0.clone();
        departments.find(entry, "department", (&account, &department), reader);
        declared.teams.push(DeclaredTeam { account, name, department });
    }
    let mut people = Names::new("person", "email");
    for (entry, section) in written(&root.people) {
        let (account, email) = place(&section.account, &section.email.0);
        people.add(entry, (account.clone(), email.clone()), reader);
        let named: Vec<String> =
            section.teams.iter().flatten().map(|team| team.0.clone()).collect();
        for team in &named {
            teams.find(entry, "teams", (&account, team), reader);
        }
        declared.people.push(DeclaredPerson {
            account,
            email,
            name: section.name.as_ref().map(|name| name.0.clone()).unwrap_or_default(),
            role: section.role,
            teams: named,
            operator: section.operator,
        });
    }
    declared
}

/// The entries whose content could be read.
pub(super) fn written<T>(entries: &[Entry<T>]) -> impl Iterator<Item = (&Entry<T>, &T)> {
    entries.iter().filter_map(|entry| entry.value.as_ref().map(|section| (entry, section)))
}

/// The names of one kind of entry.
struct Names {
    what: &'static str,
    key: &'static str,
    seen: HashSet<Place>,
}

impl Names {
    fn new(what: &'static str, key: &'static str) -> Self {
        Self { what, key, seen: HashSet::new() }
    }

    fn add<T>(&mut self, entry: &Entry<T>, place: Place, reader: &mut Reader<'_>) {
        let name = place.1.clone();
        if !self.seen.insert(place) {
            let what = format!("another {} is called \"{name}\" as well", self.what);
            let key = format!("{}.{}", entry.path, self.key);
            reader.wrong_at(key, entry.line, what, "rename one of them, or remove it");
        }
    }

    /// Records a problem where nothing of this name is in the same account.
    fn find<T>(
        &self,
        entry: &Entry<T>,
        key: &str,
        (account, name): (&Option<String>, &str),
        reader: &mut Reader<'_>,
    ) {
        if self.seen.contains(&(account.clone(), name.to_owned())) {
            return;
        }
        let there = self.seen.iter().filter(|(of, _)| of == account).map(|(_, name)| &**name);
        let fix = match nearest(name, there) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => format!("add [[{}s]] with name = \"{name}\" in the same account", self.what),
        };
        let what = format!("names the {} \"{name}\", which is not in this file", self.what);
        reader.wrong_at(format!("{}.{key}", entry.path), entry.line, what, fix);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::config::environment::tests::FixedEnvironment;

    fn declared(text: &str) -> Result<Declared, String> {
        Settings::from_text(None, text, &FixedEnvironment::default())
            .map(|settings| settings.organisation)
            .map_err(|problems| problems.to_string())
    }

    #[test]
    fn what_the_file_holds_is_read() {
        let declared = declared(
            r#"
            [[departments]]
            name = "research"
            account = "default"
            [[departments]]
            name = "research"
            account = "acme"
            [[teams]]
            name = "vision"
            department = "research"
            [[people]]
            email = "Ada@Example.com"
            role = "department-lead"
            teams = ["vision "]
            operator = true
            [[people]]
            email = "bob@example.com"
            role = "owner"
            "#,
        )
        .unwrap();
        let accounts: Vec<_> = declared.departments.iter().map(|it| it.account.clone()).collect();
        assert_eq!(accounts, [None, Some("acme".to_owned())]);
        assert_eq!(declared.teams[0].department, "research");
        let ada = &declared.people[0];
        assert_eq!((&*ada.email, ada.role), ("ada@example.com", Role::DepartmentLead));
        assert_eq!(declared.people[1].operator, None, "as it is");
        assert_eq!((&ada.teams[..], ada.operator), (&["vision".to_owned()][..], Some(true)));
    }

    #[test]
    fn what_does_not_fit_together_is_told_with_the_fix() {
        let research = "[[departments]]\nname = \"research\"\n";
        for (text, key, fix) in [
            (format!("{research}{research}"), "departments[1].name", "rename"),
            (
                format!("{research}[[teams]]\nname = \"a\"\ndepartment = \"reserch\""),
                "teams[0].department",
                "did you mean \"research\"?",
            ),
            (
                format!(
                    "{research}[[teams]]\nname = \"a\"\ndepartment = \"research\"\naccount = \"b\""
                ),
                "teams[0].department",
                "[[departments]]",
            ),
            (
                "[[people]]\nemail = \"a@b.c\"\nrole = \"developer\"\nteams = [\"x\"]".to_owned(),
                "people[0].teams",
                "[[teams]]",
            ),
            ("[[people]]\nemail = \"a b\"\nrole = \"owner\"".to_owned(), "email", "ada@example"),
            (
                format!("[[people]]\nemail = \"{}@b.c\"\nrole = \"owner\"", "a".repeat(260)),
                "people[0].email",
                "ada@example",
            ),
            (
                format!("[[departments]]\nname = \"{}\"", "a".repeat(101)),
                "departments[0].name",
                "1 to 100 characters",
            ),
            ("[[departments]]\nname = \"a\\nb\"".to_owned(), "departments[0].name", "line breaks"),
            ("[[departments]]\nname = \"  \"".to_owned(), "departments[0].name", "1 to 100"),
            (
                "[[people]]\nemail = \"a@b.c\"\nrole = \"chief\"".to_owned(),
                "people[0].role",
                "\"owner\"",
            ),
            ("[[people]]\nemail = \"a@b.c\"".to_owned(), "people[0].role", "missing"),
        ] {
            let problems = declared(&text).unwrap_err();
            assert!(problems.contains(key) && problems.contains(fix), "{text}\n{problems}");
        }
    }
}
