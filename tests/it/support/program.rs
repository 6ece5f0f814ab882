//! The real program, in folders of its own, with an empty environment.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A folder to stand in, a home, and nothing in the environment.
pub(crate) struct Sandbox {
    root: TempDir,
    variables: Vec<(String, String)>,
    stdin: Vec<u8>,
}

/// What the program said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    /// All that a person sees, and the exit code, for a snapshot.
    pub(crate) fn whole(&self) -> String {
        format!("exit code {}\n--- stdout\n{}--- stderr\n{}", self.code, self.out, self.err)
    }
}

impl Sandbox {
    /// Empty folders.
    pub(crate) fn new() -> Self {
        let root = TempDir::new().unwrap();
        fs::create_dir(root.path().join("home")).unwrap();
        fs::create_dir(root.path().join("here")).unwrap();
        Self { root, variables: Vec::new(), stdin: Vec::new() }
    }

    /// With a file in the current folder.
    pub(crate) fn file(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.here().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// With a variable in the environment.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With something to read on stdin.
    pub(crate) fn stdin(mut self, text: impl AsRef<[u8]>) -> Self {
        self.stdin = text.as_ref().to_vec();
        self
    }

    /// The folder that the program stands in, as the system names it.
    pub(crate) fn here(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("here")
    }

    /// The user's folder.
    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("home")
    }

    /// Runs the program to its end.
    pub(crate) fn run<I, S>(&self, arguments: I) -> Said
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let mut child = self.command(arguments).spawn().unwrap();
        let stdin = self.stdin.clone();
        let mut input = child.stdin.take().unwrap();
        let writing = std::thread::spawn(move || {
            // A program that does not read its input is no fault of the test.
            let _ = input.write_all(&stdin);
        });
        let output = child.wait_with_output().unwrap();
        writing.join().unwrap();
        Said {
            code: output.status.code().unwrap(),
            out: self.placeless(&output.stdout),
            err: self.placeless(&output.stderr),
        }
    }

    /// Runs the program to its end on a terminal of so many columns, and returns what appears there.
    #[cfg(unix)]
    pub(crate) fn on_terminal<I, S>(&self, columns: u16, arguments: I) -> String
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.typing(columns, arguments, None).1
    }

    /// The same with somebody who types there; the exit code, and what appears.
    #[cfg(unix)]
    pub(crate) fn typing<I, S>(&self, columns: u16, arguments: I, typed: Option<&str>) -> (i32, String)
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        use std::io::Read as _;

        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        use rustix::termios::{Winsize, tcsetwinsize};

        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        tcsetwinsize(&terminal, Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let screen = std::fs::File::options().read(true).write(true).open(name).unwrap();
        let mut command = self.command(arguments);
        command.env("TERM", "xterm").stdin(typed.map_or_else(Stdio::null, |_| screen.try_clone().unwrap().into()));
        command.stdout(screen.try_clone().unwrap()).stderr(screen);
        let mut child = command.spawn().unwrap();
        // It holds our ends of the screen, which has to end with the program.
        drop(command);
        let mut terminal = std::fs::File::from(terminal);
        terminal.write_all(typed.unwrap_or_default().as_bytes()).unwrap();
        let mut bytes = Vec::new();
        // A terminal that nobody writes to any more is told as an error.
        let _ = terminal.read_to_end(&mut bytes);
        let code = child.wait().unwrap().code().unwrap();
        (code, self.placeless(&bytes).replace("\r\n", "\n"))
    }

    /// The program, ready to start, with all three streams piped.
    pub(crate) fn command<I, S>(&self, arguments: I) -> Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowy"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.home())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.here())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Text without the folders of this test.
    fn placeless(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_flowy")).display().to_string();
        text.replace(&self.here().display().to_string(), "[HERE]")
            .replace(&self.home().display().to_string(), "[HOME]")
            .replace(&program, "[PROGRAM]")
    }
}

impl Said {
    /// What stdout holds, as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }
}

/// The files of this repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// One step works, one has no template, one hangs on it, one does not.
pub(crate) const HALF: &str = r#"{"metadata":{"name":"Half","version":"1.0.0"},
"nodes":[{"id":"in","type":"input","data":{"variables":["topic"]}},
{"id":"first","type":"template","data":{"label":"First","template":"About {topic}"}},
{"id":"second","type":"template","data":{"label":"Second","selectedTemplateId":"Gone"}},
{"id":"third","type":"template","data":{"label":"Third","template":"then {second_result}"}},
{"id":"side","type":"template","data":{"label":"Side","template":"side {first_result}"}}],
"edges":[{"source":"in","target":"first"},{"source":"first","target":"second"},{"source":"second","target":"third"},{"source":"first","target":"side"}]}
"#;
