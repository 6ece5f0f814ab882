//! What resources hold that no tool answers in the same shape.

use serde_json::{Map, Value, json};

use super::listing::origin;
use crate::app::{FlowEntry, FlowNames};

/// `flow://list`: names, and where they come from. `fits` says how much may be shown; what is cut
/// off is counted and says how to get it.
pub fn flow_names(found: &FlowNames, fits: &dyn Fn(&Value) -> bool) -> Value {
    let all = found.names.len();
    let mut shown = all;
    loop {
        let mut object = Map::new();
        object.insert("flows".to_owned(), json!(found.names.get(..shown).unwrap_or_default()));
        object.insert("total".to_owned(), json!(all));
        object.insert("returned".to_owned(), json!(shown));
        if shown < all {
            object.insert("nextStep".to_owned(), json!("flows_list pages them all, and narrows by category"));
        }
        origin(&mut object, &found.origin);
        let value = Value::Object(object);
        if shown == 0 || fits(&value) {
            return value;
        }
        shown /= 2;
    }
}

/// `flow://metadata/{name}`: the entry of the detailed listing, and where it comes from.
pub fn flow_entry(found: &FlowEntry) -> Value {
    let mut object = match json!(found.entry) {
        Value::Object(object) => object,
        other => Map::from_iter([("flow".to_owned(), other)]),
    };
    origin(&mut object, &found.origin);
    object.remove("revision");
    Value::Object(object)
}
