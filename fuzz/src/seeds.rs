//! Where the fuzzing starts: the fixtures, each in the form its target takes.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use whenstop::aggregate::{Firings, Rows, RowsBuilder};
use whenstop::answers::RunEvidence;
use whenstop::compare::Comparison;
use whenstop::framework::FrameworkKind;
use whenstop::reader::{Corpus, FORMATS, ReadOptions, trace};
use whenstop::report::{FolderFormat, Manifest, Publication};
use whenstop::snapshot::StopSnapshot;
use whenstop::transcript::Run;
use whenstop::{catalog, verdict};

/// Longest seed: what is large is slow to mutate, and says nothing that the small ones do not.
const LONGEST: usize = 1 << 16;

/// Commands of both kinds of shell: what nests, what lists, what runs others.
const COMMANDS: [&str; 24] = [
    "a;",
    "a && b || c &",
    "$(a)",
    "`a`",
    "<(a)",
    "${a:-b}",
    "((1+2))",
    "{ a; }",
    "(a)",
    "if a; then b; fi",
    "! time a",
    "for a in b; do c; done",
    "case a in b) c;; esac",
    "f() { a; }",
    "bash -c 'a'",
    "find . -exec rm {} +",
    "sudo env A=1 xargs -n 1 git commit -m 'a b' --amend",
    "sed -i s/a/b/ f",
    "awk '{print > \"f\"}'",
    "a >f 2>&1 <<E\nx\nE\n",
    "Get-Item a | % { $_.Delete() }",
    "@'\na\n'@ | Set-Content b",
    "$a = \"$(b)\"; & $a @{c=1}",
    "[IO.File]::Write('a')[0]",
];

/// A seed's name and its bytes.
pub type Seed = (String, Vec<u8>);

/// The seeds of the target called `target`; `root` is the project's folder. Sorted by name.
pub fn seeds(target: &str, root: &Path) -> io::Result<Vec<Seed>> {
    let readers = root.join("fixtures/readers");
    let mut seeds = match target {
        "reader" => recordings(&readers, |format, _| format)?,
        "corpus" => {
            recordings(&readers, |_, path| named(path, &["json", "jsonl", "gz", "zst", "traj", "", "eval", "log"]))?
        }
        "archive" => archives(&readers)?,
        "stack" => files(&root.join("fixtures/stacks"), "toml")?,
        "prices" => files(&root.join("fixtures/prices"), "toml")?,
        "labels" => vec![seed(
            "labels",
            "run_id,task_id,success,score,end,secured_step\na,t,true,0.5,self_finish,1\nb,,no,,cap,\n",
        )],
        "snapshot" => vec![("stops".to_owned(), StopSnapshot::from_rows(&results(&readers)?.0).to_text().into_bytes())],
        "effects" => numbered(|command| format!("bash\n{command}")),
        "repeated" => numbered(|command| format!("\u{5}{command} ")),
        "rows" => vec![("folder".to_owned(), results(&readers)?.1)],
        _ => traces(&readers)?,
    };
    seeds.retain(|(_, bytes)| bytes.len() <= LONGEST);
    seeds.sort();
    Ok(seeds)
}

fn numbered(text: impl Fn(&str) -> String) -> Vec<Seed> {
    COMMANDS.iter().enumerate().map(|(nth, command)| seed(&format!("command-{nth:02}"), &text(command))).collect()
}

fn seed(name: &str, text: &str) -> Seed {
    (name.to_owned(), text.as_bytes().to_vec())
}

