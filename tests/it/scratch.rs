//! A scratch folder to run `whenstop` in.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A scratch folder, away when it is dropped.
pub(crate) struct Scratch(tempfile::TempDir);

impl Scratch {
    /// A folder with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            scratch.put(name, text);
        }
        scratch
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and the folder it is in.
    pub(crate) fn put(&self, name: &str, text: &str) {
        self.put_bytes(name, text.as_bytes());
    }

    /// The same of any bytes.
    pub(crate) fn put_bytes(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names of the files in a folder, `.` for the scratch itself, in order; without the list that whenstop keeps of
    /// what it wrote there.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != ".whenstop-files");
        names.sort();
        names
    }

    /// Names and bytes of the files in a folder, in order.
    pub(crate) fn contents(&self, folder: &str) -> Vec<(String, Vec<u8>)> {
        let bytes = |name: String| (name.clone(), std::fs::read(self.path(folder).join(name)).unwrap());
        self.names(folder).into_iter().map(bytes).collect()
    }

    /// The rows of a CSV file as maps of columns.
    pub(crate) fn table(&self, name: &str) -> Vec<BTreeMap<String, String>> {
        let mut reader = csv::Reader::from_path(self.path(name)).unwrap();
        reader.deserialize().map(Result::unwrap).collect()
    }

    /// `whenstop` in the folder, as on a machine that is not a CI's. The arguments stand apart by `|`, or by
    /// spaces where there is none.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whenstop"));
        command.current_dir(self.0.path()).env_remove("CI");
        if arguments.contains('|') {
            command.args(arguments.split('|'));
        } else {
            command.args(arguments.split_whitespace());
        }
        command
    }

    /// Runs it and gives exit code, stdout, stderr.
    pub(crate) fn run(&self, arguments: &str) -> (i32, String, String) {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }
}
