//! `chips`: what the chip folder holds and what the archive remembers, and how a text gets back.

mod list;
mod place;
mod revive;
mod show;

use crate::output::{Failure, Out, Outcome};
use chipdeck_disk::chips::{ChipError, ChipFolder};
use chipdeck_engine::chip_config_of_this_user;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List the chips, the damaged files and the evicted chips
    List {
        #[command(flatten)]
        folder: Folder,
    },
    /// Show one chip: its arguments, its file, and the text that `be-insert-chip` would insert
    Show {
        /// The chip's id
        id: String,
        #[command(flatten)]
        folder: Folder,
    },
    /// List the chips that have a text in their id, tool, error or arguments
    Search {
        /// The text; case doesn't count
        query: String,
        #[command(flatten)]
        folder: Folder,
    },
    /// Insert a chip into a file
    Restore(place::Restore),
    /// Put a deleted text back to where it was cut from
    PutBack(place::PutBack),
    /// Write an evicted chip from the archive back into the chip folder
    Revive(revive::Revive),
}

/// Which chips.
#[derive(clap::Args)]
pub struct Folder {
    /// The chip folder (default: the one of this user's server)
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Copy nothing to the archive
    #[arg(long)]
    no_archive: bool,
}

pub fn run(arguments: Arguments, out: &mut Out) -> Outcome {
    match arguments.command {
        Command::List { folder } => list::run(&folder, None, out),
        Command::Show { id, folder } => show::run(&id, &folder, out),
        Command::Search { query, folder } => list::run(&folder, Some(&query), out),
        Command::Restore(arguments) => place::restore(arguments, out),
        Command::PutBack(arguments) => place::put_back(arguments, out),
        Command::Revive(arguments) => revive::run(arguments, out),
    }
}

impl Folder {
    /// Looks once; what doesn't parse is looked at again before it counts as damaged. `writes`: what is seen may be
    /// archived.
    fn look(&self, snapshots: Option<&std::path::Path>, writes: bool) -> ChipFolder {
        super::settings();
        let mut config = chip_config_of_this_user(self.dir.as_deref(), snapshots);
        if let Some(archive) = &mut config.archive {
            archive.read_only = self.no_archive || !writes;
        }
        ChipFolder::look(config, true)
    }
}

/// The row of this id.
fn find(chips: &ChipFolder, id: &str) -> Result<String, Failure> {
    chips.find(id).ok_or_else(|| {
        let failure = Failure::no(format!("there is no chip {id:?}"));
        if chipdeck_chip::safe_id(id) {
            failure.hint("`chipdeck chips list` lists them")
        } else {
            failure.hint("an id with `/`, `\\`, NUL or `..` in it, or too long for a file name, is never followed")
        }
    })
}

fn failed(error: ChipError) -> Failure {
    Failure::no(error.to_string())
}
