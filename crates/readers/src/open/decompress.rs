//! Transparent decompression of gzip and Zstandard streams, which are detected by their first bytes.

use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// Up to this many bytes of output, a stream's compression ratio is not checked.
pub(super) const FREE: u64 = 64 << 20;
/// Highest ratio of output to input. Recordings reach about fifty; decompression bombs reach thousands.
pub(super) const HIGHEST_RATIO: u64 = 500;

/// The stream, decompressed if it is gzip or Zstandard. A decompression bomb is an error.
pub(crate) fn decoded<R: Read + Send + 'static>(mut input: R) -> io::Result<Box<dyn Read + Send>> {
    let mut magic = Vec::new();
    input.by_ref().take(4).read_to_end(&mut magic)?;
    let read = Arc::new(AtomicU64::new(0));
    let counted = Counted { input: Cursor::new(magic.clone()).chain(input), read: read.clone() };
    Ok(match magic.as_slice() {
        [0x1F, 0x8B, ..] => {
            Box::new(BombGuard { output: flate2::read::MultiGzDecoder::new(counted), read, written: 0 })
        }
        // A data frame, or a skippable frame before it.
        [0x28, 0xB5, 0x2F, 0xFD] | [0x50..=0x5F, 0x2A, 0x4D, 0x18] => {
            Box::new(BombGuard { output: zstd(counted), read, written: 0 })
        }
        _ => Box::new(counted),
    })
}

/// The text of a file, decompressed if it is gzip or Zstandard.
///
/// # Errors
/// If the file cannot be read or its text is not UTF-8.
pub fn unpacked_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    decoded(std::fs::File::open(path)?)?.read_to_string(&mut text)?;
    Ok(text)
}

/// All frames of a Zstandard stream, decompressed.
pub(crate) fn zstd<R: Read>(input: R) -> impl Read + use<R> {
    Zstd::Between(Cursor::default().chain(input))
}

/// Counts the bytes read.
struct Counted<R> {
    input: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.input.read(into)?;
        self.read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// Fails on a decompression bomb.
struct BombGuard<R> {
    output: R,
    read: Arc<AtomicU64>,
    written: u64,
}

impl<R: Read> Read for BombGuard<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.output.read(into)?;
        self.written += n as u64;
        let read = self.read.load(Ordering::Relaxed).max(1);
        if self.written > FREE && self.written / read > HIGHEST_RATIO {
            let why = format!("it unpacks to more than {HIGHEST_RATIO} times its size, as no recording does");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(n)
    }
}

/// A stream whose first bytes were read and put back.
type Peeked<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// All frames of a Zstandard stream; the decoder by itself stops after one.
enum Zstd<R: Read> {
    Between(Peeked<R>),
    Within(Box<StreamingDecoder<Peeked<R>, FrameDecoder>>),
    Done,
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(self, Self::Done) {
                Self::Done => return Ok(0),
                Self::Between(input) => *self = next_frame(input)?,
                Self::Within(mut decoder) => {
                    let n = decoder.read(into)?;
                    if n > 0 || into.is_empty() {
                        *self = Self::Within(decoder);
                        return Ok(n);
                    }
                    let frame: &FrameDecoder = &decoder.decoder;
                    if frame.get_checksum_from_data().is_some_and(|sum| Some(sum) != frame.get_calculated_checksum()) {
                        return Err(io::Error::new(
                            io::ErrorKind::InvalidData,
                            "the checksum of a Zstandard frame is wrong",
                        ));
                    }
                    *self = Self::Between(decoder.into_inner());
                }
            }
        }
    }
}

/// Advances to the next frame that holds data.
fn next_frame<R: Read>(mut input: Peeked<R>) -> io::Result<Zstd<R>> {
    loop {
        let mut head = Vec::new();
        input.by_ref().take(8).read_to_end(&mut head)?;
        match *head.as_slice() {
            [] => return Ok(Zstd::Done),
            [0x50..=0x5F, 0x2A, 0x4D, 0x18, a, b, c, d] => {
                let length = u64::from(u32::from_le_bytes([a, b, c, d]));
                io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
            }
            _ => {
                let (_, rest) = input.into_inner();
                let decoder = StreamingDecoder::new(Cursor::new(head).chain(rest)).map_err(io::Error::other)?;
                return Ok(Zstd::Within(Box::new(decoder)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    fn unpacked(bytes: Vec<u8>) -> io::Result<String> {
        let mut text = String::new();
        decoded(Cursor::new(bytes))?.read_to_string(&mut text)?;
        Ok(text)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        io::Write::write_all(&mut packer, bytes).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn every_frame_of_a_stream_is_unpacked() {
        let packed = |text: &str| compress_to_vec(text.as_bytes(), CompressionLevel::Fastest);
        let skipped = [0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 9, 9, 9];
        assert_eq!(unpacked([packed("one"), skipped.to_vec(), packed(" two")].concat()).unwrap(), "one two");
        assert_eq!(unpacked([skipped.to_vec(), packed("one")].concat()).unwrap(), "one");
        assert_eq!(unpacked([gzip(b"one"), gzip(b" two")].concat()).unwrap(), "one two");
        assert_eq!(unpacked(b"{}".to_vec()).unwrap(), "{}");
        assert_eq!(unpacked(Vec::new()).unwrap(), "");
    }

    #[test]
    fn broken_streams_and_bombs_are_errors() {
        let cut = gzip(&[b'x'; 10_000])[..20].to_vec();
        assert!(unpacked(cut).is_err());
        assert!(unpacked(vec![0x28, 0xB5, 0x2F, 0xFD, 0xFF, 0xFF]).is_err());
        let bomb = gzip(&vec![b' '; 100 << 20]);
        assert!(unpacked(bomb).unwrap_err().to_string().contains("times its size"));
    }
}
