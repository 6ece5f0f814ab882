//! Bytes and snapshots by key and age: what keeps a second question from being asked.
//!
//! Five parts: [`Lifetime`] (how long something holds), [`Shelf`] (values with an age, stale copies,
//! back-off), [`Flights`] (one fetch per key, however many wait), [`Folder`] (files on disk that
//! concurrent processes may share, read whole or by [`RecordFile`], and locks) and [`Objects`] (git blobs
//! by their id, checked on every path). What the bytes mean, and where they
//! come from, is not known here.

mod flights;
mod folder;
mod objects;
mod record_file;
mod shelf;
mod span;

pub use flights::Flights;
pub use folder::{Folder, Lock, Locking};
pub use objects::{Kept, Objects, blob_id};
pub use record_file::RecordFile;
pub(crate) use shelf::age;
pub use shelf::{Failure, Found, Loaded, Shelf, Stale};
pub use span::Lifetime;
