use askama::Template;
use sluice_gateway::people::SHORTEST_PASSWORD;

use crate::components::{Badge, Code, Csrf, Field, Kind, Moment, Problem, State, Text};
use crate::layout::{Head, Place, Theme, View};
use crate::sample::{self, Names};

/// One's own account.
#[derive(Template)]
#[template(path = "pages/settings/page.html")]
pub(crate) struct Settings {
    pub(super) head: Head,
    pub(super) notice: Option<(&'static str, String)>,
    pub(super) password: Vec<Field>,
    pub(super) problem: Option<Problem>,
    pub(super) codes: Codes,
    /// The password again: a browser that was left open must not be enough.
    pub(super) confirm: Field,
    pub(super) codes_problem: Option<Problem>,
    pub(super) sessions: Vec<SessionRow>,
    pub(super) theme: Theme,
    pub(super) csrf: Csrf,
}

/// Whether one-time codes are asked for.
pub(super) enum Codes {
    Off,
    /// A secret was made, and a code of it has to prove that it arrived.
    SettingUp {
        /// As people type it in.
        secret: Text,
        /// As a phone opens it.
        url: String,
        /// The same, sealed, for the form.
        sealed: String,
        field: Field,
    },
    On {
        since: Moment,
        left: u64,
    },
    /// The recovery codes, which are shown once.
    Recovery(Vec<String>),
}

/// Where one is signed in.
pub(crate) struct SessionRow {
    pub(crate) id: String,
    pub(crate) browser: Text,
    pub(crate) address: Text,
    pub(crate) began: Moment,
    pub(crate) seen: Moment,
    pub(crate) is_this: bool,
}

impl View for Settings {
    fn title(&self) -> String {
        "Settings".into()
    }

    fn place(&self) -> Option<Place> {
        Some(Place::Settings)
    }
}

impl Settings {
    fn themes(&self) -> Vec<(&'static str, &'static str, bool)> {
        [(Theme::System, "as the system"), (Theme::Light, "light"), (Theme::Dark, "dark")]
            .map(|(theme, label)| (theme.word(), label, theme == self.theme))
            .into()
    }

    fn left_badge(left: u64) -> Badge {
        Badge::new(
            if left < 3 { State::Warn } else { State::Good },
            crate::format::plural(left, "recovery code left", "recovery codes left"),
        )
    }

    /// A field for a code of either kind. What is on is not changed with the password alone.
    fn either_code() -> Field {
        Field::new(Kind::Line, "code", "One-time code or recovery code")
            .autocomplete("one-time-code")
            .required()
    }

    /// The recovery codes as a block that can be copied.
    fn recovery(codes: &[String]) -> Code {
        Code::new("Recovery codes", codes.join("\n"))
    }
}

/// A field for a password.
pub(super) fn password(name: &'static str, label: &str, autocomplete: &'static str) -> Field {
    Field::new(Kind::Password, name, label).autocomplete(autocomplete).required()
}

/// A field for a code of the authenticator.
pub(super) fn code() -> Field {
    Field::new(Kind::Code, "code", "Code of now").autocomplete("one-time-code").required()
}

fn make(names: Names) -> Settings {
    let calendar = sample::calendar();
    let session =
        |(browser, address, began, seen, is_this): (&str, &str, u64, u64, bool)| SessionRow {
            id: format!("ses_{began}"),
            browser: names.of(browser),
            address: names.of(address),
            began: Moment::minute(&calendar, sample::before(began)),
            seen: Moment::ago(&calendar, sample::before(seen)),
            is_this,
        };
    Settings {
        head: Head::new("Settings").stamp("ada@example.org · owner of Acme, operator"),
        notice: None,
        password: vec![
            password("current", "Password as it is", "current-password"),
            password("new", "New password", "new-password")
                .hint(format!("At least {SHORTEST_PASSWORD} characters. All other sessions end.")),
        ],
        problem: None,
        codes: Codes::On {
            since: Moment::day(&calendar, sample::before(80 * sample::DAY)),
            left: 8,
        },
        confirm: password("current", "Your password", "current-password").id("codes-current"),
        codes_problem: None,
        sessions: [
            ("Firefox on Linux", "192.0.2.17", 5 * sample::HOUR, 900, true),
            ("Safari on iPhone", "198.51.100.4", 2 * sample::DAY, 7 * sample::HOUR, false),
            ("Chromium on macOS", "203.0.113.80", 6 * sample::DAY, 3 * sample::DAY, false),
        ]
        .map(session)
        .into(),
        theme: Theme::System,
        csrf: sample::csrf(),
    }
}

/// The sample states.
pub(crate) fn samples() -> Vec<(&'static str, Settings)> {
    let mut states = sample::in_all_names(make);
    states.insert(
        0,
        (
            "empty",
            Settings {
                codes: Codes::Off,
                sessions: make(Names::Plain).sessions.into_iter().take(1).collect(),
                ..make(Names::Plain)
            },
        ),
    );
    let setting_up = |field| Codes::SettingUp {
        secret: "JBSW Y3DP EHPK 3PXP JBSW Y3DP".into(),
        url: "otpauth://totp/Sluice:ada%40example.org?secret=JBSWY3DPEHPK3PXPJBSWY3DP".into(),
        sealed: "x8Kq".into(),
        field,
    };
    states.push(("setting-up", Settings { codes: setting_up(code()), ..make(Names::Plain) }));
    let mut wrong = make(Names::Plain);
    let current = wrong.password.remove(0).error("This is not your password. Nothing was changed");
    wrong.password.insert(0, current);
    wrong.codes =
        setting_up(code().error("This code is not the one of now. Check the clock of your phone"));
    wrong.problem = Some(Problem::new("The password was not changed."));
    states.push(("error", wrong));
    let codes = [
        "7f3k-9q2m",
        "x4tv-1b8c",
        "m2pd-6h5r",
        "9kwz-3n7j",
        "c8ya-5f1g",
        "t6ve-2s4l",
        "b1qx-8d9u",
        "j5hn-7r3w",
        "g3mc-4k6t",
        "p9zf-1v2x",
    ];
    states.push((
        "recovery-codes",
        Settings {
            codes: Codes::Recovery(codes.map(str::to_owned).into()),
            notice: Some((
                "good",
                "One-time codes are on. Keep the recovery codes where your phone is not.".into(),
            )),
            ..make(Names::Plain)
        },
    ));
    states
}
