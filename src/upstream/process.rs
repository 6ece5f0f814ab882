//! A server that is a program: started with what the operator gave it and nothing else, heard on
//! its standard error, and ended with all that it started. What it says by the protocol is not
//! looked at here; lines between those are heard, too.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::trouble::{LONGEST_ADDRESS, clean};
use crate::config::{Program, Secret, redact};
use crate::guard;
use crate::lock::lock;
use crate::names::{quoted, shown};

/// The longest line of a server's that is logged, in characters.
const LONGEST_LINE: usize = 2_000;
/// How many bytes of a line are kept at all.
const LONGEST_BYTES: usize = 8 << 10;
/// How many of the last lines are kept for a message.
const LAST_LINES: usize = 5;
/// How long a program that was told to end politely is waited for.
const POLITE: Duration = Duration::from_millis(500);

/// A running program.
pub(super) struct Process {
    /// What it is, as the operator wrote it.
    pub(super) command: OsString,
    child: Child,
    leader: Option<u32>,
    guarded: bool,
    said: Arc<Said>,
    hearing: Option<JoinHandle<()>>,
}

/// What a program said outside of the protocol.
#[derive(Default)]
pub(super) struct Said(Mutex<Words>);

#[derive(Default)]
struct Words {
    /// The last lines of its standard error.
    last: VecDeque<String>,
    /// How many of them came before what is going on now began.
    old: usize,
    /// The first line of its standard output that is not the protocol's.
    stray: Option<String>,
}

impl Said {
    /// Something begins: what was said before does not tell how it goes.
    pub(super) fn begin_anew(&self) {
        let mut words = lock(&self.0);
        words.old = words.last.len();
        words.stray = None;
    }

    /// What it wrote since something began, where an answer is due: a clause for a message, if there is
    /// anything. A line with an address may be where somebody has to sign in.
    pub(super) fn instead(&self, secrets: &[Secret]) -> String {
        let words = lock(&self.0);
        let mut lines = words.last.iter().skip(words.old);
        if let Some(stray) = &words.stray {
            return format!("; what it writes is not the protocol: {}", quoted(&clean(stray, secrets)));
        }
        let line = lines.clone().find(|line| line.contains("://")).or_else(|| lines.next_back());
        let told = line.map(|line| format!("; it wrote {}", quoted(&shown(&redact(line, secrets), LONGEST_ADDRESS))));
        told.unwrap_or_default()
    }
}

impl Process {
    /// Starts a program, below a guard where there is one; with the streams to speak to it by.
    pub(super) fn start(
        alias: &str,
        program: &Program,
        guard: Option<&Path>,
        secrets: Arc<[Secret]>,
    ) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        if !program.cwd.is_dir() {
            let why = format!("the folder {} is not there", quoted(&program.cwd.display().to_string()));
            return Err(io::Error::new(io::ErrorKind::NotADirectory, why));
        }
        let guard = guard.filter(|_| cfg!(unix));
        let (mut child, guarded) = match guard.map(|guard| spawn(program, Some(guard))) {
            Some(Ok(child)) => (child, true),
            // Our own program may have been moved away since it was started; the server is not.
            Some(Err(error)) => {
                tracing::warn!(server = alias, %error, "no guard can be started; what this server starts may outlive us");
                (spawn(program, None)?, false)
            }
            None => (spawn(program, None)?, false),
        };
        let leader = child.id();
        let (Some(out), Some(input), Some(error)) = (child.stdout.take(), child.stdin.take(), child.stderr.take())
        else {
            return Err(io::Error::other("it has no streams"));
        };
        let said = Arc::new(Said::default());
        let hearing = tokio::spawn(hear(error, alias.to_owned(), secrets, said.clone()));
        let command = program.command.clone();
        Ok((Self { command, child, leader, guarded, said, hearing: Some(hearing) }, out, input))
    }

    /// What it said.
    pub(super) fn said(&self) -> Arc<Said> {
        self.said.clone()
    }

    /// Hears of lines of its standard output that are not the protocol's.
    pub(super) fn stray(&self, alias: &str, secrets: &Arc<[Secret]>) -> impl Fn(&[u8]) + Send + use<> {
        let (alias, secrets, said) = (alias.to_owned(), secrets.clone(), self.said.clone());
        move |line| {
            let Some(text) = readable(line, &secrets) else { return };
            tracing::debug!(server = alias, "says where only the protocol should be: {text}");
            lock(&said.0).stray.get_or_insert(text);
        }
    }

    /// Waits for the program to end by itself, for a while.
    pub(super) async fn ended_within(&mut self, grace: Duration) -> Option<ExitStatus> {
        tokio::time::timeout(grace, self.child.wait()).await.ok().and_then(Result::ok)
    }

    /// Ends the program and all that it started. Its input is closed by now, which tells it to end;
    /// after `grace` it is asked to, and then it is made to.
    pub(super) async fn end(mut self, grace: Duration) -> Option<ExitStatus> {
        let mut status = self.ended_within(grace).await;
        if status.is_none() {
            if self.guarded {
                // The guard notices, and asks.
                self.stop_hearing();
            } else if let Some(leader) = self.leader {
                guard::ask_group_to_end(leader);
            }
            status = self.ended_within(POLITE).await;
        }
        if let Some(leader) = self.leader {
            guard::end_group(leader);
        }
        if status.is_none() {
            let _ = self.child.start_kill();
            status = self.ended_within(POLITE).await;
        }
        self.leader = None;
        self.finish_hearing().await;
        status
    }

    /// The last thing it said, for a message; without secrets. What was said before the last call
    /// began counts only where it names a fault: a banner is no reason to end.
    pub(super) async fn last_words(&mut self, secrets: &[Secret]) -> Option<String> {
        self.finish_hearing().await;
        let said = lock(&self.said.0);
        // The first of the last lines that names a fault; npm and Node say more afterwards.
        let telling = said.last.iter().find(|line| line.to_ascii_lowercase().contains("error"));
        let last = telling.or_else(|| said.last.iter().skip(said.old).next_back()).or(said.stray.as_ref());
        last.map(|line| clean(line, secrets))
    }

    /// Hears the rest of what an ended program said.
    async fn finish_hearing(&mut self) {
        if let Some(mut hearing) = self.hearing.take()
            && tokio::time::timeout(Duration::from_millis(200), &mut hearing).await.is_err()
        {
            hearing.abort();
        }
    }

    fn stop_hearing(&mut self) {
        if let Some(hearing) = self.hearing.take() {
            hearing.abort();
        }
    }
}

