//! `report.html`: what it holds is what `rows.csv` says, it loads nothing, and nothing of a recording is markup in it. What a
//! browser makes of it is seen by `.ci/page`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A name that would be markup, a script, a formula and a terminal command, were it ever taken for more than a name.
const HOSTILE: &str = "</script><img src=x onerror=window.hostile=1>\"'`{{script}}${1}\u{202e}=1+1\u{1b}[2J";

/// Runs `whenstop` at the root of the project; it has to end well.
fn whenstop<'a>(args: impl IntoIterator<Item = &'a str>) {
    let ended = Command::new(env!("CARGO_BIN_EXE_whenstop")).args(args).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

/// What stands between two texts.
fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    text.split_once(from).and_then(|(_, rest)| rest.split_once(to)).map(|(inner, _)| inner).unwrap()
}

fn meta(page: &str) -> Value {
    serde_json::from_str(between(page, "id=\"meta\">", "</script>")).unwrap()
}

fn unpacked(page: &str, id: &str) -> Vec<u8> {
    let letters = between(page, &format!("id=\"{id}\">"), "</script>");
    let mut bytes = Vec::new();
    GzDecoder::new(&STANDARD.decode(letters).unwrap()[..]).read_to_end(&mut bytes).unwrap();
    bytes
}

/// A column of a page, as the browser reads it.
fn column(meta: &Value, bytes: &[u8], name: &str) -> Vec<Option<f64>> {
    let column = meta["columns"].as_array().unwrap().iter().find(|column| column["name"] == name).unwrap();
    let number = |name: &str| usize::try_from(column[name].as_u64().unwrap()).unwrap();
    let (at, length) = (number("at"), number("length"));
    let width = match column["type"].as_str().unwrap() {
        "u8" => 1,
        "u16" => 2,
        "u32" => 4,
        _ => 8,
    };
    let cell = |bytes: &[u8]| match bytes.len() {
        8 => Some(f64::from_le_bytes(bytes.try_into().unwrap())).filter(|number| !number.is_nan()),
        _ if bytes.iter().all(|byte| *byte == 0xff) => None,
        _ => Some(bytes.iter().rev().fold(0.0, |sum, byte| sum * 256.0 + f64::from(*byte))),
    };
    bytes[at..at + length * width].chunks(width).map(cell).collect()
}

fn compared(traces: &Path, stacks: &str, out: &Path) -> String {
    whenstop(["compare", traces.to_str().unwrap(), "--stacks", stacks, "--out", out.to_str().unwrap(), "--quiet"]);
    std::fs::read_to_string(out.join("report.html")).unwrap()
}

fn example(out: &Path) -> String {
    compared(Path::new("traces"), "fixtures/stacks/example.toml", out)
}

