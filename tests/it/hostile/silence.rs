//! Rows about what would be lost in silence: files that look like recordings, records and roles that nobody knows, parts
//! of a usage, labels, archives behind one another, copies, outcomes that are none.

use super::{Row, check, row, run};
use crate::scratch::Scratch;

const STACK: &str = "[[stack]]\nname = \"l\"\nany = [{ signal = \"steps\", at_least = 2 }]\n";
const COMPARE: &str = "compare in --stacks s.toml";
const CHECK: &str = "ci check in --stacks s.toml --fail-on steps_spent_less_share>0.9";

/// What a command that reads, one that reads strictly, one that accepts and one that gates make of the same damage:
/// said in one line, and an error for those who ask.
fn everywhere(name: &str, says: &str, put: impl Fn(Row) -> Row) -> Vec<Row> {
    let commands: [(&str, i32); 5] = [
        (COMPARE, 0),
        ("compare in --stacks s.toml --strict", 3),
        ("ci accept in --stacks s.toml --snapshot s.snap", 0),
        (CHECK, 3),
        ("ci check in --stacks s.toml --fail-on steps_spent_less_share>0.9 --allow-unreadable", 0),
    ];
    let rows = commands.into_iter().map(|(command, exit)| {
        let row = row(format!("{name}: {command}"), command).file("s.toml", STACK).file("in/a-good.jsonl", run("good"));
        put(row).exit(exit).says(says)
    });
    rows.collect()
}

fn damaged(name: &str, file: &str, bytes: impl Into<Vec<u8>>) -> Vec<Row> {
    let bytes = bytes.into();
    everywhere(name, "1 of 2 files looks like a recording and is not read", |row| {
        row.file(&format!("in/{file}"), bytes.clone())
    })
}

