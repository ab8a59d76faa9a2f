//! A rule: a signal, a comparator and a limit; and how rules combine.
