//! A JSON Schema with its references, its `allOf` and one branch of its `anyOf` and `oneOf` beside
//! it, as borrowed layers: a keyword is that of the first layer that has it, members and
//! requirements are those of all.

use serde_json::{Map, Value};

/// Most layers of one schema. References can go round in circles.
const MOST: usize = 64;

/// A schema and what it refers to.
pub(super) struct Layers<'a>(Vec<&'a Map<String, Value>>);

impl<'a> Layers<'a> {
    /// The layers of `schema`, which is a part of `root`. With `simplest`, of several branches the
    /// one that nests least.
    pub(super) fn of(root: &'a Value, schema: &'a Value, simplest: bool) -> Self {
        let mut layers = Self(Vec::new());
        layers.add(root, schema, simplest);
        layers
    }

    fn add(&mut self, root: &'a Value, schema: &'a Value, simplest: bool) {
        let Some(schema) = schema.as_object().filter(|_| self.0.len() < MOST) else {
            return;
        };
        self.0.push(schema);
        let reference = schema.get("$ref").and_then(Value::as_str);
        if let Some(target) = reference.and_then(|reference| resolve(root, reference)) {
            self.add(root, target, simplest);
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.add(root, part, simplest);
        }
        for key in ["anyOf", "oneOf"] {
            let branches = schema.get(key).and_then(Value::as_array);
            if let Some(branch) = branches.and_then(|branches| choose(branches, simplest)) {
                self.add(root, branch, simplest);
            }
        }
    }

    /// The value of a keyword.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.0.iter().find_map(|layer| layer.get(key))
    }

    /// A keyword that is a count.
    pub(super) fn count(&self, key: &str) -> Option<u64> {
        self.get(key).and_then(Value::as_u64)
    }

    /// A keyword that is an array; empty where it is none.
    pub(super) fn list(&self, key: &str) -> &'a [Value] {
        self.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The described members, in the order in which they were written.
    pub(super) fn properties(&self) -> Vec<(&'a str, &'a Value)> {
        let layers = self.0.iter().filter_map(|layer| layer.get("properties")?.as_object());
        layers.flatten().map(|(name, schema)| (name.as_str(), schema)).collect()
    }

    /// The members that have to be there.
    pub(super) fn required(&self) -> Vec<&'a str> {
        let layers = self.0.iter().filter_map(|layer| layer.get("required")?.as_array());
        layers.flatten().filter_map(Value::as_str).collect()
    }

    /// The type to build: the first that is not `null`, or the one that the other keywords speak of.
    pub(super) fn kind(&self) -> &'a str {
        let has = |key| self.get(key).is_some();
        match self.get("type") {
            Some(Value::String(name)) => name,
            Some(Value::Array(types)) => {
                let mut names = types.iter().filter_map(Value::as_str);
                names.find(|name| *name != "null").unwrap_or("null")
            }
            _ if has("properties") || has("required") || has("minProperties") => "object",
            _ if has("items") || has("prefixItems") || has("minItems") => "array",
            _ if has("minimum") || has("maximum") || has("multipleOf") => "number",
            _ => "string",
        }
    }

    /// A number's lower (`inside` > 0) or upper bound, `inside` being the way into the range where
    /// the bound itself is excluded. In draft 4 `exclusiveMinimum` is a boolean about `minimum`.
    pub(super) fn limit(&self, key: &str, exclusive: &str, inside: f64) -> Option<f64> {
        let inclusive = self.get(key).and_then(Value::as_f64);
        match self.get(exclusive) {
            Some(Value::Bool(true)) => inclusive.map(|bound| bound + inside),
            Some(Value::Number(bound)) => {
                let bound = bound.as_f64()? + inside;
                let tighter = |other: f64| match inside > 0.0 {
                    true => bound.max(other),
                    false => bound.min(other),
                };
                Some(inclusive.map_or(bound, tighter))
            }
            _ => inclusive,
        }
    }
}

/// The schema that a local reference names: `#`, or `#/` and a JSON pointer (RFC 6901).
fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}

/// The branch to follow: the first that is not `null`, or the one that nests least.
fn choose(branches: &[Value], simplest: bool) -> Option<&Value> {
    let is_null = |branch: &&Value| branch.get("type").and_then(Value::as_str) == Some("null");
    if !simplest {
        return branches.iter().find(|branch| !is_null(branch)).or(branches.first());
    }
    let is_flat = |branch: &&Value| {
        let kind = branch.get("type").and_then(Value::as_str);
        kind.is_some_and(|kind| !matches!(kind, "object" | "array"))
            || branch.get("enum").is_some()
            || branch.get("const").is_some()
    };
    let is_here = |branch: &&Value| branch.get("$ref").is_none();
    let found = branches.iter().find(is_null).or_else(|| branches.iter().find(is_flat));
    found.or_else(|| branches.iter().find(is_here)).or(branches.first())
}
