//! The real window, as a person uses it. Needs Linux; `cargo xtask test` sets everything up.

mod safe;
