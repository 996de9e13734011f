//! Many authors, one list: what each says of a path in the order of time, equal contents one after another as one row,
//! and what one author only supposes settled by what another proves.
//!
//! Pure: no disk, no clock.

use super::told::Told;
use crate::api::{AuthorKind, PathOp, Settled, SettledBy};
use std::collections::HashMap;

/// A row of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub told: Told,
    /// Who had the same content right after.
    pub also: Vec<Told>,
    pub settled: Option<Settled>,
}

impl Row {
    pub fn all(&self) -> impl Iterator<Item = &Told> {
        std::iter::once(&self.told).chain(&self.also)
    }

    pub fn on_disk(&self) -> bool {
        self.all().any(|told| told.author.kind == AuthorKind::Disk)
    }
}

/// Oldest first. `told` may come in any order, each author's own versions in theirs.
pub fn merge(told: Vec<Told>) -> Vec<Row> {
    let mut told = timed(told);
    // Stable: what one author says keeps its order.
    told.sort_by_key(|it| (it.author.kind == AuthorKind::Disk, it.time, rank(it)));
    let mut rows: Vec<Row> = Vec::new();
    'each: for one in told {
        if let Some(row) = copied(&mut rows, &one) {
            row.also.push(one);
            continue 'each;
        }
        // What nobody knows the content of says nothing against its being there still.
        let disk = one.author.kind == AuthorKind::Disk;
        let before = rows
            .iter_mut()
            .rev()
            .find(|row| !disk || row.told.is_known());
        match before {
            Some(row) if row.told.same_content(&one) => row.also.push(one),
            _ => rows.push(Row {
                told: one,
                also: Vec::new(),
                settled: None,
            }),
        }
    }
    settle(&mut rows);
    rows
}

/// The row that has the very event that this is a copy of.
fn copied<'r>(rows: &'r mut [Row], one: &Told) -> Option<&'r mut Row> {
    one.author.id.as_ref()?;
    rows.iter_mut()
        .find(|row| row.all().any(|told| one.is_copy_of(told)))
}

/// At one moment: what was before an edit, the edit, what was seen and committed of it.
fn rank(told: &Told) -> u8 {
    match told.op {
        PathOp::SnapshotBefore | PathOp::Backup => 0,
        PathOp::Cut => 3,
        PathOp::SnapshotAfter => 2,
        PathOp::Commit | PathOp::Stash => 4,
        PathOp::Disk => 5,
        _ => 1,
    }
}

/// What has no time stands right after the author's version before it.
fn timed(mut told: Vec<Told>) -> Vec<Told> {
    let mut last: HashMap<Option<String>, i64> = HashMap::new();
    for one in &mut told {
        if one.author.kind != AuthorKind::Session {
            continue;
        }
        let latest = last.entry(one.author.source.clone()).or_insert(i64::MIN);
        match one.time {
            // A session's clock never runs back.
            Some(time) => *latest = time.max(*latest),
            None if *latest == i64::MIN => continue,
            None => {}
        }
        one.time = Some(*latest);
    }
    told
}

fn settle(rows: &mut [Row]) {
    let proofs = Proofs::of(rows.iter().flat_map(Row::all));
    for row in rows.iter_mut() {
        row.settled = proofs.settle(&row.told);
    }
}

/// Contents that somebody proves, with when and in which work tree; git's commits are of all of them.
pub struct Proofs(HashMap<String, Vec<Proof>>);

struct Proof {
    commit: bool,
    checkout: Option<String>,
    settled: Settled,
}

impl Proofs {
    pub fn of<'t>(told: impl Iterator<Item = &'t Told>) -> Proofs {
        let mut proofs: HashMap<String, Vec<Proof>> = HashMap::new();
        for told in told {
            if let (Some(content), Some(settled)) = (&told.content, proof(told)) {
                proofs.entry(content.clone()).or_default().push(Proof {
                    commit: settled.by == SettledBy::Commit,
                    checkout: told.author.checkout.clone(),
                    settled,
                });
            }
        }
        Proofs(proofs)
    }

    /// What proves a content that its author only supposes, or that something may have changed since.
    pub fn settle(&self, told: &Told) -> Option<Settled> {
        if !told.is_open() {
            return None;
        }
        let held = self.0.get(told.content.as_deref()?)?;
        // That it was so before says nothing of then; the disk is as it is now.
        let proves = |proof: &&Proof| {
            let time = proof.settled.time;
            let later = time.is_none() || time >= told.time;
            later && (proof.commit || proof.checkout == told.author.checkout)
        };
        Some(held.iter().find(proves)?.settled.clone())
    }
}

