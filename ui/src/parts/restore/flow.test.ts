import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Conflict, PlanView, RestoreWhat } from '../../api';
import { Refused, useHost } from '../../host';
import { toasts } from '../../state';
import { Restoring } from './flow.svelte';
import { nothingWord, planState, seen, splitTarget, withTarget } from './plan';

const what: RestoreWhat = { kind: 'file', log: 'l1', path: 'a.py', at: 4 };
const target = { path: 'a.py', line: 3, certainty: 'chosen', allowed: true, because: null };

function plan(more: Partial<PlanView> = {}): PlanView {
  return {
    plan: 'p1',
    kind: 'file',
    target: 'a.py:30',
    summary: 'Puts 3 lines back.',
    steps: [],
    warnings: [],
    ready: true,
    nothing: false,
    needs: null,
    conflicts: [],
    candidates: [],
    ...more,
  };
}
const conflict: Conflict = {
  path: 'a.py',
  number: 0,
  base: [],
  ours: ['x'],
  theirs: ['y'],
  line: 3,
  settled: null,
};

/** A host that answers from a list and remembers what it was asked. */
let asked: string[] = [];
let answers: Record<string, () => unknown> = {};
beforeEach(() => {
  asked = [];
  answers = {
    apply: () => ({
      restore: 'r1',
      summary: 'Restored a.py',
      label: 'a.py',
      deed: 'restored',
      files: ['a.py'],
      undoOf: null,
    }),
  };
  toasts.list = [];
  useHost({
    ask: async (request) => {
      asked.push(request.type);
      const answer = answers[request.type];
      if (!answer) throw new Refused({ code: 'bad-request', message: request.type, hint: null });
      return answer() as never;
    },
    listen: () => () => {},
  });
});
afterEach(() => {
  toasts.list = [];
});
const refuse = (code: string) => () => {
  throw new Refused({ code, message: code, hint: null });
};

describe('what is in the way of a plan', () => {
  it('is named, the first thing first', () => {
    expect(planState(plan())).toBe('ready');
    expect(planState(plan({ ready: false }))).toBe('blocked');
    expect(planState(plan({ nothing: true }))).toBe('nothing');
    expect(planState(plan({ ready: false, candidates: [target] }))).toBe('candidates');
    expect(planState(plan({ ready: false, conflicts: [conflict] }))).toBe('conflicts');
    expect(planState(plan({ conflicts: [{ ...conflict, settled: 'ours' }] }))).toBe('ready');
    expect(planState(plan({ ready: false, needs: { kind: 'root', folder: '/a', file: 'b' } }))).toBe('root');
    expect(planState(plan({ needs: { kind: 'overwrite', lines: 3, path: 'a.py' } }))).toBe('overwrite');
    expect(planState(plan({ needs: { kind: 'refused', reason: 'climbs out' }, conflicts: [conflict] }))).toBe(
      'refused',
    );
  });

  it('decides what one click may do', () => {
    const warned = plan({ warnings: [{ code: 'disk-differs', message: 'm' }] });
    expect([seen(plan()), seen(warned)]).toEqual([true, true]);
    expect(seen({ ...warned, warnings: [...warned.warnings, ...warned.warnings] })).toBe(false);
    expect(seen(plan({ needs: { kind: 'overwrite', lines: 3, path: 'a.py' } }))).toBe(false);
  });

  it('keeps the line of a target apart', () => {
    expect(splitTarget('payment_service.py:30')).toEqual({ name: 'payment_service.py', line: ':30' });
    expect(splitTarget('3 files')).toEqual({ name: '3 files', line: '' });
    expect(splitTarget('C:\\a.py:7')).toEqual({ name: 'C:\\a.py', line: ':7' });
  });

  it('takes another place only for chips', () => {
    expect(withTarget({ kind: 'putBack', chip: 'c', target: null }, target)).toMatchObject({ target });
    expect(withTarget(what, target)).toBeNull();
  });
});

