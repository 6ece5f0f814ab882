//! A user's morning, with the real program.
