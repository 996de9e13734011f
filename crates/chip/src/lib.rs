//! Chip and edit-snapshot records: byte-exact encoding, queue rules, insert text. No disk.
