//! Bytes to records to events: the canonical reader and one file for each agent. Never fails.
