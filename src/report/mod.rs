//! Tables, figures and the page, each computed from rows alone.
