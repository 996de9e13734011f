//! What git, the disk and backups add to what one log knows of a file: shown beside it, never part of its state.

use super::merge::Proofs;
use super::session::{self, Session};
use super::told::{sha256, Contents, Told};
use super::{others, Course, Wanted};
use crate::api::*;
use crate::engine::{Answer, Inner};
use crate::log::Log;
use chipdeck_disk::git::Repository;
use std::sync::Arc;

impl Inner {
    /// # Errors
    /// There is no such log.
    pub(crate) fn evidence(&self, id: &str, named: &str) -> Answer<Evidence> {
        let log = self.log(id)?;
        let backups = log.look(|look| super::backups::named(look, &log.path, named));
        let backups = backups
            .into_iter()
            .filter_map(|backup| {
                let (sha256, bytes) = backup.read()?;
                Some(BackupRow {
                    backup: backup.name,
                    index: u64::from(backup.index),
                    version: backup.version,
                    time: backup.time,
                    sha256,
                    bytes: bytes.len() as u64,
                })
            })
            .collect();
        Ok(Evidence {
            settled: self.settled(id, named).unwrap_or_default(),
            backups,
        })
    }

    /// A copy of a log's file, for a restore, and when it was made.
    ///
    /// # Errors
    /// No record of the log names it for that file, or it is gone.
    pub(crate) fn wanted_backup(
        &self,
        id: &str,
        named: &str,
        backup: &str,
    ) -> Answer<(Wanted, Option<i64>)> {
        let log = self.log(id)?;
        let there = self.project_of(id, named)?;
        let place = self.project_place(&there.project)?;
        let gone = || {
            ApiError::new(
                "not-found",
                format!("The log names no backup {backup} of {named} that is on this machine."),
            )
        };
        let all = log.look(|look| super::backups::named(look, &log.path, named));
        let found = all
            .into_iter()
            .find(|it| it.name == backup)
            .ok_or_else(gone)?;
        let (_, bytes) = found.read().ok_or_else(gone)?;
        let newest = log.look(|look| {
            let end = look.timeline.len();
            let file = look.timeline.file(&look.timeline.state_at(end), named)?;
            let text = look.content(file.content)?;
            Some(text.as_bytes().into())
        });
        let mut contents = Contents::default();
        let disk = others::disk(&place, &there.path, &mut contents)
            .ok()
            .flatten();
        let disk = disk.and_then(|it| it.content);
        let newest_hash = newest.as_deref().map(sha256);
        let wanted = Wanted {
            top: place.top.clone(),
            path: there.path,
            content: Some(bytes.into()),
            disk_known: disk.is_none() || disk == newest_hash,
            newest,
            proven: true,
            time: found.time,
            author: self.session_author(&log, found.index, &found.name),
        };
        Ok((wanted, found.time))
    }

    fn session_author(&self, log: &Arc<Log>, index: u32, id: &str) -> PathAuthor {
        let session = self.open_session(log, None);
        PathAuthor {
            kind: AuthorKind::Session,
            name: session.title,
            by: Some(session.format),
            id: Some(id.to_owned()),
            source: Some(session.source),
            index: Some(u64::from(index)),
            key: None,
            checkout: None,
        }
    }

    /// The versions that others settle, where the file's project is known.
    fn settled(&self, id: &str, named: &str) -> Answer<Vec<SettledVersion>> {
        let log = self.log(id)?;
        let there = self.project_of(id, named)?;
        let place = self.project_place(&there.project)?;
        let mut contents = Contents::default();
        let locate = |named: &str, cwd: Option<&str>| self.located(&log, named, cwd);
        let own: Session = self.open_session(&log, None);
        let mut own: Vec<Told> =
            log.look(|look| session::told(look, &own, &place, &there.path, &locate, &mut contents));
        // The same file in another work tree is another file.
        own.retain(|told| match &told.from {
            super::told::From::Session { named: held, .. } => held == named,
            _ => true,
        });
        if !own.iter().any(Told::is_open) {
            return Ok(Vec::new());
        }
        let mut beside = others::git(&place, &there.path, &Course::default(), &mut contents).0;
        beside.extend(self.snapshots_of(&place, &there.path, &mut contents));
        if let Ok(disk) = others::disk(&place, &there.path, &mut contents) {
            beside.extend(disk);
        }
        let proofs = Proofs::of(own.iter().chain(&beside));
        let repository = Repository::of(&place.top).filter(|_| place.git);
        let mut settled: Vec<SettledVersion> = Vec::new();
        for told in own.iter().filter(|told| told.is_open()) {
            let object = || {
                let held = contents.get(told.content.as_deref()?)?;
                let repository = repository
                    .as_ref()
                    .filter(|it| !told.touched && others::has_object(it, &held))?;
                Some(Settled {
                    by: SettledBy::Object,
                    what: others::short(&repository.blob_id(&held)?),
                    time: None,
                })
            };
            let proof = proofs.settle(told).or_else(object);
            if let (Some(index), Some(settled_by)) = (told.author.index, proof) {
                settled.push(SettledVersion {
                    index,
                    settled: settled_by,
                });
            }
        }
        settled.sort_by_key(|it| it.index);
        Ok(settled)
    }
}