impl Drop for Process {
    /// Somebody gave up in the middle: nothing of it may stay.
    fn drop(&mut self) {
        self.stop_hearing();
        if let Some(leader) = self.leader.take() {
            guard::end_group(leader);
        }
    }
}

/// Starts a program as the leader of a process group, or a guard that starts it.
fn spawn(program: &Program, guard: Option<&Path>) -> io::Result<Child> {
    let mut command = match guard {
        Some(guard) => guard::over(guard, program.command.clone()),
        None => std::process::Command::new(&program.command),
    };
    command.args(&program.args).env_clear().envs(&program.env).current_dir(&program.cwd);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut command = Command::from(command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Where a group can be ended, that is done; ending the guard alone would leave the rest.
    command.kill_on_drop(cfg!(not(unix)));
    command.spawn()
}

/// Reads a program's standard error to its end, line by line, into our log.
async fn hear(mut stream: impl AsyncRead + Unpin, alias: String, secrets: Arc<[Secret]>, said: Arc<Said>) {
    let mut line: Vec<u8> = Vec::new();
    let mut bytes = vec![0_u8; 4 << 10];
    loop {
        let read = stream.read(&mut bytes).await.unwrap_or(0);
        let Some(new) = bytes.get(..read).filter(|new| !new.is_empty()) else { break };
        let mut parts = new.split(|byte| *byte == b'\n');
        if let Some(first) = parts.next() {
            add(&mut line, first);
        }
        for part in parts {
            note(&line, &alias, &secrets, &said);
            line.clear();
            add(&mut line, part);
        }
    }
    note(&line, &alias, &secrets, &said);
}

fn add(line: &mut Vec<u8>, part: &[u8]) {
    line.extend(part.iter().take(LONGEST_BYTES.saturating_sub(line.len())));
}

fn note(line: &[u8], alias: &str, secrets: &[Secret], said: &Said) {
    let Some(text) = readable(line, secrets) else { return };
    tracing::debug!(server = alias, "says: {text}");
    let mut words = lock(&said.0);
    if words.last.len() >= LAST_LINES {
        words.last.pop_front();
        words.old = words.old.saturating_sub(1);
    }
    words.last.push_back(text);
}

/// A line as it may be shown; nothing for a blank one.
fn readable(line: &[u8], secrets: &[Secret]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    let text = shown(&redact(text.trim_end(), secrets), LONGEST_LINE);
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_program_says_is_cut_kept_and_without_secrets() {
        let said = Arc::new(Said::default());
        let secrets: Arc<[Secret]> = Arc::from([Secret::new("s3cr3t-key".to_owned())]);
        let text = format!("one\n\ntwo s3cr3t-key \u{1b}[31m\n{}\nlast without end", "x".repeat(20_000));
        hear(text.as_bytes(), "web".to_owned(), secrets, said.clone()).await;
        let lines: Vec<String> = lock(&said.0).last.iter().cloned().collect();
        assert_eq!((lines.len(), lines[1].as_str(), lines[3].as_str()), (4, "two [redacted] [31m", "last without end"));
        assert_eq!(lines[2].chars().count(), LONGEST_LINE + 1);
    }
}
