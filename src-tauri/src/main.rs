//! `chipdeck-desktop`: the window.

#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

fn main() -> std::process::ExitCode {
    chipdeck_desktop::run(std::env::args_os().skip(1))
}
