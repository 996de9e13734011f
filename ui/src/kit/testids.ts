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
  libraryAll: 'library-all',
  /** All sessions: rows with `data-source`, `data-agent`, `data-counted`; heads with `data-project`. */
  logs: 'logs',
  logsList: 'logs-list',
  logsFilter: 'logs-filter',
  logsCount: 'logs-count',
  /** Segments `project`, `day`. */
  logsBy: 'logs-by',
  /** Shows and hides the sub-agents of a session. */
  logsParts: 'logs-parts',
  /** One for each log: with `data-source` and, when open, `data-log`. */
  libraryLog: 'library-log',
  libraryRoot: 'library-root',
  /** Stage: `tab-files`, `tab-dialogue`, `tab-tools`, `tab-chips`, `tab-findings`. */
  stage: 'stage',
  inspector: 'inspector',
  /** Files. Rows of the tree: `data-path`, `data-status`; folders: `data-folder`. */
  tree: 'tree',
  treeMode: 'tree-mode',
  treeFilter: 'tree-filter',
  treeQuery: 'tree-query',
  fileHead: 'file-head',
  fileMore: 'file-more',
  fileRestore: 'file-restore',
  /** Segments `content`, `inline`, `split`. */
  fileForm: 'file-form',
  /** Segments `previous`, `disk`, `point`. */
  against: 'against',
  versionsOpen: 'versions-open',
  /** One for each version: `data-index`. */
  version: 'version',
  content: 'content',
  /** Rows: `data-kind` `same`, `del`, `add`; the frame has `data-split`. */
  diff: 'diff',
  hunk: 'hunk',
  restoreHunk: 'restore-hunk',
  changeBefore: 'change-before',
  changeNext: 'change-next',
  /** Dialogue: `message` with `data-role`, `data-at`. */
  dialogue: 'dialogue',
  message: 'message',
  /** Tools: rows with `data-at`, `data-status`, `data-tool`. */
  tools: 'tools',
  toolsOnly: 'tools-only',
  /** Findings: rows with `data-code`, `data-severity`. */
  findings: 'findings',
  finding: 'finding',
  findingExcerpt: 'finding-excerpt',
  findingGo: 'finding-go',
  /** Segments `found`, `drift`, `diagnosis`. */
  findingsView: 'findings-view',
  /** Drift. Rows: `data-call`, `data-settled`; `drift-open` has `data-open`, how many no correction settles. */
  drifts: 'drifts',
  drift: 'drift',
  driftOpen: 'drift-open',
  driftRepair: 'drift-repair',
  /** One for each line that would be appended: `data-call`. */
  repairLine: 'repair-line',
  repairApply: 'repair-apply',
  repairFault: 'repair-fault',
  /** In the dialogue: `data-call`, `data-settled`. */
  messageDrift: 'message-drift',
  diagnose: 'diagnose',
  diagnosis: 'diagnosis',
  /** Segments `calls`, `figures`, `traces`. */
  toolsView: 'tools-view',
  traces: 'traces',
  /** A trace as a tree or an operation in order: `data-kind`, `data-id`; rows: `data-at`, `data-depth`, `data-note`. */
  walk: 'walk',
  walkRows: 'walk-rows',
  figures: 'figures',
  /** Chips: rows with `data-chip`, `data-id`, `data-state`. */
  chips: 'chips',
  chipsQuery: 'chips-query',
  chipsFilter: 'chips-filter',
  /** Segments `folder`, `playhead`; only with a log on the deck. */
  chipsWhere: 'chips-where',
  logChips: 'log-chips',
  chip: 'chip',
  /** Segments `diff`, `replace`, `content`, `args`, `raw`. */
  chipView: 'chip-view',
  chipDiff: 'chip-diff',
  chipContent: 'chip-content',
  chipInto: 'chip-into',
  chipPlace: 'chip-place',
  chipPath: 'chip-path',
  chipLine: 'chip-line',
  chipUse: 'chip-use',
  chipMore: 'chip-more',
  chipPin: 'chip-pin',
  revive: 'revive',
  insertContent: 'insert-content',
  insertHeader: 'insert-header',
  /** Edit snapshots: rows with `data-snapshot`. */
  snapshots: 'snapshots',
  snapshot: 'snapshot',
  snapshotSide: 'snapshot-side',
  /** History: rows with `data-restore`, `data-undoable`. */
  history: 'history',
  historyUndo: 'history-undo',
  /** One file, all authors. Files: `data-path`; versions: `data-version`, `data-kind`, `data-op`, `data-restorable`. */
  libraryAuthors: 'library-authors',
  projectPick: 'project-pick',
  project: 'project',
  projectQuery: 'project-query',
  projectList: 'project-list',
  pathVersions: 'path-versions',
  pathVersion: 'path-version',
  pathDiff: 'path-diff',
  pathBack: 'path-back',
  pathRestoreButton: 'path-restore-button',
  fileAuthors: 'file-authors',
  backup: 'backup',
  /** Inspector. */
  inspectorIndex: 'inspector-index',
  inspectorParent: 'inspector-parent',
  inspectorCounterpart: 'inspector-counterpart',
  inspectorChange: 'inspector-change',
  payload: 'payload',
  /**
   * Restore rows: `<where>-row` (with `data-state`), `<where>-summary`, `<where>-button`, `<where>-more`,
   * `<where>-preview`; `<where>` is `restore` (inspector), `chip-restore`, `snapshot-restore`.
   */
  restoreButton: 'restore-button',
  restoreMore: 'restore-more',
  restoreFile: 'restore-file',
  restoreUndoChange: 'restore-undo-change',
  restoreFiles: 'restore-files',
  restoreTree: 'restore-tree',
  chipRestoreButton: 'chip-restore-button',
  snapshotRestoreButton: 'snapshot-restore-button',
  /** The dialogue of a restore; its inside has `data-state`. */
  restoreDialog: 'restore-dialog',
  restoreApply: 'restore-apply',
  restoreCancel: 'restore-cancel',
  restoreKeep: 'restore-keep',
  restoreOverwrite: 'restore-overwrite',
  restoreAllow: 'restore-allow',
  settleOurs: 'settle-ours',
  settleTheirs: 'settle-theirs',
  settleBoth: 'settle-both',
  candidate: 'candidate',
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
