//! Broken and hostile input: clear messages, nothing else lost, no panic.

use std::io::Write as _;
use std::path::Path;

use proptest::prelude::*;
use whenstop::reader;
use whenstop::transcript::Run;

use super::{fixtures, inputs, read};

/// A corpus of one broken file between two good ones, and what is said about it.
#[test]
fn a_broken_file_gives_a_clear_message_and_loses_nothing_else() {
    let run = |id: &str| {
        format!(
            "{{\"type\":\"run\",\"run_id\":\"{id}\"}}\n{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"x\"}}\n"
        )
    };
    let good = run("g");
    let long_line = format!(
        "{}{{\"type\":\"message\",\"role\":\"user\",\"content\":\"{}\"}}\n{}",
        run("before"),
        "y".repeat(100 << 20),
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"after\"}\n"
    );
    // name, bytes, runs of it, steps of them, a piece of what is said
    let cases: Vec<(&str, Vec<u8>, usize, usize, &str)> = vec![
        ("empty", Vec::new(), 0, 0, "empty"),
        ("blank", b"\n \n\r\n".to_vec(), 0, 0, "empty"),
        ("binary", (0..=255).cycle().take(4000).collect(), 0, 0, "not text"),
        ("prose", b"# Notes\nnothing here\n".to_vec(), 0, 0, "not JSON: it begins with `# Notes"),
        ("bom", [b"\xEF\xBB\xBF", run("bom").as_bytes()].concat(), 1, 1, ""),
        ("crlf", run("crlf").replace('\n', "\r\n").into_bytes(), 1, 1, ""),
        ("blank-lines", format!("\n\n{}\n\n", run("blanks").replace('\n', "\n\n")).into_bytes(), 1, 1, ""),
        ("cut", format!("{}{{\"type\":\"message\",\"role\":\"assi", run("cut")).into_bytes(), 1, 1, "cut.jsonl:3:"),
        ("garbage", format!("{}}}}}garbage\n{}", run("one"), run("two")).into_bytes(), 2, 2, "garbage.jsonl:3:1"),
        ("long", long_line.into_bytes(), 1, 2, "longer than 67108864 bytes"),
        (
            "surrogate",
            run("surrogate").replace("\"x\"", r#""half \ud83d!""#).into_bytes(),
            1,
            1,
            "half a surrogate pair",
        ),
        (
            "latin1",
            run("latin1")
                .replace('x', "caf\u{1}")
                .replace('\u{1}', "~")
                .into_bytes()
                .into_iter()
                .map(|b| if b == b'~' { 0xE9 } else { b })
                .collect(),
            1,
            1,
            "not UTF-8",
        ),
        (
            "types",
            run("types").replace("\"x\"", "\"x\",\"usage\":7,\"tool_calls\":\"none\"").into_bytes(),
            1,
            1,
            "`usage` should be an object, not `7`",
        ),
        (
            "nested",
            format!("{}{{\"type\":\"message\",\"role\":\"user\",\"content\":{}", run("nested"), "[".repeat(200_000))
                .into_bytes(),
            1,
            1,
            "nested.jsonl:3",
        ),
    ];
    for (name, bytes, n_runs, n_steps, said) in cases {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.jsonl"), &good).unwrap();
        std::fs::write(folder.path().join(format!("{name}.jsonl")), bytes).unwrap();
        // Not the same byte for byte, which would be one recording.
        std::fs::write(folder.path().join("z.jsonl"), format!("{good}\n")).unwrap();
        let (runs, report) = read(&[folder.path().to_path_buf()]);
        let of_it: Vec<&Run> =
            runs.iter().filter(|run| !run.header.run_id.contains('g') || run.header.run_id == "surrogate").collect();
        let others = runs.len() - of_it.len();
        assert_eq!((of_it.len(), others), (n_runs, 2), "{name}: {report:?}");
        assert_eq!(of_it.iter().map(|run| run.steps().len()).sum::<usize>(), n_steps, "{name}");
        let messages: Vec<String> = report
            .findings
            .iter()
            .filter(|finding| !finding.diagnostic.at.path.ends_with("z.jsonl"))
            .map(|finding| finding.diagnostic.render(finding.severity))
            .chain(report.skipped.iter().map(|skipped| skipped.reason.clone()))
            .collect();
        assert_eq!(messages.is_empty(), said.is_empty(), "{name}: {messages:?}");
        assert!(said.is_empty() || messages[0].contains(said), "{name}: {messages:?}");
    }
}

/// An archive of any kind reads as the folder that was packed.
#[test]
fn archives_read_as_the_folders_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let good = std::fs::read(fixtures().join("trace/good.jsonl")).unwrap();
    let chat = std::fs::read(fixtures().join("chat/good.jsonl")).unwrap();
    let members: [(&str, &[u8]); 3] =
        [("runs/a.jsonl", &good), ("runs/labels.csv", b"run_id,success\ndemo-3,true\n"), ("b/c.jsonl", &chat)];
    pack_zip(&folder.path().join("packed.zip"), &members);
    pack_tar(&folder.path().join("packed.tar.gz"), &members);
    for name in ["packed.zip", "packed.tar.gz"] {
        let (runs, report) = read(&[folder.path().join(name)]);
        let ids: Vec<&str> = runs.iter().map(|run| run.header.run_id.as_str()).collect();
        assert_eq!(ids, ["c/r1", "c/r2", "c/3", "demo-1", "demo-2", "demo-3"], "{name}");
        assert_eq!(runs[5].grade.outcome.name(), "success", "{name}");
        let paths: Vec<&str> = report.files.iter().map(|file| file.path.rsplit('/').next().unwrap()).collect();
        assert_eq!(paths, ["c.jsonl", "a.jsonl"], "{name}");
        assert!(report.files[0].path.ends_with(&format!("{name}!b/c.jsonl")), "{}", report.files[0].path);
    }
}

