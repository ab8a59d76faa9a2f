//! Rows about archives and compressed files.

use std::io::Write as _;

use super::{Row, check, row, run};

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A zip whose members are stored as they are.
fn stored(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in members {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The bytes with the first `from` in them replaced by `to`, of the same length, `times` times.
fn patched(mut bytes: Vec<u8>, from: &[u8], to: &[u8], times: usize) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    for _ in 0..times {
        let at = bytes.windows(from.len()).position(|window| window == from).unwrap();
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

/// Headers and contents of a tar, without its end mark: kind, name, size as the header says, contents.
fn tar(members: &[(u8, &str, u64, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (kind, name, size, contents) in members {
        let mut header = tar::Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(*size);
        header.set_mode(0o644);
        header.set_entry_type(tar::EntryType::new(*kind));
        header.set_cksum();
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(contents);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes
}

fn ended(mut tar: Vec<u8>) -> Vec<u8> {
    tar.extend([0; 1024]);
    tar
}

/// An archive between two good files: how many runs it gives, and what is said of it as an error.
fn archive(name: &str, file: &str, bytes: Vec<u8>, runs: u64, says: &str) -> Row {
    row(name, "corpus .")
        .file(file, bytes)
        .between_good_ones()
        .runs(2 + runs)
        .says("error: ")
        .says(says)
        .says(file)
        .says("unreadable")
}

#[test]
fn a_tar_is_read_as_far_as_it_is_whole() {
    let (one, two) = (run("one"), run("two"));
    let member = |name: &'static str, text: &'static str| (b'0', name, text.len() as u64, text.as_bytes());
    let (one, two): (&'static str, &'static str) = (one.leak(), two.leak());
    let both = || tar(&[member("one.jsonl", one), member("two.jsonl", two)]);
    let giant =
        |kind: u8| tar(&[member("one.jsonl", one), (kind, "././@LongLink", 2 << 30, b"x"), member("two.jsonl", two)]);
    let pax = |record: &'static str| {
        tar(&[
            member("one.jsonl", one),
            (b'x', "pax", record.len() as u64, record.as_bytes()),
            member("two.jsonl", two),
        ])
    };
    let cut = |mut bytes: Vec<u8>, by: usize| {
        bytes.truncate(bytes.len() - by);
        bytes
    };
    // A header and its name of two gigabytes, which packs to two megabytes.
    let bomb = {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(&tar(&[member("one.jsonl", one), (b'L', "././@LongLink", 1 << 30, b"")])).unwrap();
        (0..64).for_each(|_| packer.write_all(&vec![b'a'; 1 << 20]).unwrap());
        packer.finish().unwrap()
    };
    check(vec![
        archive("a GNU name of 2 GB", "x.tar", giant(b'L'), 1, "a header claims a name of 2147483648 bytes")
            .megabytes(64),
        archive("a GNU link of 2 GB", "x.tar", giant(b'K'), 1, "a header claims a name of 2147483648 bytes")
            .megabytes(64),
        archive("a pax record of 2 GB", "x.tar", giant(b'x'), 1, "a header claims a name of 2147483648 bytes")
            .megabytes(64),
        archive("a global pax record of 2 GB", "x.tar", giant(b'g'), 1, "a header claims a name").megabytes(64),
        archive("a GNU name of 1 GB, packed", "x.tar.gz", bomb, 1, "a header claims a name of 1073741824 bytes")
            .megabytes(64),
        archive("a pax size", "x.tar", ended(pax("20 size=99999999999\n")), 1, "a member is longer than 8 GB"),
        archive("cut within a member", "x.tar", cut(both(), 450), 2, "it is cut off").says("x.tar!two.jsonl"),
        archive("cut within a header", "x.tar", cut(both(), 700), 1, "it is cut off or damaged behind 1 members"),
        archive("cut between members", "x.tar", cut(both(), 1024), 1, "it ends without its end mark"),
        archive("cut, packed", "x.tar.gz", cut(gzipped(&ended(both())), 30), 1, "error: "),
        archive("a header that is no header", "x.tar", [both(), vec![7; 512]].concat(), 2, "damaged behind 2 members"),
        archive("no tar at all", "x.tar", vec![7; 2048], 0, "the archive cannot be unpacked"),
        archive("nothing", "x.tar.gz", gzipped(b""), 0, "it ends without its end mark"),
        archive(
            "a way out",
            "x.tar",
            ended(tar(&[member("../one.jsonl", one), member("two.jsonl", two)])),
            1,
            "leads out",
        ),
        archive(
            "an absolute path",
            "x.tar",
            ended(tar(&[member("/one.jsonl", one), member("two.jsonl", two)])),
            1,
            "leads out",
        ),
        row("links and devices", "corpus . --strict --why")
            .file(
                "x.tar",
                ended(tar(&[(b'2', "l", 0, b""), (b'3', "d", 0, b""), (b'6', "f", 0, b""), member("one.jsonl", one)])),
            )
            .runs(1)
            .says("x.tar!l: left out: it is no plain file")
            .says("x.tar!d: left out"),
        row("long names as they should be", "corpus . --strict --why")
            .file(
                "x.tar",
                ended(tar(&[
                    (b'L', "././@LongLink", 14, b"deep/one.jsonl"),
                    member("short", one),
                    (b'x', "p", 22, b"22 path=deep/two.jsonl"),
                    member("short", two),
                ])),
            )
            .runs(2)
            .says("x.tar!deep/one.jsonl: trace"),
    ]);
}

#[test]
fn a_zip_loses_only_what_is_broken() {
    let (one, two) = (run("one"), run("two"));
    let both = |name: &str| zip(&[(name, one.as_bytes()), ("two.jsonl", two.as_bytes())]);
    let kept = || stored(&[("one.jsonl", one.as_bytes()), ("two.jsonl", two.as_bytes())]);
    let long = "n".repeat(300);
    let many: Vec<(String, Vec<u8>)> = (0..8).map(|n| (format!("{n}.jsonl"), vec![b' '; 30 << 20])).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    // The bit that says a member is encrypted, in its own header and in the directory's.
    let encrypted = |mut bytes: Vec<u8>| {
        for (mark, at) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
            let place = bytes.windows(4).position(|window| window == mark).unwrap();
            bytes[place + at] |= 1;
        }
        bytes
    };
    check(vec![
        archive("a way out", "x.zip", both("../one.jsonl"), 1, "its path leads out of the archive"),
        archive("an absolute path", "x.zip", both("/one.jsonl"), 1, "its path leads out of the archive"),
        archive("a way out with backslashes", "x.zip", both("..\\one.jsonl"), 1, "its path leads out of the archive"),
        archive("a name too long to be stored", "x.zip", both(&long), 1, "it cannot be stored"),
        archive(
            "a folder too long to be stored",
            "x.zip",
            both(&format!("{long}/one.jsonl")),
            1,
            "it cannot be stored",
        ),
        archive("a wrong checksum", "x.zip", patched(kept(), b"\"one\"", b"\"1ne\"", 1), 2, "it is damaged")
            .says("x.zip!one.jsonl"),
        archive("an encrypted member", "x.zip", encrypted(kept()), 1, "it is encrypted").says("x.zip!one.jsonl"),
        archive(
            "a member that unpacks to 500 times its size",
            "x.zip",
            zip(&[("b", &vec![b' '; 80 << 20]), ("one.jsonl", one.as_bytes())]),
            1,
            "times its size",
        ),
        archive("many members that do together", "x.zip", zip(&many), 0, "it unpacks to more than"),
        archive("no directory", "x.zip", kept()[..100].to_vec(), 0, "the archive cannot be unpacked"),
        archive(
            "a zip in name only",
            "x.zip",
            b"PK\x03\x04 this is no zip".to_vec(),
            0,
            "the archive cannot be unpacked",
        ),
        archive(
            "an archive in an archive in an archive",
            "x.zip",
            zip(&[("a.zip", &zip(&[("b.zip", &both("one.jsonl"))]))]),
            0,
            "unpack it first",
        ),
        archive("overlapping members", "x.zip", overlapping(), 0, "its members overlap"),
        row("overlapping members, strictly", "corpus . --strict")
            .file("x.zip", overlapping())
            .exit(3)
            .says("its members overlap"),
        row("a wrong checksum, strictly", "corpus . --strict")
            .file("x.zip", patched(kept(), b"\"one\"", b"\"1ne\"", 1))
            .exit(3)
            .says("it is damaged")
            .says("pack the recordings anew"),
    ]);
}

/// A zip in which every member is called `one.jsonl`.
fn alike(runs: usize) -> Vec<u8> {
    let names: Vec<String> = (0..runs).map(|nth| format!("{nth:03}.jsonl")).collect();
    let texts: Vec<String> = (0..runs).map(|nth| run(&format!("r{nth}"))).collect();
    let members: Vec<(&str, &[u8])> =
        names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    // Each name stands twice: before the member, and in the directory.
    names.iter().fold(stored(&members), |bytes, name| patched(bytes, name.as_bytes(), b"one.jsonl", 2))
}

#[test]
fn members_of_one_name_are_all_read() {
    let (one, two): (&'static str, &'static str) = (run("one").leak(), run("two").leak());
    let member = |name: &'static str, text: &'static str| (b'0', name, text.len() as u64, text.as_bytes());
    let twice = || ended(tar(&[member("one.jsonl", one), member("one.jsonl", two)]));
    let damaged = |mut bytes: Vec<u8>| {
        let at = bytes.len() - 6;
        bytes[at] ^= 0xff;
        bytes
    };
    let named = |name: &str, file: &str, bytes: Vec<u8>, runs: u64| {
        row(name, "corpus .")
            .file(file, bytes)
            .between_good_ones()
            .runs(2 + runs)
            .says("warning: another member has this name too; this one is read as `one#2.jsonl`")
            .never_says("unreadable")
    };
    check(vec![
        named("two members of one name in a zip", "x.zip", alike(2), 2).says("x.zip!one.jsonl"),
        named("300 members of one name in a zip", "x.zip", alike(300), 300).says("`one#300.jsonl`"),
        named("two members of one name in a tar", "x.tar", twice(), 2).says("x.tar!one.jsonl"),
        named(
            "one name, spelled in two ways",
            "x.zip",
            zip(&[("one.jsonl", one.as_bytes()), ("./one.jsonl", two.as_bytes())]),
            2,
        )
        .says("x.zip!./one.jsonl"),
        row("members of one name whose sizes no header tells", "corpus .")
            .file("x.zip", {
                // Bit 3 of the flags: sizes stand behind the member.
                patched(alike(2), b"PK\x03\x04\x0a\x00\x00\x00", b"PK\x03\x04\x0a\x00\x08\x00", 1)
            })
            .between_good_ones()
            .runs(3)
            .says("another member has this name, and this one cannot be read by itself")
            .says("unreadable"),
        archive("a packed tar with a wrong checksum", "x.tar.gz", damaged(gzipped(&twice())), 2, "it is damaged")
            .says("its 2 members are read"),
        row("a packed tar with a wrong checksum, strictly", "corpus . --strict")
            .file("x.tar.gz", damaged(gzipped(&twice())))
            .exit(3)
            .says("it is damaged"),
    ]);
}

/// Sixteen members that all point to the bytes of the first.
fn overlapping() -> Vec<u8> {
    let text = run("one").repeat(2000);
    let names: Vec<String> = (0..16).map(|n| format!("{n:02}.jsonl")).collect();
    let members: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), text.as_bytes())).collect();
    let mut bytes = stored(&members);
    let mark = b"PK\x01\x02";
    let places: Vec<usize> = (0..bytes.len() - 4).filter(|at| &bytes[*at..at + 4] == mark).collect();
    for place in &places[1..] {
        bytes[place + 42..place + 46].fill(0);
    }
    bytes
}

#[test]
fn a_packed_file_that_breaks_off_is_read_so_far_and_told() {
    let text = (0..2000).map(|n| run(&format!("r{n}"))).collect::<String>();
    let document = format!(
        "{{\"simulations\":[{}]}}",
        (0..500)
            .map(|n| format!("{{\"id\":\"s{n}\",\"task_id\":\"t\",\"messages\":[],\"reward_info\":null}}"))
            .collect::<Vec<_>>()
            .join(",")
    );
    let half = |bytes: Vec<u8>| bytes[..bytes.len() / 2].to_vec();
    let (packed, zstandard) = (gzipped(text.as_bytes()), zstd(text.as_bytes()));
    let last = |mut bytes: Vec<u8>, back: usize| {
        let at = bytes.len() - back;
        bytes[at] ^= 0x55;
        bytes
    };
    let broken = |name: &str, file: &str, bytes: Vec<u8>, says: &str| {
        row(name, "corpus .").file(file, bytes).between_good_ones().says("unreadable").says(says).says(file)
    };
    check(vec![
        broken("half a gzip of lines", "x.jsonl.gz", half(packed.clone()), "the runs before it are read"),
        broken(
            "half a gzip of a document",
            "x.json.gz",
            half(gzipped(document.as_bytes())),
            "the runs before it are read",
        ),
        broken("a gzip without its last byte", "x.jsonl.gz", packed[..packed.len() - 1].to_vec(), "cannot read on"),
        broken("a gzip with a wrong checksum", "x.jsonl.gz", last(packed.clone(), 6), "cannot read on").runs(2002),
        broken("a gzip with a wrong length", "x.jsonl.gz", last(packed.clone(), 2), "cannot read on").runs(2002),
        broken(
            "a gzip with rubbish behind it",
            "x.jsonl.gz",
            [packed.clone(), b"rubbish".to_vec()].concat(),
            "cannot read on",
        ),
        broken("a gzip of three bytes", "x.jsonl.gz", vec![0x1F, 0x8B, 8], "cannot be read"),
        broken("half a Zstandard stream", "x.jsonl.zst", half(zstandard.clone()), "x.jsonl.zst"),
        broken(
            "a Zstandard stream without its last byte",
            "x.jsonl.zst",
            zstandard[..zstandard.len() - 1].to_vec(),
            "x.jsonl.zst",
        ),
        broken("a Zstandard stream of five bytes", "x.jsonl.zst", vec![0x28, 0xB5, 0x2F, 0xFD, 0xFF], "cannot be read"),
        broken("100 MB of blanks", "x.jsonl.gz", gzipped(&vec![b' '; 100 << 20]), "more than 500 times its size")
            .megabytes(64),
        row("half a gzip, strictly", "corpus . --strict")
            .file("x.jsonl.gz", half(packed.clone()))
            .exit(3)
            .says("cannot read on")
            .says("--> ./x.jsonl.gz:"),
        row("half a gzip, named", "compare x.jsonl.gz --stacks s.toml")
            .file("x.jsonl.gz", half(packed.clone()))
            .file("s.toml", STACK)
            .says("1 input could not be read, or not to the end; what follows is without them"),
        row("half a gzip, checked", "ci check x.jsonl.gz --stacks s.toml --fail-on steps_spent_less_share>0.9")
            .file("x.jsonl.gz", half(packed.clone()))
            .file("s.toml", STACK)
            .exit(3)
            .says("a gate that has not seen them says nothing")
            .says("--allow-unreadable"),
        row(
            "half a gzip, checked and lived with",
            "ci check x.jsonl.gz --stacks s.toml --fail-on steps_spent_less_share>0.9 --allow-unreadable",
        )
        .file("x.jsonl.gz", half(packed))
        .file("s.toml", STACK)
        .exit(0)
        .says("passed"),
    ]);
}

const STACK: &str = "[[stack]]\nname = \"l\"\nany = [{ signal = \"steps\", at_least = 3 }]\n";

/// Folders take inodes and time, and nothing in an archive: their number and depth have limits.
#[test]
fn folders_in_folders_are_no_bomb() {
    let deep = |nth: usize| format!("{nth}{}/x.jsonl", "/a".repeat(1_900));
    let wide = |nth: usize| format!("{nth}{}/x.jsonl", "/a".repeat(90));
    let zip_of = |n: usize, name: &dyn Fn(usize) -> String| {
        let members: Vec<(String, String)> = (0..n).map(|nth| (name(nth), run(&format!("b{nth}")))).collect();
        zip(&members.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect::<Vec<_>>())
    };
    check(vec![
        row("folders of 1,900 levels", "corpus .")
            .file("x.zip", zip_of(40, &deep))
            .between_good_ones()
            .runs(2)
            .says("at most 100 are made"),
        row("more folders than its size allows for", "corpus .")
            .file("x.zip", zip_of(60, &wide))
            .between_good_ones()
            .says("more folders than its size allows for"),
        row("a folder for each run", "corpus . --strict")
            .file("x.zip", zip_of(300, &|nth| format!("{nth}/x.jsonl")))
            .exit(0)
            .runs(300)
            .says("300"),
    ]);
}

/// The comment at a zip's end may hold what looks like another end.
#[test]
fn a_comment_that_holds_an_end_record_hides_no_member() {
    let members = zip(&[("a.jsonl", run("a").as_bytes()), ("b.jsonl", run("b").as_bytes())]);
    let with_comment = |comment: &[u8]| {
        let mut bytes = members.clone();
        let at = bytes.len() - 2;
        bytes[at..].copy_from_slice(&u16::try_from(comment.len()).unwrap().to_le_bytes());
        [bytes, comment.to_vec()].concat()
    };
    // An end record of an archive without members.
    let empty_end = [b"PK\x05\x06".as_slice(), &[0; 18]].concat();
    let padded = [b"note ".as_slice(), &empty_end, b" note"].concat();
    let comment = |name: &str, comment: &[u8], command: &str| row(name, command).file("x.zip", with_comment(comment));
    check(vec![
        comment("a comment", b"hello", "corpus .").runs(2).says("2"),
        comment("an end record as the comment", &empty_end, "corpus .").exit(3).says("bytes before it names no member"),
        comment("an end record in the comment", &padded, "corpus .").exit(3).says("bytes before it names no member"),
        comment("the same beside others", &empty_end, "corpus . --strict").between_good_ones().exit(3).says("x.zip"),
    ]);
}