#[test]
fn a_file_that_looks_like_a_recording_and_is_not_read_is_an_error() {
    let text = run("b");
    let wide: Vec<u8> = [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let cases: Vec<(&str, &str, Vec<u8>)> = vec![
        ("a raw NUL in a text", "x.jsonl", text.replace("\"x\"", "\"\0\"").into_bytes()),
        ("a tail of NULs", "x.jsonl", [text.as_bytes(), &[0; 4096]].concat()),
        ("UTF-16", "x.jsonl", wide),
        ("bzip2", "x.jsonl.bz2", b"BZh91AY&SY\0\0".to_vec()),
        ("xz", "x.jsonl.xz", b"\xFD7zXZ\0\0\x04".to_vec()),
        ("zeros", "x.jsonl", vec![0; 512]),
        (
            "a git-lfs pointer",
            "x.jsonl",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n".to_vec(),
        ),
        ("single quotes", "x.jsonl", text.replace('"', "'").into_bytes()),
        ("a web page", "x.json", b"<!DOCTYPE html><html><body>404</body></html>".to_vec()),
        ("base64", "x.traj", b"eyJ0eXBlIjoicnVuIn0K".to_vec()),
        ("Python's repr", "x.json", b"[{'role': 'user', 'content': None}]".to_vec()),
        ("cut in front", "x.json", b"ole\":\"user\",\"content\":\"x\"}]".to_vec()),
        ("nothing at all", "x.jsonl", Vec::new()),
        ("a backup of an editor", "x.jsonl~", b"ole\":\"user\"".to_vec()),
    ];
    check(cases.into_iter().flat_map(|(name, file, bytes)| damaged(name, file, bytes)).collect());
}

#[test]
fn where_nothing_is_read_the_refusal_alone_says_why() {
    let own = "{\"experiment\":\"e1\",\"who\":\"assistant\",\"said\":\"hello\"}\n".repeat(4);
    let rows = ["corpus in", COMPARE].into_iter().flat_map(|command| {
        let one = row(format!("one log: {command}"), command).file("s.toml", STACK).file("in/a.jsonl", own.as_str());
        let two = row(format!("two logs: {command}"), command)
            .file("s.toml", STACK)
            .file("in/a.jsonl", own.as_str())
            .file("in/b.jsonl", own.replace("hello", "good day"));
        let says = |row: Row, what| row.exit(4).says(what).never_says("and is not read").never_says("--why");
        [
            says(one, "error: no recorded run in in/a.jsonl: JSON lines of no known format"),
            says(two, "error: no recorded run in 2 files; in/a.jsonl looks like one: JSON lines of no known format"),
        ]
    });
    let torn = row("one file of a known format without a run", "corpus in")
        .file("in/a.jsonl", "{\"type\":\"run\",\"run_id\":\"r\"\n");
    check(rows.chain([torn.exit(4).says("error: no recorded run in 1 file")]).collect());
}

/// Recorders whose messages anybody's reader would take, without the calls and tokens that stand elsewhere.
#[test]
fn a_known_recorder_that_is_not_read_is_refused_by_name_in_any_wrapping() {
    let weave = "{\"id\":\"1\",\"op_name\":\"weave:///p/op/create\",\"trace_id\":\"t\",\"inputs\":{},\"output\":{\"choices\":\
                 [{\"message\":{\"role\":\"assistant\",\"content\":\"hello\"}}]}}\n";
    let thread = "{\"object\":\"thread.message\",\"thread_id\":\"t\",\"role\":\"assistant\",\"content\":\
                  [{\"type\":\"text\",\"text\":{\"value\":\"hello\"}}]}";
    let rows = [
        ("lines", "in/a.jsonl", weave.to_owned(), "calls of Weights & Biases Weave"),
        ("an array", "in/a.json", format!("[{weave}]"), "calls of Weights & Biases Weave"),
        ("under a key", "in/a.json", format!("{{\"data\":[{thread}]}}"), "messages of OpenAI's Assistants"),
    ];
    check(
        rows.into_iter()
            .map(|(name, file, text, says)| row(name, "corpus in").file(file, text).exit(4).says(says))
            .collect(),
    );
}

/// A message to a tool is a call; as a text it would be a step of its own.
#[test]
fn messages_in_harmony_are_refused_by_what_they_hold() {
    let messages = "[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"channel\":\"analysis\",\"content\":\"hm\"},\
                    {\"role\":\"assistant\",\"channel\":\"commentary\",\"recipient\":\"functions.ls\",\"content\":\"{}\"},\
                    {\"role\":\"tool\",\"name\":\"functions.ls\",\"content\":\"a.py\"},\
                    {\"role\":\"assistant\",\"channel\":\"final\",\"content\":\"done\"}]";
    let row = row("harmony", "corpus in").file("in/a.json", format!("{{\"messages\":{messages}}}"));
    check(vec![row.exit(4).says("not read as chat: calls of tools in records that it does not know, the first of the kind `recipient functions.ls`")]);
}

/// A mapping is only suggested if the log would be read by it.
#[test]
fn a_mapping_that_would_be_refused_is_not_suggested() {
    let log = "[{\"uuid\":\"u\",\"chat_messages\":[{\"sender\":\"human\",\"text\":\"hi\"},{\"sender\":\"assistant\",\"text\":\"yo\",\
               \"content\":[{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"web\",\"input\":{}}]}]}]";
    let put = |row: Row| row.file("in/a.json", log).exit(4);
    check(vec![
        put(row("suggested", "corpus in"))
            .says("it is not read as a run: it holds calls of tools")
            .never_says("--map run="),
        put(row("mapped all the same", "corpus in --map run=uuid,messages=chat_messages,role=sender,text=text"))
            .says("it holds calls of tools"),
    ]);
}

#[test]
fn what_lies_beside_recordings_is_no_error() {
    let beside = [
        ("prose", "README.md", "# Notes\n"),
        ("a package", "package.json", "{\"name\":\"x\",\"version\":\"1.0.0\"}"),
        ("settings", "config.yaml", "a: 1\n"),
        ("a report", "results.json", "{\"resolved_ids\":[]}"),
        ("a table", "prices.csv", "a,b\n1,2\n"),
    ];
    let rows = beside.map(|(name, file, text)| {
        row(name, "compare in --stacks s.toml --strict")
            .file("s.toml", STACK)
            .file("in/a-good.jsonl", run("good"))
            .file(&format!("in/{file}"), text)
            .says("1 run of 1 task")
            .never_says("error:")
    });
    check(rows.into());
}

#[test]
fn equal_findings_are_one_line_with_their_number() {
    let zebra = "{\"type\":\"message\",\"role\":\"zebra\",\"content\":\"x\"}\n";
    let many = format!("{}{}", run("b"), zebra.repeat(175));
    check(vec![
        row("compared", COMPARE)
            .file("s.toml", STACK)
            .file("in/x.jsonl", many.clone())
            .says("`zebra` is no role (175 such; the first is here)")
            .never_says("more that could not be read"),
        row("listed", "corpus in").file("in/x.jsonl", many).runs(1).says("(175 such; the first is here)"),
    ]);
}

#[test]
fn a_part_of_a_usage_that_cannot_be_read_leaves_the_tokens_unknown() {
    let call = |id: &str, usage: &str| {
        format!(
            "{{\"session_id\":\"{id}\",\"request\":{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"hi {id}\"}}]}},\
             \"response\":{{\"id\":\"r-{id}\",\"model\":\"m\",\"choices\":[{{\"message\":{{\"role\":\"assistant\",\"content\":\"x\"}}}}],\
             \"usage\":{usage}}}}}\n"
        )
    };
    let good = call("one", "{\"prompt_tokens\":100,\"completion_tokens\":5}");
    let mut rows = Vec::new();
    for broken in ["\"5,000\"", "-5", "[1]", "true", "1e400", "18446744073709551616"] {
        let usage = format!("{{\"input_tokens\":10,\"cache_read_input_tokens\":{broken},\"output_tokens\":2}}");
        let log = format!("{good}{}", call("two", &usage));
        rows.push(
            row(format!("in a log: {broken}"), "corpus in --runs")
                .file("in/x.jsonl", log.clone())
                .runs(2)
                .says("`cache_read_input_tokens` should be a whole number, 0 or more")
                .says("the tokens of this run are unknown")
                .says("105"),
        );
        rows.push(
            row(format!("compared: {broken}"), CHECK)
                .file("s.toml", STACK)
                .file("in/x.jsonl", log)
                .exit(3)
                .says("1 error in the recordings"),
        );
    }
    check(rows);
}

#[test]
fn a_record_of_an_unknown_kind_or_role_that_is_a_part_of_the_run_is_an_error() {
    let cases = [
        (
            "a type",
            "{\"type\":\"mesage\",\"role\":\"assistant\",\"content\":\"y\",\"usage\":{\"input\":9,\"output\":1}}",
            "kind `mesage`",
        ),
        ("a role", "{\"type\":\"message\",\"role\":\"asistant\",\"content\":\"y\"}", "`asistant` is no role"),
    ];
    let mut rows: Vec<Row> = Vec::new();
    for (name, line, says) in cases {
        rows.extend(everywhere(name, says, |row| row.file("in/x.jsonl", format!("{}{line}\n", run("b")))));
    }
    let session = |kind: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u1\",\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":\"hi\"}}}}\n\
             {{\"type\":\"{kind}\",\"uuid\":\"u2\",\"sessionId\":\"s\",\"message\":{{\"role\":\"assistant\",\"content\":\"x\",\
             \"usage\":{{\"input_tokens\":5,\"output_tokens\":1}}}}}}\n"
        )
    };
    rows.extend(everywhere("a session's line", "kind `asistant`", |row| row.file("in/x.jsonl", session("asistant"))));
    rows.push(
        row("one that holds nothing of the run", "compare in --stacks s.toml --strict")
            .file("s.toml", STACK)
            .file("in/x.jsonl", format!("{}{{\"type\":\"zebra\",\"version\":3}}\n", run("b")))
            .says("1 record of kinds that no reader knows")
            .never_says("error:"),
    );
    check(rows);
}