#[test]
fn one_compressed_file_reads_as_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let good = std::fs::read(fixtures().join("trace/good.jsonl")).unwrap();
    let gzip = folder.path().join("good.jsonl.gz");
    std::fs::write(&gzip, gzipped(&good)).unwrap();
    let zstd = folder.path().join("good.jsonl.zst");
    std::fs::write(&zstd, ruzstd::encoding::compress_to_vec(&good[..], ruzstd::encoding::CompressionLevel::Fastest))
        .unwrap();
    for path in [gzip, zstd] {
        let (runs, report) = read(&[path]);
        assert_eq!((runs.len(), report.errors), (3, 0), "{report:?}");
    }
    let cut = folder.path().join("cut.jsonl.gz");
    let packed = gzipped(&good);
    std::fs::write(&cut, &packed[..packed.len() - 20]).unwrap();
    let (_, report) = read(&[cut]);
    assert!(report.errors > 0 || !report.skipped.is_empty(), "{report:?}");
}

/// A folder of archives that was packed itself, as artifact stores hand it out.
#[test]
fn archives_within_an_archive_are_opened_once() {
    let folder = tempfile::tempdir().unwrap();
    let good = std::fs::read(fixtures().join("trace/good.jsonl")).unwrap();
    let inner = folder.path().join("inner.zip");
    // Not the same byte for byte, which would be one recording.
    let longer = [&good[..], b"\n"].concat();
    let longest = [&good[..], b"\n\n"].concat();
    pack_zip(&inner, &[("a.jsonl", &longer), ("z.jsonl.gz", &gzipped(&longest))]);
    let middle = folder.path().join("middle.zip");
    let inner_bytes = std::fs::read(&inner).unwrap();
    pack_zip(&middle, &[("deep.zip", &inner_bytes)]);
    let middle_bytes = std::fs::read(&middle).unwrap();
    let outer = folder.path().join("outer.tar.gz");
    pack_tar(&outer, &[("x/inner.zip", &inner_bytes), ("x/middle.zip", &middle_bytes), ("x/b.jsonl", &good)]);
    let (runs, report) = read(&[outer]);
    let inside = |path: &str| path.split_once('!').unwrap().1.to_owned();
    let paths: Vec<String> = report.files.iter().map(|file| inside(&file.path)).collect();
    assert_eq!(paths, ["x/b.jsonl", "x/inner.zip!a.jsonl", "x/inner.zip!z.jsonl.gz"]);
    assert_eq!(runs.len(), 9);
    assert_eq!(inside(&report.skipped[0].path), "x/middle.zip!deep.zip");
    assert!(report.skipped[0].reason.contains("unpack it first"), "{report:?}");
}

