//! `whenstop tune --of preset:NAME`, and grids of a framework's settings: which of its own settings to ship, decided as
//! `compare` decides it.

use std::sync::Arc;

use serde_json::Value;

use super::decided::OwnStacks;
use crate::catalog::{self, Strategies};
use crate::cli::export::has_snippet;
use crate::cli::failure::CommandFailure;
use crate::cli::inputs::{LoadedStacks, as_in_tables};
use crate::cli::output::Output;
use crate::decision::Strategy;
use crate::framework::{Framework, Parameter, Settings};
use crate::report::{Shippable, ShippableSettings};
use crate::stack::Use;
use crate::sweep::{GridFile, SettingsAxis, shown};

/// Shares of a default that are tried in its place.
const AROUND: [f64; 6] = [0.1, 0.25, 0.5, 0.75, 1.5, 2.0];

/// Settings to try, each with the strategy that has them.
type TriedSettings = Vec<(Use, Arc<dyn Strategy>)>;

/// `--grid` with axes of settings.
pub(super) fn grid_stacks(file: &GridFile, axes: &[SettingsAxis], most: u64) -> Result<OwnStacks, CommandFailure> {
    let mut tried = TriedSettings::new();
    for axis in axes {
        for used in axis.combinations() {
            let strategy = catalog::by_name(&used).map_err(|errors| {
                let error = errors.first();
                let what = format!("{}: {}", used.name, error.what);
                CommandFailure::usage(file.wrong_settings(axis, &what, &error.help))
            })?;
            tried.push((used, strategy));
        }
    }
    if tried.len() as u64 > most {
        let what = format!("{} combinations; the most are {most}", tried.len());
        let help = "shorten the lists, or allow more with `--most`";
        return Err(CommandFailure::arguments(what, help));
    }
    Ok(own(tried, None))
}

/// `--of`: each parameter of a framework around its default.
pub(super) fn around(name: &str, output: &Output) -> Result<OwnStacks, CommandFailure> {
    let name = name.strip_prefix("preset:").or(name.strip_prefix("system:")).unwrap_or(name);
    let default = as_in_tables(name);
    let strategy = catalog::by_name(&default).map_err(CommandFailure::usage)?;
    let Some(framework) = catalog::find(&default.system) else {
        return Err(CommandFailure::internal(&"a framework without a name"));
    };
    let mut tried = vec![(default.clone(), strategy)];
    let mut left_out = Vec::new();
    for parameter in framework.parameters {
        let before = tried.len();
        for used in changes(framework, parameter, &default) {
            if let Ok(strategy) = catalog::by_name(&used) {
                tried.push((used, strategy));
            }
        }
        if tried.len() == before {
            left_out.push(parameter.name);
        }
    }
    if tried.len() == 1 {
        let what = format!("no parameter of `{name}` has a number or a switch as its default");
        let help = "give values of your own: `--grid FILE` with `[[axis]]`, `use` and `set`";
        return Err(CommandFailure::arguments(what, help));
    }
    if !left_out.is_empty() {
        output.note(&format!(
            "not walked, for want of a number or a switch as default: {}; `--grid` takes values of your own",
            left_out.join(", ")
        ));
    }
    Ok(own(tried, Some(name)))
}

/// A parameter's name without the tables it stands in, if no other ends so: tables have little room.
fn short_name(framework: &Framework, parameter: &Parameter) -> &'static str {
    let last = |parameter: &Parameter| parameter.name.rsplit('.').next().unwrap_or(parameter.name);
    let short = last(parameter);
    let alike = framework.parameters.iter().filter(|other| last(other) == short).count();
    if alike == 1 { short } else { parameter.name }
}

/// The settings with another value of one parameter: others around its default, the other way of a switch, and the value
/// that turns it off.
fn changes(framework: &Framework, parameter: &Parameter, default: &Use) -> Vec<Use> {
    let settings = Settings { profile: default.profile.clone(), ..Settings::named(&default.name) };
    let settings = framework.checked(&settings).unwrap_or(settings);
    let from = settings.default_of(parameter);
    let mut values: Vec<Value> = Vec::new();
    if let Some(number) = from.as_f64().filter(|number| *number > 0.0) {
        for share in AROUND {
            let other = number * share;
            if from.is_f64() {
                values.push(Value::from((other * 1e6).round() / 1e6));
            } else {
                #[expect(clippy::cast_possible_truncation, reason = "a share of a whole number that fits")]
                values.push(Value::from(other.round().max(1.0) as i64));
            }
        }
    }
    if let Some(is_on) = from.as_bool() {
        values.push(Value::from(!is_on));
    }
    let off = parameter.off.split(' ').next().unwrap_or_default();
    match Parameter::value_of(off) {
        Value::Null if off == "null" => values.push(Value::from("none")),
        Value::Null => {}
        off => values.push(off),
    }
    let mut changes = Vec::new();
    for value in values {
        let name = format!("{} {} → {}", short_name(framework, parameter), shown(&from), shown(&value));
        if value != from && !changes.iter().any(|known: &Use| known.name == name) {
            let mut used = Use { name, ..default.clone() };
            used.set.insert(parameter.name.to_owned(), value);
            changes.push(used);
        }
    }
    changes
}

/// The settings to compare, `today` those that run.
fn own(tried: TriedSettings, today: Option<&str>) -> OwnStacks {
    let (used, strategies): (Vec<Use>, Strategies) = tried.into_iter().unzip();
    OwnStacks {
        stacks: LoadedStacks::without_files(strategies),
        shippable: used.iter().map(shippable).collect(),
        today: today.map(str::to_owned),
    }
}

/// How settings are written if they are the ones to ship.
fn shippable(used: &Use) -> Shippable {
    let settings =
        ShippableSettings { framework: used.system.clone(), set: settings_line(used), is_exported: has_snippet(used) };
    Shippable { stack: used.name.clone(), entry: Some(entry(used)), settings: Some(settings) }
}

/// The settings as `set` has them.
fn settings_line(used: &Use) -> String {
    let setting =
        |(name, value): (&String, &Value)| format!("{} = {}", toml::Value::String(name.clone()), written(value));
    used.set.iter().map(setting).collect::<Vec<_>>().join(", ")
}

/// A value as TOML has it; `"none"` for none, which TOML cannot say.
fn written(value: &Value) -> String {
    match toml::Value::try_from(value) {
        Ok(value) => value.to_string(),
        Err(_) => "\"none\"".to_owned(),
    }
}

/// The settings as an entry of a stack file.
fn entry(used: &Use) -> String {
    let text = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let profile = used.profile.as_ref().map(|profile| format!("profile = {}\n", text(profile))).unwrap_or_default();
    format!(
        "\n[[stack]]\nname = \"{}\"\nuse = {}\n{profile}set = {{ {} }}\n",
        super::shipped::TUNED,
        text(&used.system),
        settings_line(used),
    )
}
