import { describe, expect, it } from 'vitest';
import { Toasts } from '../state/toasts.svelte';
import toasts from './Toasts.svelte?raw';

describe('messages', () => {
  it('stand at the left, above the last row: what restores is at the right or in that row', () => {
    const rule = /\.toasts \{([^}]*)\}/u.exec(toasts)?.[1] ?? '';
    expect(rule).toMatch(/left: var\(--s-4\)/u);
    expect(rule).not.toMatch(/right:/u);
    expect(rule).toMatch(/bottom: calc\(56px/u);
    expect(rule).toMatch(/pointer-events: none/u);
  });

  it('are two at most, and the one that can be taken back stays', () => {
    const list = new Toasts();
    list.say('ok', 'restored', { undo: 'r1' });
    for (const text of ['one', 'two', 'three']) list.say('info', text);
    expect(list.list.map((toast) => toast.text)).toEqual(['restored', 'three']);
    for (const toast of list.list) list.close(toast.id);
  });
});