#[test]
fn its_columns_are_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let page = example(folder.path());
    let (meta, bytes) = (meta(&page), unpacked(&page, "columns"));
    let ids: Vec<&str> = meta["ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    let stacks: Vec<&str> = meta["stacks"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    let places: BTreeMap<&str, usize> = ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    let read = |name: &str| column(&meta, &bytes, name);
    let (flags, paid, rule, observed) = (read("flags"), read("paid"), read("rule"), read("observed"));
    let (steps, tokens) = (read("steps"), read("tokens"));
    let mut rows = 0;
    for row in csv::Reader::from_path(folder.path().join("rows.csv")).unwrap().deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        let run = places[&*row["run_id"]];
        let at = run * stacks.len() + stacks.iter().position(|stack| *stack == row["stack"]).unwrap();
        let cell = |name: &str| row[name].parse::<f64>().ok();
        assert_eq!(steps[run], cell("steps_recorded"));
        assert_eq!(tokens[run], cell("tokens_recorded"));
        assert_eq!(observed[at], cell("observed"), "{row:?}");
        assert_eq!(paid[at], cell("steps_at_stop").filter(|_| !row["stop_point"].is_empty()), "{row:?}");
        assert_eq!(
            rule[at].map(|rule| meta["names"]["rules"]
                .as_array()
                .unwrap()
                .iter()
                .zip(0..)
                .find(|(_, at)| (f64::from(*at) - rule).abs() < 0.5)
                .unwrap()
                .0
                .as_str()
                .unwrap()),
            Some(&*row["rule"]).filter(|rule| !rule.is_empty())
        );
        let names = ["stopped_low", "stopped_high", "killed_low", "killed_high", "true_stop_low", "true_stop_high"];
        let bits = names.iter().enumerate().map(|(bit, name)| cell(name).unwrap() * f64::from(1_u32 << bit)).sum();
        assert_eq!(flags[at], Some(bits), "{row:?}");
        rows += 1;
    }
    assert_eq!(rows, ids.len() * stacks.len());
    // The first answer is the one the terminal prints, and one of those the slider gives.
    let verdict = between(&page, "<h1 id=\"verdict\" role=\"status\" aria-live=\"polite\">", "</h1>");
    let choices = meta["choices"].as_array().unwrap();
    assert!(choices.iter().any(|choice| choice["verdict"] == verdict), "{verdict}");
}

#[test]
fn the_bare_command_writes_it_in_any_folder() {
    let folder = tempfile::tempdir().unwrap();
    let ended = Command::new(env!("CARGO_BIN_EXE_whenstop")).current_dir(&folder).output().unwrap();
    let told = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(told.starts_with("None of these 8 can be shipped at 5 %"), "{told}");
    let page = std::fs::read_to_string(folder.path().join("reports/example/report.html")).unwrap();
    assert_eq!(meta(&page)["runs"], 513);
    assert!(!page.contains(&*std::env::temp_dir().to_string_lossy()), "no place of this machine is in it");
}

#[test]
fn it_loads_nothing_and_runs_only_its_own_script() {
    let folder = tempfile::tempdir().unwrap();
    let page = example(folder.path());
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    let policy = between(&page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    let (style, script) = (between(&page, "<style>", "</style>"), between(&page, "<script>", "</script>"));
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
            hash(script),
            hash(style)
        )
    );
    for loads in [" src=", " href=", "@import", "url(", "fetch(", "innerHTML", "eval(", "style=\""] {
        assert!(!page.contains(loads), "{loads}");
    }
    let again = tempfile::tempdir().unwrap();
    assert!(page == example(again.path()), "the same input, the same bytes");
}

/// The SVG of a figure on a page.
fn drawing<'p>(page: &'p str, name: &str) -> &'p str {
    between(page, &format!("<template id=\"figure-{name}\">"), "</template>")
}

#[test]
fn the_figures_on_the_page_are_those_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let page = example(folder.path());
    for name in ["frontier", "spending", "stop-steps", "budget", "bounds"] {
        let file = std::fs::read_to_string(folder.path().join(format!("{name}.svg"))).unwrap();
        assert!(drawing(&page, name) == file, "{name}.svg");
    }
    // For each drawing of the frontier, the page knows where every stack of the table is shown.
    let meta = meta(&page);
    let order = meta["choices"][0]["order"].as_array().unwrap();
    for view in meta["frontier"].as_array().unwrap() {
        let svg = drawing(&page, view["name"].as_str().unwrap());
        let [_, top, width, height] = numbers(&view["window"])[..] else { panic!("{view}") };
        assert!(svg.starts_with(&format!("<svg width=\"{width}\" height=\"{}\"", top + height)), "{svg:.60}");
        let stacks = view["stacks"].as_array().unwrap();
        assert_eq!(stacks.len(), order.len());
        for stack in stacks {
            let (mark, line) = (numbers(&stack["mark"]), numbers(&stack["line"]));
            assert!((0..width).contains(&mark[0]) && (top..top + height).contains(&mark[1]), "{stack}");
            assert!(line[0] >= 0 && line[2] <= width && line[3] <= top + height, "{stack}");
            // The middle of a square or a dot is where the drawing has one.
            let (left, up) = (mark[0] - 5, mark[1] - 5);
            let has = |shape: String| svg.contains(&shape);
            let is_square = has(format!("<rect x=\"{left}\" y=\"{up}\" width=\"10\" height=\"10\""));
            let is_dot = has(format!("<circle cx=\"{}\" cy=\"{}\" r=\"6\"", mark[0], mark[1]));
            let is_arrow = has(format!(
                "{},{} {},{} {},{}",
                mark[0] - 6,
                mark[1] - 1,
                mark[0] + 6,
                mark[1] - 1,
                mark[0],
                mark[1] + 8
            ));
            assert!(is_square || is_dot || is_arrow, "{stack}");
        }
    }
}

