//! The commands: stdout, stderr, exit code, files.
