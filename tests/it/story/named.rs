//! What a person names on the command line: files that never end, pipes that nobody writes to, a full
//! disk behind stdout, and folders that are not theirs alone.

use std::fs::{File, OpenOptions, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::support::program::Sandbox;

fn pipe(at: &Path) {
    mknodat(CWD, at, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// Every way to name a file, with the file last.
const WAYS: [&[&str]; 5] = [
    &["run", "Marketing_Strategy", "--vars"],
    &["servers", "list", "--servers"],
    &["list", "--config"],
    &["validate"],
    &["run", "Marketing_Strategy", "--var-file"],
];

fn naming(way: &[&str], file: &str) -> Vec<String> {
    let file = if way.last() == Some(&"--var-file") { format!("company={file}") } else { file.to_owned() };
    way.iter().map(|word| (*word).to_owned()).chain([file]).collect()
}

#[test]
fn a_pipe_that_nobody_writes_to_is_told_and_not_waited_for() {
    let sandbox = Sandbox::new();
    pipe(&sandbox.here().join("pipe"));
    // All at once, for each of them waits a little.
    let children = WAYS.map(|way| sandbox.command(naming(way, "pipe")).spawn().unwrap());
    for (child, way) in children.into_iter().zip(WAYS) {
        let output = child.wait_with_output().unwrap();
        let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.code().is_some_and(|code| code > 0), "{way:?}");
        assert!(told.contains("nobody writes to it"), "{way:?}: {told}");
    }
}

#[test]
fn what_comes_through_a_pipe_is_read_when_it_comes() {
    let sandbox = Sandbox::new();
    let place = sandbox.here().join("pipe");
    pipe(&place);
    // Opening it waits for the program.
    let writer = std::thread::spawn(move || std::fs::write(place, r#"{"company": "A", "market": "B", "budget": "C"}"#));
    let said = sandbox.run(["run", "Marketing_Strategy", "--dry-run", "--vars", "pipe"]);
    writer.join().unwrap().unwrap();
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn a_file_without_an_end_is_too_large() {
    let sandbox = Sandbox::new();
    for way in WAYS {
        let said = sandbox.run(naming(way, "/dev/zero"));
        assert!(said.code > 0, "{way:?}");
        assert!(format!("{}{}", said.out, said.err).contains("larger than"), "{way:?}: {said:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_a_full_disk_does_not_take_is_told() {
    let sandbox = Sandbox::new();
    let lines: [&[&str]; 6] = [&["--help"], &["-h"], &["--version"], &[], &["run", "--help"], &["completions", "bash"]];
    for line in lines {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = sandbox.command(line).stdout(full).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line:?}");
        assert!(told.contains("could not be written"), "{line:?}: {told}");
    }
}

/// A user without a home, whose things go below `here`.
fn homeless() -> (Sandbox, std::path::PathBuf) {
    let sandbox = Sandbox::new();
    let temporary = sandbox.here().display().to_string();
    let folder = sandbox.here().join(format!("flowy-{}", rustix::process::geteuid().as_raw()));
    (sandbox.variable("HOME", "nowhere").variable("TMPDIR", &temporary), folder)
}

#[test]
fn a_user_without_a_home_gets_a_folder_of_their_own_in_the_temporary_one() {
    let (sandbox, folder) = homeless();
    let said = sandbox.run(["serve", "--source", "examples"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(folder.join("state/flowy.log").is_file());
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_folder_that_others_can_write_to_is_refused_and_nothing_is_put_there() {
    let (sandbox, folder) = homeless();
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
    for line in [&["list", "--source", "examples"][..], &["serve", "--source", "examples"], &["serve", "--no-such"]] {
        let said = sandbox.run(line);
        assert_eq!(said.code, 2, "{line:?}: {said:?}");
        if line != ["serve", "--no-such"] {
            assert!(said.err.contains("every user can write to it") && said.err.contains("--cache-dir"), "{said:?}");
        }
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "{line:?}");
    }
    let named = ["list", "--source", "examples", "--cache-dir", "cache", "--state-dir", "state"];
    assert_eq!(sandbox.run(named).code, 0, "what a person names is theirs to judge");
}

#[test]
fn a_folder_of_another_user_is_refused() {
    // Root alone can give a folder away.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let (sandbox, folder) = homeless();
    std::fs::create_dir(&folder).unwrap();
    File::create(folder.join("mark")).unwrap();
    std::os::unix::fs::chown(&folder, Some(65_534), Some(65_534)).unwrap();
    let said = sandbox.run(["list", "--source", "examples"]);
    assert!(said.code == 2 && said.err.contains("another user owns it"), "{said:?}");
}
