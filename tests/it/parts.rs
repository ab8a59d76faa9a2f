//! Comparisons in parts: the merged files are those of one comparison, and what is missing, doubled or torn is named.

use crate::scratch::Scratch;
use whenstop::cli::embedded::{self, KeywordArguments, OptionValue};
use whenstop::report::Shard;

const STACKS: &str = "[[stack]]\nname = \"loop\"\nany = [{ signal = \"call_result.streak\", at_least = 2 }]\n\
    [[stack]]\nname = \"hasty\"\nany = [{ signal = \"steps\", at_least = 1 }]\n";

/// Runs of 30 tasks, three of each, some ungraded, over two files; two runs of one name.
fn scratch() -> Scratch {
    let run = |n: usize| {
        let id = if n == 77 { 3 } else { n };
        let outcome = ["true", "false", "null"][n % 3];
        format!(
            "{{\"type\":\"run\",\"run_id\":\"r{id}\",\"task_id\":\"t{}\",\"suite\":\"s{}\",\"model\":\"m\"}}\n\
             {{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{{\"id\":\"1\",\"name\":\"ls\",\"arguments\":{{}}}}],\"usage\":{{\"input\":{n},\"output\":1}}}}\n\
             {{\"type\":\"message\",\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"a.txt\",\"is_error\":false}}\n\
             {{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"Done.\",\"usage\":{{\"input\":500,\"output\":1}}}}\n\
             {{\"type\":\"outcome\",\"success\":{outcome},\"end\":\"self_finish\"}}\n",
            n % 30,
            n % 2
        )
    };
    let (first, second): (String, String) = ((0..50).map(run).collect(), (50..90).map(run).collect());
    Scratch::with(&[("runs/a.jsonl", &first), ("runs/b.jsonl", &second), ("stacks.toml", STACKS)])
}

fn run(scratch: &Scratch, command: &str) -> (i32, String, String) {
    scratch.run(command)
}

fn assert_same(scratch: &Scratch, one: &str, other: &str) {
    assert_eq!(scratch.names(one), scratch.names(other));
    for name in scratch.names(one) {
        let read = |folder: &str| std::fs::read(scratch.path(&format!("{folder}/{name}"))).unwrap();
        assert!(read(one) == read(other), "{one}/{name} and {other}/{name} differ");
    }
}

/// Writes all parts of what `command` asks to folders of `parts`, the last first.
fn write_parts(scratch: &Scratch, command: &str, parts: &str, of: u32) {
    for number in (1..=of).rev() {
        let (code, _, stderr) = run(scratch, &format!("{command} --shard {number}/{of} --out {parts}/{number}"));
        assert_eq!(code, 0, "{stderr}");
    }
}

#[test]
fn parts_merge_to_the_files_of_one_comparison() {
    let scratch = scratch();
    let compare = "compare runs --stacks stacks.toml --max-killed 0.1 --today hasty --quiet";
    assert_eq!(run(&scratch, &format!("{compare} --out whole")).0, 0);
    for of in [1, 2, 7, 40] {
        write_parts(&scratch, compare, &format!("parts{of}"), of);
        let (code, _, stderr) = run(&scratch, &format!("report parts{of} --out merged{of}"));
        assert_eq!(code, 0, "{stderr}");
        assert_same(&scratch, "whole", &format!("merged{of}"));
    }
    assert_eq!(run(&scratch, &format!("{compare} --rows parquet --out typed")).0, 0);
    assert_eq!(run(&scratch, "report parts2 --rows parquet --out merged-typed").0, 0);
    assert_same(&scratch, "typed", "merged-typed");
    // Redrawn from Parquet, the tables are the same.
    assert_eq!(run(&scratch, "report typed --out again").0, 0);
    assert_eq!(scratch.read("again/summary.csv"), scratch.read("whole/summary.csv"));
    assert_eq!(scratch.read("again/rules.csv"), scratch.read("whole/rules.csv"));
}

