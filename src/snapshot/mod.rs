//! Stop-point snapshots, their differences, and gates.