#[test]
fn labels_that_do_not_parse_are_refused() {
    let nine: String = (0..9).map(|n| run(&format!("r{n}"))).collect();
    let labels = |text: &str| {
        row(text.lines().next().unwrap_or_default(), "corpus x.jsonl --labels l.csv")
            .file("x.jsonl", nine.clone())
            .file("l.csv", text)
    };
    let open = (2..9).map(|n| format!("r{n},false\n")).collect::<Vec<_>>().concat();
    check(vec![
        labels(&format!("run_id,success\nr0,false\n\"r1,false\n{open}"))
            .exit(3)
            .says("l.csv:3")
            .says("a quote is not closed"),
        labels("run_id,task_id,success\nr0,false\nr1,t,false\n")
            .says("l.csv:2")
            .says("2 cells in a table of 3 columns"),
        labels("run_id,success\nr0,false,true\nr1,false\n").says("l.csv:2").says("3 cells in a table of 2 columns"),
        row("strictly", "corpus x.jsonl --labels l.csv --strict")
            .file("x.jsonl", nine.clone())
            .file("l.csv", "run_id,task_id,success\nr0,false\nr1,t,false\n")
            .exit(3)
            .says("2 cells in a table of 3 columns"),
    ]);
}

/// Two archives in one file, as `cat` makes them.
fn joined(scratch: &Scratch, ending: &str, pack: impl Fn(&str, &str) -> Vec<u8>) {
    let both = [pack("a.jsonl", "a"), pack("b.jsonl", "b")].concat();
    scratch.put_bytes(&format!("in/x.{ending}"), &both);
}

