//! Who may do what: one table of verbs, roles and scopes.
//!
//! A person has one role in one account. How far it reaches is told by a scope: all of the account,
//! their own departments (those of their teams), their own teams, or what is their own. What concerns
//! all accounts takes the operator's right beside the role.

use sluice_core::ids::{AccountId, DepartmentId, PersonId, TeamId};
use sluice_core::organisation::{Actor, Holder, Role};
use sluice_storage::{Organisation, PersonRecord, Reach, Record, Sight};

/// How far a right reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Everything in the account.
    Account,
    /// What belongs to the person's departments.
    Department,
    /// What belongs to the person's teams.
    Team,
    /// What is the person's own.
    Own,
    /// Nothing.
    None,
}

impl Scope {
    /// The words in the manual.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Department => "own departments",
            Self::Team => "own teams",
            Self::Own => "own",
            Self::None => "–",
        }
    }
}

use Scope::{Account as A, Department as D, None as N, Own as O, Team as T};

macro_rules! verbs {
    ($($verb:ident $word:literal $scopes:expr,)*) => {
        /// What somebody does.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "each says what it is")]
        pub enum Verb { $($verb,)* }

        impl Verb {
            /// Every verb, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$verb,)*];

            /// The word in the audit trail and in messages.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$verb => $word,)* }
            }

            /// The scopes of the roles, in the order of [`Role::ALL`].
            fn scopes(self) -> [Scope; 6] {
                match self { $(Self::$verb => $scopes,)* }
            }
        }
    };
}

verbs! {
    //                                        owner admin lead developer auditor billing
    SeeAccount        "accounts.see"          [A, A, A, A, A, A],
    CreateAccount     "accounts.create"       [N, N, N, N, N, N],
    ChangeAccount     "accounts.change"       [N, N, N, N, N, N],
    SuspendAccount    "accounts.suspend"      [N, N, N, N, N, N],
    SeeDepartment     "departments.see"       [A, A, D, D, A, A],
    CreateDepartment  "departments.create"    [A, A, N, N, N, N],
    ChangeDepartment  "departments.change"    [A, A, D, N, N, N],
    SuspendDepartment "departments.suspend"   [A, A, N, N, N, N],
    RemoveDepartment  "departments.remove"    [A, A, N, N, N, N],
    SeeTeam           "teams.see"             [A, A, D, T, A, A],
    CreateTeam        "teams.create"          [A, A, D, N, N, N],
    ChangeTeam        "teams.change"          [A, A, D, N, N, N],
    SuspendTeam       "teams.suspend"         [A, A, D, N, N, N],
    RemoveTeam        "teams.remove"          [A, A, D, N, N, N],
    SeePerson         "people.see"            [A, A, D, T, A, A],
    CreatePerson      "people.create"         [A, A, D, N, N, N],
    ChangePerson      "people.change"         [A, A, D, N, N, N],
    SuspendPerson     "people.suspend"        [A, A, D, N, N, N],
    RemovePerson      "people.remove"         [A, A, D, N, N, N],
    InvitePerson      "people.invite"         [A, A, D, N, N, N],
    ResetPerson       "people.reset"          [A, A, N, N, N, N],
    SeeSessions       "sessions.see"          [A, A, O, O, A, O],
    EndSessions       "sessions.end"          [A, A, O, O, O, O],
    SeeService        "services.see"          [A, A, D, T, A, A],
    CreateService     "services.create"       [A, A, D, N, N, N],
    ChangeService     "services.change"       [A, A, D, N, N, N],
    SuspendService    "services.suspend"      [A, A, D, N, N, N],
    RemoveService     "services.remove"       [A, A, D, N, N, N],
    SeeKey            "keys.see"              [A, A, D, O, A, A],
    CreateKey         "keys.create"           [A, A, D, O, N, N],
    ChangeKey         "keys.change"           [A, A, D, N, N, N],
    MoveKey           "keys.move"             [A, A, D, N, N, N],
    RotateKey         "keys.rotate"           [A, A, D, O, N, N],
    SuspendKey        "keys.suspend"          [A, A, D, O, N, N],
    RevokeKey         "keys.revoke"           [A, A, D, O, N, N],
    SeeBudget         "budgets.see"           [A, A, D, T, A, A],
    SetBudget         "budgets.set"           [A, A, D, N, N, A],
    TopUpBudget       "budgets.top-up"        [A, A, D, N, N, A],
    RemoveBudget      "budgets.remove"        [A, A, D, N, N, A],
    SeePolicy         "policies.see"          [A, A, D, T, A, A],
    SetPolicy         "policies.set"          [A, A, D, N, N, N],
    ExceptPolicy      "policies.except"       [A, A, N, N, N, N],
    SetDeploymentPolicy "policies.set-deployment" [N, N, N, N, N, N],
    SeeProviderKey    "provider-keys.see"     [A, A, D, N, A, A],
    AddProviderKey    "provider-keys.add"     [A, A, D, N, N, N],
    ChangeProviderKey "provider-keys.change"  [A, A, D, N, N, N],
    TestProviderKey   "provider-keys.test"    [A, A, D, N, N, N],
    RotateProviderKey "provider-keys.rotate"  [A, A, D, N, N, N],
    RemoveProviderKey "provider-keys.remove"  [A, A, D, N, N, N],
    SeeRouter         "routers.see"           [A, A, D, T, A, A],
    CreateRouter      "routers.create"        [A, A, D, N, N, N],
    ChangeRouter      "routers.change"        [A, A, D, N, N, N],
    RemoveRouter      "routers.remove"        [A, A, D, N, N, N],
    SeeRecords        "records.see"           [A, A, D, O, A, A],
    ExportRecords     "records.export"        [A, A, D, O, A, A],
    SeeTrail          "trail.see"             [A, A, N, N, A, N],
    ExportTrail       "trail.export"          [A, A, N, N, A, N],
    ReadContent       "content.read"          [A, N, N, N, A, N],
    SeeProvider       "providers.see"         [A, A, A, A, A, A],
    CreateProvider    "providers.create"      [N, N, N, N, N, N],
    ChangeProvider    "providers.change"      [N, N, N, N, N, N],
    TestProvider      "providers.test"        [N, N, N, N, N, N],
    RemoveProvider    "providers.remove"      [N, N, N, N, N, N],
    SeeModel          "models.see"            [A, A, A, A, A, A],
    CreateModel       "models.create"         [N, N, N, N, N, N],
    ChangeModel       "models.change"         [N, N, N, N, N, N],
    RemoveModel       "models.remove"         [N, N, N, N, N, N],
}

