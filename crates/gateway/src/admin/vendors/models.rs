//! Models: listed, put in, changed, removed.

use std::sync::Arc;

use sluice_routing::catalog::Model;
use sluice_storage::{Item, ModelRecord, VendorRecords};

use super::{Origin, VendorDeed, settings};
use crate::admin::permissions::Verb;
use crate::admin::{Admin, AdminError};
use crate::vendors::{self, Given, ModelSpec, Vendors, secrets_of};

/// A model, as everybody may see it who is signed in.
#[derive(Debug, Clone)]
pub struct ModelView {
    /// What callers put in `model`.
    pub id: String,
    /// Who put it in. What comes with a provider's catalogue counts as that provider does.
    pub origin: Origin,
    /// Why it is not served; `None`: it is.
    pub left_out: Option<String>,
    /// What is served; `None` where it is left out.
    pub model: Option<Arc<Model>>,
    /// Its record; `None` for what the file has, and for what comes with a provider's catalogue.
    pub record: Option<ModelRecord>,
}

impl Admin<'_> {
    /// All models that are served and are no routers or second names of the documentation, and those
    /// of the database that are not served.
    pub async fn models(&self, given: &Given) -> Result<Vec<ModelView>, AdminError> {
        self.may(Verb::SeeModel).await?;
        let vendors = Vendors::read(self.store, self.master_key).await?;
        let served = vendors::serve(given, &vendors);
        let own = |id: &str| vendors.models.iter().find(|it| it.id == id);
        let left_out =
            |id: &str| served.left_out.iter().find(|it| it.kind == "model" && it.name == id);
        let mut views = Vec::new();
        for model in served.catalog.models() {
            let id = model.id.as_str();
            let record = own(id).filter(|_| left_out(id).is_none());
            let is_said = record.is_some() || given.named.contains(id);
            if served.catalog.router(id).is_some() || (model.deployments.is_empty() && !is_said) {
                continue;
            }
            let is_given = match model.deployments.first() {
                Some(at) => given.has_provider(at.provider.as_str()),
                None => true,
            };
            views.push(ModelView {
                id: id.to_owned(),
                origin: match record.is_none() && is_given {
                    true => Origin::File,
                    false => Origin::Database,
                },
                left_out: None,
                model: Some(model.clone()),
                record: record.cloned(),
            });
        }
        for record in &vendors.models {
            let Some(why) = left_out(&record.id) else { continue };
            views.push(ModelView {
                id: record.id.clone(),
                origin: Origin::Database,
                left_out: Some(why.why.clone()),
                model: None,
                record: Some(record.clone()),
            });
        }
        Ok(views)
    }

    /// Puts a model in.
    pub async fn create_model(
        &self,
        given: &Given,
        id: &str,
        spec: ModelSpec,
    ) -> Result<ModelRecord, AdminError> {
        let mut made = self.create_models(given, vec![(id.to_owned(), spec)]).await?;
        made.pop().ok_or_else(|| AdminError::UnknownModel(id.to_owned()))
    }

    /// Puts several models in: all of them, or none.
    pub async fn create_models(
        &self,
        given: &Given,
        wishes: Vec<(String, ModelSpec)>,
    ) -> Result<Vec<ModelRecord>, AdminError> {
        let view = self.may(Verb::CreateModel).await?;
        let vendors = self.store.vendors().await?;
        let records = self.new_models(given, &vendors, wishes)?;
        self.carry_out_vendors(&view, creations(&records)).await?;
        Ok(records)
    }

    /// The models to put in, where they fit `vendors`.
    pub(super) fn new_models(
        &self,
        given: &Given,
        vendors: &VendorRecords,
        wishes: Vec<(String, ModelSpec)>,
    ) -> Result<Vec<ModelRecord>, AdminError> {
        let mut records = Vec::with_capacity(wishes.len());
        for (id, spec) in wishes {
            not_the_files_model(given, &id)?;
            self.check_model(given, vendors, &id, &spec)?;
            let settings = settings(&spec)?;
            records.push(ModelRecord { settings, created_at: self.now, changed: 0, id });
        }
        Ok(records)
    }

    /// Changes a model by `change` and returns it as it is now.
    pub async fn change_model(
        &self,
        given: &Given,
        id: &str,
        change: impl FnOnce(&mut ModelSpec),
    ) -> Result<ModelRecord, AdminError> {
        let view = self.may(Verb::ChangeModel).await?;
        not_the_files_model(given, id)?;
        let vendors = self.store.vendors().await?;
        let old = model_record(&vendors.models, id)?;
        let mut spec: ModelSpec = serde_json::from_value(old.settings.clone()).unwrap_or_default();
        change(&mut spec);
        self.check_model(given, &vendors, id, &spec)?;
        let new = ModelRecord { settings: settings(&spec)?, ..old.clone() };
        let (old, now) = (Item::Model(old), Item::Model(new.clone()));
        self.carry_out_vendors(&view, vec![(Verb::ChangeModel, Some(old), Some(now))]).await?;
        Ok(new)
    }

    /// Removes a model.
    pub async fn remove_model(&self, given: &Given, id: &str) -> Result<(), AdminError> {
        let view = self.may(Verb::RemoveModel).await?;
        let vendors = self.store.vendors().await?;
        // One whose name the file has taken can be removed as well.
        let old = match model_record(&vendors.models, id) {
            Err(_) if given.has_model(id) => return not_the_files_model(given, id),
            found => Item::Model(found?),
        };
        self.carry_out_vendors(&view, vec![(Verb::RemoveModel, Some(old), None)]).await
    }

    /// Whether a model fits what there is.
    fn check_model(
        &self,
        given: &Given,
        vendors: &VendorRecords,
        id: &str,
        spec: &ModelSpec,
    ) -> Result<(), AdminError> {
        spec.checked(id).map_err(AdminError::Settings)?;
        for name in &spec.provider {
            let is_there =
                given.has_provider(name) || vendors.providers.iter().any(|it| it.name == *name);
            if !is_there {
                return Err(AdminError::NoSuchProvider { name: name.clone() });
            }
        }
        if let Some(target) = &spec.same_as {
            let opened =
                vendors.providers.iter().map(|it| (it.clone(), secrets_of(it, self.master_key)));
            let all = Vendors {
                providers: opened.collect(),
                models: vendors.models.clone(),
                routers: Vec::new(),
            };
            let served = vendors::serve(given, &all);
            let is_model = served.catalog.get(target).is_some_and(|it| !it.deployments.is_empty());
            if !is_model || target == id {
                return Err(AdminError::UnknownModel(target.clone()));
            }
        }
        Ok(())
    }
}

/// What puts models in.
pub(super) fn creations(models: &[ModelRecord]) -> Vec<VendorDeed> {
    let create = |it: &ModelRecord| (Verb::CreateModel, None, Some(Item::Model(it.clone())));
    models.iter().map(create).collect()
}

fn not_the_files_model(given: &Given, id: &str) -> Result<(), AdminError> {
    match given.has_model(id) {
        true => Err(AdminError::ManagedByFile { what: format!("model {id}") }),
        false => Ok(()),
    }
}

fn model_record(models: &[ModelRecord], id: &str) -> Result<ModelRecord, AdminError> {
    let found = models.iter().find(|it| it.id == id).cloned();
    found.ok_or_else(|| AdminError::UnknownModel(id.to_owned()))
}
