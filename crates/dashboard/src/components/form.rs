//! Fields of forms: label, hint, what was typed, and what is wrong with it.

use askama::Template;

use super::prints_markup;
use super::text::{Markup, Text};
use crate::web::Fields;

/// Proves that a form came from a page of this session. Every form that changes something has it.
#[derive(Debug, Clone, Template)]
#[template(
    source = r#"<input type="hidden" name="csrf" value="{{ token }}">{% if !once.is_empty() %}<input type="hidden" name="once" value="{{ once }}">{% endif %}"#,
    ext = "html"
)]
pub struct Csrf {
    token: String,
    once: String,
}

impl Csrf {
    /// The token of a session.
    pub fn new(token: impl Into<String>) -> Self {
        Self { token: token.into(), once: String::new() }
    }

    /// With an id of this one form: it is taken once, however often it is sent.
    #[must_use]
    pub(crate) fn once(self, id: String) -> Self {
        Self { once: id, ..self }
    }
}

/// Tells from which state of a thing a form was drawn. Forms send all their fields, so that one that
/// was open for long would take back what somebody else has changed since.
#[derive(Debug, Clone, Default, Template)]
#[template(source = r#"<input type="hidden" name="drawn" value="{{ hash }}">"#, ext = "html")]
pub struct Drawn {
    hash: String,
}

impl Drawn {
    /// What a page says where that happened. It shows the form anew, as things stand.
    pub(crate) const CHANGED: &str = "Somebody else changed this after you opened the page. Nothing was \
        saved; this is how it stands now. Look at it, and make your change again.";

    /// Of what a form shows, as it is printed for debugging: equal where nothing has changed.
    pub(crate) fn of(shown: &impl std::fmt::Debug) -> Self {
        Self { hash: blake3::hash(format!("{shown:?}").as_bytes()).to_hex().to_string() }
    }

    /// Whether a form that was sent was drawn from the same, or does not say.
    pub(crate) fn fits(&self, form: &Fields) -> bool {
        form.some("drawn").is_none_or(|hash| hash == self.hash)
    }
}

/// One field of a form.
#[derive(Debug, Clone, Template)]
#[template(path = "components/form.html")]
pub struct Field {
    id: String,
    name: &'static str,
    label: String,
    kind: Kind,
    value: Text,
    hint: Markup,
    error: Option<Markup>,
    autocomplete: &'static str,
    placeholder: &'static str,
    unit: &'static str,
    is_required: bool,
}

/// What a field takes.
#[derive(Debug, Clone)]
pub enum Kind {
    /// A line of text.
    Line,
    /// An e-mail address.
    Email,
    /// A password.
    Password,
    /// A number. It is a line of text, since a mouse wheel must not change a limit.
    Number,
    /// A day.
    Day,
    /// Six digits of an authenticator.
    Code,
    /// Several lines.
    Area,
    /// One of several.
    Select(Vec<Choose>),
    /// Any of several.
    Checks(Vec<Choose>),
    /// Yes or no.
    Switch(bool),
}

/// A value to choose.
#[derive(Debug, Clone)]
pub struct Choose {
    /// What is sent.
    pub value: Text,
    /// What is shown.
    pub label: Text,
    /// Whether it is chosen.
    pub is_chosen: bool,
}

impl Field {
    /// A field called `name` in the form.
    pub fn new(kind: Kind, name: &'static str, label: impl Into<String>) -> Self {
        Self {
            id: name.to_owned(),
            name,
            label: label.into(),
            kind,
            value: Text::default(),
            hint: Markup::default(),
            error: None,
            autocomplete: "off",
            placeholder: "",
            unit: "",
            is_required: false,
        }
    }

    /// One of `values`, of which `chosen` is.
    pub fn select(
        name: &'static str,
        label: &'static str,
        values: &[(&str, Text)],
        chosen: &str,
    ) -> Self {
        Self::new(Kind::Select(choose(values, &[chosen])), name, label)
    }

    /// Any of `values`, of which `chosen` are.
    pub fn checks(
        name: &'static str,
        label: &'static str,
        values: &[(&str, Text)],
        chosen: &[&str],
    ) -> Self {
        Self::new(Kind::Checks(choose(values, chosen)), name, label)
    }

    /// What stands in it.
    #[must_use]
    pub fn value(self, value: impl Into<Text>) -> Self {
        Self { value: value.into(), ..self }
    }

    /// What helps to fill it in.
    #[must_use]
    pub fn hint(self, hint: impl Into<Markup>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// What is wrong with it, and how to mend that.
    #[must_use]
    pub fn error(self, error: impl Into<Markup>) -> Self {
        Self { error: Some(error.into()), ..self }
    }

    /// What a browser may fill in.
    #[must_use]
    pub fn autocomplete(self, autocomplete: &'static str) -> Self {
        Self { autocomplete, ..self }
    }

    /// An example that stands in it while it is empty.
    #[must_use]
    pub fn placeholder(self, placeholder: &'static str) -> Self {
        Self { placeholder, ..self }
    }

    /// The unit behind it.
    #[must_use]
    pub fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// It has to be filled in.
    #[must_use]
    pub fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    /// Another id, where a page has two fields of one name.
    #[must_use]
    pub fn id(self, id: impl Into<String>) -> Self {
        Self { id: id.into(), ..self }
    }

    /// What the label leaves to say, by id, for readers of the screen.
    fn described(&self) -> String {
        let hint = (!self.hint.is_empty()).then(|| format!("{}-hint", self.id));
        let error = self.error.is_some().then(|| format!("{}-error", self.id));
        hint.into_iter().chain(error).collect::<Vec<_>>().join(" ")
    }

    /// The type of the element.
    fn input(&self) -> &'static str {
        match self.kind {
            Kind::Email => "email",
            Kind::Password => "password",
            Kind::Day => "date",
            _ => "text",
        }
    }

    fn is_number(&self) -> bool {
        matches!(self.kind, Kind::Number | Kind::Code)
    }

    fn is_code(&self) -> bool {
        matches!(self.kind, Kind::Code)
    }
}

fn choose(values: &[(&str, Text)], chosen: &[&str]) -> Vec<Choose> {
    let choose = |(value, label): &(&str, Text)| Choose {
        value: Text::from(*value),
        label: label.clone(),
        is_chosen: chosen.contains(value),
    };
    values.iter().map(choose).collect()
}

/// What goes wrong in the whole of a form, above its fields.
#[derive(Debug, Clone, Template)]
#[template(source = r#"<p class="notice bad" role="alert">{{ text }}</p>"#, ext = "html")]
pub struct Problem {
    text: Markup,
}

impl Problem {
    /// What failed, what still works, and what to do.
    pub fn new(text: impl Into<Markup>) -> Self {
        Self { text: text.into() }
    }
}

prints_markup!(Drawn, Problem);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_fits_what_it_was_drawn_from() {
        let (then, now) = (Drawn::of(&("ada", 1)), Drawn::of(&("ada", 2)));
        let form = Fields::parse(format!("name=ada&drawn={}", then.hash).as_bytes());
        assert!(then.fits(&form) && !now.fits(&form));
        assert!(now.fits(&Fields::parse(b"name=ada")), "it does not say");
        assert!(then.render().unwrap().contains(&then.hash));
    }
}
