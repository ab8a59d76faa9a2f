//! The behaviours of synthetic runs. A run's behaviour is recorded by name in its `meta.behaviour`.

use std::fmt;
use std::str::FromStr;

use super::Suite;

macro_rules! behaviours {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $share:literal, $succeeds:expr, [$($suite:ident)+];)*) => {
        /// The course that a synthetic run takes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Behaviour {
            $($(#[doc = $doc])+ $variant,)*
        }

        impl Behaviour {
            /// All behaviours, in manual order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in `meta.behaviour` and on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// What happens, in one sentence. This is the variant's doc comment.
            pub fn summary(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($doc,)+).trim_ascii(),)*
                }
            }

            /// Its weight in the common mixture.
            pub(super) fn share(self) -> usize {
                match self {
                    $(Self::$variant => $share,)*
                }
            }

            /// Whether its runs succeed; `None` if some do and some do not, or if they are not graded.
            pub fn succeeds(self) -> Option<bool> {
                match self {
                    $(Self::$variant => $succeeds,)*
                }
            }

            /// True if it occurs in `suite`.
            pub fn occurs_in(self, suite: Suite) -> bool {
                match self {
                    $(Self::$variant => [$(Suite::$suite),+].contains(&suite),)*
                }
            }
        }
    };
}

behaviours! {
    /// Does its task in a few varied steps and says so.
    Healthy = "healthy", 40, Some(true), [Code Service Research];
    /// Does its task like a healthy run, but the model writes no text beside its calls.
    Quiet = "quiet", 2, Some(true), [Code Research];
    /// Succeeds after a long search with many failed checks on the way.
    LateSuccess = "late_success", 10, Some(true), [Code Service Research];
    /// Succeeds early and then keeps polishing what is finished.
    Overlong = "overlong", 8, Some(true), [Code Research];
    /// Fails three to five steps in a row, finds the reason, and succeeds.
    ErrorsRecovered = "errors_recovered", 5, Some(true), [Code Service Research];
    /// Asks for the state of a job again and again because it takes a while, and succeeds.
    Polling = "polling", 6, Some(true), [Code Research];
    /// Re-runs one check several times without an edit because the check is flaky, and succeeds.
    FlakyCheck = "flaky_check", 3, Some(true), [Code];
    /// Asks the user at the end of its replies, is answered, and succeeds.
    AsksUser = "asks_user", 6, Some(true), [Service Code];
    /// Quotes and negates the word DONE on its way to a success.
    QuotesDone = "quotes_done", 4, Some(true), [Code Service];
    /// Begins with a canned greeting that no model call made.
    Greeting = "greeting", 6, Some(true), [Service];
    /// Lets sub-agents do part of the work.
    SubAgents = "sub_agents", 3, Some(true), [Code Research];
    /// Reports experiments and their metrics until the goal is met.
    Experiments = "experiments", 8, Some(true), [Research];
    /// Works in rounds, each followed by a judge's reply; the judge errs now and then.
    Judged = "judged", 4, Some(true), [Service Research];
    /// Repeats one call and always gets the same result.
    LoopSame = "loop_same", 3, Some(false), [Code Service Research];
    /// Repeats one call; each result contains a different time.
    LoopChanging = "loop_changing", 3, Some(false), [Code Research];
    /// Alternates between two calls.
    LoopAlternating = "loop_alternating", 3, Some(false), [Code Service];
    /// Cycles through three calls.
    LoopThree = "loop_three", 2, Some(false), [Code Research];
    /// Says the same words again and again while its calls differ.
    LoopWords = "loop_words", 2, Some(false), [Service];
    /// Every call fails until it gives up or crashes.
    ErrorsFatal = "errors_fatal", 4, Some(false), [Code Service Research];
    /// Holds a success, goes on, and breaks it; the checkpoints show both.
    Broken = "broken_after_success", 5, Some(false), [Code Service Research];
    /// Makes ever new calls until the recording's own cap.
    Runaway = "runaway", 4, Some(false), [Code Service Research];
    /// Finishes quickly with a wrong result: there is little to stop.
    WrongAnswer = "wrong_answer", 6, Some(false), [Code Service Research];
    /// Is still making progress when the recording's own cap ends it.
    Capped = "capped", 3, Some(false), [Code Service];
    /// Is still making progress when the time limit ends it.
    TimedOut = "timed_out", 2, Some(false), [Code Research];
    /// Is stopped by a person halfway.
    Killed = "killed", 2, Some(false), [Code Research];
    /// Is not graded.
    Unlabelled = "unlabelled", 4, None, [Code Service Research];
    /// Reports no token usage and no cost.
    NoUsage = "no_usage", 3, None, [Code Service Research];
    /// Has no timestamps.
    NoTimes = "no_times", 2, None, [Code Research];
}

impl fmt::Display for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Behaviour {
    type Err = ();
    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.iter().copied().find(|behaviour| behaviour.name() == name).ok_or(())
    }
}
