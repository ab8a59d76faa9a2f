//! Writes the seeds of every target to `fuzz/corpus/<target>/`.

use std::io;
use std::path::Path;

fn main() -> io::Result<()> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (target, _) in whenstop_fuzz::targets::ALL {
        let folder = fuzz.join("corpus").join(target);
        std::fs::create_dir_all(&folder)?;
        for (name, bytes) in whenstop_fuzz::seeds::of(target, &fuzz.join(".."))? {
            std::fs::write(folder.join(name), bytes)?;
        }
    }
    Ok(())
}
