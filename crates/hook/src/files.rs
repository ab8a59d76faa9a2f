//! The hook's own files: only their owner may read them, and none of them is a pipe or a device, on which a call would
//! wait.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Creates a folder and those above it that are missing; only their owner may enter them.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Opens a file. A new one may be read by its owner alone. What is there and no regular file is an error.
pub fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    if std::fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        return Err(io::Error::other("it is no regular file"));
    }
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

/// Opens a file for reading.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().read(true), path)
}

/// Reads a text file.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_to_read(path)?.read_to_string(&mut text)?;
    Ok(text)
}
