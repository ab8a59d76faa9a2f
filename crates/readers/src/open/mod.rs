//! From a file to its records: unpacked, decompressed, looked at, and cut up in bounded memory. Knows no format.

pub(crate) mod archive;
pub(crate) mod database;
pub(crate) mod decompress;
pub(crate) mod finding;
pub(crate) mod input_errors;
pub(crate) mod inputs;
pub(crate) mod inspect_archive;
pub(crate) mod layout;
pub(crate) mod probe;
pub(crate) mod records;
pub(crate) mod scan;
pub(crate) mod signature;
pub(crate) mod temp_folder;
pub(crate) mod whole_file;