/// What it proves of its content, if it does.
fn proof(told: &Told) -> Option<Settled> {
    if told.certainty != "exact" {
        return None;
    }
    let author = &told.author;
    let by = match told.op {
        PathOp::Commit | PathOp::Stash => SettledBy::Commit,
        PathOp::Backup => SettledBy::Backup,
        PathOp::SnapshotBefore | PathOp::SnapshotAfter => SettledBy::Snapshot,
        PathOp::Disk => SettledBy::Disk,
        // A read shows what was there; what was written may have been changed at once.
        PathOp::Observe => SettledBy::Session,
        _ => return None,
    };
    let what = match by {
        SettledBy::Commit | SettledBy::Snapshot => author.id.clone(),
        _ => None,
    };
    Some(Settled {
        by,
        what: what.unwrap_or_else(|| author.name.clone()),
        time: (by != SettledBy::Disk).then_some(told.time).flatten(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::told::From;
    use super::*;
    use crate::api::PathAuthor;

    fn told(kind: AuthorKind, name: &str, op: PathOp, time: i64, content: &str) -> Told {
        Told {
            time: Some(time),
            author: PathAuthor {
                kind,
                name: name.to_owned(),
                by: None,
                id: None,
                source: Some(name.to_owned()),
                index: None,
                key: None,
                checkout: None,
            },
            op,
            exists: !content.is_empty(),
            certainty: "exact",
            why: "written",
            touched: false,
            changed_outside: false,
            content: (!content.is_empty()).then(|| content.to_owned()),
            bytes: None,
            from: From::Nowhere,
        }
    }

    fn session(name: &str, op: PathOp, time: i64, content: &str) -> Told {
        told(AuthorKind::Session, name, op, time, content)
    }

    /// Author, content, and the names of those beside it.
    fn shown(rows: &[Row]) -> Vec<String> {
        rows.iter()
            .map(|row| {
                let also: Vec<&str> = row.also.iter().map(|it| it.author.name.as_str()).collect();
                let content = row.told.content.as_deref().unwrap_or("-");
                format!("{} {content} [{}]", row.told.author.name, also.join(" "))
            })
            .collect()
    }

    #[test]
    fn authors_side_by_side() {
        let rows = merge(vec![
            session("a", PathOp::Create, 10, "one"),
            session("a", PathOp::Change, 40, "three"),
            session("b", PathOp::Observe, 20, "one"),
            session("b", PathOp::Change, 30, "two"),
            session("b", PathOp::Delete, 60, ""),
            told(AuthorKind::Disk, "disk", PathOp::Disk, 5, "three"),
            told(AuthorKind::Git, "c1", PathOp::Commit, 40, "three"),
            session("c", PathOp::Delete, 61, ""),
        ]);
        assert_eq!(
            shown(&rows),
            [
                "a one [b]",
                "b two []",
                "a three [c1]",
                "b - [c]",
                "disk three []"
            ]
        );
        assert!(rows[4].on_disk() && !rows[2].on_disk());
    }

    #[test]
    fn the_disk_beyond_a_change_that_nobody_knows() {
        let mut unknown = session("b", PathOp::Change, 20, "");
        unknown.exists = true;
        let disk = told(AuthorKind::Disk, "disk", PathOp::Disk, 30, "one");
        let made = session("a", PathOp::Create, 10, "one");
        let rows = merge(vec![disk.clone(), unknown.clone(), made.clone()]);
        assert_eq!(shown(&rows), ["a one [disk]", "b - []"]);
        assert!(rows[0].on_disk());
        // Known to have been another in between: it came back.
        let other = session("b", PathOp::Change, 20, "two");
        let rows = merge(vec![disk, other, made]);
        assert_eq!(shown(&rows), ["a one []", "b two []", "disk one []"]);
    }

    #[test]
    fn a_resumed_session_says_nothing_new() {
        let mut one = session("a", PathOp::Change, 10, "one");
        one.author.id = Some("toolu_1".to_owned());
        let mut copy = session("b", PathOp::Change, 90, "one");
        copy.author.id = one.author.id.clone();
        let rows = merge(vec![
            copy.clone(),
            one.clone(),
            session("a", PathOp::Change, 20, "two"),
        ]);
        assert_eq!(shown(&rows), ["a one [b]", "a two []"]);
        // Short ids of our own logs mean nothing beyond the log.
        for it in [&mut one, &mut copy] {
            it.author.by = Some("canonical".to_owned());
        }
        let rows = merge(vec![copy, one, session("a", PathOp::Change, 20, "two")]);
        assert_eq!(shown(&rows), ["a one []", "a two []", "b one []"]);
    }

    #[test]
    fn times_that_are_missing_or_run_back() {
        let mut none = session("a", PathOp::Change, 0, "two");
        none.time = None;
        let rows = merge(vec![
            session("a", PathOp::Create, 10, "one"),
            none,
            session("a", PathOp::Change, 5, "three"),
            session("b", PathOp::Observe, 11, "four"),
        ]);
        let contents: Vec<_> = rows.iter().map(|row| row.told.content.as_deref()).collect();
        assert_eq!(contents, ["one", "two", "three", "four"].map(Some));
    }

    #[test]
    fn what_settles_a_supposed_content() {
        let mut supposed = session("a", PathOp::Change, 20, "two");
        supposed.certainty = "unverified";
        let commit = |time, content: &str| {
            let mut commit = told(AuthorKind::Git, "subject", PathOp::Commit, time, content);
            commit.author.id = Some("abc123".to_owned());
            commit
        };
        let rows = merge(vec![
            supposed.clone(),
            commit(50, "two"),
            commit(30, "other"),
        ]);
        let settled = rows[0].settled.as_ref().unwrap();
        assert_eq!(
            (settled.by, settled.what.as_str()),
            (SettledBy::Commit, "abc123")
        );
        let rows = merge(vec![supposed.clone(), commit(30, "other")]);
        assert_eq!(rows[0].settled, None);
        // Its own author's supposition proves nothing.
        let rows = merge(vec![supposed.clone(), supposed]);
        assert_eq!(rows[0].settled, None);
        // Touched since: only what is later counts.
        let mut touched = session("a", PathOp::Create, 20, "two");
        touched.touched = true;
        let rows = merge(vec![commit(10, "two"), commit(15, "x"), touched.clone()]);
        assert_eq!(rows[2].settled, None);
        let disk = told(AuthorKind::Disk, "disk", PathOp::Disk, 90, "two");
        let rows = merge(vec![touched, disk]);
        assert_eq!(rows[0].settled.as_ref().unwrap().by, SettledBy::Disk);
        assert!(rows[0].on_disk());
    }
}
