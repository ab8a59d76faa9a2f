//! The command line: arguments, messages, exit codes; the only writes to stdout and stderr.