fn numbers(list: &Value) -> Vec<i64> {
    list.as_array().unwrap().iter().map(|number| number.as_i64().unwrap()).collect()
}

#[test]
fn tables_and_figures_have_one_order() {
    let folder = tempfile::tempdir().unwrap();
    let page = example(folder.path());
    let meta = meta(&page);
    let name = |at: &Value| meta["stacks"][usize::try_from(at.as_u64().unwrap()).unwrap()]["name"].as_str().unwrap();
    let choices = meta["choices"].as_array().unwrap();
    let asked = choices.iter().find(|choice| choice["from"] == meta["max_killed"]).unwrap();
    let order: Vec<&str> = asked["order"].as_array().unwrap().iter().map(name).collect();
    let read = |file: &str| std::fs::read_to_string(folder.path().join(file)).unwrap();
    // The places at which the names stand, in the table of summary.md and in the figures.
    let places = |text: &str, as_written: &dyn Fn(&str) -> String| -> Vec<usize> {
        order.iter().map(|name| text.find(&as_written(name)).unwrap_or_else(|| panic!("{name}"))).collect()
    };
    let in_table = places(&read("summary.md"), &|name| format!("\n| {name} |"));
    assert!(in_table.is_sorted(), "{in_table:?}");
    for figure in ["spending.svg", "stop-steps.svg"] {
        let in_figure = places(&read(figure), &|name| format!("\n{name}\n"));
        assert!(in_figure.is_sorted(), "{figure}: {in_figure:?}");
    }
    let mut lines = read("frontier.svg").lines().map(str::to_owned).collect::<Vec<_>>();
    lines.retain(|line| order.iter().zip(1..).any(|(name, number)| *line == format!("{number} {name}")));
    let legend = &lines[lines.len() - order.len()..];
    let numbered: Vec<String> = order.iter().zip(1..).map(|(name, number)| format!("{number} {name}")).collect();
    assert_eq!(legend, numbered);
    let rules: Vec<&Value> = meta["rules"]["rows"].as_array().unwrap().iter().map(|row| &row[0]).collect();
    let in_rules = order.iter().filter_map(|name| rules.iter().position(|rule| rule == name)).collect::<Vec<_>>();
    assert!(in_rules.is_sorted() && in_rules.len() > 3, "{in_rules:?}");
}

#[test]
fn bounds_show_only_stacks_that_warn_or_ask() {
    let folder = tempfile::tempdir().unwrap();
    let page = example(folder.path());
    let drawn = drawing(&page, "bounds");
    assert!(drawn.contains("\nopenhands\n"));
    for stops in ["mixed", "same-call", "errors", "tight-budget"] {
        assert!(!drawn.contains(&format!("\n{stops}\n")), "{stops}");
    }
    let (stacks, out) = (folder.path().join("stacks.toml"), folder.path().join("out"));
    std::fs::write(&stacks, "[[stack]]\nname = \"cap\"\nany = [{ signal = \"steps\", at_least = 9 }]\n").unwrap();
    let page = compared(Path::new("traces"), stacks.to_str().unwrap(), &out);
    assert!(!page.contains("id=\"figure-bounds\"") && !out.join("bounds.svg").exists());
    assert!(!std::fs::read_to_string(out.join("summary.md")).unwrap().contains("bounds.svg"));
}

