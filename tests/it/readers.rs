//! Every format: good traces, broken traces, and the real corpora.
