import { describe, expect, it } from 'vitest';
import type { ChipRow } from '../../api';
import { boundary, chipHeight, items, samePlace, targetName } from './items';

const list = (total: number, edge: number) => {
  const all = items(total, edge);
  return Array.from({ length: all.count }, (_, i) => {
    const item = all.at(i);
    return item.kind === 'chip' ? item.index : item.kind;
  });
};
const chip = (state: ChipRow['state'], more: Partial<ChipRow> = {}) => ({ state, ...more }) as ChipRow;

describe('items of the chip list', () => {
  it('have a heading for each part that has chips', () => {
    expect(list(4, 2)).toEqual(['queue', 0, 1, 'archive', 2, 3]);
    expect(list(2, 2)).toEqual(['queue', 0, 1]);
    expect(list(2, 0)).toEqual(['archive', 0, 1]);
    expect(list(0, 0)).toEqual([]);
  });

  it('are found by the chip', () => {
    for (const [total, edge] of [
      [4, 2],
      [3, 3],
      [3, 0],
    ] as const) {
      const all = items(total, edge);
      for (let i = 0; i < total; i++) expect(all.at(all.of(i))).toEqual({ kind: 'chip', index: i });
    }
  });

  it('know where the archive begins as far as rows are there', () => {
    const rows = [chip('queue'), chip('damaged'), chip('evicted'), chip('evicted')];
    expect(boundary((i) => rows[i], 4)).toBe(2);
    expect(boundary((i) => (i < 1 ? rows[i] : undefined), 4)).toBe(4);
    expect(boundary(() => undefined, 0)).toBe(0);
  });
});

describe('a chip row', () => {
  it('has a third line for what went wrong', () => {
    expect(chipHeight(chip('queue', { errMsg: null, reason: null }))).toBe(48);
    expect(chipHeight(chip('queue', { summary: 'x', errMsg: 'no', reason: null }))).toBe(68);
    expect(chipHeight(chip('damaged', { summary: 'x', errMsg: null, reason: 'cut' }))).toBe(68);
    expect(chipHeight(chip('damaged', { summary: '', errMsg: null, reason: 'cut' }))).toBe(48);
    expect(chipHeight(undefined)).toBe(48);
  });

  it('names its place by file and line', () => {
    const target = { path: 'app/a.py', line: 30, certainty: 'log', allowed: true, because: null };
    expect(targetName(target)).toBe('a.py:30');
    expect(targetName({ ...target, path: 'C:\\x\\b.py', line: null })).toBe('b.py');
    expect(samePlace(target, { ...target, because: 'other' })).toBe(true);
    expect(samePlace(target, null)).toBe(false);
    expect(samePlace(null, null)).toBe(true);
  });
});
