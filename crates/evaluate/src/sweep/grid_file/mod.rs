//! Grid files: axes of rules with lists of limits, in the syntax of stack files.
//!
//! ```toml
//! combine = "any"            # between axes; "all": every axis' rule at the same point, "latched": each at some point so far
//!
//! [[axis]]                   # a clause as in a stack file, with a list where its limit stands
//! signal = "call_result.count"
//! at_least = [3, 5, 8]
//! window = 20
//! optional = true            # also without this rule
//!
//! [[axis]]
//! signal = "tokens.total"
//! at_least = { log_range = [20_000, 2_000_000], count = 12 }      # or { range = [2, 20], step = 2 }, { quantiles = 20 }
//!
//! [[axis]]                   # every pair of limits
//! all = [{ signal = "errors.streak", at_least = [2, 3] }, { signal = "steps", at_least = { quantiles = 10 } }]
//!
//! [[axis]]
//! cap = [30, 50, 80]
//! told = true                # the agent is told of its limit, one step before
//! notice = 1
//! ```
//!
//! Or, in a file of its own, what a framework ships, with other settings:
//!
//! ```toml
//! [[axis]]
//! use = "openhands"
//! set = { max_iteration_per_run = [60, 250, 500] }
//! ```

mod limits;
mod settings;
mod template;
mod wide;

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::engine::{AxisChoice, Extract, Plan};
use crate::diagnostic::{Diagnostic, Diagnostics, Location, did_you_mean, nearest};
use crate::rule::Condition;
use crate::stack::{Cap, Clause, Entry, Guards, OnHit, Scope, StackFile};
use limits::LimitList;
pub use settings::{SettingsAxis, shown};
use template::Template;
pub use wide::WideGrid;

/// How the axes of a grid are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// The first rule that fires stops.
    Any,
    /// All rules fire at the same point.
    All,
    /// Each rule has fired at some point so far.
    Latched,
}

impl Combine {
    /// The word between two rules.
    pub fn word(self) -> &'static str {
        match self {
            Self::Any => " or ",
            Self::All => " and ",
            Self::Latched => " and, at some point, ",
        }
    }
}

/// A parsed grid file.
#[derive(Clone, Debug)]
pub struct GridFile {
    path: String,
    text: String,
    combine: Combine,
    axes: Vec<AxisTemplate>,
    settings: Vec<SettingsAxis>,
    guards: Guards,
}

/// What the axes of a grid are. Only rules are walked; the stacks of the others are replayed one by one.
#[derive(Clone, Copy, Debug)]
pub enum GridKind<'f> {
    /// Rules that stop, and caps.
    Rules,
    /// Rules and caps, and the agent is told of the caps: nobody knows what it does then.
    ToldCaps,
    /// Settings of frameworks.
    Settings(&'f [SettingsAxis]),
}

/// An axis whose limits may still have to be derived from the recordings.
#[derive(Clone, Debug)]
struct AxisTemplate {
    template: Template,
    optional: bool,
    place: Range<usize>,
}

/// One choice of an axis, as written in a stack file.
#[derive(Clone, Debug)]
pub struct WrittenChoice {
    /// The choice.
    pub choice: AxisChoice,
    /// A clause as an inline table, or the step count of a cap.
    pub text: String,
    /// Its limits, in order.
    pub limits: Vec<f64>,
}

/// One axis with all limits known.
#[derive(Clone, Debug)]
pub struct GridAxis {
    /// What its choices have in common.
    pub name: String,
    /// The choices; `None` leaves the rule out.
    pub choices: Vec<Option<WrittenChoice>>,
}

/// An error at a place in the file.
struct Wrong {
    place: Range<usize>,
    what: String,
    help: String,
}

impl Wrong {
    fn new(place: Range<usize>, what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { place, what: what.into(), help: help.into() }
    }
}

