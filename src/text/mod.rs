//! Tests of a text, one file each: phrase lists, closing paragraph, tags.
