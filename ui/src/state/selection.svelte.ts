/** What is chosen: the tab on stage, a file, a chip, an edit snapshot, how differences are shown. */
import type { Against } from '../api';

export type StageTab =
  | 'files'
  | 'dialogue'
  | 'context'
  | 'tools'
  | 'chips'
  | 'findings'
  | 'entries'
  | 'differences'
  | 'snapshots'
  | 'history'
  | 'authors'
  | 'logs';
/** Tabs that need a log. */
export const LOG_TABS: readonly StageTab[] = [
  'files',
  'dialogue',
  'context',
  'tools',
  'findings',
  'entries',
  'differences',
];

export type DiffLayout = 'auto' | 'inline' | 'split';

class Selection {
  tab = $state<StageTab>('chips');
  /** A tab was asked for; else the first view follows what is found. */
  moved = false;
  /** A file, as the log writes its path. */
  path = $state<string | null>(null);
  /** A person chose the file; else it follows what the playhead touches. */
  chosen = $state(false);
  chip = $state<string | null>(null);
  snapshot = $state<string | null>(null);
  /** A project, and a file of it below its folder, whose history over all authors is shown. */
  project = $state<string | null>(null);
  projectPath = $state<string | null>(null);
  against = $state.raw<Against>({ kind: 'previous' });

  choosePath(path: string | null): void {
    this.path = path;
    this.chosen = path !== null;
  }

  /** Shows a file's history over all authors; without a path the files of the project. */
  showPath(project: string | null, path: string | null): void {
    this.tab = 'authors';
    if (project !== null) this.project = project;
    this.projectPath = path;
  }

  /** Shows a tab; with a chip, snapshot or path, that one in it. */
  show(tab: StageTab, what: { path?: string; chip?: string; snapshot?: string } = {}): void {
    this.tab = tab;
    this.moved = true;
    if (what.path !== undefined) this.choosePath(what.path);
    if (what.chip !== undefined) this.chip = what.chip;
    if (what.snapshot !== undefined) this.snapshot = what.snapshot;
  }
}

export const selection = new Selection();
