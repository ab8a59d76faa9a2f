//! The five seed systems, one folder each: native configuration, order of checks, profiles.
