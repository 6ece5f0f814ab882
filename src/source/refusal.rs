//! Why GitHub refuses a request that it understands (403): it has one status for all reasons, and tells
//! them apart in words only. What to do about each is not said here.

/// The reason for a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The token lacks a right: the one that GitHub names, for example `contents=read`.
    Permission(Option<String>),
    /// The organisation wants the token to be authorised by single sign-on, at this address where GitHub
    /// names one.
    SignOn(Option<String>),
    /// The organisation lets only some network addresses in.
    NetworkAddress,
    /// The organisation does not take tokens of this kind, or of this lifetime.
    TokenKind,
    /// The organisation has not approved the OAuth app that the token is from.
    OauthApp,
    /// The account, or the app, that the token is from is suspended.
    Suspended,
    /// The token's account is managed by an enterprise and may not leave it.
    ManagedAccount,
    /// GitHub has blocked the repository.
    Blocked,
    /// The answer is not GitHub's: something between refuses.
    NotGitHub,
    /// GitHub names no reason that is known here.
    Unnamed,
}

/// What GitHub's messages hold, in lower case, and what it means; the first one that fits counts.
///
/// Sources: GitHub's documentation on each policy, and messages that people have quoted in public.
const WORDS: [(&str, Refusal); 16] = [
    ("ip allow list", Refusal::NetworkAddress),
    ("ip address is not permitted", Refusal::NetworkAddress),
    ("saml", Refusal::SignOn(None)),
    ("single sign-on", Refusal::SignOn(None)),
    ("oauth app access restrictions", Refusal::OauthApp),
    ("forbids access via a", Refusal::TokenKind),
    ("suspended", Refusal::Suspended),
    ("account is locked", Refusal::Suspended),
    ("enterprise managed user", Refusal::ManagedAccount),
    ("repository access blocked", Refusal::Blocked),
    ("access to this repository has been disabled", Refusal::Blocked),
    ("not accessible by", Refusal::Permission(None)),
    ("permission", Refusal::Permission(None)),
    ("scope", Refusal::Permission(None)),
    ("must have", Refusal::Permission(None)),
    ("access denied", Refusal::Permission(None)),
];

impl Refusal {
    /// The reason that a message of GitHub's states.
    pub(super) fn told(message: &str) -> Self {
        let message = message.to_lowercase();
        WORDS.iter().find(|(words, _)| message.contains(words)).map_or(Self::Unnamed, |(_, reason)| reason.clone())
    }

    /// The reason in one word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Permission(_) => "permission",
            Self::SignOn(_) => "sign-on",
            Self::NetworkAddress => "network-address",
            Self::TokenKind => "token-kind",
            Self::OauthApp => "oauth-app",
            Self::Suspended => "suspended",
            Self::ManagedAccount => "managed-account",
            Self::Blocked => "blocked",
            Self::NotGitHub => "not-github",
            Self::Unnamed => "unnamed",
        }
    }

    /// What to say of it between the status and GitHub's own words.
    pub(super) fn clause(&self, authenticated: bool) -> String {
        let clause = match self {
            Self::Permission(_) | Self::Unnamed if !authenticated => "no token is set",
            Self::Unnamed => return String::new(),
            Self::Permission(Some(name)) => return format!(", the token lacks a permission ({name})"),
            Self::Permission(None) => "the token lacks a permission",
            Self::SignOn(_) => "the organisation wants single sign-on",
            Self::NetworkAddress => "the organisation lets only some network addresses in",
            Self::TokenKind => "the organisation does not take this kind of token",
            Self::OauthApp => "the organisation has not approved the OAuth app that the token is from",
            Self::Suspended => "the account or app that the token is from is suspended",
            Self::ManagedAccount => "the token's account is managed by an enterprise",
            Self::Blocked => "GitHub has blocked the repository",
            Self::NotGitHub => "and the answer is not GitHub's",
        };
        format!(", {clause}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_githubs_refusals_has_its_own_reason() {
        for (message, reason) in [
            (
                "Although you appear to have the correct authorization credentials, the `acme` organization has an IP allow list enabled, and your IP address is not permitted to access this resource.",
                "network-address",
            ),
            (
                "Although you appear to have the correct authorization credentials, the `acme` organization has enabled OAuth App access restrictions, meaning that data access to third-parties is limited.",
                "oauth-app",
            ),
            (
                "`acme` forbids access via a personal access token (classic). Please use a GitHub App, OAuth App, or a personal access token with fine-grained permissions.",
                "token-kind",
            ),
            (
                "The 'acme' organization forbids access via a fine-grained personal access tokens if the token's lifetime is greater than 366 days.",
                "token-kind",
            ),
            (
                "Resource protected by organization SAML enforcement. You must grant your Personal Access token access to this organization.",
                "sign-on",
            ),
            ("Sorry. Your account was suspended.", "suspended"),
            ("This installation has been suspended", "suspended"),
            ("Repository access blocked", "blocked"),
            ("Resource not accessible by personal access token", "permission"),
            ("Your token has not been granted the required scopes to execute this query.", "permission"),
            ("As an Enterprise Managed User, you cannot access this content", "managed-account"),
            ("Nope", "unnamed"),
            ("", "unnamed"),
        ] {
            assert_eq!(Refusal::told(message).word(), reason, "{message}");
        }
    }
}
