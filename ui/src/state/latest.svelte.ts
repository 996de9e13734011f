/**
 * The newest answer to a question that keeps changing, as the playhead moves. At most one request is out; of the
 * questions asked meanwhile only the last is asked next, the ones between are dropped. The old answer stays until
 * the new one is there, so nothing flickers.
 *
 *   const tree = new Latest<'tree'>();
 *   $effect(() => tree.ask({ type: 'tree', log, at: player.at, … }));   // follows what the request reads
 *   {#if tree.value} … {/if}
 */
import { untrack } from 'svelte';
import type { Carries, Replies, RequestType } from '../api';
import { Refused, request } from '../host';

export type Asked<T extends RequestType> = { type: T } & Carries<T>;

export class Latest<T extends RequestType> {
  value = $state.raw<Replies[T] | null>(null);
  fault = $state.raw<Refused | null>(null);
  /** A request is out. */
  busy = $state(false);
  /** What `value` answers. */
  answered = $state.raw<Asked<T> | null>(null);

  #next: Asked<T> | null = null;
  #out = false;
  #generation = 0;

  ask(question: Asked<T>): void {
    untrack(() => {
      this.#next = question;
      if (!this.#out) void this.#run();
    });
  }

  /** Forgets the answer, and what is still out. */
  clear(): void {
    this.#generation++;
    this.#next = null;
    this.value = null;
    this.answered = null;
    this.fault = null;
  }

  async #run(): Promise<void> {
    this.#out = true;
    this.busy = true;
    while (this.#next) {
      const question = this.#next;
      const generation = this.#generation;
      this.#next = null;
      try {
        const value = await request(question);
        if (generation === this.#generation) {
          this.value = value;
          this.answered = question;
          this.fault = null;
        }
      } catch (thrown) {
        const fault = Refused.from(thrown);
        if (generation === this.#generation && fault.code !== 'cancelled') this.fault = fault;
      }
    }
    this.#out = false;
    this.busy = false;
  }
}