describe('a restore', () => {
  it('is written at once when nothing is in the way', async () => {
    const flow = new Restoring();
    await flow.go(what, plan());
    expect(asked).toEqual(['apply']);
    expect([flow.open, flow.plan, flow.busy]).toEqual([false, null, false]);
    expect(toasts.list.at(-1)).toMatchObject({ text: 'Restored a.py', undo: 'r1' });
  });

  it('is written once by a double click, and again only by a plan made anew', async () => {
    const flow = new Restoring();
    const shown = plan();
    await Promise.all([flow.go(what, shown), flow.go(what, shown)]);
    await flow.go(what, shown);
    expect(asked).toEqual(['apply']);
    await flow.go(what, plan({ plan: 'p2' }));
    expect(asked).toEqual(['apply', 'apply']);
  });

  it('is only shown when previewed', async () => {
    const flow = new Restoring();
    answers['planRestore'] = () => plan();
    await flow.preview(what);
    expect(asked).toEqual(['planRestore']);
    expect(flow.open).toBe(true);
    await flow.apply();
    expect(asked).toEqual(['planRestore', 'apply']);
    expect(flow.open).toBe(false);
  });

  it('is shown instead of written when the plan warns, unless the warning was seen', async () => {
    const warned = plan({ warnings: [{ code: 'unverified', message: 'm' }] });
    const twice = { ...warned, warnings: [...warned.warnings, ...warned.warnings] };
    const flow = new Restoring();
    await flow.go(what, twice);
    expect([flow.open, asked]).toEqual([true, []]);
    await flow.go(what, warned);
    expect(asked).toEqual(['apply']);
  });

  it('writes nothing while a conflict is open', async () => {
    answers['settle'] = () => plan({ conflicts: [{ ...conflict, settled: 'theirs' }] });
    const flow = new Restoring();
    await flow.go(what, plan({ ready: false, conflicts: [conflict] }));
    expect([flow.open, asked]).toEqual([true, []]);
    await flow.settle(0, 'theirs');
    await flow.apply();
    expect(asked).toEqual(['settle', 'apply']);
  });

  it('asks before it overwrites what exists nowhere else', async () => {
    const lossy = plan({ needs: { kind: 'overwrite', lines: 3, path: 'a.py' } });
    const flow = new Restoring();
    await flow.go(what, lossy);
    expect([flow.open, asked]).toEqual([true, []]);
    flow.cancel();
    expect([flow.open, asked]).toEqual([false, []]);
  });

  it('outside the folders is shown before the system is asked, and again as it is once it may be looked at', async () => {
    const outside = plan({ ready: false, needs: { kind: 'root', folder: '/a', file: 'b' } });
    answers['allowRoot'] = () => plan();
    const flow = new Restoring();
    await flow.go(what, outside);
    expect([flow.open, asked]).toEqual([true, []]);
    await flow.allow();
    expect([flow.open, flow.plan && planState(flow.plan)]).toEqual([true, 'ready']);
    await flow.apply();
    expect(asked).toEqual(['allowRoot', 'apply']);
  });

  it('stays as it was when the folder is not allowed, and says when it cannot be asked for', async () => {
    const outside = plan({ ready: false, needs: { kind: 'root', folder: '/a', file: 'b' } });
    answers['allowRoot'] = refuse('cancelled');
    const flow = new Restoring();
    await flow.go(what, outside);
    await flow.allow();
    expect([flow.open, flow.plan && planState(flow.plan)]).toEqual([true, 'root']);
    answers['allowRoot'] = refuse('host-only');
    await flow.allow();
    expect([flow.open, flow.fault?.code]).toEqual([true, 'host-only']);
    expect(asked).not.toContain('apply');
  });

  it('is planned anew and shown when the disk moved on', async () => {
    answers['planRestore'] = () => plan({ plan: 'p2' });
    answers['apply'] = refuse('precondition');
    const flow = new Restoring();
    await flow.go(what, plan());
    expect(asked).toEqual(['apply', 'planRestore']);
    expect([flow.open, flow.moved, flow.plan?.plan]).toEqual([true, true, 'p2']);
  });

  it('says a refusal in its place', async () => {
    answers['planRestore'] = refuse('unknown-content');
    const flow = new Restoring();
    await flow.preview(what);
    expect([flow.open, flow.fault?.code, flow.plan]).toEqual([true, 'unknown-content', null]);
  });

  it('drops the answer of a plan that was left meanwhile', async () => {
    let free: (value: PlanView) => void = () => {};
    answers['planRestore'] = () => new Promise<PlanView>((resolve) => (free = resolve));
    const flow = new Restoring();
    const first = flow.preview(what);
    flow.cancel();
    free(plan());
    await first;
    expect([flow.open, flow.plan, flow.busy]).toEqual([false, null, false]);
  });

  it('is not needed when the disk has it already', async () => {
    const flow = new Restoring();
    await flow.go(what, plan({ nothing: true }));
    expect([flow.open, asked]).toEqual([false, []]);
    expect(toasts.list.at(-1)?.level).toBe('info');
  });
});

describe('nothing to write', () => {
  it('says why: the disk has it, its changes came later, or the file is deleted here', () => {
    const step = { path: 'a.py', action: 'none', beforeSha256: null, diff: { added: 0, removed: 0 } };
    const steps = (afterSha256: string | null) =>
      [{ ...step, afterSha256, notes: [] }] as unknown as PlanView['steps'];
    expect(nothingWord(plan({ nothing: true, steps: steps('aa') }))).toBe('nothing');
    const warnings = [{ code: 'disk-differs', message: '' }];
    expect(nothingWord(plan({ nothing: true, steps: steps('aa'), warnings }))).toBe('nothingKept');
    expect(nothingWord(plan({ nothing: true, steps: steps(null) }))).toBe('nothingDeleted');
  });
});
