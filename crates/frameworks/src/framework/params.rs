//! A framework's parameters, each declared once: name, default in every profile, off value, description, and the traps
//! its values can fall into.

use serde_json::Value;

use super::Settings;

/// One parameter, named as the framework names it (dotted when nested).
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name, for example `execution.loopDetection.softThreshold`.
    pub name: &'static str,
    /// The shipped default, written as in a stack file; `null` if there is none.
    pub default: &'static str,
    /// Cases with a different default; the first one that applies counts.
    pub cases: &'static [(Case, &'static str)],
    /// The value that switches the rule off; empty if there is none.
    pub off: &'static str,
    /// What it limits, in one line.
    pub doc: &'static str,
    /// Problems that some of its values cause.
    pub traps: &'static [Trap],
}

/// When a parameter has a different default.
#[derive(Clone, Copy, Debug)]
pub enum Case {
    /// In this profile.
    In(&'static str),
    /// When another parameter has this value.
    When(&'static Parameter, &'static str),
}

/// A problem with a value that can be seen before any run: an off value that means "at once", a window shorter than its
/// threshold, a cap that can be skipped over, a guard that cannot fire.
#[derive(Clone, Copy, Debug)]
pub struct Trap {
    /// What it is about: the parameter, or the entry of this name inside its table.
    pub about: &'static str,
    /// Whether these settings have the problem.
    pub holds: Holds,
    /// What is wrong, as a sentence.
    pub words: &'static str,
}

/// The condition under which a trap applies.
#[derive(Clone, Copy, Debug)]
pub enum Holds {
    /// Tests the number in force for [`Trap::about`] (set or default); never applies if it is not a number.
    Number(fn(f64) -> bool),
    /// Applies if that number is at most this.
    AtMost(f64),
    /// Tests the settings as a whole.
    Settings(fn(&Settings) -> bool),
}

impl Parameter {
    /// Parses a value written as in a stack file; null if it is written `null` or does not parse.
    pub fn value_of(written: &str) -> Value {
        let value = || {
            let value = toml::from_str::<toml::Table>(&format!("value = {written}")).ok()?.remove("value")?;
            serde_json::to_value(value).ok()
        };
        value().unwrap_or_default()
    }

    /// The default outside all cases, as a whole number.
    #[expect(clippy::missing_panics_doc, reason = "asked for as a constant, so that it fails to compile")]
    pub const fn whole(&self) -> i64 {
        match i64::from_str_radix(self.default, 10) {
            Ok(whole) => whole,
            Err(_) => panic!("the default is no whole number"),
        }
    }

    /// The default in a profile, as written.
    pub fn default_in(&self, profile: &str) -> &'static str {
        let case = self.cases.iter().find(|(case, _)| matches!(case, Case::In(name) if *name == profile));
        if let Some((_, default)) = case { default } else { self.default }
    }

    /// The default outside all cases, then each case with its own: `9999 (create_react_agent: 10007)`.
    pub fn defaults(&self) -> String {
        let case = |(case, default): &(Case, &str)| match case {
            Case::In(profile) => format!("{profile}: {default}"),
            Case::When(other, value) => format!("{} = {value}: {default}", other.name),
        };
        let cases: Vec<String> = self.cases.iter().map(case).collect();
        if cases.is_empty() { self.default.to_owned() } else { format!("{} ({})", self.default, cases.join(", ")) }
    }
}

/// The traps that these settings fall into, in declaration order.
pub(crate) fn traps(parameters: &[Parameter], settings: &Settings) -> Vec<Trap> {
    let all = parameters.iter().flat_map(|parameter| parameter.traps.iter().map(move |trap| (parameter, trap)));
    all.filter(|(parameter, trap)| holds(parameter, trap, settings)).map(|(_, trap)| *trap).collect()
}

fn holds(parameter: &Parameter, trap: &Trap, settings: &Settings) -> bool {
    let number = || {
        let given = settings.get(trap.about).and_then(Value::as_f64);
        given.or_else(|| settings.default_of(parameter).as_f64().filter(|_| trap.about == parameter.name))
    };
    match trap.holds {
        Holds::Number(test) => number().is_some_and(test),
        Holds::AtMost(most) => number().is_some_and(|number| number <= most),
        Holds::Settings(test) => test(settings),
    }
}

