//! Splitting the tasks into a part to choose on and a part to report on.

use crate::answers::SplitChoice;
use crate::cli::failure::CommandFailure;
use crate::cli::values::share_inside;
use crate::sweep::Split;
use crate::transcript::named;

named! {
    /// Which part of the tasks is reported.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
    pub(in crate::cli) enum SplitPart {
        /// The dev tasks only: the test tasks stay unseen.
        Dev = "dev",
        /// Choose on the dev tasks, report on the test tasks.
        Test = "test",
        /// All tasks.
        #[default]
        None = "none",
    }
}

/// The share of the tasks that goes to dev unless another is given.
const DEV_SHARE: f64 = 0.5;

/// How tasks are split into dev and test.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::cli) struct SplitArgs {
    /// Split the tasks: `dev` uses only the dev part, `test` chooses on dev and reports on test.
    #[arg(long, value_enum, default_value_t, value_name = "PART")]
    pub(in crate::cli) split: SplitPart,
    /// Salt of the hash that splits the tasks; fix it before you look at the recordings.
    #[arg(long, value_name = "SALT", default_value = "")]
    pub(in crate::cli) split_salt: String,
    /// Share of each suite's tasks that goes to dev.
    #[arg(long, value_name = "SHARE", default_value_t = DEV_SHARE, value_parser = share_inside)]
    pub(in crate::cli) dev_share: f64,
}

impl Default for SplitArgs {
    fn default() -> Self {
        Self { split: SplitPart::None, split_salt: String::new(), dev_share: DEV_SHARE }
    }
}

impl SplitArgs {
    /// How the tasks are split, in the form of a comparison's manifest; nothing is chosen yet.
    pub(in crate::cli) fn choice(&self, max_killed: f64) -> SplitChoice {
        SplitChoice {
            split: self.split.name().to_owned(),
            split_salt: self.split_salt.clone(),
            dev_share: self.dev_share,
            max_killed,
            chosen: None,
            optimism_killed_rate: None,
            optimism_saved_share: None,
        }
    }
}

/// Splits as requested: the part reported, and the part to choose on if it is another. An error if a part is empty.
pub(in crate::cli) fn divided<T>(
    all: T,
    args: &SplitArgs,
    halves: impl FnOnce(T, &Split) -> (T, T),
    is_empty: impl Fn(&T) -> bool,
) -> Result<(T, Option<T>), CommandFailure> {
    let split = Split { salt: args.split_salt.clone(), dev_share: args.dev_share };
    let (reported, other) = match args.split {
        SplitPart::None => (all, None),
        SplitPart::Dev => (halves(all, &split).0, None),
        SplitPart::Test => {
            let (dev, test) = halves(all, &split);
            (test, Some(dev))
        }
    };
    if is_empty(&reported) || matches!(&other, Some(other) if is_empty(other)) {
        let help = "give more recordings, another `--dev-share`, or no `--split`";
        return Err(CommandFailure::nothing("a part of the split has no task", help));
    }
    Ok((reported, other))
}
