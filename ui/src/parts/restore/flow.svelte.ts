/**
 * One restore on its way: planned, looked at, settled, allowed, written. Knows which of these is due; what is drawn is
 * the dialogue's. Written is by `restores`, which says it in a toast with Undo.
 */
import type { ChipTarget, PlanView, RestoreWhat, Settlement } from '../../api';
import { Refused, request } from '../../host';
import { restores, toasts } from '../../state';
import { nothingWord, planState, seen, silent, withTarget } from './plan';
import { words } from './words';

export class Restoring {
  what = $state.raw<RestoreWhat | null>(null);
  plan = $state.raw<PlanView | null>(null);
  fault = $state.raw<Refused | null>(null);
  /** The dialogue is on screen. */
  open = $state(false);
  /** A request is out. */
  busy = $state(false);
  /** The disk moved between preview and write; what is shown now is planned anew. */
  moved = $state(false);
  #turn = 0;

  /** Plans, and shows the plan before anything else. */
  async preview(what: RestoreWhat): Promise<void> {
    this.#begin(what);
    this.open = true;
    await this.#take(() => request({ type: 'planRestore', what }));
  }

  /**
   * Plans, and writes at once where that does no more than what is on screen already; else shows the plan. A file
   * outside the opened folders is asked for in the system's own dialogue.
   */
  async direct(what: RestoreWhat): Promise<void> {
    if (this.busy) return;
    this.#begin(what);
    if (!(await this.#take(() => request({ type: 'planRestore', what })))) {
      this.open = true;
      return;
    }
    await this.#proceed(silent);
  }

  /** Writes a plan whose preview, warnings included, is on screen; else shows what is in the way. */
  async go(what: RestoreWhat, plan: PlanView): Promise<void> {
    if (this.busy) return;
    this.#begin(what);
    this.plan = plan;
    await this.#proceed(seen);
  }

  async #proceed(may: (plan: PlanView) => boolean): Promise<void> {
    const plan = this.plan;
    if (!plan) return;
    const state = planState(plan);
    if (state === 'nothing') {
      toasts.say('info', words[nothingWord(plan)]);
      this.cancel();
    } else if (may(plan)) await this.apply();
    else if (state === 'root') await this.#allowThen(may);
    else this.open = true;
  }

  async #allowThen(may: (plan: PlanView) => boolean): Promise<void> {
    const allowed = await this.allow();
    if (!this.plan) return;
    if (allowed && planState(this.plan) !== 'root') await this.#proceed(may);
    else if (this.fault && this.fault.code !== 'cancelled') this.open = true;
    else this.cancel();
  }

  /** Asks the person, in the system's dialogue, to let the plan write where it goes. */
  async allow(): Promise<boolean> {
    const plan = this.plan;
    return plan !== null && (await this.#take(() => request({ type: 'allowRoot', plan: plan.plan })));
  }

  async settle(conflict: number, choice: Settlement): Promise<void> {
    const plan = this.plan;
    if (plan) await this.#take(() => request({ type: 'settle', plan: plan.plan, conflict, choice }));
  }

  /** Another place for the same restore. */
  async choose(target: ChipTarget): Promise<void> {
    const what = this.what && withTarget(this.what, target);
    if (!what) return;
    this.what = what;
    await this.#take(() => request({ type: 'planRestore', what }));
  }

  /** Writes what the preview shows. */
  async apply(): Promise<void> {
    const plan = this.plan;
    const what = this.what;
    if (!plan || !what || this.busy) return;
    const turn = ++this.#turn;
    this.busy = true;
    try {
      await restores.apply(plan.plan);
      if (turn === this.#turn) this.#end();
    } catch (thrown) {
      const fault = Refused.from(thrown);
      if (turn !== this.#turn) return;
      this.busy = false;
      this.open = true;
      this.fault = fault;
      if (fault.code === 'precondition') {
        await this.#take(() => request({ type: 'planRestore', what }));
        this.moved = true;
      }
    } finally {
      if (turn === this.#turn) this.busy = false;
    }
  }

  /** Leaves everything as it is. */
  cancel(): void {
    this.#turn++;
    this.busy = false;
    this.#end();
  }

  #begin(what: RestoreWhat): void {
    this.#turn++;
    this.#end();
    this.what = what;
  }

  #end(): void {
    this.open = false;
    this.what = null;
    this.plan = null;
    this.fault = null;
    this.moved = false;
  }

  async #take(ask: () => Promise<PlanView>): Promise<boolean> {
    const turn = ++this.#turn;
    this.busy = true;
    try {
      const plan = await ask();
      if (turn !== this.#turn) return false;
      this.plan = plan;
      this.fault = null;
      return true;
    } catch (thrown) {
      if (turn === this.#turn) this.fault = Refused.from(thrown);
      return false;
    } finally {
      if (turn === this.#turn) this.busy = false;
    }
  }
}

export const restoring = new Restoring();
