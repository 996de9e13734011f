//! Restores of what others than one log know: a version of a file's history over all authors, or a copy that an agent
//! kept. The file becomes that version; what the disk has beyond it is said, and Undo brings it back.

use super::Made;
use crate::api::{ApiError, PlanFrom, PlanNeed};
use crate::authors::Wanted;
use crate::engine::{read, Answer, Inner};
use chipdeck_disk::restore::{Located, RestoreError};
use chipdeck_replay::restore::{dressed_like, Draft, Kind, Known, Mode, Want};
use std::sync::Arc;

impl Inner {
    pub(super) fn path_version(&self, history: &str, version: &str) -> Answer<Made> {
        let wanted = self.wanted(history, version)?;
        let from = PlanFrom::Version {
            author: wanted.author.kind,
            name: wanted.author.name.clone(),
            id: wanted.author.id.clone(),
            time: wanted.time,
        };
        self.make_it(Made::new(Kind::File, from), &wanted)
    }

    pub(super) fn backup(&self, log: &str, named: &str, backup: &str) -> Answer<Made> {
        let (wanted, made) = self.wanted_backup(log, named, backup)?;
        let from = PlanFrom::Backup {
            name: backup.to_owned(),
            time: made,
        };
        self.make_it(Made::new(Kind::File, from), &wanted)
    }

    fn make_it(&self, made: Made, wanted: &Wanted) -> Answer<Made> {
        let file = wanted.top.join(&wanted.path);
        let theirs = wanted.content.clone().map_or(Known::Absent, Known::Content);
        let (named, top) = (file.to_string_lossy(), wanted.top.to_string_lossy());
        let (root, path) = match read(&self.roots).locate(&named, Some(&top)) {
            Located::Inside { root, path } => (root, path),
            Located::Ask { folder, file } => {
                let folder = folder.to_string_lossy().into_owned();
                let made = made.telling(&wanted.path, &theirs);
                return Ok(made.needing(PlanNeed::Root { folder, file }));
            }
            Located::Never(error) => return Ok(made.needing(super::what::refused(&error))),
        };
        let found = match root.read(&path) {
            Ok(found) => found,
            Err(RestoreError::NotAFile { what, .. })
                if theirs == Known::Absent && what.means_absent() =>
            {
                return Err(ApiError::new(
                    "precondition",
                    format!("{} is absent already.", wanted.path),
                ))
            }
            Err(error) => return Err(error.into()),
        };
        let now = found.image.as_ref().map(|image| image.content.bytes());
        // Only its line ends or its mark are the disk's own: they are kept. Else it becomes what is wanted.
        let dressed = |newest: &Arc<[u8]>| now.is_some_and(|now| dressed_like(newest, now) == now);
        let base = match (&wanted.newest, now) {
            (Some(newest), _) if dressed(newest) => Known::Content(newest.clone()),
            (_, Some(now)) if wanted.disk_known => Known::Content(now.into()),
            (Some(newest), Some(_)) => Known::Content(newest.clone()),
            (None, Some(_)) => Known::Unknown,
            (_, None) => Known::Absent,
        };
        let want = Want {
            path: path.clone(),
            theirs,
            base,
            unverified: !wanted.proven,
        };
        let mut draft = Draft::new(Kind::File);
        let added = draft.add(&path, found.image, found.notes, &want, Mode::Overwrite);
        added
            .map_err(|none| ApiError::new("unknown-content", format!("{}: no base.", none.path)))?;
        Ok(made.with(root, draft))
    }
}
