//! Every signal on every fixture.
