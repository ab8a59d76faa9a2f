//! A stack: an ordered list of rules, how they combine, a cap; and the stack file.
