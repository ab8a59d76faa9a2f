//! Statistics over plain numbers: it knows no run, no file and no figure.