impl Verb {
    /// How far a role may do this.
    pub fn scope(self, role: Role) -> Scope {
        let roles = Role::ALL.iter().zip(self.scopes());
        roles.into_iter().find(|(it, _)| **it == role).map_or(N, |(_, scope)| scope)
    }

    /// Whether the operator's right is enough, in every account.
    pub fn is_the_operators(self) -> bool {
        matches!(
            self,
            Self::SeeAccount | Self::CreateAccount | Self::ChangeAccount | Self::SuspendAccount
        ) || self.concerns_deployment()
    }

    /// Whether it is about what belongs to no account: providers and models.
    pub fn concerns_deployment(self) -> bool {
        matches!(
            self,
            Self::SeeProvider
                | Self::CreateProvider
                | Self::ChangeProvider
                | Self::TestProvider
                | Self::RemoveProvider
                | Self::SeeModel
                | Self::CreateModel
                | Self::ChangeModel
                | Self::RemoveModel
                | Self::SetDeploymentPolicy
        )
    }

    /// Whether it changes what somebody may use. It is asked of whose use that is.
    fn is_about_use(self) -> bool {
        matches!(self, Self::SetBudget | Self::TopUpBudget | Self::RemoveBudget | Self::SetPolicy)
    }

    /// Whether there is anything to which this person may do it, in an organisation that has
    /// everything: for the places of a menu. Whether they are suspended is not asked here.
    pub fn is_open_to(self, person: &PersonRecord) -> bool {
        self.is_open(person.role, person.operator)
    }

    fn is_open(self, role: Role, operator: bool) -> bool {
        (self.is_the_operators() && operator) || self.scope(role) != Scope::None
    }

    /// Whether it leaves everything as it is.
    pub(super) fn only_looks(self) -> bool {
        matches!(
            self,
            Self::SeeAccount
                | Self::SeeDepartment
                | Self::SeeTeam
                | Self::SeePerson
                | Self::SeeSessions
                | Self::SeeService
                | Self::SeeKey
                | Self::SeeBudget
                | Self::SeePolicy
                | Self::SeeProviderKey
                | Self::SeeRouter
                | Self::SeeRecords
                | Self::SeeTrail
                | Self::SeeProvider
                | Self::SeeModel
        )
    }
}

/// Whose people a role may make, change, suspend and remove.
fn may_touch(role: Role, other: Role) -> bool {
    match role {
        Role::Owner => true,
        Role::Admin => other != Role::Owner,
        Role::DepartmentLead => other == Role::Developer,
        Role::Developer | Role::Auditor | Role::Billing => false,
    }
}

