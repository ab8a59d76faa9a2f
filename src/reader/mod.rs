//! Recorded files into runs: one file per format, detection by content, streaming corpora.
