/** Search and filter over the whole log: the bar, its progress, and walking over the hits. */
import type { SearchView } from '../api';
import { Refused, request } from '../host';
import { words } from '../i18n';
import { player } from './player.svelte';
import { toasts } from './toasts.svelte';

class Search {
  /** The bar is shown. */
  open = $state(false);
  filter = $state('');
  view = $state.raw<SearchView | null>(null);
  /** The hit at or before the playhead, 1-based; 0 before the first. Null: not known. */
  place = $state<number | null>(null);

  /** Counts the calls for the field: it takes the focus at each. */
  shown = $state(0);

  #asked = 0;
  /** The log that `view` is of. */
  #of: string | null = null;
  #before: HTMLElement | null = null;

  /** Another log is on stage: what was looked for in the one before is not shown over it. */
  follow(log: string | null): void {
    if (log === this.#of) return;
    this.#of = log;
    this.open = false;
    this.filter = '';
    this.#asked++;
    this.view = null;
    this.place = null;
    player.search = null;
  }

  show(): void {
    const here = document.activeElement;
    if (!this.open) this.#before = here instanceof HTMLElement && here !== document.body ? here : null;
    this.open = true;
    this.shown++;
  }

  close(): void {
    this.open = false;
    this.#asked++;
    this.view = null;
    this.place = null;
    player.search = null;
    // Back to where the search was called from; what is gone meanwhile gives it to the playhead.
    const back = this.#before?.isConnected ? this.#before : null;
    (back ?? document.querySelector<HTMLElement>('[data-testid="playhead"]'))?.focus();
    this.#before = null;
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
    const log = player.id;
    if (search === null || log === null) return;
    if (await player.step({ kind: 'hit', search }, forward, true)) return;
    // None further on: on from the other end, and said so.
    const total = this.view?.total ?? 0;
    if (total === 0 || player.search !== search || player.id !== log) return;
    try {
      const offset = forward ? 0 : total - 1;
      const page = await request({ type: 'hits', log, search, offset, limit: 1 });
      const hit = page.rows[0];
      if (!hit || player.search !== search || player.id !== log) return;
      player.seek(hit.index);
      toasts.say('info', forward ? words.wrappedOn : words.wrappedBack);
    } catch (thrown) {
      toasts.fault(Refused.from(thrown));
    }
  }
}

export const search = new Search();
