import { describe, expect, it } from 'vitest';
import type { DiffRow, Hunk } from '../../api';
import { changeAt, hunkPlace, layout, marks, pairRows, scrollFor, sideLines, visible } from './diff';

const m = { row: 20, head: 28 };

function row(
  kind: 'same' | 'del' | 'add',
  text: string,
  oldLine: number | null,
  newLine: number | null,
): DiffRow {
  return { kind, oldLine, newLine, runs: [{ text, changed: false }], end: null };
}

/** `"= a|- b|+ c"` → rows. */
function rows(spec: string): DiffRow[] {
  let o = 1;
  let n = 1;
  return spec.split('|').map((part) => {
    const text = part.slice(2);
    if (part.startsWith('-')) return row('del', text, o++, null);
    if (part.startsWith('+')) return row('add', text, null, n++);
    return row('same', text, o++, n++);
  });
}

function hunk(spec: string, id = 'h'): Hunk {
  return { id, oldStart: 1, oldLines: 3, newStart: 1, newLines: 4, heading: null, rows: rows(spec) };
}

const shape = (pairs: ReturnType<typeof pairRows>) =>
  pairs.map((p) => `${p.left?.runs[0]?.text ?? '.'}|${p.right?.runs[0]?.text ?? '.'}`);

describe('pairs', () => {
  it('put deletions beside additions and fill the rest with voids', () => {
    expect(shape(pairRows(rows('= a|- b|- c|+ d|= e')))).toEqual(['a|a', 'b|d', 'c|.', 'e|e']);
    expect(shape(pairRows(rows('- b|+ c|+ d|+ e')))).toEqual(['b|c', '.|d', '.|e']);
    expect(shape(pairRows(rows('+ a|- b')))).toEqual(['.|a', 'b|.']);
    expect(pairRows([])).toEqual([]);
  });
});

describe('changes', () => {
  const hunks = [hunk('= a|- b|+ c|= d|+ e|= f'), hunk('- g|= h')];

  it('are runs of changed lines, with their place', () => {
    const flat = layout(hunks, false, m);
    expect(flat.changes.map((c) => [c.hunk, c.from, c.to, c.added, c.removed])).toEqual([
      [0, 1, 3, 1, 1],
      [0, 4, 5, 1, 0],
      [1, 0, 1, 0, 1],
    ]);
    expect(flat.changes.map((c) => c.top)).toEqual([48, 108, 176]);
    expect(flat.height).toBe(28 + 6 * 20 + 28 + 2 * 20);
    const two = layout(hunks, true, m);
    expect(two.changes.map((c) => [c.from, c.to])).toEqual([
      [1, 2],
      [3, 4],
      [0, 1],
    ]);
    expect(two.boxes[0]?.lines).toBe(5);
  });

  it('are found from the scroll position and scrolled to', () => {
    const { changes } = layout(hunks, false, m);
    expect(changeAt(changes, 0, m.head)).toBe(0);
    expect(changeAt(changes, 60, m.head)).toBe(1);
    expect(changeAt(changes, 9999, m.head)).toBe(2);
    expect(changeAt([], 50, m.head)).toBe(0);
    for (const [i, change] of changes.entries())
      expect(changeAt(changes, scrollFor(change, m), m.head)).toBe(i);
  });
});

describe('the strip of all changes', () => {
  it('has a mark for what went and one for what came', () => {
    const strip = marks(layout([hunk('= a|- b|+ c|= d')], false, m), 0);
    expect(strip.map((mark) => mark.del)).toEqual([true, false]);
    expect(strip[0]?.top).toBeCloseTo(48 / 108);
    expect(strip[0]?.height).toBeCloseTo(20 / 108);
  });

  it('puts many changes together', () => {
    const many = hunk(Array.from({ length: 4000 }, (_, i) => (i % 2 ? '+ x' : '= y')).join('|'));
    const strip = marks(layout([many], false, m), 0);
    expect(strip.length).toBeLessThanOrEqual(300);
    expect(strip.every((mark) => !mark.del && mark.top >= 0 && mark.top < 1)).toBe(true);
  });
});

describe('what is drawn', () => {
  it('is a window of a huge hunk', () => {
    const box = { top: 0, height: 28 + 50_000 * 20, lines: 50_000 };
    expect(visible(box, m, 0, 400)).toEqual([0, 31]);
    expect(visible(box, m, 28 + 20_000 * 20, 400)).toEqual([19_988, 20_032]);
    expect(visible(box, m, 10_000_000, 400)).toEqual([50_000, 50_000]);
    expect(visible({ top: 100_000, height: 68, lines: 2 }, m, 0, 400)).toEqual([0, 0]);
  });

  it('gives each side as a text of its own for the colours', () => {
    const h = hunk('= a|- b|+ c');
    expect(sideLines([h], 'old').lines).toEqual(['a', 'b', '']);
    expect(sideLines([h], 'new').lines).toEqual(['a', 'c', '']);
    expect(sideLines([h], 'new').at.get(h.rows[2] as DiffRow)).toBe(1);
    expect(sideLines([h], 'new').at.has(h.rows[1] as DiffRow)).toBe(false);
  });

  it('names a hunk by its lines', () => {
    expect(hunkPlace(hunk('= a'))).toBe('−1,3 +1,4');
  });
});
