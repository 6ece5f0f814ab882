//! What stands between: proxies that refuse, names that nobody knows, and folders that can't be read.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::json;

use crate::support::program::{Said, Sandbox};

const PASSWORD: &str = "pr0xyS3cretPassw0rd";

/// A program behind this proxy that asks for a catalog of a server that is not there.
fn behind(variable: &str, proxy: &str) -> Said {
    Sandbox::new()
        .variable("GITHUB_REPO_URL", "acme/flows")
        .variable("GITHUB_API_URL", "https://ghe.invalid/api/v3")
        .variable("GITHUB_PAT", "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB")
        .variable("RETRY_ATTEMPTS", "1")
        .variable(variable, proxy)
        .run(["list", "--json"])
}

/// Where a proxy is that answers so.
fn proxy(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let _ = connection.read(&mut [0; 4096]);
            let _ = connection.write_all(answer.as_bytes());
        }
    });
    place
}

#[test]
fn a_proxy_that_refuses_is_named_without_its_login() {
    for (answer, reason) in [
        ("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n", "proxy-login"),
        ("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n", "proxy-refuses"),
    ] {
        let place = proxy(answer);
        let said = behind("HTTPS_PROXY", &format!("http://kim:{PASSWORD}@{place}"));
        let error = said.json();
        assert_eq!((&error["code"], &error["details"]["reason"]), (&json!("NETWORK_ERROR"), &json!(reason)));
        assert!(error["message"].as_str().unwrap().contains(&format!("http://{place}")), "{error}");
        assert!(!format!("{}{}", said.out, said.err).contains(PASSWORD), "{said:?}");
    }
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = behind("all_proxy", &format!("http://{nobody}")).json();
    assert_eq!(error["details"]["reason"], "proxy-unreachable");
}

#[test]
fn a_proxy_that_can_t_be_one_is_not_passed_by() {
    for bad in [&format!("kim:{PASSWORD}@::nonsense::"), "gopher://127.0.0.1:1", "socks5://127.0.0.1:1080"] {
        let said = behind("HTTPS_PROXY", bad);
        assert_eq!(said.json()["code"], "INVALID_REQUEST", "{bad}");
        assert!(said.json()["message"].as_str().unwrap().contains("HTTPS_PROXY"), "{bad}");
        assert!(!format!("{}{}", said.out, said.err).contains(PASSWORD), "{said:?}");
    }
    // What needs no network needs no proxy.
    let sandbox = Sandbox::new().variable("HTTPS_PROXY", "::nonsense::");
    assert_eq!(sandbox.run(["list", "--source", "examples"]).code, 0);
}

#[test]
fn no_external_server_is_asked_past_a_proxy_that_can_t_be_one() {
    let servers =
        json!({"mcpServers": {"far": {"url": "https://far.invalid/mcp"}, "near": {"url": "http://127.0.0.1:9/mcp"}}});
    let sandbox = Sandbox::new()
        .file("servers.json", servers.to_string())
        .variable("HTTPS_PROXY", &format!("kim:{PASSWORD}@::nonsense::"));
    let said = sandbox.run(["servers", "tools", "far", "--servers", "servers.json", "--json"]);
    let error = said.json();
    assert_eq!(said.code, 1, "{said:?}");
    assert!(error["message"].as_str().unwrap().contains("HTTPS_PROXY is not the address of a proxy"), "{error}");
    assert!(error["nextStep"].as_str().unwrap().contains("http://HOST:PORT"), "{error}");
    assert!(!format!("{}{}", said.out, said.err).contains(PASSWORD), "{said:?}");
    // What is asked without TLS is not meant to go through it.
    let said = sandbox.run(["servers", "tools", "near", "--servers", "servers.json", "--json"]);
    assert!(!said.json()["message"].as_str().unwrap().contains("HTTPS_PROXY"), "{said:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn certificates_that_can_t_be_read_are_named_where_they_are_needed() {
    for (variable, value, why) in [
        ("SSL_CERT_FILE", "/nowhere/ca.pem", "does not exist"),
        ("SSL_CERT_FILE", "/", "directory"),
        ("SSL_CERT_FILE", "/proc/self/status", "no certificate"),
        ("SSL_CERT_DIR", "/nowhere/certs:/nowhere/more", "does not exist"),
    ] {
        let error = behind(variable, value).json();
        let message = error["message"].as_str().unwrap();
        let path = value.split(':').next().unwrap();
        assert_eq!(error["code"], "INVALID_REQUEST", "{message}");
        assert!(message.contains(&format!("{variable} names {path}, which can't be used: ")), "{message}");
        assert!(message.contains(why) && error["nextStep"].as_str().unwrap().contains("PEM"), "{error}");
        // What needs no network needs no certificates.
        let sandbox = Sandbox::new().variable(variable, value);
        assert_eq!(sandbox.run(["list", "--source", "examples"]).code, 0);
    }
    // A list of folders may name some that are not there.
    assert_eq!(behind("SSL_CERT_DIR", "/nowhere/certs:/etc").json()["details"]["reason"], "unknown-host");
}

#[test]
fn a_name_that_nobody_knows_is_told_as_one() {
    let error = behind("NO_PROXY", "*").json();
    assert_eq!((&error["code"], &error["details"]["reason"]), (&json!("NETWORK_ERROR"), &json!("unknown-host")));
}

#[cfg(unix)]
#[test]
fn a_folder_that_can_t_be_read_fails_the_check_and_is_named() {
    let sandbox = Sandbox::new().file("flows/a.json", "{\"nodes\": [], \"edges\": []}");
    std::os::unix::fs::symlink("closed", sandbox.here().join("flows/closed")).unwrap();
    let said = sandbox.run(["validate", "--json"]);
    assert_eq!(said.code, 1, "{said:?}");
    let listed = sandbox.run(["list", "--json"]).json();
    let errors = listed["errors"].as_array().unwrap();
    assert!(errors.iter().any(|error| error["file"] == "flows/closed"), "{listed}");
}