#[test]
fn the_parts_of_the_runs_are_in_strata_csv_and_in_the_manifest() {
    let folder = tempfile::tempdir().unwrap();
    example(folder.path());
    let mut runs: BTreeMap<(bool, bool), u64> = BTreeMap::new();
    let mut killed_high = BTreeMap::new();
    for row in csv::Reader::from_path(folder.path().join("strata.csv")).unwrap().deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        if row["stack"] != "mixed" {
            continue;
        }
        let (suite, model) = (row["suite"].clone(), row["model"].clone());
        *runs.entry((suite.is_empty(), model.is_empty())).or_default() += row["runs"].parse::<u64>().unwrap();
        killed_high.insert((suite, model), row["killed_rate_high"].parse::<f64>().unwrap());
    }
    // By suite and model, by suite alone, by model alone: each time all runs.
    assert_eq!(runs, [((false, false), 513), ((false, true), 513), ((true, false), 513)].into());
    let manifest = std::fs::read_to_string(folder.path().join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let mixed = manifest["stacks"].as_array().unwrap().iter().find(|stack| stack["name"] == "mixed").unwrap();
    let margins = mixed["margins"].as_array().unwrap();
    assert!(margins.len() > 3, "{margins:?}");
    for margin in margins {
        let name = |key: &str| margin[key].as_str().unwrap_or_default().to_owned();
        let in_csv = killed_high[&(name("suite"), name("model"))];
        assert!((margin["killed_high"].as_f64().unwrap() - in_csv).abs() < 1e-6, "{margin}");
    }
}

/// A run that every rule of the example stops, with hostile text in every place a recording can fill.
fn hostile_traces(folder: &Path) {
    let name = serde_json::to_string(HOSTILE).unwrap();
    let mut lines = format!(
        "{{\"type\":\"run\",\"run_id\":{name},\"task_id\":{name},\"suite\":{name},\"model\":{name},\"outcome\":\"success\"}}\n\
         {{\"type\":\"message\",\"role\":\"user\",\"content\":{name}}}\n"
    );
    for step in 0..12 {
        write!(
            lines,
            "{{\"type\":\"message\",\"role\":\"assistant\",\"content\":{name},\"usage\":{{\"input\":9000,\"output\":100}},\
             \"tool_calls\":[{{\"id\":\"c{step}\",\"name\":{name},\"arguments\":{{\"a\":{name}}}}}]}}\n\
             {{\"type\":\"message\",\"role\":\"tool\",\"tool_call_id\":\"c{step}\",\"content\":{name},\"is_error\":true}}\n"
        )
        .unwrap();
    }
    std::fs::write(folder.join("hostile.jsonl"), lines).unwrap();
}

/// The page of the hostile recording.
fn hostile(folder: &Path) -> String {
    let (traces, out) = (folder.join("traces"), folder.join("out"));
    std::fs::create_dir(&traces).unwrap();
    hostile_traces(&traces);
    let stacks = folder.join("stacks.toml");
    let name = serde_json::to_string(HOSTILE).unwrap();
    std::fs::write(
        &stacks,
        format!("[[stack]]\nname = {name}\nany = [{{ signal = \"call.streak\", at_least = 3 }}]\n"),
    )
    .unwrap();
    compared(&traces, stacks.to_str().unwrap(), &out)
}

#[test]
fn nothing_of_a_recording_is_markup() {
    let folder = tempfile::tempdir().unwrap();
    let page = hostile(folder.path());
    assert!(!page.contains("<img"), "a name became an element");
    assert_eq!(page.matches("</script>").count(), 4, "a name ended a script");
    let told: Value = serde_json::from_slice(&unpacked(&page, "stories")).unwrap();
    assert_eq!(told[0]["steps"][2]["a"][0][0], HOSTILE, "and is there as it was");
}

