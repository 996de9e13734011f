/** What there is to open: chips, edit snapshots, logs, folders; and opening it. */
import type { LibraryView, SourceRow } from '../api';
import { Refused, request } from '../host';
import { Latest } from './latest.svelte';
import { platform } from './platform.svelte';
import { player } from './player.svelte';
import { selection } from './selection.svelte';
import { toasts } from './toasts.svelte';

export type LogDay = 'open' | 'today' | 'yesterday' | 'earlier';
export type LogGroup = { day: LogDay; rows: SourceRow[] };

/** The time that counts for a log: when its session ended; the file's only where the log tells none. */
export const endOf = (row: SourceRow): number | null => row.ended ?? row.modified;

/** Open logs, then the others by day, newest first. Live ones are of today. */
export function groupLogs(logs: SourceRow[], now = Date.now()): LogGroup[] {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const before = new Date(midnight - 1).setHours(0, 0, 0, 0);
  const day = (row: SourceRow): LogDay => {
    const at = endOf(row) ?? 0;
    if (row.log !== null) return 'open';
    if (row.live || at >= midnight) return 'today';
    return at >= before ? 'yesterday' : 'earlier';
  };
  const sorted = [...logs].sort(
    (a, b) =>
      Number(b.live) - Number(a.live) || (endOf(b) ?? 0) - (endOf(a) ?? 0) || a.title.localeCompare(b.title),
  );
  return (['open', 'today', 'yesterday', 'earlier'] as const).map((one) => ({
    day: one,
    rows: sorted.filter((row) => day(row) === one),
  }));
}

class Library {
  #view = new Latest<'library'>();

  get view(): LibraryView | null {
    return this.#view.value;
  }

  readonly groups = $derived(groupLogs(this.view?.logs ?? []));

  /** No chip, in the queue or kept, whole or damaged. */
  get chipless(): boolean {
    const view = this.view;
    return view !== null && view.chipsInQueue + view.chipsEvicted + view.chipsDamaged === 0;
  }

  /** Nothing at all to show: no log, no chip, no snapshot. */
  get empty(): boolean {
    const view = this.view;
    return (
      view !== null &&
      view.logs.length === 0 &&
      view.chipsInQueue + view.chipsEvicted + view.chipsDamaged + view.editSnapshots === 0
    );
  }

  /** Asks for the first time; done when it is there. */
  async load(): Promise<void> {
    try {
      this.#view.value = await request({ type: 'library' });
    } catch (thrown) {
      toasts.fault(Refused.from(thrown));
    }
  }

  refresh(): void {
    this.#view.ask({ type: 'library' });
  }

  pickFiles = () => this.#do(() => request({ type: 'pickFiles' }));
  pickFolder = () => this.#do(() => request({ type: 'pickFolder' }));
  openDemo = () => {
    platform.demoAsked = true;
    return this.#do(() => request({ type: 'openDemo' }));
  };
  openSource = (source: string) => this.#do(() => request({ type: 'openSource', source }));
  /** Opens a source with the playhead after an entry. */
  openAt = (source: string, index: number | null) => {
    player.land(index);
    return this.openSource(source);
  };
  /** The history over all authors of a log's file. */
  showAuthors = (log: string, path: string) =>
    this.#do(async () => {
      const there = await request({ type: 'projectOf', log, path });
      selection.showPath(there.project, there.path);
    });
  cancelOpen = (log: string) => this.#do(() => request({ type: 'cancelOpen', log }));
  closeLog = (log: string) => this.#do(() => request({ type: 'closeLog', log }));
  reveal = (what: Parameters<typeof request<'reveal'>>[0]['what']) =>
    this.#do(() => request({ type: 'reveal', what }));

  async #do(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (thrown) {
      const fault = Refused.from(thrown);
      if (fault.code !== 'cancelled') toasts.fault(fault);
    }
  }
}

export const library = new Library();