/// What an actor may do.
#[derive(Debug, Clone)]
pub(crate) enum Rights {
    /// Everything, in all accounts.
    All,
    /// What a person's role says.
    Of(Box<Rank>),
    /// Nothing.
    Nobody,
}

/// A person, as far as rights depend on it.
#[derive(Debug, Clone)]
pub(crate) struct Rank {
    person: PersonId,
    pub(crate) account: AccountId,
    role: Role,
    operator: bool,
    teams: Vec<TeamId>,
    departments: Vec<DepartmentId>,
}

impl Rights {
    /// The rights of `actor` as things stand. Whoever was suspended or removed has none.
    pub(crate) fn of(actor: &Actor, organisation: &Organisation) -> Self {
        let id = match actor {
            Actor::CommandLine { .. } | Actor::File | Actor::Sluice => return Self::All,
            Actor::Nobody => return Self::Nobody,
            Actor::Person { id } => id,
        };
        let Some(person) = organisation.people.get(id) else { return Self::Nobody };
        let account = organisation.accounts.get(&person.account_id);
        let is_open = account.is_some_and(|account| account.suspended.is_none());
        if !person.life.is_active() || !is_open {
            return Self::Nobody;
        }
        let teams = person.teams.iter().filter_map(|id| organisation.teams.get(id));
        let teams: Vec<_> = teams.filter(|team| team.life.is_there()).collect();
        Self::Of(Box::new(Rank {
            person: id.clone(),
            account: person.account_id.clone(),
            role: person.role,
            operator: person.operator,
            departments: teams.iter().map(|team| team.department_id.clone()).collect(),
            teams: teams.into_iter().map(|team| team.id.clone()).collect(),
        }))
    }

    /// Whether they allow `verb` on a thing as it stands in the organisation.
    pub(crate) fn allow(&self, verb: Verb, record: &Record, organisation: &Organisation) -> bool {
        let rank = match self {
            Self::All => return true,
            Self::Nobody => return false,
            Self::Of(rank) => rank,
        };
        if verb.concerns_deployment() {
            return self.allow_deployment(verb);
        }
        if verb.is_the_operators() && rank.operator {
            return true;
        }
        if *record.account_id() != rank.account {
            return false;
        }
        if verb.is_about_use() {
            // What a department gets or may do is not for its lead to say.
            let place = Place::of(record, organisation);
            let may = |person: &PersonRecord| may_touch(rank.role, person.role) && !person.operator;
            let is_for_a_lead = match record {
                Record::Account(_) | Record::Department(_) => false,
                // Nor what they get themselves, or whoever is no developer; with a key or without.
                Record::Person(person) => may(person),
                Record::Key(_) => {
                    let holder = place.person.as_ref();
                    holder.is_none_or(|id| organisation.people.get(id).is_some_and(may))
                }
                Record::Team(_) | Record::Service(_) => true,
            };
            let is_leads = verb.scope(rank.role) != Scope::Account;
            return (!is_leads || is_for_a_lead) && rank.reaches(verb, &place);
        }
        if matches!(verb, Verb::SeeBudget | Verb::SeePolicy | Verb::SeeRouter) {
            return rank.sees_use_of(verb, record, organisation);
        }
        if let (Record::Person(person), false) = (record, verb.only_looks())
            && !(verb == Verb::EndSessions && person.id == rank.person)
            && !may_touch(rank.role, person.role)
        {
            return false;
        }
        rank.reaches(verb, &Place::of(record, organisation))
    }

    /// Whether there is anything to which they allow to do this. See [`Verb::is_open_to`].
    pub(crate) fn allow_at_all(&self, verb: Verb) -> bool {
        match self {
            Self::All => true,
            Self::Nobody => false,
            Self::Of(rank) => verb.is_open(rank.role, rank.operator),
        }
    }

    /// Whether they allow to read the account's audit trail.
    pub(crate) fn allow_trail(&self, account: &AccountId) -> bool {
        self.allow_account(Verb::SeeTrail, account)
    }

    /// Whether they allow something in all of the account.
    pub(crate) fn allow_account(&self, verb: Verb, account: &AccountId) -> bool {
        match self {
            Self::All => true,
            Self::Nobody => false,
            Self::Of(rank) => rank.account == *account && verb.scope(rank.role) == Scope::Account,
        }
    }

