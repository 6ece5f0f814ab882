//! HTTP clients: proxies as the environment names them, TLS with ring, certificates as the system
//! has them and the built-in ones where it has none; what kept a request from being answered; and the events of
//! an answer that is a stream of them. What is asked of whom is not known here.

pub mod events;

use std::error::Error;
use std::io;
use std::iter::successors;
use std::time::Duration;

use chrono::{DateTime, Utc};
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::{Certificate, Client, ClientBuilder};
use rustls::CertificateError;

/// Makes a client of what `make` says, once or twice. One that is not to speak TLS (`encrypted` is
/// false) looks for no certificates.
///
/// # Errors
/// When what `make` says makes no client.
pub fn client(make: impl Fn() -> ClientBuilder, encrypted: bool) -> reqwest::Result<Client> {
    // Somebody else in this process may have installed a provider already; any will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    if !encrypted {
        return make().tls_certs_only([]).build();
    }
    make().build().or_else(|_| {
        tracing::info!("the system has no certificates; the built-in ones are used");
        let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS;
        make().tls_certs_only(roots.iter().filter_map(|root| Certificate::from_der(root).ok())).build()
    })
}

/// The proxy through which an address is asked, as `http://HOST:PORT`, without its login: the one that the
/// clients made here use.
pub fn proxy_of(address: &str) -> Option<String> {
    let proxy = Matcher::from_system().intercept(&address.parse().ok()?)?;
    let place = proxy.uri();
    Some(format!("{}://{}", place.scheme_str()?, place.authority()?))
}

/// The deepest cause of a failed request, in words and without the address, which may hold a secret.
pub fn cause(error: &(dyn Error + 'static)) -> String {
    let told = chain(error).last().map_or_else(String::new, ToString::to_string);
    // What the HTTP library says is meant for those who write programs with it.
    match told.as_str() {
        "connection closed before message completed" => {
            "the connection was closed before the answer was there".to_owned()
        }
        "connection was not ready" => "the connection was closed before the request was sent".to_owned(),
        _ => told,
    }
}

/// What kept a request from being answered, where somebody can do something about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebTrouble {
    /// Nobody whom this machine trusts has signed the certificate.
    Untrusted,
    /// The certificate is over or not valid yet, or this machine's clock is wrong.
    OutOfDate,
    /// The certificate is another host's.
    OtherHost,
    /// The proxy wants a login (407).
    ProxyLogin,
    /// The proxy does not let the request through.
    ProxyRefuses,
    /// Nothing answers where the proxy should be.
    ProxyUnreachable,
    /// No name server knows the host.
    UnknownHost,
    /// Anything else.
    Other,
}

impl WebTrouble {
    /// What an error is about.
    pub fn of(error: &(dyn Error + 'static)) -> Self {
        chain(error).find_map(|error| of_certificate(error).or_else(|| in_words(error))).unwrap_or(Self::Other)
    }

    /// Whether asking again can't help.
    pub fn lasts(self) -> bool {
        matches!(self, Self::Untrusted | Self::OutOfDate | Self::OtherHost | Self::ProxyLogin)
    }

    /// It in one word, if it has a name.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Untrusted => Some("certificate-untrusted"),
            Self::OutOfDate => Some("certificate-out-of-date"),
            Self::OtherHost => Some("certificate-of-another-host"),
            Self::ProxyLogin => Some("proxy-login"),
            Self::ProxyRefuses => Some("proxy-refuses"),
            Self::ProxyUnreachable => Some("proxy-unreachable"),
            Self::UnknownHost => Some("unknown-host"),
            Self::Other => None,
        }
    }
}

/// The pause that a `Retry-After` asks for, in seconds or until a time, however it is written.
pub fn retry_after(text: &str, now: DateTime<Utc>) -> Option<Duration> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let date = || DateTime::parse_from_rfc2822(text).or_else(|_| DateTime::parse_from_rfc3339(text)).ok();
    seconds.or_else(|| Some((date()?.to_utc() - now).to_std().unwrap_or_default()))
}

fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    successors(Some(error), |error: &&'e (dyn Error + 'static)| (*error).source())
}

fn of_certificate(error: &(dyn Error + 'static)) -> Option<WebTrouble> {
    // An I/O error does not name what it wraps as its source.
    if let Some(within) = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        return of_certificate(within);
    }
    let rustls::Error::InvalidCertificate(why) = error.downcast_ref()? else { return None };
    Some(match why {
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => WebTrouble::OutOfDate,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => WebTrouble::OtherHost,
        _ => WebTrouble::Untrusted,
    })
}

/// The HTTP library's own errors are no public types: what they are about is said in words alone.
fn in_words(error: &(dyn Error + 'static)) -> Option<WebTrouble> {
    let words = error.to_string();
    let tunnel = words.strip_prefix("tunnel error: ");
    match (words.as_str(), tunnel) {
        (_, Some("proxy authorization required")) => Some(WebTrouble::ProxyLogin),
        (_, Some("failed to create underlying connection")) => Some(WebTrouble::ProxyUnreachable),
        (_, Some(_)) => Some(WebTrouble::ProxyRefuses),
        ("dns error", _) => Some(WebTrouble::UnknownHost),
        _ => None,
    }
}
