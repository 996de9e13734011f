//! Requests about the lanes of a log and about the model's context.

use crate::api::*;
use crate::engine::{Answer, Inner};
use crate::log::{Log, Look, Spending, Window};

impl Inner {
    pub(crate) fn lanes(&self, id: &str) -> Answer<Vec<LaneView>> {
        let log = self.log(id)?;
        Ok(log.look(|look| look.lane_views(&log.lanes(look))))
    }

    pub(crate) fn dialogue(
        &self,
        id: &str,
        at: u64,
        offset: u64,
        limit: u64,
        lane: Option<u32>,
    ) -> Answer<Page<DialogueRow>> {
        let log = self.log(id)?;
        Ok(log.look(|look| {
            let lanes = log.lanes(look);
            match lane {
                Some(lane) if lanes.rows().len() > 1 => {
                    let (_, on) = log.on_lane(look, lane);
                    look.dialogue_on(&lanes, &on, at, offset, limit)
                }
                _ => {
                    let mut page = look.dialogue(at, offset, limit);
                    if lanes.rows().len() > 1 {
                        for row in &mut page.rows {
                            row.lane = u32::try_from(row.index)
                                .ok()
                                .and_then(|index| lanes.of(index));
                        }
                    }
                    page
                }
            }
        }))
    }

    /// `begin`: behind an entry, else at an offset.
    pub(crate) fn entries(
        &self,
        id: &str,
        begin: Result<u64, u64>,
        limit: u64,
        lane: Option<u32>,
    ) -> Answer<Page<EntryRow>> {
        let log = self.log(id)?;
        Ok(log.look(|look| {
            let Some(lane) = lane else {
                return look.entries(begin.unwrap_or_else(|offset| offset), limit);
            };
            let (_, on) = log.on_lane(look, lane);
            let skip = match begin {
                Ok(after) => on.path.count_until(look.position(after)),
                Err(offset) => u32::try_from(offset).unwrap_or(u32::MAX),
            };
            let take = u32::try_from(limit.min(2_000)).unwrap_or(0);
            let numbers = skip..skip.saturating_add(take);
            Page {
                offset: u64::from(skip),
                total: u64::from(on.path.len()),
                rows: numbers
                    .map_while(|number| on.path.nth(number))
                    .filter_map(|index| look.row(index))
                    .collect(),
            }
        }))
    }

    /// A step that stays on a lane. Bookmarks and hits are wherever they are.
    pub(crate) fn step_on(
        &self,
        id: &str,
        from: u64,
        by: &StepBy,
        forward: bool,
        lane: Option<u32>,
    ) -> Answer<Option<u64>> {
        let everywhere = matches!(by, StepBy::Bookmark | StepBy::Hit { .. });
        let Some(lane) = lane.filter(|_| !everywhere) else {
            return self.step(id, from, by, forward);
        };
        let log = self.log(id)?;
        let (at, on) = log.look(|look| (look.position(from), log.on_lane(look, lane).1));
        if matches!(by, StepBy::Event) {
            let next = match forward {
                true => on.path.next(at),
                false => on.path.previous(at).or((at > 0).then_some(0)),
            };
            return Ok(next.map(u64::from));
        }
        let mut at = from;
        loop {
            match self.step(id, at, by, forward)? {
                Some(next) if u32::try_from(next).is_ok_and(|it| on.path.contains(it)) => {
                    return Ok(Some(next));
                }
                // A step always moves, so this ends.
                Some(next) if next != at => at = next,
                _ => return Ok(None),
            }
        }
    }

    pub(crate) fn context(&self, id: &str, at: u64, lane: Option<u32>) -> Answer<ContextView> {
        self.window(id, at, lane, |look, window, spending| {
            look.context(window, spending, at)
        })
    }

    pub(crate) fn context_rows(
        &self,
        id: &str,
        at: u64,
        lane: Option<u32>,
        dropped: bool,
        offset: u64,
        limit: u64,
    ) -> Answer<Page<ContextRow>> {
        self.window(id, at, lane, |look, window, _| {
            look.context_rows(window, at, dropped, offset, limit)
        })
    }

    pub(crate) fn turns(
        &self,
        id: &str,
        at: u64,
        lane: Option<u32>,
        offset: u64,
        limit: u64,
    ) -> Answer<Page<TurnRow>> {
        self.window(id, at, lane, |look, window, spending| {
            look.turns(window, spending, at, offset, limit)
        })
    }

    /// Asks about the window of a lane: of the one that is named, else of the one that the playhead is on.
    fn window<T>(
        &self,
        id: &str,
        at: u64,
        lane: Option<u32>,
        ask: impl FnOnce(&Look, &Window, &Spending) -> T,
    ) -> Answer<T> {
        let log = self.log(id)?;
        log.scan_spending();
        Ok(log.look(|look| {
            let lanes = log.lanes(look);
            let lane = lane.or_else(|| lane_at(&log, look, at)).unwrap_or(0);
            let (lane, on) = log.on_lane(look, lane);
            let window = Window {
                lane,
                title: lanes
                    .get(lane)
                    .map_or(String::new(), |row| look.lane_title(row)),
                lanes: lanes.rows().len() as u64,
                path: &on.path,
                by_lane: lanes.rows().len() > 1,
            };
            let spending = log.spending();
            ask(look, &window, &spending)
        }))
    }
}

/// The lane of the entry at the playhead.
fn lane_at(log: &Log, look: &Look, at: u64) -> Option<u32> {
    log.lanes(look).of(look.position(at).max(1))
}