#[test]
fn hostile_archives_are_refused_member_by_member() {
    let folder = tempfile::tempdir().unwrap();
    let run = b"{\"type\":\"run\",\"run_id\":\"r\"}\n";
    let zip = folder.path().join("hostile.zip");
    let bomb = vec![b' '; 80 << 20];
    pack_zip(&zip, &[("../out.jsonl", run), ("/abs.jsonl", run), ("bomb.jsonl", &bomb), ("in.jsonl", run)]);
    let (runs, report) = read(&[zip]);
    assert_eq!(runs.len(), 1);
    let reasons: Vec<&str> = report.skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
    assert_eq!(reasons.len(), 3, "{reasons:?}");
    assert!(
        reasons[0].contains("leads out") && reasons[1].contains("leads out") && reasons[2].contains("times its size")
    );
    assert!(!folder.path().join("out.jsonl").exists());
    let broken = folder.path().join("broken.zip");
    std::fs::write(&broken, b"PK\x03\x04 this is no zip").unwrap();
    let (_, report) = read(&[broken]);
    assert!(report.skipped[0].reason.contains("cannot be unpacked"), "{report:?}");
}

fn pack_zip(path: &Path, members: &[(&str, &[u8])]) {
    let mut zip = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, bytes) in members {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
}

fn pack_tar(path: &Path, members: &[(&str, &[u8])]) {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, *bytes).unwrap();
    }
    std::fs::write(path, gzipped(&tar.into_inner().unwrap())).unwrap();
}

pub(super) fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// One change to a file's bytes.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    Cut,
    Flip(u8),
    Insert(&'static [u8]),
    Repeat(usize),
    Remove(usize),
}

/// What is inserted: bits of JSON, and what no text should hold.
pub(crate) const BITS: &[&[u8]] = &[
    b"null",
    b"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b"\n",
    b"\0",
    b"-1",
    b"1e999",
    b"\\ud83d",
    b"\xff",
    b"\xEF\xBB\xBF",
    b"{\"type\":\"run\",\"run_id\":1}\n",
    b"[[[[[[[[[[[[[[[[",
    b"99999999999999999999999",
    b"-9223372036854775808",
    b"\x1b[2J",
    b"\xE2\x80\xAE",
    b" | ",
];

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        Just(Damage::Cut),
        any::<u8>().prop_map(Damage::Flip),
        proptest::sample::select(BITS.to_vec()).prop_map(Damage::Insert),
        (1_usize..200).prop_map(Damage::Repeat),
        (1_usize..200).prop_map(Damage::Remove),
    ]
}

pub(crate) fn damaged(mut bytes: Vec<u8>, at: usize, damage: &Damage) -> Vec<u8> {
    let at = at % bytes.len().max(1);
    match damage {
        Damage::Cut => bytes.truncate(at),
        Damage::Flip(mask) => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= mask),
        Damage::Insert(more) => drop(bytes.splice(at..at, more.iter().copied())),
        Damage::Repeat(n) => {
            let part: Vec<u8> = bytes.iter().skip(at).take(*n).copied().collect();
            bytes.splice(at..at, part);
        }
        Damage::Remove(n) => {
            let end = (at + n).min(bytes.len());
            bytes.drain(at..end);
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happens to a recording, reading it ends, panics nowhere, and names path and place.
    #[test]
    fn damaged_fixtures_never_panic(changes in prop::collection::vec((any::<usize>(), damage()), 1..4)) {
        let folder = tempfile::tempdir().unwrap();
        for format in reader::FORMATS {
            for input in inputs(&fixtures().join(format.id())) {
                let mut bytes = std::fs::read(&input).unwrap();
                for (at, damage) in &changes {
                    bytes = damaged(bytes, *at, damage);
                }
                let path = folder.path().join(input.file_name().unwrap());
                std::fs::write(&path, bytes).unwrap();
                let (runs, report) = read(std::slice::from_ref(&path));
                for run in &runs {
                    // Everything that is derived from a run can be asked for.
                    let _ = (run.secured(), run.last_point(), run.points().count(), reader::tokens(run));
                }
                for finding in &report.findings {
                    prop_assert!(finding.diagnostic.at.path.contains(&*folder.path().to_string_lossy()), "{finding:?}");
                    prop_assert!(!finding.diagnostic.what.is_empty());
                }
            }
        }
    }
}
