/** What is chosen: the tab on stage, a file, a chip, an edit snapshot, how differences are shown. */
import type { Against } from '../api';

export type StageTab =
  'files' | 'dialogue' | 'tools' | 'chips' | 'findings' | 'entries' | 'snapshots' | 'history' | 'logs';
/** Tabs that need a log. */
export const LOG_TABS: readonly StageTab[] = ['files', 'dialogue', 'tools', 'findings', 'entries'];

export type DiffLayout = 'auto' | 'inline' | 'split';

class Selection {
  tab = $state<StageTab>('chips');
  /** A file, as the log writes its path. */
  path = $state<string | null>(null);
  /** A person chose the file; else it follows what the playhead touches. */
  chosen = $state(false);
  chip = $state<string | null>(null);
  snapshot = $state<string | null>(null);
  against = $state.raw<Against>({ kind: 'previous' });

  choosePath(path: string | null): void {
    this.path = path;
    this.chosen = path !== null;
  }

  /** Shows a tab; with a chip, snapshot or path, that one in it. */
  show(tab: StageTab, what: { path?: string; chip?: string; snapshot?: string } = {}): void {
    this.tab = tab;
    if (what.path !== undefined) this.choosePath(what.path);
    if (what.chip !== undefined) this.chip = what.chip;
    if (what.snapshot !== undefined) this.snapshot = what.snapshot;
  }
}

export const selection = new Selection();
