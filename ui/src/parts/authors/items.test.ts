import { expect, test } from 'vitest';
import type { PathVersion } from '../../api';
import { dayItems, nearest, wanted } from './items';

const now = new Date(2026, 10, 30, 15, 0).getTime();
const at = (day: number, hour: number) => new Date(2026, 10, day, hour, 0).getTime();

function version(name: string, time: number | null, more: Partial<PathVersion> = {}): PathVersion {
  return {
    version: name,
    time,
    author: {
      kind: 'session',
      name,
      by: 'codex',
      id: null,
      source: null,
      index: null,
      key: null,
      checkout: null,
    },
    op: 'change',
    exists: true,
    certainty: 'exact',
    why: 'written',
    touched: false,
    changedOutside: false,
    settled: null,
    sha256: name,
    bytes: 1,
    added: null,
    removed: null,
    also: [],
    onDisk: false,
    restorable: true,
    ...more,
  };
}

const disk = (time: number) => {
  const it = version('disk', time, { onDisk: true, restorable: false });
  return { ...it, author: { ...it.author, kind: 'disk' as const } };
};

test('a heading for each day', () => {
  const items = dayItems(
    [
      disk(at(3, 1)),
      version('b', at(30, 9)),
      version('c', at(29, 23)),
      version('d', at(29, 1)),
      version('e', null),
    ],
    now,
  );
  const shown = items.map((item) =>
    item.kind === 'version'
      ? item.version.version
      : item.today
        ? 'today'
        : item.yesterday
          ? 'yesterday'
          : item.at,
  );
  expect(shown).toEqual(['today', 'disk', 'b', 'yesterday', 'c', 'd', null, 'e']);
  expect(nearest(items, 0, 1)).toBe(1);
  expect(nearest(items, 3, -1)).toBe(2);
  expect(nearest(items, 0, -1)).toBeNull();
});

test('what is wanted back first is yesterday’s', () => {
  const today = version('today', at(30, 9));
  const lost = version('lost', at(29, 20), { restorable: false, certainty: 'unknown' });
  const gone = version('gone', at(29, 19), { exists: false });
  const old = version('old', at(29, 18));
  expect(wanted([today, lost, gone, old], now)).toBe('old');
  expect(wanted([disk(at(30, 10)), today], now)).toBe('today');
  expect(wanted([disk(at(30, 10))], now)).toBe('disk');
  expect(wanted([], now)).toBeNull();
});