impl GridFile {
    /// Parses the text of a grid file; `path` is used in messages. `guards` are those whose numbers it may name.
    pub fn parse(path: &str, text: &str, guards: &Guards) -> Result<Self, Diagnostics> {
        let mut wrong = Vec::new();
        let (document, mut errors) = DeTable::parse_recoverable(text);
        errors.sort_by_key(|error| error.span().map_or(0, |span| span.start));
        for error in errors.iter().take(Diagnostics::SYNTAX_ERRORS) {
            let what = error.message().lines().next().unwrap_or("not TOML");
            let help = "`whenstop help tune --full` shows a grid file";
            wrong.push(Wrong::new(error.span().unwrap_or(0..0), format!("not TOML: {what}"), help));
        }
        if let Some(next) = errors.get(Diagnostics::SYNTAX_ERRORS) {
            let what = format!("not TOML: {} more, from here on", errors.len() - Diagnostics::SYNTAX_ERRORS);
            wrong.push(Wrong::new(next.span().unwrap_or(0..0), what, "mend the first ones, and look again"));
        }
        let mut file = Self {
            path: path.to_owned(),
            text: text.to_owned(),
            combine: Combine::Any,
            axes: Vec::new(),
            settings: Vec::new(),
            guards: guards.clone(),
        };
        if wrong.is_empty() {
            file.read(document.get_ref(), &mut wrong);
        }
        wrong.sort_by_key(|wrong| wrong.place.start);
        let told = wrong.into_iter().map(|wrong| file.diagnostic(wrong)).collect();
        match Diagnostics::from_list(told) {
            Some(errors) => Err(errors),
            None => Ok(file),
        }
    }

    fn diagnostic(&self, wrong: Wrong) -> Diagnostic {
        Diagnostic::in_text(&self.path, &self.text, wrong.place, wrong.what, wrong.help)
    }