#[test]
fn what_is_missing_doubled_or_torn_is_named_and_nothing_is_written() {
    let scratch = scratch();
    let part = |number: u32, of: u32, out: &str, more: &str| {
        let command = format!("compare runs --stacks stacks.toml --quiet --shard {number}/{of} --out {out} {more}");
        let (code, _, stderr) = run(&scratch, &command);
        assert_eq!(code, 0, "{stderr}");
    };
    let fails = |parts: &str, what: &str| {
        let (code, _, stderr) = run(&scratch, &format!("report {parts} --out merged"));
        assert_eq!(code, 3, "{parts}: {stderr}");
        assert!(stderr.contains(what), "{parts}: {stderr}");
        assert!(!scratch.path("merged").exists(), "{parts} left something");
        stderr
    };
    for number in [1, 3] {
        part(number, 3, &format!("parts/{number}"), "");
    }
    fails("parts", "1 of 3 parts missing: 2/3");
    fails("stacks.toml", "give the folder `compare --out` wrote");
    part(2, 3, "parts/2", "");
    part(2, 3, "twice/2", "");
    fails("parts twice", "part 2/3 is doubled: it is in `parts/2` too");
    part(2, 3, "other/2", "--max-killed 0.5");
    fails("parts/1 other/2 parts/3", "other options");
    part(2, 4, "other/2-of-4", "");
    fails("parts other/2-of-4", "one of 3 parts, one of 4");

    let rows = scratch.path("parts/2/rows.parquet");
    let whole = std::fs::read(&rows).unwrap();
    std::fs::write(&rows, &whole[..whole.len() / 2]).unwrap();
    let told = fails("parts", "`rows.parquet` has");
    assert!(told.contains("parts/2") && !told.contains("missing"), "{told}");
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    std::fs::write(&rows, &changed).unwrap();
    fails("parts", "other content of the same length");
    std::fs::write(&rows, &whole).unwrap();
    std::fs::remove_file(scratch.path("parts/2/firings.parquet")).unwrap();
    fails("parts", "`firings.parquet`");
    std::fs::write(scratch.path("parts/2/part.json"), "{\"part_version\":1").unwrap();
    fails("parts", "this part is not whole: `part.json`");
    std::fs::remove_file(scratch.path("parts/2/part.json")).unwrap();
    fails("parts", "parts/2");
}

#[test]
fn limits_and_settings_are_compared_in_parts_like_stacks() {
    let scratch = scratch();
    scratch.put("grid.toml", "[[axis]]\nuse = \"roo-code\"\nset = { consecutiveMistakeLimit = [2, 3] }\n");
    scratch.put("told.toml", "[[axis]]\ncap = [20, 40]\ntold = true\n");
    let code = concat!(env!("CARGO_MANIFEST_DIR"), "/traces/synthetic/code.jsonl");
    for (name, runs, asked, exit) in [
        ("limits", code, "--signal steps --limits 30..40 --max-killed 0.3", 0),
        ("of", code, "--of preset:openhands --max-killed 0.3", 0),
        ("settings", code, "--grid grid.toml --max-killed 0.9", 100),
        ("told", code, "--grid told.toml --max-killed 0.3", 100),
        ("few", "runs", "--signal steps --limits 1..3 --signal call_result.streak --limits 2 --max-killed 0.1", 100),
    ] {
        let tune = format!("tune {runs} {asked} --quiet");
        let (code, told, stderr) = run(&scratch, &format!("{tune} --out {name}/whole"));
        assert_eq!(code, exit, "{stderr}");
        assert_eq!(scratch.names(&format!("{name}/whole")).contains(&"tuned.toml".to_owned()), exit == 0);
        for of in [1, 2, 7] {
            write_parts(&scratch, &tune, &format!("{name}/parts{of}"), of);
            let merged = format!("{name}/merged{of}");
            let (code, again, stderr) = run(&scratch, &format!("report {name}/parts{of} --out {merged}"));
            assert_eq!((code, &again), (exit, &told), "{stderr}");
            assert_same(&scratch, &format!("{name}/whole"), &merged);
        }
        let (code, _, stderr) = run(&scratch, &format!("report {name}/parts7/1 {name}/parts7/2 --out lost"));
        assert!(code == 3 && stderr.contains("5 of 7 parts missing"), "{stderr}");
        assert_eq!(run(&scratch, &format!("{tune} --shard 1/2 --out {name}/again/1")).0, 0);
        let (code, _, stderr) = run(&scratch, &format!("report {name}/parts2 {name}/again --out twice"));
        assert!(code == 3 && stderr.contains("part 1/2 is doubled"), "{stderr}");
    }
}

