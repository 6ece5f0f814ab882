//! HTTP clients: proxies as the environment names them, TLS with ring, certificates as the system
//! has them and the built-in ones where it has none. What is asked of whom is not known here.

use reqwest::{Certificate, Client, ClientBuilder};

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

/// The deepest cause of a failed request, in words and without the address, which may hold a secret.
pub fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}
