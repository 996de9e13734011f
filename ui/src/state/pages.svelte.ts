/**
 * A long list that the engine has and the page sees through a window: rows are asked for in blocks, as they come into
 * view, and a few blocks are kept. While the list is asked for anew (the playhead moved) the old rows stay until
 * the new ones are there.
 *
 *   const tools = new Pages<ToolRow>();
 *   $effect(() => {
 *     const { log, at } = …;                              // read here what the question depends on
 *     tools.ask((offset, limit) => request({ type: 'tools', log, at, offset, limit, only: null }));
 *   });
 *   <List total={tools.total} onwindow={(from, to) => tools.show(from, to)} … /> with tools.row(index)
 */
import { untrack } from 'svelte';
import { Refused } from '../host';

export type Fetch<T> = (offset: number, limit: number) => Promise<{ total: number; rows: T[] }>;

const BLOCK = 100;
const KEPT = 12;

export class Pages<T> {
  total = $state(0);
  fault = $state.raw<Refused | null>(null);
  /** The first block has come. */
  known = $state(false);
  /** Grows with every block that comes. */
  version = $state(0);

  #fetch: Fetch<T> | null = null;
  #blocks = new Map<number, T[]>();
  #stale = new Map<number, T[]>();
  #want: number[] = [0];
  #generation = 0;
  #out = false;
  #again = false;

  /** Another question: the rows in view are asked for anew. */
  ask(fetch: Fetch<T>): void {
    untrack(() => {
      this.#fetch = fetch;
      this.#generation++;
      for (const [block, rows] of this.#blocks) this.#stale.set(block, rows);
      this.#blocks.clear();
      this.#pump();
    });
  }

  /** Rows `[from, to)` are in view. */
  show(from: number, to: number): void {
    const first = Math.floor(Math.max(0, from) / BLOCK);
    const last = Math.floor(Math.max(0, to - 1) / BLOCK);
    this.#want = [];
    for (let block = first; block <= last; block++) this.#want.push(block);
    untrack(() => this.#pump());
  }

  /** The row, or undefined while it is on its way. Reading it follows changes. */
  row(index: number): T | undefined {
    void this.version;
    const block = Math.floor(index / BLOCK);
    return (this.#blocks.get(block) ?? this.#stale.get(block))?.[index % BLOCK];
  }

  clear(): void {
    // Counting up reads: not as a dependency of the effect that clears.
    untrack(() => {
      this.#generation++;
      this.#fetch = null;
      this.#blocks.clear();
      this.#stale.clear();
      this.total = 0;
      this.known = false;
      this.fault = null;
      this.version++;
    });
  }

  #pump(): void {
    if (this.#out) {
      this.#again = true;
      return;
    }
    void this.#run();
  }

  async #run(): Promise<void> {
    this.#out = true;
    try {
      for (;;) {
        this.#again = false;
        const fetch = this.#fetch;
        const block = this.#want.find(
          (one) => !this.#blocks.has(one) && (one === 0 || one * BLOCK < this.total || !this.known),
        );
        if (!fetch || block === undefined) {
          if (!this.#again) return;
          continue;
        }
        const generation = this.#generation;
        const page = await fetch(block * BLOCK, BLOCK);
        if (generation !== this.#generation) continue;
        this.#blocks.set(block, page.rows);
        this.#stale.delete(block);
        this.total = page.total;
        this.known = true;
        this.fault = null;
        this.#trim();
        this.version++;
      }
    } catch (thrown) {
      this.fault = Refused.from(thrown);
      this.known = true;
    } finally {
      this.#out = false;
      if (this.#again) this.#pump();
    }
  }

  #trim(): void {
    for (const blocks of [this.#blocks, this.#stale]) {
      for (const block of blocks.keys()) {
        if (blocks.size <= KEPT) break;
        if (!this.#want.includes(block)) blocks.delete(block);
      }
    }
    const end = Math.ceil(this.total / BLOCK);
    for (const block of this.#stale.keys()) if (block >= end) this.#stale.delete(block);
  }
}