#[test]
fn the_catalogue_is_searched_in_parts_to_the_answer_of_one_search() {
    let scratch = scratch();
    let code = concat!(env!("CARGO_MANIFEST_DIR"), "/traces/synthetic/code.jsonl");
    for (name, asked, exit, parts) in [
        ("walk", format!("{code} --max-killed 0.3 --today stacks.toml --no-presets"), 0, &[1, 7][..]),
        ("list", "runs --max-killed 0.3 --learn --cross-fit --no-presets".to_owned(), 100, &[2]),
        ("classes", format!("{code} --max-killed 0.3 --by model"), 0, &[1, 7]),
        ("refused", "runs --max-killed 0.01 --today preset:openhands --no-presets".to_owned(), 100, &[1, 2, 7]),
    ] {
        let tune = format!("tune {asked} --quiet");
        let (code, told, stderr) = run(&scratch, &format!("{tune} --format json --out {name}/whole"));
        assert_eq!(code, exit, "{stderr}");
        for of in parts {
            write_parts(&scratch, &tune, &format!("{name}/parts{of}"), *of);
            let merged = format!("{name}/merged{of}");
            let report = format!("report {name}/parts{of} --format json --out {merged} --quiet");
            assert_eq!(run(&scratch, &report), (code, told.clone(), String::new()));
            assert!(scratch.names(&merged).len() >= 2);
            for file in scratch.names(&merged) {
                let read = |folder: &str| scratch.read(&format!("{folder}/{file}"));
                assert_eq!(read(&merged), read(&format!("{name}/whole")), "{file}");
            }
        }
        if name != "refused" {
            continue;
        }
        let fails = |parts: &str, what: &str| {
            let (code, _, stderr) = run(&scratch, &format!("report {parts} --out {name}/none"));
            assert!(code == 3 && stderr.contains(what), "{stderr}");
        };
        fails(&format!("{name}/parts7/1 {name}/parts7/2"), "5 of 7 parts missing");
        assert_eq!(run(&scratch, &format!("{tune} --shard 1/2 --out {name}/again/1")).0, 0);
        fails(&format!("{name}/parts2 {name}/again"), "part 1/2 is doubled");
        let other = format!("{tune} --confidence 0.8 --shard 1/2 --out {name}/other/1");
        assert_eq!(run(&scratch, &other).0, 0);
        fails(&format!("{name}/other/1 {name}/parts2/2"), "other options");
        let (code, _, stderr) = run(&scratch, &format!("report {name}/parts2 --format pr"));
        assert!(code == 2 && stderr.contains("parts of a search"), "{stderr}");
        for option in ["--max-killed 0.5", "--all", "--rows parquet", "--whole-budget", "--today a", "--proposed a"] {
            let (code, _, stderr) = run(&scratch, &format!("report {name}/parts2 {option}"));
            assert!(code == 2 && stderr.contains("is not for a search"), "{option}: {stderr}");
        }
    }
}

#[test]
fn a_grid_of_rules_is_searched_in_parts_to_the_files_of_one_search() {
    let scratch = scratch();
    let code = concat!(env!("CARGO_MANIFEST_DIR"), "/traces/synthetic/code.jsonl");
    scratch.put(
        "grid.toml",
        "[[axis]]\nsignal = \"call_result.count\"\nat_least = { quantiles = 5 }\noptional = true\n\
         [[axis]]\nsignal = \"steps\"\nat_least = [6, 12, 24]\noptional = true\n",
    );
    for (name, runs, all) in [("shipped", code, "--all-stacks --rows --best 2"), ("refused", "runs", "")] {
        let tune = format!("tune {runs} --grid grid.toml --max-killed 0.2 --confidence 0.9 --quiet {all}");
        let (code, told, stderr) = run(&scratch, &format!("{tune} --format json --out {name}/whole"));
        assert_eq!(code, if name == "shipped" { 0 } else { 100 }, "{stderr}");
        for of in [1, 2, 7] {
            write_parts(&scratch, &tune, &format!("{name}/parts{of}"), of);
            let merged = format!("{name}/merged{of}");
            let report = format!("report {name}/parts{of} --format json --out {merged} --quiet");
            assert_eq!(run(&scratch, &report), (code, told.clone(), String::new()));
            assert_same(&scratch, &format!("{name}/whole"), &merged);
        }
        let (code, _, stderr) = run(&scratch, &format!("report {name}/parts7/1 {name}/parts7/2"));
        assert!(code == 3 && stderr.contains("5 of 7 parts missing"), "{stderr}");
        assert_eq!(run(&scratch, &format!("{tune} --shard 1/2 --out {name}/again/1")).0, 0);
        let (code, _, stderr) = run(&scratch, &format!("report {name}/parts2 {name}/again"));
        assert!(code == 3 && stderr.contains("part 1/2 is doubled"), "{stderr}");
        assert_eq!(run(&scratch, &format!("{tune} --most 1000 --shard 1/2 --out {name}/other/1")).0, 0);
        let (code, _, stderr) = run(&scratch, &format!("report {name}/other/1 {name}/parts2/2"));
        assert!(code == 3 && stderr.contains("other options"), "{stderr}");
    }
}

