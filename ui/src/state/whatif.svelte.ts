/**
 * What if: edits gathered over a log, the branch that the engine made of them, and the pair of logs (a branch beside what
 * was recorded, or two logs) whose differences are shown. A branch is a log like any other, so it may have its own edits.
 */
import type { BranchEdit, BranchView, Notice } from '../api';
import { Refused, request } from '../host';
import { words } from '../i18n';
import { player } from './player.svelte';
import { selection } from './selection.svelte';
import { toasts } from './toasts.svelte';

/** Edits over one log. */
export type Draft = { base: string; edits: BranchEdit[]; view: BranchView | null };
export type WhatIfPanel = 'edit' | 'insert' | 'cut' | 'compare';

class WhatIf {
  drafts = $state.raw<Draft[]>([]);
  /** The comparison of two logs, none of them a branch of the other. */
  compared = $state.raw<BranchView | null>(null);
  /** The dialogue that is open, and the entry it is about. */
  panel = $state.raw<{ kind: WhatIfPanel; log: string; index: number } | null>(null);
  busy = $state(false);
  #asked = 0;

  /** The edits that the strip shows: of the log on the deck, else those that made it. */
  readonly draft = $derived(
    this.drafts.find((one) => one.base === player.id) ??
      this.drafts.find((one) => one.view !== null && one.view.right === player.id) ??
      null,
  );
  /** What is shown beside the log on the deck. */
  readonly pair = $derived.by((): BranchView | null => {
    const id = player.id;
    const has = (view: BranchView | null) => view !== null && (view.left === id || view.right === id);
    if (has(this.compared)) return this.compared;
    return this.draft?.view ?? null;
  });
  /** The log beside it. */
  readonly other = $derived(
    this.pair === null ? null : this.pair.left === player.id ? this.pair.right : this.pair.left,
  );
  /** From the log that was recorded down to the last branch. */
  readonly branches = $derived(this.drafts.flatMap((one) => (one.view ? [one.view] : [])));
  /** All logs of the selector, the recorded ones first. */
  readonly choices = $derived.by(() => {
    const made = this.branches;
    const near = new Set<string>(player.id === null ? [] : [player.id]);
    // A branch may be of a branch: as far as they hang together.
    for (let before = -1; before !== near.size;) {
      before = near.size;
      for (const one of made)
        if (near.has(one.left) || near.has(one.right)) near.add(one.left).add(one.right);
    }
    const own = made.filter((one) => near.has(one.left));
    const roots = own.filter((one) => !own.some((other) => other.right === one.left));
    const out: { log: string; title: string; depth: number; edits: number }[] = [];
    const walk = (log: string, title: string, depth: number, edits: number) => {
      if (depth > 16 || out.some((one) => one.log === log)) return;
      out.push({ log, title, depth, edits });
      for (const one of own)
        if (one.left === log) walk(one.right, one.rightTitle, depth + 1, one.edits.length);
    };
    for (const root of roots) walk(root.left, root.leftTitle, 0, 0);
    return out;
  });

  ask(kind: WhatIfPanel, index = player.at): void {
    if (player.id === null) return;
    player.pause();
    this.panel = { kind, log: player.id, index };
  }

  /** Adds changes to those of a log, and lays them. */
  async add(base: string, edits: BranchEdit[]): Promise<Refused | null> {
    const before = this.drafts.find((one) => one.base === base)?.edits ?? [];
    let next = before;
    for (const edit of edits) {
      // One entry is changed in one way; a log is cut once.
      next = next.filter((one) => {
        if (edit.kind === 'cut') return one.kind !== 'cut';
        if (edit.kind === 'insert' || one.kind === 'insert' || one.kind === 'cut') return true;
        return one.index !== edit.index;
      });
      next = [...next, edit];
    }
    return this.#lay(base, next);
  }

  async skip(index = player.at): Promise<void> {
    const base = player.id;
    if (base === null || index < 1) return;
    player.pause();
    const fault = await this.add(base, [{ kind: 'skip', index }]);
    if (fault) toasts.fault(fault);
  }

