//! The hook's own files: only their owner may read them, and none of them is a pipe or a device, on which a call would
//! wait.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::path::Path;

/// Creates a folder and those above it that are missing; only their owner may enter them. One that is there is closed to
/// others.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    if let Ok(folder) = File::open(path) {
        close_to_others(&folder, 0o700);
    }
    Ok(())
}

/// Opens a file to write to. Its owner alone may read it. What is there and no regular file is an error.
pub fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    let file = open_regular(options, path)?;
    close_to_others(&file, 0o600);
    Ok(file)
}

/// Opens a file for reading.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    open_regular(OpenOptions::new().read(true), path)
}

fn open_regular(options: &OpenOptions, path: &Path) -> io::Result<File> {
    if std::fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        return Err(io::Error::other("it is no regular file"));
    }
    options.open(path)
}

/// Takes the rights of others away from what was made with them. Where it belongs to somebody else, it stays as it is.
#[cfg(unix)]
fn close_to_others(file: &File, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    if file.metadata().is_ok_and(|data| data.permissions().mode() & 0o077 != 0) {
        let _ = file.set_permissions(std::fs::Permissions::from_mode(mode));
    }
}

#[cfg(not(unix))]
fn close_to_others(_: &File, _: u32) {}

/// Writes to a file, and creates its folder if there is none. What cannot be written stops nothing.
pub fn try_write(options: &mut OpenOptions, path: &Path, text: &str) {
    if let Some(folder) = path.parent() {
        let _ = create_folder(folder);
    }
    if let Ok(mut file) = open(options, path) {
        let _ = file.write_all(text.as_bytes());
    }
}

/// Reads a text file.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_to_read(path)?.read_to_string(&mut text)?;
    Ok(text)
}
