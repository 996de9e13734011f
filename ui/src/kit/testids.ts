/**
 * Every `data-testid` that the window tests may rely on, by place. Rows also carry data: `data-index` (list row),
 * `data-path`, `data-chip`, `data-log`, `data-source`, `data-value` (segments), `data-kind` (code rows).
 * Playhead: `aria-valuenow` is the position, `aria-valuemax` the last one.
 */
export const testids = {
  /** Header. */
  search: 'search',
  liveStatus: 'live-status',
  help: 'help',
  theme: 'theme',
  settings: 'settings',
  /** Library. */
  libraryChips: 'library-chips',
  librarySnapshots: 'library-snapshots',
  libraryHistory: 'library-history',
  libraryOpen: 'library-open',
  /** One for each log: with `data-source` and, when open, `data-log`. */
  libraryLog: 'library-log',
  libraryRoot: 'library-root',
  /** Stage: `tab-files`, `tab-dialogue`, `tab-tools`, `tab-chips`, `tab-findings`. */
  stage: 'stage',
  inspector: 'inspector',
  /** Transport. */
  first: 'transport-first',
  back: 'transport-back',
  play: 'transport-play',
  forward: 'transport-forward',
  last: 'transport-last',
  speed: 'transport-speed',
  position: 'transport-position',
  count: 'transport-count',
  time: 'transport-time',
  pointA: 'point-a',
  pointB: 'point-b',
  stopAt: 'stop-at',
  zoom: 'zoom',
  follow: 'follow',
  /** Timeline. */
  timeline: 'timeline',
  overview: 'timeline-overview',
  tracks: 'timeline-tracks',
  playhead: 'playhead',
  /** Search bar. */
  searchBar: 'search-bar',
  searchInput: 'search-input',
  searchTotal: 'search-total',
  /** Floating. */
  palette: 'palette',
  paletteInput: 'palette-input',
  helpSheet: 'help-sheet',
  settingsPage: 'settings-page',
  dropZone: 'drop-zone',
  toast: 'toast',
  toastUndo: 'toast-undo',
  /** Whole-stage states. */
  start: 'start-page',
  loading: 'loading',
  loadingCancel: 'loading-cancel',
  failed: 'log-failed',
} as const;
