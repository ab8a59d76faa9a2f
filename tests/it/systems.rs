//! The seed systems: golden cases and the bundled text benchmark.
