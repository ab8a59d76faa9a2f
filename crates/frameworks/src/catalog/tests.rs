//! Checks of every framework's parameters: declared defaults are the ones in force, and traps apply.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{find, frameworks};
use crate::decision::{Decision, Strategy};
use crate::framework::{Build, Case, Framework, Parameter, Settings, SettingsError};
use crate::transcript::{Draft, Event, Header, JudgeReply, Message, Metrics, Role, Run, ToolCall, Usage};

/// Parameters whose mere presence has an effect, with the other setting needed to see the default.
const BESIDE: [(&str, &str, &str); 2] = [
    ("adaptive", "consecutive_successes", r#"{"strategies": [4]}"#),
    ("ag2", "group_chat.max_round", r#"{"group_chat.is_termination_msg": {"never": true}}"#),
];
/// Parameters whose default makes a difference when given explicitly: the cap is then no longer adaptive, and the
/// default condition has its own code.
const OTHERWISE: [(&str, &str); 2] = [("qwen-code", "model.maxToolCallsPerTurn"), ("vercel-ai", "stopWhen")];

fn object(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap()
}

fn with(profile: Option<&str>, json: &str) -> Settings {
    Settings { profile: profile.map(str::to_owned), set: object(json), ..Settings::named("s") }
}

fn profiles(framework: &Framework) -> impl Iterator<Item = Option<&'static str>> {
    std::iter::once(None).chain(framework.profile_names().into_iter().map(Some))
}

fn parameters() -> impl Iterator<Item = (&'static Framework, &'static Parameter)> {
    frameworks().flat_map(|framework| framework.parameters.iter().map(move |parameter| (framework, parameter)))
}

/// Thirty rounds of two steps and an answer, with the extra data that systems read: a judge's reply, an experiment's
/// metrics.
fn session() -> Run {
    let mut events = Vec::new();
    for round in 0..30 {
        events.push(Event::Message(Message::saying(Role::User, "go on")));
        for step in 0..3 {
            let mut reply =
                Message::saying(Role::Assistant, format!("{round} {step} <TaskStatus>complete</TaskStatus>"));
            reply.set_usage(Some(Usage::new(80, 20)));
            if step < 2 {
                let arguments = json!({ "path": round, "step": step }).to_string();
                reply.tool_calls.push(ToolCall::new(Some("c"), "read_file", arguments));
            }
            let results = reply.tool_calls.len();
            events.push(Event::Message(reply));
            events.extend((0..results).map(|_| Event::Message(Message::saying(Role::Tool, "fine"))));
        }
        let values = vec![("f1".into(), f64::from(round) / 30.0)];
        let (experiment, status) = (Some(round.to_string().into()), Some("completed".into()));
        events.push(Event::Metrics(Metrics { experiment, status, values, plan: None }));
        let reply = Some(r#"{"done": false}"#.into());
        events.push(Event::Judge(JudgeReply { reply, error: None, usage: None }));
    }
    Run::new(Draft { events, ..Draft::default() })
}

/// The decisions of a strategy without a machine on the session.
fn trail(strategy: Arc<dyn Strategy>, run: &Run) -> Vec<Decision> {
    let mut watch = strategy.start(&run.header);
    let mut trail = Vec::new();
    for view in run.views() {
        watch.at(&view, &mut trail);
    }
    trail
}

/// A full description of what settings build: the rules, what they need, and the machine's initial state; or, if there
/// is no machine, what the strategy does.
fn built(framework: &Framework, settings: &Settings, run: &Run) -> Result<String, SettingsError> {
    let strategy = framework.strategy(settings)?;
    let what = format!("{} {:?} {:?}", strategy.profile(), strategy.rules(), strategy.requirements());
    Ok(match framework.machine(settings) {
        Some(machine) => {
            format!("{what} {:?} {:?}", machine.as_ref(), machine.as_ref().unwrap().recipe().start(&Header::default()))
        }
        None => format!("{what} {:?}", trail(strategy, run)),
    })
}

/// The number of profiles in which a parameter can be set; in each, setting it to its default must give the same result
/// as leaving it out. A profile that rejects the parameter, or cannot be built without others, is not counted.
fn held(framework: &Framework, parameter: &Parameter, run: &Run) -> usize {
    let is_it = |id: &str, name: &str| id == framework.id && name == parameter.name;
    let beside = BESIDE.iter().find(|(id, name, _)| is_it(id, name)).map_or("{}", |(_, _, beside)| beside);
    let is_held = |profile: Option<&str>| {
        let nothing = with(profile, beside);
        let mut given = nothing.clone();
        given.set.insert(parameter.name.to_owned(), nothing.default_of(parameter));
        let (Ok(given), Ok(nothing)) = (built(framework, &given, run), built(framework, &nothing, run)) else {
            return false;
        };
        assert_eq!(given, nothing, "{} {} {profile:?}", framework.id, parameter.name);
        true
    };
    profiles(framework).filter(|profile| is_held(*profile)).count()
}

#[test]
fn a_declared_default_is_the_one_that_is_built() {
    let run = session();
    for (framework, parameter) in parameters() {
        let has_none = parameter.default == "null" && parameter.cases.is_empty();
        if !has_none && !OTHERWISE.contains(&(framework.id, parameter.name)) {
            let held = held(framework, parameter, &run);
            assert!(held > 0, "{} refuses the default of {}", framework.id, parameter.name);
        }
    }
}

#[test]
fn a_default_can_be_read_and_a_case_names_a_profile() {
    for (framework, parameter) in parameters() {
        let what = format!("{} {}", framework.id, parameter.name);
        let is_known = |written: &str| written == "null" || !Parameter::value_of(written).is_null();
        assert!(is_known(parameter.default), "{what}");
        assert_eq!(framework.parameters.iter().filter(|other| other.name == parameter.name).count(), 1, "{what}");
        for (case, default) in parameter.cases {
            assert!(is_known(default), "{what}");
            match case {
                Case::In(name) => assert!(framework.profile_names().contains(name), "{what}"),
                Case::When(other, value) => {
                    assert!(is_known(value), "{what}");
                    assert!(framework.parameters.iter().any(|known| known.name == other.name), "{what}");
                }
            }
        }
    }
}

/// Everything that the list of frameworks and `explain` print is present.
#[test]
fn every_framework_says_what_it_is() {
    for framework in frameworks() {
        let Framework { id, version, source, summary, manual, .. } = framework;
        assert!([version, source, summary].iter().all(|text| !text.is_empty()) && manual.len() > 200, "{id}");
        assert_eq!(frameworks().filter(|other| other.id == *id).count(), 1, "{id}");
        assert_eq!(matches!(framework.build, Build::Machine(_)), !framework.rules.is_empty(), "{id}");
        for profile in framework.profiles {
            for name in std::iter::once(&profile.name).chain(profile.also) {
                let settings = Settings { profile: Some((*name).to_owned()), ..Settings::named("s") };
                let Ok(strategy) = framework.strategy(&settings) else { continue };
                assert_eq!(strategy.profile(), profile.name, "{id}");
            }
        }
    }
}

fn check(id: &str, profile: Option<&str>, json: &str, n_traps: usize) {
    let (settings, framework) = (with(profile, json), find(id).unwrap());
    framework.strategy(&settings).unwrap();
    let words: Vec<String> = framework.traps(&settings).into_iter().map(|trap| trap.error.what).collect();
    assert_eq!(words.len(), n_traps, "{id} {json}: {words:?}");
}

#[test]
fn a_trap_is_about_its_parameter_and_defaults_are_free_of_them_but_for_dead_guards() {
    for (_, parameter) in parameters() {
        for trap in parameter.traps {
            let inside = trap.about.strip_prefix(parameter.name);
            assert!(inside.is_some_and(|inside| inside.is_empty() || inside.starts_with('.')), "{}", trap.about);
        }
    }
    let trapped = frameworks().filter(|framework| !framework.traps(&Settings::default()).is_empty());
    assert_eq!(trapped.map(|framework| framework.id).collect::<Vec<_>>(), ["opencode"]);
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
