/**
 * What the page knows, in small classes. A part reads them, and asks the engine itself for what only it shows:
 *
 *   player      the log on the deck, `player.at` (position), `player.id`, `player.moment`, points A and B
 *   lanes       lines of conversation in the log, and the one that is followed
 *   selection   tab on stage, selected file, chip, edit snapshot, the other side of a diff
 *   library     what can be opened; opening it; revealing
 *   inquiry     drift, diagnosis, traces: which is shown, and the diagnosis itself
 *   restores    `apply(plan)`, `undo(restore)` with their toasts
 *   news        counters to ask again by: `news.disk`, `news.chips`, `news.history`, …
 *   whatif      edits over a log, the branch they make, the pair of logs that is compared
 *   toasts, overlay, settings, search, visible, platform
 *   Latest      the newest answer to a question that changes with the playhead
 *   Pages       a long list seen through a window
 */
export { inquiry, type FindingsView, type ToolsView, type Traced } from './inquiry.svelte';
export { Latest, type Asked } from './latest.svelte';
export { lanes } from './lanes.svelte';
export { endOf, groupLogs, library, type LogDay, type LogGroup } from './library.svelte';
export { news } from './news.svelte';
export { overlay, type Panel } from './overlay.svelte';
export { Pages, type Fetch } from './pages.svelte';
export { platform } from './platform.svelte';
export { Playback } from './playback';
export { player, Player, SPEEDS, type Stops } from './player.svelte';
export { restores } from './restores.svelte';
export { search } from './search.svelte';
export { LOG_TABS, selection, type DiffLayout, type StageTab } from './selection.svelte';
export { settings } from './settings.svelte';
export { hear, start } from './start';
export { toasts, Toasts, type Toast, type ToastLevel } from './toasts.svelte';
export { clampSpan, visible, Visible, zoomShare, zoomSpan, type Span } from './visible.svelte';
export { whatif, type Draft, type WhatIfPanel } from './whatif.svelte';
