//! Bailouts decide, from the history so far, what happens when an iteration cap is hit.
//!
//! A bailout is one file and one line in `bailouts!`, and any stack's cap can use it. It knows nothing of stacks or
//! replays: it gets a history and returns a reply. The caller applies the reply: `continue` keeps a replay exact while
//! the recording goes on; `new_instruction` makes it diverge.

mod history;
mod predicate;
mod table;

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::transcript::PointView;

pub use history::{History, HistoryEntry, Speaker};
#[doc(hidden)]
pub use history::{RunHistory, rough_tokens};
#[doc(hidden)]
pub use predicate::{Window, all_errors, no_text_progress, one_tool};
pub use table::{CapCondition, Table, TableRow};

/// The situation a bailout decides on.
#[derive(Clone, Copy)]
pub struct AtCap<'a> {
    /// The messages so far.
    pub history: &'a dyn History,
    /// How often the cap has been hit in this run, this time included; starts at 1.
    pub hit: u32,
    /// The cap, in steps.
    pub cap: i64,
    /// The session the run belongs to. Grants are counted per session.
    pub session: &'a str,
    /// Tokens of the history, as counted by the caller.
    pub tokens: u64,
}

/// What happens after a cap was hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AfterCap {
    /// The cap is granted again in full.
    Continue,
    /// The run ends.
    Stop,
    /// This text is shown to the model, and the cap is granted again.
    NewInstruction(String),
}

impl AfterCap {
    /// The name used in stack files and golden tables.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Stop => "stop",
            Self::NewInstruction(_) => "new_instruction",
        }
    }
}

/// A bailout's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What happens next.
    pub verdict: AfterCap,
    /// The check that decided, if the strategy names one.
    pub why: Option<&'static str>,
}

impl Reply {
    /// Grants the cap again.
    pub const CONTINUE: Self = Self { verdict: AfterCap::Continue, why: None };
    /// Ends the run.
    pub const STOP: Self = Self { verdict: AfterCap::Stop, why: None };

    /// Shows `text` to the model and grants the cap again.
    pub fn instruct(text: &str) -> Self {
        Self { verdict: AfterCap::NewInstruction(text.to_owned()), why: None }
    }

    /// Adds the check that decided.
    #[must_use]
    pub fn because(mut self, why: &'static str) -> Self {
        self.why = Some(why);
        self
    }
}

/// A running bailout. Its state lasts as long as the handler it models: here, one run.
pub trait Bailout: Send {
    /// Called for every point of the run, before the cap is checked. Most bailouts ignore it.
    fn observe(&mut self, _view: &PointView<'_>) {}

    /// Called when the cap is hit.
    fn on_cap(&mut self, at: &AtCap<'_>) -> Reply;
}

/// What a bailout must declare: its name, a summary and how to build it.
pub trait RegisteredBailout: Bailout + Clone + Sync + Sized + 'static {
    /// Its name in stack files.
    const ID: &'static str;
    /// A one-line description.
    const SUMMARY: &'static str;
    /// Its source.
    const SOURCE: &'static str;
    /// The parameters it accepts. Any other parameter is an error.
    const PARAMS: &'static [&'static str] = &[];

    /// Builds it from its parameters. Fails if one is missing or has the wrong type.
    fn from_params(params: &Params<'_>) -> Result<Self, BailoutError>;
}

/// Starts a fresh bailout for each run.
pub type Recipe = Arc<dyn Fn() -> Box<dyn Bailout> + Send + Sync>;

/// Why a bailout was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BailoutError {
    /// There is no bailout of that name.
    #[error("unknown bailout `{0}`")]
    Unknown(String),
    /// The bailout does not accept this parameter.
    #[error("bailout `{bailout}` takes no parameter `{param}`")]
    UnknownParam {
        /// The bailout.
        bailout: &'static str,
        /// The parameter.
        param: String,
    },
    /// A parameter is missing or has the wrong type.
    #[error("bailout `{bailout}`: `{param}` must be {wanted}")]
    BadParam {
        /// The bailout.
        bailout: &'static str,
        /// The parameter.
        param: &'static str,
        /// What it must be.
        wanted: &'static str,
    },
}

/// The parameters of one bailout.
#[derive(Clone, Copy, Debug)]
pub struct Params<'p> {
    bailout: &'static str,
    values: &'p Map<String, Value>,
}

