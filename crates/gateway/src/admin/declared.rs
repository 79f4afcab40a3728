//! The part of an organisation that the configuration file holds.

use sluice_core::organisation::Role;

use crate::admin::{BudgetWish, PolicyWish};

/// Departments, teams, people and budgets of the configuration file, by their names. What is named here
/// refers to what else is in the file: the departments of teams, the teams of people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declared {
    /// `[[departments]]`.
    pub departments: Vec<DeclaredDepartment>,
    /// `[[teams]]`.
    pub teams: Vec<DeclaredTeam>,
    /// `[[people]]`.
    pub people: Vec<DeclaredPerson>,
    /// `[[budgets]]`. What they are of need not be in the file.
    pub budgets: Vec<BudgetWish>,
    /// `[[policies]]`. Those whom they are about need not be in the file.
    pub policies: Vec<PolicyWish>,
}

/// A department of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredDepartment {
    /// The name of its account; `None`: the default account.
    pub account: Option<String>,
    /// Its name, unique in its account.
    pub name: String,
}

/// A team of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredTeam {
    /// The name of its account; `None`: the default account.
    pub account: Option<String>,
    /// Its name, unique in its account.
    pub name: String,
    /// The name of its department, which is one of the file.
    pub department: String,
}

/// A person of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredPerson {
    /// The name of their account; `None`: the default account.
    pub account: Option<String>,
    /// Their e-mail address in lower case, unique in their account.
    pub email: String,
    /// What people call them; empty where the file does not say.
    pub name: String,
    /// What they are.
    pub role: Role,
    /// The names of their teams, which are of the file.
    pub teams: Vec<String>,
    /// Whether they may see and change what concerns all accounts; `None`: as it is. The first owner
    /// may.
    pub operator: Option<bool>,
}