fn tar(name: &str, id: &str) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    let text = run(id);
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    tar.append_data(&mut header, name, text.as_bytes()).unwrap();
    tar.into_inner().unwrap()
}

fn zip(name: &str, id: &str) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
    std::io::Write::write_all(&mut zip, run(id).as_bytes()).unwrap();
    zip.finish().unwrap().into_inner()
}

#[test]
fn an_archive_behind_another_is_not_lost_in_silence() {
    let tars = everywhere("two tars", "are not read, another archive perhaps", |row| {
        row.prepare(|scratch| joined(scratch, "tar", tar))
    });
    let zips = everywhere("two zips", "are not read, another archive perhaps", |row| {
        row.prepare(|scratch| joined(scratch, "zip", zip))
    });
    let named =
        [("tar", "bytes behind its end mark are not read"), ("zip", "bytes before its first member are not read")];
    let named = named.map(|(ending, says)| {
        let row = row(format!("listed: {ending}"), "corpus in").runs(1).says(says);
        if ending == "tar" {
            row.prepare(|scratch| joined(scratch, "tar", tar))
        } else {
            row.prepare(|scratch| joined(scratch, "zip", zip))
        }
    });
    check(tars.into_iter().chain(zips).chain(named).collect());
}

#[test]
fn a_copy_counts_once_and_is_told() {
    let copies = ["copy.jsonl", "a.jsonl~", "a.jsonl.bak", "a (1).jsonl", "a.jsonl.tmp", "deep/a.jsonl"];
    let long = format!("{}{}", run("b"), run("c"));
    let mut rows: Vec<Row> = copies
        .iter()
        .map(|copy| {
            row(format!("a copy called {copy}"), "corpus in")
                .file("in/a.jsonl", long.clone())
                .file(&format!("in/{copy}"), long.clone())
                .runs(2)
                .says("a recording stands there twice, byte for byte")
        })
        .collect();
    rows.push(
        row("ten copies", COMPARE)
            .file("s.toml", STACK)
            .prepare(|scratch| {
                for n in 0..11 {
                    scratch.put(&format!("in/x{n}.jsonl"), &format!("{}{}", run("b"), run("c")));
                }
            })
            .says("10 recordings stand there twice, byte for byte")
            .says("2 runs"),
    );
    rows.push(
        row("beside its archive", "corpus in")
            .file("in/a.jsonl", run("a"))
            .prepare(|scratch| scratch.put_bytes("in/a.tar", &tar("a.jsonl", "a")))
            .runs(1)
            .says("byte for byte"),
    );
    rows.push(
        row("empty conversations are no copies", "corpus in --as chat")
            .file("in/a.json", "[]")
            .file("in/b.json", "[]")
            .runs(2)
            .says("nobody graded them")
            .never_says("byte for byte"),
    );
    check(rows);
}

#[test]
fn outcomes_that_are_none_or_contradict_are_errors() {
    let chat = |field: &str| {
        format!(
            "{{\"messages\":[{{\"role\":\"user\",\"content\":\"a\"}},{{\"role\":\"assistant\",\"content\":\"b\"}}],{field}}}\n"
        )
    };
    let outcome = |success: bool| format!("{{\"type\":\"outcome\",\"success\":{success}}}\n");
    let mut rows = Vec::new();
    for (field, name) in
        [("\"resolved\":\"maybe\"", "resolved"), ("\"reward\":\"1.0 (ok)\"", "reward"), ("\"score\":1e400", "score")]
    {
        rows.push(
            row(field, "corpus x.jsonl")
                .file("x.jsonl", chat(field))
                .runs(1)
                .says(format!("`{name}` should be an outcome: true, false, or a score")),
        );
        rows.push(
            row(format!("{field}, strictly"), "corpus x.jsonl --strict")
                .file("x.jsonl", chat(field))
                .exit(3)
                .says("should be an outcome"),
        );
    }
    rows.push(
        row("two that contradict", "corpus x.jsonl")
            .file("x.jsonl", format!("{}{}{}", run("b"), outcome(true), outcome(false)))
            .runs(1)
            .says("x.jsonl:4")
            .says("a second outcome, which contradicts the first"),
    );
    rows.push(
        row("two that agree", "corpus x.jsonl --strict")
            .file("x.jsonl", format!("{}{}{}", run("b"), outcome(true), outcome(true)))
            .runs(1)
            .says("outcome of 1 trace run: field outcome"),
    );
    check(rows);
}

