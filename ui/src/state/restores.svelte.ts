/** Writing and taking back: the two requests that change files, each with its toast. */
import type { Applied } from '../api';
import { Refused, request } from '../host';
import { deedWords } from '../i18n/sentences';
import { news } from './news.svelte';
import { toasts } from './toasts.svelte';

class Restores {
  /** A write is under way. */
  busy = $state(false);

  /** Writes what the preview of `plan` showed. A refusal is thrown, so that the preview can say it in its place. */
  async apply(plan: string): Promise<Applied> {
    return this.#write(() => request({ type: 'apply', plan }));
  }

  /** Takes back the newest restore, or that one; a refusal is said in a toast. */
  async undo(restore: string | null = null): Promise<Applied | null> {
    try {
      return await this.#write(() => request({ type: 'undo', restore }));
    } catch (thrown) {
      toasts.fault(Refused.from(thrown));
      return null;
    }
  }

  async #write(act: () => Promise<Applied>): Promise<Applied> {
    this.busy = true;
    try {
      const applied = await act();
      toasts.say('ok', deedWords(applied), { undo: applied.restore, key: applied.undoOf === null });
      news.history++;
      news.disk++;
      return applied;
    } finally {
      this.busy = false;
    }
  }
}

export const restores = new Restores();