    fn read(&mut self, document: &DeTable<'_>, wrong: &mut Vec<Wrong>) {
        const KEYS: [&str; 2] = ["combine", "axis"];
        for (key, value) in document {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("combine", value_of) => match value_of.as_str() {
                    Some("any") => self.combine = Combine::Any,
                    Some("all") => self.combine = Combine::All,
                    Some("latched") => self.combine = Combine::Latched,
                    _ => wrong.push(Wrong::new(
                        value.span(),
                        "`combine` is none of `any`, `all` and `latched`",
                        "write `combine = \"any\"`",
                    )),
                },
                ("axis", DeValue::Array(axes)) => {
                    for axis in axes {
                        match axis.get_ref() {
                            DeValue::Table(table) if table.contains_key("use") => {
                                self.settings.extend(SettingsAxis::from_table(table, axis.span(), wrong));
                            }
                            DeValue::Table(table) => self.read_axis(table, axis.span(), wrong),
                            _ => wrong.push(Wrong::new(axis.span(), "an axis is a table", "write `[[axis]]`")),
                        }
                    }
                }
                ("axis", _) => {
                    wrong.push(Wrong::new(
                        key.span(),
                        "`axis` is a list of tables",
                        "write `[[axis]]`, with two brackets",
                    ));
                }
                (other, _) => {
                    let otherwise = "a grid file has `combine` and `[[axis]]`; rules stand in an axis";
                    let help = did_you_mean(nearest(other, KEYS), otherwise);
                    wrong.push(Wrong::new(key.span(), format!("a grid file has no key `{other}`"), help));
                }
            }
        }
        if let (Some(axis), false) = (self.settings.first(), self.axes.is_empty()) {
            let help = "a framework decides by itself: give its settings a grid file of their own";
            wrong.push(Wrong::new(axis.place.clone(), "settings of a framework beside rules", help));
        }
        if self.axes.is_empty() && self.settings.is_empty() && wrong.is_empty() {
            wrong.push(Wrong::new(
                0..0,
                "a grid without an axis",
                "add one: `[[axis]]` with a `signal` and a list of limits",
            ));
        }
        let caps: Vec<&AxisTemplate> = self.axes.iter().filter(|axis| axis.template.is_cap()).collect();
        if let [_, second, ..] = &caps[..] {
            wrong.push(Wrong::new(
                second.place.clone(),
                "two axes of caps",
                "a stack has one cap: put all limits into one axis",
            ));
        }
        if let (Some(cap), true) = (caps.first(), self.combine != Combine::Any) {
            let help = "put the other axes into one: `[[axis]]` with `all = […]`, and leave `combine` out";
            wrong.push(Wrong::new(cap.place.clone(), "a cap stops by itself, and these axes stop together", help));
        }
    }

    fn read_axis(&mut self, table: &DeTable<'_>, place: Range<usize>, wrong: &mut Vec<Wrong>) {
        let optional = match table.get("optional").map(|value| (value.get_ref(), value.span())) {
            None => false,
            Some((DeValue::Boolean(optional), _)) => *optional,
            Some((_, place)) => {
                wrong.push(Wrong::new(place, "`optional` is true or false", "write `optional = true`"));
                return;
            }
        };
        let before = wrong.len();
        let template = Template::from_table(table, place.clone(), wrong);
        if wrong.len() > before {
            return;
        }
        let axis = AxisTemplate { template, optional, place };
        // Checks only the first limits: an error in the rule itself occurs at any of them.
        match self.clauses(&axis, &[axis.template.sample()]) {
            Ok(_) if self.combine != Combine::Any && axis.template.is_more_than_a_condition(table) => {
                let help = "rules that are combined by `all` or `latched` are asked after the tools: leave `at` and `strikes` out";
                wrong.push(Wrong::new(axis.place, "an axis with `at`, `strikes` or a name of its own", help));
            }
            Ok(_) => self.axes.push(axis),
            Err(error) => wrong.push(error),
        }
    }

    /// The clauses of an axis for several sets of limits.
    fn clauses(&self, axis: &AxisTemplate, sets: &[Vec<f64>]) -> Result<Vec<WrittenChoice>, Wrong> {
        let texts: Vec<String> = sets.iter().map(|limits| axis.template.text(limits)).collect();
        if axis.template.is_cap() {
            let cap = |(text, limits): (String, &Vec<f64>)| {
                let steps = text.parse().ok().filter(|steps| *steps > 0).ok_or_else(|| {
                    Wrong::new(
                        axis.place.clone(),
                        format!("`{text}` is no cap"),
                        "a cap is a whole number of steps above 0",
                    )
                })?;
                let choice = AxisChoice::Cap(Cap { steps, on_hit: OnHit::Stop, scope: Scope::Run });
                Ok(WrittenChoice { choice, text, limits: limits.clone() })
            };
            self.check_told(axis, &texts)?;
            return texts.into_iter().zip(sets).map(cap).collect();
        }
        let file = format!("[[stack]]\nname = \"grid\"\nany = [\n{}\n]\n", texts.join(",\n"));
        let (mut parsed, mut errors) = StackFile::parse_partly(&self.path, &file);
        errors.extend(parsed.seat(&self.guards));
        if let Some(errors) = Diagnostics::from_list(errors) {
            let error = errors.first();
            return Err(Wrong::new(self.place_of(axis, &error.what), error.what.clone(), error.help.clone()));
        }
        let clauses: Vec<Clause> = match parsed.entries.into_iter().next() {
            Some(Entry::Own(stack)) => stack.clauses.clone(),
            _ => Vec::new(),
        };
        if let Some(clause) = clauses.iter().find(|clause| !clause.then.is_terminal() || clause.scope != Scope::Run) {
            let what = format!("`{}` does more than stop a run", clause.name);
            let help = "a grid is of rules that stop: leave `then` and `scope` out, and try the stack with `--with`";
            return Err(Wrong::new(axis.place.clone(), what, help));
        }
        let choices = clauses.into_iter().zip(texts).zip(sets);
        Ok(choices
            .map(|((clause, text), limits)| WrittenChoice {
                choice: AxisChoice::Clause(clause),
                text,
                limits: limits.clone(),
            })
            .collect())
    }

    /// Checks what an axis of caps says of telling the agent, as a stack file has it.
    fn check_told(&self, axis: &AxisTemplate, caps: &[String]) -> Result<(), Wrong> {
        if axis.template.told().is_empty() {
            return Ok(());
        }
        for cap in caps {
            let text = format!("[[stack]]\nname = \"grid\"\ncap = {{ steps = {cap} }}\n{}", axis.template.told());
            if let Err(errors) = StackFile::parse(&self.path, &text) {
                let error = errors.first();
                return Err(Wrong::new(axis.place.clone(), error.what.clone(), error.help.clone()));
            }
        }
        Ok(())
    }

    /// What its axes are.
    pub fn kind(&self) -> GridKind<'_> {
        if !self.settings.is_empty() {
            GridKind::Settings(&self.settings)
        } else if self.axes.iter().any(|axis| !axis.template.told().is_empty()) {
            GridKind::ToldCaps
        } else {
            GridKind::Rules
        }
    }

    /// Finds the text that an error quotes within an axis; else the whole axis.
    fn place_of(&self, axis: &AxisTemplate, what: &str) -> Range<usize> {
        let quoted = what.split('`').nth(1).unwrap_or_default();
        let word = quoted.split(' ').next().unwrap_or_default();
        let rest = self.text.get(axis.place.start..).unwrap_or_default();
        let end = match rest.get(2..).and_then(|rest| rest.find("[[axis]]")) {
            Some(end) => end + 2,
            None => rest.len(),
        };
        let found = rest.get(..end).unwrap_or_default().find(word).filter(|_| !word.is_empty());
        match found {
            Some(at) => axis.place.start + at..axis.place.start + at + word.len(),
            None => axis.place.clone(),
        }
    }

    /// An error about an axis of settings.
    pub fn wrong_settings(&self, axis: &SettingsAxis, what: &str, help: &str) -> Diagnostic {
        self.diagnostic(Wrong::new(axis.place.clone(), what, help))
    }

    /// Adds what must be read from the recordings before the limits are known.
    pub fn plan(&self, plan: &mut Plan) {
        for axis in &self.axes {
            for (rule, at, _) in self.measured(axis) {
                plan.feature(&rule, at);
            }
        }
        for choice in self.samples() {
            let _ = super::engine::Atom::from_choice(&choice, plan);
        }
    }

    /// One choice of each axis; all choices of an axis need the same from a recording.
    fn samples(&self) -> Vec<AxisChoice> {
        let of = |axis: &AxisTemplate| self.clauses(axis, &[axis.template.sample()]).into_iter().flatten();
        self.axes.iter().flat_map(of).map(|written| written.choice).collect()
    }

    /// The rules of an axis whose limits are quantiles: the rule, its moment, and the index of its limits.
    fn measured(&self, axis: &AxisTemplate) -> Vec<(crate::rule::Rule, crate::transcript::Moment, usize)> {
        let Ok(choices) = self.clauses(axis, &[axis.template.sample()]) else { return Vec::new() };
        let Some(WrittenChoice { choice: AxisChoice::Clause(clause), .. }) = choices.first() else { return Vec::new() };
        let rules = clause.condition.rules();
        let slots = axis.template.slots().iter().enumerate().filter(|(_, slot)| slot.limits.is_measured());
        slots.filter_map(|(at, slot)| Some(((*rules.get(slot.rule)?).clone(), clause.at, at))).collect()
    }

    /// The grid with limits derived from these recordings.
    pub fn grid(&self, extracts: &[&Extract], plan: &Plan) -> Result<WideGrid, Diagnostics> {
        let mut axes = Vec::with_capacity(self.axes.len());
        for axis in &self.axes {
            axes.push(self.axis(axis, extracts, plan).map_err(|wrong| Diagnostics::from(self.diagnostic(wrong)))?);
        }
        let told = self.axes.iter().map(|axis| axis.template.told()).collect();
        WideGrid::new(self.combine, axes, told).map_err(|what| {
            let help = "shorten the lists of limits, or combine fewer axes";
            Diagnostics::from(Diagnostic::new(Location::file(&self.path), what, help))
        })
    }

    fn axis(&self, axis: &AxisTemplate, extracts: &[&Extract], plan: &Plan) -> Result<GridAxis, Wrong> {
        let mut lists: Vec<Vec<f64>> = axis.template.slots().iter().map(|slot| slot.limits.given()).collect();
        for (rule, at, slot) in self.measured(axis) {
            let of = &axis.template.slots()[slot];
            let LimitList::Quantiles(n) = of.limits else { continue };
            let feature = plan.place(&rule, at);
            let values =
                feature.map(|feature| limits::quantiles(extracts, feature, of.comparator, n)).unwrap_or_default();
            if values.is_empty() {
                let what = format!("no recording has a reading of `{}` to take quantiles of", rule.signal.id);
                return Err(Wrong::new(of.place.clone(), what, "list its limits, or leave the axis out"));
            }
            lists[slot] = values;
        }
        let sets = lists.iter().fold(vec![Vec::new()], |sets: Vec<Vec<f64>>, list| {
            sets.iter().flat_map(|set| list.iter().map(|limit| [set.as_slice(), &[*limit]].concat())).collect()
        });
        let mut choices: Vec<Option<WrittenChoice>> = self.clauses(axis, &sets)?.into_iter().map(Some).collect();
        if axis.optional {
            choices.insert(0, None);
        }
        Ok(GridAxis { name: name_of_rule(&choices).unwrap_or_else(|| axis.template.name()), choices })
    }
}

/// The name of an axis that is one rule alone: as in tables, `steps >=`.
fn name_of_rule(choices: &[Option<WrittenChoice>]) -> Option<String> {
    for choice in choices.iter().flatten() {
        if let AxisChoice::Clause(Clause { condition: Condition::Rule(rule), .. }) = &choice.choice {
            return Some(rule.to_string().strip_suffix(&format!(" {}", rule.limit))?.to_owned());
        }
    }
    None
}