/// The cells of a table, which are read by another reader than the lines of a recording.
#[test]
fn cells_that_are_no_outcome_cost_or_run_are_errors() {
    use whenstop::reader::{ParquetCell, ParquetKind, ParquetWriter};
    let talk = "[{\"role\":\"assistant\",\"content\":\"x\"}]";
    let table = |name: &str, kind, cells: [ParquetCell<'_>; 2]| {
        let mut table = ParquetWriter::in_memory(&[("messages", ParquetKind::Text), (name, kind)]).unwrap();
        table.row([ParquetCell::Text(talk), cells[0]]).unwrap();
        table.row([cells[1], ParquetCell::None]).unwrap();
        table.close().unwrap()
    };
    let whole = ParquetCell::Text(talk);
    let cases = [
        ("outcome", ParquetKind::Real, [ParquetCell::Real(f64::NAN), whole], "outcome"),
        ("outcome", ParquetKind::Text, [ParquetCell::Text("maybe"), whole], "outcome"),
        ("cost", ParquetKind::Real, [ParquetCell::Real(-1.0), whole], "`cost_usd` should be a number"),
        ("cost", ParquetKind::Real, [ParquetCell::Real(f64::NAN), whole], "`cost_usd` should be a number"),
        ("cost", ParquetKind::Text, [ParquetCell::Text("free"), whole], "`cost_usd` should be a number"),
        ("outcome", ParquetKind::Text, [ParquetCell::None, ParquetCell::None], "has no messages: its cell is empty"),
    ];
    let rows = cases.into_iter().enumerate().map(|(nth, (name, kind, cells, says))| {
        row(format!("{nth}: {name}"), &format!("corpus x.parquet --strict --map messages=messages,{name}={name}"))
            .file("x.parquet", table(name, kind, cells))
            .exit(3)
            .says(says)
            .says("x.parquet:")
    });
    check(rows.collect());
}

#[test]
fn a_recording_torn_at_its_end_fails_a_gate() {
    let torn = format!("{}{{\"type\":\"message\",\"role\":\"assi", run("b"));
    check(everywhere("a line cut off", "x.jsonl:3:", |row| row.file("in/x.jsonl", torn.clone())));
}

/// In program text and in documents, lines of a recording are examples, unless somebody names the file or its format.
#[test]
fn recordings_quoted_in_sources_and_documents_are_none() {
    let go = format!("package cli\n\nconst session = `\n{}`\n", run("quoted"));
    let page = format!("# Format\n\n```\n{}```\n", run("quoted"));
    let badge = format!("[![CI](https://ci.example/badge)](https://ci.example)\n\n{page}");
    let logged = format!("package cli\n// 12:00:01 [out] {}", run("quoted").replace('\n', "\n// 12:00:01 [out] "));
    let why = "a document or program text with JSON as an example: name the file itself to have it read";
    let chat = "\n# aider chat started at 2026-01-05 10:00:00\n\n#### fix it\n\n{\"a\": 1}\n\ndone\n";
    check(vec![
        row("sources and documents beside a recording", "corpus .")
            .file("a.jsonl", run("good"))
            .file("cli_test.go", go.clone())
            .file("format.md", page.clone())
            .file("README.md", badge.clone())
            .file("log_test.PY", logged)
            .file("empty.py", "")
            .runs(1)
            .exit(0),
        row("a source says why it is not read", "corpus . --why")
            .file("a.jsonl", run("good"))
            .file("cli_test.go", go.clone())
            .says(why),
        row("so does a page that begins with a link", "corpus . --why")
            .file("a.jsonl", run("good"))
            .file("README.md", badge)
            .says(why),
        row("an empty source is empty", "corpus . --why")
            .file("a.jsonl", run("good"))
            .file("empty.py", "")
            .says("empty.py: left out: empty"),
        row("a source that is named", "corpus cli_test.go").file("cli_test.go", go).runs(1),
        row("a document that is named", "corpus format.md").file("format.md", page.clone()).runs(1),
        row("documents in a format that is named", "corpus . --as trace").file("format.md", page).runs(1),
        row("a recording whose name says something else", "corpus .").file("run.py", run("good")).runs(1),
        row("a recording after blank lines", "corpus .")
            .file("run.py", format!("{}{}", "\n".repeat(80), run("good")))
            .runs(1),
        row("a recording that is a document and quotes JSON", "corpus .").file(".aider.chat.history.md", chat).runs(1),
    ]);
}
