//! The window: forwards requests and notices, owns the window, nothing else.
