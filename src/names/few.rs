//! Lists in messages: counts, and no more names than one sentence holds.

/// The most names that a message lists; how many more there are is said behind them.
pub const MOST_NAMED: usize = 20;

/// The first of many names, and how many more there are.
///
/// A catalog may hold thousands of files of one name, and each of them would name all the others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Few {
    /// The first ones, [`MOST_NAMED`] at the most.
    pub named: Vec<String>,
    /// How many there are besides.
    pub more: usize,
}

impl Few {
    /// The first of these.
    pub fn of(all: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::told(all, Into::into)
    }

    /// The first of these in words, which are not made for the others.
    pub fn told<T>(all: impl IntoIterator<Item = T>, words: impl Fn(T) -> String) -> Self {
        let mut all = all.into_iter();
        let named = all.by_ref().take(MOST_NAMED).map(words).collect();
        Self { named, more: all.count() }
    }

    /// The same list, each name in another form.
    #[must_use]
    pub fn map(&self, form: impl Fn(&str) -> String) -> Self {
        Self { named: self.named.iter().map(|name| form(name)).collect(), more: self.more }
    }

    /// In a sentence, with this between two of them.
    pub fn joined(&self, between: &str) -> String {
        let named = self.named.join(between);
        if self.more == 0 { named } else { format!("{named} and {} more", grouped(self.more)) }
    }
}

/// The first of many names in a sentence, with commas, and how many more there are.
pub fn few(all: impl IntoIterator<Item = impl Into<String>>) -> String {
    Few::of(all).joined(", ")
}

/// `1 step`, `2 steps`, `1,200 steps`: a count with its noun.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A number with a comma between thousands.
pub fn grouped(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_a_few_and_says_how_many_more_there_are() {
        assert_eq!(few(["a", "b"]), "a, b");
        assert_eq!(Few::of(["a", "b"]).joined(" or "), "a or b");
        let many = few((0..3_000).map(|number| number.to_string()));
        assert!(many.starts_with("0, 1, ") && many.ends_with(", 19 and 2,980 more"), "{many}");
    }
}