fn listed(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The place of a file's ending among those of the target.
fn named(path: &Path, endings: &[&str]) -> usize {
    let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default();
    endings.iter().position(|known| *known == ending).unwrap_or(0)
}

/// All recordings among the fixtures, each after a byte that `first` gives for its format and path.
fn recordings(readers: &Path, first: impl Fn(usize, &Path) -> usize) -> io::Result<Vec<Seed>> {
    let mut seeds = Vec::new();
    for (at, format) in FORMATS.iter().enumerate() {
        for path in listed(&readers.join(format.id()))? {
            if path.is_file() && path.extension().is_none_or(|ending| ending != "snap") {
                let byte = u8::try_from(first(at, &path)).unwrap_or(0);
                let name = format!("{}-{}", format.id(), file_name(&path));
                seeds.push((name, [&[byte], &std::fs::read(&path)?[..]].concat()));
            }
        }
    }
    Ok(seeds)
}

fn files(folder: &Path, ending: &str) -> io::Result<Vec<Seed>> {
    let paths = listed(folder)?.into_iter().filter(|path| path.extension().is_some_and(|found| found == ending));
    paths.map(|path| Ok((file_name(&path), std::fs::read(path)?))).collect()
}

/// The runs of the small fixtures.
fn runs(readers: &Path) -> io::Result<Vec<Run>> {
    let paths = FORMATS.iter().map(|format| readers.join(format.id()));
    let options = ReadOptions { allow_unmatched_labels: true, ..ReadOptions::default() };
    let corpus = Corpus::open(&paths.collect::<Vec<_>>(), options).map_err(io::Error::other)?;
    Ok(corpus.runs().map_err(io::Error::other)?.0)
}

/// All fixtures in the own format.
fn traces(readers: &Path) -> io::Result<Vec<Seed>> {
    let mut seeds = files(&readers.join("trace"), "jsonl")?;
    for (at, run) in runs(readers)?.iter().enumerate() {
        let mut lines = Vec::new();
        trace::write(run, &mut lines)?;
        seeds.push((format!("run-{at:03}"), lines));
    }
    Ok(seeds)
}

/// Rows of the fixtures under three rules, and the files of a folder of results, apart by 0.
fn results(readers: &Path) -> io::Result<(Rows, Vec<u8>)> {
    let mut strategies = catalog::all(FrameworkKind::Preset);
    strategies.truncate(3);
    let comparison = Comparison::new(&strategies, verdict::Assumptions::default());
    let (mut rows, mut firings) = (RowsBuilder::default(), Firings::default());
    for run in runs(readers)?.iter().take(20) {
        let (more_rows, more_firings) = comparison.rows_of(run);
        rows.extend(more_rows);
        firings.extend(more_firings);
    }
    let rows = rows.finish();
    let evidence = RunEvidence { rows: rows.clone(), firings, ..RunEvidence::default() };
    let publication = Publication::new(evidence, Manifest::new(comparison.infos().to_vec()));
    let folder = tempfile::tempdir()?;
    publication.write(folder.path(), FolderFormat::default()).map_err(io::Error::other)?;
    let parts = ["rows.csv", "firings.csv", "manifest.json"].map(|name| std::fs::read(folder.path().join(name)));
    let [rows_csv, firings_csv, manifest] = parts;
    Ok((rows, [rows_csv?, firings_csv?, manifest?].join(&0)))
}

/// A zip and tars of two recordings.
fn archives(readers: &Path) -> io::Result<Vec<Seed>> {
    let names = ["trace/good.jsonl", "chat/good.jsonl"];
    let members = names.map(|name| (name, std::fs::read(readers.join(name)).unwrap_or_default()));
    let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in &members {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).map_err(io::Error::other)?;
        zip.write_all(bytes)?;
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, &bytes[..])?;
    }
    let zip = zip.finish().map_err(io::Error::other)?.into_inner();
    let tar = tar.into_inner()?;
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(&tar)?;
    let gz = gz.finish()?;
    let after = |first: u8, bytes: &[u8]| [&[first], bytes].concat();
    Ok(vec![
        ("zip".to_owned(), after(0, &zip)),
        ("tar".to_owned(), after(1, &tar)),
        ("tar-gz".to_owned(), after(2, &gz)),
    ])
}
