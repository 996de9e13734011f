/** Search and filter over the whole log: the bar, its progress, and walking over the hits. */
import type { SearchView } from '../api';
import { Refused, request } from '../host';
import { player } from './player.svelte';
import { toasts } from './toasts.svelte';

class Search {
  /** The bar is shown. */
  open = $state(false);
  filter = $state('');
  view = $state.raw<SearchView | null>(null);
  /** The hit at or before the playhead, 1-based; 0 before the first. Null: not known. */
  place = $state<number | null>(null);

  #asked = 0;

  show(): void {
    this.open = true;
  }

  close(): void {
    this.open = false;
    this.#asked++;
    this.view = null;
    this.place = null;
    player.search = null;
  }

  /** Starts looking; an empty filter takes the marks away. */
  async start(filter: string): Promise<void> {
    this.filter = filter;
    const log = player.id;
    const asked = ++this.#asked;
    if (log === null || filter.trim() === '') {
      this.view = null;
      player.search = null;
      return;
    }
    try {
      const view = await request({ type: 'search', log, filter });
      if (asked !== this.#asked) return;
      this.view = view;
      player.search = view.fault ? null : view.search;
    } catch (thrown) {
      if (asked === this.#asked) toasts.fault(Refused.from(thrown));
    }
  }

  hear(log: string, progress: { search: string; total: number; scanned: number; done: boolean }): void {
    const view = this.view;
    if (player.id !== log || !view || view.search !== progress.search) return;
    this.view = { ...view, total: progress.total, scanned: progress.scanned, done: progress.done };
  }

  next = () => this.#go(true);
  previous = () => this.#go(false);

  async #go(forward: boolean): Promise<void> {
    const search = player.search;
    if (search !== null) await player.step({ kind: 'hit', search }, forward);
  }
}

export const search = new Search();
