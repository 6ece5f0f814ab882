//! The guard: a program of ours that starts another one and sees to it that nothing of it is left
//! behind, neither when it ends nor when we do, however that happens.
//!
//! Whoever starts a program through the guard makes the guard the leader of a process group of its
//! own. The program inherits the guard's streams, so nothing passes through here and no time is
//! lost. The guard watches the other end of its standard error: when nobody is left to read it, its
//! starter is gone, and the group is ended. What leaves the group by itself is on its own.
//!
//! What the programs are for is not known here, and no settings, no threads of a runtime and no
//! arguments of a command line are looked at before the guard has begun.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The word that makes our program a guard, in the place of a command.
const WORD: &str = "__guard";

/// What a guard's words about a program that it could not start begin with.
pub const COULD_NOT_START: &str = "flowy could not start it: ";

/// No system has more signals.
const MOST_SIGNALS: i32 = 64;

/// The signal that ended a program: its own, or the one that a guard or a shell passes on in its
/// code, which is 128 and the signal's number.
pub fn signal_of(status: std::process::ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Some(signal);
    }
    status.code().map(|code| code - 128).filter(|signal| (1..=MOST_SIGNALS).contains(signal))
}

/// Watches over a program, where the arguments of this process ask for that: its exit code is that
/// of the program. `None` where they ask for something else.
pub fn main() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != WORD {
        return None;
    }
    let program = arguments.next().unwrap_or_default();
    Some(watch::over(&program, arguments.collect()))
}

/// A command that starts `program` below a guard, which `guard` is: a path of our own program.
/// Arguments and surroundings are given to it as if it were the program.
pub fn over(guard: &Path, program: OsString) -> Command {
    let mut command = Command::new(guard);
    // The path may be one that means "this program" and nothing to who lists processes.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::arg0(&mut command, "flowy");
    command.arg(WORD).arg(program);
    command
}

/// Ends the process group that a process leads: politely, so that it can tidy up.
pub fn ask_group_to_end(leader: u32) {
    watch::signal(leader, watch::Ending::Asked);
}

/// Ends the process group that a process leads, at once.
pub fn end_group(leader: u32) {
    watch::signal(leader, watch::Ending::Forced);
}

#[cfg(unix)]
mod watch {
    use std::ffi::{OsStr, OsString};
    use std::fs::File;
    use std::io::{self, Write as _};
    use std::os::fd::AsFd as _;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Child, Command, ExitCode, ExitStatus};
    use std::thread;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;
    use rustix::process::{Pid, Signal, getpid, getppid, kill_process, kill_process_group, setpgid};
    use rustix::stdio::{dup2_stdin, dup2_stdout};

    /// How long a program that is asked to end may take.
    const GRACE: Duration = Duration::from_secs(2);
    /// A thread that waits needs no more.
    const STACK: usize = 64 << 10;
    /// What shells say of a program that is not there, and of one that can't be started.
    const NOT_FOUND: u8 = 127;
    const NOT_STARTED: u8 = 126;

    #[derive(Clone, Copy)]
    pub(super) enum Ending {
        Asked,
        Forced,
    }

    pub(super) fn signal(leader: u32, ending: Ending) {
        let signal = match ending {
            Ending::Asked => Signal::TERM,
            Ending::Forced => Signal::KILL,
        };
        if let Some(leader) = pid(leader) {
            // A group that is gone is as it should be.
            let _ = kill_process_group(leader, signal);
        }
    }

    fn pid(number: u32) -> Option<Pid> {
        // 1 would be the system's own, which no program of ours is.
        i32::try_from(number).ok().filter(|number| *number > 1).and_then(Pid::from_raw)
    }

    pub(super) fn over(program: &OsStr, arguments: Vec<OsString>) -> ExitCode {
        let mut child = match Command::new(program).args(arguments).spawn() {
            Ok(child) => child,
            Err(error) => {
                let told = error.to_string();
                let why = told.split(" (os error").next().unwrap_or_default();
                let _ = writeln!(io::stderr(), "{}{why}", super::COULD_NOT_START);
                let missing = error.kind() == io::ErrorKind::NotFound;
                return ExitCode::from(if missing { NOT_FOUND } else { NOT_STARTED });
            }
        };
        // With ours open, nobody would notice that the program has closed its own.
        if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
            let _ = (dup2_stdin(&nothing), dup2_stdout(&nothing));
        }
        let group = getpid();
        let watched = pid(child.id());
        let watching = thread::Builder::new().stack_size(STACK).spawn(move || end_when_unread(watched, group));
        let status = match watching {
            Ok(_) => child.wait(),
            Err(error) => unwatched(&mut child, error),
        };
        leave_and_end(group);
        ExitCode::from(status.map_or(NOT_STARTED, code))
    }

    /// Without anybody to watch, the program must not run.
    fn unwatched(child: &mut Child, error: io::Error) -> io::Result<ExitStatus> {
        let _ = child.kill();
        child.wait()?;
        Err(error)
    }

    /// Waits until nobody reads our standard error any more, then ends the group, ourselves with it.
    fn end_when_unread(watched: Option<Pid>, group: Pid) {
        let stream = io::stderr();
        let gone = PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL;
        loop {
            // Nothing is asked for: these three are told unasked.
            let mut streams = [PollFd::from_borrowed_fd(stream.as_fd(), PollFlags::empty())];
            match poll(&mut streams, None) {
                Ok(_) if streams.iter().any(|stream| stream.revents().intersects(gone)) => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        if let Some(watched) = watched {
            let _ = kill_process(watched, Signal::TERM);
        }
        thread::sleep(GRACE);
        let _ = kill_process_group(group, Signal::KILL);
    }

    /// Ends what is left of the group. To outlive that with the program's exit code, the guard goes
    /// over to its starter's group; where it can't, it ends with the rest.
    fn leave_and_end(group: Pid) {
        if let Some(theirs) = getppid().and_then(group_of) {
            let _ = setpgid(None, Some(theirs));
        }
        let _ = kill_process_group(group, Signal::KILL);
    }

    /// The group of a process. In a container that may be one from outside, which has no number
    /// here: the system says 0 then, and `getpgid` has no way to hand that on.
    #[cfg(target_os = "linux")]
    fn group_of(process: Pid) -> Option<Pid> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
        // The name stands in brackets and may hold anything; behind it come state, parent, group.
        let (_, behind) = stat.rsplit_once(')')?;
        behind.split_ascii_whitespace().nth(2)?.parse().ok().and_then(Pid::from_raw)
    }

    #[cfg(not(target_os = "linux"))]
    fn group_of(process: Pid) -> Option<Pid> {
        rustix::process::getpgid(Some(process)).ok()
    }

    fn code(status: ExitStatus) -> u8 {
        let number = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
        u8::try_from(number).unwrap_or(1)
    }
}

/// Where there are no process groups, there is nothing to guard: a program is ended alone.
#[cfg(not(unix))]
mod watch {
    use std::ffi::{OsStr, OsString};
    use std::process::{Command, ExitCode};

    #[derive(Clone, Copy)]
    pub(super) enum Ending {
        Asked,
        Forced,
    }

    pub(super) fn signal(_leader: u32, _ending: Ending) {}

    pub(super) fn over(program: &OsStr, arguments: Vec<OsString>) -> ExitCode {
        let status = Command::new(program).args(arguments).status();
        let code = status.ok().and_then(|status| status.code()).unwrap_or(126);
        ExitCode::from(u8::try_from(code).unwrap_or(1))
    }
}
