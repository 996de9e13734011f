/**
 * Lanes of the log on the deck, and the one that the conversation, the steps and playing follow; null: what was recorded,
 * all of them in the order of time. Files never follow a lane: all lanes wrote to one disk.
 */
import type { LaneView, LogView } from '../api';
import { request } from '../host';

/** A log that grows is asked this often at most. */
const PATIENCE_MS = 1500;

class Lanes {
  rows = $state.raw<LaneView[]>([]);
  chosen = $state<number | null>(null);

  #log: string | null = null;
  #view: LogView | null = null;
  #count = -1;
  #asked = 0;
  #out = false;
  #later: ReturnType<typeof setTimeout> | null = null;

  /** There is something to choose from. */
  readonly several = $derived(this.rows.length > 1);
  readonly row = $derived(this.rows.find((row) => row.lane === this.chosen) ?? null);
  /** What a request says of the lane. */
  readonly only: { lane?: number } = $derived(
    this.chosen === null || this.rows.length < 2 ? {} : { lane: this.chosen },
  );

  /** The deck has this log, or it has grown. */
  follow(view: LogView | null): void {
    this.#view = view;
    if (view?.log !== this.#log) {
      this.#log = view?.log ?? null;
      this.#count = -1;
      this.rows = [];
      this.chosen = null;
    }
    if (!view || view.phase === 'opening' || view.phase === 'failed' || view.foreign) return;
    if (view.count === this.#count || this.#later !== null) return;
    const wait = this.#count < 0 ? 0 : Math.max(0, this.#asked + PATIENCE_MS - Date.now());
    this.#later = setTimeout(() => {
      this.#later = null;
      if (this.#view) void this.#ask(this.#view);
    }, wait);
  }

  async #ask(view: LogView): Promise<void> {
    if (this.#out || view.log !== this.#log) return;
    this.#out = true;
    this.#asked = Date.now();
    this.#count = view.count;
    try {
      const rows = await request({ type: 'lanes', log: view.log });
      if (view.log !== this.#log) return;
      this.rows = rows;
      if (!rows.some((row) => row.lane === this.chosen)) this.chosen = null;
    } catch {
      // A log that is gone has none; the view of it says so.
    } finally {
      this.#out = false;
    }
  }

  of(lane: number | null): LaneView | null {
    return lane === null ? null : (this.rows.find((row) => row.lane === lane) ?? null);
  }

  choose(lane: number | null): void {
    this.chosen = lane === null || this.of(lane) ? lane : null;
  }

  /** The next in the list, or the one before: recorded, then each lane. */
  turn(by: 1 | -1): void {
    const order = [null, ...this.rows.map((row) => row.lane)];
    const here = order.indexOf(this.chosen);
    this.choose(order[(here + by + order.length) % order.length] ?? null);
  }

  /** How deep a lane is below the session that it comes from. */
  depth(lane: LaneView): number {
    let depth = 0;
    let at = this.of(lane.parent);
    while (at !== null && depth < 8) {
      at = this.of(at.parent);
      depth++;
    }
    return depth;
  }
}

export const lanes = new Lanes();
