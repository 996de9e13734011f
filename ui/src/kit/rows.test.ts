import { describe, expect, it } from 'vitest';
import { MAX_TRACK, RowSpace } from './rows';

describe('rows of a long list', () => {
  it('stand one after the other', () => {
    const space = new RowSpace(1000, 28);
    expect(space.top(10)).toBe(280);
    expect(space.at(279)).toBe(9);
    expect(space.at(280)).toBe(10);
    expect(space.span(2800, 280, 2)).toEqual([98, 113]);
  });

  it('may differ in height', () => {
    const sizes = [48, 68, 48, 28];
    const space = new RowSpace(4, (i) => sizes[i] ?? 0);
    expect(space.height).toBe(192);
    expect([0, 47, 48, 115, 116, 163, 164, 500].map((y) => space.at(y))).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
  });

  it('reach the first and the last row at any length', () => {
    const view = 500;
    for (const count of [1, 17, 18, 400_000, 1_204_331, 50_000_000]) {
      const space = new RowSpace(count, 28);
      expect(space.track).toBeLessThanOrEqual(MAX_TRACK);
      expect(space.place(0, view)).toBe(0);
      const end = Math.max(0, space.track - view);
      expect(space.place(end, view)).toBeCloseTo(Math.max(0, space.height - view), 3);
      expect(space.span(space.place(end, view), view, 0)[1]).toBe(count);
      const middle = space.top(Math.floor(count / 2));
      if (middle < space.height - view)
        expect(space.place(space.scroll(middle, view), view)).toBeCloseTo(middle, 0);
    }
  });

  it('are none in an empty list', () => {
    const space = new RowSpace(0, 28);
    expect(space.span(0, 500, 6)).toEqual([0, 0]);
    expect(space.height).toBe(0);
  });
});
