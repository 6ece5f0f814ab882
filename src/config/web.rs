//! What the environment names for the web: a proxy, and certificates to trust.
//!
//! Which hosts are asked through the proxy, and how certificates are used, is the HTTP library's business, which reads
//! the same variables and takes what it can't use for nothing. That would send requests past a proxy that somebody
//! meant, or trust others than somebody named.

use std::path::{Path, PathBuf};

use http::Uri;

use super::environment::{Environment, Platform};
use super::error::system_says;
use crate::files::read_named;

/// The largest file of certificates that is read, in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;
/// How each certificate of such a file begins.
const BEGINS: &[u8] = b"-----BEGIN ";

/// What is wrong with what the environment names. The value of a proxy is not shown: it may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebFault {
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
    /// The certificates to trust can't be read.
    #[error("{variable} names {}, which can't be used: {why}", .path.display())]
    Certificates {
        /// The variable.
        variable: &'static str,
        /// The file or the folder.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

impl WebFault {
    /// Whether it is about certificates, and not about a proxy.
    pub fn is_of_certificates(&self) -> bool {
        matches!(self, Self::Certificates { .. })
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoAddress { .. } | Self::OtherKind { .. } => {
                "write the proxy as http://HOST:PORT (with a login: http://USER:PASSWORD@HOST:PORT), or take the variable away"
            }
            Self::Certificates { .. } => {
                "name what can be read and holds certificates (PEM), or take the variable away: the system's are used then"
            }
        }
    }
}

/// What is wrong with what is named for the web, if anything is.
pub(super) fn fault(environment: &Environment) -> Option<WebFault> {
    of_proxy(environment).or_else(|| of_certificates(environment))
}

/// What is wrong with the certificates to trust, where the HTTP library reads these variables.
fn of_certificates(environment: &Environment) -> Option<WebFault> {
    let (file, folders) = (environment.variable("SSL_CERT_FILE"), environment.variable("SSL_CERT_DIR"));
    if environment.platform() != Platform::Unix {
        return None;
    }
    let fault = |variable, path: &Path, why| WebFault::Certificates { variable, path: path.to_owned(), why };
    let here = environment.current_folder();
    if let Some(path) = file.filter(|path| !path.is_empty()).map(|path| here.join(path)) {
        let why = match read_named(&path, LARGEST) {
            Err(error) => Some(system_says(&error)),
            Ok(bytes) if !bytes.windows(BEGINS.len()).any(|bytes| bytes == BEGINS) => {
                Some("it holds no certificate (PEM)".to_owned())
            }
            Ok(_) => None,
        };
        if let Some(why) = why {
            return Some(fault("SSL_CERT_FILE", &path, why));
        }
    }
    let folders: Vec<PathBuf> = folders.map(|paths| std::env::split_paths(paths).collect()).unwrap_or_default();
    let folders: Vec<PathBuf> =
        folders.into_iter().filter(|folder| !folder.as_os_str().is_empty()).map(|folder| here.join(folder)).collect();
    let read = |folder: &PathBuf| std::fs::read_dir(folder).err();
    // Systems list folders that are not everywhere.
    let faults: Vec<_> = folders.iter().filter_map(|folder| Some((folder, read(folder)?))).collect();
    let (folder, error) = faults.first().filter(|_| faults.len() == folders.len())?;
    Some(fault("SSL_CERT_DIR", folder, system_says(error)))
}

/// What is wrong with the proxy for https, if one is named.
fn of_proxy(environment: &Environment) -> Option<WebFault> {
    // Of each pair the first one that is set counts, also when it is empty.
    let pairs = [["HTTPS_PROXY", "https_proxy"], ["ALL_PROXY", "all_proxy"]];
    let set = |pair: [&'static str; 2]| pair.into_iter().find_map(|name| Some((name, environment.variable(name)?)));
    let (variable, text) = pairs.into_iter().filter_map(set).find(|(_, text)| !text.is_empty())?;
    let Some(uri) = text.to_str().and_then(|text| text.parse::<Uri>().ok()).filter(|uri| uri.authority().is_some())
    else {
        return Some(WebFault::NoAddress { variable });
    };
    match uri.scheme_str() {
        None | Some("http" | "https") => None,
        Some(kind) if kind.starts_with("socks") => Some(WebFault::OtherKind { variable, kind: kind.to_owned() }),
        Some(_) => Some(WebFault::NoAddress { variable }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of<const N: usize>(variables: [(&str, &str); N]) -> Option<WebFault> {
        fault(&Environment::of(variables))
    }

    #[test]
    fn what_is_no_proxy_is_told_with_its_variable() {
        for fine in ["http://127.0.0.1:3128", "https://kim:secret@proxy.corp.example", "proxy.corp.example:8080", ""] {
            assert_eq!(fault_of([("HTTPS_PROXY", fine)]), None, "{fine}");
        }
        for bad in ["kim:secret@::nonsense::", "http://", "gopher://x:1", "http://a b", "http:///x"] {
            let told = Some(WebFault::NoAddress { variable: "HTTPS_PROXY" });
            assert_eq!(fault_of([("HTTPS_PROXY", bad)]), told, "{bad}");
        }
        let socks = Some(WebFault::OtherKind { variable: "all_proxy", kind: "socks5".to_owned() });
        assert_eq!(fault_of([("all_proxy", "socks5://127.0.0.1:1080")]), socks);
    }

    #[test]
    fn the_variable_that_counts_is_judged() {
        let good = "http://127.0.0.1:3128";
        assert_eq!(fault_of([("HTTPS_PROXY", good), ("ALL_PROXY", "::"), ("https_proxy", "::")]), None);
        let told = Some(WebFault::NoAddress { variable: "ALL_PROXY" });
        assert_eq!(fault_of([("HTTPS_PROXY", ""), ("https_proxy", good), ("ALL_PROXY", "::")]), told);
        assert_eq!(fault_of([("HTTP_PROXY", "::")]), None);
    }
}
