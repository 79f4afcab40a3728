//! Names and values of a form.

/// Names and values, in their order. A name may come several times.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads `a=1&b=2`, percent-encoded. What is no UTF-8 is replaced.
    pub(crate) fn parse(encoded: &[u8]) -> Self {
        Self(form_urlencoded::parse(encoded).into_owned().collect())
    }

    /// The first value of this name, without the space around it; empty where there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// The first value of this name as it came: a password may begin with a space.
    pub(crate) fn raw(&self, name: &str) -> &str {
        self.0.iter().find(|(it, _)| it == name).map_or("", |(_, value)| value)
    }

    /// The first value of this name, where it is not empty.
    pub(crate) fn some(&self, name: &str) -> Option<&str> {
        Some(self.get(name)).filter(|value| !value.is_empty())
    }

    /// All values of this name that are not empty.
    pub(crate) fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        let fields = self.0.iter().filter(move |(it, _)| it == name);
        fields.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// All words of the values of this name: each value may hold several, one a line.
    pub(crate) fn words<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.all(name).flat_map(str::split_whitespace)
    }

    /// All values of this name as they came, also empty ones.
    pub(crate) fn each<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        let fields = self.0.iter().filter(move |(it, _)| it == name);
        fields.map(|(_, value)| value.as_str())
    }

    /// Whether a box of this name was ticked.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(it, _)| it == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_by_name() {
        let fields = Fields::parse(b"a=1+2&b=&a=%C3%A9&p=%20x%20&on");
        assert_eq!((fields.get("a"), fields.some("b"), fields.get("none")), ("1 2", None, ""));
        assert_eq!(fields.all("a").collect::<Vec<_>>(), ["1 2", "é"]);
        assert_eq!((fields.get("p"), fields.raw("p")), ("x", " x "));
        assert!(fields.has("on") && !fields.has("off"));
    }
}
