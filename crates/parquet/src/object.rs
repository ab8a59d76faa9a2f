//! Rows as JSON objects.

use super::{RowField, TornColumn};

/// Writes fields as an object.
pub fn write_object<'n>(
    names: impl Iterator<Item = &'n str>,
    fields: &mut [RowField],
    out: &mut Vec<u8>,
) -> Result<(), TornColumn> {
    out.push(b'{');
    for (n, (name, field)) in names.zip(fields).enumerate() {
        begin_field(n, name.as_bytes(), out);
        field.write(out)?;
    }
    out.push(b'}');
    Ok(())
}

/// Writes the separator and the name before the value of field `n`.
pub fn begin_field(n: usize, name: &[u8], out: &mut Vec<u8>) {
    if n > 0 {
        out.push(b',');
    }
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(&mut *out, &String::from_utf8_lossy(name));
    out.push(b':');
}
