//! Whether whole recordings or their rounds are replayed.

/// What is replayed as one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum UnitOfRun {
    /// The whole recording.
    #[default]
    Run,
    /// A prompt and everything it led to.
    Round,
}

impl UnitOfRun {
    /// The plural noun.
    pub(in crate::cli) fn noun(self) -> &'static str {
        match self {
            Self::Run => "runs",
            Self::Round => "rounds",
        }
    }
}