/// Declares a framework's parameters: a constant for each in a module `param`, and all of them as `param::ALL`, so that
/// no declared parameter can be left out of the list.
///
/// ```text
/// params! {
///     MAX_ITER: "max_iter" = 25, "replies of one task",
///         trap |n| if n <= 0.0 => "`max_iter` of 0 or less is not off: the run fails at once";
///     RECURSION: "recursion_limit" = 9999, in "create_react_agent" = 10007, "supersteps of one invoke";
///     STEPS: "max_steps" = 200, when FEW = true => 100, off null, "steps of one run",
///         trap with |s| if s.amount(&STEPS) < s.amount(&WINDOW) => "`max_steps` is shorter than `window`";
/// }
/// ```
///
/// Values are written as in a stack file, `null` for none. `off` may be followed by words (`off 0 and negatives`). A
/// trap tests the parameter's number (`|n|`) or the settings as a whole (`with |s|`); `of "a.b"` names the entry it is
/// about inside a parameter that is a table.
macro_rules! params {
    (@written $value:tt $($digits:literal)?) => { concat!(stringify!($value) $(, stringify!($digits))?) };
    (@or $name:literal) => { $name };
    (@or $name:literal $inner:literal) => { $inner };
    (@holds [] [$n:ident] $holds:expr) => { $crate::framework::Holds::Number(|$n: f64| $holds) };
    (@holds [$s:ident] [] $holds:expr) => {
        $crate::framework::Holds::Settings(|$s: &$crate::framework::Settings| $holds)
    };
    ($(
        $id:ident: $name:literal = $default:tt $($digits:literal)?
        $(, in $profile:literal = $there:tt $($there_digits:literal)?)*
        $(, when $other:ident = $is:tt => $then:tt $($then_digits:literal)?)*
        $(, off $off:tt $($off_digits:literal)? $($off_words:ident)*)?
        , $doc:literal
        $(, trap $(of $inner:literal)? $(with |$s:ident|)? $(|$n:ident|)? if $holds:expr => $words:literal)*
    ;)+) => {
        /// The parameters, under the framework's own names.
        pub(super) mod param {
            $(pub(super) const $id: $crate::framework::Parameter = $crate::framework::Parameter {
                name: $name,
                default: $crate::framework::params!(@written $default $($digits)?),
                cases: &[
                    $((
                        $crate::framework::Case::In($profile),
                        $crate::framework::params!(@written $there $($there_digits)?),
                    ),)*
                    $((
                        $crate::framework::Case::When(&$other, $crate::framework::params!(@written $is)),
                        $crate::framework::params!(@written $then $($then_digits)?),
                    ),)*
                ],
                off: concat!(
                    $($crate::framework::params!(@written $off $($off_digits)?) $(, " ", stringify!($off_words))*)?
                ),
                doc: $doc,
                traps: &[$($crate::framework::Trap {
                    about: $crate::framework::params!(@or $name $($inner)?),
                    holds: $crate::framework::params!(@holds [$($s)?] [$($n)?] $holds),
                    words: $words,
                },)*],
            };)+

            /// All parameters, in declaration order.
            pub(in super::super) const ALL: &[$crate::framework::Parameter] = &[$($id),+];
        }
    };
}
pub(crate) use params;

#[cfg(test)]
mod tests {
    use super::*;

    params! {
        FEW: "few" = false, off false, "fewer steps";
        STEPS: "max.steps" = 200, in "short" = 20, when FEW = true => -1, off 0 and negatives, "steps",
            trap |n| if n <= 0.0 => "not off",
            trap with |s| if s.amount(&STEPS) < s.amount(&WINDOW) => "too short";
        WINDOW: "window" = 10, "a window";
        STOP: "stop" = { at = "once" }, off null, "a table",
            trap of "stop.after" |n| if n.fract() != 0.0 => "a fraction";
    }

    fn settings(profile: Option<&str>, json: &str) -> Settings {
        let profile = profile.map(str::to_owned);
        Settings { profile, set: serde_json::from_str(json).unwrap(), ..Settings::default() }
    }

    #[test]
    fn a_default_holds_in_its_case_and_is_printed_with_it() {
        assert_eq!(param::STEPS.defaults(), "200 (short: 20, few = true: -1)");
        assert_eq!((param::STEPS.off, param::STOP.default), ("0 and negatives", "{ at = \"once\" }"));
        assert_eq!(
            param::ALL.iter().map(|parameter| parameter.name).collect::<Vec<_>>(),
            ["few", "max.steps", "window", "stop"]
        );
        for (profile, json, steps) in [
            (None, "{}", 200),
            (Some("short"), "{}", 20),
            (None, r#"{"few": true}"#, -1),
            (Some("short"), r#"{"max": {"steps": 3}}"#, 3),
            (Some("short"), r#"{"max": {"steps": null}}"#, 20),
        ] {
            assert_eq!(settings(profile, json).int(&param::STEPS), Ok(steps), "{profile:?} {json}");
        }
        assert_eq!(settings(None, "{}").default_of(&param::STOP), serde_json::json!({ "at": "once" }));
    }

    #[test]
    fn traps_look_at_the_value_in_force() {
        let about = |profile, json| -> Vec<&str> {
            traps(param::ALL, &settings(profile, json)).iter().map(|trap| trap.words).collect()
        };
        assert_eq!(about(None, "{}"), [""; 0]);
        assert_eq!(about(None, r#"{"few": true}"#), ["not off", "too short"]);
        assert_eq!(about(Some("short"), r#"{"window": 21}"#), ["too short"]);
        assert_eq!(about(None, r#"{"stop": {"after": 2.5}}"#), ["a fraction"]);
    }
}
