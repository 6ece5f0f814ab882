//! A key that stands twice in one object: a parser of JSON takes the last, and the sender is never told.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// The first key that stands twice in one object of a message, at any depth.
pub fn repeated_key(message: &[u8]) -> Option<String> {
    let mut repeated = None;
    let mut reader = serde_json::Deserializer::from_slice(message);
    // It ends where a key repeats; what is no JSON is told elsewhere.
    let _ = Keys(&mut repeated).deserialize(&mut reader);
    repeated
}

/// Looks at the keys of a value, and keeps none of its values.
struct Keys<'a>(&'a mut Option<String>);

impl<'de> DeserializeSeed<'de> for Keys<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Keys(&mut *self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = fields.next_key::<String>()? {
            if seen.contains(&key) {
                *self.0 = Some(key);
                return Err(A::Error::custom("a key stands twice"));
            }
            seen.insert(key);
            fields.next_value_seed(Keys(&mut *self.0))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_repeated_within_one_object_at_any_depth() {
        for (message, due) in [
            (r#"{"a": 1, "b": {"a": [1.5e3, null, true, "x"]}, "c": [{"a": 1}, {"a": 2}]}"#, None),
            (r#"{"a": 1, "b": [{"c": -1, "d": {}, "c": 2}]}"#, Some("c")),
            (r#"{"e": 1, "\u0065": 2}"#, Some("e")),
            ("{\"a\": ", None),
        ] {
            assert_eq!(repeated_key(message.as_bytes()).as_deref(), due, "{message}");
        }
    }
}
