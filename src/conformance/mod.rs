//! Golden tables of decisions against the systems and presets that should reproduce them.
