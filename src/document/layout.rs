//! A JSON text laid out anew: one member or item a line, two blanks a level, texts and numbers as they are written.

use jsonc_parser::ast::{ObjectProp, Value as Ast};
use jsonc_parser::common::Ranged as _;

use super::Pointer;
use super::span::parse_ast;

/// A text laid out, with a line end behind it; none where it is no JSON. `order` names the keys that come first in
/// an object, in this order; the others stay behind them as they are.
pub fn laid_out(text: &str, order: &dyn Fn(&Pointer) -> &'static [&'static str]) -> Option<String> {
    let ast = parse_ast(text).ok().flatten()?;
    let mut layout = Layout { text, order, out: String::with_capacity(text.len() * 2) };
    layout.value(&ast, &Pointer::root(), 0);
    layout.out.push('\n');
    Some(layout.out)
}

struct Layout<'t> {
    text: &'t str,
    order: &'t dyn Fn(&Pointer) -> &'static [&'static str],
    out: String,
}

impl Layout<'_> {
    /// Documents that are read are nested [`MAX_NESTING`](super::MAX_NESTING) levels deep at the most.
    fn value(&mut self, value: &Ast<'_>, at: &Pointer, depth: usize) {
        match value {
            Ast::Object(object) if object.properties.is_empty() => self.out.push_str("{}"),
            Ast::Array(array) if array.elements.is_empty() => self.out.push_str("[]"),
            Ast::Object(object) => {
                let first = (self.order)(at);
                let place = |member: &&ObjectProp<'_>| {
                    first.iter().position(|key| *key == member.name.as_str()).unwrap_or(first.len())
                };
                let mut members: Vec<&ObjectProp<'_>> = object.properties.iter().collect();
                members.sort_by_key(place);
                self.out.push('{');
                for (number, member) in members.into_iter().enumerate() {
                    self.line(number, depth + 1);
                    let (name, key) = (member.name.start()..member.name.end(), member.name.as_str());
                    self.out.push_str(self.text.get(name).unwrap_or_default());
                    self.out.push_str(": ");
                    self.value(&member.value, &at.key(key), depth + 1);
                }
                self.close('}', depth);
            }
            Ast::Array(array) => {
                self.out.push('[');
                for (number, item) in array.elements.iter().enumerate() {
                    self.line(number, depth + 1);
                    self.value(item, &at.item(number), depth + 1);
                }
                self.close(']', depth);
            }
            plain => self.out.push_str(self.text.get(plain.start()..plain.end()).unwrap_or_default()),
        }
    }

    fn line(&mut self, number: usize, depth: usize) {
        self.out.push_str(if number > 0 { ",\n" } else { "\n" });
        self.out.extend(std::iter::repeat_n("  ", depth));
    }

    fn close(&mut self, bracket: char, depth: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("  ", depth));
        self.out.push(bracket);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_escapes_and_the_order_of_other_keys_stay() {
        let text = "{\"b\":1.10,\"z\":{\"y\":1e3,\"x\":\"\\u00e9\"},\n\"a\":[ ],\"c\":[{}]}";
        let order =
            |at: &Pointer| -> &'static [&'static str] { if at.as_str().is_empty() { &["a", "b"] } else { &[] } };
        let out = laid_out(text, &order).unwrap();
        assert_eq!(
            out,
            "{\n  \"a\": [],\n  \"b\": 1.10,\n  \"z\": {\n    \"y\": 1e3,\n    \"x\": \"\\u00e9\"\n  },\n  \"c\": [\n    {}\n  ]\n}\n"
        );
        assert_eq!(laid_out(&out, &order).unwrap(), out);
        assert_eq!(laid_out("{,}", &order), None);
    }
}