impl Params<'_> {
    /// A string, or `default` if absent.
    pub fn text(&self, param: &'static str, default: &str) -> Result<String, BailoutError> {
        self.read(param, Some(default.to_owned()), "a text", |value| value.as_str().map(str::to_owned))
    }

    /// A number from 0, or `default` if absent.
    pub fn count(&self, param: &'static str, default: Option<u64>) -> Result<u64, BailoutError> {
        self.read(param, default, "a number from 0", Value::as_u64)
    }

    /// A share from 0 to 1, or `default` if absent.
    pub fn share(&self, param: &'static str, default: f64) -> Result<f64, BailoutError> {
        let share = |value: &Value| value.as_f64().filter(|share| (0.0..=1.0).contains(share));
        self.read(param, Some(default), "a share from 0 to 1", share)
    }

    /// A non-empty list of strings.
    pub fn texts(&self, param: &'static str) -> Result<Vec<String>, BailoutError> {
        self.read(param, None, "a list of texts, not empty", |value| {
            let list = value.as_array().filter(|list| !list.is_empty())?;
            list.iter().map(|item| item.as_str().map(str::to_owned)).collect()
        })
    }

    /// A value that is `wanted`; if it is absent, `default`, if there is one.
    fn read<T>(
        &self,
        param: &'static str,
        default: Option<T>,
        wanted: &'static str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, BailoutError> {
        let value = match self.values.get(param) {
            None => default,
            Some(value) => read(value),
        };
        value.ok_or(BailoutError::BadParam { bailout: self.bailout, param, wanted })
    }
}

/// A registered bailout.
#[derive(Clone, Copy, Debug)]
pub struct BailoutInfo {
    /// See [`RegisteredBailout::ID`].
    pub id: &'static str,
    /// See [`RegisteredBailout::SUMMARY`].
    pub summary: &'static str,
    /// See [`RegisteredBailout::SOURCE`].
    pub source: &'static str,
    /// See [`RegisteredBailout::PARAMS`].
    pub params: &'static [&'static str],
    build: fn(&Map<String, Value>) -> Result<Recipe, BailoutError>,
}

impl BailoutInfo {
    const fn new<B: RegisteredBailout>() -> Self {
        Self { id: B::ID, summary: B::SUMMARY, source: B::SOURCE, params: B::PARAMS, build: build_one::<B> }
    }
}

fn build_one<B: RegisteredBailout>(values: &Map<String, Value>) -> Result<Recipe, BailoutError> {
    if let Some(param) = values.keys().find(|key| !B::PARAMS.contains(&key.as_str())) {
        return Err(BailoutError::UnknownParam { bailout: B::ID, param: param.clone() });
    }
    let prototype = B::from_params(&Params { bailout: B::ID, values })?;
    Ok(Arc::new(move || Box::new(prototype.clone())))
}

macro_rules! bailouts {
    ($($module:ident::$bailout:ident,)*) => {
        $(mod $module; pub use $module::$bailout;)*
        /// Every bailout, in manual order.
        pub static REGISTRY: &[BailoutInfo] = &[$(BailoutInfo::new::<$bailout>(),)*];
    };
}

bailouts! {
    stop::AlwaysStop,
    summarise::Summarise,
    ask_user::AskUser,
    conditional_continue::ConditionalContinue,
    token_budget::TokenBudget,
    smart::Smart,
}

/// The bailout of that name.
pub fn find(id: &str) -> Option<&'static BailoutInfo> {
    REGISTRY.iter().find(|bailout| bailout.id == id)
}

/// Builds the bailout of that name. Fails if it is unknown or a parameter is wrong.
pub fn build(name: &str, params: &Map<String, Value>) -> Result<Recipe, BailoutError> {
    let info = find(name).ok_or_else(|| BailoutError::Unknown(name.to_owned()))?;
    (info.build)(params)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_are_checked_before_any_run() {
        let refusal = |name: &str, params: Value| {
            build(name, params.as_object().unwrap()).err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(refusal("smrt", json!({})), "unknown bailout `smrt`");
        assert_eq!(refusal("stop", json!({"budget": 1})), "bailout `stop` takes no parameter `budget`");
        assert_eq!(refusal("token_budget", json!({})), "bailout `token_budget`: `budget` must be a number from 0");
        assert_eq!(
            refusal("ask_user", json!({"answers": []})),
            "bailout `ask_user`: `answers` must be a list of texts, not empty"
        );
        assert_eq!(refusal("smart", json!({})), "");
        assert_eq!(refusal("smart", json!({"window": 5, "threshold": 0.5})), "");
        assert!(refusal("smart", json!({"threshold": 1.5})).contains("a share from 0 to 1"));
    }

    #[test]
    fn a_recipe_starts_without_memory() {
        let recipe = build("smart", &Map::new()).unwrap();
        let at = AtCap { history: &Vec::new(), hit: 1, cap: 50, session: "s", tokens: 0 };
        for _ in 0..2 {
            let mut bailout = recipe();
            assert_eq!(bailout.on_cap(&at).verdict.name(), "new_instruction");
            assert_eq!(bailout.on_cap(&at).verdict, AfterCap::Stop);
        }
    }
}
