//! The only crate that touches files: discover, tail, watch, archive, atomic apply, journal.
