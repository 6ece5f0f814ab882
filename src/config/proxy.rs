//! The proxy that the environment names: whether it can be one.
//!
//! Which hosts are asked through it is the HTTP library's business, which reads the same variables and
//! takes what it can't use for nothing. That would send requests past a proxy that somebody meant.

use http::Uri;

use super::environment::Environment;

/// What is wrong with a proxy. The value is not shown: it may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProxyFault {
    /// It is no address.
    #[error("{variable} is not the address of a proxy")]
    NoAddress {
        /// The variable that counts.
        variable: &'static str,
    },
    /// Its kind of proxy is not spoken here.
    #[error("{variable} names a proxy of the kind {kind}, and only http and https are spoken")]
    OtherKind {
        /// The variable that counts.
        variable: &'static str,
        /// The kind, for example `socks5`.
        kind: String,
    },
}

impl ProxyFault {
    /// What to do about it.
    pub const HINT: &str =
        "write the proxy as http://HOST:PORT (with a login: http://USER:PASSWORD@HOST:PORT), or take the variable away";
}

/// What is wrong with the proxy for https, if one is named.
pub(super) fn fault(environment: &Environment) -> Option<ProxyFault> {
    // Of each pair the first one that is set counts, also when it is empty.
    let pairs = [["HTTPS_PROXY", "https_proxy"], ["ALL_PROXY", "all_proxy"]];
    let set = |pair: [&'static str; 2]| pair.into_iter().find_map(|name| Some((name, environment.variable(name)?)));
    let (variable, text) = pairs.into_iter().filter_map(set).find(|(_, text)| !text.is_empty())?;
    let Some(uri) = text.to_str().and_then(|text| text.parse::<Uri>().ok()).filter(|uri| uri.authority().is_some())
    else {
        return Some(ProxyFault::NoAddress { variable });
    };
    match uri.scheme_str() {
        None | Some("http" | "https") => None,
        Some(kind) if kind.starts_with("socks") => Some(ProxyFault::OtherKind { variable, kind: kind.to_owned() }),
        Some(_) => Some(ProxyFault::NoAddress { variable }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of<const N: usize>(variables: [(&str, &str); N]) -> Option<ProxyFault> {
        fault(&Environment::of(variables))
    }

    #[test]
    fn what_is_no_proxy_is_told_with_its_variable() {
        for fine in ["http://127.0.0.1:3128", "https://kim:secret@proxy.corp.example", "proxy.corp.example:8080", ""] {
            assert_eq!(fault_of([("HTTPS_PROXY", fine)]), None, "{fine}");
        }
        for bad in ["kim:secret@::nonsense::", "http://", "gopher://x:1", "http://a b", "http:///x"] {
            let told = Some(ProxyFault::NoAddress { variable: "HTTPS_PROXY" });
            assert_eq!(fault_of([("HTTPS_PROXY", bad)]), told, "{bad}");
        }
        let socks = Some(ProxyFault::OtherKind { variable: "all_proxy", kind: "socks5".to_owned() });
        assert_eq!(fault_of([("all_proxy", "socks5://127.0.0.1:1080")]), socks);
    }

    #[test]
    fn the_variable_that_counts_is_judged() {
        let good = "http://127.0.0.1:3128";
        assert_eq!(fault_of([("HTTPS_PROXY", good), ("ALL_PROXY", "::"), ("https_proxy", "::")]), None);
        let told = Some(ProxyFault::NoAddress { variable: "ALL_PROXY" });
        assert_eq!(fault_of([("HTTPS_PROXY", ""), ("https_proxy", good), ("ALL_PROXY", "::")]), told);
        assert_eq!(fault_of([("HTTP_PROXY", "::")]), None);
    }
}