#[test]
fn a_page_without_texts_holds_none() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let [out, traces] = [out.to_str().unwrap(), "traces"];
    whenstop([
        "compare",
        traces,
        "--stacks",
        "fixtures/stacks/example.toml",
        "--embed-text",
        "none",
        "--out",
        out,
        "--quiet",
    ]);
    let page = std::fs::read_to_string(Path::new(out).join("report.html")).unwrap();
    let told: Value = serde_json::from_slice(&unpacked(&page, "stories")).unwrap();
    let steps = told.as_array().unwrap().iter().flat_map(|story| story["steps"].as_array().unwrap());
    let texts = steps.filter(|step| !step["s"].is_null() || !step["a"].is_null() || !step["r"].is_null());
    assert_eq!(texts.count(), 0);
    assert!(!told.as_array().unwrap().is_empty());
}

/// Whatever writes a page opens it with `--open`.
#[cfg(target_os = "linux")]
#[test]
fn the_page_that_was_written_is_opened() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let opener = folder.path().join("xdg-open");
    std::fs::write(&opener, "#!/bin/sh\ncp \"$1\" \"$1.opened\"\n").unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let searched = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let commands = [
        "compare traces/verdicts --stacks fixtures/stacks/example.toml",
        "tune traces/verdicts --signal steps --limits 3,4",
        "tune traces/verdicts --no-presets",
    ];
    for (nth, command) in commands.iter().enumerate() {
        let out = folder.path().join(nth.to_string());
        let args = command.split(' ').chain(["--open", "--quiet", "--out", out.to_str().unwrap()]);
        let ended = Command::new(env!("CARGO_BIN_EXE_whenstop")).args(args).env("PATH", &searched).output().unwrap();
        let shown = out.join("report.html.opened");
        let waited = (0..200).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            shown.exists()
        });
        assert!(waited, "{command}: {}", String::from_utf8_lossy(&ended.stderr));
    }
}

/// In a browser: `.ci/page` installs what it takes, and sets `PLAYWRIGHT`.
#[test]
#[ignore = "needs node, playwright-core and chromium: .ci/page installs them and runs it"]
fn a_browser_shows_the_rows_and_runs_nothing_of_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("example"), folder.path().join("hostile"));
    example(&first);
    std::fs::create_dir(&second).unwrap();
    hostile(&second);
    for folder in [first.clone(), second.join("out")] {
        let seen = Command::new("node").args(["tests/page/check.mjs", folder.to_str().unwrap()]).output().unwrap();
        let told = String::from_utf8_lossy(&seen.stdout);
        assert!(seen.status.success(), "{told}{}", String::from_utf8_lossy(&seen.stderr));
        assert!(told.matches("ok  ").count() > 10, "{told}");
    }
    // What a person marked on the page is read back as labels, and the success is killed no more.
    let [marked, out] = [first.join("marked.csv"), folder.path().join("again")];
    let labelled: BTreeMap<String, String> =
        csv::Reader::from_path(&marked).unwrap().deserialize().next().unwrap().unwrap();
    let args = ["--allow-unmatched-labels", "--quiet", "--out", out.to_str().unwrap()];
    let labels =
        ["compare", "traces", "--stacks", "fixtures/stacks/example.toml", "--labels", marked.to_str().unwrap()];
    whenstop(labels.into_iter().chain(args));
    let killed = |rows: &Path| {
        let rows = csv::Reader::from_path(rows.join("rows.csv")).unwrap().into_deserialize();
        rows.map(Result::unwrap)
            .filter(|row: &BTreeMap<String, String>| row["run_id"] == labelled["run_id"] && row["killed_low"] == "1")
            .count()
    };
    assert!(killed(&out) < killed(&first), "{labelled:?}");
}
