//! Rows in data frames, one function per published table; column names live here.
