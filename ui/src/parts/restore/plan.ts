// What may be done with a plan, decided in one place. Pure.
import type { ChipTarget, Conflict, PlanView, RestoreWhat } from '../../api';

export type PlanState =
  'refused' | 'nothing' | 'candidates' | 'root' | 'conflicts' | 'overwrite' | 'ready' | 'blocked';

/** What stands between a plan and its writing; the first thing first. */
export function planState(plan: PlanView): PlanState {
  if (plan.needs?.kind === 'refused') return 'refused';
  if (plan.nothing) return 'nothing';
  if (!plan.ready && plan.candidates.length > 0) return 'candidates';
  if (plan.needs?.kind === 'root') return 'root';
  if (open(plan.conflicts).length > 0) return 'conflicts';
  if (plan.needs?.kind === 'overwrite') return 'overwrite';
  return plan.ready ? 'ready' : 'blocked';
}

/** Conflicts still to settle. */
export function open(conflicts: readonly Conflict[]): Conflict[] {
  return conflicts.filter((conflict) => conflict.settled === null);
}

/** It may be written by one click, given that its preview was on screen; there is room for one warning in it. */
export function seen(plan: PlanView): boolean {
  return planState(plan) === 'ready' && plan.warnings.length <= 1;
}

/** The same restore at a place that a person chose; `null` where a place plays no part. */
export function withTarget(what: RestoreWhat, target: ChipTarget): RestoreWhat | null {
  if (what.kind === 'chip' || what.kind === 'putBack') return { ...what, target };
  return null;
}

/** Files that are written. */
export function written(plan: PlanView): number {
  return plan.steps.filter((step) => step.action !== 'none').length;
}

/** `payment_service.py:30` → the name, which may be cut, and the line, which never is. */
export function splitTarget(target: string): { name: string; line: string } {
  const found = /^(.*?)(:\d+)?$/s.exec(target);
  return { name: found?.[1] ?? target, line: found?.[2] ?? '' };
}

/** Why nothing would change: the words to say it with. */
export function nothingWord(plan: PlanView): 'nothing' | 'nothingKept' | 'nothingDeleted' {
  if (plan.steps.length === 1 && plan.steps[0]?.afterSha256 === null) return 'nothingDeleted';
  return plan.warnings.some((one) => one.code === 'disk-differs') ? 'nothingKept' : 'nothing';
}
