/**
 * One restore on its way: planned, looked at, settled, allowed, written. Knows which of these is due; what is drawn is
 * the dialogue's. Written is by `restores`, which says it in a toast with Undo.
 */
import type { ChipTarget, PlanView, RestoreWhat, Settlement } from '../../api';
import { Refused, request } from '../../host';
import { tick } from 'svelte';
import { restores, toasts } from '../../state';
import { nothingWord, planState, seen, withTarget } from './plan';
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
  /** The plan that was written last: it is good for no second press. */
  spent = $state<string | null>(null);
  #turn = 0;

  /** Plans, and shows the plan before anything else. */
  async preview(what: RestoreWhat): Promise<void> {
    this.#begin(what);
    this.open = true;
    await this.#take(() => request({ type: 'planRestore', what }));
  }

  /**
   * Writes a plan whose preview, warnings included, is on screen; else shows what is in the way. A second press before
   * the first one's plan was made anew does nothing.
   */
  async go(what: RestoreWhat, plan: PlanView): Promise<void> {
    if (this.busy || restores.busy || plan.plan === this.spent) return;
    this.#begin(what);
    this.plan = plan;
    if (planState(plan) === 'nothing') {
      toasts.say('info', words[nothingWord(plan)]);
      this.cancel();
    } else if (seen(plan)) await this.apply();
    else this.open = true;
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
    const asked = document.activeElement;
    const byKey = asked instanceof HTMLElement && asked.matches(':focus-visible');
    this.busy = true;
    try {
      await restores.apply(plan.plan);
      this.spent = plan.plan;
      if (turn === this.#turn) this.#end();
      await tick();
      this.#refocus(byKey);
    } catch (thrown) {
      const fault = Refused.from(thrown);
      if (turn !== this.#turn) return;
      this.busy = false;
      this.open = true;
      this.fault = fault;
      // A plan that is no longer kept is as good as one that no longer holds: it is looked at anew.
      if (fault.code === 'precondition' || fault.why === 'plan-gone') {
        await this.#take(() => request({ type: 'planRestore', what }));
        this.moved = true;
      }
    } finally {
      if (turn === this.#turn) this.busy = false;
    }
  }

  /** The focus never stays on a button that can do no more: by keyboard it goes to Undo, else to the row. */
  #refocus(byKey: boolean): void {
    const here = document.activeElement;
    const own = here instanceof HTMLElement && here !== document.body ? here : null;
    if (own && !own.matches('[aria-disabled="true"], :disabled')) return;
    if (byKey) toasts.reachUndo(own);
    else own?.closest<HTMLElement>('[data-rest]')?.focus();
  }

  /** Leaves everything as it is. */
  cancel(): void {
    this.#turn++;
    this.busy = false;
    this.spent = null;
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
