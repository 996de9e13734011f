import { render } from '@testing-library/svelte';
import { createRawSnippet } from 'svelte';
import { describe, expect, it } from 'vitest';
import type { DiffView, Hunk } from '../../api';
import Code from './Code.svelte';
import Diff from './Diff.svelte';
import JsonTree from './JsonTree.svelte';

const EVIL = '<img src=x onerror="globalThis.pwned = 1"><script>globalThis.pwned = 1</script>&amp;</code>';

function diff(text: string, more: Partial<DiffView> = {}): DiffView {
  const side = {
    label: 'a',
    exists: true,
    certainty: null,
    bytes: 1,
    sha256: 'x',
    endings: 'lf',
    finalNewline: true,
  };
  return {
    old: side,
    new: side,
    added: 1,
    removed: 1,
    note: null,
    language: 'html',
    clipped: false,
    hunks: [
      {
        id: EVIL,
        oldStart: 1,
        oldLines: 1,
        newStart: 1,
        newLines: 1,
        heading: EVIL,
        rows: [
          { kind: 'del', oldLine: 1, newLine: null, runs: [{ text, changed: false }], end: null },
          { kind: 'add', oldLine: null, newLine: 1, runs: [{ text, changed: true }], end: 'none' },
        ],
      },
    ],
    ...more,
  };
}

function bare(container: HTMLElement) {
  expect(container.querySelectorAll('img, script')).toHaveLength(0);
  expect((globalThis as { pwned?: number }).pwned).toBeUndefined();
}

describe('hostile text', () => {
  it.each([false, true])('stays text in a diff, side by side: %s', async (split) => {
    const { container } = render(Diff, { diff: diff(EVIL), split });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const lines = [...container.querySelectorAll('code')].map((code) => code.textContent);
    expect(lines).toEqual([EVIL, EVIL]);
    expect(container.querySelector('b')?.textContent).toBe(EVIL);
    bare(container);
  });

  it('stays text in a file', async () => {
    const { container } = render(Code, { count: 1, get: () => EVIL, language: 'html', version: 1 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(container.querySelector('code')?.textContent).toBe(EVIL);
    expect(container.querySelectorAll('code span').length).toBeGreaterThan(0);
    bare(container);
  });

  it('stays text in a JSON tree, names too', () => {
    const { container } = render(JsonTree, { value: { [EVIL]: EVIL }, label: 'x' });
    expect(container.querySelector('b')?.textContent).toBe(EVIL);
    bare(container);
  });

  it('is named where it hides or turns what follows', () => {
    const { container } = render(Code, { count: 1, get: () => 'a\u202eb', language: null, version: 1 });
    expect(container.querySelector('.ctl')?.textContent).toBe('U+202E');
  });
});

describe('a diff without hunks', () => {
  it.each(['same', 'binary', 'unknown-old', 'unknown-new', 'too-large'])('says why: %s', (note) => {
    const { container } = render(Diff, { diff: diff('', { note, hunks: [] }) });
    expect(container.querySelector('[data-testid="diff-note"]')?.textContent?.trim().length).toBeGreaterThan(
      5,
    );
    expect(container.querySelector('[data-testid="diff"]')).toBeNull();
  });
});

describe('a diff', () => {
  it('marks changes by a sign, and a missing newline by words', () => {
    const { container } = render(Diff, { diff: diff('x = 1'), split: false });
    expect([...container.querySelectorAll('em')].map((em) => em.textContent)).toEqual(['\u2212', '+']);
    expect(container.querySelector('.eol')?.textContent).toBe('no newline at the end');
  });

  it('has what can be done with a hunk in its head, and nothing where nothing can', async () => {
    const action = createRawSnippet((hunk: () => Hunk) => ({
      render: () => '<i data-testid="own"></i>',
      setup: (own) => void (own.textContent = hunk().id),
    }));
    const { container, rerender } = render(Diff, { diff: diff('x'), action });
    expect(container.querySelector('.hunk__h [data-testid="own"]')?.textContent).toBe(EVIL);
    await rerender({ diff: diff('x'), action: undefined });
    expect(container.querySelector('[data-testid="own"]')).toBeNull();
  });
});
