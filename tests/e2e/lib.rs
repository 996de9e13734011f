//! The window under test.
