//! Files that tools gave, for people: what each is, and the name that it is kept under.

use std::collections::HashSet;

use super::count;
use crate::model::ToolFile;
use crate::names::shown;
use crate::plan::Work;
use crate::run::Run;

/// The longest name of a file without its ending, in characters.
const LONGEST: usize = 60;

/// A file that a step's tool gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenFile<'r> {
    /// A name to keep it under, with no folder in it: the step's id, the file's number there, and an
    /// ending. No two files of an execution have the same.
    pub name: String,
    /// The file.
    pub file: &'r ToolFile,
}

/// The files of an execution, in the order of its steps.
pub fn given_files(run: &Run) -> Vec<GivenFile<'_>> {
    let mut given = Vec::new();
    let mut taken = HashSet::new();
    for (number, step) in run.plan().steps().iter().enumerate() {
        // What a flow within the flow gathers was given by a step of its own.
        if matches!(step.work, Work::Gather(_)) {
            continue;
        }
        let files = run.output_of(number).map(|output| output.files.as_slice()).unwrap_or_default();
        for (place, file) in files.iter().enumerate() {
            let stem = format!("{}-{}", plain(&step.id), place + 1);
            let ending = ending(&file.media_type);
            let mut name = format!("{stem}.{ending}");
            let mut more = 2;
            while !taken.insert(name.to_lowercase()) {
                name = format!("{stem}-{more}.{ending}");
                more += 1;
            }
            given.push(GivenFile { name, file });
        }
    }
    given
}

/// That there are files, where nobody asked to keep them.
pub fn files_notes(files: &[GivenFile<'_>]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let named: Vec<String> =
        files.iter().take(5).map(|given| format!("{} ({})", given.name, about_file(given.file))).collect();
    let more = if files.len() > named.len() { ", …" } else { "" };
    format!("{} from tools: {}{more}; --files FOLDER keeps them", count(files.len(), "file", "files"), named.join(", "))
}

/// A file's media type and size.
pub fn about_file(file: &ToolFile) -> String {
    format!("{}, {}", shown(&file.media_type, 60), size(file.bytes.len()))
}

/// A number of bytes as people say it.
fn size(bytes: usize) -> String {
    let scaled = |unit: usize| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..1_000 => count(bytes, "byte", "bytes"),
        1_000..1_000_000 => format!("{} kB", scaled(1_000)),
        _ => format!("{} MB", scaled(1_000_000)),
    }
}

/// A step's id as part of a file's name, on any system.
fn plain(id: &str) -> String {
    let plain: String =
        id.chars().take(LONGEST).map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let plain = plain.trim_matches('-');
    if plain.is_empty() { "step".to_owned() } else { plain.to_owned() }
}

/// The usual ending of files of a media type.
fn ending(media_type: &str) -> &'static str {
    let kind = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/mpeg" => "mp3",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/ogg" => "ogg",
        "video/mp4" => "mp4",
        "application/pdf" => "pdf",
        "application/zip" => "zip",
        "application/json" => "json",
        "text/html" => "html",
        "text/csv" => "csv",
        "text/markdown" => "md",
        kind if kind.starts_with("text/") => "txt",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_people_say_them() {
        let told = [1, 70, 999, 1_000, 8_149, 999_999, 2_340_000].map(size);
        assert_eq!(told, ["1 byte", "70 bytes", "999 bytes", "1.0 kB", "8.1 kB", "999.9 kB", "2.3 MB"]);
    }

    #[test]
    fn a_name_has_no_folder_in_it_and_a_usual_ending() {
        for (id, name) in [("shot", "shot"), ("../../x", "x"), ("a b/c", "a-b-c"), ("..", "step"), ("größe", "größe")]
        {
            assert_eq!(plain(id), name);
        }
        let endings = ["image/png", "IMAGE/PNG; q=1", "text/x-log", "application/x-thing", ""].map(ending);
        assert_eq!(endings, ["png", "png", "txt", "bin", "bin"]);
    }
}