  async remove(base: string, nth: number): Promise<void> {
    const draft = this.drafts.find((one) => one.base === base);
    if (!draft) return;
    const fault = await this.#lay(
      base,
      draft.edits.filter((_, i) => i !== nth),
    );
    if (fault) toasts.fault(fault);
  }

  async discard(base: string): Promise<void> {
    await this.#lay(base, []);
  }

  /** Lays the edits over the log anew; the branch of before is closed when the new one is there. */
  async #lay(base: string, edits: BranchEdit[]): Promise<Refused | null> {
    const before = this.drafts.find((one) => one.base === base) ?? null;
    const asked = ++this.#asked;
    this.busy = true;
    try {
      const view = edits.length ? await request({ type: 'openBranch', log: base, edits }) : null;
      const made = before?.view ?? null;
      const on = made !== null && player.id === made.right;
      const at = player.at;
      this.drafts =
        view === null
          ? this.drafts.filter((one) => one.base !== base)
          : before
            ? this.drafts.map((one) => (one.base === base ? { base, edits, view } : one))
            : [...this.drafts, { base, edits, view }];
      if (on) await this.show(view?.right ?? base, at);
      if (before?.view) await this.#close(before.view.right);
      return null;
    } catch (thrown) {
      return Refused.from(thrown);
    } finally {
      if (asked === this.#asked) this.busy = false;
    }
  }

  /** A branch goes, and what was laid over it. */
  async #close(log: string): Promise<void> {
    const above = this.drafts.filter((one) => one.base === log);
    this.drafts = this.drafts.filter((one) => one.base !== log);
    if (this.compared && (this.compared.left === log || this.compared.right === log)) this.compared = null;
    for (const one of above) if (one.view) await this.#close(one.view.right);
    if (player.id === log) player.eject();
    await request({ type: 'closeLog', log }).catch(() => undefined);
  }

  /** Puts a side on the deck; the view stays, the playhead too where it can. */
  async show(log: string, at: number | null = player.at): Promise<void> {
    if (log === player.id) {
      if (at !== null) player.seek(at);
      return;
    }
    const { tab, path, chosen } = selection;
    player.land(at);
    await player.open(log);
    if (player.id !== log) return;
    selection.tab = tab;
    selection.path = path;
    selection.chosen = chosen;
  }

  /** To the first entry of a side that the other one does not have. */
  jump(log: string): void {
    const at = this.pair?.divergence ?? null;
    if (at === null) return;
    player.pause();
    void this.show(log, at);
  }

  async compare(left: string, right: string): Promise<Refused | null> {
    try {
      this.compared = await request({ type: 'compareLogs', left, right });
      selection.show('differences');
      return null;
    } catch (thrown) {
      return Refused.from(thrown);
    }
  }

  async save(branch: string): Promise<void> {
    try {
      const saved = await request({ type: 'saveBranch', branch });
      if (saved) toasts.say('ok', words.branchSaved(saved.path));
    } catch (thrown) {
      toasts.fault(Refused.from(thrown));
    }
  }

  /** A log was closed elsewhere: what hangs on it goes too. */
  async closed(log: string): Promise<void> {
    if (this.compared && (this.compared.left === log || this.compared.right === log)) this.compared = null;
    const gone = this.drafts.filter((one) => one.base === log || one.view?.right === log);
    this.drafts = this.drafts.filter((one) => !gone.includes(one));
    for (const one of gone) if (one.view && one.view.right !== log) await this.#close(one.view.right);
    if (selection.tab === 'differences' && this.pair === null) selection.tab = 'files';
  }

  hear(notice: Notice): void {
    // The branches that a window shown anew finds are those of the engine.
    if (notice.type === 'opened' && notice.focus !== null) void this.recall(notice.focus);
  }

  /** Branches of a log that the engine still has, as after the page was loaded again: shown, without their edits. */
  async recall(log: string): Promise<void> {
    try {
      const found = await request({ type: 'branches', log });
      for (const view of found)
        if (!this.drafts.some((one) => one.base === view.left))
          this.drafts = [...this.drafts, { base: view.left, edits: [], view }];
    } catch {
      // None, then.
    }
  }
}

export const whatif = new WhatIf();
