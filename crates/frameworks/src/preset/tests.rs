//! What holds of every preset's parameters: the defaults that are declared are those in force, and the traps.

use serde_json::{Map, Value};

use super::{ALL, Preset, Settings, SettingsError, find};
use crate::framework::{Case, Parameter};
use crate::transcript::Header;

/// Parameters that say something by being given at all, with what else is set for the default to be seen.
const BESIDE: [(&str, &str, &str); 1] =
    [("ag2", "group_chat.max_round", r#"{"group_chat.is_termination_msg": {"never": true}}"#)];
/// Parameters whose default, given by hand, does differ: the cap is then no longer adaptive, and the default condition has
/// a code of its own.
const OTHERWISE: [(&str, &str); 2] = [("qwen-code", "model.maxToolCallsPerTurn"), ("vercel-ai", "stopWhen")];

fn object(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap()
}

fn variants(preset: &Preset) -> Vec<Option<String>> {
    let named = preset.variants.iter().map(|variant| Some(variant.name.to_owned()));
    std::iter::once(None).chain(named).collect()
}

/// All there is to know of what settings come to: the rules, what they need, and the machine as it starts. `None` where the
/// framework refuses them.
fn built(preset: &Preset, settings: &Settings) -> Option<String> {
    match preset.strategy("s", settings) {
        Ok(strategy) => {
            let recipe = strategy.recipe();
            Some(format!("{recipe:?} {:?} {:?}", recipe.requirements(), recipe.start(&Header::default())))
        }
        Err(SettingsError::Refused { .. }) => None,
        Err(error) => Some(error.to_string()),
    }
}

/// Variants that a parameter is set in, and in all of which its default is what is built without it. A variant that
/// refuses the parameter has no default of it.
fn held(preset: &Preset, parameter: &Parameter) -> usize {
    let is_it = |id: &str, name: &str| id == preset.id && name == parameter.name;
    let beside = BESIDE.iter().find(|(id, name, _)| is_it(id, name)).map_or("{}", |(_, _, beside)| beside);
    let all =
        variants(preset).into_iter().map(|variant| Settings { variant, set: object(beside), ..Settings::default() });
    let is_held = |nothing: &Settings| {
        let mut given = nothing.clone();
        given.set.insert(parameter.name.to_owned(), nothing.default_of(parameter));
        let Some(built_with_it) = built(preset, &given) else { return false };
        assert_eq!(Some(built_with_it), built(preset, nothing), "{} {} {nothing:?}", preset.id, parameter.name);
        true
    };
    all.filter(is_held).count()
}

#[test]
fn a_declared_default_is_the_one_that_is_built() {
    for (preset, parameter) in ALL.iter().flat_map(|preset| preset.parameters.iter().map(move |p| (preset, p))) {
        let has_none = parameter.default == "null" && parameter.cases.is_empty();
        if !has_none && !OTHERWISE.contains(&(preset.id, parameter.name)) {
            assert!(held(preset, parameter) > 0, "{} refuses the default of {}", preset.id, parameter.name);
        }
    }
}

#[test]
fn a_default_can_be_read_and_a_case_names_a_variant() {
    for (preset, parameter) in ALL.iter().flat_map(|preset| preset.parameters.iter().map(move |p| (preset, p))) {
        let what = format!("{} {}", preset.id, parameter.name);
        let is_known = |written: &str| written == "null" || !Parameter::value_of(written).is_null();
        assert!(is_known(parameter.default), "{what}");
        assert_eq!(preset.parameters.iter().filter(|other| other.name == parameter.name).count(), 1, "{what}");
        for (case, default) in parameter.cases {
            assert!(is_known(default), "{what}");
            match case {
                Case::In(name) => assert!(preset.variants.iter().any(|variant| variant.name == *name), "{what}"),
                Case::When(other, value) => {
                    assert!(
                        is_known(value) && preset.parameters.iter().any(|known| known.name == other.name),
                        "{what}"
                    );
                }
            }
        }
    }
}

fn check(id: &str, variant: Option<&str>, json: &str, n_traps: usize) {
    let settings = Settings { variant: variant.map(str::to_owned), set: object(json), ..Settings::default() };
    let preset = find(id).unwrap();
    settings.check_names(preset.parameters).unwrap();
    let words: Vec<&str> = preset.traps(&settings).iter().map(|trap| trap.words).collect();
    assert_eq!(words.len(), n_traps, "{id} {json}: {words:?}");
}

#[test]
fn a_trap_is_about_its_parameter_and_defaults_are_free_of_them_but_for_dead_guards() {
    for parameter in ALL.iter().flat_map(|preset| preset.parameters) {
        for trap in parameter.traps {
            let inside = trap.about.strip_prefix(parameter.name);
            assert!(inside.is_some_and(|inside| inside.is_empty() || inside.starts_with('.')), "{}", trap.about);
        }
    }
    let trapped: Vec<&str> =
        ALL.iter().filter(|preset| !preset.traps(&Settings::default()).is_empty()).map(|p| p.id).collect();
    assert_eq!(trapped, ["opencode"]);
}

#[test]
fn off_values_short_windows_and_dead_guards_are_named() {
    check("deerflow", None, r#"{"window_size": 4}"#, 1);
    check("deerflow", None, r#"{"window_size": 2}"#, 2);
    check("deerflow", None, r#"{"window_size": 5}"#, 0);
    check("cline", None, r#"{"execution": {"loopDetection": {"hardThreshold": 0}}}"#, 2);
    check("goose", None, r#"{"max_repetitions": 3}"#, 1);
    check("goose", Some("documented"), r#"{"max_repetitions": 3}"#, 0);
    check("openai-agents", None, r#"{"max_turns": 0}"#, 1);
    check("vercel-ai", None, r#"{"stopWhen": {"isStepCount": 20}}"#, 1);
    check("kilo-code", None, r#"{"steps": 5}"#, 1);
    check("kilo-code", None, r#"{"steps": 0}"#, 1);
    check("llama-index", None, r#"{"max_iterations": 2}"#, 0);
    check("mastra", None, r#"{"maxSteps": 2.5}"#, 1);
    check("openclaw", Some("2026.7"), r#"{"tools": {"loopDetection": {"historySize": 19}}}"#, 1);
}
