//! Types that are texts: enums each of whose variants has one word, by which people and programs write and read it,
//! and newtypes of names and ids.

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

/// A newtype of a text that is shown as it is.
macro_rules! text_type {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::sync::Arc<str>);

        #[allow(dead_code, reason = "each kind of text can do the same")]
        impl $name {
            /// The text itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

pub(crate) use {text_type, words};
