//! Files that are read whole: labels, prices, stacks, snapshots, manifests, what lies beside a recording.

use std::fs::{File, FileType};
use std::io::{self, Read as _};
use std::path::Path;

/// The most bytes of a file that is read whole, unless its reader says otherwise.
pub const LARGEST_WHOLE: u64 = 256 << 20;

/// Reads a file of at most `limit` bytes. A pipe that nobody has opened and a device are refused: the one may block for
/// ever, the other never end.
pub fn read_whole(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let mut bytes = Vec::new();
    let claimed = file.metadata()?.len();
    if claimed <= limit {
        file.take(limit + 1).read_to_end(&mut bytes)?;
    }
    if claimed > limit || bytes.len() as u64 > limit {
        return Err(io::Error::other(format!("it is longer than {limit} bytes")));
    }
    Ok(bytes)
}

/// Opens a file, or a pipe that is open already.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let kind = std::fs::metadata(path)?;
    if !kind.is_file() && !kind.is_dir() && !is_open_stream(path, kind.file_type()) {
        return Err(io::Error::other(format!("this is {}, which may never end", kind_of(kind.file_type()))));
    }
    File::open(path)
}

/// Reads a text of at most `limit` bytes.
pub fn read_whole_text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read_whole(path, limit)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

/// What kind of thing a path is that is neither a file nor a folder.
pub(crate) fn kind_of(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_fifo() {
            return "a pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
    }
    let _ = kind;
    "a device"
}

/// True for a pipe that is open already: `/dev/stdin`, `/dev/fd/63`.
pub(crate) fn is_open_stream(path: &Path, kind: FileType) -> bool {
    let is_open = ["/dev/stdin", "/dev/fd", "/proc/self/fd"].iter().any(|open| path.starts_with(open));
    is_open && kind_of(kind) != "a device"
}
