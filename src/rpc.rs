//! JSON-RPC as bytes: lines of a bounded length, and what can be said of a message that can't be
//! read. What messages mean is not known here.

mod digits;
mod ends;
mod halves;
mod split;
mod twice;

pub use self::digits::{exponents_back, exponents_marked};
pub use self::ends::{answered_by, id_of, request_in};
pub use self::halves::halves_replaced;
pub use self::split::{Line, Split};
pub use self::twice::repeated_key;
