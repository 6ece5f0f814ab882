//! Keeping the files that tools gave.

use std::path::Path;

use crate::app::Error;
use crate::report::human::GivenFile;

/// Writes the files into a folder, which is made where it is missing; of an earlier execution's files
/// those of the same name are replaced. Says where each is.
pub(super) fn keep(files: &[GivenFile<'_>], folder: &Path) -> Result<Vec<String>, Error> {
    let failed = |place: &Path, error: &std::io::Error| {
        Error::invalid(format!("can't write {}: {error}", place.display()))
            .next("name a folder that can be written to with --files; the result stands above")
            .detail("argument", serde_json::json!("files"))
    };
    if !files.is_empty() {
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    }
    let kept = files.iter().map(|given| {
        let place = folder.join(&given.name);
        std::fs::write(&place, &given.file.bytes).map_err(|error| failed(&place, &error))?;
        Ok(place.display().to_string())
    });
    kept.collect()
}
