//! Secrets: no text that leaves the source holds the token, even when GitHub repeats it.

use std::io;
use std::sync::{Arc, Mutex};

use tracing_subscriber::fmt::MakeWriter;

use super::*;
use crate::support::github::{Fault, TOKEN};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn the_token_is_in_no_error_and_in_no_log() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).with_max_level(tracing::Level::TRACE).finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let mut seen = String::new();
    for status in [401, 403, 404, 418, 422, 429, 500] {
        // Another test that fails first, on a thread without a log, would switch that line off for all.
        tracing::callsite::rebuild_interest_cache();
        let desk = Desk::tea().await;
        desk.github.fault(Fault::status("", status).saying(&format!("token {TOKEN} ({}) is bad", &TOKEN[4..40])));
        let source = desk.open();
        let error = newest(&source).await.unwrap_err();
        seen = format!("{seen}{error} {error:?} {source:?} {:?}\n", desk.settings);
    }
    let desk = Desk::tea().await;
    let view = newest(&desk.open()).await.unwrap();
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(!logged.is_empty(), "the log is on");
    let seen = format!("{seen}{view:?}{logged}");
    assert!(seen.contains("[redacted]"));
    for part in [TOKEN, &TOKEN[..30], &TOKEN[11..40], &TOKEN[30..]] {
        assert!(!seen.contains(part), "{part} in {seen}");
    }
}

#[tokio::test]
async fn no_header_of_githubs_brings_the_token_back() {
    use base64::Engine as _;
    let login = base64::engine::general_purpose::STANDARD.encode(format!("x-access-token:{TOKEN}"));
    for (status, header, value) in [
        (403, "x-accepted-github-permissions", TOKEN.to_owned()),
        (403, "x-accepted-github-permissions", login.clone()),
        (403, "x-github-sso", format!("required; url=https://github.com/orgs/{TOKEN}/sso")),
        (403, "x-github-sso", format!("required; url=https://{login}.example/")),
        (302, "location", format!("http://{}.example/x", &TOKEN[..40].replace('_', "-"))),
    ] {
        let desk = Desk::tea().await;
        desk.github.fault(Fault::status("", status).saying(&format!("sent: {login}")).header(header, &value));
        let error = newest(&desk.open()).await.unwrap_err();
        let seen = format!("{error} {error:?} {:?}", flowy::internals::app::Error::from(error.clone()));
        for part in [TOKEN, &TOKEN[11..40], &login, &login[24..60]] {
            assert!(!seen.contains(part), "{header}: {seen}");
        }
    }
}

#[tokio::test]
async fn what_github_says_cannot_move_the_cursor() {
    let desk = Desk::tea().await;
    desk.github.fault(Fault::status("", 401).saying("\u{1b}[2Jgone\u{202e}\nsecond line"));
    let error = newest(&desk.open()).await.unwrap_err().to_string();
    assert!(!error.chars().any(flowy::internals::names::unprintable), "{error:?}");
}

#[tokio::test]
async fn opening_asks_nothing() {
    let desk = Desk::tea().await;
    let source = desk.open();
    assert_eq!(source.describe(), "acme/flows");
    assert!(desk.github.hits().is_empty());
    assert!(!desk.folder.path().join("cache").exists());
}
