//! Unpacks tapes: tar, in the order in which its members were written.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{FREE, LONGEST_NAME, MEMBERS, StoreResult, Unpacked, store};

/// Unpacks a tar. Names, links and sizes in extension headers are read here rather than by the tar library, which
/// would read them into memory at whatever length they claim.
pub(super) fn unpack(input: impl Read, unpacked: &mut Unpacked<'_>) -> io::Result<()> {
    let at_end = Arc::new(AtomicBool::new(false));
    let mut archive = tar::Archive::new(EndDetector { input, at_end: at_end.clone() });
    let (mut long_name, mut n) = (None::<Vec<u8>>, 0_usize);
    for member in archive.entries()?.raw(true) {
        let mut member = match member {
            Ok(member) => member,
            Err(error) if n == 0 => return Err(error),
            Err(error) => {
                unpacked.lose("", format!("it is cut off or damaged behind {n} members, which are read: {error}"));
                return Ok(());
            }
        };
        let kind = member.header().entry_type();
        if kind.is_pax_global_extensions()
            || kind.is_pax_local_extensions()
            || kind.is_gnu_longname()
            || kind.is_gnu_longlink()
        {
            if member.size() > LONGEST_NAME {
                let size = member.size();
                unpacked.lose("", format!("a header claims a name of {size} bytes; what is behind it is left out"));
                return Ok(());
            }
            let mut text = Vec::new();
            if let Err(error) = member.read_to_end(&mut text) {
                unpacked.lose("", format!("it is cut off or damaged behind {n} members, which are read: {error}"));
                return Ok(());
            }
            if kind.is_gnu_longname() {
                text.truncate(text.iter().position(|byte| *byte == 0).unwrap_or(text.len()));
                long_name = Some(text);
            } else if kind.is_pax_local_extensions() {
                for extension in tar::PaxExtensions::new(&text).filter_map(Result::ok) {
                    match extension.key_bytes() {
                        b"path" => long_name = Some(extension.value_bytes().to_vec()),
                        b"size" => {
                            unpacked.lose("", "a member is longer than 8 GB; it and what is behind it are left out");
                            return Ok(());
                        }
                        _ => {}
                    }
                }
            }
            continue;
        }
        n += 1;
        if unpacked.budget.members == 0 {
            unpacked.lose("", format!("it has more than {MEMBERS} members; those behind are left out"));
            return Ok(());
        }
        let name = long_name.take().unwrap_or_else(|| member.path_bytes().into_owned());
        let name = String::from_utf8_lossy(&name).into_owned();
        if kind.is_dir() || name.ends_with('/') {
            continue;
        }
        if !kind.is_file() && !kind.is_contiguous() {
            unpacked.leave_out(&name, "it is no plain file");
            continue;
        }
        let size = member.size();
        if store(&name, &mut member, size, unpacked)? != StoreResult::Done {
            return Ok(());
        }
    }
    if at_end.load(Ordering::Relaxed) {
        unpacked.lose("", format!("it ends without its end mark: what was behind {n} members may be cut off"));
    }
    // The checksum of a compressed tar comes after its end mark.
    match behind_the_end(archive.into_inner().take(FREE)) {
        Ok(0) => {}
        Ok(bytes) => {
            unpacked.lose(
                "",
                format!("{bytes} bytes behind its end mark are not read, another archive perhaps; its {n} members are"),
            );
        }
        Err(error) => unpacked.lose("", format!("it is damaged: {error}; its {n} members are read")),
    }
    Ok(())
}

/// The number of bytes behind the end mark of a tar, from the first that is not padding.
fn behind_the_end(mut input: impl Read) -> io::Result<u64> {
    let mut block = [0; 8192];
    let mut bytes = 0;
    loop {
        let n = input.read(&mut block)?;
        if n == 0 {
            return Ok(bytes);
        }
        let padding = if bytes > 0 { 0 } else { block[..n].iter().take_while(|byte| **byte == 0).count() };
        bytes += (n - padding) as u64;
    }
}

/// Detects whether a stream was read to its end. A complete tar has an end mark after its members, where reading
/// stops.
struct EndDetector<R> {
    input: R,
    at_end: Arc<AtomicBool>,
}

impl<R: Read> Read for EndDetector<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.input.read(into)?;
        self.at_end.fetch_or(n == 0 && !into.is_empty(), Ordering::Relaxed);
        Ok(n)
    }
}
