//! The files of the presets, and what is said of a wrong word in one.

use super::PRESETS;
use super::file::File;
use crate::diagnostic::Severity;
use crate::framework::FrameworkKind;

#[test]
fn every_file_can_be_read_and_stands_under_its_frameworks_name() {
    for preset in &PRESETS {
        match preset.read() {
            Ok(framework) => assert!(preset.is_called(framework.id), "{} is in {}", framework.id, preset.folder),
            Err(error) => panic!("{}", error.render(Severity::Error)),
        }
    }
}

/// Changes a word of a file, and returns the line of the error, what is wrong, and how to fix it.
fn refusal(right: &str, wrong: &str) -> (usize, String) {
    let text = include_str!("agno/framework.toml");
    assert_eq!(text.matches(right).count(), 1, "{right}");
    let error = File::read("framework.toml", &text.replace(right, wrong)).unwrap_err();
    (error.at.line, error.what)
}

#[test]
fn a_wrong_word_is_refused_with_its_line_and_the_nearest_word() {
    let line = |part: &str| {
        let lines = include_str!("agno/framework.toml").lines();
        lines.take_while(|line| !line.contains(part)).count() + 1
    };
    for (right, wrong, said) in [
        ("action = \"deny\"", "action = \"denny\"", "unknown word `denny`; did you mean `deny`? known: observe, warn,"),
        ("when = \"each_call\"", "when = \"each_cal\"", "unknown word `each_cal`; did you mean `each_call`?"),
        ("fires = \"more_than\"", "fires = \"more\"", "unknown word `more`; did you mean `more_than`?"),
        ("counts = \"calls\"", "counts = \"call\"", "unknown word `call`; did you mean `calls`?"),
        ("uncounted_tools = \"unregistered\"", "uncounted_tools = \"registered\"", "unknown parameter `registered`"),
    ] {
        let (at, what) = refusal(right, wrong);
        assert!(what.starts_with(said), "{what}");
        assert_eq!(at, line(right), "{right}");
    }
    let (_, what) = refusal("[[cap]]", "[[caps]]");
    assert!(what.contains("unknown field `caps`"), "{what}");
}

#[test]
fn a_slot_has_an_error_if_it_fails_and_only_then() {
    let text = include_str!("google_adk/framework.toml");
    for half in ["action = \"fail\"\n", "error = \"LlmCallsLimitExceededError\"\n"] {
        assert_eq!(text.matches(half).count(), 1, "{half}");
        let error = File::read("framework.toml", &text.replace(half, "")).unwrap_err();
        assert_eq!(error.what, "`error` and `action = \"fail\"` go together, and `max_llm_calls` has only one of them");
    }
}

#[test]
fn only_presets_count_golden_cases() {
    let read = |kind| {
        let file = File::read("framework.toml", include_str!("agno/framework.toml")).unwrap();
        file.framework("framework.toml", kind, "", None).map(|framework| framework.golden_cases)
    };
    assert_eq!(read(FrameworkKind::Preset).unwrap(), Some(89));
    assert_eq!(read(FrameworkKind::System).unwrap_err().what, "`golden_cases` in the file of a system");
}
