//! Enums each of whose variants has one word, by which people and programs write and read it.

/// An enum with a word for each variant: all of them, their words, from one to the other and back.
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$meta])*
        $vis enum $name { $($(#[$of])* $variant),* }

        #[allow(dead_code, reason = "each such enum can do the same")]
        impl $name {
            /// All of them.
            $vis const ALL: [Self; [$($word),*].len()] = [$(Self::$variant),*];
            /// Their words, in the same order.
            $vis const WORDS: [&'static str; [$($word),*].len()] = [$($word),*];

            /// The word for it.
            $vis const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// What a word stands for.
            $vis fn named(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.word() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
    };
}

pub(crate) use words;
