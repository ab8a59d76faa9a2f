//! Figures on the real corpora, when they are at hand.
