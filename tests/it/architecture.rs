//! The module table of ARCHITECTURE.md against the `use` lines in src/.
