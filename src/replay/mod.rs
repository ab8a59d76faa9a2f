//! One run under one strategy: the trail of decisions, the stop, and how exact it is.
