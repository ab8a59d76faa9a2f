//! How a reading is compared with a limit.

use crate::transcript::named;

named! {
    /// How a reading is compared with a limit, by its key in stack files.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Comparator {
        /// reading >= limit
        AtLeast = "at_least" => ">=",
        /// reading > limit
        MoreThan = "more_than" => ">",
        /// reading == limit, exactly: a signal that skips the limit never fires
        Equals = "equals" => "==",
        /// reading <= limit
        AtMost = "at_most" => "<=",
        /// reading < limit
        LessThan = "less_than" => "<",
    }

    /// The sign used in tables.
    pub fn sign() -> &'static str;
}

impl Comparator {
    /// True if `reading` satisfies the comparison with `limit`.
    pub fn passes(self, reading: f64, limit: f64) -> bool {
        match self {
            Self::AtLeast => reading >= limit,
            Self::MoreThan => reading > limit,
            #[expect(clippy::float_cmp, reason = "equality is what the comparator asks; counts are exact")]
            Self::Equals => reading == limit,
            Self::AtMost => reading <= limit,
            Self::LessThan => reading < limit,
        }
    }
}