#[test]
fn a_shard_is_two_numbers_and_needs_a_folder() {
    let scratch = scratch();
    for shard in ["0/3", "4/3", "2", "a/b", "1/0"] {
        let (code, _, stderr) = run(&scratch, &format!("compare runs --stacks stacks.toml --shard {shard} --out p"));
        assert!(code == 2 && stderr.contains("2/7"), "{shard}: {stderr}");
    }
    let (code, _, stderr) = run(&scratch, "compare runs --stacks stacks.toml --shard 1/2");
    assert!(code == 2 && stderr.contains("--out"), "{stderr}");
}

#[test]
fn converted_to_parquet_and_to_shards_the_runs_are_the_same() {
    let scratch = scratch();
    let compare = |paths: &str, out: &str| {
        let (code, _, stderr) = run(&scratch, &format!("compare {paths} --stacks stacks.toml --quiet --out {out}"));
        assert_eq!(code, 0, "{stderr}");
        let mut rows: Vec<String> = scratch.read(&format!("{out}/rows.csv")).lines().map(str::to_owned).collect();
        rows.sort();
        rows
    };
    let whole = compare("runs", "whole");
    assert_eq!(run(&scratch, "convert runs --to parquet --out runs.parquet").0, 0);
    assert_eq!(compare("runs.parquet", "of-table"), whole);
    for to in ["parquet", "trace"] {
        assert_eq!(run(&scratch, &format!("convert runs --to {to} --shards 3 --out shards-{to}")).0, 0);
        assert_eq!(scratch.names(&format!("shards-{to}")).len(), 3);
        assert_eq!(compare(&format!("shards-{to}"), &format!("of-{to}")), whole);
    }
    let (code, _, stderr) = run(&scratch, "convert runs --to parquet");
    assert!(code == 2 && stderr.contains("--out"), "{stderr}");
    let (code, _, stderr) = run(&scratch, "convert runs.parquet --to parquet --out runs.parquet");
    assert!(code == 2 && stderr.contains("this command reads this file"), "{stderr}");
}

/// A run of one step that says something and, perhaps, calls a tool.
fn one_step(id: &str, calls: &str) -> String {
    format!(
        r#"{{"type":"run","run_id":"{id}","task_id":"{id}"}}
{{"type":"message","role":"assistant","content":"done"{calls}}}
{{"type":"outcome","success":true,"end":"self_finish"}}
"#
    )
}

#[test]
fn parts_by_file_that_judge_calls_unlike_are_not_merged() {
    let scratch = scratch();
    let folder = scratch.path("by-file");
    std::fs::create_dir_all(&folder).unwrap();
    let call = r#","tool_calls":[{"id":"1","name":"ls","arguments":{}}]"#;
    std::fs::write(folder.join("a.jsonl"), one_step("a", "")).unwrap();
    std::fs::write(folder.join("b.jsonl"), one_step("b", call)).unwrap();
    let values = |paths: &[&str], options: &[(&str, String)]| KeywordArguments {
        paths: paths.iter().map(|path| folder.join(path)).collect(),
        options: options
            .iter()
            .map(|(name, value)| ((*name).to_owned(), OptionValue::Given(vec![value.into()])))
            .collect(),
    };
    let stacks = "[[stack]]\nname = \"streak\"\nany = [{ signal = \"call.streak\", at_least = 3 }]\n".to_owned();
    let part = |file: &str, number: u32| {
        let out = folder.join(format!("part-{number}")).display().to_string();
        let given = values(&[file], &[("stacks", stacks.clone()), ("out", out)]);
        embedded::part(given, Shard { number, of: 2 }, vec![file.to_owned()])
    };
    assert_eq!((part("a.jsonl", 1).unwrap(), part("b.jsonl", 2).unwrap()), (1, 1));
    let merged = |out: &str| {
        let out = folder.join(out).display().to_string();
        embedded::merge(values(&["part-1", "part-2"], &[("out", out)]))
    };
    let error = merged("unlike").err().expect("rules on calls are not evaluable in the first part alone");
    assert_eq!(error.first().what, "no `trace` run of this part records a call, and in part 2 some do");
    assert!(!folder.join("unlike").exists());
    std::fs::write(folder.join("b.jsonl"), one_step("b", "")).unwrap();
    std::fs::remove_dir_all(folder.join("part-2")).unwrap();
    part("b.jsonl", 2).unwrap();
    assert_eq!(merged("alike").unwrap().rows().len(), 2);
}