    /// Which records of an account they allow to see. Nobody sees those of another account than
    /// their own, not even an operator.
    pub(crate) fn sight(&self, account: &AccountId) -> Sight {
        let reach = match self {
            Self::All => Reach::Account,
            Self::Of(rank) if rank.account == *account => rank.reach(Verb::SeeRecords),
            Self::Of(_) | Self::Nobody => Reach::Nothing,
        };
        Sight { account: account.clone(), reach }
    }

    /// Whether they allow `verb` on what belongs to no account.
    pub(crate) fn allow_deployment(&self, verb: Verb) -> bool {
        match self {
            Self::All => true,
            Self::Nobody => false,
            Self::Of(rank) => {
                verb.concerns_deployment()
                    && (rank.operator || verb.scope(rank.role) == Scope::Account)
            }
        }
    }

    /// Whether they are those of the server's machine.
    pub(crate) fn are_all(&self) -> bool {
        matches!(self, Self::All)
    }

    /// Whether they allow to give somebody the operator's right.
    pub(crate) fn allow_operator(&self) -> bool {
        match self {
            Self::All => true,
            Self::Of(rank) => rank.operator,
            Self::Nobody => false,
        }
    }
}

impl Rank {
    /// How far a verb reaches among records.
    fn reach(&self, verb: Verb) -> Reach {
        match verb.scope(self.role) {
            Scope::Account => Reach::Account,
            Scope::Department => Reach::Departments(self.departments.clone()),
            Scope::Team => Reach::Teams(self.teams.clone(), self.person.clone()),
            Scope::Own => Reach::Own(self.person.clone()),
            Scope::None => Reach::Nothing,
        }
    }

    /// Whether they see the budgets, the policy or the routers of a thing: what their role reaches, and what holds
    /// for their own requests.
    fn sees_use_of(&self, verb: Verb, record: &Record, organisation: &Organisation) -> bool {
        let place = Place::of(record, organisation);
        match (record, verb.scope(self.role)) {
            (_, Scope::None) => false,
            (Record::Account(_), _) => true,
            (Record::Department(it), Scope::Team) => self.departments.contains(&it.id),
            (Record::Person(_) | Record::Key(_), Scope::Team) => {
                place.person.as_ref() == Some(&self.person)
            }
            _ => self.reaches(verb, &place),
        }
    }

    fn reaches(&self, verb: Verb, place: &Place) -> bool {
        match verb.scope(self.role) {
            Scope::Account => true,
            Scope::Department => {
                let mut departments = place.departments.iter();
                let is_own = |it: &DepartmentId| self.departments.contains(it);
                // Whoever is in several departments is seen in each, and changed by who leads all.
                !place.departments.is_empty()
                    && if verb.only_looks() {
                        departments.any(is_own)
                    } else {
                        departments.all(is_own)
                    }
            }
            Scope::Team => {
                place.person.as_ref() == Some(&self.person)
                    || place.teams.iter().any(|team| self.teams.contains(team))
            }
            Scope::Own => {
                let is_own = place.person.as_ref() == Some(&self.person);
                // A key of one's own counts against one of one's own teams, if there is one.
                let is_in_team = match place.teams.first() {
                    Some(team) => self.teams.contains(team),
                    None => self.teams.is_empty(),
                };
                is_own && (verb != Verb::CreateKey || is_in_team)
            }
            Scope::None => false,
        }
    }
}

/// Where a thing belongs.
#[derive(Debug, Default)]
pub(super) struct Place {
    pub(super) departments: Vec<DepartmentId>,
    pub(super) teams: Vec<TeamId>,
    person: Option<PersonId>,
}

impl Place {
    pub(super) fn of(record: &Record, organisation: &Organisation) -> Self {
        let teams = match record {
            Record::Account(_) => return Self::default(),
            Record::Department(it) => {
                return Self { departments: vec![it.id.clone()], ..Self::default() };
            }
            // Its department as it is in the record: the team may be new.
            Record::Team(it) => {
                let (departments, teams) = (vec![it.department_id.clone()], vec![it.id.clone()]);
                return Self { departments, teams, person: None };
            }
            Record::Person(it) => it.teams.clone(),
            Record::Service(it) => it.team_id.iter().cloned().collect(),
            Record::Key(it) => it.team_id.iter().cloned().collect(),
        };
        let departments = teams.iter().filter_map(|id| organisation.teams.get(id));
        let departments = departments.map(|team| team.department_id.clone()).collect();
        let person = match record {
            Record::Person(it) => Some(it.id.clone()),
            Record::Key(it) => match &it.holder {
                Some(Holder::Person(id)) => Some(id.clone()),
                _ => None,
            },
            _ => None,
        };
        Self { departments, teams, person }
    }
}
