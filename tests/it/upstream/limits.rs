//! Bounds: answers, lists, and what is kept from messages.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tracing_subscriber::layer::SubscriberExt as _;

use super::{ENDING, Ground, call, echo, failed, no_arguments, text};
use crate::support::peer::Address;

#[tokio::test]
async fn an_answer_over_its_limit_is_refused_by_size_and_the_server_goes_on() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": ground.peer("", json!({"maxResultBytes": "1KiB"}))}));
    assert_eq!(call(&registry, "p:huge", json!({"bytes": 1_024})).await.unwrap().text.unwrap().len(), 1_024);
    let (code, message) = failed(call(&registry, "p:huge", json!({"bytes": 1_025})).await);
    assert_eq!(code, "LIMIT_EXCEEDED");
    assert_eq!(message, "p:huge: its answer has 1025 bytes, and maxResultBytes allows 1024");
    // So large that it is not even read.
    let (code, message) = failed(call(&registry, "p:huge", json!({"bytes": 20_000_000})).await);
    assert_eq!(code, "LIMIT_EXCEEDED");
    let bytes: usize = message.split(' ').find_map(|word| word.parse().ok()).unwrap();
    assert!((20_000_000..20_001_000).contains(&bytes) && message.ends_with("maxResultBytes allows 1024"), "{message}");
    assert_eq!(text(&echo(&registry, "p").await), "hi");
    assert_eq!(ground.noted("started").len(), 1);
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn over_http_an_answer_over_its_limit_is_refused_too() {
    for era in ["initialize", "discover"] {
        let address = Address::serve("").await;
        let ground = Ground::new();
        let entry = super::with(address.entry(), json!({"era": era, "maxResultBytes": 1024}));
        let registry = ground.registry(&json!({"p": entry}));
        let (code, message) = failed(call(&registry, "p:huge", json!({"bytes": 20_000_000})).await);
        assert_eq!(code, "LIMIT_EXCEEDED", "{era}: {message}");
        assert_eq!(message, "p:huge: its answer has more bytes than maxResultBytes allows, which is 1024");
        assert_eq!(failed(call(&registry, "p:huge", json!({"bytes": 2_000})).await).0, "LIMIT_EXCEEDED");
        assert_eq!(text(&echo(&registry, "p").await), "hi");
        registry.shut_down(ENDING).await;
    }
}

/// Everything that was logged, as text.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_a_server_says_is_logged_without_secrets_and_each_call_once() {
    let log = Log::default();
    let lines = log.clone();
    let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(move || lines.clone());
    let subscriber = tracing_subscriber::registry()
        .with(tracing_subscriber::filter::Targets::new().with_target("flowy", tracing::Level::DEBUG))
        .with(layer);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tracing::subscriber::with_default(subscriber, || {
        runtime.block_on(async {
            let ground = Ground::new();
            let mut entry = ground.peer("", json!({"allow": ["loud", "echo"]}));
            entry["env"]["API_KEY"] = "s3cr3t-key".into();
            let registry = ground.registry(&json!({"p": entry}));
            call(&registry, "p:loud", no_arguments()).await.unwrap();
            call(&registry, "p:echo", json!({"text": "private words"})).await.unwrap();
            assert!(call(&registry, "p:grow", no_arguments()).await.is_err());
            registry.shut_down(ENDING).await;
        });
    });
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("[redacted], and [31mred"), "{log}");
    assert!(!log.contains("s3cr3t") && !log.contains("private words"), "{log}");
    let audits: Vec<&str> = log.lines().filter(|line| line.contains("external call")).collect();
    assert_eq!(audits.len(), 3, "{log}");
    assert!(audits[1].contains("tool=p:echo") && audits[1].contains("outcome=\"ok\""), "{}", audits[1]);
    assert!(audits[2].contains("outcome=\"TOOL_NOT_ALLOWED\""), "{}", audits[2]);
    let warned = log.lines().any(|line| line.contains("WARN") && line.contains("p:grow"));
    assert!(warned && log.contains("\"bad:name\""), "{log}");
}
