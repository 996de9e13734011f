import { describe, expect, it } from 'vitest';
import {
  BAR,
  bars,
  columnX,
  covers,
  dragWindow,
  height,
  markAt,
  MOST_COLUMNS,
  positionAt,
  queryFor,
  ruler,
  Scale,
} from './geometry';

const none = { path: null, search: null };

describe('scale', () => {
  it('goes there and back', () => {
    const scale = new Scale({ from: 1000, to: 9000 }, 1234);
    for (const x of [0, 1, 617, 1234]) expect(scale.x(scale.value(x))).toBeCloseTo(x, 9);
  });
});

describe('what is asked for', () => {
  it('covers the view with room on both sides, in whole bars', () => {
    const scale = new Scale({ from: 100_000, to: 580_000 }, 1080);
    const query = queryFor('time', scale, none);
    expect(query.pixels % BAR).toBe(0);
    expect(query.from).toBeLessThan(100_000 - 200_000);
    expect(query.to).toBeGreaterThan(580_000 + 200_000);
    expect((query.to - query.from) / query.pixels).toBeCloseTo(scale.unit, 9);
    expect(covers(query, 'time', scale)).toBe(true);
  });

  it('has the same columns while the view is panned', () => {
    const one = queryFor('time', new Scale({ from: 100_000, to: 580_000 }, 1080), none);
    const bar = (480_000 / 1080) * BAR;
    for (const by of [1, 7.5, 100, 333.3]) {
      const other = queryFor('time', new Scale({ from: 100_000 + by, to: 580_000 + by }, 1080), none);
      const shift = (other.from - one.from) / bar;
      expect(Math.abs(shift - Math.round(shift))).toBeLessThan(1e-6);
    }
  });

  it('never asks for more columns than are allowed', () => {
    for (const width of [1, 1080, 3840, 5120, 7680, 9000]) {
      const query = queryFor('event', new Scale({ from: 0, to: 1e6 }, width), none);
      expect(query.pixels).toBeLessThanOrEqual(MOST_COLUMNS);
      expect(query.pixels).toBeGreaterThan(0);
    }
  });

  it('is asked again for another zoom, another axis or a view outside', () => {
    const scale = new Scale({ from: 0, to: 1000 }, 500);
    const query = queryFor('event', scale, none);
    expect(covers(query, 'event', new Scale({ from: 100, to: 1100 }, 500))).toBe(true);
    expect(covers(query, 'event', new Scale({ from: 0, to: 900 }, 500))).toBe(false);
    expect(covers(query, 'time', scale)).toBe(false);
    expect(covers(query, 'event', new Scale({ from: 5000, to: 6000 }, 500))).toBe(false);
  });
});

describe('bars', () => {
  it('sum their columns and lose none', () => {
    expect(bars([1, 2, 3, 4, 5, 6, 7])).toEqual([6, 15, 7]);
  });

  it('show a sign where there is anything, and no more than all of the height', () => {
    expect(height(0, 10)).toBe(0);
    expect(height(1, 1_000_000)).toBeGreaterThan(0);
    expect(height(10, 10)).toBe(1);
    expect(height(50, 10)).toBe(1);
  });
});

describe('a place without asking', () => {
  const query = { axis: 'time' as const, from: 1000, to: 2000, pixels: 10, path: null, search: null };
  // Entries 41..46 stand in columns 0, 3, 3, 3, 7, 9.
  const tracks = { entries: [1, 0, 0, 3, 0, 0, 0, 1, 0, 1], lastIndex: 46 };

  it('is after the last entry at or before the column', () => {
    expect(positionAt(query, tracks, 1000)).toBe(41);
    expect(positionAt(query, tracks, 1299)).toBe(41);
    expect(positionAt(query, tracks, 1300)).toBe(44);
    expect(positionAt(query, tracks, 1699)).toBe(44);
    expect(positionAt(query, tracks, 1750)).toBe(45);
    expect(positionAt(query, tracks, 1999)).toBe(46);
  });

  it('is not guessed outside', () => {
    expect(positionAt(query, tracks, 999)).toBeNull();
    expect(positionAt(query, tracks, 2000)).toBeNull();
    expect(positionAt(query, { entries: [], lastIndex: 0 }, 1500)).toBeNull();
  });
});

describe('marks', () => {
  const scale = new Scale({ from: 0, to: 1000 }, 1000);
  const query = { axis: 'event' as const, from: -500, to: 1500, pixels: 2000, path: null, search: null };
  const marks = [
    { column: 600, index: 1, count: 1, kind: 'error' },
    { column: 606, index: 2, count: 3, kind: 'error' },
  ];

  it('stand where their column is', () => {
    expect(columnX(query, scale, 600)).toBeCloseTo(100, 9);
  });

  it('are taken by the pointer when near, the nearest first', () => {
    expect(markAt(marks, query, scale, 101, 6)?.index).toBe(1);
    expect(markAt(marks, query, scale, 105, 6)?.index).toBe(2);
    expect(markAt(marks, query, scale, 150, 6)).toBeNull();
  });
});

describe('the ruler', () => {
  it('has labels apart and ticks on whole steps, at every zoom', () => {
    for (let width = 50; width < 4e11; width *= 3.7) {
      const scale = new Scale({ from: 1.7e12, to: 1.7e12 + width }, 1000);
      const { ticks, step } = ruler('time', scale, 96, 0);
      const majors = ticks.filter((tick) => tick.major);
      for (let i = 1; i < majors.length; i++) {
        expect((majors[i]?.x ?? 0) - (majors[i - 1]?.x ?? 0)).toBeGreaterThanOrEqual(95.9);
      }
      for (const major of majors) expect(major.value % step).toBe(0);
      expect(ticks.length).toBeLessThan(400);
    }
  });

  it('stands on the hours of the zone', () => {
    const scale = new Scale({ from: 0, to: 86_400_000 * 3 }, 900);
    const { ticks, step } = ruler('time', scale, 96, -330);
    expect(step).toBe(43_200_000);
    for (const tick of ticks.filter((one) => one.major)) expect((tick.value + 330 * 60_000) % step).toBe(0);
  });

  it('counts whole events', () => {
    for (const width of [4, 10, 99, 1234, 1e6]) {
      const { ticks, step } = ruler('event', new Scale({ from: 0, to: width }, 1000), 96, 0);
      expect(Number.isInteger(step)).toBe(true);
      for (const tick of ticks) expect(Number.isInteger(tick.value)).toBe(true);
    }
  });
});

describe('the overview’s window', () => {
  it('does not turn inside out', () => {
    expect(dragWindow({ from: 10, to: 20 }, 'from', 50, 4)).toEqual({ from: 16, to: 20 });
    expect(dragWindow({ from: 10, to: 20 }, 'to', -50, 4)).toEqual({ from: 10, to: 14 });
    expect(dragWindow({ from: 10, to: 20 }, 'all', 5, 4)).toEqual({ from: 15, to: 25 });
  });
});
