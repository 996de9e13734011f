//! Values that look like keys, passwords or tokens: where they are in a text, and by which rule.
//!
//! The rules are Gitleaks' (`rules/gitleaks.json` names release and commit, `rules/LICENSE-gitleaks` its licence), as
//! Gitleaks applies them to a text without a path: keywords first, then each rule's expression, the group that is the
//! secret, its entropy, and what is allowed. One rule is ours, for what Gitleaks has none: a password in an address
//! (`url-password`). Left out: what is done about them; asking a provider whether a key is valid.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::string_slice
    )
)]

mod masker;
mod rules;

pub use masker::{Masked, Masker};
pub use rules::{scan, Hit};

#[cfg(test)]
mod tests;
