//! `undo`: takes back the newest restore that stands, or the one named; of an undo, brings its restore back.

use super::restoring::{self, failed};
use crate::output::{Out, Outcome};

#[derive(clap::Args)]
pub struct Arguments {
    /// Id of a restore (default: the newest that stands and is no undo)
    #[arg(value_name = "RESTORE-ID")]
    restore: Option<String>,
    /// Show what would be written, write nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(arguments: Arguments, out: &mut Out) -> Outcome {
    let journal = restoring::journal()?;
    let (root, plan) = journal
        .plan_undo(arguments.restore.as_deref())
        .map_err(failed)?;
    restoring::carry_out(&root, &plan, &[], arguments.dry_run, "undone", out)
}
