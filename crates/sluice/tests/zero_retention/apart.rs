//! Ways that a line of a table cannot say: through pages, with own provider keys, without a whole
//! request, and through the end of the server.

use serde_json::json;
use sluice_testkit::{Events, Script, until};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::house::{Caller, House};
use crate::request::{Asked, breaking, quoted, streamed, whole};

impl House {
    /// Asks on the page that is for it.
    pub(crate) async fn ask_on_pages(&mut self) {
        let marks = self.sent.marks("the playground".to_owned());
        let (prompt, system) = (marks.word("prompt"), marks.word("system prompt"));
        let earlier = [marks.word("asked"), marks.word("answered before")];
        let secret = marks.secret("prompt's token");
        let prompt = format!("{prompt} {secret}");
        for (path, script) in
            [("/playground", whole(&marks)), ("/playground/stream", streamed(&marks))]
        {
            self.follow(script, Script::default());
            let fields = [
                ("model", "mock"),
                ("prompt", &prompt),
                ("system", &system),
                ("asked", &earlier[0]),
                ("answered", &earlier[1]),
                ("zero_retention", "on"),
            ];
            let page = self.owner.form(path, &fields).await;
            assert_eq!(page.status, 200, "{}", page.body);
        }
    }

    /// Asks with the provider key of a team, and has the provider refuse and quote it.
    pub(crate) async fn ask_with_an_own_provider_key(&self, of_team: &Caller) {
        let marks = self.sent.marks("with an own provider key".to_owned());
        let own = marks.secret("own provider key");
        let line = "provider-keys add --provider lab --for team:quiet --no-test";
        let words: Vec<&str> = line.split(' ').collect();
        let added = self.sluice.cli_given(&words, &format!("{own}\n")).await;
        assert_eq!(added.code, Some(0), "{}", added.stderr);
        self.follow(whole(&marks), Script::default());
        until("the key to be used", async || {
            let asked = Asked::new(marks.clone(), of_team);
            assert_eq!(self.sluice.client().reply(asked.into_ask()).await.status, 200);
            (self.first.last().header("authorization") == format!("Bearer {own}")).then_some(())
        })
        .await;
        let mut error = quoted(&marks);
        error["error"]["message"] = format!("{own} is no key of ours").into();
        let json = ["content-type: application/json"];
        self.follow(
            Script::answer("401 Unauthorized", &json, &error.to_string()),
            Script::default(),
        );
        let asked = Asked::new(marks, of_team);
        assert_eq!(self.sluice.client().reply(asked.into_ask()).await.status, 502);
    }

    /// Sends half a request, and something that is none.
    pub(crate) async fn ask_in_part(&self, caller: &Caller) {
        let marks = self.sent.marks(format!("{}: in part", caller.name));
        let half = format!(
            "POST /api/v1/chat/completions HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: 9000\r\nx-title: {}\r\n\r\n\
             {{\"model\":\"mock\",\"messages\":[{{\"role\":\"user\",\"content\":\"{}",
            marks.word("host"),
            caller.key,
            marks.word("title"),
            marks.word("prompt"),
        );
        let mut cut = TcpStream::connect(self.sluice.address()).await.unwrap();
        cut.write_all(half.as_bytes()).await.unwrap();
        drop(cut);
        for garbage in [
            format!("{} / HTTP/1.1\r\n\r\n", marks.word("method")),
            format!("POST /{} HTTP/7.0\r\n\r\n", marks.word("version")),
            format!("GET / HTTP/1.1\r\n{}\r\n\r\n", marks.word("header")),
            format!(
                "GET / HTTP/1.1\r\n{}: {}\r\n\r\n",
                "x".repeat(9),
                marks.word("long").repeat(20_000)
            ),
        ] {
            let mut stream = TcpStream::connect(self.sluice.address()).await.unwrap();
            // It may hang up before it has read all of it.
            let _ = stream.write_all(garbage.as_bytes()).await;
            let _ = stream.shutdown().await;
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
    }

    /// Streams of all callers that have begun and do not go on.
    pub(crate) async fn begin_streams(&self, callers: &[Caller], why: &str) -> Vec<Events> {
        let mut begun = Vec::new();
        for caller in callers {
            let marks = self.sent.marks(format!("{}: {why}", caller.name));
            let long = format!("{} ", marks.word("long")).repeat(10_000);
            let script = breaking(&marks, []);
            self.follow(script, Script::default());
            let mut asked = Asked::new(marks, caller);
            asked.body["stream"] = json!(true);
            // So large that somebody might put it aside.
            asked.prompt(&long);
            let mut events = self.sluice.client().events(asked.into_ask()).await;
            events.next_text().await;
            begun.push(events);
        }
        begun
    }

    /// Ends the server in the midst of streams, as a crash does, and starts it again.
    pub(crate) async fn crash(&mut self, callers: &[Caller]) {
        let begun = self.begin_streams(callers, "killed").await;
        self.glimpse();
        self.sluice.kill().await;
        self.glimpse();
        drop(begun);
        self.sluice.start_again().await;
    }

    /// Stops the server in the midst of streams, which it cuts off.
    pub(crate) async fn stop(&mut self, callers: &[Caller]) {
        let begun = self.begin_streams(callers, "stopped").await;
        self.glimpse();
        assert!(self.sluice.stop().await.success());
        for events in begun {
            let said = events.rest().await;
            assert!(!said.done);
        }
    }
}
