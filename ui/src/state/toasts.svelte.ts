import { faultWords, type Fault } from '../i18n/sentences';

/** Short messages at the lower edge. One with Undo stays longest; what it offers stays in the history. */
export type ToastLevel = 'ok' | 'info' | 'warning' | 'error';
export type Toast = {
  id: number;
  level: ToastLevel;
  text: string;
  /** What to do about it. */
  hint: string | null;
  /** Restore that Undo takes back. */
  undo: string | null;
  /** The key for undo takes it back; of an undo only the button does. */
  key: boolean;
};

const QUIET = ['nothing-to-undo', 'cancelled'];
const SHOWN_MS = 6000;
/** To read why, and what to do. */
const FAULT_MS = 12_000;
const UNDO_MS = 30_000;

export class Toasts {
  list = $state.raw<Toast[]>([]);
  /** The toast whose Undo takes the focus, and what gives it back when that is done. */
  reach = $state.raw<{ id: number; back: HTMLElement | null } | null>(null);
  #next = 1;
  #timers = new Map<number, ReturnType<typeof setTimeout>>();

  say(
    level: ToastLevel,
    text: string,
    more: { hint?: string | null; undo?: string | null; key?: boolean } = {},
  ): void {
    const toast: Toast = {
      id: this.#next++,
      level,
      text,
      hint: more.hint ?? null,
      undo: more.undo ?? null,
      key: more.key ?? true,
    };
    // The same words again, or another restore: in place of the one before.
    const kept = this.list.filter((old) => (toast.undo ? !old.undo : old.text !== text));
    // At most two; the one that can be taken back stays.
    const beside = kept.findLast((old) => old.undo !== null) ?? kept.at(-1);
    this.list = beside ? [beside, toast] : [toast];
    this.resume(toast.id);
  }

  /** From a refused request. */
  fault(fault: Fault): void {
    const said = faultWords(fault);
    // Nothing went wrong where there was only nothing to do.
    const level = QUIET.includes(fault.code) || fault.why === 'already-there' ? 'info' : 'error';
    this.say(level, said.text, { hint: [said.detail, said.hint].filter(Boolean).join(' ') || null });
  }

  close(id: number): void {
    this.hold(id);
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  /** The focus to the newest Undo: the button that was pressed can do no more. */
  reachUndo(back: HTMLElement | null): void {
    const toast = this.list.findLast((one) => one.undo !== null);
    if (toast) this.reach = { id: toast.id, back };
  }

  /** While the pointer or the focus is on it, it stays. */
  hold(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  resume(id: number): void {
    const toast = this.list.find((one) => one.id === id);
    if (!toast) return;
    const shown = toast.undo ? UNDO_MS : toast.level === 'error' ? FAULT_MS : SHOWN_MS;
    this.hold(id);
    this.#timers.set(
      id,
      setTimeout(() => this.close(id), shown),
    );
  }
}

export const toasts = new Toasts();
