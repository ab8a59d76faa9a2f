//! Nothing is lost in reading: hidden places, sub-agents in files of their own, outcomes under other names, reports of
//! successes alone, and logs of no known format.

use std::path::{Path, PathBuf};

use whenstop::reader::{Corpus, CorpusReport, FieldMap, LabelColumns, ReadOptions, SubAgents};
use whenstop::transcript::{PromptedBy, Requests, Run};

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

fn read(path: &Path, options: ReadOptions) -> (Vec<Run>, CorpusReport) {
    Corpus::open(&[path.to_path_buf()], options).unwrap().runs().unwrap()
}

fn hints(report: &CorpusReport) -> Vec<String> {
    let hint = |field: &whenstop::reader::UnusedField| Some(format!("{} {}", field.field, field.hint.as_ref()?));
    report.unused.iter().filter_map(hint).collect()
}

const CHAT: &str = r#""messages":[{"role":"user","content":"go"},{"role":"assistant","content":"ok"}]"#;

#[test]
fn an_outcome_under_another_name_is_named_and_exact_with_the_flag() {
    for (field, text) in [
        ("pass", [r#""pass":true"#, r#""pass":false"#]),
        ("evaluation.utility", [r#""evaluation":{"utility":true}"#, r#""evaluation":{"utility":false}"#]),
        ("db_match", [r#""db_match":1"#, r#""db_match":0"#]),
        ("final.verdict", [r#""final":{"verdict":"passed"}"#, r#""final":{"verdict":"failed"}"#]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let lines: Vec<String> = (0..10).map(|n| format!("{{\"id\":\"r{n}\",{},{CHAT}}}", text[n % 2])).collect();
        let path = write(folder.path(), "runs.jsonl", &lines.join("\n"));
        let (runs, report) = read(&path, ReadOptions::default());
        assert!(runs.iter().all(|run| run.grade.outcome.name() == "unknown"), "{field}");
        let expected = format!("{field} is true in 5 and false in 5 runs: `--outcome {field}`");
        assert_eq!(hints(&report), [expected]);
        let options = ReadOptions { outcome_key: Some(field.to_owned()), ..ReadOptions::default() };
        let (runs, report) = read(&path, options);
        let successes = runs.iter().filter(|run| run.grade.outcome.name() == "success").count();
        let failures = runs.iter().filter(|run| run.grade.outcome.name() == "failure").count();
        assert_eq!((successes, failures), (5, 5), "{field}");
        assert_eq!(hints(&report), [] as [&str; 0], "{field}");
    }
}

#[test]
fn a_wrapper_has_an_outcome_too() {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..4 {
        let text = format!(
            "{{\"n\":{n},\"solved_it\":{},\"run\":{{\"trajectory_format\":\"mini-swe-agent-1\",\"info\":{{}},\"messages\":[\
             {{\"role\":\"user\",\"content\":\"go\"}},{{\"role\":\"assistant\",\"content\":\"ok\"}}]}}}}",
            n % 2 == 0
        );
        write(folder.path(), &format!("r{n}.json"), &text);
    }
    let (_, report) = read(folder.path(), ReadOptions::default());
    assert!(hints(&report).contains(&"solved_it is true in 2 and false in 2 runs: `--outcome solved_it`".to_owned()));
    let options = ReadOptions { outcome_key: Some("solved_it".to_owned()), ..ReadOptions::default() };
    let (runs, _) = read(folder.path(), options);
    let outcomes: Vec<&str> = runs.iter().map(|run| run.grade.outcome.name()).collect();
    assert_eq!(outcomes, ["success", "failure", "success", "failure"]);
}

fn trajectory(folder: &Path, id: &str) {
    let text = "{\"trajectory\":[{\"action\":\"ls\",\"observation\":\"x\",\"response\":\"r\",\"thought\":\"t\",\
                \"state\":\"{}\"}],\"history\":[],\"info\":{\"exit_status\":\"submitted\"}}";
    write(folder, &format!("{id}.traj"), text);
}

#[test]
fn a_report_of_successes_alone_makes_no_one_sided_rate() {
    for (report, expected, warned) in [
        // It says how many it covers, and that is all of them.
        (r#"{"stats":{"generated":3,"resolved":1},"resolved":["o__r-1"]}"#, ["success", "failure", "failure"], false),
        (r#"{"total_instances":3,"resolved_ids":["o__r-1"]}"#, ["success", "failure", "failure"], false),
        (
            r#"{"resolved_ids":["o__r-1"],"submitted_ids":["o__r-1","o__r-2"]}"#,
            ["success", "failure", "unknown"],
            false,
        ),
        // It does not, or it covers fewer than there are.
        (r#"{"resolved":["o__r-1"]}"#, ["unknown"; 3], true),
        (r#"{"resolved":["o__r-1"],"total":2}"#, ["unknown"; 3], true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        for id in ["o__r-1", "o__r-2", "o__r-3"] {
            trajectory(folder.path(), id);
        }
        write(folder.path(), "final_report.json", report);
        let (runs, read) = read(folder.path(), ReadOptions::default());
        let outcomes: Vec<&str> = runs.iter().map(|run| run.grade.outcome.name()).collect();
        assert_eq!(outcomes, expected, "{report}");
        let told = read.notices.iter().any(|notice| notice.diagnostic.what.starts_with("only successes are listed"));
        assert_eq!(told, warned, "{report}");
    }
}

fn session(id: &str, parent: Option<&str>, at: u64) -> String {
    let parent = parent.map(|parent| format!("\"parentID\":\"{parent}\",")).unwrap_or_default();
    format!(
        "{{\"info\":{{\"id\":\"{id}\",{parent}\"version\":\"1.2.21\"}},\"messages\":[{{\"info\":{{\"id\":\"u{id}\",\
         \"role\":\"user\",\"time\":{{\"created\":{at}}}}},\"parts\":[{{\"type\":\"text\",\"text\":\"go\"}}]}},\
         {{\"info\":{{\"id\":\"m{id}\",\"role\":\"assistant\",\"modelID\":\"m\",\"tokens\":{{\"input\":10,\"output\":5}},\
         \"time\":{{\"created\":{at},\"completed\":{at}}}}},\"parts\":[{{\"type\":\"text\",\"text\":\"done\"}}]}}]}}"
    )
}

#[test]
fn sub_agents_in_files_of_their_own_are_part_of_their_parents_run() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.json", &session("child", Some("root"), 1_772_924_668_470));
    write(folder.path(), "b.json", &session("root", None, 1_772_924_668_480));
    write(folder.path(), "c.json", &session("grandchild", Some("child"), 1_772_924_668_475));
    write(folder.path(), "d.json", &session("orphan", Some("elsewhere"), 1_772_924_668_475));
    let read = |sub_agents| {
        let (runs, _) = read(folder.path(), ReadOptions { sub_agents, ..ReadOptions::default() });
        let told = |run: &Run| {
            let tokens = whenstop::reader::tokens(run).map(|tokens| tokens.0);
            (run.header.run_id.clone(), run.steps().len(), tokens, run.rounds().len())
        };
        let by_program = runs.iter().filter(|run| run.header.prompted_by == PromptedBy::Program).count();
        (runs.iter().map(told).collect::<Vec<_>>(), by_program)
    };
    let run = |id: &str, tokens: u64, rounds: usize| (id.to_owned(), 1, Some(tokens), rounds);
    assert_eq!(read(SubAgents::Parent), (vec![run("root", 45, 1), run("orphan", 15, 0)], 1));
    let own = vec![run("child", 15, 0), run("root", 15, 1), run("grandchild", 15, 0), run("orphan", 15, 0)];
    assert_eq!(read(SubAgents::Own), (own, 3));
    assert_eq!(read(SubAgents::Drop), (vec![run("root", 15, 1)], 0));
}

#[test]
fn a_notification_after_a_local_command_begins_a_round_of_the_program() {
    let path = super::fixtures().join("claude-code/good-clear.jsonl");
    let (runs, _) = read(&path, ReadOptions::default());
    let rounds = runs[0].rounds();
    let told: Vec<_> = rounds
        .iter()
        .map(|round| (round.prompted_by(runs[0].header.prompted_by), round.active.map(|active| active.0)))
        .collect();
    assert_eq!(told, [(PromptedBy::Program, Some(5_000)), (PromptedBy::Person, Some(9_000))]);
}

/// Reads a log as the command line does: refused with a mapping, read with it, graded as the notice says.
fn in_three_steps(name: &str, text: &str, outcomes: &str) -> (Vec<Run>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), name, text);
    write(folder.path(), "grades.csv", outcomes);
    let (runs, report) = read(&path, ReadOptions::default());
    assert!(runs.is_empty());
    let advice = report.skipped[0].advice.clone().unwrap();
    let map = advice.split("--map ").nth(1).unwrap().trim_end_matches('`').to_owned();
    let columns = FieldMap::parse(&map).unwrap();
    let mapped = || ReadOptions { columns: Some(columns.clone()), ..ReadOptions::default() };
    let (_, report) = read(&path, mapped());
    let notice = report.notices.iter().find(|notice| notice.diagnostic.what.starts_with("outcomes of 40 runs"));
    let help = notice.unwrap_or_else(|| panic!("{:?}", report.notices)).diagnostic.help.clone();
    let named = help.split("--label-columns ").nth(1).unwrap().trim_end_matches('`');
    let options = ReadOptions {
        labels: vec![folder.path().join("grades.csv")],
        label_columns: Some(LabelColumns::parse(named).unwrap()),
        ..mapped()
    };
    (read(&path, options).0, map)
}

fn assert_read(runs: &[Run], map: &str) {
    assert_eq!(runs.len(), 40, "{map}");
    let successes = runs.iter().filter(|run| run.grade.outcome.name() == "success").count();
    let failures = runs.iter().filter(|run| run.grade.outcome.name() == "failure").count();
    assert_eq!((successes, failures), (20, 20), "{map}");
    for run in runs {
        assert_eq!(run.steps().len(), 3, "{map}");
        let calls: Vec<_> = run.replies().flat_map(|reply| &reply.tool_calls).collect();
        assert_eq!(calls.iter().map(|call| &*call.name).collect::<Vec<_>>(), ["ls", "cat"], "{map}");
        assert!(calls[1].arguments.as_str().contains("a.py"), "{map}");
        let results = run.events().iter().filter_map(|event| event.message()).filter(|message| message.is_result());
        assert_eq!(results.count(), 2, "{map}");
        assert_eq!(whenstop::reader::tokens(run).map(|tokens| tokens.0), Some(330), "{map}");
    }
}

#[test]
fn three_logs_of_nobody_elses_are_read_as_they_are_told_to_be() {
    let ids = || (0..40).map(|n| format!("run-{n:02}"));
    let graded = |id: &str, good: &str, bad: &str| {
        let rows = ids().enumerate().map(|(n, run)| format!("{run},{}\n", if n % 2 == 0 { good } else { bad }));
        format!("{id}\n{}", rows.collect::<String>())
    };
    // A run a line, calls inside the messages.
    let line = |id: String| {
        let said = |n: u32, calls: &str| {
            format!(
                "{{\"speaker\":\"agent\",\"utterance\":\"step {n}\",\"metrics\":{{\"tokens_in\":100,\"tokens_out\":10}}{calls}}}"
            )
        };
        let call = |name: &str, with: &str| {
            format!(",\"invocations\":[{{\"fn\":\"{name}\",\"params\":{with},\"returned\":\"fine\",\"failed\":false}}]")
        };
        let turns = [
            "{\"speaker\":\"customer\",\"utterance\":\"please fix it\"}".to_owned(),
            said(1, &call("ls", "{}")),
            said(2, &call("cat", "{\"file\":\"a.py\"}")),
            said(3, ""),
        ];
        format!("{{\"session\":\"{id}\",\"case\":\"c\",\"turns\":[{}]}}\n", turns.join(","))
    };
    let (runs, map) =
        in_three_steps("log.jsonl", &ids().map(line).collect::<String>(), &graded("session,resolved", "yes", "no"));
    assert_read(&runs, &map);
    assert!(runs[0].header.task_id.as_deref() == Some("c"), "{map}");
    // A message a line.
    let lines = |id: String| {
        let line = |who: &str, rest: &str| {
            format!("{{\"job\":\"{id}\",\"who\":\"{who}\",\"at\":\"2026-05-01T10:00:00Z\",{rest}}}\n")
        };
        [
            line("user", "\"body\":\"please fix it\""),
            line("bot", "\"body\":\"\",\"call\":{\"op\":\"ls\",\"args\":{}},\"usage\":{\"prompt\":100,\"completion\":10}"),
            line("env", "\"body\":\"a.py\""),
            line("bot", "\"body\":\"\",\"call\":{\"op\":\"cat\",\"args\":{\"file\":\"a.py\"}},\"usage\":{\"prompt\":100,\"completion\":10}"),
            line("env", "\"body\":\"x = 1\""),
            line("bot", "\"body\":\"done\",\"usage\":{\"prompt\":100,\"completion\":10}"),
        ]
        .concat()
    };
    let (runs, map) =
        in_three_steps("events.jsonl", &ids().map(lines).collect::<String>(), &graded("job_id,ok", "true", "false"));
    assert_read(&runs, &map);
    // A document of runs, steps without roles.
    let run = |id: String| {
        let step = |thought: &str, rest: &str| {
            format!("{{\"thought\":\"{thought}\",\"in_tokens\":100,\"out_tokens\":10{rest}}}")
        };
        let steps = [
            step("look", ",\"action\":{\"tool\":\"ls\",\"input\":{}},\"observation\":\"a.py\""),
            step("read", ",\"action\":{\"tool\":\"cat\",\"input\":{\"file\":\"a.py\"}},\"observation\":\"x = 1\""),
            step("done", ""),
        ];
        format!("{{\"uid\":\"{id}\",\"trace\":{{\"steps\":[{}]}}}}", steps.join(","))
    };
    let document = format!("{{\"version\":3,\"runs\":[{}]}}", ids().map(run).collect::<Vec<_>>().join(","));
    let (runs, map) = in_three_steps("all.json", &document, &graded("id,verdict", "passed", "failed"));
    assert_read(&runs, &map);
}

#[test]
fn where_nobody_records_a_call_rules_on_calls_are_not_evaluable() {
    let folder = tempfile::tempdir().unwrap();
    let line = |n: usize| format!("{{\"id\":\"r{n}\",{CHAT}}}\n");
    let path = write(folder.path(), "runs.jsonl", &(0..3).map(line).collect::<String>());
    let (runs, report) = read(&path, ReadOptions::default());
    assert!(runs.iter().all(|run| run.header.requests == Requests::NoCalls));
    let odd: Vec<_> = report.hygiene.iter().map(|odd| (odd.check, odd.runs)).collect();
    assert_eq!(odd, [("no_calls", 3)]);
    // One run with a call, wherever it stands, says that calls are recorded.
    let call = "{\"id\":\"c\",\"messages\":[{\"role\":\"user\",\"content\":\"go\"},{\"role\":\"assistant\",\"content\":null,\
                \"tool_calls\":[{\"id\":\"1\",\"function\":{\"name\":\"ls\",\"arguments\":\"{}\"}}]}]}\n";
    write(folder.path(), "runs.jsonl", &format!("{}{call}", (0..3).map(line).collect::<String>()));
    let (runs, report) = read(&path, ReadOptions::default());
    assert!(runs.iter().all(|run| run.header.requests == Requests::Recorded));
    assert!(report.hygiene.iter().all(|odd| odd.check != "no_calls"));
    // But it is not looked for behind 64 MiB of runs without one, each counted as 4 KiB and its text.
    let one = line(0).len();
    let near = (64 << 20) / ((4 << 10) + one - 1);
    write(folder.path(), "runs.jsonl", &format!("{}{call}", line(0).repeat(near + 100)));
    let mut not_evaluable = 0;
    let corpus = Corpus::open(&[path], ReadOptions::default()).unwrap();
    let is_marked = |run: Run| run.header.requests == Requests::NoCalls;
    let report = corpus.process(is_marked, |is_marked| not_evaluable += u64::from(is_marked)).unwrap();
    assert_eq!(not_evaluable, 100);
    assert_eq!(report.records_calls.values().collect::<Vec<_>>(), [&true]);
}

#[test]
fn a_list_of_messages_at_the_top_is_read_as_the_same_list_under_a_key() {
    let messages = "[{\"role\":\"user\",\"content\":\"go\"},{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"1\",\
                    \"function\":{\"name\":\"ls\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"a.py\"},\
                    {\"role\":\"assistant\",\"content\":\"done\"}]";
    let folder = tempfile::tempdir().unwrap();
    let events = |name: &str, text: &str| {
        let (runs, report) = read(&write(folder.path(), name, text), ReadOptions::default());
        assert_eq!((runs.len(), report.errors), (1, 0), "{name}");
        format!("{:?}", runs[0].events())
    };
    let under = events("under/a.json", &format!("{{\"messages\":{messages}}}"));
    assert!(under.contains("a.py") && under.contains("done"), "{under}");
    assert_eq!(events("top/a.json", messages), under);
    assert_eq!(events("line/a.jsonl", &format!("{{\"messages\":{messages}}}\n")), under);
}

#[test]
fn actions_written_as_tags_are_found_by_a_rule_on_calls() {
    let act = "{\"role\":\"assistant\",\"content\":\"I look.\\n<function=bash>\\n<parameter=command>ls</parameter>\\n</function>\"}";
    let answer = "{\"role\":\"user\",\"content\":\"OBSERVATION:\\na.py\"}";
    let run = format!(
        "{{\"id\":\"r\",\"messages\":[{{\"role\":\"user\",\"content\":\"go\"}},{act},{answer},{act},{answer}]}}\n"
    );
    let stack = "[[stack]]\nname = \"again\"\nany = [{ signal = \"call.streak\", at_least = 2 }]\n";
    let scratch = crate::scratch::Scratch::with(&[("r.jsonl", &run), ("s.toml", stack)]);
    let (code, _, err) = scratch.run("compare r.jsonl --stacks s.toml --out out");
    assert_eq!(code, 0, "{err}");
    let firings = scratch.table("out/firings.csv");
    assert_eq!(firings.len(), 1, "{firings:?}");
    assert_eq!(firings[0]["stack"], "again");
}

#[test]
fn a_benchmark_that_ends_a_run_at_success_raises_no_alarm() {
    let (_, report) = read(&super::fixtures().join("mint"), ReadOptions::default());
    assert!(report.runs() > 0);
    let folder = tempfile::tempdir().unwrap();
    let state = |reason: &str, success: bool| {
        format!(
            "{{\"state\":{{\"history\":[{{\"role\":\"user\",\"content\":\"q\"}},{{\"role\":\"assistant\",\"content\":\"<solution>1</solution>\"}}],\
             \"finished\":true,\"success\":{success},\"terminate_reason\":\"{reason}\",\"latest_output\":{{}},\"token_counter\":{{}}}},\
             \"task\":{{\"task_name\":\"t\",\"task_id\":\"{reason}\"}}}}\n"
        )
    };
    let text: String =
        (0..40).map(|n| if n % 2 == 0 { state("task_success", true) } else { state("max_steps", false) }).collect();
    let (runs, report) = read(&write(folder.path(), "results.jsonl", &text), ReadOptions::default());
    assert_eq!((runs.len(), report.formats[0].format.as_str()), (40, "mint"));
    assert!(report.hygiene.iter().all(|odd| odd.check != "outcome_is_end_cause"), "{:?}", report.hygiene);
}

#[test]
fn a_field_of_the_reports_beside_the_runs_is_named_and_exact_with_the_flag() {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..6 {
        write(folder.path(), &format!("r{n}/run.jsonl"), &format!("{{\"id\":\"r{n}\",{CHAT}}}\n"));
        let report = format!("{{\"checks\":{{\"db_match\":{}}},\"cached\":true,\"seconds\":7}}", n % 3 == 0);
        write(folder.path(), &format!("r{n}/result.json"), &report);
    }
    let (runs, report) = read(folder.path(), ReadOptions::default());
    assert!(runs.iter().all(|run| run.grade.outcome.name() == "unknown"));
    let told: Vec<&str> = report.notices.iter().map(|notice| notice.diagnostic.what.as_str()).collect();
    let expected = "field `checks.db_match` of 6 reports beside the runs is true 2 and false 4 times, and is not used";
    assert_eq!(told, [expected]);
    assert_eq!(report.notices[0].diagnostic.help, "if it is the outcome: `--outcome checks.db_match`");
    let options = ReadOptions { outcome_key: Some("checks.db_match".to_owned()), ..ReadOptions::default() };
    let (runs, report) = read(folder.path(), options);
    let graded = |name: &str| runs.iter().filter(|run| run.grade.outcome.name() == name).count();
    assert_eq!((graded("success"), graded("failure")), (2, 4));
    assert!(report.notices.is_empty(), "{:?}", report.notices);
}

/// A chat whose counts and calls stand where no reader looks.
#[test]
fn what_may_be_tokens_or_calls_in_the_messages_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let line = |n: usize| {
        let reply = format!(
            "{{\"role\":\"assistant\",\"content\":\"ok\",\"metrics\":{{\"tokens\":{n},\"seconds\":1}},\
             \"metadata\":{{\"tools_used\":[\"ls\"],\"tags\":[\"a\"]}}}}"
        );
        format!("{{\"id\":\"r{n}\",\"messages\":[{{\"role\":\"user\",\"content\":\"hi\"}},{reply}]}}\n")
    };
    let path = write(folder.path(), "runs.jsonl", &(1..4).map(line).collect::<String>());
    let (_, report) = read(&path, ReadOptions::default());
    assert_eq!(
        hints(&report),
        [
            "messages[].metadata.tools_used may be calls, in 3 runs: calls are read from `tool_calls`, as OpenAI's \
             API has them",
            "messages[].metrics.tokens may be tokens, in 3 runs: counts are read from `usage`, as `input_tokens` \
             and `output_tokens`",
        ]
    );
}

#[test]
fn fields_that_may_be_tokens_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let line = |n: usize| format!("{{\"id\":\"r{n}\",\"total_tokens_used\":{},{CHAT}}}\n", 100 + n);
    let path = write(folder.path(), "runs.jsonl", &(0..4).map(line).collect::<String>());
    let (_, report) = read(&path, ReadOptions::default());
    assert_eq!(
        hints(&report),
        ["total_tokens_used may be tokens, in 4 runs: `--map tokens=total_tokens_used,messages=…`"]
    );
}
