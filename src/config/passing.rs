//! Settings as arguments, for a program that is started later by somebody else: it will stand in
//! another folder and see another environment.
//!
//! A token is never among them.

use super::Settings;
use super::environment::Environment;
use super::exposing::prefix_word;

/// What can be passed on as arguments, and what cannot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    /// Flags and their values, for every setting that is not what it would be anyway.
    pub arguments: Vec<String>,
    /// The keys of `flowy.toml` for the settings that are set but have no flag.
    pub left: Vec<&'static str>,
}

impl Settings {
    /// What another start of this program needs in order to see these settings.
    ///
    /// The source is left out: only its reader knows whether it is a folder, which would have to
    /// be named by an absolute path.
    pub fn passed_on(&self, environment: &Environment) -> Passed {
        let usual = Self::defaults(environment);
        let mut arguments = Vec::new();
        let mut pass = |flag: &str, value: Option<String>| {
            if let Some(value) = value {
                arguments.extend([flag.to_owned(), value]);
            }
        };
        pass("--ref", self.git_ref.as_ref().map(ToString::to_string));
        pass("--api-url", differing(&self.api_url, &usual.api_url).cloned());
        pass("--cache-ttl-ms", differing(&self.cache_ttl, &usual.cache_ttl).map(|ttl| ttl.as_millis().to_string()));
        pass("--max-file-size-bytes", differing(&self.max_file_size, &usual.max_file_size).map(u64::to_string));
        pass("--retry-attempts", differing(&self.retry_attempts, &usual.retry_attempts).map(u32::to_string));
        pass("--expose", differing(&self.expose, &usual.expose).map(|expose| expose.word().to_owned()));
        pass("--expose-list", differing(&self.expose_list, &usual.expose_list).map(ToString::to_string));
        let prefix = differing(&self.expose_prefix, &usual.expose_prefix);
        pass("--expose-prefix", prefix.map(|prefix| prefix_word(prefix).to_owned()));
        pass("--log-level", differing(&self.log_level, &usual.log_level).cloned());
        pass("--cache-dir", differing(&self.cache_dir, &usual.cache_dir).map(|folder| folder.display().to_string()));
        pass("--state-dir", differing(&self.state_dir, &usual.state_dir).map(|folder| folder.display().to_string()));
        pass("--servers", self.servers.as_ref().map(|file| file.display().to_string()));
        arguments.extend(self.only_exposed.then(|| "--only-exposed".to_owned()));
        arguments.extend(self.lenient.then(|| "--lenient".to_owned()));
        arguments.extend(self.allow_any_commit.then(|| "--allow-any-commit".to_owned()));
        arguments.extend(self.no_usage.then(|| "--no-usage".to_owned()));

        let left = [
            ("max_concurrent_requests", self.max_concurrent_requests != usual.max_concurrent_requests),
            ("max_prompts", self.max_prompts != usual.max_prompts),
            ("max_exposed", self.max_exposed != usual.max_exposed),
            ("server_name", self.server_name != usual.server_name),
            ("fetch_deadline_ms", self.fetch_deadline != usual.fetch_deadline),
            ("request_timeout_ms", self.request_timeout != usual.request_timeout),
        ];
        Passed { arguments, left: left.into_iter().filter_map(|(key, set)| set.then_some(key)).collect() }
    }
}

fn differing<'a, T: PartialEq>(value: &'a T, usual: &T) -> Option<&'a T> {
    (value != usual).then_some(value)
}
