//! A browser without JavaScript: a jar of cookies, and forms that carry what their page gave them.

use std::collections::BTreeMap;

use http::HeaderMap;
use sluice_testkit::{Ask, Client, Reply, Sluice};

/// The password of everybody here.
pub(crate) const PASSWORD: &str = "correct horse battery staple";

/// Somebody's browser.
pub(crate) struct Browser {
    client: Client,
    cookies: BTreeMap<String, String>,
    csrf: String,
}

/// A page, or where the server sent the browser instead.
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Browser {
    /// A browser of somebody who has not signed in.
    pub(crate) fn new(sluice: &Sluice) -> Self {
        Self::at(sluice.client())
    }

    /// The same, where the pages have an address of their own.
    pub(crate) fn at(client: Client) -> Self {
        Self { client, cookies: BTreeMap::new(), csrf: String::new() }
    }

    /// The browser of the first owner, who came by the link that the server printed.
    pub(crate) async fn welcome(sluice: &Sluice) -> Self {
        let said = sluice.stdout();
        let link = said.lines().find_map(|line| line.split_once("/welcome/")).unwrap().1;
        let mut browser = Self::new(sluice);
        browser.enters(&format!("/welcome/{}", link.trim()), "owner@example.org").await;
        browser
    }

    /// The browser of somebody who was invited with this role, and maybe more words for
    /// `sluice people invite`.
    pub(crate) async fn invited(sluice: &Sluice, email: &str, more: &str) -> Self {
        let link = sluice.done(&format!("people invite {email} {more}")).await;
        let token = link.trim().rsplit_once('/').unwrap().1.to_owned();
        let mut browser = Self::new(sluice);
        browser.enters(&format!("/invite/{token}"), email).await;
        browser
    }

    pub(crate) async fn enters(&mut self, path: &str, email: &str) {
        assert_eq!(self.get(path).await.status, 200, "{path}");
        let fields = [("email", email), ("password", PASSWORD)];
        let page = self.form(path, &fields).await;
        assert_eq!(page.status, 303, "{}", page.body);
        let page = self.get("/settings").await;
        assert_eq!(page.status, 200, "{}", page.body);
    }

    /// Opens a page. A redirect is not followed.
    pub(crate) async fn get(&mut self, path: &str) -> Page {
        self.ask(Ask::get(path)).await
    }

    /// Sends a form, with the token that this session's pages have in theirs.
    pub(crate) async fn form(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        let mut encoded = form_urlencoded::Serializer::new(String::new());
        encoded.append_pair("csrf", &self.csrf).extend_pairs(fields);
        self.ask(Ask::form(path, encoded.finish())).await
    }

    /// The field of a form that proves it is of this session.
    pub(crate) fn token(&self) -> String {
        format!("csrf={}", self.csrf)
    }

    /// The same question with this browser's cookies, for another client.
    pub(crate) fn signed(&self, ask: Ask) -> Ask {
        let jar: Vec<String> = self.cookies.iter().map(|(n, v)| format!("{n}={v}")).collect();
        if jar.is_empty() { ask } else { ask.header("cookie", &jar.join("; ")) }
    }

    /// Asks for something that no page has a link or a form for.
    pub(crate) async fn ask(&mut self, ask: Ask) -> Page {
        let Reply { status, headers, body } = self.client.reply(self.signed(ask)).await;
        for line in headers.get_all("set-cookie") {
            let pair = line.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let page = Page {
            status: status.as_u16(),
            headers,
            body: String::from_utf8_lossy(&body).into_owned(),
        };
        if let Some(token) = page.between("name=\"csrf\" value=\"", "\"") {
            self.csrf = token.to_owned();
        }
        page
    }
}

impl Page {
    /// A header; empty where there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Where the server sends the browser.
    pub(crate) fn location(&self) -> &str {
        self.header("location")
    }

    /// What stands after the first `begin`, before the next `end`.
    pub(crate) fn between(&self, begin: &str, end: &str) -> Option<&str> {
        let rest = self.body.split_once(begin)?.1;
        Some(rest.split_once(end)?.0)
    }

    /// Whether a text stands on it, as it is written there.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.body.contains(text)
    }
}
