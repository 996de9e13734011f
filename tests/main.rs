//! One test binary for the engine and the command; the real window's tests are in `e2e/`.

mod fixtures;
